//! What is kept of each document: tables `docs`, `doc_by_path` and `doc_by_suffix`.

use std::ops::ControlFlow;

use wincode::{SchemaRead, SchemaWrite};

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::codec::{decode_record, encode_record, u64_at};
use crate::container::{Key, Snapshot, Table};
use crate::error::{Error, Result};
use crate::store::{handles, tables};
use crate::types::{Class, DocumentId, SegmentId, hex};

pub mod parts;
pub mod symbols;

const DOCUMENT_VERSION: u8 = 1;

/// The segment of a document without chunks: it is in none. Segments are numbered from 1.
pub const NO_SEGMENT: u32 = 0;

/// Records in a row that are passed over on the way to the next that is wanted.
const MAX_SKIPPED_ROWS: usize = 16;

/// Row of table `docs`.
#[derive(Debug, Clone, PartialEq, Eq, SchemaRead, SchemaWrite)]
pub struct DocumentRecord {
    /// Path inside the .kb.
    pub path: String,
    /// Number of its root; none for a document that is no file of a root.
    pub root: Option<u32>,
    /// Title for people.
    pub title: String,
    /// Last part of its handle; no other document of the file has it.
    pub suffix: String,
    /// File type.
    pub file_type: String,
    /// Language; empty for prose.
    pub language: String,
    /// Number of the class.
    pub class: u8,
    /// Bytes of the original.
    pub size_bytes: u64,
    /// Modification time of the original, milliseconds since 1970; 0 when unknown.
    pub modified_ms: i64,
    /// When the document came into the file, milliseconds since 1970.
    pub added_ms: i64,
    /// blake3 of the original bytes.
    pub hash: [u8; 32],
    /// blake3 of the stored text.
    pub text_hash: [u8; 32],
    /// Key and value pairs that the document states about itself.
    pub metadata: Vec<(String, String)>,
    /// Words that people gave it, ascending, no word twice.
    pub tags: Vec<String>,
    /// Bytes of the stored text.
    pub text_bytes: u32,
    /// Lines of the original.
    pub lines: u32,
    /// Whether the lines of the stored text are other lines than those of the original; only the
    /// chunks then know the original's.
    pub line_map: bool,
    /// Segment that holds its chunks; [`NO_SEGMENT`] when it has none.
    pub segment: u32,
    /// First of its rows there.
    pub first_row: u32,
    /// Number of its chunks.
    pub rows: u32,
}

impl DocumentRecord {
    /// The class, if the number is known.
    ///
    /// # Errors
    /// [`Error::Damaged`] for an unknown number.
    pub fn class(&self) -> Result<Class> {
        Class::from_number(self.class).ok_or_else(|| {
            Error::damaged(format!("document {:?} has class {}", self.path, self.class))
        })
    }

    /// The segment that holds its chunks.
    pub fn segment(&self) -> SegmentId {
        SegmentId(self.segment)
    }

    /// 16 hexadecimal digits that differ where anything of the document does: what it says, what it
    /// is called, what people gave it. Where it lies in the file, and since when, is no part of them.
    pub fn revision(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        // Each with its length: no two lists of strings are the same bytes.
        let mut part = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        let texts = [&self.path, &self.title, &self.file_type, &self.language];
        texts.into_iter().for_each(|text| part(text.as_bytes()));
        part(&[self.class]);
        part(&self.size_bytes.to_le_bytes());
        part(&self.modified_ms.to_le_bytes());
        part(&self.hash);
        part(&self.text_hash);
        part(&(self.metadata.len() as u64).to_le_bytes());
        for (key, value) in &self.metadata {
            part(key.as_bytes());
            part(value.as_bytes());
        }
        self.tags.iter().for_each(|tag| part(tag.as_bytes()));
        let hash = hasher.finalize();
        hex(hash.as_bytes().first_chunk::<8>().unwrap_or(&[0; 8]))
    }
}

/// The tables, as one commit has them.
#[derive(Debug, Clone)]
pub struct Documents {
    /// Table `docs`; none before the first document.
    docs: Option<Table>,
    /// Table `doc_by_path`.
    by_path: Option<Table>,
    /// Table `doc_by_suffix`.
    by_suffix: Option<Table>,
}

impl Documents {
    /// Finds the tables.
    pub fn locate(snapshot: &Snapshot<'_>) -> Result<Documents> {
        Ok(Documents {
            docs: snapshot.table(tables::DOCS)?,
            by_path: snapshot.table(tables::DOC_BY_PATH)?,
            by_suffix: snapshot.table(tables::DOC_BY_SUFFIX)?,
        })
    }

    /// The record of a document that a row of this file names.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is none.
    pub fn get(&self, snapshot: &Snapshot<'_>, id: DocumentId) -> Result<DocumentRecord> {
        let missing = || Error::damaged(format!("document {} is named but missing", id.0));
        let table = self.docs.as_ref().ok_or_else(missing)?;
        let row = snapshot
            .get(table, Key::U64(u64::from(id.0)))?
            .ok_or_else(missing)?;
        decode_record("a document", DOCUMENT_VERSION, &row)
    }

    /// The number of the document of that path.
    pub fn by_path(&self, snapshot: &Snapshot<'_>, path: &str) -> Result<Option<DocumentId>> {
        lookup_id(snapshot, self.by_path.as_ref(), path)
    }

    /// The number of the document whose handle ends in `suffix`.
    pub fn by_suffix(&self, snapshot: &Snapshot<'_>, suffix: &str) -> Result<Option<DocumentId>> {
        lookup_id(snapshot, self.by_suffix.as_ref(), suffix)
    }

    /// Calls `visit` with number and record of every document, by ascending number.
    ///
    /// # Errors
    /// [`Error::Damaged`]; what `visit` says.
    pub fn each(
        &self,
        snapshot: &Snapshot<'_>,
        mut visit: impl FnMut(DocumentId, DocumentRecord) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let Some(table) = &self.docs else {
            return Ok(());
        };
        snapshot.range(table, Key::U64(0), |key, value| {
            let record = decode_record("a document", DOCUMENT_VERSION, value)?;
            visit(document_id(key)?, record)
        })
    }

    /// Calls `visit` with number and record of each of `ids`, which ascend. Where they lie close to each
    /// other, this costs less than one look-up each.
    ///
    /// # Errors
    /// [`Error::Damaged`] when one is missing; what `visit` says.
    pub fn each_of(
        &self,
        snapshot: &Snapshot<'_>,
        ids: &[DocumentId],
        mut visit: impl FnMut(DocumentId, DocumentRecord) -> Result<()>,
    ) -> Result<()> {
        let missing =
            |id: DocumentId| Error::damaged(format!("document {} is named but missing", id.0));
        let mut ids = ids.iter().copied().peekable();
        while let Some(first) = ids.peek().copied() {
            let table = self.docs.as_ref().ok_or_else(|| missing(first))?;
            let mut skipped = 0;
            let mut any = false;
            snapshot.range(table, Key::U64(u64::from(first.0)), |key, value| {
                let id = document_id(key)?;
                match ids.peek() {
                    Some(next) if *next == id => {
                        visit(id, decode_record("a document", DOCUMENT_VERSION, value)?)?;
                        ids.next();
                        (skipped, any) = (0, true);
                    }
                    Some(next) if *next > id => skipped += 1,
                    _ => return Ok(ControlFlow::Break(())),
                }
                Ok(match skipped <= MAX_SKIPPED_ROWS {
                    true => ControlFlow::Continue(()),
                    // It is shorter to look the next one up.
                    false => ControlFlow::Break(()),
                })
            })?;
            if !any {
                return Err(missing(first));
            }
        }
        Ok(())
    }

    /// Calls `visit` with path and number of every document, in the order of path bytes, from the
    /// first path at or after `from`.
    pub fn each_path(
        &self,
        snapshot: &Snapshot<'_>,
        from: &str,
        mut visit: impl FnMut(&str, DocumentId) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let Some(table) = &self.by_path else {
            return Ok(());
        };
        snapshot.range(table, Key::Str(from), |key, value| {
            let path = std::str::from_utf8(key)
                .map_err(|_| Error::damaged("a document path is not UTF-8"))?;
            visit(path, document_id(value)?)
        })
    }
}

fn lookup_id(
    snapshot: &Snapshot<'_>,
    table: Option<&Table>,
    key: &str,
) -> Result<Option<DocumentId>> {
    let Some(table) = table else {
        return Ok(None);
    };
    snapshot
        .get(table, Key::Str(key))?
        .map(|value| document_id(&value))
        .transpose()
}

fn document_id(value: &[u8]) -> Result<DocumentId> {
    let number = u64_at(value, 0)?;
    u32::try_from(number)
        .map(DocumentId)
        .map_err(|_| Error::damaged(format!("document number {number} is out of range")))
}

/// Writes a document with its path and suffix, in the place of an older record of that number.
#[cfg(feature = "ingest")]
pub fn put(
    transaction: &mut Transaction<'_>,
    id: DocumentId,
    record: &DocumentRecord,
) -> Result<()> {
    put_record(transaction, id, record)?;
    let number = u64::from(id.0).to_le_bytes();
    let path = Key::Str(&record.path);
    transaction.put(tables::DOC_BY_PATH, path, &number)?;
    transaction.put(tables::DOC_BY_SUFFIX, Key::Str(&record.suffix), &number)
}

/// The record of a document as it would be after a commit now.
///
/// # Errors
/// [`Error::Damaged`] when there is none, or it does not decode.
#[cfg(feature = "ingest")]
pub fn get_uncommitted(
    transaction: &mut Transaction<'_>,
    id: DocumentId,
) -> Result<DocumentRecord> {
    let row = transaction
        .get(tables::DOCS, Key::U64(u64::from(id.0)))?
        .ok_or_else(|| Error::damaged(format!("document {} is named but missing", id.0)))?;
    decode_record("a document", DOCUMENT_VERSION, &row)
}

/// Writes a document whose path and suffix stay as they are.
#[cfg(feature = "ingest")]
pub fn put_record(
    transaction: &mut Transaction<'_>,
    id: DocumentId,
    record: &DocumentRecord,
) -> Result<()> {
    let row = encode_record(DOCUMENT_VERSION, record)?;
    transaction.put(tables::DOCS, Key::U64(u64::from(id.0)), &row)
}

/// Removes a document with its path and suffix. Its chunks, outline and skipped files are not looked
/// at.
#[cfg(feature = "ingest")]
pub fn remove(
    transaction: &mut Transaction<'_>,
    id: DocumentId,
    record: &DocumentRecord,
) -> Result<()> {
    transaction.remove(tables::DOCS, Key::U64(u64::from(id.0)))?;
    transaction.remove(tables::DOC_BY_PATH, Key::Str(&record.path))?;
    transaction
        .remove(tables::DOC_BY_SUFFIX, Key::Str(&record.suffix))
        .map(|_| ())
}

/// A suffix for a new document of that path that no document has so far, changes of this
/// transaction included, and that is not reserved. The same path in a file without a clash gets the
/// same suffix.
#[cfg(feature = "ingest")]
pub fn free_suffix(
    transaction: &mut Transaction<'_>,
    path: &str,
    is_reserved: &mut dyn FnMut(&str) -> Result<bool>,
) -> Result<String> {
    let mut candidates = handles::suffixes(path);
    loop {
        let candidate = candidates.next().ok_or_else(|| Error::TooLarge {
            what: "the table of handles".to_owned(),
            size: u64::MAX,
            limit: u64::from(u32::MAX),
        })?;
        let key = Key::Str(&candidate);
        if transaction.get(tables::DOC_BY_SUFFIX, key)?.is_none() && !is_reserved(&candidate)? {
            return Ok(candidate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> DocumentRecord {
        DocumentRecord {
            path: "a/b.md".to_owned(),
            root: Some(1),
            title: "Tides".to_owned(),
            suffix: "k3f9qa".to_owned(),
            file_type: "markdown".to_owned(),
            language: "markdown".to_owned(),
            class: 2,
            size_bytes: 10,
            modified_ms: 20,
            added_ms: 30,
            hash: [1; 32],
            text_hash: [2; 32],
            metadata: vec![("a".to_owned(), "bc".to_owned())],
            tags: vec!["sea".to_owned()],
            text_bytes: 10,
            lines: 1,
            line_map: false,
            segment: 1,
            first_row: 0,
            rows: 1,
        }
    }

    #[test]
    fn the_revision_is_another_one_whenever_the_document_is() {
        let before = record().revision();
        assert_eq!(before.len(), 16);
        let changes: [fn(&mut DocumentRecord); 13] = [
            |record| record.path.push('x'),
            |record| record.title.push('x'),
            |record| record.file_type.push('x'),
            |record| record.language.push('x'),
            |record| record.class = 3,
            |record| record.size_bytes = 11,
            |record| record.modified_ms = 21,
            |record| record.hash = [3; 32],
            |record| record.text_hash = [3; 32],
            |record| record.metadata = vec![("ab".to_owned(), "c".to_owned())],
            |record| record.tags.push("tide".to_owned()),
            |record| record.tags.clear(),
            |record| {
                record.metadata.clear();
                record.tags = ["a", "bc", "sea"].map(str::to_owned).to_vec();
            },
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut other = record();
            change(&mut other);
            assert_ne!(other.revision(), before, "change {number}");
        }
        let mut moved = record();
        (moved.segment, moved.first_row, moved.rows) = (7, 8, 9);
        (moved.root, moved.added_ms) = (None, 31);
        assert_eq!(moved.revision(), before, "merging changes no document");
    }
}
