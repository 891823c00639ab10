//! Flags of the verbs about vectors that other models made.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueHint};
use kb_engine::Metric;

use super::flags::{FileOperand, JsonFlag};
use super::writing::{VectorsArgument, WaitFlag};

/// Import what another program made for the chunks of a .kb file
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true, after_help = IMPORT_EXAMPLES)]
pub(crate) struct ImportArguments {
    #[command(subcommand)]
    pub(crate) action: ImportAction,
}

/// What is imported.
#[derive(Debug, Subcommand)]
pub(crate) enum ImportAction {
    Vectors(ImportVectorsArguments),
}

/// Import vectors of any embedding model into a column of the file, to be searched by `kb search --vector`
///
/// SOURCE has one vector a row and is read in parts, however large it is. All rows come in one step or none:
/// interrupting the command, or a row that is wrong, leaves the file as it was. Rows that name their chunks may be fewer
/// than the chunks. The first import of a column decides its scale; numbers beyond it are cut, and a warning says so.
///
/// An .npy file has the shape [rows, dim], of f2, f4, f8 or i1 in C order: its rows are the chunks of the file in
/// order, one for each (documents by path, then chunks), or --rows names them. A line of a .jsonl file is
/// {"document": "a.md", "chunk": 0, "vector": [0.1, 0.2]}; in place of "chunk" there may be "span" (bytes) or
/// "lines". Convert a .parquet, .arrow or .feather file to .jsonl first, unless kb was built with the feature
/// `parquet`: such a file has the columns document, chunk or start and end, and vector.
/// `kb get GLOB --format chunks --json` prints the texts to embed with these names.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub(crate) struct ImportVectorsArguments {
    /// The .kb file
    #[arg(value_name = "FILE.kb", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// The vectors: an .npy or .jsonl file
    #[arg(value_name = "SOURCE", value_hint = ValueHint::FilePath)]
    pub(crate) source: PathBuf,

    /// Name of the column, a new one or one that gets more vectors [default: the name of SOURCE without its ending]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// The model that made the vectors, in any words; the file remembers it
    #[arg(
        long,
        value_name = "MODEL",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) model: String,

    /// How vectors are compared
    #[arg(long, value_name = "METRIC", default_value = Metric::default().name(), value_parser = metrics())]
    pub(crate) metric: Metric,

    /// How a new column is stored: a byte or half a byte a dimension
    #[arg(long, value_name = "CODEC", default_value = "i8")]
    pub(crate) codec: VectorsArgument,

    /// Which chunk each row of an .npy file is of: a line each, {"document": "a.md", "chunk": 0}
    #[arg(long, value_name = "FILE.jsonl", value_hint = ValueHint::FilePath)]
    pub(crate) rows: Option<PathBuf>,

    /// Replace vectors that chunks have in this column already
    #[arg(long)]
    pub(crate) replace: bool,

    /// Make it the column that `kb search --vector` searches when none is named
    #[arg(long)]
    pub(crate) default: bool,

    #[command(flatten)]
    pub(crate) wait: WaitFlag,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

fn metrics() -> impl TypedValueParser<Value = Metric> {
    PossibleValuesParser::new(Metric::ALL.map(Metric::name))
        .map(|name| Metric::from_name(&name).unwrap_or_default())
}

const IMPORT_EXAMPLES: &str = "\
Examples:
  kb get -f notes.kb '*' --format chunks --json > chunks.jsonl     the texts to embed
  kb import vectors notes.kb minilm.jsonl --model all-MiniLM-L6-v2
  kb import vectors notes.kb minilm.npy --default     a row for each chunk, in order
  kb import vectors notes.kb e5.npy --rows chunks.jsonl --metric dot
  kb import vectors notes.kb new.jsonl --name e5 --replace";

/// List the columns of vectors of a file, remove one, or choose the default
///
/// The column `built-in` has the vectors that kb makes itself; the others were imported by `kb import vectors`. A
/// document that is changed or removed loses its imported vectors.
#[derive(Debug, Args)]
#[command(after_help = COLUMNS_EXAMPLES)]
pub(crate) struct ColumnsArguments {
    #[command(flatten)]
    pub(crate) file: FileOperand,

    /// Remove this column with all its vectors
    #[arg(long, value_name = "NAME")]
    pub(crate) remove: Option<String>,

    /// Make this the column that `kb search --vector` searches when none is named
    #[arg(long, value_name = "NAME", conflicts_with = "remove")]
    pub(crate) default: Option<String>,

    #[command(flatten)]
    pub(crate) wait: WaitFlag,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

const COLUMNS_EXAMPLES: &str = "\
Examples:
  kb vectors notes.kb
  kb vectors notes.kb --default minilm
  kb vectors notes.kb --remove minilm";
