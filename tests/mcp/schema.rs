//! As much of JSON Schema as the published schemas use.

use serde_json::Value;

/// What a value breaks of a schema: one line each, with the place.
pub(crate) fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, value, "$", &mut found);
    found
}

fn check(schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    let kind = schema["type"].as_str().unwrap_or("any");
    let fits = match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("{place}: a schema of type {other}"),
    };
    if !fits {
        found.push(format!("{place}: {value} is no {kind}"));
        return;
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        found.push(format!("{place}: {value} is not one of {allowed:?}"));
    }
    if let Some(number) = value.as_f64() {
        let is_below = schema["minimum"]
            .as_f64()
            .is_some_and(|least| number < least);
        let is_above = schema["maximum"].as_f64().is_some_and(|most| number > most);
        if is_below || is_above {
            found.push(format!("{place}: {value} is out of range"));
        }
    }
    if let (Some(fields), Some(properties)) = (value.as_object(), schema["properties"].as_object())
    {
        for required in schema["required"].as_array().into_iter().flatten() {
            if !fields.contains_key(required.as_str().unwrap()) {
                found.push(format!("{place}: {required} is missing"));
            }
        }
        for (name, field) in fields {
            match properties.get(name) {
                Some(schema) => check(schema, field, &format!("{place}.{name}"), found),
                None => found.push(format!("{place}: nobody said that there is {name}")),
            }
        }
    }
    if let Some(items) = value.as_array() {
        for (at, item) in items.iter().enumerate() {
            check(&schema["items"], item, &format!("{place}[{at}]"), found);
        }
    }
}

/// What a published schema must not have, or lacks, so that every host takes it; every property of an
/// input says what it is.
pub(crate) fn unportable(schema: &Value, place: &str, is_input: bool) -> Vec<String> {
    const KNOWN: [&str; 11] = [
        "type",
        "description",
        "properties",
        "required",
        "items",
        "enum",
        "default",
        "minimum",
        "maximum",
        "maxItems",
        "maxLength",
    ];
    let mut found = Vec::new();
    let Some(fields) = schema.as_object() else {
        return vec![format!("{place}: {schema} is no schema")];
    };
    for (key, value) in fields {
        if !KNOWN.contains(&key.as_str()) || value.is_null() {
            found.push(format!("{place}: {key}: {value}"));
        }
    }
    if !schema["type"].is_string() {
        found.push(format!("{place}: its type is {}", schema["type"]));
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if is_input && !property["description"].is_string() {
            found.push(format!("{place}.{name}: nothing describes it"));
        }
        found.extend(unportable(property, &format!("{place}.{name}"), is_input));
    }
    for required in schema["required"].as_array().into_iter().flatten() {
        let name = required.as_str().unwrap_or_default();
        if schema["properties"].get(name).is_none() {
            found.push(format!("{place}: {required} is required and not there"));
        }
    }
    if schema["type"] == "array" {
        found.extend(unportable(
            &schema["items"],
            &format!("{place}[]"),
            is_input,
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_breaks_a_schema_is_found_wherever_it_stands() {
        let schema = json!({"type": "object", "required": ["a"], "properties": {
            "a": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 5}},
            "b": {"type": "string", "enum": ["x"]},
        }});
        assert!(violations(&schema, &json!({"a": [1, 5], "b": "x"})).is_empty());
        for wrong in [
            json!({}),
            json!({"a": [0]}),
            json!({"a": [1.5]}),
            json!({"a": [], "b": "y"}),
            json!({"a": [], "c": 1}),
            json!({"a": null}),
        ] {
            assert_eq!(violations(&schema, &wrong).len(), 1, "{wrong}");
        }
        let broken = json!({"type": ["string", "null"], "$ref": "#"});
        assert_eq!(unportable(&broken, "$", false).len(), 2);
        let undescribed = json!({"type": "object", "required": ["b"], "properties": {
            "a": {"type": "string"}}});
        assert_eq!(unportable(&undescribed, "$", true).len(), 2);
        assert_eq!(unportable(&undescribed, "$", false).len(), 1);
    }
}
