//! The terms of a question, weighted over all segments.

use roaring::RoaringBitmap;

use crate::error::{Error, Result};

use super::bm25::{Statistics, TermScorer, Units};
use super::live::{DeletedRows, allowed};
use super::reader::{Postings, Reader};
use super::scored_term::{Term, Terms};
use super::tokenize::Analyser;
use super::top_k;

/// A term of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// The term as the analyser gives it.
    pub term: String,
    /// How often it stands in the query; its weight is that many times its idf.
    pub times: u32,
    /// How many rows have it, over all segments, without deleted ones.
    pub chunks: u64,
    /// Its inverse document frequency; above 0, also for a term that no row has.
    pub idf: f32,
}

/// A row with its keyword score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredRow {
    /// The row.
    pub row: u32,
    /// Its score, above 0 and at most [`Query::idf_sum`] but for rounding.
    pub score: f32,
}

/// A segment to be asked.
#[derive(Debug, Clone, Copy)]
pub struct QuerySegment<'a> {
    /// Its keyword index.
    pub reader: Reader<'a>,
    /// Rows that are deleted: they never answer and count in no statistics. `None`: none.
    pub deleted: Option<&'a RoaringBitmap>,
}

/// A question to the keyword indexes of all segments.
#[derive(Debug)]
pub struct Query<'a> {
    /// Distinct terms in the order they were given.
    terms: Vec<QueryTerm>,
    /// The segments.
    segments: Vec<Segment<'a>>,
    /// What scores are counted in.
    units: Units,
    /// Mean length of a chunk over all segments.
    mean_length: f32,
    /// Sum of idf times occurrences over all terms.
    idf_sum: f32,
}

/// One segment as the query sees it.
#[derive(Debug)]
struct Segment<'a> {
    /// Its keyword index.
    reader: Reader<'a>,
    /// Rows that are deleted.
    deleted: Option<DeletedRows<'a>>,
    /// Postings of each term of the query that the segment has, by index of the term.
    postings: Vec<(usize, Postings<'a>)>,
}

impl<'a> Query<'a> {
    /// Looks the terms of `text` up in all segments.
    ///
    /// `statistics` are those of the live chunks, over all segments. Where chunks are deleted, the
    /// live ones of each term are counted, which costs about a nanosecond for each of its chunks,
    /// or less when few are deleted.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a dictionary or the head of a list contradicts the format.
    pub fn new(
        analyser: &mut Analyser,
        text: &str,
        segments: &[QuerySegment<'a>],
        statistics: Statistics,
    ) -> Result<Query<'a>> {
        let mut terms: Vec<QueryTerm> = Vec::new();
        let mut seen = rustc_hash::FxHashMap::default();
        analyser.analyse(text, |term, _| {
            let next = terms.len();
            let at = match seen.get(term) {
                Some(at) => *at,
                None => {
                    seen.insert(term.to_owned(), next);
                    terms.push(QueryTerm {
                        term: term.to_owned(),
                        times: 0,
                        chunks: 0,
                        idf: 0.0,
                    });
                    next
                }
            };
            if let Some(term) = terms.get_mut(at) {
                term.times += 1;
            }
        });
        let mut found = Vec::with_capacity(segments.len());
        for QuerySegment { reader, deleted } in segments {
            let deleted = deleted.filter(|deleted| !deleted.is_empty());
            let deleted = deleted
                .map(|deleted| DeletedRows::new(deleted, reader))
                .transpose()?;
            let mut postings = Vec::new();
            for (at, term) in terms.iter_mut().enumerate() {
                if let Some(list) = reader.postings(&term.term)? {
                    let gone = match &deleted {
                        Some(deleted) => deleted.count(reader, &list)?,
                        None => 0,
                    };
                    term.chunks += u64::from(list.count() - gone);
                    postings.push((at, list));
                }
            }
            found.push(Segment {
                reader: *reader,
                deleted,
                postings,
            });
        }
        let mut idf_sum = 0.0;
        for term in &mut terms {
            term.idf = statistics.idf(term.chunks);
            idf_sum += f64::from(term.idf) * f64::from(term.times);
        }
        Ok(Query {
            terms,
            segments: found,
            units: Units::for_scores_up_to(idf_sum),
            mean_length: statistics.mean_length(),
            idf_sum: idf_sum as f32,
        })
    }

    /// The distinct terms, in the order of the query.
    pub fn terms(&self) -> &[QueryTerm] {
        &self.terms
    }

    /// The most that this query could reach: idf times occurrences over all its terms, unknown
    /// ones included. 0 when it has no terms.
    pub fn idf_sum(&self) -> f32 {
        self.idf_sum
    }

    /// The `k` best rows of a segment, best first, equal scores by ascending row.
    ///
    /// Only live rows count, only those of `filter`, if there is one, and only scores not below `floor`: with the
    /// score of the k-th best row of other segments as floor, the best of all segments are still
    /// among the answers. The answer is the same as that of scoring every row.
    ///
    /// # Errors
    /// [`Error::Damaged`] when bytes on the way contradict the format, or there is no such segment.
    pub fn top_k(
        &self,
        segment: usize,
        k: usize,
        filter: Option<&RoaringBitmap>,
        floor: f32,
    ) -> Result<Vec<ScoredRow>> {
        let segment = self.segment(segment)?;
        let least = self.units.at_least(floor).max(1);
        let rows = segment.reader.rows();
        let allowed = allowed(rows, filter, segment.deleted.as_ref())?;
        let best = top_k::top_k(self.open(segment)?, rows, k, allowed.as_ref(), least)?;
        Ok(best
            .into_iter()
            .map(|(row, units)| ScoredRow {
                row,
                score: self.units.score(units),
            })
            .collect())
    }

    /// Scores of ascending `rows` of a segment, in their order; 0 for rows without any term. The
    /// same numbers as [`Query::top_k`] gives.
    ///
    /// # Errors
    /// As [`Query::top_k`].
    pub fn score_rows(&self, segment: usize, rows: &[u32]) -> Result<Vec<f32>> {
        let segment = self.segment(segment)?;
        let units = top_k::score_rows(&mut self.open(segment)?, rows)?;
        Ok(units
            .into_iter()
            .map(|units| self.units.score(units))
            .collect())
    }

    /// What each term gives to one row of a segment: index of the term in [`Query::terms`],
    /// frequency and score. Terms that the row does not have are left out.
    ///
    /// # Errors
    /// As [`Query::top_k`].
    pub fn explain(&self, segment: usize, row: u32) -> Result<Vec<(usize, u32, f32)>> {
        let segment = self.segment(segment)?;
        let mut parts = Vec::new();
        for ((at, _), mut term) in segment.postings.iter().zip(self.open(segment)?) {
            if let Some((frequency, units)) = term.score_row(row)? {
                parts.push((*at, frequency, self.units.score(units)));
            }
        }
        Ok(parts)
    }

    /// The largest sum of idf of distinct terms that one of ascending `rows` of a segment has.
    ///
    /// # Errors
    /// As [`Query::top_k`].
    pub fn most_matched_idf(&self, segment: usize, rows: &[u32]) -> Result<f32> {
        let segment = self.segment(segment)?;
        let mut sums = vec![0.0; rows.len()];
        for ((at, _), mut term) in segment.postings.iter().zip(self.open(segment)?) {
            let idf = self.terms.get(*at).map_or(0.0, |term| term.idf);
            for (row, sum) in rows.iter().zip(&mut sums) {
                if term.score_row(*row)?.is_some() {
                    *sum += idf;
                }
            }
        }
        Ok(sums.into_iter().fold(0.0, f32::max))
    }

    fn segment(&self, segment: usize) -> Result<&Segment<'a>> {
        self.segments
            .get(segment)
            .ok_or_else(|| Error::damaged(format!("the query has no segment {segment}")))
    }

    /// Cursors of the terms that the segment has.
    fn open(&self, segment: &Segment<'a>) -> Result<Terms<'a>> {
        let reader = &segment.reader;
        let mut opened = Vec::with_capacity(segment.postings.len());
        for (at, postings) in &segment.postings {
            let Some(term) = self.terms.get(*at) else {
                continue;
            };
            let scorer = TermScorer::new(
                term.idf * term.times as f32,
                self.units,
                self.mean_length,
                reader.written_mean_length(),
            );
            opened.push(Box::new(Term::new(
                reader.cursor(postings)?,
                postings.count(),
                scorer,
                reader.lengths(),
            )));
        }
        Ok(opened)
    }
}

#[cfg(test)]
mod tests;
