//! PHP, alone and among HTML.

use kb_types::SymbolKind::{Class, Constant, Enum, Function, Interface, Method, Module, Trait};

use tree_sitter::Node;

use crate::syntax::grammar::{Field, Grammar, NameOf, Rule, child_of};

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[
        Rule::new("function_definition", Function, "function"),
        Rule::new("method_declaration", Method, "function"),
        Rule::new("class_declaration", Class, "class"),
        Rule::new("interface_declaration", Interface, "interface"),
        Rule::new("trait_declaration", Trait, "trait"),
        Rule::new("enum_declaration", Enum, "enum"),
        Rule::new("namespace_definition", Module, "namespace"),
        Rule::line("const_element", Constant, "const").named(NameOf::Child(&["name"])),
        Rule::fields("property_element", property),
        Rule::field("enum_case"),
    ],
    attributes: &["attribute_list"],
    wrappers: &["const_declaration"],
    closures: &["anonymous_function", "arrow_function"],
    identifiers: &["name"],
    calls: &[
        ("function_call_expression", "function"),
        ("member_call_expression", "name"),
        ("nullsafe_member_call_expression", "name"),
        ("scoped_call_expression", "name"),
    ],
    ..Grammar::new("php", || tree_sitter_php::LANGUAGE_PHP.into())
};

/// A property, without the `$` before its name.
fn property<'t>(node: Node<'t>, _: &'t str) -> Vec<Field<'t>> {
    let variable = node.child_by_field_name("name");
    let name = variable.and_then(|of| child_of(of, &["name"]));
    name.map(|name| Field { node, name }).into_iter().collect()
}
