//! A checker of the part of JSON Schema that the definitions use, for tests: every answer must be what
//! was advertised.

use serde_json::Value;

/// Says what of `value` is not as `schema` has it. Fields that the schema does not name are an error
/// too: what is answered must be advertised.
pub(crate) fn check(schema: &Value, value: &Value) -> Result<(), String> {
    let failed = |what: &str| Err(format!("{what}: {value} against {schema}"));
    let fits = match schema.get("type").and_then(Value::as_str) {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_i64() || value.is_u64(),
        _ => return failed("no type"),
    };
    if !fits {
        return failed("another type");
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        return failed("not one of the values");
    }
    if let Some(number) = value.as_f64() {
        let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
        if bound("minimum").is_some_and(|least| number < least)
            || bound("maximum").is_some_and(|most| number > most)
        {
            return failed("out of range");
        }
    }
    if let (Some(items), Some(list)) = (schema.get("items"), value.as_array()) {
        list.iter().try_for_each(|item| check(items, item))?;
    }
    let Some(object) = value.as_object() else {
        return Ok(());
    };
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !object.contains_key(name) {
            return failed(&format!("no {name}"));
        }
    }
    for (name, value) in object {
        match schema.pointer("/properties").and_then(|all| all.get(name)) {
            Some(schema) => check(schema, value)?,
            None => return failed(&format!("{name} is not advertised")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_does_not_fit_is_told() {
        let schema = json!({"type": "object", "required": ["a"], "properties": {
            "a": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 3}},
            "b": {"type": "string", "enum": ["x"]}}});
        check(&schema, &json!({"a": [1, 3], "b": "x"})).unwrap();
        for bad in [
            json!([]),
            json!({}),
            json!({"a": [0]}),
            json!({"a": [4]}),
            json!({"a": [1.5]}),
            json!({"a": [], "b": "y"}),
            json!({"a": [], "b": 1}),
            json!({"a": [], "c": 1}),
        ] {
            assert!(check(&schema, &bad).is_err(), "{bad}");
        }
    }
}
