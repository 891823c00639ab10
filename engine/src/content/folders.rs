//! Folders: the paths of documents up to a `/`. No record says that a folder exists.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use kb_types::DocumentId;
use kb_types::error::{Error, Result};
use rustc_hash::FxHashSet;

use crate::content::paged_call::PagedCall;
use crate::content::{CommitView, DocumentInfo};
use crate::paging::{Budget, PageOptions, Paged, fill, skip};
use crate::resolve;
use crate::store::skipped;

/// Bytes that an entry or document counts in a token budget beside its texts.
// Estimates of the JSON around the texts: numbers, quotes and field names. A budget in tokens is
// approximate anyway; too small a number makes answers exceed it, too large a one makes pages
// short.
const ENTRY_OVERHEAD_BYTES: u64 = 120;

/// Bytes that the number and field names of one path of [`Folders`] count as.
// A number and the quotes, brackets and commas around a pair.
const PATH_OVERHEAD_BYTES: u64 = 24;

/// Bytes that the numbers and field names of a skipped file count as in a token budget.
const SKIPPED_OVERHEAD_BYTES: u64 = 60;

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a listing holds documents; folders are few"
)]
pub enum Entry {
    /// A folder with what lies below it.
    #[non_exhaustive]
    Folder {
        /// Path without a trailing `/`.
        path: String,
        /// Documents below it, at any depth.
        documents: u64,
        /// Size of their originals in bytes.
        size_bytes: u64,
    },
    /// A document.
    Document(DocumentInfo),
}

/// A file of an indexed folder that is no document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedFile {
    /// The path that its document would have; that of a folder that could not be read.
    pub path: String,
    /// Why, in a few words: `binary file (PNG image)`.
    pub reason: String,
    /// Its size in bytes; 0 when unknown.
    pub size_bytes: u64,
    /// When it was changed, milliseconds since 1970; 0 when unknown.
    pub modified_ms: i64,
}

/// The folders of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Folders {
    /// Names of the folders at the top.
    pub top: Vec<String>,
    /// Paths with the number of documents at any depth below; each folder comes before those in it.
    pub paths: Vec<(String, u64)>,
    /// Whether some paths were left out, the deepest first.
    pub truncated: bool,
}

/// See [`crate::Kb::list`].
pub(crate) fn list(
    commit: CommitView<'_>,
    folder: Option<&str>,
    page: &PageOptions,
) -> Result<Paged<Entry>> {
    page.validate()?;
    let prefix = prefix_of(commit, folder)?;
    let folder = Some(prefix.trim_end_matches('/')).filter(|folder| !folder.is_empty());
    let scope = PagedCall::List { folder }.scope(commit);
    let entries = entries(commit, &prefix)?;
    let start = scope.start(page)?;
    let budget = Budget::of_list(page);
    let rest = skip(entries, start).map(Ok);
    fill(&scope, budget, start, rest, |entry| match entry {
        Entry::Folder { path, .. } => path.len() as u64 + ENTRY_OVERHEAD_BYTES,
        Entry::Document(document) => cost(document),
    })
}

/// Folders, then documents, directly in a folder, each in the order of path bytes.
fn entries(commit: CommitView<'_>, prefix: &str) -> Result<Vec<Entry>> {
    let mut folders: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut infos = Vec::new();
    let documents = &commit.catalog.documents;
    documents.each_path(commit.snapshot, prefix, |path, id| {
        let Some(rest) = path.strip_prefix(prefix) else {
            return Ok(ControlFlow::Break(()));
        };
        let record = documents.get(commit.snapshot, id)?;
        match rest.split_once('/') {
            Some((child, _)) => {
                let below = folders.entry(format!("{prefix}{child}")).or_default();
                below.0 += 1;
                // Sizes are what records claim.
                below.1 = u64::saturating_add(below.1, record.size_bytes);
            }
            None => {
                let info = DocumentInfo::from_record(commit, id, record)?;
                infos.push(Entry::Document(info));
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let folders = folders
        .into_iter()
        .map(|(path, (documents, size_bytes))| Entry::Folder {
            path,
            documents,
            size_bytes,
        });
    Ok(folders.chain(infos).collect())
}

/// See [`crate::Kb::documents`]. `passing`: a condition, and the documents that pass it.
pub(crate) fn documents(
    commit: CommitView<'_>,
    folder: Option<&str>,
    is_recursive: bool,
    passing: Option<(&str, &FxHashSet<DocumentId>)>,
    page: &PageOptions,
) -> Result<Paged<DocumentInfo>> {
    page.validate()?;
    let prefix = prefix_of(commit, folder)?;
    let scope = PagedCall::Documents {
        prefix: &prefix,
        is_recursive,
        condition: passing.map(|(condition, _)| condition),
    }
    .scope(commit);
    let documents = &commit.catalog.documents;
    // Numbers first, 4 bytes each: records are read only of the documents of the page.
    let mut ids = Vec::new();
    documents.each_path(commit.snapshot, &prefix, |path, id| {
        let Some(rest) = path.strip_prefix(&prefix) else {
            return Ok(ControlFlow::Break(()));
        };
        let passes = passing.is_none_or(|(_, documents)| documents.contains(&id));
        if passes && (is_recursive || !rest.contains('/')) {
            ids.push(id);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let start = scope.start(page)?;
    let infos = skip(ids, start).map(|id| {
        let record = documents.get(commit.snapshot, id)?;
        DocumentInfo::from_record(commit, id, record)
    });
    fill(&scope, Budget::of_list(page), start, infos, cost)
}

fn cost(document: &DocumentInfo) -> u64 {
    let strings = [&document.path, &document.handle, &document.title];
    let bytes: usize = strings
        .into_iter()
        .chain(&document.tags)
        .map(String::len)
        .sum();
    bytes as u64 + ENTRY_OVERHEAD_BYTES
}

/// What the paths of documents in a folder begin with; empty for the top.
///
/// # Errors
/// [`Error::FolderNotFound`].
fn prefix_of(commit: CommitView<'_>, folder: Option<&str>) -> Result<String> {
    let folder = resolve::folder(commit.snapshot, commit.catalog, folder.unwrap_or(""))?;
    Ok(if folder.is_empty() {
        folder
    } else {
        format!("{folder}/")
    })
}

/// See [`crate::Kb::skipped`].
pub(crate) fn skipped(
    commit: CommitView<'_>,
    folder: Option<&str>,
    page: &PageOptions,
) -> Result<Paged<SkippedFile>> {
    page.validate()?;
    // Its files may all have been skipped: then no document has the name.
    let prefix = match prefix_of(commit, folder) {
        Err(Error::FolderNotFound { name, .. }) => format!("{name}/"),
        prefix => prefix?,
    };
    let scope = PagedCall::Skipped { prefix: &prefix }.scope(commit);
    let mut files = Vec::new();
    skipped::each_from(commit.snapshot, &prefix, |path, record| {
        if !path.starts_with(&prefix) {
            return Ok(ControlFlow::Break(()));
        }
        files.push(SkippedFile {
            path: path.to_owned(),
            reason: record.reason,
            size_bytes: record.size_bytes,
            modified_ms: record.modified_ms,
        });
        Ok(ControlFlow::Continue(()))
    })?;
    let start = scope.start(page)?;
    let rest = skip(files, start).map(Ok);
    fill(&scope, Budget::of_list(page), start, rest, |file| {
        (file.path.len() + file.reason.len()) as u64 + SKIPPED_OVERHEAD_BYTES
    })
}

/// See [`crate::Kb::skipped_reasons`].
pub(crate) fn skipped_reasons(commit: CommitView<'_>) -> Result<Vec<(String, u64)>> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    skipped::each_from(commit.snapshot, "", |_, record| {
        *counts.entry(reason_kind(&record.reason)).or_default() += 1;
        Ok(ControlFlow::Continue(()))
    })?;
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    // By name as well, so that the order is always the same.
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Ok(counts)
}

/// A reason without what is of one file only: numbers in front, the line in `(private key, line 3)`, what follows
/// a colon.
fn reason_kind(reason: &str) -> String {
    let reason = reason.split(':').next().unwrap_or_default();
    let reason = reason.trim_start_matches(|c: char| c.is_ascii_digit());
    let reason = reason.trim_start();
    let is_number = |line: &str| line.bytes().all(|byte| byte.is_ascii_digit());
    let inner = reason.strip_suffix(')');
    match inner.and_then(|inner| inner.rsplit_once(", line ")) {
        Some((kind, line)) if is_number(line) => format!("{kind})"),
        _ => reason.to_owned(),
    }
}

/// See [`crate::Kb::folders`].
pub(crate) fn folders(commit: CommitView<'_>, limit_bytes: u64) -> Result<Folders> {
    let mut folders: Vec<Folder> = Vec::new();
    // Those that the last path lies in, outermost first. What lies in one folder has neighbouring
    // paths.
    let mut open: Vec<usize> = Vec::new();
    let documents = &commit.catalog.documents;
    documents.each_path(commit.snapshot, "", |path, _| {
        let mut depth = 0;
        for (end, _) in path.match_indices('/') {
            let folder = path.get(..end).unwrap_or_default();
            let is_open = |at: &usize| folders.get(*at).is_some_and(|f| f.path == folder);
            if !open.get(depth).is_some_and(is_open) {
                open.truncate(depth);
                open.push(folders.len());
                folders.push(Folder {
                    path: folder.to_owned(),
                    documents: 0,
                    depth,
                });
            }
            depth += 1;
        }
        open.truncate(depth);
        for at in &open {
            if let Some(folder) = folders.get_mut(*at) {
                folder.documents += 1;
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let top = folders.iter().filter(|folder| folder.depth == 0);
    let top = top.map(|folder| folder.path.clone()).collect();
    let truncated = truncate_deepest(&mut folders, limit_bytes);
    let paths = folders
        .into_iter()
        .map(|folder| (folder.path, folder.documents))
        .collect();
    Ok(Folders {
        top,
        paths,
        truncated,
    })
}

/// A folder on the way to a document.
#[derive(Debug)]
struct Folder {
    path: String,
    /// Documents below it, at any depth.
    documents: u64,
    /// Folders that it lies in.
    depth: usize,
}

/// Leaves out the deepest folders, of one depth the last, until `limit_bytes` hold the rest. Whether
/// it left out any.
fn truncate_deepest(folders: &mut Vec<Folder>, limit_bytes: u64) -> bool {
    let mut by_depth: Vec<usize> = (0..folders.len()).collect();
    // Stable: neighbours of one depth stay in order.
    by_depth.sort_by_key(|at| folders.get(*at).map(|folder| folder.depth));
    let mut bytes = 0u64;
    let fits = by_depth.iter().take_while(|at| {
        let len = folders.get(**at).map_or(0, |folder| folder.path.len());
        bytes = bytes.saturating_add(len as u64 + PATH_OVERHEAD_BYTES);
        bytes <= limit_bytes
    });
    let kept = fits.count();
    let mut is_kept = vec![false; folders.len()];
    for at in by_depth.iter().take(kept) {
        if let Some(flag) = is_kept.get_mut(*at) {
            *flag = true;
        }
    }
    let truncated = kept < folders.len();
    let mut flags = is_kept.into_iter();
    folders.retain(|_| flags.next().unwrap_or_default());
    truncated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_without_what_is_of_one_file() {
        for (reason, kind) in [
            ("symbolic link", "symbolic link"),
            ("damaged (PDF): it has no pages", "damaged (PDF)"),
            ("12 bytes, more than 10", "bytes, more than 10"),
            (
                "may hold a key (private key, line 3)",
                "may hold a key (private key)",
            ),
            ("odd (a, line b)", "odd (a, line b)"),
        ] {
            assert_eq!(reason_kind(reason), kind);
        }
    }
}
