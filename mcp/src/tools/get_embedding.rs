//! `get_embedding`: the vector of a text.

use std::sync::Arc;

use serde_json::{Value, json};

use super::call::arguments::Arguments;
use super::call::coerce::invalid;
use super::call::{Call, hits};
use crate::indexes::Index;
use crate::response::{ToolError, ToolResponse, insert_warnings, object};

pub(super) fn call(call: &Call<'_>, arguments: &Arguments) -> Result<ToolResponse, ToolError> {
    let text = arguments.required_text("text");
    if text.trim().is_empty() {
        return Err(invalid("text", "it is empty; give at least one word"));
    }
    let all = call.indexes.list();
    let index = match (arguments.index_name(), all.as_slice()) {
        (Some(name), _) => call.indexes.named(name)?,
        (None, [first, rest @ ..]) => {
            let model = |index: &Index| {
                let state = index.kb().state().map_err(|error| index.failure(error))?;
                Ok::<_, ToolError>(state.model)
            };
            let wanted = model(first)?;
            for other in rest {
                if model(other)? != wanted {
                    // Which one is meant matters, so the caller is asked.
                    return Err(several(&all));
                }
            }
            Arc::clone(first)
        }
        (None, []) => call.indexes.pick(None)?,
    };
    let (vector, model) = index.kb().embed(text)?;
    let vector: Vec<Value> = vector.into_iter().map(six_digits).collect();
    let mut structured = object(json!({
        "dimensions": vector.len(),
        "embedding": vector,
        "model": model,
    }));
    insert_warnings(&mut structured, &arguments.warnings());
    let text = Value::Object(structured.clone()).to_string();
    Ok(ToolResponse { structured, text })
}

fn several(indexes: &[Arc<Index>]) -> ToolError {
    let hint = format!("Pass index_name, one of {}", hits::names(indexes));
    ToolError::new("INDEX_AMBIGUOUS", "the open indexes use different models").with_hint(hint)
}

/// Six significant digits: more would be noise.
fn six_digits(value: f32) -> Value {
    format!("{value:.5e}")
        .parse::<f64>()
        .map_or(Value::Null, Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::Fixture;

    #[test]
    fn a_vector_has_length_one_and_says_its_model() {
        let fixture = Fixture::guides();
        let answer = fixture.answer(
            "get_embedding",
            json!({"text": "sails are mended with wax"}),
        );
        let vector = answer.structured["embedding"].as_array().unwrap();
        assert_eq!(answer.structured["dimensions"], vector.len());
        let square: f64 = vector
            .iter()
            .map(|value| value.as_f64().unwrap().powi(2))
            .sum();
        assert!((square - 1.0).abs() < 1e-4, "{square}");
        let model = fixture.index().kb().state().unwrap().model;
        assert_eq!(answer.structured["model"], model);
        let json: Value = serde_json::from_str(&answer.text).unwrap();
        assert_eq!(json, Value::Object(answer.structured));
        assert_eq!(six_digits(0.123_456_78), json!(0.123457));
    }

    #[test]
    fn a_text_has_a_length() {
        let fixture = Fixture::of(&[("first", &[]), ("second", &[])], false);
        for text in [" ".to_owned(), "x".repeat(8001)] {
            assert_eq!(
                fixture.error("get_embedding", json!({"text": text})).code,
                "INVALID_ARGUMENT"
            );
        }
        let text = "w\u{f6}rter ".repeat(1000);
        fixture.answer("get_embedding", json!({"text": text}));
    }

    #[test]
    fn who_must_choose_is_told_the_names() {
        let fixture = Fixture::of(&[("first", &[]), ("second", &[])], false);
        let error = several(&fixture.indexes.list());
        assert_eq!(error.code, "INDEX_AMBIGUOUS");
        assert!(error.text().contains("different models"));
        assert!(error.text().ends_with("one of first, second."));
    }
}
