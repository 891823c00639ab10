//! Dockerfile: named stages, arguments and variables.

use kb_types::SymbolKind::{Constant, Module};
use tree_sitter::Node;

use crate::syntax::grammar::{Grammar, Name, Rule};

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[
        Rule::line("from_instruction", Module, "FROM").found(stage),
        Rule::line("arg_pair", Constant, "ARG"),
        Rule::line("env_pair", Constant, "ENV"),
    ],
    wrappers: &["arg_instruction", "env_instruction"],
    identifiers: &["unquoted_string"],
    ..Grammar::new("dockerfile", || tree_sitter_containerfile::LANGUAGE.into())
};

fn stage(node: Node<'_>, text: &str) -> Option<Name> {
    Name::of(node.child_by_field_name("as")?, text)
}
