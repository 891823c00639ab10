//! What a folder is to a file: whether a run over it would change what the file has of it.

use std::ops::ControlFlow;
use std::path::Path;

use kb_types::error::Result;

use crate::catalog::Catalog;
use crate::container::Snapshot;
use crate::ingest::report::FolderRelation;
use crate::ingest::roots::resolve;
use crate::ingest::run::samples;

/// See [`crate::Kb::relation_of`].
pub(crate) fn relation_of(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    folder: &Path,
) -> Result<FolderRelation> {
    let mut samples = |root: &_| samples::samples(snapshot, catalog, root);
    resolve::relation(folder, &catalog.meta.roots, &mut samples)
}

/// See [`crate::Kb::is_made_from`].
pub(crate) fn is_made_from(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    folder: &Path,
) -> Result<bool> {
    let [root] = catalog.meta.roots.as_slice() else {
        return Ok(false);
    };
    if relation_of(snapshot, catalog, folder)? != FolderRelation::Root {
        return Ok(false);
    }
    let mut is_all = true;
    catalog.documents.each(snapshot, |_, record| {
        is_all = record.root == Some(root.id);
        Ok(if is_all {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        })
    })?;
    Ok(is_all)
}
