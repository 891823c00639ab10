//! One value in the type, range and length that the published schema has for it.

use serde_json::Value;

use crate::response::ToolError;

/// An error about one argument.
pub(in crate::tools) fn invalid(argument: &str, reason: impl AsRef<str>) -> ToolError {
    let sentence = format!("{argument}: {}", reason.as_ref());
    ToolError::new("INVALID_ARGUMENT", sentence).with_fact("argument", argument)
}

/// An error about an argument that is larger than it may be.
pub(in crate::tools) fn too_long(argument: &str, given: usize, what: &str, most: u64) -> ToolError {
    let reason = format!("{given} {what} given; at most {most}");
    invalid(argument, reason).with_fact("limit", most)
}

/// A text of at most as many characters as its schema says.
fn in_length(name: &str, schema: &Value, text: &str) -> Result<(), ToolError> {
    let Some(most) = schema.get("maxLength").and_then(Value::as_u64) else {
        return Ok(());
    };
    // Characters are no more than bytes.
    if text.len() as u64 <= most {
        return Ok(());
    }
    let length = text.chars().count();
    match length as u64 > most {
        true => Err(too_long(name, length, "characters", most)),
        false => Ok(()),
    }
}

/// Bytes of a text that may be a number.
const NUMBER_LIMIT_BYTES: usize = 64;

/// The value in the type of its schema, in its range and no longer than it may be.
pub(in crate::tools) fn coerce(
    name: &str,
    schema: &Value,
    value: Value,
) -> Result<Value, ToolError> {
    let kind = schema
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let wrong = |value: &Value| {
        let article = if matches!(kind, "integer" | "array" | "object") {
            "an"
        } else {
            "a"
        };
        let shown: String = match value {
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "an object".to_owned(),
            other => other.to_string().chars().take(60).collect(),
        };
        invalid(name, format!("{shown} given; it is {article} {kind}"))
    };
    let parsed = |word: &str| match word.len() > NUMBER_LIMIT_BYTES {
        true => None,
        false => serde_json::from_str::<Value>(word.trim()).ok(),
    };
    let value = match (kind, value) {
        ("string", Value::String(text)) => {
            in_length(name, schema, &text)?;
            return one_of(name, schema, text);
        }
        ("boolean", Value::Bool(flag)) => return Ok(flag.into()),
        ("boolean", Value::String(word)) => match word.trim().to_ascii_lowercase().as_str() {
            "true" => return Ok(true.into()),
            "false" => return Ok(false.into()),
            _ => return Err(wrong(&word.into())),
        },
        ("integer" | "number", Value::String(word)) => match parsed(&word) {
            Some(number @ Value::Number(_)) => number,
            _ => return Err(wrong(&word.into())),
        },
        ("integer" | "number", number @ Value::Number(_)) => number,
        ("array", Value::Array(list)) => return listed(name, schema, list, wrong),
        ("array", one @ Value::String(_)) => return listed(name, schema, vec![one], wrong),
        (_, other) => return Err(wrong(&other)),
    };
    let number = value.as_f64().filter(|number| number.is_finite());
    let number = number.ok_or_else(|| wrong(&value))?;
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let (least, most) = (
        bound("minimum").unwrap_or(f64::MIN),
        bound("maximum").unwrap_or(f64::MAX),
    );
    // Models ask for less or more tokens than there may be; they mean the least or most.
    let within = match name {
        "max_tokens" => number.clamp(least, most),
        _ if number < least || number > most => {
            return Err(invalid(
                name,
                format!("{value} given; allowed are {least} to {most}"),
            ));
        }
        _ => number,
    };
    match kind {
        "integer" if name == "max_tokens" => Ok((within.floor() as u64).into()),
        "integer" if within.fract() == 0.0 => Ok((within as i64).into()),
        "integer" => Err(wrong(&value)),
        _ => Ok(within.into()),
    }
}

/// A list of texts, none too long and not too many.
fn listed(
    name: &str,
    schema: &Value,
    list: Vec<Value>,
    wrong: impl Fn(&Value) -> ToolError,
) -> Result<Value, ToolError> {
    let most = schema.get("maxItems").and_then(Value::as_u64);
    if let Some(most) = most.filter(|most| list.len() as u64 > *most) {
        return Err(too_long(name, list.len(), "values", most));
    }
    let items = schema.get("items").unwrap_or(&Value::Null);
    for item in &list {
        match item {
            Value::String(text) => in_length(name, items, text)?,
            _ => return Err(wrong(&list.into())),
        }
    }
    Ok(list.into())
}

fn one_of(name: &str, schema: &Value, text: String) -> Result<Value, ToolError> {
    let allowed = schema.get("enum").and_then(Value::as_array);
    let allowed: Vec<&str> = allowed
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if allowed.is_empty() || allowed.contains(&text.as_str()) {
        return Ok(text.into());
    }
    let shown: String = text.chars().take(60).collect();
    let allowed = allowed.join(", ");
    Err(invalid(
        name,
        format!("{shown:?} given; allowed are {allowed}"),
    ))
}
