//! The records of one commit.

use std::sync::OnceLock;

use kb_types::error::{Error, Result};
use kb_types::{Class, SegmentId};

use crate::catalog::directory::Directory;
use crate::catalog::path_rows::PathRows;
use crate::catalog::roles::ChunkRoles;
use crate::catalog::segment::{BoundSegment, Segment};
use crate::container::Snapshot;
use crate::index::{keyword, vector};
use crate::store::documents::{DocumentRecord, Documents};
use crate::store::effort::EffortRecord;
use crate::store::facets::{self, Facet};
use crate::store::meta::{Manifest, Meta};
use crate::store::outline::Outlines;
use crate::store::parts::PartsTable;
use crate::store::symbols::SymbolsTable;
use crate::store::vector_columns::{BUILT_IN, VectorColumns};

/// The records of one commit.
#[derive(Debug)]
pub struct Catalog {
    /// Facts about the file.
    pub meta: Meta,
    /// How much vector searches read; none where the defaults are.
    pub effort: Option<EffortRecord>,
    /// Live segments and next numbers.
    pub manifest: Manifest,
    /// Document tables.
    pub documents: Documents,
    /// Outline table.
    pub outlines: Outlines,
    /// Table of pages, sheets and slides.
    pub parts: PartsTable,
    /// Table of symbols.
    pub symbols: SymbolsTable,
    /// Columns of vectors of other models.
    pub vector_columns: VectorColumns,
    /// Live segments, by ascending number.
    pub segments: Vec<Segment>,
    /// Statistics of all live chunks, for BM25.
    pub statistics: keyword::Statistics,
    /// Its documents, once someone asked for all of them.
    directory: OnceLock<Directory>,
    /// Live chunks by class, once someone asked.
    classes: OnceLock<ClassChunks>,
    /// Classes and roles of the chunks of each segment, once someone asked.
    roles: OnceLock<Vec<ChunkRoles>>,
    /// Rows that globs let pass, once someone asked with these.
    pub path_rows: PathRows,
}

/// Live chunks of two classes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClassChunks {
    /// Chunks of program code.
    pub code: u64,
    /// Chunks of prose.
    pub doc: u64,
}

impl Catalog {
    /// Reads the records of a commit. Touches rows and branch pages only, no extent.
    ///
    /// # Errors
    /// [`Error::Damaged`] and [`Error::FormatUnsupported`].
    pub fn load(snapshot: &Snapshot<'_>) -> Result<Catalog> {
        Catalog::load_after(snapshot, None)
    }

    /// As [`Catalog::load`]; segments that `before`, an earlier commit of the same file, has too are
    /// taken from there, so that following commits costs what has changed.
    ///
    /// # Errors
    /// As [`Catalog::load`].
    pub fn load_after(snapshot: &Snapshot<'_>, before: Option<&Catalog>) -> Result<Catalog> {
        let mut catalog = Catalog::without_segments(snapshot)?;
        let Catalog {
            meta,
            manifest,
            vector_columns,
            segments,
            statistics,
            ..
        } = &mut catalog;
        for number in &manifest.segments {
            let id = SegmentId(*number);
            let previous = before.and_then(|before| before.segment(id).ok());
            let chunk_limit_bytes = meta.chunker.cap_bytes;
            let segment = Segment::load(snapshot, id, previous, chunk_limit_bytes, vector_columns)?;
            // Readers take the codec of a segment, writers and merges that of the file; rows copied
            // under another codec would be read as other vectors without any error.
            if segment.records.vectors.codec != meta.embedder.codec {
                return Err(Error::damaged(format!(
                    "the vectors of segment {number} are stored in another way than the file says"
                )));
            }
            let more = &segment.records.more_vectors;
            if !more.iter().all(|index| index.agrees(vector_columns)) {
                return Err(Error::damaged(format!(
                    "a column of vectors of segment {number} is another one than the file says"
                )));
            }
            statistics.chunks += u64::from(segment.live_rows());
            statistics.total_length = statistics
                .total_length
                // Sums of forged lengths may overflow; they only weigh scores, so that the largest
                // number does.
                .saturating_add(segment.live_length());
            segments.push(segment);
        }
        Ok(catalog)
    }

    /// The records of a file with an older format that is made anew: facts, roots and documents. Its segments may be
    /// written in a way that this program does not read, so the catalog has none.
    ///
    /// # Errors
    /// As [`Catalog::load`].
    #[cfg(feature = "ingest")]
    pub fn load_older(snapshot: &Snapshot<'_>) -> Result<Catalog> {
        Catalog::without_segments(snapshot)
    }

    /// All but the segments and their statistics.
    fn without_segments(snapshot: &Snapshot<'_>) -> Result<Catalog> {
        let meta = Meta::read(snapshot)?;
        // Before any segment: a program that is too old says so, and does not call the file
        // damaged.
        vector::check_codec(meta.embedder.codec)?;
        let symbols = SymbolsTable::locate(snapshot)?;
        let vector_columns = VectorColumns::read(snapshot)?;
        for column in &vector_columns.list {
            vector::check_codec(column.record.codec)?;
        }
        Ok(Catalog {
            effort: EffortRecord::read(snapshot)?,
            meta,
            // Its segments ascend strictly: none is loaded twice, or a million times.
            manifest: Manifest::read(snapshot)?,
            documents: Documents::locate(snapshot)?,
            outlines: Outlines::locate(snapshot, symbols.clone())?,
            parts: PartsTable::locate(snapshot)?,
            symbols,
            vector_columns,
            segments: Vec::new(),
            statistics: keyword::Statistics::default(),
            directory: OnceLock::new(),
            classes: OnceLock::new(),
            roles: OnceLock::new(),
            path_rows: PathRows::default(),
        })
    }

    /// How much vector searches read.
    pub fn vector_effort(&self) -> vector::Effort {
        self.effort
            .as_ref()
            .map_or(vector::Effort::default(), |record| vector::Effort {
                reach: record.reach,
                candidates: record.candidates,
            })
    }

    /// How much searches of a column of vectors read.
    pub fn column_effort(&self, number: u16) -> vector::Effort {
        if number == BUILT_IN {
            return self.vector_effort();
        }
        let column = self.vector_columns.numbered(number);
        let effort = column.and_then(|column| column.effort.as_ref());
        effort.map_or(vector::Effort::default(), |record| vector::Effort {
            reach: record.reach,
            candidates: record.candidates,
        })
    }

    /// Live chunks of segments below a number: chunks that were there before the segment of that number was made, and
    /// were not merged with later ones.
    pub fn live_rows_before(&self, segment: u32) -> u64 {
        let before = self.segments.iter().filter(|it| it.id.0 < segment);
        before.map(|it| u64::from(it.live_rows())).sum()
    }

    /// Whether a segment has inverted lists of the built-in column.
    pub fn has_lists(&self) -> bool {
        let mut segments = self.segments.iter();
        segments.any(|segment| segment.records.vectors.lists > 0)
    }

    /// Live chunks by class. Read when first asked for, two bitmaps a segment, and kept as long as the catalog
    /// is.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn class_chunks(&self, snapshot: &Snapshot<'_>) -> Result<ClassChunks> {
        if let Some(classes) = self.classes.get() {
            // Two threads may read it at once, and one result is kept: cheaper than a lock that all
            // wait for.
            return Ok(*classes);
        }
        let count = |class: Class| {
            let mut live = 0;
            for segment in &self.segments {
                let (rows, value) = (segment.rows(), class.name());
                let of_class = facets::rows_with(snapshot, segment.id, rows, Facet::Class, value)?;
                if let Some(of_class) = of_class {
                    let deleted = segment.deleted_rows();
                    live += of_class.len()
                        - deleted.map_or(0, |deleted| of_class.intersection_len(deleted));
                }
            }
            Ok::<u64, Error>(live)
        };
        let read = ClassChunks {
            code: count(Class::Code)?,
            doc: count(Class::Doc)?,
        };
        Ok(*self.classes.get_or_init(|| read))
    }

    /// Classes and roles of the chunks of each segment, in the order of the segments. Read when first asked for,
    /// eight bitmaps a segment, and kept as long as the catalog is.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn roles(&self, snapshot: &Snapshot<'_>) -> Result<&[ChunkRoles]> {
        if let Some(roles) = self.roles.get() {
            return Ok(roles);
        }
        let read = self.segments.iter().map(|segment| {
            let (id, rows) = (segment.id, segment.rows());
            ChunkRoles::read(|facet, value| facets::rows_with(snapshot, id, rows, facet, value))
        });
        let read: Vec<ChunkRoles> = read.collect::<Result<_>>()?;
        Ok(self.roles.get_or_init(|| read))
    }

    /// All documents of this commit. Read when it is first asked for, 0.5 microseconds a document,
    /// and kept as long as the catalog is.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a record does not decode.
    pub fn directory(&self, snapshot: &Snapshot<'_>) -> Result<&Directory> {
        if let Some(directory) = self.directory.get() {
            return Ok(directory);
        }
        let read = Directory::read(snapshot, &self.documents, &self.segments)?;
        Ok(self.directory.get_or_init(|| read))
    }

    /// The segment that holds the chunks of a document, over a snapshot; `None` when it has none.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the document names a segment that is not live.
    pub fn bind_document<'s>(
        &'s self,
        snapshot: &'s Snapshot<'_>,
        record: &DocumentRecord,
    ) -> Result<Option<BoundSegment<'s>>> {
        // Documents without text name no segment that is live, see `NO_SEGMENT`.
        if record.rows == 0 {
            return Ok(None);
        }
        self.segment(record.segment())?.bind(snapshot).map(Some)
    }

    /// The segment of that number.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a row names a segment that is not live.
    pub fn segment(&self, id: SegmentId) -> Result<&Segment> {
        let at = self
            .segments
            .binary_search_by_key(&id, |segment| segment.id);
        at.ok()
            .and_then(|at| self.segments.get(at))
            .ok_or_else(|| Error::damaged(format!("segment {} is named but not live", id.0)))
    }
}
