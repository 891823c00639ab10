//! Ruby.

use kb_types::SymbolKind::{Class, Constant, Function, Module};
use tree_sitter::Node;

use crate::syntax::grammar::{Grammar, Name, Rule};

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[
        Rule::new("method", Function, "def"),
        Rule::new("singleton_method", Function, "def"),
        Rule::new("class", Class, "class"),
        Rule::new("module", Module, "module"),
        Rule::line("alias", Function, "alias"),
        Rule::line("assignment", Constant, "").found(constant),
    ],
    identifiers: &["identifier", "constant"],
    calls: &[("call", "method")],
    ..Grammar::new("ruby", || tree_sitter_ruby::LANGUAGE.into())
};

fn constant(node: Node<'_>, text: &str) -> Option<Name> {
    let left = node.child_by_field_name("left")?;
    (left.kind() == "constant").then(|| Name::of(left, text))?
}
