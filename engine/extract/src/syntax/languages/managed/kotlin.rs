//! Kotlin.

use kb_types::SymbolKind::{Class, Constant, Enum, Function, Interface, Method, Type};
use tree_sitter::Node;

use crate::syntax::grammar::{Grammar, Name, NameOf, Rule, Scope, child_of, text_of};

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[
        Rule::new("class_declaration", Class, "class")
            .found(class)
            .body(&["class_body", "enum_class_body"]),
        Rule::new("object_declaration", Class, "object").body(&["class_body"]),
        Rule::new("companion_object", Class, "companion object")
            .found(companion)
            .body(&["class_body"]),
        Rule::new("function_declaration", Function, "fun").body(&["function_body"]),
        Rule::new("secondary_constructor", Method, "")
            .found(constructor)
            .body(&["block"]),
        Rule::line("property_declaration", Constant, "val")
            .found(property)
            .within(Scope::OutsideTypes),
        Rule::line("type_alias", Type, "typealias").named(NameOf::Child(&["identifier"])),
    ],
    comments: &["line_comment", "block_comment"],
    attributes: &["annotation"],
    modifiers: &["modifiers"],
    ..Grammar::new("kotlin", || tree_sitter_kotlin_ng::LANGUAGE.into())
};

fn class(node: Node<'_>, text: &str) -> Option<Name> {
    let name = node.child_by_field_name("name")?;
    let before = text.get(node.start_byte()..name.start_byte())?;
    let has = |wanted: &str| before.split_ascii_whitespace().any(|word| word == wanted);
    let name = Name::of(name, text)?;
    Some(if has("interface") {
        name.with_kind(Interface, "interface")
    } else if has("enum") {
        name.with_kind(Enum, "enum class")
    } else {
        name
    })
}

fn companion(node: Node<'_>, text: &str) -> Option<Name> {
    match node.child_by_field_name("name") {
        Some(name) => Name::of(name, text),
        None => Some(Name {
            text: "Companion".to_owned(),
            start: node.start_byte(),
            kind: None,
        }),
    }
}

fn constructor(node: Node<'_>, _: &str) -> Option<Name> {
    Some(Name {
        text: "constructor".to_owned(),
        start: node.start_byte(),
        kind: None,
    })
}

/// A property; one that is `const` also inside of an object.
fn property(node: Node<'_>, text: &str) -> Option<Name> {
    let declaration = child_of(node, &["variable_declaration"])?;
    let name = Name::of(child_of(declaration, &["identifier"])?, text)?;
    let modifiers = child_of(node, &["modifiers"]).and_then(|node| text_of(node, text));
    let mut words = modifiers.unwrap_or_default().split_ascii_whitespace();
    Some(if words.any(|word| word == "const") {
        name.with_kind(Constant, "const val")
    } else {
        name
    })
}
