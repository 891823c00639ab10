//! The files that one request searches, as one list of segments.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use kb_types::error::{Error, Result};
use kb_types::escape::escape_line;
use kb_types::{DocumentId, Span};

use crate::catalog::{BoundSegment, Catalog, ChunkRoles};
use crate::container::Snapshot;
use crate::embed::Embedder;
use crate::index::keyword::{QuerySegment, Statistics};
use crate::progress::Reporter;
use crate::search::models::ColumnModels;
use crate::store::documents::DocumentRecord;

/// One commit of one file, and who to ask whether to go on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'p> {
    /// Identity of the file, random when it was made.
    pub(crate) uuid: [u8; 16],
    /// Where the file was opened from; `None` for bytes in memory.
    pub(crate) path: Option<&'p Path>,
    /// The pages of the commit.
    pub(crate) snapshot: &'p Snapshot<'p>,
    /// The records of the commit.
    pub(crate) catalog: &'p Catalog,
    /// The model of the file; `None` when this program cannot reproduce it.
    pub(crate) model: Option<&'p dyn Embedder>,
    /// Models that are not built in.
    pub(crate) models: &'p ColumnModels,
    /// Every step that may take long ticks it.
    pub(crate) reporter: &'p Reporter<'p>,
}

/// A chunk among the segments of all files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ChunkAddress {
    /// Position of the segment in [`Sources::segments`].
    pub(crate) segment: usize,
    /// Row of the segment.
    pub(crate) row: u32,
}

/// All segments of all files, file by file.
#[derive(Debug)]
pub(crate) struct Sources<'b> {
    /// The files, in the order of the request.
    pub(crate) files: &'b [Source<'b>],
    /// The segments of all files.
    pub(crate) segments: Vec<BoundSegment<'b>>,
    /// End of the segments of each file in `segments`.
    ends: Vec<usize>,
}

impl<'b> Sources<'b> {
    /// Locates the columns of every segment.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn bind(files: &'b [Source<'b>]) -> Result<Sources<'b>> {
        let (mut segments, mut ends) = (Vec::new(), Vec::new());
        for source in files {
            for segment in &source.catalog.segments {
                segments.push(segment.bind(source.snapshot)?);
            }
            ends.push(segments.len());
        }
        Ok(Sources {
            files,
            segments,
            ends,
        })
    }

    /// Asks whether the search shall go on; every loop over segments, documents or texts calls it.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub(crate) fn tick(&self) -> Result<()> {
        match self.files.first() {
            Some(source) => source.reporter.tick(),
            None => Ok(()),
        }
    }

    /// Positions of the segments of a file.
    pub(crate) fn positions(&self, file: usize) -> Range<usize> {
        let before = file.checked_sub(1).and_then(|before| self.ends.get(before));
        let start = before.copied().unwrap_or(0);
        start..self.ends.get(file).copied().unwrap_or(start)
    }

    /// The segments of a file.
    pub(crate) fn of_file(&self, file: usize) -> &[BoundSegment<'b>] {
        self.segments.get(self.positions(file)).unwrap_or_default()
    }

    /// The file of the segment at a position.
    pub(crate) fn file_of(&self, position: usize) -> usize {
        self.ends.partition_point(|end| *end <= position)
    }

    /// Statistics of the live chunks of all files, so that a term has the same idf in each.
    pub(crate) fn statistics(&self) -> Statistics {
        let mut all = Statistics::default();
        for source in self.files {
            let of_file = source.catalog.statistics;
            all.chunks = all.chunks.saturating_add(of_file.chunks);
            all.total_length = all.total_length.saturating_add(of_file.total_length);
        }
        all
    }

    /// The share of code among the live chunks of code and prose of all files, 0..1; 0 without any.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn code_share(&self) -> Result<f32> {
        let (mut code, mut doc) = (0_u64, 0_u64);
        for source in self.files {
            let of_file = source.catalog.class_chunks(source.snapshot)?;
            code = code.saturating_add(of_file.code);
            doc = doc.saturating_add(of_file.doc);
        }
        let both = code.saturating_add(doc);
        Ok(if both == 0 {
            0.0
        } else {
            code as f32 / both as f32
        })
    }

    /// Classes and roles of the chunks of the segment at a position.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn roles(&self, position: usize) -> Result<&'b ChunkRoles> {
        let file = self.file_of(position);
        let source = self.source(file)?;
        let number = position.saturating_sub(self.positions(file).start);
        let roles = source.catalog.roles(source.snapshot)?.get(number);
        roles.ok_or_else(|| Error::damaged("a chunk of no segment"))
    }

    /// The keyword indexes of all segments.
    pub(crate) fn keyword_segments(&'b self) -> Result<Vec<QuerySegment<'b>>> {
        let segments = self.segments.iter().map(|bound| {
            Ok(QuerySegment {
                reader: bound.keyword_index()?,
                deleted: bound.segment.deleted_rows(),
            })
        });
        segments.collect()
    }

    /// A file of the request.
    pub(crate) fn source(&self, file: usize) -> Result<&'b Source<'b>> {
        let source = self.files.get(file);
        source.ok_or_else(|| Error::damaged("a chunk of no file"))
    }

    /// A segment by its position.
    pub(crate) fn segment(&self, position: usize) -> Result<&BoundSegment<'b>> {
        let segment = self.segments.get(position);
        segment.ok_or_else(|| Error::damaged("a chunk of no segment"))
    }

    /// The document of a chunk.
    pub(crate) fn document_of(&self, address: ChunkAddress) -> Result<DocumentId> {
        self.segment(address.segment)?
            .chunks()
            .document(address.row)
    }

    /// The record of a document of a file.
    pub(crate) fn document(&self, file: usize, id: DocumentId) -> Result<DocumentRecord> {
        let source = self.source(file)?;
        source.catalog.documents.get(source.snapshot, id)
    }

    /// Which of `rows`, those of one document, have bytes of a span of its text, and the first byte of the first.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn rows_of(
        &self,
        segment: usize,
        rows: Range<u32>,
        span: Span,
    ) -> Result<(Range<u32>, u32)> {
        let chunks = self.segment(segment)?.chunks();
        let (mut low, mut high) = (rows.start, rows.end);
        // The first row that ends behind the first byte.
        while low < high {
            let middle = low + (high - low) / 2;
            if chunks.get(middle)?.at.span.end <= span.start {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let mut end = low;
        let mut start = span.start;
        while end < rows.end {
            let at = chunks.get(end)?.at.span;
            if at.start >= span.end {
                break;
            }
            if end == low {
                start = at.start;
            }
            end += 1;
        }
        Ok((low..end, start))
    }

    /// The order of chunks with equal scores: path of the document, first byte, file. Reads two records.
    ///
    /// # Errors
    /// [`Error::Damaged`] when its row or document is missing.
    pub(crate) fn tie_break_key(&self, address: ChunkAddress) -> Result<(String, u32, usize)> {
        let chunk = self.segment(address.segment)?.chunks().get(address.row)?;
        let file = self.file_of(address.segment);
        let record = self.document(file, chunk.document)?;
        Ok((record.path, chunk.at.span.start, file))
    }
}

/// How a warning names one of `count` files.
pub(crate) fn file_name(source: &Source<'_>, count: usize) -> Cow<'static, str> {
    let name = source.path.and_then(Path::file_name).filter(|_| count > 1);
    match name {
        Some(name) => escape_line(&name.to_string_lossy()).into_owned().into(),
        None => "the file".into(),
    }
}

/// The segments of the file at `path`, as a request without a model sees them.
#[cfg(test)]
pub(crate) fn with_sources<T>(
    path: &Path,
    mut use_sources: impl FnMut(&Sources<'_>) -> Result<T>,
) -> Result<T> {
    let reporter = Reporter::silent();
    let models = ColumnModels::default();
    crate::container::Container::open(path)?.read(|snapshot| {
        let catalog = Catalog::load(snapshot)?;
        let source = Source {
            uuid: [0; 16],
            path: None,
            snapshot,
            catalog: &catalog,
            model: None,
            models: &models,
            reporter: &reporter,
        };
        use_sources(&Sources::bind(&[source])?)
    })
}
