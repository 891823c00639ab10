//! Flags of `kb seal`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use super::flags::{JsonFlag, VectorsArgument};
use super::writing::WaitFlag;

/// Write the smallest, reproducible form of a file, with its content root
///
/// The sealed file has its documents in the order of their paths, and text at the highest compression. It has no deleted
/// data, and stores only the names of the indexed folders. The content root is a hash of the documents: equal documents
/// give an equal content root, on any machine. Sealing takes about half a second for each megabyte of text. If the sealed
/// file does not reach the recall of `kb index --min-recall`, it is written with a warning and exit status 1.
#[derive(Debug, Args)]
#[command(after_help = SEAL_EXAMPLES)]
pub(crate) struct SealArguments {
    /// The .kb file
    #[arg(value_name = "FILE.kb", value_hint = ValueHint::FilePath, required_unless_present = "flag")]
    operand: Option<PathBuf>,

    /// The same, as a flag
    #[arg(short = 'f', long = "file", value_name = "FILE.kb", value_hint = ValueHint::FilePath, conflicts_with = "operand")]
    flag: Option<PathBuf>,

    /// Write the sealed file here [default: replace FILE.kb]
    #[arg(short, long, value_name = "OUT.kb", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Replace OUT.kb if it is another .kb file
    ///
    /// For scripts that seal to the same name repeatedly. Without this flag, an existing OUT.kb is an error (exit status
    /// 2) and stays unchanged. A file that is not a .kb file is never replaced.
    #[arg(long)]
    pub(crate) force: bool,

    /// How to store vectors [default: as in the .kb file]
    ///
    /// i4 takes half the bytes of i8, and results are nearly as good. To go back to i8, index the sources again.
    #[arg(long, value_name = "CODEC")]
    pub(crate) vectors: Option<VectorsArgument>,

    /// Put the embedding models of its vector columns into the file
    ///
    /// Whoever opens the file then searches by these models without installing them. Their licences go with them.
    #[arg(long)]
    pub(crate) with_model: bool,

    /// Keep the vectors of texts that were embedded and are not in the file any more
    #[arg(long)]
    pub(crate) keep_cache: bool,

    #[command(flatten)]
    pub(crate) wait: WaitFlag,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

impl SealArguments {
    /// Returns the file that was named, as an operand or by the flag.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.operand.as_deref().or(self.flag.as_deref())
    }
}

const SEAL_EXAMPLES: &str = "\
Examples:
  kb seal notes.kb                      replace notes.kb
  kb seal notes.kb -o notes-1.0.kb      write another file
  kb seal notes.kb -o ship.kb --force   replace an earlier ship.kb
  kb seal notes.kb --vectors i4         store vectors in half the size
  kb seal notes.kb --with-model         put the models of its vectors into it";
