//! Finds the models of cards again.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kb_types::{EmbedError, EmbedderResolver, ModelCard, TextEmbedder};

use super::{Choice, Model, Options, parse, service_of_card};
use crate::cache::Cache;

/// How long a model that cannot be loaded is not tried again: a server would read its files for each query.
const RETRY: Duration = Duration::from_secs(30);

/// A model, or why there is none.
type Found = Result<Arc<dyn TextEmbedder>, EmbedError>;

/// Finds models by the cards that files store: where the card says, else by name in the cache.
pub struct Resolver {
    options: Options,
    cache: Option<Cache>,
    /// Cards that were asked for, what was found, and when.
    found: Mutex<Vec<(ModelCard, Found, Instant)>>,
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Resolver({:?})", self.cache)
    }
}

impl Resolver {
    /// Finds models on this machine.
    pub fn new(options: Options, cache: Option<Cache>) -> Resolver {
        Resolver {
            options,
            cache,
            found: Mutex::default(),
        }
    }

    fn load(&self, card: &ModelCard) -> Found {
        let load = |specification: &str| match parse(specification, &self.options)? {
            Choice::Model(model) => Ok(model.shared()),
            _ => Err(EmbedError::Missing {
                what: card.to_string(),
            }),
        };
        if card.source == "openai" {
            return service_of_card(card).map(Model::shared);
        }
        if !matches!(card.source.as_str(), "onnx" | "model2vec") {
            return load(&format!("{}:{}", card.source, card.location));
        }
        if is_local(&card.location) && Path::new(&card.location).exists() {
            return load(&format!("{}:{}", card.source, card.location));
        }
        let cached = self.cache.as_ref().and_then(|cache| cache.get(&card.name));
        match cached {
            Some(entry) => load(&format!("{}:{}", entry.kind.name(), entry.path.display())),
            None => Err(EmbedError::Missing {
                what: format!("the model {card}"),
            }),
        }
    }
}

/// Whether a location of a card may be looked at. Two slashes name another machine on Windows, which would see who asks:
/// a file must not decide that.
fn is_local(location: &str) -> bool {
    let is_slash = |character: char| matches!(character, '/' | '\\');
    let mut start = location.chars().map(is_slash);
    !location.is_empty() && (start.next(), start.next()) != (Some(true), Some(true))
}

impl EmbedderResolver for Resolver {
    fn find(&self, card: &ModelCard) -> Found {
        let mut all = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found, since)) = all.iter().find(|(known, ..)| known == card)
            && (found.is_ok() || since.elapsed() < RETRY)
        {
            return found.clone();
        }
        all.retain(|(known, ..)| known != card);
        let found = self.load(card);
        all.push((card.clone(), found.clone(), Instant::now()));
        found
    }
}
