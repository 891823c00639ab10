//! PHP, alone and among HTML.

use kb_types::SymbolKind::{Class, Constant, Enum, Function, Interface, Method, Module, Trait};

use crate::syntax::grammar::{Grammar, NameOf, Rule};

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
