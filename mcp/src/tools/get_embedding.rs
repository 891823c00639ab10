//! `get_embedding`: the vector of a text.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::coerce::invalid;
use super::call::context::Context;
use super::call::hits;
use super::call::params::IndexName;
use super::call::tool::Tool;
use crate::indexes::Index;
use crate::limits::{NAME_LIMIT, TEXT_LIMIT};
use crate::response::{ToolError, ToolResponse, Warnings, wording};

pub(super) struct GetEmbedding;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetEmbeddingParams {
    /// Text.
    #[schemars(length(max = TEXT_LIMIT))]
    text: String,
    index_name: Option<IndexName>,
    /// See search.
    #[schemars(length(max = NAME_LIMIT))]
    vector_column: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Embedding {
    embedding: Vec<f64>,
    #[schemars(default)]
    dimensions: usize,
    #[schemars(default)]
    model: String,
    /// What to search with the vector.
    #[schemars(default)]
    vector_column: String,
    warnings: Option<Warnings>,
}

impl Tool for GetEmbedding {
    const NAME: &'static str = "get_embedding";
    const TITLE: &'static str = "Embed a text";
    const DESCRIPTION: &'static str = "Embed a text; search does it itself.";

    type Params = GetEmbeddingParams;
    type Output = Embedding;

    fn run(cx: &Context<'_>, params: &GetEmbeddingParams) -> Result<ToolResponse, ToolError> {
        if params.text.trim().is_empty() {
            return Err(invalid("text", "it is empty; give at least one word"));
        }
        let index = index(cx, params.index_name.as_deref())?;
        let column = params.vector_column.as_deref();
        let embedded = index.kb().embed_for(column, &params.text)?;
        let embedding = Embedding {
            dimensions: embedded.vector.len(),
            embedding: embedded.vector.into_iter().map(six_digits).collect(),
            model: embedded.model,
            vector_column: embedded.column,
            warnings: Warnings::of(cx.warnings.clone()),
        };
        let mut response = ToolResponse::new(&embedding, String::new());
        response.text = Value::Object(response.structured.clone()).to_string();
        Ok(response)
    }
}

/// The index whose model is used; without a name, any if all use the same model.
fn index(cx: &Context<'_>, name: Option<&str>) -> Result<Arc<Index>, ToolError> {
    let all = cx.indexes.list();
    let (None, [first, rest @ ..]) = (name, all.as_slice()) else {
        return cx.indexes.pick(name);
    };
    let model = |index: &Index| {
        let state = index.kb().state().map_err(|error| index.failure(error))?;
        Ok::<_, ToolError>(state.model)
    };
    let wanted = model(first)?;
    for other in rest {
        if model(other)? != wanted {
            return Err(different_models(&all));
        }
    }
    Ok(Arc::clone(first))
}

fn different_models(indexes: &[Arc<Index>]) -> ToolError {
    let names = wording::one_of(&hits::name_list(indexes));
    let hint = format!("Pass index_name: {names}");
    ToolError::new("INDEX_AMBIGUOUS", "the open indexes use different models").with_hint(hint)
}

/// Six significant digits: more would be noise.
fn six_digits(value: f32) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::testing::Fixture;

    #[test]
    fn a_vector_has_length_one() {
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
    fn a_column_has_vectors_of_its_own_model() {
        let fixture = Fixture::guides();
        fixture.embed("words");
        let embed = |column: Option<&str>| {
            let given = json!({"text": "sails", "vector_column": column});
            fixture.answer("get_embedding", given).structured
        };
        let built_in = embed(None);
        assert_eq!(built_in["vector_column"], "built-in");
        assert_eq!(built_in["model"], embed(Some("built-in"))["model"]);
        let words = embed(Some("words"));
        assert_eq!(words["model"], "toy:words");
        assert_eq!(words["dimensions"], 64);
        assert_eq!(words["vector_column"], "words");
        let given = json!({"query": "", "vector": words["embedding"], "vector_column": "words"});
        let found = fixture.answer("search", given).structured;
        assert!(!found["data"]["results"].as_array().unwrap().is_empty());
        let change = |writer: &mut kb_engine::KbWriter| writer.set_default_vectors("words");
        fixture.index().write(change).unwrap();
        assert_eq!(embed(None)["vector_column"], "words");
        let given = json!({"text": "sails", "vector_column": "none"});
        let error = fixture.error("get_embedding", given);
        assert_eq!(error.code, "INVALID_ARGUMENT");
        assert!(error.text().contains("it has built-in, words"));
        fixture.embed("unknown");
        let given = json!({"text": "sails", "vector_column": "unknown"});
        let error = fixture.error("get_embedding", given);
        assert_eq!(error.code, "EMBEDDING_MODEL_UNAVAILABLE");
    }

    #[test]
    fn empty_and_long_texts_are_refused() {
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
    fn an_ambiguous_index_lists_the_names() {
        let fixture = Fixture::of(&[("first", &[]), ("second", &[])], false);
        let error = different_models(&fixture.indexes.list());
        assert_eq!(error.code, "INDEX_AMBIGUOUS");
        assert!(error.text().contains("different models"));
        assert!(error.text().ends_with("index_name: first or second."));
    }
}
