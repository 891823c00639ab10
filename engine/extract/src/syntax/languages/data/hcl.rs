//! HCL, as Terraform has it: a block is named by its type and labels, without the word `resource`.

use kb_types::SymbolKind::{Constant, Module, Struct};
use tree_sitter::Node;

use crate::syntax::grammar::{Grammar, Name, Rule, Scope, text_of};

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[Rule::new("block", Struct, "")
        .found(block)
        .within(Scope::Outermost)],
    calls: &[],
    ..Grammar::new("hcl", || tree_sitter_hcl::LANGUAGE.into())
};

/// Labels of a block that count.
const MAX_LABELS: usize = 8;

fn block(node: Node<'_>, text: &str) -> Option<Name> {
    let mut cursor = node.walk();
    let parts: Vec<Node<'_>> = node
        .named_children(&mut cursor)
        .take_while(|child| matches!(child.kind(), "identifier" | "string_lit"))
        .take(MAX_LABELS)
        .collect();
    let (first, labels) = parts.split_first()?;
    let block_type = text_of(*first, text)?;
    let start = labels.first().unwrap_or(first).start_byte();
    let words = labels.iter().filter_map(|label| text_of(*label, text));
    let words: Vec<&str> = words.map(|label| label.trim_matches('"')).collect();
    let name = if words.is_empty() {
        block_type.to_owned()
    } else {
        words.join(".")
    };
    let name = Name {
        text: name,
        start,
        kind: None,
    };
    Some(match block_type {
        "resource" => name.with_kind(Struct, "resource"),
        "data" => name.with_kind(Struct, "data"),
        "module" => name.with_kind(Module, "module"),
        "variable" => name.with_kind(Constant, "variable"),
        "output" => name.with_kind(Constant, "output"),
        "provider" => name.with_kind(Module, "provider"),
        _ => name,
    })
}
