//! Objects about changes of a file: what a run changed, or would change.

use std::path::Path;

use kb_engine::{
    ChangedSources, Difference, DocumentChange, DocumentInfo, ImportReport, MergeReport,
    PatchReport, ReembedReport, Report, SealReport,
};

use serde_json::{Value, json};

use crate::document::document_head;
use crate::object::{Object, share};

/// What a run did, or would do, with a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It has other content.
    Updated,
    /// It is gone.
    Removed,
}

impl ChangeKind {
    /// Its word in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Added => "added",
            ChangeKind::Updated => "updated",
            ChangeKind::Removed => "removed",
        }
    }
}

/// The documents that a run changed, or would change, by path.
#[must_use]
pub fn changed_documents(report: &Report) -> Vec<(ChangeKind, &str)> {
    let lists = [
        (ChangeKind::Added, &report.added),
        (ChangeKind::Updated, &report.updated),
        (ChangeKind::Removed, &report.removed),
    ];
    let mut changes: Vec<(ChangeKind, &str)> = lists
        .into_iter()
        .flat_map(|(kind, paths)| paths.iter().map(move |path| (kind, path.as_str())))
        .collect();
    changes.sort_by_key(|(_, path)| *path);
    changes
}

/// A run over folders and files that made the .kb `file` have `file_bytes`; with the changed documents
/// as `changes` where they are asked for.
#[must_use]
pub fn index_report(file: &str, file_bytes: u64, report: &Report, lists_changes: bool) -> Object {
    let left_out = |path: &str, reason: &str| {
        let object = Object::new().field("path", path);
        object.field("reason", reason)
    };
    let skipped = report.skipped.iter();
    let skipped = skipped.map(|skipped| left_out(&skipped.path, &skipped.reason));
    let unparsed = report.unparsed.iter();
    let unparsed = unparsed.map(|unparsed| left_out(&unparsed.path, &unparsed.reason));
    let similar_roots = report.similar_roots.iter().map(|similar| {
        Object::new()
            .field("folder", similar.folder.display().to_string())
            .field("prefix", &*similar.prefix)
            .field("root", &*similar.root)
            .field("compared", similar.compared)
            .field("same", similar.same)
            .field("is_gone", similar.is_gone)
    });
    let moved_roots = report.moved_roots.iter().map(|moved| {
        Object::new()
            .field("from", &*moved.from)
            .field("folder", moved.folder.display().to_string())
            .field("prefix", &*moved.prefix)
            .field("compared", moved.compared)
            .field("same", moved.same)
    });
    let emptied_folders = report.emptied_folders.iter().map(|emptied| {
        Object::new()
            .field("folder", emptied.folder.display().to_string())
            .field("documents", emptied.documents)
    });
    let object = Object::new()
        .field("file", file)
        .field("documents", report.documents)
        .field("chunks", report.chunks);
    let object = if lists_changes {
        with_changes(object, report)
    } else {
        counts(object, report)
    };
    object
        .objects("skipped", skipped.collect())
        .objects("unparsed", unparsed.collect())
        .field("parsed", report.parsed)
        .field("symbols_pending", report.symbols_pending)
        .field(
            "searchable_seconds",
            report.searchable_after.map(|after| after.as_secs_f64()),
        )
        .objects("similar_roots", similar_roots.collect())
        .objects("moved_roots", moved_roots.collect())
        .objects("emptied_folders", emptied_folders.collect())
        .field("source_bytes", report.source_bytes)
        .field("text_bytes", report.text_bytes)
        .field("file_bytes", file_bytes)
        .field("model_before", report.model_before.as_deref())
        .field("lost_columns", report.lost_columns.clone())
        .field(
            "missed_recall",
            report.missed_recall.map(|missed| f64::from(missed.reached)),
        )
        .field("seconds", report.elapsed.as_secs_f64())
}

/// The sources of the .kb `file` that changed since they were indexed, as far as they were looked at; a search prints
/// it behind its results.
#[must_use]
pub fn changed_sources(file: &str, changed: &ChangedSources) -> Object {
    let changes = changed.changes.iter().map(|(document, change)| {
        let object = Object::new().field("document", &**document);
        object.field("change", change.name())
    });
    Object::new()
        .field("out_of_date", file)
        .objects("changes", changes.collect())
        .field("is_complete", changed.is_complete)
}

/// The programs of the .kb `file` that are indexed as text and not parsed yet; a search prints it behind its results.
#[must_use]
pub fn symbols_pending(file: &str, documents: u64) -> Object {
    Object::new()
        .field("symbols_pending", file)
        .field("documents", documents)
}

/// An object with the counts of what a run changed, or would change, and the documents as `changes`.
#[must_use]
pub fn with_changes(object: Object, report: &Report) -> Object {
    let changes = changed_documents(report).into_iter().map(|(kind, path)| {
        let object = Object::new().field("change", kind.name());
        object.field("path", path)
    });
    counts(object, report).objects("changes", changes.collect())
}

fn counts(object: Object, report: &Report) -> Object {
    object
        .field("added", report.added.len())
        .field("updated", report.updated.len())
        .field("removed", report.removed.len())
        .field("unchanged", report.unchanged)
}

/// A file that was sealed.
#[must_use]
pub fn seal_report(report: &SealReport) -> Object {
    Object::new()
        .field("file", report.path.display().to_string())
        .field("documents", report.documents)
        .field("bytes_before", report.bytes_before)
        .field("bytes_after", report.bytes_after)
        .field("content_root", &*report.content_root)
        .field(
            "missed_recall",
            report.missed_recall.map(|missed| f64::from(missed.reached)),
        )
}

/// A file that took documents of others.
#[must_use]
pub fn merge_report(file: &Path, report: &MergeReport) -> Object {
    Object::new()
        .field("file", file.display().to_string())
        .field("added", report.added)
        .field("replaced", report.replaced)
        .field("identical", report.identical)
        .field("left_out", report.left_out)
        .field("renamed_below", report.renamed_below.clone())
        .field("left_columns", report.left_columns.clone())
        .field("left_roots", report.left_roots.clone())
}

/// How the documents of a file differ from those of an older one.
#[must_use]
pub fn difference(old: &Path, new: &Path, found: &Difference) -> Object {
    let changed = found.changed.iter().map(|document| {
        let words = document.changes.iter().map(|it| DocumentChange::name(*it));
        json!({"document": document.path, "changes": words.collect::<Vec<_>>()})
    });
    Object::new()
        .field("old", old.display().to_string())
        .field("new", new.display().to_string())
        .field("added", found.added.clone())
        .field("removed", found.removed.clone())
        .field("changed", changed.collect::<Value>())
        .field("unchanged", found.unchanged)
}

/// A patch that was written, or the file that was made of one.
#[must_use]
pub fn patch_report(file: &Path, report: &PatchReport) -> Object {
    Object::new()
        .field("file", file.display().to_string())
        .field("added", report.added)
        .field("removed", report.removed)
        .field("changed", report.changed)
        .field("base_root", report.base_root.as_str())
        .field("content_root", report.content_root.as_str())
        .field("bytes", report.bytes)
}

/// Vectors that were imported into the column of that name.
#[must_use]
pub fn import_report(name: &str, report: &ImportReport) -> Object {
    Object::new()
        .field("name", name)
        .field("rows", report.rows)
        .field("chunks", report.chunks)
        .field("dim", report.dim)
        .field("replaced", report.replaced)
        .field("cut_numbers", report.cut_numbers)
        .field("recall", report.recall.map(share))
}

/// What a model embedded into a column of vectors.
#[must_use]
pub fn reembed_report(report: &ReembedReport) -> Object {
    Object::new()
        .field("column", report.column.as_str())
        .field("model", report.model.as_str())
        .field("embedded", report.embedded)
        .field("cached", report.cached)
        .field("empty", report.empty)
        .field("left", report.left)
        .field("chunks", report.chunks)
        .field("commits", report.commits)
        .field("model_seconds", share(report.model_time.as_secs_f32()))
        .field("recall", report.recall.map(share))
}

/// A document that was added, and whether it took the place of another one.
#[must_use]
pub fn added(document: &DocumentInfo, replaced: bool) -> Object {
    document_head(document).field("replaced", replaced)
}

/// A document that was removed.
#[must_use]
pub fn removed(path: &str) -> Object {
    Object::new().field("removed", path)
}
