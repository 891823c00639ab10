//! What an index run did.

use std::path::PathBuf;
use std::time::Duration;

use kb_extract::secrets;

use crate::index::vector::Codec;

/// A file that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// Path as walked; bytes that are not UTF-8 escaped, and a name in it that holds a key or token as `…`.
    pub path: String,
    /// Why, in a few words.
    pub reason: String,
}

impl Skipped {
    /// A file that is left out for `reason`.
    pub fn new(path: impl Into<String>, reason: impl Into<String>) -> Skipped {
        let path = path.into();
        Skipped {
            path: secrets::path_without_secrets(&path).into_owned(),
            reason: reason.into(),
        }
    }
}

/// A program that was not parsed: it is in the file, cut into chunks by its lines, without symbols.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unparsed {
    /// Path of its document.
    pub path: String,
    /// Why, in a few words: [`crate::SyntaxFallback`].
    pub reason: String,
}

/// A folder that looks like a root of the file but has too little of its content to be taken for it. It became a root
/// of its own, and no document of the other root was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SimilarRoot {
    /// The folder on disk.
    pub folder: PathBuf,
    /// First part of the paths of its documents.
    pub prefix: String,
    /// The root of that name, as [`crate::IndexOptions::root`] takes it.
    pub root: String,
    /// Documents of that root that were compared with files of the folder, spread over all of them.
    pub compared: u32,
    /// How many of these are in the folder with the same content.
    pub same: u32,
    /// Whether the folder of that root is gone. Otherwise the file is sealed and the two have one name.
    pub is_gone: bool,
}

/// A root whose folder is gone and which was recognised in a folder given to the run: that folder has most of its
/// content and is the folder of the root from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MovedRoot {
    /// The folder that is gone, as [`crate::Info::roots`] had it.
    pub from: String,
    /// The folder now.
    pub folder: PathBuf,
    /// First part of the paths of its documents, which stays; empty: none.
    pub prefix: String,
    /// Documents of the root that were compared with files of the folder, spread over all of them.
    pub compared: u32,
    /// How many of these are in the folder with the same content.
    pub same: u32,
}

/// An empty folder below a root that the file has documents from. They are kept, because the folder may be the mount
/// point of a disk that is not mounted now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmptiedFolder {
    /// The folder on disk.
    pub folder: PathBuf,
    /// Documents that the file has from it.
    pub documents: u64,
}

/// What a folder is to a .kb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FolderRelation {
    /// The folder of one of its roots.
    Root,
    /// Inside the folder of one of its roots.
    InsideRoot,
    /// It has the name of a root of a sealed file, but not enough of its content to be taken for it.
    NameOfRoot,
    /// Nothing that the file knows.
    Unknown,
}

impl EmptiedFolder {
    pub(crate) fn new(folder: PathBuf) -> EmptiedFolder {
        EmptiedFolder {
            folder,
            documents: 0,
        }
    }
}

/// A recall that was requested and cannot be reached.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MissedRecall {
    /// The recall that was requested, 0.5 to 1.
    pub wanted: f32,
    /// The recall of the most thorough search.
    pub reached: f32,
    /// The recall of comparing every row. The rest is lost by storing the vectors in fewer bits.
    pub exact: f32,
    /// How the vectors are stored.
    pub vectors: Codec,
}

/// What an index run did, or, after [`crate::Kb::check_sources`], what it would do.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Documents in the file now.
    pub documents: u64,
    /// Chunks in the file now.
    pub chunks: u64,
    /// Bytes of stored text in the file now.
    pub text_bytes: u64,
    /// Paths of new documents, ascending.
    pub added: Vec<String>,
    /// Paths of documents whose content changed, ascending.
    pub updated: Vec<String>,
    /// Paths of documents that were removed, ascending.
    pub removed: Vec<String>,
    /// Documents of the folders of this run that did not change.
    pub unchanged: u64,
    /// Files left out.
    pub skipped: Vec<Skipped>,
    /// Programs that this run indexed without parsing them, in the order of their paths. This is not an error and not
    /// stored: a later run that does not read them again does not list them.
    pub unparsed: Vec<Unparsed>,
    /// Programs that an earlier pass had indexed as text, and that this run parsed. Those of other runs count as unchanged.
    pub parsed: u64,
    /// Programs of this run that are indexed as text and not parsed yet: the next run parses them.
    pub symbols_pending: u64,
    /// When the text of all files could be searched, if programs were parsed after that: see
    /// [`IndexOptions::symbols_later_bytes`](crate::IndexOptions::symbols_later_bytes).
    pub searchable_after: Option<Duration>,
    /// Folders that might be roots of the file and were not taken for them.
    pub similar_roots: Vec<SimilarRoot>,
    /// Roots that were recognised in another folder.
    pub moved_roots: Vec<MovedRoot>,
    /// Empty folders whose documents were kept.
    pub emptied_folders: Vec<EmptiedFolder>,
    /// The embedding model that made the vectors before this run, if it was another one. Every document was then
    /// embedded
    /// again, or would be if the run was only checked.
    pub model_before: Option<String>,
    /// Names of the columns of vectors of other models that the file lost when it was rebuilt.
    pub lost_columns: Vec<String>,
    /// Set if the requested recall of vector search cannot be reached. The file is written nevertheless, and its
    /// searches
    /// are as thorough as possible.
    pub missed_recall: Option<MissedRecall>,
    /// Total size of the files that were read, in bytes.
    pub source_bytes: u64,
    /// How long it took.
    pub elapsed: Duration,
}

impl Report {
    /// Whether any document was added, updated or removed.
    pub fn has_changes(&self) -> bool {
        !(self.added.is_empty() && self.updated.is_empty() && self.removed.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is reported and stored of a file that was left out must not show a token in its name.
    #[test]
    fn names_that_hold_a_token_are_not_shown() {
        let token = format!("glpat-{}", "Zk4Qw8Rt2Yp6Lm1Xv9Bc");
        let skipped = Skipped::new(format!("a/{token}/b.md").as_str(), "no text");
        assert_eq!(skipped.path, "a/\u{2026}/b.md");
        assert_eq!(Skipped::new("a/b.md", "no text").path, "a/b.md");
    }
}
