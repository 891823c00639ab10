//! Models that are not built in: their vectors checked, their probes, their errors as those of the engine.

use std::sync::Arc;

use kb_types::embedding::check_vectors;
use kb_types::error::{Error, Result};
use kb_types::{EmbedError, EmbedderResolver, ModelCard, ModelFile, TextEmbedder};

#[cfg(feature = "ingest")]
use super::probe::PROBE_TEXTS;
use super::probe::{PROBE_COSINE, cosine};

/// The vectors that a model makes of passages, as many and as long as they should be, and finite.
///
/// # Errors
/// Those of the model; [`EmbedError::Count`], [`EmbedError::Dimension`] or [`EmbedError::NotFinite`].
#[cfg(feature = "ingest")]
pub(crate) fn passages(
    model: &dyn TextEmbedder,
    texts: &[&str],
) -> std::result::Result<Vec<f32>, EmbedError> {
    let vectors = model.passages(texts)?;
    check_vectors(&vectors, texts.len(), model.card().dimension)?;
    Ok(vectors)
}

/// The vector that a model makes of a query, as long as it should be, and finite.
///
/// # Errors
/// As [`passages`].
pub(crate) fn query(
    model: &dyn TextEmbedder,
    text: &str,
) -> std::result::Result<Vec<f32>, EmbedError> {
    let vector = model.query(text)?;
    check_vectors(&vector, 1, model.card().dimension)?;
    Ok(vector)
}

/// The probes that a column of this model keeps: texts with their vectors as passages.
///
/// # Errors
/// As [`passages`].
#[cfg(feature = "ingest")]
pub(crate) fn text_probes(
    model: &dyn TextEmbedder,
) -> std::result::Result<Vec<(String, Vec<f32>)>, EmbedError> {
    let vectors = passages(model, &PROBE_TEXTS)?;
    let width = (model.card().dimension as usize).max(1);
    let vectors = vectors.chunks_exact(width).map(<[f32]>::to_vec);
    let texts = PROBE_TEXTS.iter().map(|text| (*text).to_owned());
    Ok(texts.zip(vectors).collect())
}

/// Whether a model reproduces the probes of a column, each with a cosine of at least [`PROBE_COSINE`]. A column
/// without probes proves nothing and is trusted; a probe of zeros, which a model makes of texts without any token, has
/// to be one again.
///
/// # Errors
/// As [`passages`]; they tell nothing about the probes.
pub(crate) fn verify_text_probes(
    model: &dyn TextEmbedder,
    probes: &[(String, Vec<f32>)],
) -> std::result::Result<bool, EmbedError> {
    let texts: Vec<&str> = probes.iter().map(|(text, _)| text.as_str()).collect();
    let vectors = model.passages(&texts)?;
    let width = (model.card().dimension as usize).max(1);
    if check_vectors(&vectors, texts.len(), model.card().dimension).is_err() {
        return Ok(false);
    }
    let is_zero = |vector: &[f32]| vector.iter().all(|number| *number == 0.0);
    let mut pairs = probes.iter().zip(vectors.chunks_exact(width));
    Ok(pairs.all(|((_, stored), made)| {
        let is_near = cosine(stored, made).is_some_and(|cosine| cosine >= PROBE_COSINE);
        is_near || (is_zero(stored) && is_zero(made))
    }))
}

/// The model of a card: that of this machine, else the one whose files the .kb keeps.
///
/// # Errors
/// Those of `kept`; inside, those of the models, and [`EmbedError::Unfit`] for one that was changed since.
pub(crate) fn find(
    models: &dyn EmbedderResolver,
    card: &ModelCard,
    kept: &mut dyn FnMut() -> Result<Option<Vec<ModelFile>>>,
) -> Result<std::result::Result<Arc<dyn TextEmbedder>, EmbedError>> {
    let same = |model: Arc<dyn TextEmbedder>| match model.card().is_same_model(card) {
        true => Ok(model),
        false => Err(EmbedError::Unfit {
            reason: changed(card),
        }),
    };
    let found = models.find(card).and_then(same);
    if found.is_ok() {
        return Ok(found);
    }
    Ok(match kept()? {
        Some(files) => models.unpack(card, files).and_then(same),
        None => found,
    })
}

/// What is said of a model whose vectors are not those of its column.
pub(crate) fn changed(card: &ModelCard) -> String {
    format!("{card} makes other vectors than those of the column: it was changed since")
}

/// What the engine says of a model that gives no vectors.
pub(crate) fn unavailable(card: &ModelCard, error: EmbedError) -> Error {
    match error {
        EmbedError::Stopped => Error::Cancelled,
        error @ EmbedError::Specification { .. } => Error::InvalidArgument {
            argument: "embedder",
            reason: error.to_string(),
        },
        error => Error::EmbeddingModelUnavailable {
            needs: format!("{card} ({error})"),
        },
    }
}

#[cfg(feature = "ingest")]
#[cfg(test)]
mod tests {
    use kb_types::embedding::toy::WordHashes;

    use super::*;

    #[test]
    fn a_model_that_changed_is_noticed_by_its_probes() {
        let model = WordHashes::new("words", 64);
        let probes = text_probes(&model).unwrap();
        assert_eq!(probes.len(), PROBE_TEXTS.len());
        assert!(verify_text_probes(&model, &probes).unwrap());
        let changed = WordHashes::new("other words", 64);
        assert!(!verify_text_probes(&changed, &probes).unwrap());
        let longer = WordHashes::new("words", 65);
        assert!(!verify_text_probes(&longer, &probes).unwrap());
    }
}
