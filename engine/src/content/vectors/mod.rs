//! The stored vectors of a commit, in place, and which chunks they are of.

mod columns;

use kb_types::error::{Error, Result};
use kb_types::{BUILT_IN_VECTORS, SegmentId};

use crate::catalog::Segment;
use crate::container::{MappedBytes, SlotIdentity};
use crate::content::CommitView;
use crate::index::vector::reader::{Reader, dequantise};
use crate::index::vector::{Codec, VectorRecord};
use crate::store::vector_columns::BUILT_IN;

pub use columns::{ChunkPlace, ColumnRecall, VectorColumn};
pub(crate) use columns::{chunks_in_order, live_rows, vector_columns};

/// The vectors of one column of one commit, as they lie in the file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Vectors {
    /// Id of the model that made them; of a column of another model what it says.
    pub model: String,
    /// Dimensions, without padding.
    pub dim: u32,
    /// How rows are stored.
    pub codec: Codec,
    /// Runs of rows, by segment and row.
    pub blocks: Vec<VectorBlock>,
    /// Number of the column; 0: the built-in one.
    column: u16,
    /// The commit.
    identity: SlotIdentity,
}

/// Rows of one segment that lie next to each other: at most 1 MiB, because larger columns are divided.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct VectorBlock {
    /// The segment.
    pub segment: SegmentId,
    /// First row in the segment.
    pub first_row: u32,
    /// Number of rows, deleted ones included.
    pub rows: u32,
    /// Bytes from one row to the next: [`Vectors::dim`] signed bytes, or half as many with two
    /// dimensions each, padded with zeros.
    pub stride_bytes: u32,
    /// A signed byte times this is a component of the vector.
    pub scale: f32,
    /// The bytes of all rows.
    pub bytes: MappedBytes,
}

/// The chunk that a vector is of.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VectorRow {
    /// Path of its document.
    pub document: String,
    /// Number of the chunk in its document, from 0.
    pub chunk_index: u32,
    /// Whether the chunk is in the file no more.
    pub is_deleted: bool,
    /// Whether the chunk has a vector in the column; where not, the row is zeros. In the built-in column all have.
    pub has_vector: bool,
}

impl Vectors {
    /// Rows of all blocks, deleted ones included.
    pub fn rows(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.rows)).sum()
    }

    /// Whether the bytes are still those of the commit: a writer may use the place of an old one again.
    /// Those of a file that nobody writes always are.
    pub fn is_current(&self) -> bool {
        self.blocks.iter().all(|block| block.bytes.is_current())
    }

    /// All vectors as numbers, `[rows, dim]`, row-major: by cosine about of unit length.
    pub fn to_f32(&self) -> Vec<f32> {
        let rows = usize::try_from(self.rows()).unwrap_or(0);
        let mut numbers = Vec::with_capacity(rows.saturating_mul(self.dim as usize));
        for block in &self.blocks {
            self.append_f32(block, &mut numbers);
        }
        numbers
    }

    /// The vectors of one of the blocks, likewise.
    pub fn block_to_f32(&self, block: &VectorBlock) -> Vec<f32> {
        let mut numbers = Vec::new();
        self.append_f32(block, &mut numbers);
        numbers
    }

    fn append_f32(&self, block: &VectorBlock, numbers: &mut Vec<f32>) {
        let stride = (block.stride_bytes as usize).max(1);
        for row in block.bytes.as_slice().chunks_exact(stride) {
            numbers.extend(dequantise(row, self.codec, self.dim as usize, block.scale));
        }
    }
}

/// See [`crate::Kb::vectors`].
pub(crate) fn vectors(commit: CommitView<'_>) -> Result<Vectors> {
    let meta = &commit.catalog.meta;
    let mut vectors = Vectors {
        model: meta.embedder.id.clone(),
        dim: meta.embedder.dim,
        codec: Codec::of(meta.embedder.codec)?,
        blocks: Vec::new(),
        column: BUILT_IN,
        identity: commit.snapshot.identity(),
    };
    for segment in &commit.catalog.segments {
        let bound = segment.bind(commit.snapshot)?;
        vectors.add(commit, segment, &segment.records.vectors, bound.vectors()?)?;
    }
    Ok(vectors)
}

/// See [`crate::Kb::vectors_of`].
pub(crate) fn vectors_of(commit: CommitView<'_>, name: &str) -> Result<Vectors> {
    if name == BUILT_IN_VECTORS {
        return vectors(commit);
    }
    let columns = &commit.catalog.vector_columns;
    let column = columns.named(name).ok_or_else(|| Error::InvalidArgument {
        argument: "column",
        reason: format!(
            "there is no column of vectors {name:?}; the file has {}",
            columns.names()
        ),
    })?;
    let mut vectors = Vectors {
        model: column.record.model.clone(),
        dim: column.record.dim,
        codec: Codec::of(column.record.codec)?,
        blocks: Vec::new(),
        column: column.number,
        identity: commit.snapshot.identity(),
    };
    for segment in &commit.catalog.segments {
        let bound = segment.bind(commit.snapshot)?;
        if let Some(of_segment) = bound.more_vectors(column.number) {
            vectors.add(
                commit,
                segment,
                &of_segment.index.record,
                of_segment.reader()?,
            )?;
        }
    }
    Ok(vectors)
}

impl Vectors {
    /// Appends the rows of a segment.
    fn add(
        &mut self,
        commit: CommitView<'_>,
        segment: &Segment,
        record: &VectorRecord,
        reader: Reader<'_>,
    ) -> Result<()> {
        let mut first_row = 0u32;
        for extent in reader.extents() {
            let bytes = extent?;
            let rows = u32::try_from(bytes.len() / record.stride.max(1) as usize)
                .map_err(|_| Error::damaged("an extent has too many vector rows"))?;
            let kept = commit.snapshot.keep(bytes);
            self.blocks.push(VectorBlock {
                segment: segment.id,
                first_row,
                rows,
                stride_bytes: record.stride,
                // 127, not 128: the range is symmetric, so that negating a vector negates its
                // stored row.
                scale: record.range / 127.0,
                bytes: kept.ok_or_else(|| Error::damaged("vector rows outside the file"))?,
            });
            first_row = first_row.saturating_add(rows);
        }
        Ok(())
    }
}

/// See [`crate::Kb::vector_rows`].
pub(crate) fn vector_rows(commit: CommitView<'_>, of: &Vectors) -> Result<Vec<VectorRow>> {
    // Rows of another commit may be of other chunks.
    if commit.snapshot.identity() != of.identity {
        return Err(Error::StaleCursor);
    }
    let mut found = Vec::new();
    for segment in &commit.catalog.segments {
        let mut more = segment.records.more_vectors.iter();
        let index = more.find(|index| index.number == of.column);
        if of.column != BUILT_IN && index.is_none() {
            continue;
        }
        let chunks = segment.bind(commit.snapshot)?;
        let chunks = chunks.chunks();
        let mut current = None;
        for row in 0..segment.rows() {
            let document = chunks.document(row)?;
            let is_deleted = is_deleted(segment, row);
            // A document that was removed has no record any more.
            let (path, first) = match current.take() {
                Some((id, path, first)) if id == document => (path, first),
                // Its first row cannot be told from a row within it, but nobody asks for the number
                // of a chunk that is gone.
                _ if is_deleted => (String::new(), row),
                _ => (
                    commit
                        .catalog
                        .documents
                        .get(commit.snapshot, document)?
                        .path,
                    row,
                ),
            };
            found.push(VectorRow {
                document: path.clone(),
                chunk_index: row - first,
                is_deleted,
                has_vector: index.is_none_or(|index| index.present.contains(row)),
            });
            current = Some((document, path, first));
        }
    }
    Ok(found)
}

fn is_deleted(segment: &Segment, row: u32) -> bool {
    segment
        .deleted_rows()
        .is_some_and(|deleted| deleted.contains(row))
}

#[cfg(feature = "ingest")]
#[cfg(test)]
mod tests {
    use crate::index::vector::Codec;
    use crate::ingest::options::IndexOptions;
    use crate::kb::{Kb, KbWriter};
    use crate::progress::Progress;

    fn folder_of(files: usize) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let sources = folder.path().join("sources");
        std::fs::create_dir(&sources).unwrap();
        for number in 0..files {
            let text = format!("# Gauge {number}\n\nHigh water at pier {number}.\n");
            std::fs::write(sources.join(format!("{number:03}.md")), text).unwrap();
        }
        folder
    }

    fn indexed(folder: &tempfile::TempDir, codec: Codec) -> Kb {
        let path = folder.path().join("all.kb");
        let options = IndexOptions::new().vectors(Some(codec));
        let sources = [folder.path().join("sources")];
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        writer
            .index(&sources, &options, &mut Progress::ignore)
            .unwrap();
        Kb::open(&path).unwrap()
    }

    #[test]
    fn rows_are_the_vectors_of_their_chunks() {
        for codec in [Codec::I8, Codec::I4] {
            let folder = folder_of(9);
            let kb = indexed(&folder, codec);
            let vectors = kb.vectors().unwrap();
            let numbers = vectors.to_f32();
            let dim = vectors.dim as usize;
            assert_eq!((vectors.rows(), vectors.codec), (9, codec));
            assert_eq!(numbers.len(), 9 * dim);
            let rows = kb.vector_rows(&vectors).unwrap();
            assert_eq!(rows[4].document, "004.md");
            let (query, _) = kb.embed("# Gauge 4\n\nHigh water at pier 4.").unwrap();
            let nearest = numbers
                .chunks_exact(dim)
                .map(|row| row.iter().zip(&query).map(|(a, b)| a * b).sum::<f32>());
            let best = nearest.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
            assert_eq!(best.unwrap().0, 4);
            assert!(best.unwrap().1 > 0.9, "{best:?}");
        }
    }

    #[test]
    fn vectors_outlive_the_handle_and_the_file() {
        let folder = folder_of(3);
        let kb = indexed(&folder, Codec::I8);
        let vectors = kb.vectors().unwrap();
        let before = vectors.to_f32();
        drop(kb);
        std::fs::remove_file(folder.path().join("all.kb")).unwrap();
        assert!(vectors.is_current());
        assert_eq!(vectors.to_f32(), before);
    }

    #[test]
    fn rows_of_another_commit_are_refused() {
        let folder = folder_of(3);
        let kb = indexed(&folder, Codec::I8);
        let vectors = kb.vectors().unwrap();
        let mut writer = KbWriter::open(folder.path().join("all.kb")).unwrap();
        writer.remove("001.md").unwrap();
        writer.commit().unwrap();
        let stale = kb.vector_rows(&vectors).unwrap_err();
        assert_eq!(stale.code(), "CONTINUATION_STALE");
        let rows = kb.vector_rows(&kb.vectors().unwrap()).unwrap();
        let deleted: Vec<bool> = rows.iter().map(|row| row.is_deleted).collect();
        assert_eq!(deleted, [false, true, false]);
        assert_eq!(rows[2].document, "002.md");
    }
}
