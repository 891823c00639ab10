//! Documents and their paths.

use std::ops::ControlFlow;

use kb_types::error::Result;
use kb_types::{Class, DocumentId, Lines, PartKind};
use unicode_normalization::UnicodeNormalization;

use crate::container::MAX_KEY_BYTES;
use crate::content::CommitView;
use crate::content::parts::kind_without_parts;
use crate::resolve::{self, NameMatch};
use crate::store::documents::DocumentRecord;
use crate::store::fields::{self, FieldValue};
use crate::store::handles;

/// What a file records about one document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentInfo {
    /// Path inside the .kb: folders and file name with `/`, NFC.
    pub path: String,
    /// Title; the file name when the document names none.
    pub title: String,
    /// Short name to pass on: from the title, then a suffix that stays when the title changes.
    pub handle: String,
    /// Its tags, ascending: those that people gave it, and those that its front matter states.
    pub tags: Vec<String>,
    /// When it was added to the file, milliseconds since 1970.
    pub added_ms: i64,
    /// File type: `markdown`, `rust`, `html`, `text`, ...
    pub file_type: String,
    /// Programming or markup language; empty for prose.
    pub language: String,
    /// Code, prose or data.
    pub class: Class,
    /// Size of the original file in bytes.
    pub size_bytes: u64,
    /// Size of the stored text in bytes of UTF-8.
    pub text_bytes: u64,
    /// Lines of the original.
    pub lines: u32,
    /// Whether the text has other lines than the original, as that of an HTML page. Lines are then known
    /// by chunk: which chunk was made of which lines.
    pub has_own_lines: bool,
    /// Number of chunks.
    pub chunks: u32,
    /// Whether it has pages, sheets or slides of its own; `None`: none of them.
    pub part_kind: Option<PartKind>,
    /// How many of them: 0 in an empty presentation, and in a workbook without sheets.
    pub parts: u32,
    /// Modification time of the original, milliseconds since 1970; 0 when unknown.
    pub modified_ms: i64,
    /// BLAKE3 of the original bytes.
    pub hash: [u8; 32],
    /// Key and value pairs that the document states about itself: author, date.
    pub metadata: Vec<(String, String)>,
    /// The values of keys that have several.
    lists: fields::Lists,
    /// 16 hexadecimal digits that change whenever anything stored of the document changes.
    pub revision: String,
}

/// What a name means.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LocatedDocument {
    /// The document.
    pub document: DocumentInfo,
    /// The lines that the name selects, as they stand in it: they may be beyond the end, or reversed. `None`:
    /// it names the document alone.
    pub lines: Option<Lines>,
    /// Bytes of the text of these lines that the name skips: `a.md:10-20+300` continues after 300 bytes.
    pub skip_bytes: u32,
    /// How the name means the document: to choose among documents of several files.
    pub how: NameMatch,
}

impl DocumentInfo {
    /// Of a document with parts reads their record.
    pub(super) fn from_record(
        commit: CommitView<'_>,
        id: DocumentId,
        record: DocumentRecord,
    ) -> Result<DocumentInfo> {
        let parts = commit.catalog.parts.count(commit.snapshot, id)?;
        let kind = parts.map(|(kind, _)| kind);
        let part_kind = kind.or_else(|| kind_without_parts(&record));
        let (class, revision) = (record.class()?, record.revision());
        let (metadata, lists) = fields::joined(record.metadata);
        Ok(DocumentInfo {
            part_kind,
            parts: parts.map_or(0, |(_, count)| count),
            class,
            revision,
            handle: handles::handle(&record.title, &record.path, &record.suffix),
            tags: record.tags,
            added_ms: record.added_ms,
            path: record.path,
            title: record.title,
            file_type: record.file_type,
            language: record.language,
            size_bytes: record.size_bytes,
            text_bytes: u64::from(record.text_bytes),
            lines: record.lines,
            has_own_lines: record.line_map,
            chunks: record.rows,
            modified_ms: record.modified_ms,
            hash: record.hash,
            metadata,
            lists,
        })
    }

    /// The metadata by name, each value with its type. A text that the document states is one value, also a list with
    /// commas.
    pub fn fields(&self) -> Vec<(String, Vec<FieldValue>)> {
        fields::typed(&self.metadata, &self.lists)
    }
}

/// See [`crate::Kb::document`].
pub(crate) fn document(commit: CommitView<'_>, name: &str) -> Result<DocumentInfo> {
    let (id, record) = commit.resolve(name)?;
    DocumentInfo::from_record(commit, id, record)
}

/// See [`crate::Kb::locate`].
pub(crate) fn locate(commit: CommitView<'_>, name: &str) -> Result<LocatedDocument> {
    let found = resolve::locate(commit.snapshot, commit.catalog, commit.path, name)?;
    let record = commit.catalog.documents.get(commit.snapshot, found.id)?;
    Ok(LocatedDocument {
        document: DocumentInfo::from_record(commit, found.id, record)?,
        lines: found.lines,
        skip_bytes: found.skip_bytes,
        how: found.how,
    })
}

/// See [`crate::Kb::matching`].
pub(crate) fn matching(
    commit: CommitView<'_>,
    glob: &str,
    limit: usize,
) -> Result<(Vec<String>, u64)> {
    let (glob, lines) = resolve::of_address(glob, commit.path)?;
    let lines = lines.map(|lines| format!(":{lines}"));
    let found = matching_paths(commit, &glob, lines.as_deref(), limit)?;
    // Where the whole is the glob of nothing, its end may be lines.
    match resolve::split_selection(&glob) {
        Some((glob, lines)) if found.1 == 0 => {
            matching_paths(commit, glob, Some(&format!(":{lines}")), limit)
        }
        _ => Ok(found),
    }
}

/// The paths that a glob matches, each with `lines` behind it.
fn matching_paths(
    commit: CommitView<'_>,
    glob: &str,
    lines: Option<&str>,
    limit: usize,
) -> Result<(Vec<String>, u64)> {
    let globs = resolve::globs(commit.snapshot, commit.catalog, &[glob.to_owned()])?;
    let mut globs = globs.matcher();
    let (mut paths, mut total) = (Vec::new(), 0);
    commit
        .catalog
        .documents
        .each_path(commit.snapshot, "", |path, _| {
            if globs.is_match(path) {
                total += 1;
                if paths.len() < limit {
                    paths.push(format!("{path}{}", lines.unwrap_or_default()));
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
    Ok((paths, total))
}

/// See [`crate::Kb::document_at`].
pub(crate) fn document_at(commit: CommitView<'_>, path: &str) -> Result<Option<DocumentInfo>> {
    if path.len() > MAX_KEY_BYTES {
        return Ok(None);
    }
    let documents = &commit.catalog.documents;
    let Some(id) = documents.by_path(commit.snapshot, path)? else {
        return Ok(None);
    };
    let record = documents.get(commit.snapshot, id)?;
    Ok(Some(DocumentInfo::from_record(commit, id, record)?))
}

/// See [`crate::Kb::documents_after`].
pub(crate) fn documents_after(
    commit: CommitView<'_>,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<DocumentInfo>> {
    let mut infos = Vec::new();
    let from = after.unwrap_or_default();
    let documents = &commit.catalog.documents;
    documents.each_path(commit.snapshot, from, |path, id| {
        if infos.len() == limit {
            return Ok(ControlFlow::Break(()));
        }
        if after != Some(path) {
            let record = documents.get(commit.snapshot, id)?;
            infos.push(DocumentInfo::from_record(commit, id, record)?);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(infos)
}

/// See [`crate::Kb::complete_path`].
pub(crate) fn complete_path(
    commit: CommitView<'_>,
    typed: &str,
    limit: usize,
) -> Result<(Vec<String>, u64)> {
    let typed = typed.nfc().collect::<String>().to_lowercase();
    let (mut beginning, mut containing) = (Vec::new(), Vec::new());
    let mut total = 0;
    let documents = &commit.catalog.documents;
    documents.each_path(commit.snapshot, "", |path, _| {
        let group = match path.to_lowercase().find(&typed) {
            Some(0) => &mut beginning,
            Some(_) => &mut containing,
            None => return Ok(ControlFlow::Continue(())),
        };
        total += 1;
        if group.len() < limit {
            group.push(path.to_owned());
        }
        Ok(ControlFlow::Continue(()))
    })?;
    beginning.extend(containing);
    beginning.truncate(limit);
    Ok((beginning, total))
}
