//! Which rows of a segment a pattern may match in, by its trigrams.

use kb_types::error::Result;
use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use crate::catalog::BoundSegment;
use crate::index::trigram::Reader;
use crate::index::trigram::trigrams::Trigram;
use crate::search::regex::trigram_query::TrigramQuery;

/// Trigrams in a row that exclude no candidate, after which the other trigrams of a condition are skipped.
// Each costs the decoding of a list. What the skipped ones would exclude, the search of the text
// excludes.
const IDLE_LIMIT: usize = 32;

/// Most bytes of decoded lists that are kept for later conditions of the same pattern.
const KNOWN_LIMIT_BYTES: usize = 32 << 20;

/// Keeps of `rows` those of units that the trigrams of a pattern allow; with `is_whole` those of documents, where the
/// trigrams of a match may be in several units. Calls `tick` for each trigram. Time is linear in the rows and in the
/// lists of the trigrams that are looked at.
///
/// # Errors
/// [`Error::Damaged`](crate::Error::Damaged); what `tick` says.
pub(super) fn keep_candidates(
    bound: &BoundSegment<'_>,
    query: &TrigramQuery,
    is_whole: bool,
    rows: &mut RoaringBitmap,
    tick: &dyn Fn() -> Result<()>,
) -> Result<()> {
    let Some(reader) = bound.trigrams()? else {
        return Ok(());
    };
    let documents = match is_whole {
        true => Some(Documents::of(bound, &reader)?),
        false => None,
    };
    let mut evaluation = Evaluation {
        reader,
        documents,
        known: FxHashMap::default(),
        known_bytes: 0,
        tick,
    };
    if let Some(found) = evaluation.evaluate(query)? {
        *rows &= evaluation.rows_of(&found)?;
    }
    Ok(())
}

/// The documents of a segment, numbered in the order of their rows.
struct Documents {
    /// First row of each, and the end of the last.
    starts: Vec<u32>,
    /// First and last document of each unit.
    of_units: Vec<(u32, u32)>,
}

impl Documents {
    fn of(bound: &BoundSegment<'_>, reader: &Reader<'_>) -> Result<Documents> {
        let chunks = bound.chunks();
        let rows = bound.segment.rows();
        let (mut starts, mut last) = (Vec::new(), None);
        let mut of_units = Vec::with_capacity(reader.units() as usize);
        for unit in 0..reader.units() {
            let mut first = None;
            // Units have all rows, one after the other.
            for row in reader.rows_of(unit)? {
                let document = Some(chunks.document(row)?);
                if document != last {
                    starts.push(row);
                    last = document;
                }
                first.get_or_insert(starts.len().saturating_sub(1) as u32);
            }
            let end = starts.len().saturating_sub(1) as u32;
            of_units.push((first.unwrap_or(end), end));
        }
        starts.push(rows);
        Ok(Documents { starts, of_units })
    }
}

/// Evaluates a query over one segment: to units, or to documents.
struct Evaluation<'b> {
    reader: Reader<'b>,
    /// Where whole documents are looked for.
    documents: Option<Documents>,
    /// Trigrams that were looked up.
    known: FxHashMap<Trigram, RoaringBitmap>,
    known_bytes: usize,
    tick: &'b dyn Fn() -> Result<()>,
}

impl Evaluation<'_> {
    /// What a query leaves, or more; `None`: everything.
    fn evaluate(&mut self, query: &TrigramQuery) -> Result<Option<RoaringBitmap>> {
        Ok(match query {
            TrigramQuery::Any => None,
            TrigramQuery::Nothing => Some(RoaringBitmap::new()),
            TrigramQuery::Has(trigram) => Some(self.with(*trigram)?),
            TrigramQuery::And(all) => {
                let mut found: Option<RoaringBitmap> = None;
                let mut idle = 0;
                for query in all {
                    let Some(of_one) = self.evaluate(query)? else {
                        continue;
                    };
                    let both = match found.take() {
                        Some(found) => {
                            let before = found.len();
                            let both = found & of_one;
                            idle = if both.len() < before { 0 } else { idle + 1 };
                            both
                        }
                        None => of_one,
                    };
                    if both.is_empty() || idle >= IDLE_LIMIT {
                        return Ok(Some(both));
                    }
                    found = Some(both);
                }
                found
            }
            TrigramQuery::Or(all) => {
                let mut found = RoaringBitmap::new();
                for query in all {
                    match self.evaluate(query)? {
                        Some(of_one) => found |= of_one,
                        None => return Ok(None),
                    }
                }
                Some(found)
            }
        })
    }

    fn with(&mut self, trigram: Trigram) -> Result<RoaringBitmap> {
        if let Some(known) = self.known.get(&trigram) {
            return Ok(known.clone());
        }
        (self.tick)()?;
        let units = self.reader.units_with(trigram)?;
        let found: RoaringBitmap = match &self.documents {
            Some(documents) => {
                let mut found = RoaringBitmap::new();
                let mut next = 0;
                for unit in units {
                    if let Some((first, last)) = documents.of_units.get(unit as usize)
                        && *last >= next
                    {
                        found.insert_range((*first).max(next)..=*last);
                        next = last.saturating_add(1);
                    }
                }
                found
            }
            None => units.into_iter().collect(),
        };
        let bytes = found.serialized_size();
        if self.known_bytes + bytes <= KNOWN_LIMIT_BYTES {
            self.known_bytes += bytes;
            self.known.insert(trigram, found.clone());
        }
        Ok(found)
    }

    /// The rows of units, or of documents.
    fn rows_of(&self, found: &RoaringBitmap) -> Result<RoaringBitmap> {
        let mut rows = RoaringBitmap::new();
        for number in found {
            match &self.documents {
                Some(documents) => {
                    let at = number as usize;
                    if let Some([start, end]) = documents.starts.get(at..at + 2) {
                        rows.insert_range(*start..*end);
                    }
                }
                None => {
                    rows.insert_range(self.reader.rows_of(number)?);
                }
            }
        }
        Ok(rows)
    }
}
