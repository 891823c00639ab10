//! Cross-encoders: models that read a query and a passage as one text, and return one number.

use std::fmt;
use std::path::Path;

use kb_types::{EmbedError, Reranker};

use super::batches::{Batches, Row};
use super::loading::{Found, Loaded};
use crate::tokenizer::Tokenizer;

/// A cross-encoder of a folder.
pub(crate) struct OnnxReranker {
    name: String,
    tokenizer: Tokenizer,
    /// Tokens of a query and a passage together.
    max_tokens: usize,
    batches: Batches,
}

impl fmt::Debug for OnnxReranker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OnnxReranker({})", self.name)
    }
}

impl OnnxReranker {
    /// Reads a model: what an embedder needs, with a graph that returns one number for each text.
    ///
    /// # Errors
    /// As those of embedders; [`EmbedError::Unfit`] also for a model that is no cross-encoder.
    pub(crate) fn load(path: &Path, threads: usize) -> Result<OnnxReranker, EmbedError> {
        Found::at(path)?.with_place(|place| {
            let loaded = Loaded::read(place, threads)?;
            let reranker = OnnxReranker {
                name: format!("onnx:{}", place.name),
                tokenizer: loaded.tokenizer,
                max_tokens: loaded.settings.max_tokens as usize,
                batches: loaded.batches.unscaled(),
            };
            reranker.probe().map_err(|error| match error {
                EmbedError::Unfit { reason } => place.unfit(reason),
                other => other,
            })?;
            Ok(reranker)
        })
    }

    /// Runs the model once: what it returns is known only then. The text has the highest token of the vocabulary, which
    /// a model with a smaller one refuses.
    fn probe(&self) -> Result<(), EmbedError> {
        let mut row = self.row(0, "probe", "probe");
        let middle = row.tokens.len() / 2;
        row.tokens.insert(middle, self.tokenizer.highest());
        let reason = match self.batches.probe(row)? {
            (1, true) => return Ok(()),
            (_, false) => "the model returns vectors of tokens".to_owned(),
            (numbers, true) => format!("the model returns {numbers} numbers for a text"),
        };
        Err(EmbedError::Unfit {
            reason: format!("{reason}, and a cross-encoder returns one"),
        })
    }

    /// Query and passage as one text. The query has at most half of the tokens.
    fn row(&self, place: usize, query: &str, passage: &str) -> Row {
        let mut tokens = self.tokenizer.encode(query, self.max_tokens / 2);
        let second = tokens.len();
        self.tokenizer
            .encode_second(passage, self.max_tokens, &mut tokens);
        Row {
            place,
            tokens,
            second,
        }
    }
}

impl Reranker for OnnxReranker {
    fn name(&self) -> &str {
        &self.name
    }

    fn scores(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
        let rows = passages.iter().enumerate();
        let rows = rows.map(|(place, passage)| self.row(place, query, passage));
        self.batches.run(rows.collect(), passages.len(), 1)
    }
}
