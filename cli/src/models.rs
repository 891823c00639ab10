//! Models that are not built in: those of columns of vectors, and the one that `--embedder` names.

use std::sync::Arc;

use kb_embedders::{Cache, Choice, Options, Resolver};
use kb_engine::{EmbedError, EmbedderResolver, ModelCard, TextEmbedder};

use crate::failure::Failure;

/// Allows to send texts to a service that a file names. Its value is the place of the model in `kb vectors --json`.
const SERVICE: &str = "KB_EMBEDDER_SERVICE";

/// Finds the models of columns.
pub(crate) fn resolver() -> Arc<dyn EmbedderResolver> {
    Arc::new(Allowed(Resolver::new(Options::default(), Cache::of_user())))
}

/// Models of this machine, and services that the user allowed: a file that came from elsewhere must not decide where
/// queries are sent.
#[derive(Debug)]
struct Allowed(Resolver);

impl EmbedderResolver for Allowed {
    fn find(&self, card: &ModelCard) -> Result<Arc<dyn TextEmbedder>, EmbedError> {
        let is_allowed = std::env::var(SERVICE).is_ok_and(|place| place == card.location);
        if is_service(&card.source) && !is_allowed {
            return Err(EmbedError::Missing {
                what: format!(
                    "{SERVICE}={}, which would allow to send queries and texts there,",
                    card.location
                ),
            });
        }
        self.0.find(card)
    }
}

/// Whether a kind of model sends texts to another machine.
fn is_service(source: &str) -> bool {
    source == "openai"
}

/// Whether the model that a specification names sends texts to another machine.
pub(crate) fn sends_texts(specification: &str) -> bool {
    let source = specification.split_once(':');
    source.is_some_and(|(source, _)| is_service(source))
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
    let code = match model {
        EmbedError::Specification { .. } => "INVALID_ARGUMENT",
        _ => "EMBEDDING_MODEL_UNAVAILABLE",
    };
    let message = format!("--embedder: {model}");
    let hint = "`kb models` lists the models that are at hand".to_owned();
    Err(Failure::new(code, message, Some(hint)))
}

#[cfg(test)]
mod tests {
    use kb_engine::Pooling;

    use super::*;

    #[test]
    fn no_file_decides_where_texts_are_sent() {
        let card = ModelCard {
            source: "openai".to_owned(),
            name: "any".to_owned(),
            location: "any@http://127.0.0.1:9".to_owned(),
            dimension: 3,
            pooling: Pooling::Given,
            normalised: true,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            max_tokens: 0,
            weights: None,
        };
        let refused = resolver().find(&card).map(|_| ()).unwrap_err();
        let told = refused.to_string();
        assert!(
            told.contains("KB_EMBEDDER_SERVICE=any@http://127.0.0.1:9"),
            "{told}"
        );
        assert!(sends_texts("openai:any@http://127.0.0.1:9"));
        assert!(!sends_texts("onnx:openai"));
    }
}
