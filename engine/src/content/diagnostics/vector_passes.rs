//! What `kb bench` measures beside searches: passes over the vector rows. No clock runs here.

use std::hint::black_box;

use kb_types::error::Result;

use crate::catalog::{BoundSegment, Segment};
use crate::content::CommitView;
use crate::index::vector::query::Query;
use crate::index::vector::{KnnSegment, Scan, knn};

/// Neighbours that a scan keeps.
// Recall is given at ten everywhere in docs and benchmarks.
const NEIGHBOURS: usize = 10;

/// What one pass over the vector rows read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VectorPass {
    /// Rows, deleted ones included.
    pub rows: u64,
    /// Their bytes, padding included.
    pub bytes: u64,
}

/// See [`crate::Kb::read_vector_rows`].
pub(crate) fn read_vector_rows(commit: CommitView<'_>, times: u32) -> Result<VectorPass> {
    vector_passes(commit, times, |segment| {
        for extent in segment.vectors()?.extents() {
            black_box(sum(extent?));
        }
        Ok(())
    })
}

/// See [`crate::Kb::scan_vector_rows`].
pub(crate) fn scan_vector_rows(commit: CommitView<'_>, times: u32) -> Result<VectorPass> {
    vector_passes(commit, times, |segment| {
        let vectors = segment.vectors()?;
        let record = &segment.segment.records.vectors;
        if vectors.rows() == 0 {
            return Ok(());
        }
        if let Some(query) = Query::new(&vectors.vector(0)?, record.range) {
            let part = KnnSegment {
                reader: &vectors,
                filter: None,
                deleted: None,
            };
            black_box(knn(&[part], &query, NEIGHBOURS, Scan::Exact)?);
        }
        Ok(())
    })
}

fn vector_passes(
    commit: CommitView<'_>,
    times: u32,
    pass: impl Fn(&BoundSegment<'_>) -> Result<()>,
) -> Result<VectorPass> {
    let segments = commit.catalog.segments.iter();
    let bound = segments.map(|segment: &Segment| segment.bind(commit.snapshot));
    let bound = bound.collect::<Result<Vec<BoundSegment<'_>>>>()?;
    for _ in 0..times {
        bound.iter().try_for_each(&pass)?;
    }
    let mut whole = VectorPass::default();
    for segment in &bound {
        let record = &segment.segment.records.vectors;
        whole.rows += u64::from(record.rows);
        whole.bytes += u64::from(record.rows) * u64::from(record.stride);
    }
    Ok(whole)
}

/// The sum of all 8-byte words, in four accumulators, so that additions do not wait for each other.
/// Extents are whole rows, which are multiples of 32 bytes.
fn sum(bytes: &[u8]) -> u64 {
    let mut sums = [0u64; 4];
    for piece in bytes.chunks_exact(32) {
        let (words, _) = piece.as_chunks::<8>();
        for (sum, word) in sums.iter_mut().zip(words) {
            *sum = sum.wrapping_add(u64::from_le_bytes(*word));
        }
    }
    sums.into_iter().fold(0, u64::wrapping_add)
}

#[cfg(feature = "ingest")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::kb::{Kb, KbWriter};

    fn kb(documents: &[(&str, &str)]) -> (tempfile::TempDir, Kb) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        for half in documents.chunks(2) {
            for (name, text) in half {
                writer.add_bytes(name, text.as_bytes()).unwrap();
            }
            writer.commit().unwrap();
        }
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        (folder, kb)
    }

    #[test]
    fn sample_queries_are_headings_and_first_words_in_turn() {
        let (_folder, kb) = kb(&[
            (
                "a.md",
                "# High tide\n\nThe sea, it rises: twice a day or so.\n",
            ),
            (
                "b.md",
                "# Ebb\n\n--- 12 34 ---\none two three four five six",
            ),
            ("c.txt", "1 2 3"),
            ("d.md", "# Moon\n\nIt pulls.\n"),
        ]);
        let queries = kb.sample_queries(10).unwrap();
        assert_eq!(
            queries,
            ["High tide", "Ebb one two three four five", "Moon"]
        );
        assert_eq!(kb.sample_queries(10).unwrap(), queries);
        assert_eq!(kb.sample_queries(1).unwrap(), ["High tide"]);
        // Two of four chunks: the first and the third, which has no word.
        assert_eq!(kb.sample_queries(2).unwrap(), ["High tide"]);
        assert!(kb.sample_queries(0).unwrap().is_empty());
    }

    #[test]
    fn sample_queries_come_from_all_segments_but_no_deleted_chunk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap().without_merges();
        for number in 0..9 {
            let (name, text) = (format!("{number}.txt"), format!("word{number}"));
            writer.add_bytes(&name, text.as_bytes()).unwrap();
            if number % 3 == 2 {
                writer.commit().unwrap();
            }
        }
        writer.remove("4.txt").unwrap();
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        let sampled = |count| kb.sample_queries(count).unwrap().join(" ");
        assert_eq!(
            sampled(9),
            "word0 word1 word2 word3 word5 word6 word7 word8"
        );
        assert_eq!(sampled(5), "word0 word1 word2 word3 word6");
        assert_eq!(sampled(3), "word0 word3 word6");
        assert_eq!(sampled(2), "word0 word8");
    }

    #[test]
    fn both_readings_go_over_every_row_of_every_segment() {
        let (_folder, kb) = kb(&[("a.md", "one"), ("b.md", "two"), ("c.md", "three")]);
        let info = kb.info().unwrap();
        let read = kb.read_vector_rows(2).unwrap();
        assert_eq!(read.rows, 3);
        assert_eq!(read.bytes, 3 * u64::from(info.dim.next_multiple_of(64)));
        assert_eq!(kb.scan_vector_rows(2).unwrap(), read);
    }

    #[test]
    fn a_file_without_chunks_has_no_question_and_no_row() {
        let (_folder, kb) = kb(&[]);
        assert!(kb.sample_queries(5).unwrap().is_empty());
        assert_eq!(kb.read_vector_rows(1).unwrap(), VectorPass::default());
        assert_eq!(kb.scan_vector_rows(1).unwrap(), VectorPass::default());
    }

    #[test]
    fn every_byte_is_added() {
        let mut bytes = vec![0u8; 64];
        for at in 0..64 {
            bytes[at] = 1;
            assert_ne!(sum(&bytes), 0, "{at}");
            bytes[at] = 0;
        }
    }
}
