//! Forges files: changes stored values and writes them back with valid checksums.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use kb_engine::Result;
use kb_engine::testing::catalog::Catalog;
use kb_engine::testing::container::column::{ColumnId, ExtentSink};
use kb_engine::testing::container::{
    Container, ContainerWriter, Key, Snapshot, Transaction, WriterIdentity,
};
use kb_engine::testing::index::keyword::KeywordRecord;
use kb_engine::testing::index::vector::VectorRecord;
use kb_engine::testing::store::deleted::Deleted;
use kb_engine::testing::store::documents::{self, DocumentRecord};
use kb_engine::testing::store::facets::{self, Facet};
use kb_engine::testing::store::meta::{Manifest, Meta};
use kb_engine::testing::store::outline;
use kb_engine::testing::store::parts;
use kb_engine::testing::store::segments::SegmentRecord;
use kb_engine::{DocumentId, Heading, Part, SegmentId};

use crate::format::golden::golden_bytes;

/// What a file stores. Two ways to forge: change a copy and take [`Stored::into_bytes`], or write single
/// changes into the transaction of [`forge`].
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) meta: Meta,
    pub(crate) manifest: Manifest,
    pub(crate) segments: BTreeMap<SegmentId, SegmentRecord>,
    pub(crate) deleted: BTreeMap<SegmentId, Deleted>,
    /// Payloads of the extents of each column.
    pub(crate) columns: BTreeMap<(SegmentId, u16), Vec<Vec<u8>>>,
    /// By path.
    pub(crate) documents: BTreeMap<String, (DocumentId, DocumentRecord)>,
    pub(crate) outlines: BTreeMap<String, Vec<Heading>>,
    /// Pages, sheets or slides.
    pub(crate) parts: BTreeMap<String, Vec<Part>>,
    /// Rows to write as they are: table, key, value.
    pub(crate) raw: Vec<(&'static str, RawKey, Vec<u8>)>,
}

/// Key of a raw row.
#[derive(Debug, Clone)]
pub(crate) enum RawKey {
    U64(u64),
    Str(&'static str),
    Bytes(Vec<u8>),
}

/// The file with what `change` writes, all checksums true.
pub(crate) fn forge(bytes: &[u8], change: impl FnOnce(&Stored, &mut Transaction<'_>)) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("forged.kb");
    std::fs::write(&path, bytes).expect("copy");
    let container = Container::open(&path).expect("it opens");
    let stored = container.read(Stored::read).expect("it reads");
    let identity = WriterIdentity {
        program: "kb-tests".to_owned(),
        unix_ms: 0,
        lock_timeout: Duration::ZERO,
    };
    let mut writer = ContainerWriter::open(&path, &identity).expect("writer");
    let mut transaction = writer.begin().expect("transaction");
    change(&stored, &mut transaction);
    transaction.commit().expect("commit");
    writer.finish().expect("closed");
    std::fs::read(&path).expect("bytes")
}

impl Stored {
    fn read(snapshot: &Snapshot<'_>) -> Result<Stored> {
        let catalog = Catalog::load(snapshot)?;
        let mut stored = Stored {
            meta: catalog.meta.clone(),
            manifest: catalog.manifest.clone(),
            segments: BTreeMap::new(),
            deleted: BTreeMap::new(),
            columns: BTreeMap::new(),
            documents: BTreeMap::new(),
            outlines: BTreeMap::new(),
            parts: BTreeMap::new(),
            raw: Vec::new(),
        };
        for segment in &catalog.segments {
            let records = &segment.records;
            stored.segments.insert(segment.id, records.segment.clone());
            if let Some(deleted) = segment.deleted.clone() {
                stored.deleted.insert(segment.id, deleted);
            }
            for record in &records.segment.columns {
                let bound = segment.extents.column(snapshot, ColumnId(record.column));
                let bound = bound.expect("a column of the record");
                let view = bound.view();
                let extents: Result<Vec<Vec<u8>>> = (0..view.extents())
                    .map(|number| Ok(view.extent(number)?.1.to_vec()))
                    .collect();
                let key = (segment.id, record.column);
                stored.columns.insert(key, extents?);
            }
        }
        catalog.documents.each(snapshot, |id, record| {
            let path = record.path.clone();
            let headings = outline::get(snapshot, id)?;
            stored.outlines.insert(path.clone(), headings);
            let parts = catalog.parts.get(snapshot, id, record.text_bytes)?;
            stored.parts.insert(path.clone(), parts);
            stored.documents.insert(path, (id, record));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(stored)
    }

    pub(crate) fn of_golden() -> Stored {
        let container = Container::from_bytes(golden_bytes()).expect("it opens");
        container.read(Stored::read).expect("it reads")
    }

    /// The golden file with what differs from it here.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        forge(golden_bytes(), |right, transaction| {
            self.write(right, transaction)
        })
    }

    fn write(self, right: &Stored, transaction: &mut Transaction<'_>) {
        self.meta.write(transaction).expect("meta");
        self.manifest.write(transaction).expect("manifest");
        for (id, record) in &self.segments {
            record.write(transaction, *id).expect("segment");
        }
        for (key, extents) in &self.columns {
            if right.columns.get(key) == Some(extents) {
                continue;
            }
            let mut first = 0;
            for (number, payload) in (0u32..).zip(extents) {
                transaction
                    .put_extent(key.0, ColumnId(key.1), number, first, payload)
                    .expect("extent");
                first += payload.len() as u64;
            }
        }
        for (path, (id, record)) in &self.documents {
            if right.documents[path].1 != *record {
                documents::put(transaction, *id, record).expect("document");
            }
        }
        for (table, key, value) in &self.raw {
            let key = match key {
                RawKey::U64(key) => Key::U64(*key),
                RawKey::Str(key) => Key::Str(key),
                RawKey::Bytes(key) => Key::Bytes(key),
            };
            transaction.put(table, key, value).expect("row");
        }
    }

    /// The first segment, which holds most.
    pub(crate) fn first_segment(&mut self) -> &mut SegmentRecord {
        self.segments.values_mut().next().expect("a segment")
    }

    /// Bytes of a column of the first segment, which fits one extent.
    pub(crate) fn first_column(&mut self, column: u16) -> &mut Vec<u8> {
        let extents = self.columns.iter_mut().find(|(key, _)| key.1 == column);
        &mut extents.expect("a column").1[0]
    }

    pub(crate) fn id(&self, path: &str) -> DocumentId {
        self.documents[path].0
    }

    /// Changes the record of a document.
    pub(crate) fn document(
        &self,
        transaction: &mut Transaction<'_>,
        path: &str,
        change: impl FnOnce(&mut DocumentRecord),
    ) {
        let (id, mut record) = self.documents[path].clone();
        change(&mut record);
        documents::put_record(transaction, id, &record).expect("record");
    }

    /// Changes the record of the first segment.
    pub(crate) fn segment(
        &self,
        transaction: &mut Transaction<'_>,
        change: impl FnOnce(&mut SegmentRecord),
    ) {
        let (id, record) = self.segments.first_key_value().expect("a segment");
        let mut record = record.clone();
        change(&mut record);
        record.write(transaction, *id).expect("segment");
    }

    pub(crate) fn text(
        &self,
        transaction: &mut Transaction<'_>,
        change: impl FnOnce(&mut KeywordRecord),
    ) {
        self.segment(transaction, |segment| {
            let mut record = KeywordRecord::decode(&segment.text_index).expect("a record");
            change(&mut record);
            segment.text_index = record.encode().expect("bytes");
        });
    }

    pub(crate) fn vectors(
        &self,
        transaction: &mut Transaction<'_>,
        change: impl FnOnce(&mut VectorRecord),
    ) {
        self.segment(transaction, |segment| {
            let mut record = VectorRecord::decode(&segment.vector_index).expect("a record");
            change(&mut record);
            segment.vector_index = record.encode().expect("bytes");
        });
    }

    /// Changes the first extent of a column of the first segment.
    pub(crate) fn column(
        &self,
        transaction: &mut Transaction<'_>,
        column: ColumnId,
        change: impl FnOnce(&mut [u8]),
    ) {
        let (number, _) = self.segments.first_key_value().expect("a segment");
        let mut bytes = self.columns[&(*number, column.0)][0].clone();
        change(&mut bytes);
        let segment = *number;
        transaction
            .put_extent(segment, column, 0, 0, &bytes)
            .expect("extent");
    }

    pub(crate) fn deleted(
        &self,
        transaction: &mut Transaction<'_>,
        change: impl FnOnce(&mut Deleted),
    ) {
        let (id, deleted) = self.deleted.first_key_value().expect("deleted rows");
        let mut deleted = deleted.clone();
        change(&mut deleted);
        deleted.write(transaction, *id).expect("deleted");
    }

    pub(crate) fn outline(
        &self,
        transaction: &mut Transaction<'_>,
        path: &str,
        change: impl FnOnce(&mut Vec<Heading>),
    ) {
        let mut headings = self.outlines[path].clone();
        change(&mut headings);
        outline::put(transaction, self.id(path), &headings).expect("outline");
    }

    pub(crate) fn parts(
        &self,
        transaction: &mut Transaction<'_>,
        path: &str,
        change: impl FnOnce(&mut Vec<Part>),
    ) {
        let mut parts = self.parts[path].clone();
        change(&mut parts);
        parts::put(transaction, self.id(path), &parts).expect("parts");
    }

    pub(crate) fn facet(
        &self,
        transaction: &mut Transaction<'_>,
        path: &str,
        tag: &str,
        have: bool,
    ) {
        let (_, record) = &self.documents[path];
        let rows = record.first_row..record.first_row + 1;
        let segment = record.segment();
        facets::change(transaction, segment, Facet::Tag, tag, rows, have).expect("facet");
    }

    pub(crate) fn meta(&self, transaction: &mut Transaction<'_>, change: impl FnOnce(&mut Meta)) {
        let mut meta = self.meta.clone();
        change(&mut meta);
        meta.write(transaction).expect("meta");
    }

    pub(crate) fn manifest(
        &self,
        transaction: &mut Transaction<'_>,
        change: impl FnOnce(&mut Manifest),
    ) {
        let mut manifest = self.manifest.clone();
        change(&mut manifest);
        manifest.write(transaction).expect("manifest");
    }
}

#[test]
fn a_file_that_is_written_back_answers_as_before() {
    let bytes = Stored::of_golden().into_bytes();
    assert!(bytes != golden_bytes());
    let right = super::ask::right_answers();
    let answers = super::ask::ask(bytes, "written back").expect("it opens");
    for ((question, answer), (_, right)) in answers.iter().zip(&right) {
        if question != "info" && question != "sizes" {
            assert_eq!(answer.as_ref().ok(), right.as_ref().ok(), "{question}");
        }
    }
}
