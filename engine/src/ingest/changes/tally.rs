//! What a comparison counts.

use kb_types::error::{Error, Result};

use crate::ingest::report::{EmptiedFolder, Skipped};

/// What is counted beside the changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Documents whose files are as they were, or could not be looked at.
    pub unchanged: u64,
    /// What is left out without being read.
    pub skipped: Vec<Skipped>,
    /// Path of the first document whose file could not be looked at.
    pub unread: Option<String>,
    /// Folders that are empty, though the file has documents from them, which stay.
    pub emptied: Vec<EmptiedFolder>,
}

impl Tally {
    /// Refuses to go on where a folder that could not be read hides documents.
    ///
    /// # Errors
    /// [`Error::Io`] naming the first.
    pub(crate) fn refuse_unread(&self) -> Result<()> {
        match &self.unread {
            None => Ok(()),
            Some(path) => Err(Error::Io {
                action: "index or compare",
                path: path.into(),
                source: std::io::Error::other("its folder cannot be read"),
            }),
        }
    }
}
