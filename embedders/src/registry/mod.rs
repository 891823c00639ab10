//! Which model a specification names.

mod resolver;
mod specification;

use std::path::Path;
use std::sync::Arc;
use std::{fmt, thread};

use kb_types::{EmbedError, ModelCard, ModelFile, Reranker, TextEmbedder};

pub use self::resolver::{Destination, OneNamed, Resolver, destination};
pub use self::specification::Specification;
use crate::cache::{self, Cache};
use crate::compiled_in;
use crate::model2vec::Model2VecEmbedder;
use crate::onnx::{OnnxEmbedder, OnnxReranker};
use crate::service::{Address, Patience, ServiceEmbedder};

/// Most threads of a model. Each needs memory for a batch.
const THREADS_LIMIT: usize = 16;

/// How models are run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Threads that embed at once; all processors if it is `None`. At most 16 are used.
    pub threads: Option<usize>,
}

impl Options {
    fn threads(&self) -> usize {
        let all = || thread::available_parallelism().map_or(1, std::num::NonZero::get);
        self.threads.unwrap_or_else(all).clamp(1, THREADS_LIMIT)
    }
}

/// What a specification chose.
#[derive(Debug)]
#[non_exhaustive]
pub enum Choice {
    /// No vectors at all.
    None,
    /// The model that is part of the engine.
    Builtin,
    /// A model of this crate.
    Model(Model),
}

/// A model that is ready to embed.
pub struct Model(Kind);

enum Kind {
    Onnx(Box<OnnxEmbedder>),
    /// The one that is a part of this program.
    CompiledIn(Box<OnnxEmbedder>),
    Model2Vec(Box<Model2VecEmbedder>),
    Service(Box<ServiceEmbedder>),
}

impl Model {
    fn embedder(&self) -> &dyn TextEmbedder {
        match &self.0 {
            Kind::Onnx(model) | Kind::CompiledIn(model) => model.as_ref(),
            Kind::Model2Vec(model) => model.as_ref(),
            Kind::Service(model) => model.as_ref(),
        }
    }

    /// The tokens of a passage that the model takes; `None` if only a service knows.
    pub fn tokens(&self, text: &str) -> Option<usize> {
        match &self.0 {
            Kind::Onnx(model) | Kind::CompiledIn(model) => Some(model.tokens(text)),
            Kind::Model2Vec(model) => Some(model.tokens(text)),
            Kind::Service(_) => None,
        }
    }

    /// Gives the model the name that it has in the cache.
    fn rename(&mut self, name: &str) {
        let card = match &mut self.0 {
            Kind::Onnx(model) | Kind::CompiledIn(model) => model.card_mut(),
            Kind::Model2Vec(model) => model.card_mut(),
            Kind::Service(_) => return,
        };
        name.clone_into(&mut card.name);
    }

    /// The model as the engine takes it.
    pub fn shared(self) -> Arc<dyn TextEmbedder> {
        Arc::new(self)
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Model({})", self.card())
    }
}

impl TextEmbedder for Model {
    fn card(&self) -> &ModelCard {
        self.embedder().card()
    }

    fn passages(&self, texts: &[&str]) -> Result<Vec<f32>, EmbedError> {
        self.embedder().passages(texts)
    }

    fn query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        self.embedder().query(text)
    }

    fn preferred_batch(&self) -> usize {
        self.embedder().preferred_batch()
    }

    fn files(&self) -> Result<Vec<ModelFile>, EmbedError> {
        match (&self.0, compiled_in::files()) {
            (Kind::CompiledIn(_), Some(files)) => Ok(files),
            _ => self.embedder().files(),
        }
    }
}

/// Loads the model that a specification names: `builtin`, `none`, `onnx:FOLDER`, `model2vec:FOLDER`,
/// `openai:MODEL@URL`, or a name that `kb models add` gave or that is compiled in.
///
/// For a service, this asks for the vector of one word, whose length nothing else tells.
///
/// Loading takes about as long as reading the files and packing their numbers: 0.2 s for a model of 23 MB.
///
/// # Errors
/// [`EmbedError::Specification`] if it names none, and the errors of the model.
pub fn parse(text: &str, options: &Options) -> Result<Choice, EmbedError> {
    parse_with(text, options, Cache::of_user().as_ref())
}

/// As [`parse`], with names of another cache.
///
/// # Errors
/// Those of [`parse`].
pub fn parse_with(
    text: &str,
    options: &Options,
    cache: Option<&Cache>,
) -> Result<Choice, EmbedError> {
    match Specification::parse(text)? {
        Specification::None => Ok(Choice::None),
        Specification::Builtin => Ok(Choice::Builtin),
        Specification::Onnx(path) => load(cache::Kind::Onnx, &path, options).map(Choice::Model),
        Specification::Model2Vec(path) => {
            load(cache::Kind::Model2Vec, &path, options).map(Choice::Model)
        }
        Specification::Service(address) => service(&address, None).map(Choice::Model),
        Specification::Named(name) => match cache.and_then(|cache| cache.get(&name)) {
            Some(entry) => {
                let mut model = load(entry.kind, &entry.path, options)?;
                model.rename(&name);
                Ok(Choice::Model(model))
            }
            None => match of_program(&name, options) {
                Some(model) => model.map(Choice::Model),
                None => Err(specification::unknown_name(&name, cache)),
            },
        },
    }
}

/// The model that is a part of this program, if that has the name.
fn of_program(name: &str, options: &Options) -> Option<Result<Model, EmbedError>> {
    let files = compiled_in::files().filter(|_| name == compiled_in::NAME)?;
    let model = OnnxEmbedder::unpack(name, files, options.threads());
    Some(model.map(|model| Model(Kind::CompiledIn(Box::new(model)))))
}

/// Loads the cross-encoder that a specification names: `onnx:FOLDER`, or the name of such a model.
///
/// # Errors
/// [`EmbedError::Specification`] if it names none, and the errors of the model.
pub fn reranker(text: &str, options: &Options) -> Result<Arc<dyn Reranker>, EmbedError> {
    let cache = Cache::of_user();
    let path = match Specification::parse(text)? {
        Specification::Onnx(path) => path,
        Specification::Named(name) => match cache.as_ref().and_then(|cache| cache.get(&name)) {
            Some(entry) if entry.kind == cache::Kind::Onnx => entry.path,
            Some(_) => return Err(no_reranker(text)),
            None => return Err(specification::unknown_name(&name, cache.as_ref())),
        },
        _ => return Err(no_reranker(text)),
    };
    Ok(Arc::new(OnnxReranker::load(&path, options.threads())?))
}

fn no_reranker(text: &str) -> EmbedError {
    EmbedError::Specification {
        spec: text.to_owned(),
        reason: "a reranker is a cross-encoder: onnx:FOLDER, or the name of one".to_owned(),
    }
}

/// A model of a service; `dimension` if it is known.
fn service(address: &Address, dimension: Option<u32>) -> Result<Model, EmbedError> {
    let model = ServiceEmbedder::new(address, dimension, Patience::default())?;
    Ok(Model(Kind::Service(Box::new(model))))
}

/// The model of a card of a service, without asking the service for anything.
fn service_of_card(card: &ModelCard) -> Result<Model, EmbedError> {
    let address = Address::parse(&card.location).map_err(|reason| EmbedError::Specification {
        spec: format!("{}:{}", card.source, card.location),
        reason: reason.to_owned(),
    })?;
    service(&address, Some(card.dimension))
}

/// Loads the model in a folder.
///
/// # Errors
/// Those of the model.
pub fn load(kind: cache::Kind, path: &Path, options: &Options) -> Result<Model, EmbedError> {
    Ok(Model(match kind {
        cache::Kind::Onnx => Kind::Onnx(Box::new(OnnxEmbedder::load(path, options.threads())?)),
        cache::Kind::Model2Vec => Kind::Model2Vec(Box::new(Model2VecEmbedder::load(path)?)),
    }))
}

/// Reads a model of files that a .kb keeps.
fn unpack(card: &ModelCard, files: Vec<ModelFile>, options: &Options) -> Result<Model, EmbedError> {
    let name = card.name.as_str();
    Ok(Model(match card.source.as_str() {
        "onnx" => Kind::Onnx(Box::new(OnnxEmbedder::unpack(
            name,
            files,
            options.threads(),
        )?)),
        "model2vec" => Kind::Model2Vec(Box::new(Model2VecEmbedder::unpack(name, files)?)),
        _ => {
            return Err(EmbedError::Missing {
                what: format!("the model {card}"),
            });
        }
    }))
}

#[cfg(test)]
mod tests;
