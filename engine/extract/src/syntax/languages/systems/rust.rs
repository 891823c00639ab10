//! Rust.

use kb_types::SymbolKind::{Constant, Enum, Function, Impl, Module, Struct, Trait, Type};
use tree_sitter::Node;

use crate::syntax::grammar::{Grammar, Name, Rule, text_of};

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[
        Rule::new("function_item", Function, "fn"),
        Rule::new("function_signature_item", Function, "fn"),
        Rule::new("struct_item", Struct, "struct"),
        Rule::new("union_item", Struct, "union"),
        Rule::new("enum_item", Enum, "enum"),
        Rule::new("trait_item", Trait, "trait"),
        Rule::new("impl_item", Impl, "impl").found(implementation),
        Rule::new("mod_item", Module, "mod"),
        Rule::new("macro_definition", Function, "macro").body(&["macro_rule"]),
        Rule::line("type_item", Type, "type"),
        Rule::line("associated_type", Type, "type"),
        Rule::line("const_item", Constant, "const"),
        Rule::line("static_item", Constant, "static"),
        Rule::field("field_declaration"),
        Rule::field("enum_variant"),
    ],
    comments: &["line_comment", "block_comment"],
    attributes: &["attribute_item"],
    closures: &["closure_expression"],
    // Items stand in blocks, fields and variants in the body of their type.
    opener: Some(b'{'),
    identifiers: &["identifier", "type_identifier", "field_identifier"],
    calls: &[
        ("call_expression", "function"),
        ("macro_invocation", "macro"),
    ],
    ..Grammar::new("rust", || tree_sitter_rust::LANGUAGE.into())
};

/// `Display for Foo`, or the type alone.
fn implementation(node: Node<'_>, text: &str) -> Option<Name> {
    let implemented = node.child_by_field_name("type")?;
    let mut name = Name::of(implemented, text)?;
    if let Some(of_trait) = node.child_by_field_name("trait") {
        name.text = format!("{} for {}", text_of(of_trait, text)?, name.text);
    }
    Some(name)
}
