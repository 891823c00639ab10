//! TypeScript, with and without JSX.

use kb_types::SymbolKind::{Class, Constant, Enum, Function, Interface, Method, Module, Type};
use tree_sitter::{Language, Node};

use crate::syntax::grammar::{Field, Grammar, Name, Rule, Scope, child_of, named_fields};
use crate::syntax::languages::scripting::ecmascript;

pub(in crate::syntax) static GRAMMAR: Grammar =
    grammar(|| tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into());
pub(in crate::syntax) static TSX: Grammar = grammar(|| tree_sitter_typescript::LANGUAGE_TSX.into());

const fn grammar(load: fn() -> Language) -> Grammar {
    Grammar {
        rules: RULES,
        attributes: &["decorator"],
        wrappers: &[
            "export_statement",
            "ambient_declaration",
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
            "type_identifier",
            "property_identifier",
            "shorthand_property_identifier",
        ],
        calls: &[
            ("call_expression", "function"),
            ("new_expression", "constructor"),
        ],
        ..Grammar::new("typescript", load)
    }
}

static RULES: &[Rule] = &[
    Rule::new("function_declaration", Function, "function"),
    Rule::new("function_expression", Function, "function"),
    Rule::new("generator_function_declaration", Function, "function*"),
    Rule::line("function_signature", Function, "function"),
    Rule::new("class_declaration", Class, "class"),
    Rule::new("abstract_class_declaration", Class, "class"),
    Rule::new("class", Class, "class"),
    Rule::new("interface_declaration", Interface, "interface"),
    Rule::new("enum_declaration", Enum, "enum"),
    Rule::line("type_alias_declaration", Type, "type"),
    Rule::new("internal_module", Module, "namespace"),
    Rule::new("module", Module, "module"),
    Rule::new("method_definition", Method, ""),
    Rule::line("method_signature", Method, ""),
    Rule::line("abstract_method_signature", Method, ""),
    Rule::line("property_signature", Method, "")
        .found(function_property)
        .or_fields(named_fields),
    Rule::new("public_field_definition", Method, "")
        .found(ecmascript::function_field)
        .body(&["value"])
        .or_fields(ecmascript::fields),
    Rule::fields("enum_body", variants),
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
];

/// `name: (a: A) => B` in an interface.
fn function_property(node: Node<'_>, text: &str) -> Option<Name> {
    let annotation = node.child_by_field_name("type")?;
    child_of(annotation, &["function_type"])?;
    Name::of(node.child_by_field_name("name")?, text)
}

/// The variants of an enumeration, with and without a value.
fn variants<'t>(body: Node<'t>, _: &'t str) -> Vec<Field<'t>> {
    let mut cursor = body.walk();
    let each = body.named_children(&mut cursor).filter_map(|node| {
        let name = match node.kind() {
            "enum_assignment" => node.child_by_field_name("name")?,
            "property_identifier" => node,
            _ => return None,
        };
        Some(Field { node, name })
    });
    each.collect()
}
