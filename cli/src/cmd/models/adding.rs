//! Gives models names: what `kb models add` and `kb models pull` share.

use std::path::PathBuf;

use kb_embedders::{Addition, Cache, Entry, Model, Options};
use kb_embedders::{EmbedError, ModelCard, TextEmbedder};

use crate::failure::Failure;

/// Copies a model, checks the copy and gives it a name.
pub(super) fn add(
    name: &str,
    paths: &[PathBuf],
    addition: &Addition,
) -> Result<(Entry, Option<ModelCard>), Failure> {
    let mut checked = None;
    let entry = cache()?.add(name, paths, addition, |path, kind| {
        let model = kb_embedders::load(kind, path, &Options::default())?;
        probe(&model)?;
        checked = Some(model.card().clone());
        Ok(())
    });
    let entry = entry.map_err(failed)?;
    Ok((entry, checked))
}

/// The folder of models that have names.
pub(super) fn cache() -> Result<Cache, Failure> {
    Cache::of_user().ok_or_else(|| {
        let hint = Some("set KB_MODELS to a folder for models".to_owned());
        Failure::usage(
            "there is no folder for models: XDG_CACHE_HOME and HOME are not set",
            hint,
        )
    })
}

/// Turns an error of a model into a failure.
pub(super) fn failed(error: EmbedError) -> Failure {
    match error {
        EmbedError::Specification { .. } => Failure::usage(error.to_string(), None),
        _ => Failure::new("EMBEDDING_MODEL_UNAVAILABLE", error.to_string(), None),
    }
}

/// Embeds texts that go wrong if anything does: none, one of the greatest length, one of unknown words.
pub(super) fn probe(model: &Model) -> Result<(), EmbedError> {
    let long = "word ".repeat(model.card().max_tokens as usize);
    model.passages(&["", &long, "\u{1f600} \u{5317}\u{4eac} xqzvjw"])?;
    model.query("probe").map(drop)
}
