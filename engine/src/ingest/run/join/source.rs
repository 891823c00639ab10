//! Another file, as one commit has it.

use std::path::Path;

use crate::catalog::Catalog;
use crate::container::Snapshot;
use crate::ingest::run::join::options::Picked;

/// Another file, as one commit has it.
#[derive(Clone, Copy)]
pub(super) struct Source<'s> {
    pub(super) path: &'s Path,
    /// The folder that its documents are put below.
    pub(super) folder: Option<&'s str>,
    pub(super) picked: &'s Picked,
    pub(super) snapshot: &'s Snapshot<'s>,
    pub(super) catalog: &'s Catalog,
}
