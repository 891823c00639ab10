//! What JavaScript and TypeScript share: functions that are values.

use kb_types::SymbolKind::{Class, Constant, Function, Impl, Method};
use tree_sitter::Node;

use crate::syntax::grammar::{Field, Name, text_of};

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

/// `A.name` of `A.prototype.name = function () {}`, `name` of `exports.name = () => 1` and of `exports.name = 1`, `A` of
/// `A.prototype = {}`, which holds the methods of `A`.
pub(super) fn assigned(node: Node<'_>, text: &str) -> Option<Name> {
    let left = node.child_by_field_name("left")?;
    let right = node.child_by_field_name("right")?;
    let of = left.child_by_field_name("object");
    let of_text = of.and_then(|of| text_of(of, text));
    if !FUNCTIONS.contains(&right.kind()) {
        let property = left.child_by_field_name("property")?;
        if right.kind() == "object" && text_of(property, text)? == "prototype" {
            let name = Name::of(of.filter(|of| of.kind() == "identifier")?, text)?;
            return Some(name.with_kind(Impl, "prototype"));
        }
        let is_exported = matches!(of_text?, "exports" | "module.exports");
        let kind = match right.kind() {
            "class" => (Class, "class"),
            // It is a definition elsewhere.
            "identifier" => return None,
            _ => (Constant, ""),
        };
        return is_exported.then(|| Some(Name::of(property, text)?.with_kind(kind.0, kind.1)))?;
    }
    if text_of(left, text)? == "module.exports"
        && let Some(own) = right.child_by_field_name("name")
    {
        return Name::of(own, text);
    }
    let mut name = Name::of(left.child_by_field_name("property").unwrap_or(left), text)?;
    if let Some(holder) = of_text.and_then(holder_in) {
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

/// A field of a class.
pub(super) fn fields<'t>(node: Node<'t>, _: &'t str) -> Vec<Field<'t>> {
    let mut names = ["name", "property"].into_iter();
    let name = names.find_map(|field| node.child_by_field_name(field));
    name.map(|name| Field { node, name }).into_iter().collect()
}
