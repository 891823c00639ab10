//! Which rows of a segment a pattern may match in, by its trigrams.

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use crate::catalog::BoundSegment;
use crate::error::Result;
use crate::index::trigram::Reader;
use crate::index::trigram::trigrams::Trigram;
use crate::search::regex::trigram_query::TrigramQuery;

/// Keeps of `rows` those of units that the trigrams of a pattern allow; with `is_whole` those of documents, where the
/// trigrams of a match may be in several units.
///
/// # Errors
/// [`Error::Damaged`](crate::Error::Damaged).
pub(super) fn keep_candidates(
    bound: &BoundSegment<'_>,
    query: &TrigramQuery,
    is_whole: bool,
    rows: &mut RoaringBitmap,
) -> Result<()> {
    let Some(reader) = bound.trigrams()? else {
        return Ok(());
    };
    let mut evaluation = Evaluation {
        bound,
        reader,
        is_whole,
        known: FxHashMap::default(),
    };
    let Some(found) = evaluation.evaluate(query)? else {
        return Ok(());
    };
    *rows &= if is_whole {
        found
    } else {
        evaluation.rows_of_units(&found)?
    };
    Ok(())
}

/// Evaluates a query over one segment: to units, or to rows of whole documents.
struct Evaluation<'b> {
    bound: &'b BoundSegment<'b>,
    reader: Reader<'b>,
    is_whole: bool,
    /// Trigrams that were looked up.
    known: FxHashMap<Trigram, RoaringBitmap>,
}

impl Evaluation<'_> {
    /// `None`: everything.
    fn evaluate(&mut self, query: &TrigramQuery) -> Result<Option<RoaringBitmap>> {
        Ok(match query {
            TrigramQuery::Any => None,
            TrigramQuery::Nothing => Some(RoaringBitmap::new()),
            TrigramQuery::Has(trigram) => Some(self.with(*trigram)?),
            TrigramQuery::And(all) => {
                let mut found: Option<RoaringBitmap> = None;
                for query in all {
                    let Some(of_one) = self.evaluate(query)? else {
                        continue;
                    };
                    let both = match found {
                        Some(found) => found & of_one,
                        None => of_one,
                    };
                    if both.is_empty() {
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
        let mut found: RoaringBitmap = self.reader.units_with(trigram)?.into_iter().collect();
        if self.is_whole {
            found = self.rows_of_units(&found)?;
            self.add_rest_of_documents(&mut found)?;
        }
        self.known.insert(trigram, found.clone());
        Ok(found)
    }

    fn rows_of_units(&self, units: &RoaringBitmap) -> Result<RoaringBitmap> {
        let mut rows = RoaringBitmap::new();
        for unit in units {
            rows.insert_range(self.reader.rows_of(unit)?);
        }
        Ok(rows)
    }

    /// Adds the rows of the documents that the first and last rows of each run are of.
    fn add_rest_of_documents(&self, rows: &mut RoaringBitmap) -> Result<()> {
        let chunks = self.bound.chunks();
        let count = self.bound.segment.rows();
        let mut runs = Vec::new();
        let mut next = 0;
        while let Some(first) = rows.range(next..).next() {
            let mut end = first;
            while rows.contains(end) {
                end += 1;
            }
            runs.push(first..end);
            next = end;
        }
        for run in runs {
            let document = chunks.document(run.start)?;
            let mut start = run.start;
            while start > 0 && chunks.document(start - 1)? == document {
                start -= 1;
            }
            let document = chunks.document(run.end - 1)?;
            let mut end = run.end;
            while end < count && chunks.document(end)? == document {
                end += 1;
            }
            rows.insert_range(start..end);
        }
        Ok(())
    }
}
