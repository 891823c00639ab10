//! The chunks that have a term of the keyword index, in all segments.

use kb_types::error::Result;

use crate::index::keyword::QuerySegment;
use crate::search::sources::{ChunkAddress, Sources};

/// Rows in which the words of a term are looked for, in all segments.
const ROWS_OF_TERM: usize = 2;

/// The chunks that have a term, deleted ones included.
pub(super) fn chunks_of(term: &str, segments: &[QuerySegment<'_>]) -> Result<u64> {
    let mut chunks = 0;
    for segment in segments {
        let list = segment.reader.postings(term)?;
        chunks += list.map_or(0, |list| u64::from(list.count()));
    }
    Ok(chunks)
}

/// Some chunks that have a term.
pub(super) fn rows_of(term: &str, sources: &Sources<'_>) -> Result<Vec<ChunkAddress>> {
    let mut addresses = Vec::new();
    for (number, segment) in sources.keyword_segments()?.iter().enumerate() {
        let rows = segment.reader.first_rows(term)?;
        let is_live = |row: &u32| !segment.deleted.is_some_and(|rows| rows.contains(*row));
        let room = ROWS_OF_TERM - addresses.len();
        let live = rows.into_iter().filter(is_live).take(room);
        addresses.extend(live.map(|row| ChunkAddress {
            segment: number,
            row,
        }));
        if addresses.len() >= ROWS_OF_TERM {
            break;
        }
    }
    Ok(addresses)
}
