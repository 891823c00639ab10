//! Writes documents of the other file, with their rows, into segments of this one.

use std::ops::ControlFlow;

use kb_extract::tags;
use kb_types::error::Result;

use crate::catalog::BoundSegment;
use crate::container::{Key, Transaction};
use crate::ingest::run::join::options::MergeOptions;
use crate::ingest::run::join::plan::{Group, Taken};
use crate::ingest::run::join::roots::JoinedRoots;
use crate::ingest::run::join::source::Source;
use crate::ingest::segment::batch::Batch;
use crate::ingest::segment::merge_writer::{self, MergeWriter, SegmentEncoding};
use crate::ingest::segment::more_vectors::ColumnMove;
use crate::progress::{Progress, Reporter, Stage};
use crate::store::block_writer::{Compression, TextSample};
use crate::store::documents::{self, DocumentRecord};
use crate::store::facets::{self, Facet};
use crate::store::{outline, parts, skipped, symbols, tables};

/// What copying needs.
pub(super) struct Copying<'c> {
    pub(super) source: Source<'c>,
    pub(super) options: &'c MergeOptions,
    pub(super) roots: &'c JoinedRoots,
    /// Where columns of vectors of other models go.
    pub(super) moves: &'c [ColumnMove],
    pub(super) codec: u8,
    pub(super) has_trigrams: bool,
    /// Most rows of a segment.
    pub(super) max_rows: u32,
    pub(super) reporter: &'c Reporter<'c>,
}

impl Copying<'_> {
    /// Writes a group of documents, in the order of their paths.
    pub(super) fn copy(
        &self,
        transaction: &mut Transaction<'_>,
        batch: &mut Batch,
        group: &Group,
    ) -> Result<()> {
        if group.documents.is_empty() {
            return Ok(());
        }
        let Source {
            snapshot, catalog, ..
        } = self.source;
        let bound = catalog
            .segments
            .iter()
            .map(|segment| segment.bind(snapshot))
            .collect::<Result<Vec<BoundSegment<'_>>>>()?;
        let sample = match bound.is_empty() {
            true => None,
            false => merge_writer::dictionary_sample(&bound)?,
        };
        let mut done = Progress {
            files_total: group.documents.len() as u64,
            ..Progress::new(Stage::Merge)
        };
        let mut open: Option<MergeWriter<'_>> = None;
        for taken in &group.documents {
            let mut record = catalog.documents.get(snapshot, taken.source)?;
            record.path = format!("{}{}", group.prefix, record.path);
            if let Some(replaced) = taken.replaces {
                batch.remove(transaction, replaced)?;
            }
            let is_full = |writer: &MergeWriter<'_>| {
                let rows = writer.rows().checked_add(record.rows);
                rows.is_none_or(|rows| rows > self.max_rows)
            };
            if open.as_ref().is_some_and(is_full) {
                self.close(transaction, open.take())?;
            }
            if open.is_none() && record.rows > 0 {
                open = Some(self.open(batch, &bound, sample.as_ref())?);
            }
            self.push(transaction, batch, open.as_mut(), (taken, &mut record))?;
            done.files_done += 1;
            done.bytes_done += u64::from(record.text_bytes);
            self.reporter.report(done)?;
        }
        self.close(transaction, open)
    }

    fn open<'b>(
        &self,
        batch: &mut Batch,
        bound: &'b [BoundSegment<'b>],
        sample: Option<&TextSample>,
    ) -> Result<MergeWriter<'b>> {
        let encoding = SegmentEncoding {
            compression: Compression::Fast,
            codec: self.codec,
            has_trigrams: self.has_trigrams,
            has_codes: true,
            more_vectors: self.moves,
        };
        let (_, manifest) = batch.records();
        let segment = manifest.next_segment_id()?;
        manifest.segments.push(segment.0);
        MergeWriter::new(segment, bound, encoding, sample, self.reporter)
    }

    fn close(
        &self,
        transaction: &mut Transaction<'_>,
        open: Option<MergeWriter<'_>>,
    ) -> Result<()> {
        let Some(writer) = open else {
            return Ok(());
        };
        let (segment, rows) = (writer.segment(), writer.rows());
        writer.finish(self.source.snapshot, transaction, &mut || {
            self.reporter.tick()
        })?;
        for tag in &self.options.tags {
            facets::change(transaction, segment, Facet::Tag, tag, 0..rows, true)?;
        }
        Ok(())
    }

    /// Writes a document with everything that is kept of it.
    fn push(
        &self,
        transaction: &mut Transaction<'_>,
        batch: &mut Batch,
        writer: Option<&mut MergeWriter<'_>>,
        (taken, record): (&Taken, &mut DocumentRecord),
    ) -> Result<()> {
        let Source {
            snapshot, catalog, ..
        } = self.source;
        let old = taken.source;
        let (meta, manifest) = batch.records();
        let new = manifest.next_document_id()?;
        let cap_bytes = catalog.meta.chunker.cap_bytes;
        meta.chunker.cap_bytes = meta.chunker.cap_bytes.max(cap_bytes);
        let symbols_of = catalog.symbols.get(snapshot, old, record.text_bytes)?;
        if symbols_of.is_empty() {
            let outline_of = catalog.outlines.get(snapshot, old)?;
            outline::put(transaction, new, &outline_of)?;
        }
        symbols::put(transaction, new, &symbols_of)?;
        let parts_of = catalog.parts.get(snapshot, old, record.text_bytes)?;
        parts::put(transaction, new, &parts_of)?;
        record.root = record.root.and_then(|root| self.roots.number(root));
        record.tags = tags::changed(&record.tags, &self.options.tags, &[])?;
        self.give_suffix(transaction, record)?;
        if let Some(writer) = writer {
            let kind = parts_of.first().map(|part| part.content.kind());
            writer.push(transaction, old, new, record, kind, self.reporter)?;
        }
        documents::put(transaction, new, record)?;
        batch.count(record);
        Ok(())
    }

    /// Leaves the suffix as it is, unless another document has it.
    fn give_suffix(
        &self,
        transaction: &mut Transaction<'_>,
        record: &mut DocumentRecord,
    ) -> Result<()> {
        let key = Key::Str(&record.suffix);
        if transaction.get(tables::DOC_BY_SUFFIX, key)?.is_some() {
            record.suffix = documents::free_suffix(transaction, &record.path, &mut |_| Ok(false))?;
        }
        Ok(())
    }

    /// Takes over which files of the folders were left out, so that they are not read again.
    pub(super) fn copy_skipped(&self, transaction: &mut Transaction<'_>) -> Result<()> {
        let prefix = self.source.folder.map(|folder| format!("{folder}/"));
        let prefix = prefix.unwrap_or_default();
        skipped::each_from(self.source.snapshot, "", |path, mut record| {
            if let Some(root) = self.roots.number(record.root) {
                record.root = root;
                skipped::put(transaction, &format!("{prefix}{path}"), &record)?;
            }
            Ok(ControlFlow::Continue(()))
        })
    }
}
