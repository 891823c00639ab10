//! JavaScript, with JSX.

use kb_types::SymbolKind::{Class, Constant, Function, Method};

use crate::syntax::grammar::{Grammar, Rule, Scope};
use crate::syntax::languages::scripting::ecmascript;

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[
        Rule::new("function_declaration", Function, "function"),
        Rule::new("function_expression", Function, "function"),
        Rule::new("generator_function_declaration", Function, "function*"),
        Rule::new("class_declaration", Class, "class"),
        Rule::new("class", Class, "class"),
        Rule::new("method_definition", Method, ""),
        Rule::new("field_definition", Method, "")
            .found(ecmascript::function_field)
            .body(&["value"])
            .or_fields(ecmascript::fields),
        Rule::new("pair", Method, "")
            .found(ecmascript::function_field)
            .body(&["value"]),
        Rule::new("variable_declarator", Constant, "")
            .found(ecmascript::variable)
            .body(&["value"])
            .within(Scope::OutsideTypes),
        Rule::new("assignment_expression", Function, "")
            .found(ecmascript::assigned)
            .body(&["right"]),
    ],
    attributes: &["decorator"],
    wrappers: &[
        "export_statement",
        "lexical_declaration",
        "variable_declaration",
        "expression_statement",
    ],
    closures: &[
        "arrow_function",
        "function_expression",
        "generator_function",
    ],
    identifiers: &[
        "identifier",
        "property_identifier",
        "shorthand_property_identifier",
    ],
    calls: &[
        ("call_expression", "function"),
        ("new_expression", "constructor"),
    ],
    ..Grammar::new("javascript", || tree_sitter_javascript::LANGUAGE.into())
};
