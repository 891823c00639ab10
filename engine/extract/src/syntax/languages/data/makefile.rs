//! Makefiles: targets and variables.

use kb_types::SymbolKind::{Constant, Function};
use tree_sitter::Node;

use crate::syntax::grammar::{Grammar, Name, Rule, child_of};

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[
        Rule::new("rule", Function, "")
            .found(target)
            .body(&["recipe"]),
        Rule::new("define_directive", Function, "define").body(&["value"]),
        Rule::line("variable_assignment", Constant, ""),
        Rule::line("shell_assignment", Constant, ""),
    ],
    identifiers: &["word"],
    ..Grammar::new("makefile", || tree_sitter_make::LANGUAGE.into())
};

/// The first target of a rule, unless it is one that means something to make, as `.PHONY`.
fn target(node: Node<'_>, text: &str) -> Option<Name> {
    let name = Name::of(child_of(node, &["targets"])?.named_child(0)?, text)?;
    let is_special = name
        .text
        .strip_prefix('.')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
    (!is_special).then_some(name)
}
