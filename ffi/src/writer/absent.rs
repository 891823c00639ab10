//! Replaces `engine.rs` in a build that only reads: no writer can be opened.

use std::path::{Path, PathBuf};

use crate::base::fault::Fault;
use crate::base::progress::Listener;
use crate::writer::document::NewDocument;
use crate::writer::numbers::kb_report_view;
use crate::writer::options::{IndexTexts, kb_index_options, kb_seal_options, kb_writer_options};

/// A writer that no build has.
#[derive(Debug)]
pub(crate) enum Writer {}

/// A report that no build has.
#[derive(Debug)]
pub(crate) enum Report {}

impl Report {
    pub(crate) fn view(&self) -> kb_report_view {
        match *self {}
    }

    pub(crate) fn json(&self) -> &str {
        match *self {}
    }
}

impl Writer {
    pub(crate) fn open(
        _: &Path,
        _: &kb_writer_options,
        _: Option<PathBuf>,
    ) -> Result<Writer, Fault> {
        Err(Fault::not_built(
            "writers",
            "build it with the feature `write`",
        ))
    }

    pub(crate) fn pending(&self) -> usize {
        match *self {}
    }

    pub(crate) fn add(&self, _: &NewDocument<'_>, _: &Listener) -> Result<bool, Fault> {
        match *self {}
    }

    pub(crate) fn remove(&self, _: &str) -> Result<String, Fault> {
        match *self {}
    }

    pub(crate) fn tag(&self, _: &str, _: &[&str], _: &[&str]) -> Result<Vec<String>, Fault> {
        match *self {}
    }

    pub(crate) fn commit(&self, _: &Listener) -> Result<(), Fault> {
        match *self {}
    }

    pub(crate) fn rollback(&self) -> Result<(), Fault> {
        match *self {}
    }

    pub(crate) fn index(
        &self,
        _: &[PathBuf],
        _: &kb_index_options,
        _: &IndexTexts<'_>,
        _: &Listener,
    ) -> Result<Report, Fault> {
        match *self {}
    }

    pub(crate) fn seal(
        &self,
        _: Option<&Path>,
        _: &kb_seal_options,
        _: &Listener,
    ) -> Result<Report, Fault> {
        match *self {}
    }
}
