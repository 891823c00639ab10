//! Flags of `kb merge`, `kb diff` and `kb patch`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser as _;
use clap::{Args, ValueHint};
use kb_engine::OnConflict;

use super::flags::JsonFlag;
use super::writing::WaitFlag;

/// Join .kb files into one, or take a part of one
///
/// Text, words, vectors, symbols, tags and fields are copied: nothing is read, embedded or parsed again, and the sources
/// are not needed. Searches answer as if all documents had been indexed into one file. A document that is there already,
/// alike in all, is taken once.
///
/// OUT.kb must be new, unless --into or --force is given. It is written whole or not at all. With --only, documents come
/// without their folders, so that `kb index` later leaves them as they are.
#[derive(Debug, Args)]
#[command(after_help = MERGE_EXAMPLES)]
pub(crate) struct MergeArguments {
    /// The .kb files, in the order in which --on-conflict compares them
    #[arg(value_name = "FILE.kb", value_hint = ValueHint::FilePath, required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Write the documents into this new file
    #[arg(short, long, value_name = "OUT.kb", value_hint = ValueHint::FilePath, required_unless_present = "into", conflicts_with = "into")]
    pub(crate) output: Option<PathBuf>,

    /// Add the documents to this file instead
    #[arg(long, value_name = "FILE.kb", value_hint = ValueHint::FilePath)]
    pub(crate) into: Option<PathBuf>,

    /// Replace OUT.kb if it is another .kb file
    #[arg(long, conflicts_with = "into")]
    pub(crate) force: bool,

    /// What to do with two documents of one path and different content
    ///
    /// refuse: merge nothing, and name them. keep-first, keep-last: by the order of the files. keep-newest: by the time
    /// of their last change. both: put the second below a folder that is named after its file.
    #[arg(
        long,
        value_name = "CHOICE",
        default_value = "refuse",
        value_parser = PossibleValuesParser::new(OnConflict::ALL.map(OnConflict::name))
            .map(|name| OnConflict::of_name(&name).unwrap_or_default())
    )]
    pub(crate) on_conflict: OnConflict,

    /// Take only documents that match GLOB, as --path of `kb search`; !GLOB leaves out (repeatable)
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    pub(crate) only: Vec<String>,

    /// Give every document this tag (repeatable)
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,

    /// Put the documents of each file below a folder that is named after it
    #[arg(long)]
    pub(crate) folders: bool,

    #[command(flatten)]
    pub(crate) wait: WaitFlag,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

const MERGE_EXAMPLES: &str = "\
Examples:
  kb merge a.kb b.kb -o all.kb                        join two files
  kb merge a.kb b.kb -o all.kb --folders              a/..., b/...
  kb merge old.kb new.kb -o all.kb --on-conflict keep-last
  kb merge team.kb --into mine.kb --tag team          add to a file
  kb merge all.kb -o docs.kb --only 'docs/**'         take a part of a file";

/// Show how the documents of one .kb file differ from those of an older one
///
/// Prints `+` for a document that only NEW.kb has, `-` for one that only OLD.kb has, and `~` with what is not alike:
/// text, source, title, type, fields, tags, structure. Documents are compared by their paths. No text is read.
///
/// With --patch, what changed is written to a file that `kb patch` makes NEW.kb of again, from OLD.kb.
///
/// Exit status: 0 no difference, or the patch is written; 1 a difference; 2 an error.
#[derive(Debug, Args)]
#[command(after_help = DIFF_EXAMPLES)]
pub(crate) struct DiffArguments {
    /// The older .kb file
    #[arg(value_name = "OLD.kb", value_hint = ValueHint::FilePath)]
    pub(crate) old: PathBuf,

    /// The newer .kb file
    #[arg(value_name = "NEW.kb", value_hint = ValueHint::FilePath)]
    pub(crate) new: PathBuf,

    /// Write a patch, in the place of a list
    #[arg(long, requires = "output")]
    pub(crate) patch: bool,

    /// Write the patch into this new file
    #[arg(short, long, value_name = "UP.kbp", value_hint = ValueHint::FilePath, requires = "patch")]
    pub(crate) output: Option<PathBuf>,

    /// Replace UP.kbp if it is another patch
    #[arg(long, requires = "patch")]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

const DIFF_EXAMPLES: &str = "\
Examples:
  kb diff docs-1.0.kb docs-1.1.kb
  kb diff docs-1.0.kb docs-1.1.kb --json
  kb diff docs-1.0.kb docs-1.1.kb --patch -o up.kbp   write what changed
  kb patch docs-1.0.kb up.kbp -o docs-1.1.kb          make the newer file of it";

/// Make the newer .kb file of an older one and a patch
///
/// The patch comes from `kb diff --patch`. NEW.kb has the content root of the file that the patch was made of, or it is
/// not written; it is sealed if that file was. BASE.kb stays as it is. Nothing is read from folders or embedded.
#[derive(Debug, Args)]
#[command(after_help = PATCH_EXAMPLES)]
pub(crate) struct PatchArguments {
    /// The older .kb file, which the patch was made for
    #[arg(value_name = "BASE.kb", value_hint = ValueHint::FilePath)]
    pub(crate) base: PathBuf,

    /// The patch, from `kb diff --patch`
    #[arg(value_name = "UP.kbp", value_hint = ValueHint::FilePath)]
    pub(crate) patch: PathBuf,

    /// Write the newer .kb file here
    #[arg(short, long, value_name = "NEW.kb", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,

    /// Replace NEW.kb if it is another .kb file
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

const PATCH_EXAMPLES: &str = "\
Examples:
  kb patch docs-1.0.kb up.kbp -o docs-1.1.kb
  kb patch docs.kb up.kbp -o docs.kb --force          bring a file up to date";
