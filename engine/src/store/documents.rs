//! What is kept of each document: tables `docs` and `doc_by_path`.

use std::ops::ControlFlow;

use wincode::{SchemaRead, SchemaWrite};

use crate::container::codec::{decode_record, encode_record, u64_at};
use crate::container::{Key, Snapshot, Table, Transaction};
use crate::error::{Error, Result};
use crate::store::tables;
use crate::types::{Class, DocumentId, SegmentId};

const DOCUMENT_VERSION: u8 = 1;

/// Row of table `docs`.
#[derive(Debug, Clone, PartialEq, Eq, SchemaRead, SchemaWrite)]
pub struct DocumentRecord {
    /// Path inside the .kb.
    pub path: String,
    /// Position of its root in the row `meta`; none for a document that is no file of a root.
    pub root: Option<u32>,
    /// Title for people.
    pub title: String,
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
    /// blake3 of the original bytes.
    pub hash: [u8; 32],
    /// Key and value pairs that the document states about itself.
    pub metadata: Vec<(String, String)>,
    /// Bytes of the stored text.
    pub text_bytes: u32,
    /// Lines of the original.
    pub lines: u32,
    /// Whether the lines of the stored text are other lines than those of the original; only the
    /// chunks then know the original's.
    pub line_map: bool,
    /// Segment that holds its chunks.
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
}

/// The two tables, as one commit has them.
#[derive(Debug, Clone)]
pub struct Documents {
    /// Table `docs`; none before the first document.
    docs: Option<Table>,
    /// Table `doc_by_path`.
    by_path: Option<Table>,
}

impl Documents {
    /// Finds the tables.
    pub fn locate(snapshot: &Snapshot<'_>) -> Result<Documents> {
        Ok(Documents {
            docs: snapshot.table(tables::DOCS)?,
            by_path: snapshot.table(tables::DOC_BY_PATH)?,
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
        let Some(table) = &self.by_path else {
            return Ok(None);
        };
        snapshot
            .get(table, Key::Str(path))?
            .map(|value| document_id(&value))
            .transpose()
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

fn document_id(value: &[u8]) -> Result<DocumentId> {
    let number = u64_at(value, 0)?;
    u32::try_from(number)
        .map(DocumentId)
        .map_err(|_| Error::damaged(format!("document number {number} is out of range")))
}

/// Writes a document and its path.
pub fn put(
    transaction: &mut Transaction<'_>,
    id: DocumentId,
    record: &DocumentRecord,
) -> Result<()> {
    let row = encode_record(DOCUMENT_VERSION, record)?;
    let number = u64::from(id.0);
    transaction.put(tables::DOCS, Key::U64(number), &row)?;
    transaction.put(
        tables::DOC_BY_PATH,
        Key::Str(&record.path),
        &number.to_le_bytes(),
    )
}
