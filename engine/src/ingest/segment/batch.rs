//! The changes of one commit: documents that come, change or go -> segments, deleted rows and the
//! counts that the file states.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use kb_extract::tags;
use kb_types::error::Result;
use kb_types::{DocumentId, SegmentId};
use roaring::RoaringBitmap;

use crate::catalog::CatalogCache;
use crate::container::{Container, Transaction};
use crate::index::keyword;
use crate::ingest::prepare::preparer::Prepared;
use crate::ingest::prepare::preserved::{Given, PreservedFields};
use crate::ingest::segment::writer::{self, SegmentWriter};
use crate::store::block_writer::Compression;
use crate::store::deleted::Deleted;
use crate::store::documents::{self, DocumentRecord, NO_SEGMENT};
use crate::store::facets::{self, Facet};
use crate::store::fields::{self, columns::edit};
use crate::store::meta::{Manifest, Meta, SealRecord, Settings};
use crate::store::{outline, parts, segments, symbols};

/// The changes of one commit on their way into the file.
#[derive(Debug)]
pub(crate) struct Batch {
    /// Counts so far; written by [`Batch::finish`].
    meta: Meta,
    /// Numbers so far; written by [`Batch::finish`].
    manifest: Manifest,
    /// When the commit is made, milliseconds since 1970.
    now_ms: i64,
    /// Whether segments get trigrams.
    has_trigrams: bool,
    /// The segment that takes the next document.
    open: Option<SegmentWriter>,
    /// The segment that takes the next program that is not parsed yet.
    // Of their own, so that the whole segment goes once they are parsed, without a merge. It has no trigrams: until
    // then a search by regular expressions reads its text.
    open_pending: Option<SegmentWriter>,
    /// What goes from segments of earlier commits.
    tombstones: BTreeMap<u32, Tombstones>,
}

/// What goes from one segment in this commit.
#[derive(Debug, Default)]
struct Tombstones {
    rows: RoaringBitmap,
    documents: u32,
    text_bytes: u64,
}

impl Batch {
    /// Continues the counts and numbers of a file with those settings.
    pub(crate) fn new(meta: Meta, manifest: Manifest, now_ms: i64, settings: &Settings) -> Batch {
        Batch {
            meta,
            manifest,
            now_ms,
            has_trigrams: !settings.without_trigrams,
            open: None,
            open_pending: None,
            tombstones: BTreeMap::new(),
        }
    }

    /// Facts about the file so far.
    pub(crate) fn meta(&mut self) -> &mut Meta {
        &mut self.meta
    }

    /// Facts and numbers so far.
    pub(crate) fn records(&mut self) -> (&mut Meta, &mut Manifest) {
        (&mut self.meta, &mut self.manifest)
    }

    /// Counts a document that a caller copied with its rows.
    pub(crate) fn count(&mut self, record: &DocumentRecord) {
        // What a file states of itself may be a lie; `verify` tells.
        let meta = &mut self.meta;
        meta.documents = meta.documents.saturating_add(1);
        meta.chunks = meta.chunks.saturating_add(u64::from(record.rows));
        meta.text_bytes = meta.text_bytes.saturating_add(u64::from(record.text_bytes));
    }

    /// Writes a new document with what it is given. In ascending order of paths all go into one
    /// segment until it is full.
    pub(crate) fn add(
        &mut self,
        transaction: &mut Transaction<'_>,
        prepared: &Prepared,
        given: Given,
    ) -> Result<()> {
        self.add_beside(transaction, prepared, given, &mut |_| Ok(false))
    }

    /// The same, in a file that gets more documents with handles of their own later: `is_reserved`
    /// tells which suffixes theirs have.
    pub(crate) fn add_beside(
        &mut self,
        transaction: &mut Transaction<'_>,
        prepared: &Prepared,
        given: Given,
        is_reserved: &mut dyn FnMut(&str) -> Result<bool>,
    ) -> Result<()> {
        let path = &prepared.document.path;
        let fields = PreservedFields {
            suffix: documents::free_suffix(transaction, path, is_reserved)?,
            given,
            added_ms: self.now_ms,
        };
        let id = self.manifest.next_document_id()?;
        self.write(transaction, id, prepared, fields)
    }

    /// Writes the new content of a document; it keeps number, handle and, unless `given` has others, the
    /// tags and fields that people gave it, beside those that it states now.
    pub(crate) fn replace(
        &mut self,
        transaction: &mut Transaction<'_>,
        id: DocumentId,
        prepared: &Prepared,
        given: Option<Given>,
    ) -> Result<()> {
        let old = documents::get_uncommitted(transaction, id)?;
        self.leave_rows(&old);
        let restated = || {
            let before = tags::stated(&old.file_type, &old.metadata);
            Given {
                tags: tags::restated(&old.tags, &before, &prepared.stated_tags()),
                fields: fields::named(&old.metadata, &old.given),
            }
        };
        let fields = PreservedFields {
            given: given.unwrap_or_else(restated),
            suffix: old.suffix,
            added_ms: old.added_ms,
        };
        self.write(transaction, id, prepared, fields)
    }

    /// Writes a document under a number that is its own: what is `fields` of it stays. One without
    /// chunks is in no segment.
    pub(crate) fn write(
        &mut self,
        transaction: &mut Transaction<'_>,
        id: DocumentId,
        prepared: &Prepared,
        fields: PreservedFields,
    ) -> Result<()> {
        // What a file states of itself may be a lie; `verify` tells.
        let meta = &mut self.meta;
        meta.documents = meta.documents.saturating_add(1);
        meta.chunks = meta.chunks.saturating_add(prepared.chunks.len() as u64);
        let text_bytes = prepared.document.text.len() as u64;
        meta.text_bytes = meta.text_bytes.saturating_add(text_bytes);
        if prepared.chunks.is_empty() {
            return writer::write_document(transaction, id, prepared, fields, None);
        }
        let path = &prepared.document.path;
        let is_pending = prepared.is_pending();
        let slot = if is_pending {
            &mut self.open_pending
        } else {
            &mut self.open
        };
        let is_full = |open: &SegmentWriter| open.is_full_for(path, prepared.chunks.len());
        if let Some(full) = slot.take_if(|open| is_full(open)) {
            full.finish(transaction)?;
        }
        let open = match slot {
            Some(open) => open,
            None => {
                let segment = self.manifest.next_segment_id()?;
                self.manifest.segments.push(segment.0);
                let embedder = &self.meta.embedder;
                slot.insert(SegmentWriter::new(
                    segment,
                    embedder.codec,
                    embedder.dim,
                    embedder.quantiser_range,
                    self.has_trigrams && !is_pending,
                    match is_pending {
                        true => Compression::Brief,
                        false => Compression::Fast,
                    },
                )?)
            }
        };
        // Only documents that are not cut have chunks longer than the chunker makes.
        let lens = prepared.chunks.iter().map(|chunk| chunk.span.len());
        let chunker = &mut self.meta.chunker;
        chunker.cap_bytes = lens.fold(chunker.cap_bytes, u32::max);
        open.add(transaction, id, prepared, fields)
    }

    /// Removes a document of an earlier commit.
    pub(crate) fn remove(
        &mut self,
        transaction: &mut Transaction<'_>,
        id: DocumentId,
    ) -> Result<()> {
        let old = documents::get_uncommitted(transaction, id)?;
        self.leave_rows(&old);
        outline::remove(transaction, id)?;
        parts::remove(transaction, id)?;
        symbols::remove(transaction, id)?;
        documents::remove(transaction, id, &old)
    }

    /// Notes the time of a file whose content is as it was.
    pub(crate) fn touch(
        &mut self,
        transaction: &mut Transaction<'_>,
        id: DocumentId,
        modified_ms: i64,
    ) -> Result<()> {
        let mut record = documents::get_uncommitted(transaction, id)?;
        record.modified_ms = modified_ms;
        documents::put_record(transaction, id, &record)
    }

    /// Gives a document of an earlier commit other tags and other metadata, which has the given fields. Its content
    /// stays as it is.
    pub(crate) fn edit(
        &mut self,
        transaction: &mut Transaction<'_>,
        id: DocumentId,
        given: Given,
        metadata: Vec<(String, String)>,
    ) -> Result<()> {
        let mut record = documents::get_uncommitted(transaction, id)?;
        record.given = fields::names_of(&given.fields);
        let (segment, rows) = (record.segment(), rows_of(&record));
        let after: BTreeSet<String> = given.tags.iter().cloned().collect();
        let before = std::mem::replace(&mut record.tags, given.tags);
        for tag in before
            .into_iter()
            .collect::<BTreeSet<_>>()
            .symmetric_difference(&after)
        {
            let has = after.contains(tag);
            facets::change(transaction, segment, Facet::Tag, tag, rows.clone(), has)?;
        }
        let before = std::mem::replace(&mut record.metadata, metadata);
        edit::change(transaction, segment, rows, [&before, &record.metadata])?;
        documents::put_record(transaction, id, &record)
    }

    fn leave_rows(&mut self, record: &DocumentRecord) {
        if record.segment != NO_SEGMENT {
            let tombstones = self.tombstones.entry(record.segment).or_default();
            tombstones.rows.insert_range(rows_of(record));
            tombstones.documents += 1;
            tombstones.text_bytes += u64::from(record.text_bytes);
        }
        let meta = &mut self.meta;
        meta.documents = meta.documents.saturating_sub(1);
        meta.chunks = meta.chunks.saturating_sub(u64::from(record.rows));
        meta.text_bytes = meta.text_bytes.saturating_sub(u64::from(record.text_bytes));
    }

    fn close(&mut self, transaction: &mut Transaction<'_>) -> Result<()> {
        let open = [self.open.take(), self.open_pending.take()];
        for open in open.into_iter().flatten() {
            open.finish(transaction)?;
        }
        Ok(())
    }

    /// Closes the last segments, notes deleted rows and writes the rows of table `kb`. `base` is the
    /// file as the last commit left it, with the cache of its catalog; none for a new file. The caller
    /// commits.
    pub(crate) fn finish(
        mut self,
        transaction: &mut Transaction<'_>,
        base: Option<(&Container, &CatalogCache)>,
    ) -> Result<Meta> {
        self.close(transaction)?;
        let tombstones = std::mem::take(&mut self.tombstones);
        if let (Some((base, catalogs)), false) = (base, tombstones.is_empty()) {
            let deleted = base.read(|snapshot| {
                let catalog = catalogs.get(snapshot)?;
                let mut deleted = Vec::new();
                for (number, tombstones) in &tombstones {
                    let segment = catalog.segment(SegmentId(*number))?;
                    let words = segment.bind(snapshot)?;
                    let mut all = segment.deleted.clone().unwrap_or_default();
                    all.rows |= &tombstones.rows;
                    all.documents = all.documents.saturating_add(tombstones.documents);
                    all.text_bytes = all.text_bytes.saturating_add(tombstones.text_bytes);
                    let length =
                        keyword::total_length_of(&words.keyword_index()?, &tombstones.rows)?;
                    all.total_length = all.total_length.saturating_add(length);
                    // A segment without live documents goes at once: that costs no merge.
                    let is_left = all.documents < segment.records.segment.documents;
                    deleted.push((*number, all, is_left));
                }
                Ok(deleted)
            })?;
            for (number, deleted, is_left) in deleted {
                self.leave(transaction, number, &deleted, is_left)?;
            }
        }
        self.meta.updated_ms = self.now_ms;
        self.manifest.generation = self.manifest.generation.saturating_add(1);
        // In the same commit as the change: a file never claims to be sealed with other contents.
        SealRecord::remove(transaction)?;
        self.meta.write(transaction)?;
        self.manifest.write(transaction)?;
        Ok(self.meta)
    }

    fn leave(
        &mut self,
        transaction: &mut Transaction<'_>,
        number: u32,
        deleted: &Deleted,
        is_left: bool,
    ) -> Result<()> {
        let segment = SegmentId(number);
        if is_left {
            return deleted.write(transaction, segment);
        }
        self.manifest.segments.retain(|live| *live != number);
        segments::remove(transaction, segment)
    }
}

fn rows_of(record: &DocumentRecord) -> Range<u32> {
    record.first_row..record.first_row.saturating_add(record.rows)
}
