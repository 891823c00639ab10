//! A file of an older format that is made anew: its folders are read again, and what cannot be read again is not lost
//! without a word.

use std::path::{Path, PathBuf};

use kb_types::error::{Error, Result};

use crate::ingest::changes::comparison::Change;
use crate::ingest::changes::survey::Changes;
use crate::ingest::options::IndexOptions;
use crate::ingest::run::session::paths_at_hand;
use crate::store::meta::RootRecord;

/// Documents that an error names.
const NAMED: usize = 3;

/// The paths that are asked for, and all folders and files that the old file was made from and that are there: no text
/// can be copied from it.
pub(super) fn paths(roots: &[RootRecord], asked: &[PathBuf]) -> Vec<PathBuf> {
    let mut paths = asked.to_vec();
    paths.extend(paths_at_hand(roots));
    paths
}

/// Refuses to replace the file at `path` where that would lose what cannot be made again: documents that were added by
/// name or whose folder is gone, and imported vectors. A rebuild that is asked for may lose them.
///
/// # Errors
/// [`Error::NotReplaceable`]; as [`Changes::next_change`].
pub(super) fn check_losses(
    path: &Path,
    mut changes: Changes<'_>,
    columns: &[String],
    options: &IndexOptions,
) -> Result<()> {
    let (mut named, mut documents) = (Vec::new(), 0);
    while let Some(change) = changes.next_change()? {
        if let Change::Preserve(document) = change {
            documents += 1;
            if named.len() < NAMED {
                named.push(document.path);
            }
        }
    }
    let emptied = changes.finish()?.emptied;
    let mut losses = Vec::new();
    if !options.rebuild && documents > 0 {
        let more = match documents - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let names = named.join(", ");
        losses.push(format!("documents that no folder has: {names}{more}"));
    }
    if !options.rebuild && !columns.is_empty() {
        losses.push(format!("imported vectors: {}", columns.join(", ")));
    }
    // A rebuild would take them for removed, and a disk that is not mounted comes back.
    for folder in emptied {
        let name = folder.folder.display();
        losses.push(format!("documents of {name}, which is empty"));
    }
    if losses.is_empty() {
        return Ok(());
    }
    Err(Error::NotReplaceable {
        path: path.to_owned(),
        reason: format!(
            "it has an older format, of which only folders can be read again, and it would lose {}",
            losses.join("; ")
        ),
    })
}
