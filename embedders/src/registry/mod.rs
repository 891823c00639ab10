//! Which model a specification names.

mod specification;

use std::path::Path;
use std::sync::Arc;
use std::{fmt, thread};

use kb_types::{EmbedError, ModelCard, TextEmbedder};

pub use self::specification::Specification;
use crate::onnx::OnnxEmbedder;

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
}

impl Model {
    fn embedder(&self) -> &dyn TextEmbedder {
        match &self.0 {
            Kind::Onnx(model) => model.as_ref(),
        }
    }

    /// The tokens of a passage that the model takes; `None` if only a service knows.
    pub fn tokens(&self, text: &str) -> Option<usize> {
        match &self.0 {
            Kind::Onnx(model) => Some(model.tokens(text)),
        }
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
}

/// Loads the model that a specification names: `builtin`, `none`, or `onnx:FOLDER`.
///
/// Loading takes about as long as reading the files and packing their numbers: 0.1 s for a model of 23 MB.
///
/// # Errors
/// [`EmbedError::Specification`] if it names none, and the errors of the model.
pub fn parse(text: &str, options: &Options) -> Result<Choice, EmbedError> {
    match Specification::parse(text)? {
        Specification::None => Ok(Choice::None),
        Specification::Builtin => Ok(Choice::Builtin),
        Specification::Onnx(path) => onnx(&path, options).map(Choice::Model),
    }
}

fn onnx(path: &Path, options: &Options) -> Result<Model, EmbedError> {
    let model = OnnxEmbedder::load(path, options.threads())?;
    Ok(Model(Kind::Onnx(Box::new(model))))
}
