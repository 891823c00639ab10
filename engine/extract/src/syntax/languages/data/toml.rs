//! TOML: tables, and the keys before the first of them.

use kb_types::SymbolKind::{Constant, Module};

use crate::syntax::grammar::{Grammar, NameOf, Rule, Scope};

const KEYS: NameOf = NameOf::Child(&["bare_key", "dotted_key", "quoted_key"]);

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[
        Rule::new("table", Module, "").named(KEYS).body(&["pair"]),
        Rule::new("table_array_element", Module, "")
            .named(KEYS)
            .body(&["pair"]),
        Rule::line("pair", Constant, "")
            .named(KEYS)
            .within(Scope::Outermost),
    ],
    identifiers: &["bare_key"],
    ..Grammar::new("toml", || tree_sitter_toml_ng::LANGUAGE.into())
};
