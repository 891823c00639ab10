//! Bash, and the shells that it reads.

use kb_types::SymbolKind::{Constant, Function};

use crate::syntax::grammar::{Grammar, Rule};

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[
        Rule::new("function_definition", Function, ""),
        Rule::line("variable_assignment", Constant, ""),
    ],
    wrappers: &["declaration_command"],
    identifiers: &["word", "variable_name"],
    calls: &[("command", "name")],
    ..Grammar::new("bash", || tree_sitter_bash::LANGUAGE.into())
};
