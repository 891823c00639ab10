//! Searching: one file, several files, several questions.

use std::sync::PoisonError;

use crate::error::{Error, Result};
use crate::index::keyword::Analyser;
use crate::kb::Kb;
use crate::search;
use crate::search::Request;
use crate::search::Response;
use crate::search::Source;

/// Most files that one request may ask.
pub const FILES_LIMIT: usize = 64;

impl Kb {
    /// Answers a request.
    ///
    /// ```
    /// # fn main() -> kb_engine::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("notes.kb");
    /// # let mut writer = kb_engine::KbWriter::open_or_create(&path)?;
    /// # writer.add_bytes("tides.md", b"The moon pulls the sea.")?;
    /// # writer.commit()?;
    /// let kb = kb_engine::Kb::open(&path)?;
    /// let response = kb.search(&kb_engine::Request::new("moon and sea"))?;
    /// assert_eq!(response.hits[0].document, "tides.md");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a blank query, a number out of range or an unknown filter value;
    /// [`Error::InvalidCursor`] and [`Error::StaleCursor`];
    /// [`Error::EmbeddingModelUnavailable`] for a semantic request without the model of the file;
    /// [`Error::Damaged`], [`Error::SnapshotExpired`].
    pub fn search(&self, request: &Request) -> Result<Response> {
        search_files(&[self], request)
    }

    /// Answers several requests from one commit, each as [`Kb::search`] would.
    ///
    /// # Errors
    /// As [`Kb::search`], for the first request that fails.
    pub fn search_many(&self, requests: &[Request]) -> Result<Vec<Response>> {
        ask(&[self], |parts, analyser| {
            search::search_many(parts, requests, analyser)
        })
    }

    fn with_analyser<T>(&self, work: impl FnOnce(&mut Analyser) -> T) -> T {
        let kept = || {
            self.analysers
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let mut analyser = kept().pop().unwrap_or_default();
        let answer = work(&mut analyser);
        kept().push(analyser);
        answer
    }
}

/// Answers a request from several files as if they were one: words weigh by how often they stand in all
/// of them, so scores compare, and [`crate::Hit::file`] says where a hit comes from. Each file answers
/// from one commit.
///
/// # Errors
/// As [`Kb::search`]; [`Error::InvalidArgument`] for no file or more than [`FILES_LIMIT`].
pub fn search_files(files: &[&Kb], request: &Request) -> Result<Response> {
    ask(files, |parts, analyser| {
        search::search(parts, request, analyser)
    })
}

/// Runs `work` on one commit of each file until all of them stand.
fn ask<T>(
    files: &[&Kb],
    mut work: impl FnMut(&[Source<'_>], &mut Analyser) -> Result<T>,
) -> Result<T> {
    let Some(first) = files.first().filter(|_| files.len() <= FILES_LIMIT) else {
        return Err(Error::InvalidArgument {
            argument: "files",
            reason: format!("{} given; allowed are 1 to {FILES_LIMIT}", files.len()),
        });
    };
    first.with_analyser(|analyser| {
        let mut parts = Vec::with_capacity(files.len());
        nested(files, &mut parts, &mut |parts| work(parts, analyser))
    })
}

/// A snapshot lives as long as the call that reads it, so each file is one call deeper.
fn nested<T>(
    files: &[&Kb],
    parts: &mut Vec<Source<'_>>,
    work: &mut dyn FnMut(&[Source<'_>]) -> Result<T>,
) -> Result<T> {
    let Some((kb, rest)) = files.split_first() else {
        return work(parts);
    };
    kb.container().read(|snapshot| {
        let loaded = kb.loaded(snapshot)?;
        let mut parts = parts.clone();
        parts.push(Source {
            uuid: kb.container().signature().uuid,
            snapshot,
            catalog: &loaded.catalog,
            model: loaded.model,
        });
        nested(rest, &mut parts, work)
    })
}
