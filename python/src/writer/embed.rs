//! Has models fill columns of vectors.

use pyo3::prelude::*;

use super::Writer;
use crate::call::Listener;
use crate::embedding::{Asked, model_of, models_of_machine, remote, reports};
use crate::error::invalid;
use crate::results::columns::ReembedReport;

impl Writer {
    /// Fills the column of a model.
    pub(super) fn reembed_by(
        &self,
        embedder: &Bound<'_, PyAny>,
        asked: Asked,
        listener: &Listener,
    ) -> PyResult<Vec<ReembedReport>> {
        let py = embedder.py();
        if let (false, Some(host)) = (asked.send, remote(embedder)) {
            let name = asked.column.name.as_deref();
            let waiting = self.change(py, &Listener::none(), |writer, _| {
                writer.waiting_texts(name)
            })?;
            let message = format!(
                "embedder: {} texts of {} bytes would be sent to {host}; nothing was sent; send=True sends them",
                waiting.texts, waiting.bytes
            );
            return Err(invalid(py, &message));
        }
        let model = model_of(embedder, asked.model)?;
        let report = self.change(py, listener, |writer, hook| {
            writer.reembed(&*model, &asked.column, hook)
        })?;
        Ok(vec![report.into()])
    }

    /// Fills the columns that know their model; a file without any gets one of the model that `kbfile.open` got.
    pub(super) fn reembed_columns(
        &self,
        py: Python<'_>,
        asked: Asked,
        listener: &Listener,
    ) -> PyResult<Vec<ReembedReport>> {
        let models = self.models.clone().unwrap_or_else(models_of_machine);
        let updates = self.change(py, listener, |writer, hook| {
            writer.update_embeddings(&*models, &asked.column, hook)
        })?;
        match &self.embedder {
            _ if !updates.is_empty() => reports(py, updates),
            Some(embedder) => self.reembed_by(embedder.bind(py), asked, listener),
            None => {
                let message = "embedder: no column of the file has a model; pass one";
                Err(invalid(py, message))
            }
        }
    }
}
