//! CSS: a rule is named by its selectors.

use kb_types::SymbolKind::{Constant, Type};
use tree_sitter::Node;

use crate::syntax::grammar::{Grammar, Name, NameOf, Rule, child_of};

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[
        Rule::new("rule_set", Type, "")
            .named(NameOf::Child(&["selectors"]))
            .body(&["block"]),
        Rule::new("keyframes_statement", Type, "@keyframes")
            .named(NameOf::Child(&["keyframes_name"]))
            .body(&["keyframe_block_list"]),
        Rule::new("declaration", Constant, "")
            .found(custom_property)
            .body(&[]),
    ],
    identifiers: &["class_name", "id_name", "property_name"],
    calls: &[],
    ..Grammar::new("css", || tree_sitter_css::LANGUAGE.into())
};

/// `--name: value`.
fn custom_property(node: Node<'_>, text: &str) -> Option<Name> {
    let name = Name::of(child_of(node, &["property_name"])?, text)?;
    name.text.starts_with("--").then_some(name)
}
