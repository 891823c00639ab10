//! Sets of rows, one bitmap a segment.

use kb_types::SegmentId;
use kb_types::error::Result;
use roaring::RoaringBitmap;
use unicode_normalization::UnicodeNormalization;

use crate::bitset::BitSet;
use crate::catalog::{Catalog, DirectoryEntry, Segment};
use crate::container::Snapshot;
use crate::resolve::GlobMatcher;
use crate::search::sources::{Source, Sources};
use crate::store::facets::{self, Facet};

/// The rows that pass, one bitmap a segment in the order of the catalog; `None`: all rows pass.
pub(crate) type Rows = Option<Vec<RoaringBitmap>>;

/// Documents that a scan passes between two looks at the clock.
// 1,024 documents take well below a millisecond (0.5 microseconds a record); a clock for each would
// cost as much.
pub(crate) const DOCUMENTS_PER_TICK: usize = 1024;

/// The rows of the documents for which `passes` holds, deleted rows included. Visits every document.
///
/// # Errors
/// [`crate::Error::Damaged`] when the documents cannot be read, [`crate::Error::Cancelled`].
pub(crate) fn rows_of_documents(
    source: &Source<'_>,
    mut passes: impl FnMut(&DirectoryEntry<'_>) -> bool,
) -> Result<Vec<RoaringBitmap>> {
    let segments = &source.catalog.segments;
    // Bits, not roaring bitmaps: documents come by number, so their rows in no order, and inserting
    // would search a container for each.
    let mut passing: Vec<BitSet> = segments
        .iter()
        .map(|segment| BitSet::none(segment.rows()))
        .collect();
    let directory = source.catalog.directory(source.snapshot)?;
    for (number, document) in directory.iter().enumerate() {
        if number % DOCUMENTS_PER_TICK == 0 {
            source.reporter.tick()?;
        }
        let segment = document.segment();
        if let (Some(passing), Some(of)) = (passing.get_mut(segment), segments.get(segment))
            && passes(&document)
        {
            let rows = document.rows();
            passing.insert_range(rows.start..rows.end.min(of.rows()));
        }
    }
    Ok(passing.iter().map(BitSet::to_roaring).collect())
}

/// As [`rows_of_documents`], of those whose path matches: documents of one folder are neighbours, and what the paths
/// in it have in common is asked once.
///
/// # Errors
/// As [`rows_of_documents`].
pub(crate) fn rows_of_paths(
    source: &Source<'_>,
    paths: &mut GlobMatcher<'_>,
) -> Result<Vec<RoaringBitmap>> {
    let mut folder = None;
    rows_of_documents(source, |document| {
        if folder != Some(document.folder_number()) {
            folder = Some(document.folder_number());
            paths.enter(document.folder());
        }
        let of_folder = paths.matches_in_folder();
        of_folder.unwrap_or_else(|| paths.is_match_here(document.path(), document.name()))
    })
}

/// The rows of the documents with a tag, given as somebody typed it, or with one inside it.
///
/// # Errors
/// [`crate::Error::Damaged`] when a bitmap does not decode.
pub(crate) fn rows_with_tag(source: &Source<'_>, tag: &str) -> Result<Vec<RoaringBitmap>> {
    let tag = normalized(tag);
    let with = source.catalog.segments.iter().map(|segment| {
        let mut rows = RoaringBitmap::new();
        let inner = inner_tags(source.snapshot, segment.id, &tag)?;
        for tag in std::iter::once(&tag).chain(&inner) {
            let (snapshot, id) = (source.snapshot, segment.id);
            let with = facets::rows_with(snapshot, id, segment.rows(), Facet::Tag, tag)?;
            rows |= with.unwrap_or_default();
        }
        Ok(rows)
    });
    with.collect()
}

/// The tags of a segment that are inside a tag: `project/alpha` is inside `project`.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(crate) fn inner_tags(
    snapshot: &Snapshot<'_>,
    segment: SegmentId,
    tag: &str,
) -> Result<Vec<String>> {
    facets::values_from(snapshot, segment, Facet::Tag, &format!("{tag}/"))
}

/// The rows of all segments that are not deleted.
pub(crate) fn live_rows(catalog: &Catalog) -> Vec<RoaringBitmap> {
    catalog.segments.iter().map(live).collect()
}

/// The rows of all segments of all files that are not deleted.
pub(crate) fn live_rows_of(sources: &Sources<'_>) -> Vec<RoaringBitmap> {
    let segments = sources.segments.iter();
    segments.map(|bound| live(bound.segment)).collect()
}

/// The rows of a segment that are not deleted.
pub(crate) fn live(segment: &Segment) -> RoaringBitmap {
    let mut all = RoaringBitmap::new();
    all.insert_range(0..segment.rows());
    if let Some(deleted) = segment.deleted_rows() {
        all -= deleted;
    }
    all
}

/// The stored form of a facet value that somebody typed: trimmed, in lower case, composed (NFC).
pub(crate) fn normalized(value: &str) -> String {
    value.trim().to_lowercase().nfc().collect()
}

/// Keeps in each bitmap of `rows` what the bitmap of the same segment in `passing` has.
pub(crate) fn intersect(rows: &mut [RoaringBitmap], passing: &[RoaringBitmap]) {
    for (rows, passing) in rows.iter_mut().zip(passing) {
        *rows &= passing;
    }
}

/// The live rows of documents below any of some folders. Reads some tens of documents for each folder and segment.
///
/// # Errors
/// [`crate::Error::Damaged`] when a document cannot be read.
pub(crate) fn rows_below(source: &Source<'_>, folders: &[&str]) -> Result<Vec<RoaringBitmap>> {
    let mut all = Vec::with_capacity(source.catalog.segments.len());
    for segment in &source.catalog.segments {
        let live = live(segment);
        let bound = segment.bind(source.snapshot)?;
        let path_of = |row| {
            let document = bound.chunks().document(row)?;
            let documents = &source.catalog.documents;
            Ok(documents.get(source.snapshot, document)?.path)
        };
        let mut below = RoaringBitmap::new();
        for folder in folders {
            // `0` comes right after `/`: everything in the folder lies between the two.
            let start = first_at(&live, &format!("{folder}/"), path_of)?;
            let end = first_at(&live, &format!("{folder}0"), path_of)?;
            below.insert_range(start..end.max(start));
        }
        all.push(below);
    }
    Ok(all)
}

/// The first of some live rows of a segment whose path is `path` or comes after it; one past all rows when there
/// is none. Rows of a segment are in the order of paths; those of deleted documents have no record.
pub(crate) fn first_at(
    live: &RoaringBitmap,
    path: &str,
    path_of: impl Fn(u32) -> Result<String>,
) -> Result<u32> {
    let count = |len: u64| u32::try_from(len).unwrap_or(u32::MAX);
    let (mut low, mut high) = (0, count(live.len()));
    while low < high {
        // Among live rows only: those of deleted documents have no path any more.
        let middle = low + (high - low) / 2;
        let Some(row) = live.select(middle) else {
            break;
        };
        if path_of(row)?.as_str() < path {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let beyond = live.max().map_or(0, |last| last.saturating_add(1));
    Ok(live.select(low).unwrap_or(beyond))
}
