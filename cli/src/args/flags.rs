//! Flags that several verbs share.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use kb_engine::{Cursor, Mode, PageOptions, RERANK_LIMIT, RERANK_TOP, VectorCodec};

use crate::output::hyperlink::HyperlinkFormat;

/// The .kb file to read.
#[derive(Debug, Args)]
pub(crate) struct FileFlag {
    /// The .kb file to search or read
    ///
    /// Default: the file that KB_FILE names, else the .kb file in this folder or in the nearest parent folder with
    /// one. Among several, the newest that was indexed from this folder.
    #[arg(short, long, value_name = "FILE.kb", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
}

/// The .kb file of a verb that takes no other operand.
#[derive(Debug, Args)]
pub(crate) struct FileOperand {
    /// The .kb file
    ///
    /// Default: the file that KB_FILE names, else the .kb file in this folder or in the nearest parent folder with
    /// one. Among several, the newest that was indexed from this folder.
    #[arg(value_name = "FILE.kb", value_hint = ValueHint::FilePath)]
    operand: Option<PathBuf>,

    /// The same, as a flag
    #[arg(short = 'f', long = "file", value_name = "FILE.kb", value_hint = ValueHint::FilePath, conflicts_with = "operand")]
    flag: Option<PathBuf>,
}

impl FileOperand {
    /// Returns the file that was named, as an operand or by the flag.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.operand.as_deref().or(self.flag.as_deref())
    }
}

/// Whether an operand that may also be a name is an existing .kb file.
pub(crate) fn is_kb_file(operand: &Path) -> bool {
    operand.extension().is_some_and(|ending| ending == "kb") && operand.is_file()
}

/// Splits the operands of a verb that takes documents. If no flag names the .kb file, the first of several operands may be
/// the file: a name that ends in `.kb` and for which `is_file` is true.
pub(crate) fn file_and_documents<'a>(
    flag: Option<&'a Path>,
    operands: &'a [String],
    is_file: impl Fn(&Path) -> bool,
) -> (Option<&'a Path>, &'a [String]) {
    match operands.split_first() {
        Some((first, rest))
            if flag.is_none()
                && !rest.is_empty()
                && first.ends_with(".kb")
                && is_file(Path::new(first)) =>
        {
            (Some(Path::new(first)), rest)
        }
        _ => (flag, operands),
    }
}

/// A model that orders the first results anew.
#[derive(Debug, Args)]
pub(crate) struct RerankFlags {
    /// Order the first results by a cross-encoder: onnx:FOLDER, or the name of one
    ///
    /// It reads each of them together with the query, so each costs one run of the model. Scores stay as they are.
    /// --explain shows its number for each result and how long it took.
    #[arg(long, value_name = "SPEC", help_heading = "Reranking", value_hint = ValueHint::Other)]
    pub(crate) rerank: Option<String>,

    /// How many results --rerank orders, 1 to 100
    #[arg(
        long,
        value_name = "N",
        default_value_t = RERANK_TOP,
        requires = "rerank",
        help_heading = "Reranking",
        value_parser = rerank_top
    )]
    pub(crate) rerank_top: usize,
}

fn rerank_top(text: &str) -> Result<usize, String> {
    let number = text.parse().ok();
    let number = number.filter(|number| (1..=RERANK_LIMIT).contains(number));
    number.ok_or_else(|| format!("allowed are 1 to {RERANK_LIMIT}"))
}

/// Output in parts.
#[derive(Debug, Args)]
pub(crate) struct PageFlags {
    /// Limit output to about N tokens (4 bytes each); at least one item is printed
    ///
    /// If output is cut, a hint shows the token for --continue.
    #[arg(long, value_name = "N", help_heading = "Paging")]
    pub(crate) max_tokens: Option<u32>,

    /// Continue the output of an earlier run of the same command
    #[arg(long = "continue", value_name = "TOKEN", help_heading = "Paging")]
    pub(crate) continuation: Option<Cursor>,
}

impl PageFlags {
    /// Whether a limit or a continuation is given.
    pub(crate) fn is_given(&self) -> bool {
        self.max_tokens.is_some() || self.continuation.is_some()
    }

    pub(crate) fn page(&self) -> PageOptions {
        let mut page = PageOptions::default();
        page.max_tokens = self.max_tokens;
        page.cursor.clone_from(&self.continuation);
        page
    }
}

/// How to link results to files.
#[derive(Debug, Args)]
pub(crate) struct LinkFlag {
    /// Link each result to its file, if the terminal supports links: `default`, `vscode`, `none`
    ///
    /// The names are those of ripgrep: cursor, default, file, grep+, kitty, macvim, none, textmate, vscode,
    /// vscode-insiders, vscodium, zed. You can also give a format with {path}, {line}, {column} and {host}, such as
    /// `x-editor://open?file={path}&line={line}`. KB_HYPERLINK_FORMAT sets the default for all commands.
    #[arg(long, value_name = "FORMAT", env = "KB_HYPERLINK_FORMAT", hide_env = true, default_value = "none", hide_default_value = true, value_parser = HyperlinkFormat::parse)]
    pub(crate) hyperlink_format: HyperlinkFormat,
}

/// Whether to update the file before it is read.
#[derive(Debug, Args)]
pub(crate) struct RefreshFlag {
    /// Bring the .kb file up to date with its folders first, as `kb index` does
    ///
    /// Without this flag, a warning after the results names files that changed. The check takes at most 5 ms, so it may
    /// miss some.
    #[arg(long)]
    pub(crate) refresh: bool,
}

/// Output for programs.
#[derive(Debug, Args)]
pub(crate) struct JsonFlag {
    /// Print JSON, one object per line
    ///
    /// Errors become one object on stderr: {"error": {"code": ..., "message": ...}}.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses the name of a search mode.
pub(crate) fn modes() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::name))
        .map(|name| Mode::from_name(&name).unwrap_or_default())
}

/// How vectors are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VectorsArgument {
    /// 8 bits per dimension
    I8,
    /// 4 bits per dimension
    I4,
}

impl VectorsArgument {
    pub(crate) fn codec(self) -> VectorCodec {
        match self {
            VectorsArgument::I8 => VectorCodec::I8,
            VectorsArgument::I4 => VectorCodec::I4,
        }
    }
}

/// The model that embeds beside the built-in one.
#[derive(Debug, Args)]
pub(crate) struct EmbedderFlags {
    /// Also embed by this model, beside the built-in one: a name of `kb models`, onnx:FOLDER, openai:MODEL@URL
    ///
    /// The file can be searched before the model has begun. Later runs use the same model without this flag, as long as it
    /// is where it was. `kb reembed` has more choices.
    #[arg(long, value_name = "SPEC")]
    pub(crate) embedder: Option<String>,

    /// Send the texts to the service that --embedder names, without a question; not needed for this machine
    #[arg(long, requires = "embedder")]
    pub(crate) yes: bool,
}
