//! What JavaScript and TypeScript share: functions that are values.

use kb_types::SymbolKind::{Class, Function, Method};
use tree_sitter::Node;

use crate::syntax::grammar::{Name, text_of};

const FUNCTIONS: &[&str] = &[
    "arrow_function",
    "function_expression",
    "generator_function",
];

/// `name = (a) => a`: a constant, unless its value is a function or a class.
pub(super) fn variable(node: Node<'_>, text: &str) -> Option<Name> {
    let name = node.child_by_field_name("name")?;
    if name.kind() != "identifier" {
        return None;
    }
    let name = Name::of(name, text)?;
    Some(
        match node.child_by_field_name("value").map(|value| value.kind()) {
            Some(kind) if FUNCTIONS.contains(&kind) => name.with_kind(Function, ""),
            Some("class") => name.with_kind(Class, "class"),
            _ => name,
        },
    )
}

/// `A.name` of `A.prototype.name = function () {}`, `name` of `exports.name = () => 1`.
pub(super) fn assigned(node: Node<'_>, text: &str) -> Option<Name> {
    if !FUNCTIONS.contains(&node.child_by_field_name("right")?.kind()) {
        return None;
    }
    let left = node.child_by_field_name("left")?;
    let mut name = Name::of(left.child_by_field_name("property").unwrap_or(left), text)?;
    let holder = left.child_by_field_name("object");
    if let Some(holder) = holder.and_then(|of| holder_in(text_of(of, text)?)) {
        name.text = format!("{holder}.{}", name.text);
    }
    Some(name)
}

/// What holds a function that is assigned to a member of it: `A` of `A.prototype`; nothing of the module itself, and of
/// expressions.
fn holder_in(object: &str) -> Option<&str> {
    let holder = object.strip_suffix(".prototype").unwrap_or(object);
    let is_name = |part: &str| {
        let mut chars = part.chars();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        chars
            .next()
            .is_some_and(|c| is_part(c) && !c.is_ascii_digit())
            && chars.all(is_part)
    };
    let is_own = matches!(
        holder,
        "exports" | "module.exports" | "module" | "this" | "self"
    );
    (!is_own && holder.split('.').all(is_name)).then_some(holder)
}

/// A field of a class, or of an object, whose value is a function.
pub(super) fn function_field(node: Node<'_>, text: &str) -> Option<Name> {
    if !FUNCTIONS.contains(&node.child_by_field_name("value")?.kind()) {
        return None;
    }
    let mut names = ["name", "property", "key"].into_iter();
    let name = Name::of(
        names.find_map(|field| node.child_by_field_name(field))?,
        text,
    )?;
    Some(name.with_kind(Method, ""))
}
