//! The files that one request asks, as one run of segments.

use std::ops::Range;

use crate::catalog::{BoundSegment, Catalog};
use crate::container::Snapshot;
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::index::keyword::{QuerySegment, Statistics};
use crate::store::documents::DocumentRecord;
use crate::types::DocumentId;

/// One file, as a search reads it.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'p> {
    /// Identity of the file.
    pub uuid: [u8; 16],
    /// The commit.
    pub snapshot: &'p Snapshot<'p>,
    /// Its records.
    pub catalog: &'p Catalog,
    /// The model of the file; `None` when this program cannot reproduce it.
    pub model: Option<&'p dyn Embedder>,
}

/// A chunk among the segments of all files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At {
    /// Position of the segment in [`Files::segments`].
    pub segment: usize,
    /// Row of it.
    pub row: u32,
}

/// All segments of all files, file by file, each by ascending number.
#[derive(Debug)]
pub struct Files<'b> {
    /// The files, in the order of the request.
    pub parts: &'b [Parts<'b>],
    /// Their segments.
    pub segments: Vec<BoundSegment<'b>>,
    /// Where the segments of each file end.
    ends: Vec<usize>,
}

impl<'b> Files<'b> {
    /// Locates the columns of every segment.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn bind(parts: &'b [Parts<'b>]) -> Result<Files<'b>> {
        let (mut segments, mut ends) = (Vec::new(), Vec::new());
        for part in parts {
            for segment in &part.catalog.segments {
                segments.push(segment.bind(part.snapshot)?);
            }
            ends.push(segments.len());
        }
        Ok(Files {
            parts,
            segments,
            ends,
        })
    }

    /// Positions of the segments of a file.
    pub fn positions(&self, file: usize) -> Range<usize> {
        let before = file.checked_sub(1).and_then(|before| self.ends.get(before));
        let start = before.copied().unwrap_or(0);
        start..self.ends.get(file).copied().unwrap_or(start)
    }

    /// The segments of a file.
    pub fn of_file(&self, file: usize) -> &[BoundSegment<'b>] {
        self.segments.get(self.positions(file)).unwrap_or_default()
    }

    /// The file of the segment at a position.
    pub fn file_of(&self, position: usize) -> usize {
        self.ends.partition_point(|end| *end <= position)
    }

    /// Statistics of the live chunks of all files: a word weighs the same in each of them.
    pub fn statistics(&self) -> Statistics {
        let mut all = Statistics::default();
        for part in self.parts {
            let of_file = part.catalog.statistics;
            all.chunks = all.chunks.saturating_add(of_file.chunks);
            all.total_length = all.total_length.saturating_add(of_file.total_length);
        }
        all
    }

    /// What the keyword index is asked with.
    pub fn words(&'b self) -> Result<Vec<QuerySegment<'b>>> {
        let segments = self.segments.iter().map(|bound| {
            Ok(QuerySegment {
                reader: bound.keyword_index()?,
                deleted: bound.segment.deleted_rows(),
            })
        });
        segments.collect()
    }

    /// A file of the request.
    pub fn part(&self, file: usize) -> Result<&'b Parts<'b>> {
        let part = self.parts.get(file);
        part.ok_or_else(|| Error::damaged("a chunk of no file"))
    }

    /// A segment by its position.
    pub fn segment(&self, position: usize) -> Result<&BoundSegment<'b>> {
        let segment = self.segments.get(position);
        segment.ok_or_else(|| Error::damaged("a chunk of no segment"))
    }

    /// The document of a chunk.
    pub fn document_of(&self, at: At) -> Result<DocumentId> {
        self.segment(at.segment)?.chunks().document(at.row)
    }

    /// The record of a document of a file.
    pub fn document(&self, file: usize, id: DocumentId) -> Result<DocumentRecord> {
        let part = self.part(file)?;
        part.catalog.documents.get(part.snapshot, id)
    }

    /// What orders chunks of equal score: path of the document, first byte, file.
    ///
    /// # Errors
    /// [`Error::Damaged`] when its row or document is missing.
    pub fn place(&self, at: At) -> Result<(String, u32, usize)> {
        let chunk = self.segment(at.segment)?.chunks().get(at.row)?;
        let file = self.file_of(at.segment);
        let record = self.document(file, chunk.document)?;
        Ok((record.path, chunk.at.span.start, file))
    }
}
