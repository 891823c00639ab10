//! The kinds of nodes of one grammar by their numbers, so that a walk compares no names.

use tree_sitter::Language;

use crate::syntax::grammar::{Grammar, Rule};

/// What one kind of node is for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NodeKind {
    /// The rule by which it is a symbol.
    pub(super) rule: Option<&'static Rule>,
    pub(super) is_comment: bool,
    pub(super) is_attribute: bool,
    pub(super) is_wrapper: bool,
    pub(super) is_closure: bool,
    pub(super) is_identifier: bool,
    /// The field of what it calls.
    pub(super) callee: Option<u16>,
}

/// A grammar that is loaded.
#[derive(Debug)]
pub(super) struct LoadedGrammar {
    pub(super) grammar: &'static Grammar,
    pub(super) language: Language,
    kinds: Vec<NodeKind>,
}

impl LoadedGrammar {
    pub(super) fn new(grammar: &'static Grammar) -> LoadedGrammar {
        let language = (grammar.load)();
        let count = u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX);
        let kind_of = |number: u16| {
            let name = language.node_kind_for_id(number).unwrap_or_default();
            if !language.node_kind_is_named(number) {
                return NodeKind::default();
            }
            let is_one_of = |kinds: &[&str]| kinds.contains(&name);
            let mut calls = grammar.calls.iter();
            let callee = calls
                .find(|(node, _)| *node == name)
                .and_then(|(_, field)| language.field_id_for_name(field));
            NodeKind {
                rule: grammar.rules.iter().find(|rule| rule.node == name),
                is_comment: is_one_of(grammar.comments),
                is_attribute: is_one_of(grammar.attributes),
                is_wrapper: is_one_of(grammar.wrappers),
                is_closure: is_one_of(grammar.closures),
                is_identifier: is_one_of(grammar.identifiers),
                callee: callee.map(Into::into),
            }
        };
        let kinds = (0..count).map(kind_of).collect();
        LoadedGrammar {
            grammar,
            language,
            kinds,
        }
    }

    /// What a kind of node is for; nothing for an error.
    pub(super) fn kind(&self, number: u16) -> NodeKind {
        self.kinds
            .get(usize::from(number))
            .copied()
            .unwrap_or_default()
    }
}
