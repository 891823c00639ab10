//! Scala.

use kb_types::SymbolKind::{Class, Constant, Enum, Function, Module, Trait, Type};
use tree_sitter::Node;

use crate::syntax::grammar::{Grammar, Name, Rule, Scope};

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[
        Rule::new("class_definition", Class, "class"),
        Rule::new("object_definition", Class, "object"),
        Rule::new("trait_definition", Trait, "trait"),
        Rule::new("enum_definition", Enum, "enum"),
        Rule::new("package_object", Module, "package object"),
        Rule::new("function_definition", Function, "def"),
        Rule::new("function_declaration", Function, "def"),
        Rule::line("val_definition", Constant, "val")
            .found(value)
            .within(Scope::OutsideTypes),
        Rule::line("given_definition", Constant, "given"),
        Rule::line("type_definition", Type, "type"),
    ],
    comments: &["comment", "block_comment"],
    attributes: &["annotation"],
    modifiers: &["modifiers"],
    calls: &[("call_expression", "function")],
    ..Grammar::new("scala", || tree_sitter_scala::LANGUAGE.into())
};

/// A value with one name; in capitals, as constants are written, also inside of an object.
fn value(node: Node<'_>, text: &str) -> Option<Name> {
    let pattern = node.child_by_field_name("pattern")?;
    if pattern.kind() != "identifier" {
        return None;
    }
    let name = Name::of(pattern, text)?;
    let is_constant = name.text.starts_with(char::is_uppercase);
    Some(if is_constant {
        name.with_kind(Constant, "val")
    } else {
        name
    })
}
