//! Flags of `kb import` and `kb vectors`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueHint};
use kb_engine::Metric;

use super::flags::{FileOperand, JsonFlag, VectorsArgument};
use super::writing::WaitFlag;

/// Import documents from a table, or vectors that another program made for the chunks of a .kb file
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true, after_help = IMPORT_EXAMPLES)]
pub(crate) struct ImportArguments {
    #[command(subcommand)]
    pub(crate) action: ImportAction,
}

/// The subcommands of `kb import`.
#[derive(Debug, Subcommand)]
pub(crate) enum ImportAction {
    Documents(ImportDocumentsArguments),
    Vectors(ImportVectorsArguments),
}

/// Add each row of a JSON Lines or CSV file as a document
///
/// The columns text (required), path, title and tags are those of the document. Every other column, and in JSON each name of
/// the object "metadata", is a field for `kb search --where`. A row without a path is called after SOURCE and its line.
///
/// Values of JSON keep their types; a text that is a date is a date. In CSV a value is what it looks like, an empty
/// cell is none, and tags have commas between them.
///
/// The file gets a commit after every 32 MiB of text or 50,000 documents. A wrong row ends the import; the documents of
/// earlier commits stay.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub(crate) struct ImportDocumentsArguments {
    /// The .kb file; created if it does not exist
    #[arg(value_name = "FILE.kb", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// The rows: .jsonl or .csv
    #[arg(value_name = "SOURCE", value_hint = ValueHint::FilePath)]
    pub(crate) source: PathBuf,

    /// Replace documents that have the path of a row
    #[arg(long)]
    pub(crate) replace: bool,

    /// Also import rows with keys or credentials; without this flag they are left out
    #[arg(long)]
    pub(crate) include_secrets: bool,

    #[command(flatten)]
    pub(crate) wait: WaitFlag,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Import vectors of any embedding model into a column of the file, for `kb search --vector`
///
/// SOURCE has one vector per row. It is read in parts, so it may be larger than memory. The import is one step: after an
/// interrupt or a wrong row the file is unchanged. The first import of a column sets its scale. Later numbers beyond
/// the scale are clamped, with a warning.
///
/// An .npy file has the shape [rows, dim], type f2, f4, f8 or i1, and C order. It has one row for each chunk of the
/// .kb file, ordered by document path and then by chunk. With --rows, the rows belong to the chunks that the other file
/// names, and may be fewer. A line of a .jsonl file is {"document": "a.md", "chunk": 0, "vector": [0.1, 0.2]}.
/// Instead of "chunk" it may have "span" (bytes) or "lines". Convert .parquet, .arrow and .feather files to .jsonl first,
/// unless kb was built with the feature `parquet`. Their columns are document, chunk (or start and end), and vector.
///
/// `kb get GLOB --format chunks --json` prints the texts to embed, with these names.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub(crate) struct ImportVectorsArguments {
    /// The .kb file
    #[arg(value_name = "FILE.kb", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// The file with the vectors: .npy or .jsonl
    #[arg(value_name = "SOURCE", value_hint = ValueHint::FilePath)]
    pub(crate) source: PathBuf,

    /// Name of a new or existing column [default: the name of SOURCE without its extension]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Name of the model that made the vectors; stored in the file for information
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

    /// How to store a new column
    #[arg(long, value_name = "CODEC", default_value = "i8")]
    pub(crate) codec: VectorsArgument,

    /// For an .npy file: a file with one line per row that names its chunk, {"document": "a.md", "chunk": 0}
    #[arg(long, value_name = "FILE.jsonl", value_hint = ValueHint::FilePath)]
    pub(crate) rows: Option<PathBuf>,

    /// Replace vectors that this column already has
    #[arg(long)]
    pub(crate) replace: bool,

    /// Make this the default column of `kb search --vector`
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
  kb import documents books.kb books.jsonl           {\"text\": \"...\", \"path\": \"a.md\", \"year\": 2016}
  kb get -f notes.kb '*' --format chunks --json > chunks.jsonl     the texts to embed
  kb import vectors notes.kb minilm.jsonl --model all-MiniLM-L6-v2
  kb import vectors notes.kb minilm.npy --default     one row per chunk, in order
  kb import vectors notes.kb e5.npy --rows chunks.jsonl --metric dot
  kb import vectors notes.kb new.jsonl --name e5 --replace";

/// Embed the chunks of a file by another model, beside the built-in one
///
/// Searches then use both models. Newest documents come first. Vectors are saved every 20 seconds, and the command goes on
/// where it stopped, so an interrupt loses little. Other programs may write the file meanwhile. `kb index`, `kb add` and
/// `kb watch` embed what they add, as long as the model is where it was.
#[derive(Debug, Args)]
#[command(after_help = REEMBED_EXAMPLES)]
pub(crate) struct ReembedArguments {
    #[command(flatten)]
    pub(crate) file: FileOperand,

    /// The model: `onnx:FOLDER`, `model2vec:FOLDER`, or a name that `kb models add` gave
    #[arg(long, value_name = "SPEC")]
    pub(crate) embedder: String,

    /// Name of a new or existing column [default: the name of the model]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// How to store a new column
    #[arg(long, value_name = "CODEC", default_value = "i8")]
    pub(crate) codec: VectorsArgument,

    /// Stop after this time, such as 90s, 10m or 2h
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) max_time: Option<Duration>,

    /// Remove the vectors of another model from this column first
    #[arg(long)]
    pub(crate) replace: bool,

    /// Do not keep vectors by their texts
    ///
    /// Without this flag the file keeps what was embedded: a document that comes back or is renamed, and a model that
    /// is used again, cost nothing. That takes as many bytes as the column; `kb seal` drops it.
    #[arg(long)]
    pub(crate) no_cache: bool,

    /// Send the texts to the service that SPEC names (`openai:`), without a question
    ///
    /// A service on this machine needs no --yes. Later searches, and `kb index` and `kb add`, send to a service only if
    /// KB_EMBEDDER_SERVICE is set to its place, as `kb vectors --json` shows it.
    #[arg(long)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) wait: WaitFlag,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Parses a time with its unit.
fn parse_time(text: &str) -> Result<Duration, String> {
    let seconds = [("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let parsed = seconds.iter().find_map(|(unit, seconds)| {
        let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
        Duration::try_from_secs_f64(number * seconds).ok()
    });
    parsed.ok_or_else(|| format!("{text:?} is not a time; give 90s, 10m or 2h"))
}

const REEMBED_EXAMPLES: &str = "\
Examples:
  kb reembed notes.kb --embedder onnx:models/minilm
  kb reembed notes.kb --embedder onnx:models/minilm --max-time 10m
  kb vectors notes.kb                   the columns, and how many chunks have a vector";

/// List the vector columns of a file, remove one, or choose the default
///
/// The column `built-in` has the vectors of kb's own model. Other columns come from `kb import vectors`. If a document
/// changes or is removed, its imported vectors are removed.
#[derive(Debug, Args)]
#[command(after_help = COLUMNS_EXAMPLES)]
pub(crate) struct ColumnsArguments {
    #[command(flatten)]
    pub(crate) file: FileOperand,

    /// Remove this column with all its vectors
    #[arg(long, value_name = "NAME")]
    pub(crate) remove: Option<String>,

    /// Make this the default column of `kb search --vector`
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
