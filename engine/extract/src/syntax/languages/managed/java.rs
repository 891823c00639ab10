//! Java.

use kb_types::SymbolKind::{Class, Constant, Enum, Interface, Method, Module};
use tree_sitter::Node;

use crate::syntax::grammar::{Field, Grammar, Name, Rule, child_of, named_fields, text_of};

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[
        Rule::new("class_declaration", Class, "class"),
        Rule::new("record_declaration", Class, "record"),
        Rule::new("interface_declaration", Interface, "interface"),
        Rule::new("annotation_type_declaration", Interface, "@interface"),
        Rule::new("enum_declaration", Enum, "enum"),
        Rule::new("method_declaration", Method, ""),
        Rule::new("constructor_declaration", Method, ""),
        Rule::new("compact_constructor_declaration", Method, ""),
        Rule::line("annotation_type_element_declaration", Method, ""),
        // One that overrides methods.
        Rule::new("enum_constant", Constant, "")
            .needs_body()
            .or_fields(named_fields),
        Rule::line("constant_declaration", Constant, "").found(first_declared),
        Rule::line("field_declaration", Constant, "")
            .found(constant)
            .or_fields(declared),
        // Of a record; those of methods stand inside of a function.
        Rule::field("formal_parameter"),
        Rule::new("module_declaration", Module, "module"),
    ],
    comments: &["line_comment", "block_comment"],
    attributes: &["annotation", "marker_annotation"],
    modifiers: &["modifiers"],
    closures: &["lambda_expression"],
    identifiers: &["identifier", "type_identifier"],
    calls: &[
        ("method_invocation", "name"),
        ("object_creation_expression", "type"),
    ],
    ..Grammar::new("java", || tree_sitter_java::LANGUAGE.into())
};

fn first_declared(node: Node<'_>, text: &str) -> Option<Name> {
    let declarator = node.child_by_field_name("declarator")?;
    Name::of(declarator.child_by_field_name("name")?, text)
}

/// The fields that are declared together.
fn declared<'t>(node: Node<'t>, _: &'t str) -> Vec<Field<'t>> {
    let mut cursor = node.walk();
    let declarators = node.children_by_field_name("declarator", &mut cursor);
    let names = declarators.filter_map(|of| of.child_by_field_name("name"));
    names.map(|name| Field { node, name }).collect()
}

/// A field that is static and final.
fn constant(node: Node<'_>, text: &str) -> Option<Name> {
    let modifiers = text_of(child_of(node, &["modifiers"])?, text)?;
    let has = |wanted: &str| {
        modifiers
            .split_ascii_whitespace()
            .any(|word| word == wanted)
    };
    (has("static") && has("final")).then(|| first_declared(node, text))?
}
