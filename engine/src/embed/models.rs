//! Which models this program has: the newest one, or none in a build that only searches by keywords.

use super::embedder::{BUILT_IN_MODEL, Embedder};

/// The built-in model with an id; `None` for any other, and in a build without models.
#[cfg(feature = "model")]
pub fn by_id(id: &str) -> Option<&'static dyn Embedder> {
    (id == BUILT_IN_MODEL).then(|| super::built_in() as &dyn Embedder)
}

/// The built-in model with an id; `None` for any other, and in a build without models.
#[cfg(not(feature = "model"))]
pub fn by_id(_id: &str) -> Option<&'static dyn Embedder> {
    None
}

/// How much a word of a query says, 0.05 to 1, by the built-in model; 1 in a build without models.
#[cfg(feature = "model")]
pub(crate) fn word_weight(word: &str) -> f32 {
    super::built_in().word_weight(word)
}

/// How much a word of a query says, 0.05 to 1, by the built-in model; 1 in a build without models.
#[cfg(not(feature = "model"))]
pub fn word_weight(_word: &str) -> f32 {
    1.0
}
