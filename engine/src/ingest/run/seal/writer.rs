//! Writes the documents of a commit in sealed form.

use std::ops::ControlFlow;

use kb_types::error::{Error, Result};
use kb_types::{DocumentId, Heading, Part, Symbol};

use crate::catalog::{BoundSegment, Catalog};
use crate::check::content_root::content_root;
use crate::container::{Snapshot, Transaction};
use crate::index::vector::Codec;
use crate::ingest::clock::now_ms;
use crate::ingest::run::new_file::{PROGRAM, check_codec, new_manifest};
use crate::ingest::run::seal::options::SealOptions;
use crate::ingest::run::seal::plan::{PlannedSegment, SegmentPlan};
use crate::ingest::run::seal::symbols::symbol_dictionary;
use crate::ingest::run::vector_index::lists::ListLimits;
use crate::ingest::segment::merge_writer::{MergeWriter, SegmentEncoding};
use crate::ingest::segment::more_vectors::ColumnMove;
use crate::progress::{Progress, Reporter, Stage};
use crate::store::block_writer::Compression;
use crate::store::documents::{DocumentRecord, NO_SEGMENT};
use crate::store::embedding_cache;
use crate::store::meta::kept_model;
use crate::store::meta::{Manifest, Meta, RootRecord, SealRecord, Settings};
use crate::store::symbols::SymbolsWriter;
use crate::store::vector_columns::{NumberedColumn, VectorColumns};
use crate::store::{documents, outline, parts};

/// What is read and written while a file is sealed.
struct Sealing<'s, 'b> {
    snapshot: &'s Snapshot<'s>,
    reporter: &'s Reporter<'s>,
    bound: &'b [BoundSegment<'b>],
    encoding: SegmentEncoding<'s>,
    /// Live chunks of the file.
    chunks: u64,
    /// Which segments get inverted lists, in the place of sign bits.
    list_limits: ListLimits,
    /// Segments that are not written yet.
    planned: std::vec::IntoIter<PlannedSegment>,
    /// Rows that are still to come of the segment that is written.
    rows_left: u32,
    open: Option<MergeWriter<'b>>,
    symbols: SymbolsWriter,
    /// Suffixes of documents, which are written in their own order.
    // Held until the end, because ascending keys fill the pages of a tree (see
    // `documents::put_suffix`).
    suffixes: Vec<(String, DocumentId)>,
    manifest: Manifest,
}

impl Sealing<'_, '_> {
    /// Writes a document into the segment that it was planned for.
    fn push(
        &mut self,
        transaction: &mut Transaction<'_>,
        old: DocumentId,
        mut record: DocumentRecord,
        (outline, parts, symbols): (&[Heading], &[Part], &[Symbol]),
    ) -> Result<()> {
        let new = self.manifest.next_document_id()?;
        if symbols.is_empty() {
            outline::put(transaction, new, outline)?;
        }
        self.symbols.put(transaction, new, symbols)?;
        parts::put(transaction, new, parts)?;
        if record.rows == 0 {
            (record.segment, record.first_row) = (NO_SEGMENT, 0);
            return self.put_record(transaction, new, &record);
        }
        if self.rows_left == 0 {
            self.close(transaction)?;
            let planned = self.planned.next();
            let planned = planned.ok_or_else(|| Error::damaged("a document that was not there"))?;
            let segment = self.manifest.next_segment_id()?;
            self.manifest.segments.push(segment.0);
            self.rows_left = planned.rows;
            // Sign bits and inverted lists serve the same first stage; a file needs one of them.
            self.encoding.has_codes = !self.list_limits.include(self.chunks, planned.rows);
            let sample = planned.read_sample(self.bound)?;
            let writer = MergeWriter::new(
                segment,
                self.bound,
                self.encoding,
                sample.as_ref(),
                self.reporter,
            )?;
            self.open = Some(writer);
        }
        if let Some(open) = &mut self.open {
            self.rows_left = self.rows_left.saturating_sub(record.rows);
            let kind = parts.first().map(|part| part.content.kind());
            open.push(transaction, old, new, &mut record, kind, self.reporter)?;
        }
        self.put_record(transaction, new, &record)
    }

    fn put_record(
        &mut self,
        transaction: &mut Transaction<'_>,
        new: DocumentId,
        record: &DocumentRecord,
    ) -> Result<()> {
        self.suffixes.push((record.suffix.clone(), new));
        documents::put_with_path(transaction, new, record)
    }

    fn close(&mut self, transaction: &mut Transaction<'_>) -> Result<()> {
        match self.open.take() {
            Some(open) => open
                .finish(self.snapshot, transaction, &mut || self.reporter.tick())
                .map(|_| ()),
            None => Ok(()),
        }
    }
}

/// Writes the documents of a commit in sealed encoding. One record at a time is held, the suffixes of all, and a
/// few thousand numbers for each segment.
pub(super) fn write(
    transaction: &mut Transaction<'_>,
    snapshot: &Snapshot<'_>,
    options: &SealOptions,
    (max_rows, list_limits): (u32, ListLimits),
    reporter: &Reporter<'_>,
) -> Result<([u8; 32], u64)> {
    let vectors = options.vectors;
    let catalog = Catalog::load(snapshot)?;
    let mut embedder = catalog.meta.embedder.clone();
    if vectors != Some(Codec::I4) {
        check_codec(&catalog.meta, vectors)?;
    }
    embedder.codec = vectors.map_or(embedder.codec, Codec::number);
    let settings = Settings::read(snapshot)?;
    let mut plan = SegmentPlan {
        max_rows,
        segments: Vec::new(),
    };
    // The root is computed of the old file, in the same pass that plans the segments: all records
    // are read once less.
    let root = content_root(snapshot, &catalog, &mut |record| {
        plan.add(record);
        reporter.tick()
    })?;
    let bound = catalog
        .segments
        .iter()
        .map(|segment| segment.bind(snapshot))
        .collect::<Result<Vec<BoundSegment<'_>>>>()?;
    let dictionary = symbol_dictionary(snapshot, &catalog, &mut || reporter.tick())?;
    let (columns, moves) = sealed_columns(&catalog.vector_columns, vectors)?;
    let mut sealing = Sealing {
        snapshot,
        reporter,
        bound: &bound,
        encoding: SegmentEncoding {
            compression: Compression::Best,
            codec: embedder.codec,
            has_trigrams: !settings.without_trigrams,
            has_codes: true,
            more_vectors: &moves,
        },
        chunks: catalog.meta.chunks,
        list_limits,
        planned: plan.segments.into_iter(),
        rows_left: 0,
        open: None,
        symbols: SymbolsWriter::new(transaction, &dictionary)?,
        suffixes: Vec::new(),
        manifest: Manifest {
            generation: catalog.manifest.generation,
            next_root: catalog.manifest.next_root,
            ..new_manifest()
        },
    };
    let mut done = Progress {
        files_total: catalog.meta.documents,
        bytes_total: catalog.meta.text_bytes,
        ..Progress::new(Stage::Seal)
    };
    reporter.report(done)?;
    catalog.documents.each_path(snapshot, "", |_, old| {
        let record = catalog.documents.get(snapshot, old)?;
        let outline = catalog.outlines.get(snapshot, old)?;
        done.files_done += 1;
        done.bytes_done += u64::from(record.text_bytes);
        let parts = catalog.parts.get(snapshot, old, record.text_bytes)?;
        let symbols = catalog.symbols.get(snapshot, old, record.text_bytes)?;
        sealing.push(transaction, old, record, (&outline, &parts, &symbols))?;
        reporter.report(done)?;
        Ok(ControlFlow::Continue(()))
    })?;
    sealing.close(transaction)?;
    sealing.suffixes.sort_unstable();
    for (suffix, id) in &sealing.suffixes {
        documents::put_suffix(transaction, *id, suffix)?;
    }
    let roots = catalog.meta.roots.iter().map(without_place).collect();
    let meta = Meta {
        roots,
        embedder,
        writer: PROGRAM.to_owned(),
        // Measured again of the sealed file, whose segments are others.
        recall: None,
        ..catalog.meta.clone()
    };
    meta.write(transaction)?;
    settings.write(transaction)?;
    keep(transaction, snapshot, (&columns, &moves), options)?;
    sealing.manifest.write(transaction)?;
    let seal = SealRecord {
        content_root: root,
        sealed_ms: now_ms(),
    };
    seal.write(transaction)?;
    Ok((root, done.files_done))
}

/// The columns of vectors of other models in a sealed file, numbered from 1 by their names, whatever was imported first
/// or removed; and where each comes from.
///
/// # Errors
/// [`Error::InvalidArgument`] for one of nibbles that shall have bytes.
fn sealed_columns(
    old: &VectorColumns,
    codec: Option<Codec>,
) -> Result<(VectorColumns, Vec<ColumnMove>)> {
    let mut list: Vec<&NumberedColumn> = old.list.iter().collect();
    list.sort_by(|a, b| a.record.name.cmp(&b.record.name));
    let (mut columns, mut moves) = (VectorColumns::default(), Vec::new());
    for column in list {
        let mut to = column.clone();
        // New numbers by name: two files of the same contents are sealed alike, whatever was
        // imported or removed before.
        to.number = columns.next;
        // Measured again once it has lists.
        to.effort = None;
        // A place on this machine means nothing on another.
        if let Some(model) = &mut to.model {
            model.card.location.clear();
        }
        if codec == Some(Codec::I8) && column.record.codec != Codec::I8.number() {
            let name = &column.record.name;
            return Err(Error::InvalidArgument {
                argument: "vectors",
                reason: format!("the vectors of {name:?} have i4 and not i8"),
            });
        }
        to.record.codec = codec.map_or(to.record.codec, Codec::number);
        columns.next += 1;
        if old.default == column.number {
            columns.default = to.number;
        }
        columns.list.push(to.clone());
        moves.push(ColumnMove {
            from: column.number,
            to,
        });
    }
    Ok((columns, moves))
}

/// Writes the columns of vectors, and keeps the models that the file keeps and what the options ask for.
///
/// # Errors
/// [`Error::EmbeddingModelUnavailable`] if the column of a model is gone, or of another model by now.
fn keep(
    transaction: &mut Transaction<'_>,
    snapshot: &Snapshot<'_>,
    (columns, moves): (&VectorColumns, &[ColumnMove]),
    options: &SealOptions,
) -> Result<()> {
    if !columns.list.is_empty() {
        columns.write(transaction)?;
    }
    if options.keep_cache {
        embedding_cache::copy(snapshot, transaction)?;
    }
    for model in &options.models {
        let column = columns.named(&model.column).filter(|column| {
            let of_column = column.model.as_ref();
            of_column.is_some_and(|of_column| of_column.card.is_same_model(&model.card))
        });
        let column = column.ok_or_else(|| Error::EmbeddingModelUnavailable {
            needs: format!("the model of {:?}, which changed meanwhile", model.column),
        })?;
        kept_model::write(transaction, column.number, &model.files)?;
    }
    let is_packed = |name: &str| options.models.iter().any(|model| model.column == name);
    for column in moves.iter().filter(|it| !is_packed(&it.to.record.name)) {
        kept_model::copy(snapshot, transaction, column.from, column.to.number)?;
    }
    Ok(())
}

/// A root that tells nothing of the machine but the name of its folder.
fn without_place(root: &RootRecord) -> RootRecord {
    let name = root.source.rsplit(['/', '\\']).next().unwrap_or_default();
    RootRecord {
        source: name.to_owned(),
        ..root.clone()
    }
}
