//! Suggestions for the name of a folder that does not exist.

use std::ops::ControlFlow;

use crate::catalog::Catalog;
use crate::container::Snapshot;
use crate::error::Result;
use crate::resolve::nearest::Nearest;

/// The folders whose names are most similar to `folder`, best first, at most five. Reads all paths.
///
/// # Errors
/// [`Error::Damaged`].
pub fn nearest_folders(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    folder: &str,
) -> Result<Vec<String>> {
    let mut nearest = Nearest::new(folder);
    let mut last = String::new();
    catalog.documents.each_path(snapshot, "", |path, _| {
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        if parent != last {
            // Folders that hold folders only are names too; those above were offered with the last.
            let mut above = Some(parent).filter(|parent| !parent.is_empty());
            while let Some(folder) = above.filter(|folder| !is_in(&last, folder)) {
                nearest.offer(folder);
                above = folder.rsplit_once('/').map(|(above, _)| above);
            }
            parent.clone_into(&mut last);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(nearest.finish())
}

/// Whether `folder` is that one or lies below it.
fn is_in(folder: &str, above: &str) -> bool {
    let rest = folder.strip_prefix(above);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
