//! Which models this program has: the newest one, or none in a build that only searches by keywords.

use kb_types::error::Result;

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

/// The number of a word in the vocabulary of the built-in model, frequent words first; `None` for a text that is not one
/// word of it, and in a build without models.
#[cfg(feature = "model")]
pub(crate) fn word_number(word: &str) -> Option<u32> {
    let (mut number, mut tokens) = (None, 0);
    super::built_in().tokens(word, |token| {
        number = Some(token);
        tokens += 1;
    });
    number.filter(|_| tokens == 1)
}

/// The number of a word in the vocabulary of the built-in model, frequent words first; `None` for a text that is not one
/// word of it, and in a build without models.
#[cfg(not(feature = "model"))]
pub fn word_number(_word: &str) -> Option<u32> {
    None
}

/// The cosine of the vectors that the built-in model has of two words; 0 in a build without models.
///
/// # Errors
/// What the model reports.
#[cfg(feature = "model")]
pub(crate) fn likeness(one: &str, other: &str) -> Result<f32> {
    let model = super::built_in();
    let mut vectors = vec![0.0; 2 * model.dim()];
    model.embed_queries(&[one, other], &mut vectors)?;
    let (one, other) = vectors.split_at(model.dim());
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let lengths = (dot(one, one) * dot(other, other)).sqrt();
    Ok(if lengths > 0.0 {
        dot(one, other) / lengths
    } else {
        0.0
    })
}

/// The cosine of the vectors that the built-in model has of two words; 0 in a build without models.
#[cfg(not(feature = "model"))]
pub fn likeness(_one: &str, _other: &str) -> Result<f32> {
    Ok(0.0)
}
