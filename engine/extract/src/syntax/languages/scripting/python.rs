//! Python.

use kb_types::SymbolKind::{Class, Constant, Function, Type};
use tree_sitter::Node;

use crate::syntax::grammar::{Field, Grammar, Name, NameOf, Rule, Scope};

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[
        Rule::new("function_definition", Function, "def"),
        Rule::new("class_definition", Class, "class"),
        Rule::line("type_alias_statement", Type, "type").named(NameOf::Field("left")),
        Rule::line("assignment", Constant, "")
            .found(variable)
            .within(Scope::OutsideTypes)
            .or_fields(attribute),
    ],
    attributes: &["decorator"],
    wrappers: &["decorated_definition", "expression_statement"],
    calls: &[("call", "function")],
    doc_in_body: true,
    ..Grammar::new("python", || tree_sitter_python::LANGUAGE.into())
};

fn variable(node: Node<'_>, text: &str) -> Option<Name> {
    let left = node.child_by_field_name("left")?;
    (left.kind() == "identifier").then(|| Name::of(left, text))?
}

/// An attribute of a class. Those that a method assigns to `self` are not among them.
fn attribute<'t>(node: Node<'t>, _: &'t str) -> Vec<Field<'t>> {
    let left = node.child_by_field_name("left");
    let name = left.filter(|left| left.kind() == "identifier");
    name.map(|name| Field { node, name }).into_iter().collect()
}
