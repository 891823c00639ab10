//! Flags of `kb merge`.

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
