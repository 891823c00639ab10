//! Probes: texts with their vectors, by which a file recognises its model.

use kb_types::error::Result;

use super::embedder::Embedder;

/// A text and its document vector. A file stores some, to recognise its model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Probe {
    /// The text.
    pub text: String,
    /// Its document vector, unit length.
    pub vector: Vec<f32>,
}

/// The texts of the probes of a new file: prose, an identifier, code, and letters outside ASCII.
/// Files store their probes, so this list may change.
pub(super) const PROBE_TEXTS: [&str; 4] = [
    "How do I reset a forgotten password?",
    "parseHttpResponse_v2",
    "for (int i = 0; i < count; i++) { total += values[i]; }",
    "The na\u{ef}ve estimate of \u{3bb} converges slowly.",
];

/// The least cosine between the vector of a probe and that of the model: less is another model.
// Two builds of one model differ by rounding only, far below 0.001; other models are far above it.
pub(super) const PROBE_COSINE: f64 = 0.999;

/// The probes to store in a file whose vectors come from this model.
///
/// # Errors
/// Errors of the model.
pub(crate) fn probes(embedder: &dyn Embedder) -> Result<Vec<Probe>> {
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

/// Whether the model reproduces every probe with a cosine of at least [`PROBE_COSINE`]. False also
/// for vectors with other dimensions, zero vectors, numbers that are not finite, and an empty list
/// of probes.
///
/// # Errors
/// Errors of the model; they tell nothing about the probes.
pub(crate) fn verify_probes(embedder: &dyn Embedder, probes: &[Probe]) -> Result<bool> {
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

/// Cosine of two vectors of the same dimensions; `None` if it is not finite.
pub(super) fn cosine(left: &[f32], right: &[f32]) -> Option<f64> {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter()
            .zip(b)
            .map(|(&x, &y)| f64::from(x) * f64::from(y))
            .sum()
    };
    let cosine = dot(left, right) / (dot(left, left) * dot(right, right)).sqrt();
    cosine.is_finite().then_some(cosine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::static_model::built_in;

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
