//! C#.

use kb_types::SymbolKind::{
    Class, Constant, Enum, Function, Interface, Method, Module, Struct, Type,
};
use tree_sitter::Node;

use crate::syntax::grammar::{Field, Grammar, Name, Rule, child_of};

pub(in crate::syntax) static GRAMMAR: Grammar = Grammar {
    rules: &[
        Rule::new("class_declaration", Class, "class"),
        Rule::new("record_declaration", Class, "record"),
        Rule::new("struct_declaration", Struct, "struct"),
        Rule::new("interface_declaration", Interface, "interface"),
        Rule::new("enum_declaration", Enum, "enum"),
        Rule::new("method_declaration", Method, ""),
        Rule::new("constructor_declaration", Method, ""),
        Rule::new("destructor_declaration", Method, "~"),
        Rule::new("operator_declaration", Method, "").found(operator),
        Rule::new("local_function_statement", Function, ""),
        Rule::new("property_declaration", Method, "").body(&["accessors", "value"]),
        Rule::line("delegate_declaration", Type, "delegate"),
        Rule::line("field_declaration", Constant, "")
            .found(constant)
            .or_fields(declared),
        Rule::field("enum_member_declaration"),
        Rule::new("namespace_declaration", Module, "namespace"),
        Rule::line("file_scoped_namespace_declaration", Module, "namespace"),
    ],
    attributes: &["attribute_list"],
    closures: &["lambda_expression", "anonymous_method_expression"],
    calls: &[
        ("invocation_expression", "function"),
        ("object_creation_expression", "type"),
    ],
    ..Grammar::new("csharp", || tree_sitter_c_sharp::LANGUAGE.into())
};

fn operator(node: Node<'_>, text: &str) -> Option<Name> {
    let sign = node.child_by_field_name("operator")?;
    let mut name = Name::of(sign, text)?;
    name.text.insert_str(0, "operator ");
    Some(name)
}

/// A field that is constant, or static and read-only.
fn constant(node: Node<'_>, text: &str) -> Option<Name> {
    let declaration = child_of(node, &["variable_declaration"])?;
    let before = text.get(node.start_byte()..declaration.start_byte())?;
    let has = |wanted: &str| before.split_ascii_whitespace().any(|word| word == wanted);
    let is_constant = has("const") || (has("static") && has("readonly"));
    if !is_constant {
        return None;
    }
    let declarator = child_of(declaration, &["variable_declarator"])?;
    Name::of(name_of(declarator)?, text)
}

fn name_of(declarator: Node<'_>) -> Option<Node<'_>> {
    let name = declarator.child_by_field_name("name");
    name.or_else(|| child_of(declarator, &["identifier"]))
}

/// The fields that are declared together.
fn declared<'t>(node: Node<'t>, _: &'t str) -> Vec<Field<'t>> {
    let Some(declaration) = child_of(node, &["variable_declaration"]) else {
        return Vec::new();
    };
    let mut cursor = declaration.walk();
    let declarators = declaration.named_children(&mut cursor);
    let names = declarators
        .filter(|of| of.kind() == "variable_declarator")
        .filter_map(name_of);
    names.map(|name| Field { node, name }).collect()
}
