//! JSON objects of responses.

use serde_json::{Map, Value};

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// The fields of a JSON object without those that are null, at any depth: a result leaves out what has
/// no value.
pub(crate) fn object(mut value: Value) -> Object {
    remove_nulls(&mut value);
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}

fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nulls_are_left_out_at_any_depth() {
        let given = json!({"a": null, "b": [{"c": null, "d": 0}], "e": {"f": null}});
        assert_eq!(
            Value::Object(object(given)),
            json!({"b": [{"d": 0}], "e": {}})
        );
    }
}
