//! A server in a configuration file in JSON, whose comments, order and spaces stay.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use super::error::InstallError;

/// JSON with comments and trailing commas, as hosts read it. What is looser is refused, so that no file is changed
/// that its host would not have read.
const SYNTAX: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The server of that name below the object that `keys` lead to.
pub(super) fn server(text: &str, keys: &[&str], name: &str) -> Result<Option<Value>, InstallError> {
    let value = value(text)?;
    let mut object = &value;
    for key in keys {
        match object.get(key) {
            Some(inner) => object = inner,
            None => return Ok(None),
        }
    }
    Ok(object.get(name).cloned())
}

/// The text with the server under that name, in place of one that is there.
pub(super) fn with_server(
    text: &str,
    keys: &[&str],
    name: &str,
    server: &Value,
) -> Result<String, InstallError> {
    let root = parsed(text)?;
    let not_an_object = || InstallError::Broken("it is not a JSON object".to_owned());
    let mut object = root.object_value_or_create().ok_or_else(not_an_object)?;
    for key in keys {
        object = object
            .object_value_or_create(key)
            .ok_or_else(|| InstallError::Broken(format!("{key:?} in it is not an object")))?;
    }
    match object.get(name) {
        Some(property) => property.set_value(input(server)),
        None => drop(object.append(name, input(server))),
    }
    Ok(root.to_string())
}

/// The text without the server of that name; objects that it leaves empty go too where nothing else is in them.
pub(super) fn without_server(
    text: &str,
    keys: &[&str],
    name: &str,
) -> Result<String, InstallError> {
    let root = parsed(text)?;
    if let Some(property) = property(&root, keys, name) {
        property.remove();
    }
    if let Some((last, before)) = keys.split_last() {
        let outer = property(&root, before, last);
        let inner = outer.as_ref().and_then(CstObjectProp::object_value);
        // A comment in it stays.
        if inner.is_some_and(|inner| is_bare(&inner))
            && let Some(outer) = outer
        {
            outer.remove();
        }
    }
    Ok(root.to_string())
}

/// What the file says, whatever its spelling.
pub(super) fn value(text: &str) -> Result<Value, InstallError> {
    let value = parsed(text)?.to_serde_value();
    Ok(value.unwrap_or_else(|| Value::Object(serde_json::Map::new())))
}

fn parsed(text: &str) -> Result<CstRootNode, InstallError> {
    CstRootNode::parse(text, &SYNTAX).map_err(|error| InstallError::Broken(error.to_string()))
}

fn property(root: &CstRootNode, keys: &[&str], name: &str) -> Option<CstObjectProp> {
    let mut object = root.object_value()?;
    for key in keys {
        object = object.object_value(key)?;
    }
    object.get(name)
}

/// Whether nothing is in an object, not even a comment.
fn is_bare(object: &CstObject) -> bool {
    object.properties().is_empty() && !object.children().iter().any(|child| child.is_comment())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => {
            let fields = fields.iter();
            CstInputValue::Object(
                fields
                    .map(|(key, value)| (key.clone(), input(value)))
                    .collect(),
            )
        }
    }
}
