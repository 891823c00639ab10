//! Queries drawn from the headings and texts of a file, to measure searches of it.

use kb_types::error::Result;

use crate::catalog::{BoundSegment, Catalog, Segment};
use crate::container::Snapshot;
use crate::store::outline::SectionPath;

/// Most words of a query.
// About the length of a typed query.
const WORDS: usize = 6;

/// See [`crate::Kb::sample_queries`].
pub(crate) fn sample_queries(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    count: usize,
) -> Result<Vec<String>> {
    let rows = |segment: &Segment| u64::from(segment.rows());
    let all: u64 = catalog.segments.iter().map(rows).sum();
    let step = all.checked_div(count as u64).unwrap_or(0).max(1);
    let mut queries = Vec::new();
    let mut first = 0;
    for segment in &catalog.segments {
        let end = first + rows(segment);
        let bound = segment.bind(snapshot)?;
        let wanted = (first.next_multiple_of(step)..end)
            .step_by(usize::try_from(step).unwrap_or(usize::MAX));
        for at in wanted.take(count - queries.len()) {
            // A row number: the segment has no more than u32 can say.
            let row = u32::try_from(at - first).unwrap_or(u32::MAX);
            let deleted = segment.deleted_rows();
            if !deleted.is_some_and(|deleted| deleted.contains(row)) {
                let turn = queries.len() % 2 == 0;
                queries.extend(query_of(snapshot, (catalog, &bound), row, turn)?);
            }
        }
        first = end;
    }
    Ok(queries)
}

/// The first words of the nearest heading above a chunk, or of the chunk; `None` when neither has a word.
fn query_of(
    snapshot: &Snapshot<'_>,
    (catalog, segment): (&Catalog, &BoundSegment<'_>),
    row: u32,
    prefers_heading: bool,
) -> Result<Option<String>> {
    let chunk = segment.chunks().get(row)?;
    if prefers_heading {
        let headings = catalog.outlines.get(snapshot, chunk.document)?;
        let nearest = SectionPath::new(&headings).at(chunk.at.span.start).last();
        if let Some(query) = nearest.and_then(first_words) {
            return Ok(Some(query));
        }
    }
    Ok(first_words(&segment.blocks()?.chunk(row)?))
}

/// The first words of a text, joined by spaces; a word has at least one letter.
fn first_words(text: &str) -> Option<String> {
    let words = text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    let words = words.filter(|word| word.chars().any(char::is_alphabetic));
    let words: Vec<&str> = words.take(WORDS).collect();
    (!words.is_empty()).then(|| words.join(" "))
}
