//! Finds the models of cards again.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kb_types::{EmbedError, EmbedderResolver, ModelCard, ModelFile, TextEmbedder};

use super::{Choice, Model, Options, Specification, of_program, parse, service_of_card, unpack};
use crate::cache::Cache;

/// How long a model that cannot be loaded is not tried again: a server would read its files for each query.
const RETRY: Duration = Duration::from_secs(30);

/// Allows to send texts to a service that a file names. Its value is the location of the card.
const SERVICE: &str = "KB_EMBEDDER_SERVICE";

/// The source of cards of services.
const SERVICE_SOURCE: &str = "openai";

/// Where a model sends texts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Destination {
    /// The host, as the address has it.
    pub host: String,
    /// The place as cards store it.
    pub location: String,
    /// Whether that is this machine, by the name `localhost` or a loopback address.
    pub is_local: bool,
    /// Whether the variable `KB_EMBEDDER_SERVICE` allows it.
    pub is_allowed: bool,
}

/// Where the model that a specification names sends texts; `None` if it sends none.
pub fn destination(specification: &str) -> Option<Destination> {
    let Ok(Specification::Service(address)) = Specification::parse(specification) else {
        return None;
    };
    let location = address.location();
    Some(Destination {
        host: address.host().to_owned(),
        is_local: address.is_local(),
        is_allowed: is_allowed(&location),
        location,
    })
}

/// Whether the environment allows to send texts to a place.
fn is_allowed(location: &str) -> bool {
    std::env::var(SERVICE).is_ok_and(|place| place == location)
}

/// A model, or why there is none.
type Found = Result<Arc<dyn TextEmbedder>, EmbedError>;

/// Finds models by the cards that files store: where the card says, else by name in the cache. A service only if the
/// variable `KB_EMBEDDER_SERVICE` is its location: a file must not decide where queries are sent.
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
        if card.source == SERVICE_SOURCE {
            // A file that came from elsewhere must not decide where queries are sent.
            return if is_allowed(&card.location) {
                service_of_card(card).map(Model::shared)
            } else {
                let location = &card.location;
                Err(EmbedError::Missing {
                    what: format!(
                        "{SERVICE}={location}, which would allow to send queries and texts there,"
                    ),
                })
            };
        }
        // A function of Python is no model that can be found here.
        if !matches!(card.source.as_str(), "onnx" | "model2vec") {
            return Err(EmbedError::Missing {
                what: format!("the model {card}"),
            });
        }
        if is_local(&card.location) && Path::new(&card.location).exists() {
            return load(&format!("{}:{}", card.source, card.location));
        }
        let cached = self.cache.as_ref().and_then(|cache| cache.get(&card.name));
        let own = || of_program(&card.name, &self.options);
        match (&cached, cached.is_none().then(own).flatten()) {
            (Some(entry), _) => load(&format!("{}:{}", entry.kind.name(), entry.path.display())),
            (None, Some(model)) => model.map(Model::shared),
            (None, None) => Err(EmbedError::Missing {
                what: format!("the model {card}"),
            }),
        }
    }
}

/// Whether a location of a card may be looked at. Two slashes name another machine on Windows, which would see who
/// asks: a file must not decide that.
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

    fn unpack(&self, card: &ModelCard, files: Vec<ModelFile>) -> Found {
        unpack(card, files, &self.options).map(Model::shared)
    }
}

/// A model that was named, and those of other columns.
#[derive(Debug)]
pub struct OneNamed {
    model: Arc<dyn TextEmbedder>,
    others: Arc<dyn EmbedderResolver>,
}

impl OneNamed {
    /// Finds the model that was named for its own columns.
    pub fn new(model: Arc<dyn TextEmbedder>, others: Arc<dyn EmbedderResolver>) -> OneNamed {
        OneNamed { model, others }
    }
}

impl EmbedderResolver for OneNamed {
    fn find(&self, card: &ModelCard) -> Found {
        if self.model.card().is_same_model(card) {
            return Ok(Arc::clone(&self.model));
        }
        self.others.find(card)
    }

    fn unpack(&self, card: &ModelCard, files: Vec<ModelFile>) -> Found {
        self.others.unpack(card, files)
    }
}
