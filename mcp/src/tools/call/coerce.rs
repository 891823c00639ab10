//! Coerces an argument to the type of its published schema, and checks its range and length. Models send "5" for 5,
//! "true" for true, and a text for a list of one text or the reverse; these are accepted.

use serde_json::Value;

use crate::response::ToolError;

/// Out of range it is set to the nearest bound: models that ask for fewer or more tokens than there may
/// be mean the least or the most.
const CLAMPED: &str = "max_tokens";

/// Bytes of a text that may be a number.
const NUMBER_LIMIT_BYTES: usize = 64;

/// Largest integer that an argument may be: lines and sections are counted in 32 bits.
const INTEGER_LIMIT: f64 = u32::MAX as f64;

/// An error about one argument.
pub(in crate::tools) fn invalid(argument: &str, reason: impl AsRef<str>) -> ToolError {
    let sentence = format!("{argument}: {}", reason.as_ref());
    ToolError::new("INVALID_ARGUMENT", sentence).with_fact("argument", argument)
}

/// An error about an argument that is larger than it may be.
pub(super) fn too_long(argument: &str, given: usize, what: &str, most: u64) -> ToolError {
    let reason = format!("{given} {what} given; at most {most} are allowed");
    invalid(argument, reason).with_fact("limit", most)
}

/// An error about an argument of another type.
fn wrong_type(argument: &str, schema: &Value, given: &Value) -> ToolError {
    let kind = schema.get("type").and_then(Value::as_str);
    let expected = match kind.unwrap_or_default() {
        "array" => format!("a list of {}", items_of(schema)),
        "string" => "a text".to_owned(),
        "boolean" => "true or false".to_owned(),
        "object" => "an object".to_owned(),
        number => {
            let article = if number == "integer" { "an" } else { "a" };
            match Bounds::of(schema) {
                Bounds(Some(least), Some(most)) => {
                    format!("{article} {number} from {least} to {most}")
                }
                Bounds(Some(least), None) => format!("{article} {number} of {least} or more"),
                Bounds(None, Some(most)) => format!("{article} {number} of at most {most}"),
                Bounds(None, None) => format!("{article} {number}"),
            }
        }
    };
    let given = shown(given);
    invalid(argument, format!("{given} given; {expected} is expected"))
}

/// What a list takes.
fn items_of(schema: &Value) -> &'static str {
    match has_numbers(schema) {
        true => "numbers",
        false => "texts",
    }
}

fn has_numbers(schema: &Value) -> bool {
    let items = schema.get("items").and_then(|items| items.get("type"));
    items.and_then(Value::as_str) == Some("number")
}

/// The least and the most that a number may be.
struct Bounds(Option<f64>, Option<f64>);

impl Bounds {
    fn of(schema: &Value) -> Bounds {
        let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
        Bounds(bound("minimum"), bound("maximum"))
    }
}

/// A value, or which kind of one it is.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string().chars().take(60).collect(),
    }
}

/// The value in the type of its schema, if it is in range and not too long.
pub(super) fn coerce(name: &str, schema: &Value, value: Value) -> Result<Value, ToolError> {
    let kind = schema.get("type").and_then(Value::as_str);
    let kind = kind.unwrap_or_default();
    let value = match (kind, value) {
        ("string", Value::Array(mut list)) if matches!(list.as_slice(), [Value::String(_)]) => {
            list.pop().unwrap_or_default()
        }
        // Models write the number of a section or page, or a number to search for, without quotes.
        ("string", Value::Number(number)) => number.to_string().into(),
        // They also write a list as a text.
        ("array", Value::String(text)) => match of_json_text(text) {
            list @ Value::Array(_) => list,
            Value::Object(fields) => Value::String(Value::Object(fields).to_string()),
            other => other,
        },
        (_, other) => other,
    };
    match (kind, value) {
        ("string", Value::String(text)) => {
            check_length(name, schema, &text)?;
            check_enum(name, schema, &text)?;
            Ok(text.into())
        }
        ("boolean", flag @ Value::Bool(_)) => Ok(flag),
        ("boolean", Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Ok(true.into()),
            "false" => Ok(false.into()),
            _ => Err(wrong_type(name, schema, &text.into())),
        },
        ("integer" | "number", Value::String(text)) => match parsed_number(&text) {
            Some(number) => in_range(name, kind, schema, &number),
            None => Err(wrong_type(name, schema, &text.into())),
        },
        ("integer" | "number", number @ Value::Number(_)) => in_range(name, kind, schema, &number),
        ("array", Value::Array(list)) => checked_list(name, schema, list),
        ("array", one @ Value::String(_)) if !has_numbers(schema) => {
            checked_list(name, schema, vec![one])
        }
        (_, other) => Err(wrong_type(name, schema, &other)),
    }
}

/// The list or object that a text is in JSON; else the text.
pub(super) fn of_json_text(text: String) -> Value {
    if !text.trim_start().starts_with(['[', '{']) {
        return Value::String(text);
    }
    match serde_json::from_str(&text) {
        Ok(value @ (Value::Array(_) | Value::Object(_))) => value,
        _ => Value::String(text),
    }
}

/// A text of at most as many characters as its schema says.
fn check_length(name: &str, schema: &Value, text: &str) -> Result<(), ToolError> {
    let Some(most) = schema.get("maxLength").and_then(Value::as_u64) else {
        return Ok(());
    };
    // A text has no more characters than bytes.
    if text.len() as u64 <= most {
        return Ok(());
    }
    let length = text.chars().count();
    if length as u64 > most {
        return Err(too_long(name, length, "characters", most));
    }
    Ok(())
}

/// One of the values that the schema lists, if it lists any.
fn check_enum(name: &str, schema: &Value, text: &str) -> Result<(), ToolError> {
    let allowed = schema.get("enum").and_then(Value::as_array);
    let allowed: Vec<&str> = allowed
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if allowed.is_empty() || allowed.contains(&text) {
        return Ok(());
    }
    let shown: String = text.chars().take(60).collect();
    let allowed = allowed.join(", ");
    Err(invalid(
        name,
        format!("{shown:?} given; allowed are {allowed}"),
    ))
}

fn parsed_number(text: &str) -> Option<Value> {
    if text.len() > NUMBER_LIMIT_BYTES {
        return None;
    }
    let value = serde_json::from_str::<Value>(text.trim()).ok();
    value.filter(Value::is_number)
}

fn in_range(name: &str, kind: &str, schema: &Value, value: &Value) -> Result<Value, ToolError> {
    let number = value.as_f64().filter(|number| number.is_finite());
    let number = number.ok_or_else(|| wrong_type(name, schema, value))?;
    let bounds = Bounds::of(schema);
    let least = bounds.0.unwrap_or(f64::MIN);
    let most = bounds.1.unwrap_or(f64::MAX);
    if name == CLAMPED {
        return Ok((number.clamp(least, most).floor() as u64).into());
    }
    if number < least || number > most {
        let allowed = match bounds {
            Bounds(Some(least), Some(most)) => format!("allowed are {least} to {most}"),
            Bounds(Some(least), None) => format!("it must be {least} or more"),
            Bounds(None, _) => format!("it must be {most} or less"),
        };
        return Err(invalid(name, format!("{value} given; {allowed}")));
    }
    if kind == "integer" && number < 0.0 {
        return Err(invalid(
            name,
            format!("{value} given; a positive number is expected"),
        ));
    }
    if kind == "integer" && number > INTEGER_LIMIT {
        return Err(invalid(
            name,
            format!("{value} given; at most {INTEGER_LIMIT} is allowed"),
        ));
    }
    match kind {
        "integer" if number.fract() == 0.0 => Ok((number as i64).into()),
        "integer" => Err(wrong_type(name, schema, value)),
        _ => Ok(number.into()),
    }
}

/// A list of texts or numbers, none too long and not too many.
fn checked_list(name: &str, schema: &Value, list: Vec<Value>) -> Result<Value, ToolError> {
    let most = schema.get("maxItems").and_then(Value::as_u64);
    if let Some(most) = most.filter(|most| list.len() as u64 > *most) {
        return Err(too_long(name, list.len(), "values", most));
    }
    let items = schema.get("items").unwrap_or(&Value::Null);
    let takes_numbers = has_numbers(schema);
    let items: Result<Vec<Value>, ToolError> = list
        .into_iter()
        .map(|item| match item {
            item if takes_numbers => coerce(name, items, item),
            Value::String(text) => check_length(name, items, &text).map(|()| text.into()),
            Value::Number(number) => Ok(number.to_string().into()),
            other => {
                let reason = format!("{} in the list; only texts are allowed", shown(&other));
                Err(invalid(name, reason))
            }
        })
        .collect();
    items.map(Value::Array)
}
