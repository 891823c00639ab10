//! The trait of embedding models.

use std::fmt::Debug;

use kb_types::error::{Error, Result};

/// Id of the embedding model that is built in, which makes the vectors of new files.
pub const BUILT_IN_MODEL: &str = "kb-static-2";

/// A model that turns texts into vectors of one fixed length.
pub trait Embedder: Send + Sync + Debug {
    /// Stable name of the model: `kb-static-2`.
    fn id(&self) -> &str;

    /// BLAKE3 hash over everything that determines the vectors: models with the same id and
    /// different hashes are different models.
    fn hash(&self) -> [u8; 32];

    /// Dimensions of the vectors, at least 1.
    fn dim(&self) -> usize;

    /// Writes the vectors of documents to `out`, which is `[texts.len(), dim]`, row-major. A vector
    /// has unit length, or is all zero if the model knows no token of the text. It depends on its
    /// text alone, not on the other texts of the call.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `out` has another length; errors of the model.
    fn embed_documents(&self, texts: &[&str], out: &mut [f32]) -> Result<()>;

    /// As [`Embedder::embed_documents`], for queries.
    ///
    /// # Errors
    /// As [`Embedder::embed_documents`].
    fn embed_queries(&self, texts: &[&str], out: &mut [f32]) -> Result<()>;

    /// How much of a text the vocabulary covers.
    fn coverage(&self, text: &str) -> Coverage;
}

/// How much of a text the vocabulary of a model covers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Words, without punctuation. The parts of `camelCase` and `snake_case` are words.
    pub words: usize,
    /// Words that are single tokens of the vocabulary. Other words have vague vectors, summed up
    /// from their pieces, or none.
    pub known_words: usize,
    /// Tokens of the text, with repetitions and punctuation. 0: the vector is zero.
    pub tokens: usize,
}

impl Coverage {
    /// The share of words that are known, from 0 to 1; 0 when there are no words.
    pub fn known_share(self) -> f32 {
        if self.words == 0 {
            0.0
        } else {
            self.known_words as f32 / self.words as f32
        }
    }
}

/// Checks that an output has one vector for each text.
pub(super) fn check_out(texts: usize, dim: usize, out: &[f32]) -> Result<()> {
    if texts.checked_mul(dim) == Some(out.len()) {
        return Ok(());
    }
    Err(Error::InvalidArgument {
        argument: "out",
        reason: format!("{} numbers for {texts} vectors of {dim}", out.len()),
    })
}
