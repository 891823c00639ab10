//! Given paths -> the roots that a run looks at.

use std::path::{Path, PathBuf};

use kb_types::error::{Error, Result};

use crate::ingest::report::FolderRelation;
use crate::ingest::root::Scope;
use crate::ingest::roots::agreement::Agreement;
use crate::ingest::roots::entry::Entry;
use crate::ingest::roots::given_path::{GivenPath, ResolveOptions};
use crate::ingest::roots::table::{IsPathPrefix, Match, Resolved, Samples, Table};
use crate::ingest::source::names::escaped;
use crate::progress::Reporter;
use crate::store::meta::RootRecord;

/// What the file knows when paths are resolved.
#[derive(Clone, Copy)]
pub(crate) struct StoredRoots<'a> {
    /// Roots of the file.
    pub roots: &'a [RootRecord],
    /// Number of the next root.
    pub next_root: u32,
    /// First parts of the paths of its documents; `None`: it holds nothing yet.
    pub is_path_prefix: Option<&'a IsPathPrefix<'a>>,
}

/// Resolves what a person gave. `samples` is asked only of roots whose folders are not known, as in a sealed
/// file, and of those whose folders are gone: of one that has the name of a given folder, and of those that
/// may lie inside what is asked; where the folders are gone, of all.
///
/// # Errors
/// [`Error::PathNotFound`] for a path that does not exist; [`Error::Io`] for one that cannot be
/// looked at; [`Error::PathNotAllowed`]; [`Error::InvalidArgument`] for no path, one that is neither
/// file nor folder, or a root that the file does not have; [`Error::Cancelled`]; what `samples` says.
pub(crate) fn resolve(
    paths: &[PathBuf],
    stored: StoredRoots<'_>,
    options: ResolveOptions<'_>,
    samples: &mut Samples<'_>,
    reporter: &Reporter<'_>,
) -> Result<Resolved> {
    if paths.is_empty() {
        let reason = "none given; name a folder or a file".to_owned();
        return Err(Error::InvalidArgument {
            argument: "path",
            reason,
        });
    }
    let mut table = Table {
        entries: stored.roots.iter().map(Entry::stored).collect(),
        next_root: stored.next_root,
        samples,
        similar: Vec::new(),
        moved: Vec::new(),
        within: options.within,
    };
    if let Some(name) = options.root {
        table.claim(paths, name, options)?;
        table.locate_nested(stored.is_path_prefix, reporter)?;
        return Ok(table.finish());
    }
    for path in paths {
        match options.given_path(path)? {
            GivenPath::Folder(folder) => table.add_folder(folder)?,
            GivenPath::File { folder, name } => table.add_file(folder, name)?,
            GivenPath::Missing(place) => {
                if !options.allow_missing || !table.add_missing(&place) {
                    return Err(Error::PathNotFound { path: path.clone() });
                }
            }
        }
    }
    table.give_prefixes(stored.is_path_prefix)?;
    table.locate_nested(stored.is_path_prefix, reporter)?;
    Ok(table.finish())
}

/// The roots of a file as if they were now in `folders`, wherever they were when it was made: a root
/// belongs to the folder of its name, the only root to the only folder. Of several roots of one name
/// the folder is the one whose documents it has most of. `options.allow_missing` and `options.root` are ignored.
///
/// # Errors
/// [`Error::InvalidArgument`] when a folder belongs to no root, or two to one; as [`resolve`].
pub(crate) fn relocate(
    folders: &[PathBuf],
    stored: StoredRoots<'_>,
    options: ResolveOptions<'_>,
    samples: &mut Samples<'_>,
    reporter: &Reporter<'_>,
) -> Result<Resolved> {
    let mut entries: Vec<Entry> = stored.roots.iter().map(Entry::stored).collect();
    let is_only = folders.len() == 1 && entries.len() == 1;
    for folder in folders {
        let GivenPath::Folder(place) = options.given_path(folder)? else {
            return Err(Error::PathNotFound {
                path: folder.clone(),
            });
        };
        let name = place.file_name().map(escaped);
        let names = |entry: &Entry| Path::new(&entry.record.source).file_name().map(escaped);
        let numbered = entries.iter().enumerate();
        let of_name = numbered
            .filter(|(_, entry)| entry.scope.is_none() && (is_only || names(entry) == name));
        let of_name: Vec<(usize, &Entry)> = of_name.collect();
        let mut best: Option<(usize, Agreement)> = None;
        for (at, entry) in &of_name {
            let samples = match of_name.len() {
                1 => Vec::new(),
                _ => samples(&entry.record)?,
            };
            let agreement = Agreement::of(&place, &samples);
            if best.is_none_or(|(_, before)| agreement.is_better_than(before)) {
                best = Some((*at, agreement));
            }
        }
        let Some(entry) = best.and_then(|(at, _)| entries.get_mut(at)) else {
            let sources = stored.roots.iter().map(|root| root.source.as_str());
            let sources: Vec<_> = sources.collect();
            return Err(Error::InvalidArgument {
                argument: "source",
                reason: format!(
                    "{} has the name of no folder that this .kb was made from: {}",
                    folder.display(),
                    sources.join(", ")
                ),
            });
        };
        entry.scope = Some(if entry.is_whole() {
            Scope::Whole
        } else {
            Scope::Files(entry.record.files.iter().map(PathBuf::from).collect())
        });
        entry.folder = place;
    }
    let mut table = Table {
        entries,
        next_root: 0,
        samples,
        similar: Vec::new(),
        moved: Vec::new(),
        within: None,
    };
    table.locate_nested(stored.is_path_prefix, reporter)?;
    Ok(table.finish())
}

/// What a folder is to a file with these roots, by the rules of `resolve`. The folder is absolute and
/// without symbolic links.
///
/// # Errors
/// What `samples` says.
pub(crate) fn relation(
    folder: &Path,
    known: &[RootRecord],
    samples: &mut Samples<'_>,
) -> Result<FolderRelation> {
    let mut table = Table {
        entries: known.iter().map(Entry::stored).collect(),
        next_root: 0,
        samples,
        similar: Vec::new(),
        moved: Vec::new(),
        within: None,
    };
    let found = table.position_of(folder)?;
    if matches!(found, Match::Similar(_)) && table.gone_around(folder)?.is_some() {
        return Ok(FolderRelation::InsideRoot);
    }
    let mut placed = table.entries.iter().filter(|entry| entry.has_folder());
    Ok(match found {
        Match::Root(_) | Match::Moved(..) => FolderRelation::Root,
        Match::Similar(_) if placed.any(|entry| folder.starts_with(&entry.folder)) => {
            FolderRelation::InsideRoot
        }
        Match::Similar(similar) if similar.is_empty() => FolderRelation::Unknown,
        Match::Similar(_) => FolderRelation::NameOfRoot,
    })
}

#[cfg(test)]
mod tests;
