//! Models that are not built in: those of columns of vectors, and the one that `--embedder` names.

use std::sync::{Arc, OnceLock};

use kb_embedders::{Cache, Choice, Options, Resolver};
use kb_engine::{EmbedError, EmbedderResolver, Rerank, TextEmbedder};

use crate::args::RerankFlags;
use crate::failure::Failure;

/// Finds the models of columns: for searches and for what embeds, so that a model is loaded once.
pub(crate) fn resolver() -> Arc<dyn EmbedderResolver> {
    static RESOLVER: OnceLock<Arc<Resolver>> = OnceLock::new();
    let resolver = || Arc::new(Resolver::new(Options::default(), Cache::of_user()));
    RESOLVER.get_or_init(resolver).clone()
}

/// The model that `--embedder` names.
pub(crate) fn named(specification: &str) -> Result<Arc<dyn TextEmbedder>, Failure> {
    let model = match kb_embedders::parse(specification, &Options::default()) {
        Ok(Choice::Model(model)) => return Ok(model.shared()),
        Ok(_) => EmbedError::Specification {
            spec: specification.to_owned(),
            reason: "the built-in model has its own column".to_owned(),
        },
        Err(error) => error,
    };
    Err(unavailable("--embedder", &model))
}

/// The cross-encoder that `--rerank` names.
pub(crate) fn reranker(flags: &RerankFlags) -> Result<Option<Rerank>, Failure> {
    let Some(specification) = &flags.rerank else {
        return Ok(None);
    };
    let model = kb_embedders::reranker(specification, &Options::default());
    let model = model.map_err(|error| unavailable("--rerank", &error))?;
    Ok(Some(Rerank::new(model).top(flags.rerank_top)))
}

fn unavailable(flag: &str, error: &EmbedError) -> Failure {
    let code = match error {
        EmbedError::Specification { .. } => "INVALID_ARGUMENT",
        _ => "EMBEDDING_MODEL_UNAVAILABLE",
    };
    let hint = "`kb models` lists the models that are at hand".to_owned();
    Failure::new(code, format!("{flag}: {error}"), Some(hint))
}
