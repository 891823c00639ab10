//! Lies with true checksums: the golden file, changed through the writer.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use kb_engine::catalog::Catalog;
use kb_engine::container::column::{ColumnId, ExtentSink};
use kb_engine::container::{
    Container, ContainerWriter, Key, Snapshot, Transaction, WriterIdentity,
};
use kb_engine::store::documents;
use kb_engine::store::documents::DocumentRecord;
use kb_engine::store::meta::{Manifest, Meta};
use kb_engine::store::segments::SegmentRecord;
use kb_engine::types::{DocumentId, SegmentId};

use crate::golden::golden_bytes;

/// What the golden file holds, to be changed and written back.
#[derive(Debug, Clone)]
pub(crate) struct Content {
    pub(crate) meta: Meta,
    pub(crate) manifest: Manifest,
    pub(crate) segments: BTreeMap<SegmentId, SegmentRecord>,
    /// Payloads of the extents of each column.
    pub(crate) columns: BTreeMap<(SegmentId, u16), Vec<Vec<u8>>>,
    pub(crate) documents: BTreeMap<u32, DocumentRecord>,
    /// Rows written as they are: table, key, value.
    pub(crate) raw: Vec<(&'static str, RawKey, Vec<u8>)>,
}

/// Key of a raw row.
#[derive(Debug, Clone)]
pub(crate) enum RawKey {
    U64(u64),
    Str(&'static str),
    Bytes(Vec<u8>),
}

impl Content {
    pub(crate) fn of_golden() -> Content {
        let container = Container::from_bytes(golden_bytes()).expect("it opens");
        container.read(read).expect("it reads")
    }

    /// The golden file with this content, all checksums true.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("lie.kb");
        std::fs::write(&path, golden_bytes()).expect("copy");
        let identity = WriterIdentity {
            program: "kb-tests".to_owned(),
            unix_ms: 0,
            lock_timeout: std::time::Duration::ZERO,
        };
        let right = Content::of_golden();
        let mut writer = ContainerWriter::open(&path, &identity).expect("writer");
        let mut transaction = writer.begin().expect("transaction");
        self.write(&right, &mut transaction);
        transaction.commit().expect("commit");
        writer.finish().expect("closed");
        std::fs::read(&path).expect("bytes")
    }

    fn write(self, right: &Content, transaction: &mut Transaction<'_>) {
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
        for (id, record) in &self.documents {
            if right.documents.get(id) != Some(record) {
                documents::put(transaction, DocumentId(*id), record).expect("document");
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
    pub(crate) fn segment(&mut self) -> &mut SegmentRecord {
        self.segments.values_mut().next().expect("a segment")
    }

    /// Bytes of a column of the first segment, which fits one extent.
    pub(crate) fn column(&mut self, column: u16) -> &mut Vec<u8> {
        let extents = self.columns.iter_mut().find(|(key, _)| key.1 == column);
        &mut extents.expect("a column").1[0]
    }
}

fn read(snapshot: &Snapshot<'_>) -> kb_engine::Result<Content> {
    let catalog = Catalog::load(snapshot)?;
    let mut columns = BTreeMap::new();
    for segment in &catalog.segments {
        for record in &segment.records.segment.columns {
            let bound = segment.extents.column(snapshot, ColumnId(record.column));
            let bound = bound.expect("a column of the record");
            let view = bound.view();
            let extents: kb_engine::Result<Vec<Vec<u8>>> = (0..view.extents())
                .map(|number| Ok(view.extent(number)?.1.to_vec()))
                .collect();
            columns.insert((segment.id, record.column), extents?);
        }
    }
    let mut documents = BTreeMap::new();
    catalog.documents.each(snapshot, |id, record| {
        documents.insert(id.0, record);
        Ok(ControlFlow::Continue(()))
    })?;
    let segments = catalog.segments.iter();
    Ok(Content {
        meta: catalog.meta.clone(),
        manifest: catalog.manifest.clone(),
        segments: segments
            .map(|segment| (segment.id, segment.records.segment.clone()))
            .collect(),
        columns,
        documents,
        raw: Vec::new(),
    })
}

#[test]
fn content_that_is_written_back_answers_as_before() {
    let bytes = Content::of_golden().into_bytes();
    assert!(bytes != golden_bytes());
    let right = super::right_answers();
    let told = super::ask(bytes, "written back").expect("it opens");
    for ((question, told), (_, right)) in told.iter().zip(&right) {
        if question != "info" && question != "sizes" {
            assert_eq!(told.as_ref().ok(), right.as_ref().ok(), "{question}");
        }
    }
}
