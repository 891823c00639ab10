//! The models of an index, beside the built-in one.

use std::fmt::Display;

use schemars::JsonSchema;
use serde::Serialize;

use crate::indexes::Index;
use crate::response::{Text, ToolError, cut};

/// Characters of the reason why a model is missing.
const MISSING_CHARS: usize = 400;

/// Tokens of a model beside its names.
const MODEL_TOKENS: u64 = 30;

#[derive(Clone, Serialize, JsonSchema)]
pub(super) struct ModelStatus {
    vector_column: String,
    model: String,
    dimensions: u32,
    /// Chunks with a vector of it.
    embedded: u64,
    /// Chunks without one.
    waiting: u64,
    /// Why it does not embed queries; absent if it does.
    missing: Option<String>,
}

impl ModelStatus {
    pub(super) fn show(&self, text: &mut Text) {
        let missing = self.missing.as_ref();
        text.line(format!("vectors {}:", self.vector_column));
        text.facts(&[
            ("model", Some(&self.model)),
            ("dimensions", Some(&self.dimensions)),
            ("embedded chunks", Some(&self.embedded)),
            ("waiting", Some(&self.waiting)),
            ("missing", missing.map(|it| it as &dyn Display)),
        ]);
    }

    pub(super) fn tokens(&self) -> u64 {
        let missing = self.missing.as_deref().unwrap_or_default();
        MODEL_TOKENS + tokens(&self.vector_column) + tokens(&self.model) + tokens(missing)
    }
}

/// The models of an index; `None` if it has the built-in one alone.
pub(super) fn models(index: &Index) -> Result<Option<Vec<ModelStatus>>, ToolError> {
    let models = index.kb().models();
    let models = models.map_err(|error| index.failure(error))?;
    let models: Vec<ModelStatus> = models
        .into_iter()
        .map(|it| ModelStatus {
            vector_column: it.column,
            model: it.card.to_string(),
            dimensions: it.card.dimension,
            embedded: it.rows,
            waiting: it.waiting,
            missing: it
                .missing
                .map(|error| cut(&error.to_string(), MISSING_CHARS).into_owned()),
        })
        .collect();
    Ok((!models.is_empty()).then_some(models))
}

/// Of a name in a list.
pub(super) fn tokens(name: &str) -> u64 {
    (name.len() as u64 + 8).div_ceil(4)
}
