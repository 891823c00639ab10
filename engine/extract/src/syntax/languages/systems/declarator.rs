//! Names inside of the declarators of C and C++: `int (*name(int a))[3]`.

use kb_types::SymbolKind::{Constant, Enum, Function, Struct};
use tree_sitter::Node;

use crate::syntax::grammar::{Field, Name, child_of};

/// Nesting depth of declarators that are followed.
// `int (*(*f)(void))[3]` has three levels; the grammar nests generated code without end.
const MAX_DEPTH: usize = 16;

/// What a declaration names.
struct Declared<'t> {
    name: Node<'t>,
    is_function: bool,
    /// Whether it is a pointer to a function.
    is_pointer: bool,
    is_initialised: bool,
}

fn declared(node: Node<'_>) -> Option<Declared<'_>> {
    named_by(node.child_by_field_name("declarator")?)
}

/// What a declarator names.
fn named_by(mut at: Node<'_>) -> Option<Declared<'_>> {
    let (mut is_function, mut is_initialised, mut is_pointer) = (false, false, false);
    for _ in 0..MAX_DEPTH {
        match at.kind() {
            "identifier"
            | "field_identifier"
            | "type_identifier"
            | "qualified_identifier"
            | "destructor_name"
            | "operator_name"
            | "template_function"
            | "operator_cast"
            | "primitive_type" => {
                return Some(Declared {
                    name: at,
                    is_function,
                    is_pointer,
                    is_initialised,
                });
            }
            "function_declarator" => is_function = !is_pointer,
            "parenthesized_declarator" => is_pointer = true,
            "init_declarator" => is_initialised = true,
            _ => {}
        }
        at = match at.child_by_field_name("declarator") {
            Some(inner) => inner,
            None => inner_declarator(at)?,
        };
    }
    None
}

fn inner_declarator(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| {
        let kind = child.kind();
        kind.ends_with("declarator") || kind.ends_with("identifier")
    })
}

/// The name of a function with a body.
pub(super) fn function(node: Node<'_>, text: &str) -> Option<Name> {
    Name::of(declared(node)?.name, text)
}

/// The name of a function that is declared, or of a variable that has a value.
pub(super) fn declaration(node: Node<'_>, text: &str) -> Option<Name> {
    let declared = declared(node)?;
    let name = Name::of(declared.name, text)?;
    if declared.is_function {
        Some(name.with_kind(Function, ""))
    } else {
        (declared.is_initialised && node.kind() == "declaration")
            .then(|| name.with_kind(Constant, ""))
    }
}

/// The name of a function that is declared in a class.
pub(super) fn member_function(node: Node<'_>, text: &str) -> Option<Name> {
    let declared = declared(node)?;
    let is_function = declared.is_function && !declared.is_pointer;
    is_function.then(|| Name::of(declared.name, text))?
}

/// The fields that are declared together: `int a, *b;`.
pub(super) fn fields<'t>(node: Node<'t>, _: &'t str) -> Vec<Field<'t>> {
    let mut cursor = node.walk();
    let declarators = node.children_by_field_name("declarator", &mut cursor);
    let names = declarators.filter_map(named_by);
    names
        .map(|Declared { name, .. }| Field { node, name })
        .collect()
}

/// The name of a type definition; that of a structure or enumeration without a name of its own.
pub(super) fn type_definition(node: Node<'_>, text: &str) -> Option<Name> {
    let name = Name::of(declared(node)?.name, text)?;
    let defined = node.child_by_field_name("type")?;
    let (kind, keyword) = match defined.kind() {
        "struct_specifier" => (Struct, "struct"),
        "union_specifier" => (Struct, "union"),
        "enum_specifier" => (Enum, "enum"),
        _ => return Some(name),
    };
    if child_of(defined, &["field_declaration_list", "enumerator_list"]).is_none() {
        return Some(name);
    }
    match defined.child_by_field_name("name") {
        None => Some(name.with_kind(kind, keyword)),
        // The structure is the symbol.
        Some(own) if Name::of(own, text)?.text == name.text => None,
        Some(_) => Some(name),
    }
}

/// The name of a macro that has a value; one without guards an include file.
pub(super) fn valued_macro(node: Node<'_>, text: &str) -> Option<Name> {
    node.child_by_field_name("value")?;
    Name::of(node.child_by_field_name("name")?, text)
}
