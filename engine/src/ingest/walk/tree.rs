//! The files of one root in the order of their document paths.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::ingest::source::open::SourceFolder;
use crate::ingest::walk::entries::{Context, DiskFolder, Note};
use crate::ingest::walk::listing::{Item, Listing};
use crate::ingest::walk::prefetch::Prefetcher;
use crate::progress::Reporter;

/// A walk through one folder: depth first, each folder in order.
#[derive(Debug)]
pub(super) struct TreeWalk {
    context: Arc<Context>,
    /// Folders from the root to where the walk is, and the next entry of each.
    open: Vec<(Arc<Listing>, usize)>,
    /// Notes of the innermost, the next last.
    notes: Vec<Note>,
    /// Real places of what links led to.
    // Only what was reached by a link, not every file: what lies in a root itself is left out by
    // the rule for links.
    linked: HashSet<PathBuf>,
}

/// What a walk through one folder comes to. Paths are document paths.
#[derive(Debug)]
pub(super) enum Step {
    File {
        /// What it is opened below.
        base: Arc<SourceFolder>,
        /// Relative to that.
        relative: PathBuf,
        document_path: String,
        size_bytes: u64,
        modified_ms: i64,
    },
    LeftOut {
        path: String,
        reason: String,
        size_bytes: u64,
        modified_ms: i64,
    },
    Skipped {
        path: String,
        reason: String,
    },
    Unread {
        path: String,
    },
    Empty {
        path: String,
        relative: PathBuf,
    },
}

impl TreeWalk {
    /// `top` is the folder of the root, and `path` its document path with `/` behind it.
    pub(super) fn new(
        context: Arc<Context>,
        path: String,
        top: DiskFolder,
        ahead: &mut Prefetcher,
        reporter: &Reporter<'_>,
    ) -> TreeWalk {
        let mut walk = TreeWalk {
            open: Vec::new(),
            notes: Vec::new(),
            linked: HashSet::new(),
            context,
        };
        let listing = Listing::read(&walk.context, path, vec![top], &|| drop(reporter.tick()));
        walk.enter(listing, ahead);
        walk
    }

    fn enter(&mut self, mut listing: Listing, ahead: &mut Prefetcher) {
        self.notes = std::mem::take(&mut listing.notes);
        self.notes.reverse();
        let listing = Arc::new(listing);
        // Offered at once, so that threads read the folders below while this one hands out its
        // files.
        ahead.offer(&listing);
        self.open.push((listing, 0));
    }

    /// The next file, or a note that comes before it; `None` at the end. What is unread comes before every
    /// file that follows it.
    pub(super) fn next(&mut self, ahead: &mut Prefetcher, reporter: &Reporter<'_>) -> Option<Step> {
        loop {
            let (listing, at) = self.open.last_mut()?;
            if let Some(note) = self.notes.pop() {
                return Some(told(&listing.path, note));
            }
            match listing.item(*at) {
                None => {
                    self.open.pop();
                }
                Some((Item::Folders(folders), next)) => {
                    *at = next;
                    let below = match listing.linked_folder(&folders) {
                        None => ahead.get(listing, &folders, reporter),
                        Some(real) if self.linked.insert(real.clone()) => {
                            listing.read_below(&folders, &|| drop(reporter.tick()))
                        }
                        Some(_) => {
                            let path = listing.path_of(&folders);
                            let path = path.strip_suffix('/').unwrap_or(&path).to_owned();
                            return Some(second_way(path, 0, 0));
                        }
                    };
                    self.enter(below, ahead);
                }
                Some((
                    Item::File {
                        base,
                        relative,
                        is_linked,
                        document_name,
                        size_bytes,
                        modified_ms,
                    },
                    next,
                )) => {
                    let document_path = [listing.path.as_str(), document_name].concat();
                    *at = next;
                    if is_linked && !self.linked.insert(base.path().join(&relative)) {
                        return Some(second_way(document_path, size_bytes, modified_ms));
                    }
                    return Some(Step::File {
                        base,
                        relative,
                        document_path,
                        size_bytes,
                        modified_ms,
                    });
                }
            }
        }
    }

    /// Parts that were asked for and that the walk did not come to, though they are files.
    pub(super) fn missing_parts(&self) -> Vec<PathBuf> {
        let missing = self.context.missing.lock();
        let missing = missing.unwrap_or_else(std::sync::PoisonError::into_inner);
        let folder = self.context.folder.path();
        let is_file = |part: &&PathBuf| {
            let metadata = folder.join(part).symlink_metadata();
            metadata.is_ok_and(|metadata| metadata.is_file())
        };
        missing.iter().filter(is_file).cloned().collect()
    }
}

/// A link to what another link led to already.
fn second_way(path: String, size_bytes: u64, modified_ms: i64) -> Step {
    Step::LeftOut {
        path,
        reason: "another symbolic link leads there too".to_owned(),
        size_bytes,
        modified_ms,
    }
}

fn told(folder: &str, note: Note) -> Step {
    let whole = |path: &str| match path {
        "" => folder.strip_suffix('/').unwrap_or(folder).to_owned(),
        path => [folder, path].concat(),
    };
    match note {
        Note::LeftOut {
            path,
            reason,
            size_bytes,
            modified_ms,
        } => Step::LeftOut {
            path: whole(&path),
            reason,
            size_bytes,
            modified_ms,
        },
        Note::Skipped { path, reason } => Step::Skipped {
            path: whole(&path),
            reason,
        },
        Note::Unread { path } => Step::Unread { path: whole(&path) },
        Note::Empty { relative } => Step::Empty {
            path: whole(""),
            relative,
        },
    }
}
