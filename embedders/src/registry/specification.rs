//! The words that name a model.

use std::path::{Path, PathBuf};

use kb_types::EmbedError;

use crate::cache::{self, Cache};
use crate::service::Address;

/// What a specification says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Specification {
    /// `none`: no vectors.
    None,
    /// `builtin`: the model of the engine.
    Builtin,
    /// `onnx:FOLDER`: a folder with a graph, or the graph itself.
    Onnx(PathBuf),
    /// `model2vec:FOLDER`: a folder with a table of token vectors.
    Model2Vec(PathBuf),
    /// `openai:MODEL@URL`: a model of a service.
    Service(Address),
    /// The name of a model in the cache.
    Named(String),
}

impl Specification {
    /// Reads a specification.
    ///
    /// # Errors
    /// [`EmbedError::Specification`] with what is wrong.
    pub fn parse(text: &str) -> Result<Specification, EmbedError> {
        let fault = |reason: &str| EmbedError::Specification {
            spec: text.to_owned(),
            reason: reason.to_owned(),
        };
        match text.split_once(':') {
            None if text == "none" => Ok(Specification::None),
            None if text == "builtin" => Ok(Specification::Builtin),
            None if cache::is_name(text) => Ok(Specification::Named(text.to_owned())),
            Some(("onnx", "")) => Err(fault("the folder is missing: onnx:FOLDER")),
            Some(("onnx", path)) => Ok(Specification::Onnx(PathBuf::from(path))),
            Some(("model2vec", "")) => Err(fault("the folder is missing: model2vec:FOLDER")),
            Some(("model2vec", path)) => Ok(Specification::Model2Vec(PathBuf::from(path))),
            Some(("fastembed", _)) => Err(fault(
                "no build has fastembed; onnx:FOLDER runs the folder of the same model out of its cache or a hub",
            )),
            Some(("openai", rest)) => Address::parse(rest).map_or_else(
                |reason| Err(fault(reason)),
                |address| Ok(Specification::Service(address)),
            ),
            _ => match cache::kind(Path::new(text)) {
                Some(kind) => Err(fault(&format!("did you mean {}:{text}?", kind.name()))),
                None => Err(fault(
                    "use builtin, none, onnx:FOLDER, model2vec:FOLDER, openai:MODEL@URL, or a name that kb models lists",
                )),
            },
        }
    }
}

/// Why a name means no model: what is like it.
pub(super) fn unknown_name(name: &str, cache: Option<&Cache>) -> EmbedError {
    let models = cache.map(Cache::list).unwrap_or_default();
    let names: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
    let reason = match (cache::kind(Path::new(name)), names.as_slice()) {
        (Some(kind), _) => format!("did you mean {}:{name}, the folder?", kind.name()),
        (None, []) => "no model has a name yet; kb models add NAME PATH gives one".to_owned(),
        (None, names) => format!("models with names: {}", names.join(", ")),
    };
    EmbedError::Specification {
        spec: name.to_owned(),
        reason,
    }
}
