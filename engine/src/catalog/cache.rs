//! The catalog of the commit that was read last.

use std::sync::{Arc, Mutex, PoisonError};

use kb_types::error::Result;

use crate::catalog::commit::Catalog;
use crate::container::{SlotIdentity, Snapshot};

/// The catalog of the commit that was read last. A writer asks for it at every look-up, and pays for
/// what a commit changed only.
#[derive(Debug, Default)]
pub(crate) struct CatalogCache {
    cached: Mutex<Option<(SlotIdentity, Arc<Catalog>)>>,
}

impl CatalogCache {
    /// The catalog of a commit: the one that is kept, or loaded after it. All calls must read one
    /// container.
    ///
    /// # Errors
    /// As [`Catalog::load`].
    pub(crate) fn get(&self, snapshot: &Snapshot<'_>) -> Result<Arc<Catalog>> {
        let identity = snapshot.identity();
        // A panic elsewhere leaves a whole catalog or none here: it is replaced by one assignment.
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        let before = match cached.as_ref() {
            Some((of, catalog)) if *of == identity => return Ok(Arc::clone(catalog)),
            before => before.map(|(_, catalog)| Arc::clone(catalog)),
        };
        let catalog = Arc::new(Catalog::load_after(snapshot, before.as_deref())?);
        *cached = Some((identity, Arc::clone(&catalog)));
        Ok(catalog)
    }
}
