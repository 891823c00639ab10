//! The words that name a model.

use std::path::PathBuf;

use kb_types::EmbedError;

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
            Some(("onnx", "")) => Err(fault("the folder is missing: onnx:FOLDER")),
            Some(("onnx", path)) => Ok(Specification::Onnx(PathBuf::from(path))),
            _ => Err(fault("use builtin, none or onnx:FOLDER")),
        }
    }
}
