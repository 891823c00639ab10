//! Go.

use kb_types::SymbolKind::{Constant, Function, Interface, Method, Struct, Type};
use tree_sitter::Node;

use crate::syntax::grammar::{Grammar, Name, Rule};

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[
        Rule::new("function_declaration", Function, "func"),
        Rule::new("method_declaration", Method, "func"),
        Rule::line("method_elem", Method, ""),
        Rule::line("type_spec", Type, "type").found(type_name),
        Rule::line("type_alias", Type, "type"),
        Rule::line("const_spec", Constant, "const"),
        Rule::line("var_spec", Constant, "var"),
    ],
    wrappers: &["type_declaration", "const_declaration", "var_declaration"],
    closures: &["func_literal"],
    identifiers: &["identifier", "type_identifier", "field_identifier"],
    calls: &[("call_expression", "function")],
    ..Grammar::new("go", || tree_sitter_go::LANGUAGE.into())
};

fn type_name(node: Node<'_>, text: &str) -> Option<Name> {
    let name = Name::of(node.child_by_field_name("name")?, text)?;
    Some(match node.child_by_field_name("type")?.kind() {
        "struct_type" => name.with_kind(Struct, "type"),
        "interface_type" => name.with_kind(Interface, "type"),
        _ => name,
    })
}
