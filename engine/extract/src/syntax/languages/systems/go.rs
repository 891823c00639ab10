//! Go.

use kb_types::SymbolKind::{Constant, Function, Interface, Method, Struct, Type};
use tree_sitter::Node;

use crate::syntax::grammar::{Grammar, Name, Rule, child_of};

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[
        Rule::new("function_declaration", Function, "func"),
        Rule::new("method_declaration", Method, "func").found(method_name),
        Rule::line("method_elem", Method, ""),
        Rule::field("field_declaration"),
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

/// `Store.Get` of `func (s *Store[K]) Get()`: the receiver holds it, which may be in another file.
fn method_name(node: Node<'_>, text: &str) -> Option<Name> {
    let mut name = Name::of(node.child_by_field_name("name")?, text)?;
    if let Some(receiver) = receiver_type(node).and_then(|of| Name::of(of, text)) {
        name.text = format!("{}.{}", receiver.text, name.text);
    }
    Some(name)
}

/// The name of the type of a receiver, which may be a pointer and have parameters.
fn receiver_type(method: Node<'_>) -> Option<Node<'_>> {
    let receiver = method.child_by_field_name("receiver")?;
    let declared = child_of(receiver, &["parameter_declaration"])?;
    let mut of = declared.child_by_field_name("type")?;
    for kind in ["parenthesized_type", "pointer_type", "generic_type"] {
        if of.kind() == kind {
            of = of.named_child(0)?;
        }
    }
    (of.kind() == "type_identifier").then_some(of)
}

fn type_name(node: Node<'_>, text: &str) -> Option<Name> {
    let name = Name::of(node.child_by_field_name("name")?, text)?;
    Some(match node.child_by_field_name("type")?.kind() {
        "struct_type" => name.with_kind(Struct, "type"),
        "interface_type" => name.with_kind(Interface, "type"),
        _ => name,
    })
}
