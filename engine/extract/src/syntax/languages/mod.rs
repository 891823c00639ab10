//! The languages that have a grammar: one line each, and a file in the folder of its family.

mod data;
#[cfg(test)]
mod fields;
mod managed;
mod scripting;
mod systems;

use std::sync::OnceLock;

use crate::syntax::grammar::Grammar;
use crate::syntax::kinds::LoadedGrammar;

/// A grammar.
struct Entry {
    grammar: &'static Grammar,
    /// Whether it reads a program of its language that has this name and text. The first that does counts.
    reads: fn(&str, &str) -> bool,
}

const fn every(grammar: &'static Grammar) -> Entry {
    only(grammar, |_, _| true)
}

const fn only(grammar: &'static Grammar, reads: fn(&str, &str) -> bool) -> Entry {
    Entry { grammar, reads }
}

#[rustfmt::skip]
static REGISTRY: &[Entry] = &[
    #[cfg(feature = "grammar-bash")]
    every(&scripting::bash::GRAMMAR),
    #[cfg(feature = "grammar-cpp")]
    only(&systems::cpp::IN_C_HEADERS, systems::cpp::is_cpp_header),
    #[cfg(feature = "grammar-c")]
    every(&systems::c::GRAMMAR),
    #[cfg(feature = "grammar-cpp")]
    every(&systems::cpp::GRAMMAR),
    #[cfg(feature = "grammar-csharp")]
    every(&managed::csharp::GRAMMAR),
    #[cfg(feature = "grammar-css")]
    every(&data::css::GRAMMAR),
    #[cfg(feature = "grammar-dockerfile")]
    every(&data::dockerfile::GRAMMAR),
    #[cfg(feature = "grammar-go")]
    every(&systems::go::GRAMMAR),
    #[cfg(feature = "grammar-hcl")]
    every(&data::hcl::GRAMMAR),
    #[cfg(feature = "grammar-java")]
    every(&managed::java::GRAMMAR),
    #[cfg(feature = "grammar-javascript")]
    every(&scripting::javascript::GRAMMAR),
    #[cfg(feature = "grammar-kotlin")]
    every(&managed::kotlin::GRAMMAR),
    #[cfg(feature = "grammar-lua")]
    every(&scripting::lua::GRAMMAR),
    #[cfg(feature = "grammar-makefile")]
    every(&data::makefile::GRAMMAR),
    #[cfg(feature = "grammar-php")]
    every(&scripting::php::GRAMMAR),
    #[cfg(feature = "grammar-python")]
    every(&scripting::python::GRAMMAR),
    #[cfg(feature = "grammar-ruby")]
    every(&scripting::ruby::GRAMMAR),
    #[cfg(feature = "grammar-rust")]
    every(&systems::rust::GRAMMAR),
    #[cfg(feature = "grammar-scala")]
    every(&managed::scala::GRAMMAR),
    #[cfg(feature = "grammar-toml")]
    every(&data::toml::GRAMMAR),
    #[cfg(feature = "grammar-typescript")]
    only(&scripting::typescript::TSX, |path, _| path.ends_with(".tsx")),
    #[cfg(feature = "grammar-typescript")]
    every(&scripting::typescript::GRAMMAR),
];

/// The grammars at the same positions, each loaded when the first program in its language comes.
static LOADED: [OnceLock<LoadedGrammar>; 32] = [const { OnceLock::new() }; 32];
const _: () = assert!(REGISTRY.len() <= LOADED.len());

/// Whether programs in a language, a word of [`kb_types::file_types`], are parsed.
pub fn has_grammar(language: &str) -> bool {
    REGISTRY
        .iter()
        .any(|entry| entry.grammar.language == language)
}

/// The grammar of a program in `language`, a word of [`kb_types::file_types`].
pub(super) fn find(language: &str, path: &str, text: &str) -> Option<&'static LoadedGrammar> {
    let position = REGISTRY
        .iter()
        .position(|entry| entry.grammar.language == language && (entry.reads)(path, text))?;
    let grammar = REGISTRY.get(position)?.grammar;
    Some((LOADED.get(position)?).get_or_init(|| LoadedGrammar::new(grammar)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kb_types::file_types;

    use super::*;

    #[test]
    fn every_word_of_a_table_is_known_to_its_grammar() {
        for entry in REGISTRY {
            let grammar = entry.grammar;
            assert_eq!(
                file_types::canonical_language(grammar.language),
                Some(grammar.language)
            );
            let loaded = LoadedGrammar::new(grammar);
            let language = &loaded.language;
            let count = language.node_kind_count() as u16;
            let kinds: BTreeSet<&str> = (0..count)
                .filter_map(|kind| language.node_kind_for_id(kind))
                .collect();
            let rules = grammar.rules.iter().map(|rule| rule.node);
            let lists = [
                grammar.comments,
                grammar.attributes,
                grammar.modifiers,
                grammar.wrappers,
                grammar.closures,
                grammar.identifiers,
            ];
            let calls = grammar.calls.iter().map(|(node, _)| *node);
            for kind in rules.chain(calls).chain(lists.concat()) {
                assert!(kinds.contains(kind), "{}: {kind}", grammar.language);
            }
            for (_, field) in grammar.calls {
                assert!(language.field_id_for_name(field).is_some(), "{field}");
            }
            for rule in grammar.rules {
                for body in rule.body {
                    let is_field = language.field_id_for_name(body).is_some();
                    assert!(
                        is_field || kinds.contains(body),
                        "{}: {body}",
                        grammar.language
                    );
                }
            }
        }
    }
}
