//! A query over the keyword indexes of several segments: weights its terms and scores rows.

use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

use super::character_rows::{CHARACTERS_LIMIT, CharacterRows};
use super::deletes::{DeletedRows, allowed};
use super::term_scorer::{TermScorer, TermScorers};
use super::top_k;
use crate::bitset::BitSet;
use crate::index::keyword::analysis::script_class::single_character;
use crate::index::keyword::analysis::tokenizer::Analyser;
use crate::index::keyword::bm25::{Bm25Weight, Statistics, Units};
use crate::index::keyword::postings::list::Postings;
use crate::index::keyword::postings::reader::Reader;

mod forms;
mod query_term;
mod searched;
mod words;

use forms::{QueryWords, share_among_forms};
pub use query_term::QuerySegment;
pub(crate) use query_term::QueryTerm;
use searched::{Places, SEARCHED_TERMS};

/// A row with its keyword score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredRow {
    /// The row.
    pub row: u32,
    /// Its score, above 0 and, but for rounding, at most [`Query::idf_sum`].
    pub score: f32,
}

/// A keyword query over all segments of one or more files.
#[derive(Debug)]
pub struct Query<'a> {
    /// Distinct terms in the order of their first occurrence.
    terms: Vec<QueryTerm>,
    /// Their indexes, ascending by term.
    by_term: Vec<usize>,
    /// The segments with their postings of the terms.
    segments: Vec<Segment<'a>>,
    /// What scores are counted in.
    units: Units,
    /// Mean length of a chunk over all segments.
    mean_length: f32,
    /// Sum of idf times weight times occurrences over all terms.
    idf_sum: f32,
    /// Whether words were left out.
    is_shortened: bool,
}

/// A segment and its postings of the terms of a query.
#[derive(Debug)]
struct Segment<'a> {
    /// Its keyword index.
    reader: Reader<'a>,
    /// Rows that are deleted.
    deleted: Option<DeletedRows<'a>>,
    /// Postings of each term of the query that the segment has, by index of the term.
    postings: Vec<(usize, Postings<'a>)>,
    /// Live rows of the terms that are single characters of scripts without spaces, by index of the
    /// term.
    characters: Vec<(usize, CharacterRows)>,
}

impl Segment<'_> {
    /// Keeps what is of the terms that have a place, under their new indexes.
    fn keep(&mut self, places: &Places) {
        let postings = std::mem::take(&mut self.postings).into_iter();
        let postings = postings.filter_map(|(at, list)| Some((places.of(at)?, list)));
        self.postings = postings.collect();
        let characters = std::mem::take(&mut self.characters).into_iter();
        let characters = characters.filter_map(|(at, rows)| Some((places.of(at)?, rows)));
        self.characters = characters.collect();
    }
}

impl<'a> Query<'a> {
    /// As [`Query::weighted`], where every word weighs 1.
    ///
    /// # Errors
    /// As [`Query::weighted`].
    pub fn new(
        analyser: &mut Analyser,
        text: &str,
        segments: &[QuerySegment<'a>],
        statistics: Statistics,
    ) -> Result<Query<'a>> {
        Query::weighted(analyser, text, segments, statistics, |_| 1.0)
    }

    /// Looks the terms of `text` up in all segments. `word_weight` returns the weight of a word as it is
    /// written, above 0 and at most 1; all terms of the word, an identifier and its parts, have it.
    ///
    /// Of a query with more than [`SEARCHED_TERMS`] terms the words that add most to a score are kept.
    ///
    /// `statistics` are those of the live chunks of all segments. In segments with deleted rows,
    /// the live rows of each term are counted, which costs about a nanosecond for each posting, or
    /// less when few rows are deleted.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a dictionary or the head of a list contradicts the format.
    pub fn weighted(
        analyser: &mut Analyser,
        text: &str,
        segments: &[QuerySegment<'a>],
        statistics: Statistics,
        word_weight: impl FnMut(&str) -> f32,
    ) -> Result<Query<'a>> {
        let QueryWords { mut terms, forms } =
            QueryWords::new(analyser, text, segments, word_weight)?;
        let characters: Vec<(usize, char)> = terms
            .iter()
            .enumerate()
            .filter_map(|(at, term)| Some((at, single_character(&term.term)?)))
            // Further ones still count as terms where they stand alone.
            .take(CHARACTERS_LIMIT)
            .collect();
        let mut found = Vec::with_capacity(segments.len());
        for QuerySegment { reader, deleted } in segments {
            // An empty bitmap would make every term count its deleted postings.
            let deleted = deleted.filter(|deleted| !deleted.is_empty());
            let deleted = deleted
                .map(|deleted| DeletedRows::new(deleted, reader))
                .transpose()?;
            let characters = character_rows(&characters, reader, deleted.as_ref())?;
            for (at, rows) in &characters {
                if let Some(term) = terms.get_mut(*at) {
                    term.chunks += rows.len() as u64;
                }
            }
            let mut postings = Vec::new();
            for (at, term) in terms.iter_mut().enumerate() {
                if characters.iter().any(|(character, _)| *character == at) {
                    continue;
                }
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
                characters,
            });
        }
        share_among_forms(&mut terms, &forms);
        // Rows that are deleted may have it, and they must change no score.
        let is_unused = |term: &QueryTerm| term.form_of.is_some() && term.chunks == 0;
        for segment in &mut found {
            let is_used = |at: usize| !terms.get(at).is_some_and(is_unused);
            segment.postings.retain(|(at, _)| is_used(*at));
        }
        for term in &mut terms {
            term.idf = if is_unused(term) {
                0.0
            } else {
                statistics.idf(term.chunks)
            };
        }
        // Words that no chunk has are kept: what is missing is told.
        let bound = |term: &QueryTerm| (term.chunks > 0).then_some(term.bound());
        let places = searched::places(&terms, SEARCHED_TERMS, bound);
        if let Some(places) = &places {
            terms = searched::kept(terms, places);
            for segment in &mut found {
                segment.keep(places);
            }
        }
        let mut by_term: Vec<usize> = (0..terms.len()).collect();
        by_term.sort_unstable_by_key(|at| terms.get(*at).map(|term| term.term.as_str()));
        let idf_sum: f64 = terms.iter().map(|term| f64::from(term.bound())).sum();
        Ok(Query {
            terms,
            by_term,
            segments: found,
            // In f64, so that the sum of many terms is not rounded before the units are chosen.
            units: Units::for_scores_up_to(idf_sum),
            mean_length: statistics.mean_length(),
            idf_sum: idf_sum as f32,
            is_shortened: places.is_some(),
        })
    }

    /// Whether words were left out, because the query has more than [`SEARCHED_TERMS`] terms.
    pub fn is_shortened(&self) -> bool {
        self.is_shortened
    }

    /// The distinct terms, in the order of the query.
    pub fn terms(&self) -> &[QueryTerm] {
        &self.terms
    }

    /// The index in [`Query::terms`] of a term.
    // Texts of some hundred words have as many terms, and each of their words is looked for.
    pub fn index_of(&self, term: &str) -> Option<usize> {
        let term_at = |at: usize| self.terms.get(at).map(|term| term.term.as_str());
        let found = self
            .by_term
            .binary_search_by(|at| term_at(*at).cmp(&Some(term)));
        found.ok().and_then(|at| self.by_term.get(at).copied())
    }

    /// The highest score that a row could have: the sum of idf times weight times occurrences over all
    /// terms, also those that no row has. 0 when there are no terms.
    pub fn idf_sum(&self) -> f32 {
        self.idf_sum
    }

    /// The `k` best rows of a segment, best first, equal scores by ascending row.
    ///
    /// Only live rows of `filter` count (`None`: all live rows), and only scores of at least
    /// `floor`: pass the score of the k-th best row of other segments to spare work. The result is
    /// that of scoring every row.
    ///
    /// # Errors
    /// [`Error::Damaged`] when bytes that are read contradict the format, or there is no such
    /// segment.
    pub fn top_k(
        &self,
        segment: usize,
        k: usize,
        filter: Option<&RoaringBitmap>,
        floor: f32,
    ) -> Result<Vec<ScoredRow>> {
        let segment = self.segment(segment)?;
        // A row must have at least one term.
        let least = self.units.at_least(floor).max(1);
        let rows = segment.reader.rows();
        let allowed = allowed(rows, filter, segment.deleted.as_ref())?;
        let mut best = top_k::top_k(self.open(segment)?, rows, k, allowed.as_ref(), least)?;
        if !segment.characters.is_empty() {
            best = self.with_characters(segment, best, k, allowed.as_ref(), least)?;
        }
        Ok(best
            .into_iter()
            .map(|(row, units)| ScoredRow {
                row,
                score: self.units.score(units),
            })
            .collect())
    }

    /// Scores of ascending `rows` of a segment, in their order: the same numbers as those of
    /// [`Query::top_k`]. 0 for rows without any of the terms.
    ///
    /// # Errors
    /// As [`Query::top_k`].
    pub fn score_rows(&self, segment: usize, rows: &[u32]) -> Result<Vec<f32>> {
        let segment = self.segment(segment)?;
        let mut units = top_k::score_rows(&mut self.open(segment)?, rows)?;
        for (row, units) in rows.iter().zip(&mut units) {
            for (at, of_term) in &segment.characters {
                *units += self
                    .character_units(segment, *at, of_term, *row)?
                    .map_or(0, |(_, units)| units);
            }
        }
        Ok(units
            .into_iter()
            .map(|units| self.units.score(units))
            .collect())
    }

    /// The contribution of each term to the score of one row: index in [`Query::terms`], frequency
    /// and score. Terms that the row does not have are left out.
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
        for (at, of_term) in &segment.characters {
            if let Some((frequency, units)) = self.character_units(segment, *at, of_term, row)? {
                parts.push((*at, frequency, self.units.score(units)));
            }
        }
        Ok(parts)
    }

    /// The largest sum of [`QueryTerm::weighted_idf`] of distinct terms that one of ascending `rows` of a
    /// segment has.
    ///
    /// # Errors
    /// As [`Query::top_k`].
    pub fn most_matched_idf(&self, segment: usize, rows: &[u32]) -> Result<f32> {
        let mut sums = vec![0.0; rows.len()];
        self.each_term_of(segment, rows, |place, term, _| {
            if let Some(sum) = sums.get_mut(place) {
                *sum += self.weighted_idf(term);
            }
        })?;
        Ok(sums.into_iter().fold(0.0, f32::max))
    }

    /// Calls `each` with every term that one of ascending `rows` of a segment has: the place of the row in `rows`, the
    /// index of the term in [`Query::terms`], and its frequency.
    ///
    /// # Errors
    /// As [`Query::top_k`].
    pub fn each_term_of(
        &self,
        segment: usize,
        rows: &[u32],
        mut each: impl FnMut(usize, usize, u32),
    ) -> Result<()> {
        let segment = self.segment(segment)?;
        for ((at, _), mut term) in segment.postings.iter().zip(self.open(segment)?) {
            for (place, row) in rows.iter().enumerate() {
                if let Some((frequency, _)) = term.score_row(*row)? {
                    each(place, *at, frequency);
                }
            }
        }
        for (at, of_term) in &segment.characters {
            for (place, row) in rows.iter().enumerate() {
                let found = of_term.binary_search_by_key(row, |(row, _)| *row);
                if let Some((_, frequency)) = found.ok().and_then(|found| of_term.get(found)) {
                    each(place, *at, *frequency);
                }
            }
        }
        Ok(())
    }

    fn weighted_idf(&self, at: usize) -> f32 {
        self.terms.get(at).map_or(0.0, QueryTerm::weighted_idf)
    }

    fn segment(&self, segment: usize) -> Result<&Segment<'a>> {
        self.segments
            .get(segment)
            .ok_or_else(|| Error::damaged(format!("the query has no segment {segment}")))
    }

    /// Adds the scores of single characters: `best` are the `k` best rows by the other terms. A row
    /// without such a character that is among the `k` best of all is among `best`.
    fn with_characters(
        &self,
        segment: &Segment<'a>,
        best: Vec<(u32, i32)>,
        k: usize,
        allowed: Option<&BitSet>,
        least: i32,
    ) -> Result<Vec<(u32, i32)>> {
        let mut rows: Vec<u32> = segment
            .characters
            .iter()
            .flat_map(|(_, of_term)| of_term.iter().map(|(row, _)| *row))
            .filter(|row| allowed.is_none_or(|allowed| allowed.contains(*row)))
            .collect();
        rows.sort_unstable();
        rows.dedup();
        let mut units = top_k::score_rows(&mut self.open(segment)?, &rows)?;
        for (at, of_term) in &segment.characters {
            let scorer = self.weight(*at, &segment.reader);
            let mut lengths = segment.reader.fieldnorms();
            let mut place = 0;
            for (row, frequency) in of_term {
                // Both ascend, and rows that are not allowed are not there.
                let rest = rows.get(place..).unwrap_or_default();
                place += rest.partition_point(|other| other < row);
                if rows.get(place) == Some(row)
                    && let Some(units) = units.get_mut(place)
                {
                    let mut length = [0.0];
                    lengths.fill(&[*row], &mut length)?;
                    let [length] = length;
                    *units += scorer.units(*frequency, length);
                }
            }
        }
        let others = best
            .into_iter()
            .filter(|(row, _)| rows.binary_search(row).is_err());
        let mut all: Vec<(u32, i32)> = others.collect();
        let with = rows.iter().copied().zip(units);
        all.extend(with.filter(|(_, units)| *units >= least));
        all.sort_unstable_by_key(|(row, units)| (std::cmp::Reverse(*units), *row));
        all.truncate(k);
        Ok(all)
    }

    /// Frequency and units of a character in a row; `None` when the row does not have it.
    fn character_units(
        &self,
        segment: &Segment<'a>,
        at: usize,
        of_term: &CharacterRows,
        row: u32,
    ) -> Result<Option<(u32, i32)>> {
        let place = of_term.binary_search_by_key(&row, |(row, _)| *row);
        let Some((_, frequency)) = place.ok().and_then(|place| of_term.get(place)) else {
            return Ok(None);
        };
        let mut length = [0.0];
        segment.reader.fieldnorms().fill(&[row], &mut length)?;
        let [length] = length;
        let units = self.weight(at, &segment.reader).units(*frequency, length);
        Ok(Some((*frequency, units)))
    }

    /// The weight of a term in a segment.
    fn weight(&self, at: usize, reader: &Reader<'_>) -> Bm25Weight {
        let weight = self.terms.get(at).map_or(0.0, QueryTerm::bound);
        Bm25Weight::new(
            weight,
            self.units,
            self.mean_length,
            reader.written_mean_length(),
        )
    }

    /// Scorers of the terms that the segment has.
    fn open(&self, segment: &Segment<'a>) -> Result<TermScorers<'a>> {
        let reader = &segment.reader;
        let mut opened = Vec::with_capacity(segment.postings.len());
        for (at, postings) in &segment.postings {
            opened.push(Box::new(TermScorer::new(
                reader.cursor(postings)?,
                postings.count(),
                self.weight(*at, reader),
                reader.fieldnorms(),
            )));
        }
        Ok(opened)
    }
}

/// The live rows of a segment that have each of some characters.
fn character_rows(
    characters: &[(usize, char)],
    reader: &Reader<'_>,
    deleted: Option<&DeletedRows<'_>>,
) -> Result<Vec<(usize, CharacterRows)>> {
    if characters.is_empty() {
        return Ok(Vec::new());
    }
    let wanted: Vec<char> = characters.iter().map(|(_, character)| *character).collect();
    let mut lists = reader.rows_with_characters(&wanted)?;
    if let Some(deleted) = deleted {
        for list in &mut lists {
            list.retain(|(row, _)| !deleted.contains(*row));
        }
    }
    Ok(characters.iter().map(|(at, _)| *at).zip(lists).collect())
}

#[cfg(test)]
mod tests;
