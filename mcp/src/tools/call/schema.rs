//! JSON Schemas of parameters and results, derived from their types and reduced to what every host
//! reads.
//!
//! Doc comments of the fields (`///`) are the published descriptions; comments for developers are `//`.
//! A field of a result is promised (`required`) unless it is an `Option`, or is always sent but not
//! promised: then it has `#[schemars(default)]`.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The schema of the parameters of a tool.
pub(super) fn of_params<P: JsonSchema>() -> Value {
    portable(derived::<P>())
}

/// The schema of the structured form of a result; a result has no defaults.
pub(super) fn of_result<R: JsonSchema>() -> Value {
    let mut schema = portable(derived::<R>());
    remove_defaults(&mut schema);
    schema
}

fn derived<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    settings.into_generator().into_root_schema_for::<T>().into()
}

/// The schema without what some hosts refuse: `$schema`, titles, formats of integers, `null` among the
/// types, and objects without `properties`. The name and description of the root type are for
/// developers.
fn portable(mut schema: Value) -> Value {
    reduce(&mut schema);
    if let Value::Object(root) = &mut schema {
        root.remove("description");
        root.entry("properties")
            .or_insert_with(|| Value::Object(serde_json::Map::new()));
    }
    schema
}

fn reduce(schema: &mut Value) {
    let Value::Object(fields) = schema else {
        return;
    };
    fields.remove("title");
    let format = fields.remove("format");
    // Every unsigned integer has 0; it says something only beside a maximum.
    let is_unsigned = format
        .as_ref()
        .and_then(Value::as_str)
        .is_some_and(|format| format.starts_with("uint"));
    let is_zero = fields.get("minimum").and_then(Value::as_f64) == Some(0.0);
    if is_unsigned && is_zero && !fields.contains_key("maximum") {
        fields.remove("minimum");
    }
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|name| name != "null");
        if let Some(only) = types.pop() {
            fields.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = fields.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.values_mut().for_each(reduce);
    }
    if let Some(items) = fields.get_mut("items") {
        reduce(items);
    }
}

fn remove_defaults(schema: &mut Value) {
    let Value::Object(fields) = schema else {
        return;
    };
    fields.remove("default");
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.values_mut().for_each(remove_defaults);
    }
    if let Some(items) = fields.get_mut("items") {
        remove_defaults(items);
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use super::*;

    #[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
    enum Colour {
        #[default]
        #[serde(rename = "red")]
        Red,
        #[serde(rename = "blue")]
        Blue,
    }

    /// For developers.
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Sample {
        /// How many.
        count: u32,
        /// Best first.
        names: Option<Vec<String>>,
        #[serde(default)]
        colour: Colour,
        /// At most.
        #[schemars(range(min = 0, max = 1))]
        share: Option<f64>,
        inner: Option<Inner>,
    }

    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Inner {
        #[schemars(length(max = 3), default)]
        text: String,
    }

    #[test]
    fn schemas_are_portable() {
        let expected = json!({
            "type": "object",
            "required": ["count"],
            "properties": {
                "count": {"type": "integer", "description": "How many."},
                "names": {"type": "array", "description": "Best first.", "items": {"type": "string"}},
                "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
                "share": {"type": "number", "description": "At most.", "minimum": 0, "maximum": 1},
                "inner": {"type": "object", "properties": {
                    "text": {"type": "string", "maxLength": 3, "default": ""}}},
            },
        });
        assert_eq!(of_params::<Sample>(), expected);
        let result = of_result::<Sample>();
        assert!(!result.to_string().contains("default"), "{result}");
    }
}
