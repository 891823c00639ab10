//! Room: text to vector. The trait that every embedding model answers to, and the built-in models,
//! which need no network, no file and no runtime. Ingestion embeds chunks, search embeds queries;
//! this room knows neither, nor where vectors are kept.
//!
//! A .kb names its model by id, hash and a few [`Probe`]s: texts with their vectors. Whoever opens
//! the file finds the model with [`by_id`] and asks [`verify_probes`] whether it is the same one.

mod slot;
mod static_model;
mod wordpiece;

use std::fmt::Debug;

pub use self::static_model::{Coverage, StaticModel, built_in, by_id};
use crate::error::{Error, Result};

/// A model that turns texts into vectors of one fixed length.
pub trait Embedder: Send + Sync + Debug {
    /// Stable name of the model: `kb-static-1`.
    fn id(&self) -> &str;

    /// Blake3 over everything that decides the vectors. Two models of one id and different hashes
    /// are different models.
    fn hash(&self) -> [u8; 32];

    /// Numbers in a vector, at least 1.
    fn dim(&self) -> usize;

    /// How many tokens of a text count; the rest has no influence. `None`: all of them.
    fn max_tokens(&self) -> Option<usize>;

    /// Writes the vectors of texts that are searched: `out` is `[texts.len(), dim]`, row-major. A
    /// vector has unit length, or is all zero if the model knows nothing in the text. A vector
    /// depends on its text alone, not on the texts beside it.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `out` has another length; what the model reports.
    fn embed_documents(&self, texts: &[&str], out: &mut [f32]) -> Result<()>;

    /// The same for texts that are searched for.
    ///
    /// # Errors
    /// As [`Embedder::embed_documents`].
    fn embed_queries(&self, texts: &[&str], out: &mut [f32]) -> Result<()>;

    /// How much of a text the model knows.
    fn coverage(&self, text: &str) -> Coverage;
}

/// A text and its document vector: by reproducing it, a model shows that it is the one of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// The text.
    pub text: String,
    /// Its document vector, unit length.
    pub vector: Vec<f32>,
}

/// What a new file is probed with: prose, an identifier, code, and a letter outside ASCII. Files
/// carry their own probes, so this list may change.
pub const PROBE_TEXTS: [&str; 4] = [
    "How do I reset a forgotten password?",
    "parseHttpResponse_v2",
    "for (int i = 0; i < count; i++) { total += values[i]; }",
    "The na\u{ef}ve estimate of \u{3bb} converges slowly.",
];

/// The least cosine between a probe's vector and the model's that counts as the same.
pub const PROBE_COSINE: f64 = 0.999;

/// The probes to store in a file whose vectors come from this model.
///
/// # Errors
/// What the model reports.
pub fn probes(embedder: &dyn Embedder) -> Result<Vec<Probe>> {
    let mut probes = Vec::with_capacity(PROBE_TEXTS.len());
    for text in PROBE_TEXTS {
        let mut vector = vec![0.0; embedder.dim()];
        embedder.embed_documents(&[text], &mut vector)?;
        probes.push(Probe {
            text: text.to_owned(),
            vector,
        });
    }
    Ok(probes)
}

/// Whether the model reproduces every probe, each with a cosine of at least [`PROBE_COSINE`].
/// Vectors of another length, of length zero or with numbers that are not finite do not agree, and
/// no probes at all prove nothing: `false`.
///
/// # Errors
/// What the model reports: it could not be asked, which says nothing about the probes.
pub fn verify_probes(embedder: &dyn Embedder, probes: &[Probe]) -> Result<bool> {
    let mut vector = vec![0.0; embedder.dim()];
    for probe in probes {
        if probe.vector.len() != vector.len() {
            return Ok(false);
        }
        embedder.embed_documents(&[&probe.text], &mut vector)?;
        let cosine = cosine(&probe.vector, &vector);
        if cosine.is_none_or(|cosine| cosine < PROBE_COSINE) {
            return Ok(false);
        }
    }
    Ok(!probes.is_empty())
}

/// Cosine of two vectors of one length; `None` if it has no meaning.
fn cosine(left: &[f32], right: &[f32]) -> Option<f64> {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter()
            .zip(b)
            .map(|(&x, &y)| f64::from(x) * f64::from(y))
            .sum()
    };
    let cosine = dot(left, right) / (dot(left, left) * dot(right, right)).sqrt();
    cosine.is_finite().then_some(cosine)
}

/// Refuses an output that does not hold one vector per text.
fn check_out(texts: usize, dim: usize, out: &[f32]) -> Result<()> {
    if texts.checked_mul(dim) == Some(out.len()) {
        return Ok(());
    }
    Err(Error::InvalidArgument {
        argument: "out",
        reason: format!("{} numbers for {texts} vectors of {dim}", out.len()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_reproduces_its_own_probes() {
        let probes = probes(built_in()).unwrap();
        assert_eq!(probes.len(), PROBE_TEXTS.len());
        assert!(verify_probes(built_in(), &probes).unwrap());
    }

    #[test]
    fn a_changed_probe_is_detected() {
        let good = probes(built_in()).unwrap();
        for index in 0..good.len() {
            let mut other_vector = good.clone();
            other_vector[index].vector[7] += 0.06;
            assert!(!verify_probes(built_in(), &other_vector).unwrap());
            let mut other_text = good.clone();
            other_text[index].text.push_str(" tokenizer");
            assert!(!verify_probes(built_in(), &other_text).unwrap());
        }
        let mut rounded = good;
        rounded[0].vector[7] += 0.001;
        assert!(
            verify_probes(built_in(), &rounded).unwrap(),
            "small rounding is no other model"
        );
    }

    #[test]
    fn probes_that_prove_nothing_do_not_agree() {
        let dim = built_in().dim();
        let probe = |text: &str, vector| Probe {
            text: text.to_owned(),
            vector,
        };
        for probes in [
            vec![],
            vec![probe("password", vec![])],
            vec![probe("password", vec![0.1; dim - 1])],
            vec![probe("password", vec![f32::NAN; dim])],
            vec![probe("password", vec![f32::INFINITY; dim])],
            vec![probe("password", vec![0.0; dim])],
            vec![probe("", vec![0.0; dim])],
        ] {
            assert!(!verify_probes(built_in(), &probes).unwrap(), "{probes:?}");
        }
    }
}
