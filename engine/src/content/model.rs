//! The embedding model of a file, if this program has it.

use crate::catalog::Catalog;
use crate::embed::{self, Embedder, Probe};

/// The model of the file, if this program can reproduce it: the same id and hash, and the same
/// vectors for the probes.
pub(crate) fn model_of(catalog: &Catalog) -> Option<&'static dyn Embedder> {
    let record = &catalog.meta.embedder;
    let model = embed::by_id(&record.id)?;
    let probes: Vec<Probe> = record
        .probes
        .iter()
        .map(|probe| Probe {
            text: probe.text.clone(),
            vector: probe.vector.clone(),
        })
        .collect();
    let same = model.hash() == record.hash
        && u32::try_from(model.dim()) == Ok(record.dim)
        && embed::verify_probes(model, &probes).unwrap_or(false);
    same.then_some(model)
}
