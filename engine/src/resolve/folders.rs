//! The folder that a name means, and suggestions for one that does not exist.

use std::ops::ControlFlow;

use kb_types::error::{Error, Result};
use unicode_normalization::UnicodeNormalization;

use crate::catalog::Catalog;
use crate::container::{MAX_KEY_BYTES, Snapshot};
use crate::resolve::disk_path::{DiskPath, has_folder_here};
use crate::resolve::nearest::Nearest;

/// The folder of documents that a name means: `docs/guide`, `./docs/`, the path of the folder on the disk that was
/// indexed, in any case when only one has the name; empty for the top. Reads all paths only where no folder has the name
/// as it is written.
///
/// # Errors
/// [`Error::FolderNotFound`] with the nearest ones; [`Error::Damaged`].
pub(crate) fn folder(snapshot: &Snapshot<'_>, catalog: &Catalog, name: &str) -> Result<String> {
    let plain: String = name
        .trim_start_matches("./")
        .trim_matches('/')
        .nfc()
        .collect();
    if plain.is_empty() || plain == "." {
        return Ok(String::new());
    }
    if has_folder(snapshot, catalog, &plain)? {
        return Ok(plain);
    }
    if let Some(disk) = DiskPath::of(name)
        && let Some(found) = folder_on_disk(snapshot, catalog, &disk)?
    {
        return Ok(found);
    }
    let wanted = plain.to_lowercase();
    let mut same: Vec<String> = Vec::new();
    each_folder(snapshot, catalog, |folder| {
        if folder.to_lowercase() == wanted {
            same.push(folder.to_owned());
        }
    })?;
    match <[String; 1]>::try_from(same) {
        Ok([one]) => Ok(one),
        Err(_) => Err(Error::FolderNotFound {
            nearest: nearest_folders(snapshot, catalog, &plain)?,
            name: plain,
        }),
    }
}

/// The folder that a path on a disk means, as [`super::locate`] finds documents.
pub(super) fn folder_on_disk(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    disk: &DiskPath,
) -> Result<Option<String>> {
    let roots = &catalog.meta.roots;
    let first_of = |places: Vec<String>| {
        for place in places {
            if place.is_empty() || has_folder(snapshot, catalog, &place)? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    };
    if let Some(found) = first_of(disk.places(roots))? {
        return Ok(Some(found));
    }
    let real = disk.on_disk();
    if let Some(found) = first_of(real.map_or_else(Vec::new, |real| real.places(roots)))? {
        return Ok(Some(found));
    }
    if !disk.is_absolute() || has_folder_here(roots) {
        return Ok(None);
    }
    if let Some(found) = first_of(disk.places_by_name(roots))? {
        return Ok(Some(found));
    }
    for end in disk.ends() {
        if has_folder(snapshot, catalog, end)? {
            return Ok(Some(end.to_owned()));
        }
    }
    Ok(None)
}

/// Whether a document lies in a folder.
pub(super) fn has_folder(snapshot: &Snapshot<'_>, catalog: &Catalog, folder: &str) -> Result<bool> {
    let inside = format!("{folder}/");
    if inside.len() > MAX_KEY_BYTES {
        return Ok(false);
    }
    let mut found = false;
    let documents = &catalog.documents;
    documents.each_path(snapshot, &inside, |path, _| {
        found = path.starts_with(&inside);
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

/// The folders whose names are most similar to `folder`, best first, at most five. Reads all paths.
fn nearest_folders(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    folder: &str,
) -> Result<Vec<String>> {
    let mut nearest = Nearest::new(folder);
    each_folder(snapshot, catalog, |folder| nearest.offer(folder))?;
    Ok(nearest.finish())
}

/// Calls `visit` with every folder, that which holds it later. Reads all paths.
fn each_folder(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    mut visit: impl FnMut(&str),
) -> Result<()> {
    let mut last = String::new();
    catalog.documents.each_path(snapshot, "", |path, _| {
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        if parent != last {
            // Folders that hold folders only are names too; those above were offered with the last.
            let mut above = Some(parent).filter(|parent| !parent.is_empty());
            while let Some(folder) = above.filter(|folder| !is_in(&last, folder)) {
                visit(folder);
                above = folder.rsplit_once('/').map(|(above, _)| above);
            }
            parent.clone_into(&mut last);
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// Whether `folder` is that one or lies below it.
fn is_in(folder: &str, above: &str) -> bool {
    let rest = folder.strip_prefix(above);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
