//! Python.

use kb_types::SymbolKind::{Class, Constant, Function, Type};
use tree_sitter::Node;

use crate::syntax::grammar::{Grammar, Name, NameOf, Rule, Scope};

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[
        Rule::new("function_definition", Function, "def"),
        Rule::new("class_definition", Class, "class"),
        Rule::line("type_alias_statement", Type, "type").named(NameOf::Field("left")),
        Rule::line("assignment", Constant, "")
            .found(variable)
            .within(Scope::OutsideTypes),
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
