//! Which chunk a target means: its segment and row.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use kb_types::ChunkSpan;
use kb_types::error::{Error, Result};

use crate::catalog::Catalog;
use crate::container::Snapshot;
use crate::ingest::run::vectors::options::VectorTarget;
use crate::resolve;
use crate::store::documents::DocumentRecord;

/// A chunk: the position of its segment in the catalog, and its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowAddress {
    pub(super) segment: u32,
    pub(super) row: u32,
}

/// Finds chunks of one commit. Keeps the document that was named last, because rows come document by document.
pub(super) struct Targets<'s> {
    snapshot: &'s Snapshot<'s>,
    catalog: &'s Catalog,
    /// Where the file is, for addresses of documents.
    file: Option<&'s Path>,
    last: Option<NamedDocument>,
    /// Where the chunks of each document begin among all chunks in order, once someone asks.
    in_order: Option<Vec<OrderedDocument>>,
}

/// A document that was named.
#[derive(Debug)]
struct NamedDocument {
    name: String,
    record: DocumentRecord,
    /// Its chunks, once one is named by its place.
    chunks: Option<Vec<ChunkSpan>>,
    /// Number of the chunk that has these lines, once one is named by them; `None`: several have.
    by_lines: Option<HashMap<(u32, u32), Option<u32>>>,
}

/// A document with chunks, in the order of paths.
#[derive(Debug, Clone, Copy)]
struct OrderedDocument {
    /// Chunks of the documents before.
    before: u64,
    segment: u32,
    first_row: u32,
    rows: u32,
}

impl<'s> Targets<'s> {
    pub(super) fn new(
        snapshot: &'s Snapshot<'s>,
        catalog: &'s Catalog,
        file: Option<&'s Path>,
    ) -> Targets<'s> {
        Targets {
            snapshot,
            catalog,
            file,
            last: None,
            in_order: None,
        }
    }

    /// The chunk of a target.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], [`Error::DocumentNotFound`] and [`Error::AmbiguousDocument`] when there is no such
    /// chunk; [`Error::Damaged`].
    pub(super) fn find(&mut self, target: &VectorTarget) -> Result<RowAddress> {
        let (document, wanted) = match target {
            VectorTarget::Position(position) => return self.at_position(*position),
            VectorTarget::Document(document) => (document, Wanted::Only),
            VectorTarget::Chunk { document, index } => (document, Wanted::Index(*index)),
            VectorTarget::Span {
                document,
                start,
                end,
            } => (document, Wanted::Span(*start, *end)),
            VectorTarget::Lines {
                document,
                first,
                last,
            } => (document, Wanted::Lines(*first, *last)),
        };
        self.enter(document)?;
        let Some(last) = &mut self.last else {
            return Err(Error::damaged("a document that was found is gone"));
        };
        let (rows, path) = (last.record.rows, last.record.path.clone());
        let index = match wanted {
            Wanted::Only if rows == 1 => Some(0),
            _ if rows == 0 => {
                return Err(fault(format!(
                    "{path:?} has no chunks, so it can have no vector: leave the row out"
                )));
            }
            Wanted::Only => {
                return Err(fault(format!(
                    "{path:?} has {rows} chunks; a document names its vector only where it has one chunk, so name the chunk"
                )));
            }
            Wanted::Index(index) => (index < rows).then_some(index),
            Wanted::Span(..) | Wanted::Lines(..) => {
                last.by_place(self.catalog, self.snapshot, wanted)?
            }
        };
        let Some(index) = index else {
            return Err(fault(match wanted {
                Wanted::Span(start, end) => format!(
                    "{path:?} has no chunk of exactly the bytes {start} to {end}; see its chunks for theirs"
                ),
                Wanted::Lines(first, last) => format!(
                    "{path:?} has no chunk, or several, of exactly the lines {first} to {last}; name the chunk by its number"
                ),
                Wanted::Index(index) => {
                    format!("{path:?} has {rows} chunks and none of number {index}, from 0")
                }
                Wanted::Only => String::new(),
            }));
        };
        let segment = position(self.catalog, &last.record)?;
        Ok(RowAddress {
            segment,
            row: last.record.first_row.saturating_add(index),
        })
    }

    /// Reads the record of a document, unless it is the one that was named last.
    fn enter(&mut self, name: &str) -> Result<()> {
        if self.last.as_ref().is_some_and(|last| last.name == name) {
            return Ok(());
        }
        let id = resolve::document(self.snapshot, self.catalog, self.file, name)?;
        self.last = Some(NamedDocument {
            name: name.to_owned(),
            record: self.catalog.documents.get(self.snapshot, id)?,
            chunks: None,
            by_lines: None,
        });
        Ok(())
    }

    fn at_position(&mut self, wanted: u64) -> Result<RowAddress> {
        let in_order = match &mut self.in_order {
            Some(in_order) => in_order,
            None => self.in_order.insert(in_order(self.snapshot, self.catalog)?),
        };
        // Built once and searched by halves: an import by position asks for every chunk of the
        // file.
        let at = in_order.partition_point(|document| document.before <= wanted);
        let document = at.checked_sub(1).and_then(|at| in_order.get(at)).copied();
        let found = document.and_then(|document| {
            let index = u32::try_from(wanted - document.before).ok()?;
            (index < document.rows).then(|| RowAddress {
                segment: document.segment,
                row: document.first_row.saturating_add(index),
            })
        });
        found.ok_or_else(|| {
            let last = in_order.last();
            let chunks = last.map_or(0, |last| last.before + u64::from(last.rows));
            fault(format!(
                "there is no chunk {wanted}: the file has {chunks}, counted from 0"
            ))
        })
    }
}

/// How a chunk of a document is named.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    Only,
    Index(u32),
    Span(u32, u32),
    Lines(u32, u32),
}

impl NamedDocument {
    /// The number of the chunk that has a span or lines.
    fn by_place(
        &mut self,
        catalog: &Catalog,
        snapshot: &Snapshot<'_>,
        wanted: Wanted,
    ) -> Result<Option<u32>> {
        let chunks = match &mut self.chunks {
            Some(chunks) => chunks,
            None => {
                let chunks = chunks_of(catalog, snapshot, &self.record)?;
                self.chunks.insert(chunks)
            }
        };
        let (first, last) = match wanted {
            Wanted::Span(start, end) => {
                let at = chunks.partition_point(|chunk| chunk.span.start < start);
                let is_it = |chunk: &ChunkSpan| (chunk.span.start, chunk.span.end) == (start, end);
                let found = chunks.get(at).filter(|chunk| is_it(chunk));
                return Ok(found.and_then(|_| u32::try_from(at).ok()));
            }
            Wanted::Lines(first, last) => (first, last),
            Wanted::Only | Wanted::Index(_) => return Ok(None),
        };
        let by_lines = self.by_lines.get_or_insert_with(|| {
            let mut by_lines = HashMap::with_capacity(chunks.len());
            for (number, chunk) in (0..).zip(chunks.iter()) {
                let lines = (chunk.lines.first, chunk.lines.last);
                by_lines
                    .entry(lines)
                    // Several chunks may have the same lines, where a long line is cut. Guessing
                    // would give one the vector of another.
                    .and_modify(|found| *found = None)
                    .or_insert(Some(number));
            }
            by_lines
        });
        Ok(by_lines.get(&(first, last)).copied().flatten())
    }
}

fn chunks_of(
    catalog: &Catalog,
    snapshot: &Snapshot<'_>,
    record: &DocumentRecord,
) -> Result<Vec<ChunkSpan>> {
    let Some(segment) = catalog.bind_document(snapshot, record)? else {
        return Ok(Vec::new());
    };
    let chunks = segment.chunks();
    let rows = record.first_row..record.first_row.saturating_add(record.rows);
    rows.map(|row| Ok(chunks.get(row)?.at)).collect()
}

/// All documents with chunks, in the order of paths.
fn in_order(snapshot: &Snapshot<'_>, catalog: &Catalog) -> Result<Vec<OrderedDocument>> {
    let mut found = Vec::new();
    let mut before = 0u64;
    catalog.documents.each_path(snapshot, "", |_, id| {
        let record = catalog.documents.get(snapshot, id)?;
        if record.rows > 0 {
            found.push(OrderedDocument {
                before,
                segment: position(catalog, &record)?,
                first_row: record.first_row,
                rows: record.rows,
            });
            before = before.saturating_add(u64::from(record.rows));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// The position of the segment of a document with chunks, which has all its rows.
fn position(catalog: &Catalog, record: &DocumentRecord) -> Result<u32> {
    let id = record.segment();
    let at = catalog
        .segments
        .binary_search_by_key(&id, |segment| segment.id);
    let segment = at.ok().and_then(|at| Some((at, catalog.segments.get(at)?)));
    let end = record.first_row.checked_add(record.rows);
    match segment {
        Some((at, segment)) if end.is_some_and(|end| end <= segment.rows()) => {
            u32::try_from(at).map_err(|_| Error::damaged("too many segments"))
        }
        _ => Err(Error::damaged(format!(
            "rows of document {:?} are in no segment",
            record.path
        ))),
    }
}

/// What is wrong with a target; the row is named where it is known.
fn fault(reason: String) -> Error {
    Error::InvalidArgument {
        argument: "chunks",
        reason,
    }
}
