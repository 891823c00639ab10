//! Vectors of another model -> a column of the file.

use crate::error::{Error, Result};
use crate::ingest::run::session::Session;
use crate::ingest::run::vectors::options::{ImportReport, NewVectors, VectorTarget};
use crate::progress::Reporter;

impl Session {
    /// See [`crate::KbWriter::import_vectors`].
    pub(crate) fn import_vectors(
        &mut self,
        options: &NewVectors,
        rows: &mut dyn Iterator<Item = Result<(VectorTarget, Vec<f32>)>>,
        reporter: &Reporter<'_>,
    ) -> Result<ImportReport> {
        let _ = (options, rows, reporter);
        Err(Error::WriterFailed)
    }

    /// See [`crate::KbWriter::remove_vectors`].
    pub(crate) fn remove_vectors(&mut self, name: &str) -> Result<u64> {
        let _ = name;
        Err(Error::WriterFailed)
    }

    /// See [`crate::KbWriter::set_default_vectors`].
    pub(crate) fn set_default_vectors(&mut self, name: &str) -> Result<()> {
        let _ = name;
        Err(Error::WriterFailed)
    }
}
