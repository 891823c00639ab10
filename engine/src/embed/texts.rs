//! Vectors of texts that are in no file.

use kb_types::error::Result;

use crate::embed::embedder::Embedder;
use crate::embed::static_model::built_in;

/// What a text is to a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TextRole {
    /// What is searched.
    #[default]
    Document,
    /// What is asked.
    Query,
}

/// The vectors of some texts in the [built-in model](crate::BUILT_IN_MODEL), and their dimensions:
/// `[texts.len(), dim]`, row-major. Each is of unit length, or all zero when the model knows nothing in
/// its text. A text of any length is averaged whole. Cost: about a microsecond for each word, on the thread
/// of the caller.
///
/// ```
/// use kb_engine::{TextRole, embed_texts};
///
/// let (vectors, dim) = embed_texts(&["the sea rises", "high tide"], TextRole::Document).unwrap();
/// let (sea, tide) = vectors.split_at(dim);
/// let cosine: f32 = sea.iter().zip(tide).map(|(a, b)| a * b).sum();
/// assert!(cosine > 0.2);
/// ```
///
/// # Errors
/// Those of the model; the built-in one has none.
pub fn embed_texts(texts: &[&str], role: TextRole) -> Result<(Vec<f32>, usize)> {
    let model = built_in();
    let dim = model.dim();
    let mut vectors = vec![0.0; texts.len() * dim];
    match role {
        TextRole::Document => model.embed_documents(texts, &mut vectors)?,
        TextRole::Query => model.embed_queries(texts, &mut vectors)?,
    }
    Ok((vectors, dim))
}
