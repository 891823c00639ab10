//! The files of one root in the order of their document paths.

use std::path::PathBuf;
use std::sync::Arc;

use crate::ingest::source::open::SourceFolder;
use crate::ingest::walk::listing::{Context, DiskFolder, Item, Listing, Note};
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
}

/// What a walk through one folder comes to. Paths are document paths.
#[derive(Debug)]
pub(super) enum Step {
    File {
        /// Relative to the root.
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
            context,
        };
        let listing = Listing::read(&walk.context, path, vec![top], &|| drop(reporter.tick()));
        walk.enter(listing, ahead);
        walk
    }

    /// What was open of it.
    pub(super) fn folder(&self) -> &Arc<SourceFolder> {
        &self.context.folder
    }

    fn enter(&mut self, mut listing: Listing, ahead: &mut Prefetcher) {
        self.notes = std::mem::take(&mut listing.notes);
        self.notes.reverse();
        let listing = Arc::new(listing);
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
                    let below = ahead.get(listing, &folders, reporter);
                    self.enter(below, ahead);
                }
                Some((
                    Item::File {
                        relative,
                        document_name,
                        size_bytes,
                        modified_ms,
                    },
                    next,
                )) => {
                    let document_path = [listing.path.as_str(), document_name].concat();
                    *at = next;
                    return Some(Step::File {
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
