//! Kotlin.

use kb_types::SymbolKind::{Class, Constant, Enum, Function, Interface, Method, Type};
use tree_sitter::Node;

use crate::syntax::grammar::{Field, Grammar, Name, NameOf, Rule, Scope, child_of, text_of};

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
            .within(Scope::OutsideTypes)
            .or_fields(fields),
        Rule::fields("class_parameter", parameter),
        Rule::fields("enum_entry", entry),
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

/// A property of a class.
fn fields<'t>(node: Node<'t>, _: &'t str) -> Vec<Field<'t>> {
    let declaration = child_of(node, &["variable_declaration"]);
    let name = declaration.and_then(|of| child_of(of, &["identifier"]));
    name.map(|name| Field { node, name }).into_iter().collect()
}

/// A parameter of a class that is a property: it has `val` or `var`.
fn parameter<'t>(node: Node<'t>, text: &'t str) -> Vec<Field<'t>> {
    let name = child_of(node, &["identifier"]);
    let name = name.filter(|name| {
        let before = text.get(node.start_byte()..name.start_byte());
        let mut words = before.unwrap_or_default().split_ascii_whitespace();
        words.any(|word| matches!(word, "val" | "var"))
    });
    name.map(|name| Field { node, name }).into_iter().collect()
}

fn entry<'t>(node: Node<'t>, _: &'t str) -> Vec<Field<'t>> {
    let name = child_of(node, &["identifier"]);
    name.map(|name| Field { node, name }).into_iter().collect()
}
