//! Lua.

use kb_types::SymbolKind::{Constant, Function, Method};
use tree_sitter::Node;

use crate::syntax::grammar::{Grammar, Name, Rule, Scope, child_of};

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[
        Rule::new("function_declaration", Function, "function"),
        Rule::new("assignment_statement", Constant, "")
            .found(assigned)
            .body(&["expression_list"])
            .within(Scope::OutsideTypes),
        Rule::new("field", Method, "")
            .found(function_field)
            .body(&["value"]),
    ],
    wrappers: &["variable_declaration"],
    closures: &["function_definition"],
    calls: &[("function_call", "name")],
    ..Grammar::new("lua", || tree_sitter_lua::LANGUAGE.into())
};

/// `name = 1`, `module.name = function() end`.
fn assigned(node: Node<'_>, text: &str) -> Option<Name> {
    let names = child_of(node, &["variable_list"])?;
    let name = Name::of(names.named_child(0)?, text)?;
    let value = child_of(node, &["expression_list"])?.named_child(0)?;
    if value.kind() == "function_definition" {
        return Some(name.with_kind(Function, "function"));
    }
    (!name.text.contains(['.', '['])).then_some(name)
}

fn function_field(node: Node<'_>, text: &str) -> Option<Name> {
    let value = node.child_by_field_name("value")?;
    if value.kind() != "function_definition" {
        return None;
    }
    Name::of(node.child_by_field_name("name")?, text)
}
