//! What a file holds, changed and written back with true checksums.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use kb_engine::Result;
use kb_engine::catalog::Catalog;
use kb_engine::container::column::{ColumnId, ExtentSink};
use kb_engine::container::{Container, ContainerWriter, Snapshot, Transaction, WriterIdentity};
use kb_engine::index::keyword::KeywordRecord;
use kb_engine::index::vector::VectorRecord;
use kb_engine::store::deleted::Deleted;
use kb_engine::store::documents::{self, DocumentRecord};
use kb_engine::store::facets::{self, Facet};
use kb_engine::store::meta::{Manifest, Meta};
use kb_engine::store::outline;
use kb_engine::store::segments::SegmentRecord;
use kb_engine::types::{DocumentId, Heading, SegmentId};

/// What a file holds, to be changed through `write`.
pub(super) struct Held {
    pub(super) meta: Meta,
    pub(super) manifest: Manifest,
    pub(super) segments: BTreeMap<u32, SegmentRecord>,
    pub(super) deleted: BTreeMap<u32, Deleted>,
    pub(super) columns: BTreeMap<(u32, u16), Vec<Vec<u8>>>,
    pub(super) documents: BTreeMap<String, (DocumentId, DocumentRecord)>,
    pub(super) outlines: BTreeMap<String, Vec<Heading>>,
}

impl Held {
    pub(super) fn read(snapshot: &Snapshot<'_>) -> Result<Held> {
        let catalog = Catalog::load(snapshot)?;
        let mut held = Held {
            meta: catalog.meta.clone(),
            manifest: catalog.manifest.clone(),
            segments: BTreeMap::new(),
            deleted: BTreeMap::new(),
            columns: BTreeMap::new(),
            documents: BTreeMap::new(),
            outlines: BTreeMap::new(),
        };
        for segment in &catalog.segments {
            let number = segment.id.0;
            held.segments
                .insert(number, segment.records.segment.clone());
            held.deleted
                .extend(segment.deleted.clone().map(|gone| (number, gone)));
            for record in &segment.records.segment.columns {
                let bound = segment.extents.column(snapshot, ColumnId(record.column));
                let bound = bound.expect("a column of the record");
                let view = bound.view();
                let extents: Result<Vec<Vec<u8>>> = (0..view.extents())
                    .map(|number| Ok(view.extent(number)?.1.to_vec()))
                    .collect();
                held.columns.insert((number, record.column), extents?);
            }
        }
        catalog.documents.each(snapshot, |id, record| {
            let path = record.path.clone();
            held.outlines
                .insert(path.clone(), outline::get(snapshot, id)?);
            held.documents.insert(path, (id, record));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(held)
    }

    pub(super) fn id(&self, path: &str) -> DocumentId {
        self.documents[path].0
    }

    /// Changes the record of a document.
    pub(super) fn document(
        &self,
        transaction: &mut Transaction<'_>,
        path: &str,
        lie: impl FnOnce(&mut DocumentRecord),
    ) {
        let (id, mut record) = self.documents[path].clone();
        lie(&mut record);
        documents::put_record(transaction, id, &record).expect("record");
    }

    /// Changes the record of the first segment.
    pub(super) fn segment(
        &self,
        transaction: &mut Transaction<'_>,
        lie: impl FnOnce(&mut SegmentRecord),
    ) {
        let (number, record) = self.segments.first_key_value().expect("a segment");
        let mut record = record.clone();
        lie(&mut record);
        record
            .write(transaction, SegmentId(*number))
            .expect("segment");
    }

    pub(super) fn text(
        &self,
        transaction: &mut Transaction<'_>,
        lie: impl FnOnce(&mut KeywordRecord),
    ) {
        self.segment(transaction, |segment| {
            let mut record = KeywordRecord::decode(&segment.text_index).expect("a record");
            lie(&mut record);
            segment.text_index = record.encode().expect("bytes");
        });
    }

    pub(super) fn vectors(
        &self,
        transaction: &mut Transaction<'_>,
        lie: impl FnOnce(&mut VectorRecord),
    ) {
        self.segment(transaction, |segment| {
            let mut record = VectorRecord::decode(&segment.vector_index).expect("a record");
            lie(&mut record);
            segment.vector_index = record.encode().expect("bytes");
        });
    }

    /// Changes the first extent of a column of the first segment.
    pub(super) fn column(
        &self,
        transaction: &mut Transaction<'_>,
        column: ColumnId,
        lie: impl FnOnce(&mut [u8]),
    ) {
        let (number, _) = self.segments.first_key_value().expect("a segment");
        let mut bytes = self.columns[&(*number, column.0)][0].clone();
        lie(&mut bytes);
        let segment = SegmentId(*number);
        transaction
            .put_extent(segment, column, 0, 0, &bytes)
            .expect("extent");
    }

    pub(super) fn deleted(
        &self,
        transaction: &mut Transaction<'_>,
        lie: impl FnOnce(&mut Deleted),
    ) {
        let (number, deleted) = self.deleted.first_key_value().expect("deleted rows");
        let mut deleted = deleted.clone();
        lie(&mut deleted);
        deleted
            .write(transaction, SegmentId(*number))
            .expect("deleted");
    }

    pub(super) fn outline(
        &self,
        transaction: &mut Transaction<'_>,
        path: &str,
        lie: impl FnOnce(&mut Vec<Heading>),
    ) {
        let mut headings = self.outlines[path].clone();
        lie(&mut headings);
        outline::put(transaction, self.id(path), &headings).expect("outline");
    }

    pub(super) fn facet(
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

    pub(super) fn meta(&self, transaction: &mut Transaction<'_>, lie: impl FnOnce(&mut Meta)) {
        let mut meta = self.meta.clone();
        lie(&mut meta);
        meta.write(transaction).expect("meta");
    }

    pub(super) fn manifest(
        &self,
        transaction: &mut Transaction<'_>,
        lie: impl FnOnce(&mut Manifest),
    ) {
        let mut manifest = self.manifest.clone();
        lie(&mut manifest);
        manifest.write(transaction).expect("manifest");
    }
}

/// The file with one lie in it, all checksums true.
pub(super) fn told(bytes: &[u8], lie: impl FnOnce(&Held, &mut Transaction<'_>)) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("lie.kb");
    std::fs::write(&path, bytes).expect("copy");
    let container = Container::open(&path).expect("it opens");
    let held = container.read(Held::read).expect("it reads");
    let identity = WriterIdentity {
        program: "kb-tests".to_owned(),
        unix_ms: 0,
        lock_timeout: Duration::ZERO,
    };
    let mut writer = ContainerWriter::open(&path, &identity).expect("writer");
    let mut transaction = writer.begin().expect("transaction");
    lie(&held, &mut transaction);
    transaction.commit().expect("commit");
    writer.finish().expect("closed");
    std::fs::read(&path).expect("bytes")
}
