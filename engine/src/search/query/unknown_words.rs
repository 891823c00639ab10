//! Words of a query that no document has: slips are replaced by the word that they are spelled like, identifiers are
//! said to be missing.
//!
//! A query whose words are all known costs a look at its terms.

use std::cmp::Reverse;
use std::ops::Range;

use kb_types::edit_distance;
use kb_types::error::Result;
use rustc_hash::FxHashSet;

use crate::embed;
use crate::index::keyword::{Analyser, Query, QuerySegment, QueryTerm, SimilarTerm};
use crate::search::query::intent::Intent;
use crate::search::query::one_edit;
use crate::search::query::parsed::{ParsedQuery, QUOTES};
use crate::search::query::phrase::RowText;
use crate::search::sources::{ChunkAddress, Sources};

/// Fewest letters of a word that is corrected, and of one that may have two slips.
// A shorter word is one edit away from too many others.
const LEAST_LETTERS: usize = 4;
const LETTERS_OF_TWO: usize = 8;

/// Similar terms whose words are read in a text.
// Each is read in up to [`ROWS_OF_TERM`] rows, and a row costs the decoding of a block of text.
const MOST_READ: usize = 6;

/// Rows in which the words of a term are looked for, in all segments.
const ROWS_OF_TERM: usize = 2;

/// Words that are corrected at most. A text of many unknown words is no slip.
const MOST_CORRECTED: usize = 3;

/// Least cosine of a word that the model has and the word that takes its place.
// Its vocabulary has common slips. Of the ten that were tried, five have .26 to .60: `seperate`, `recieve`, `lenght`,
// `paramater`, `colour`. The others have -.03 to .13 and are not corrected: `occured`, `enviroment`, `adress`, `accomodate`,
// `wich`. Of thirteen pairs of different words all but `container` and `contained` (.18) have .11 or less.
const LEAST_LIKENESS: f32 = 0.2;

/// Share of the content of a query from which on a missing identifier is what the query asks for.
const ASKED_SHARE: f32 = 0.5;

/// Words of a query, each with the word that takes its place.
pub(crate) type Replaced = Vec<(String, String)>;

/// The words of a query that no document has.
#[derive(Debug, Default)]
pub(crate) struct UnknownWords {
    /// Identifiers as they are written.
    pub(crate) missing: Vec<String>,
    /// Whether they are most of what the query asks for.
    pub(crate) is_asked_for: bool,
    /// Ranges of the words that may be slips.
    slips: Vec<Range<usize>>,
    /// Whether so much is asked that one word hardly matters.
    is_of_long_query: bool,
}

impl UnknownWords {
    /// Finds those of a query, whose text is `text`.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub(crate) fn of(
        text: &str,
        (parsed, intent): (&ParsedQuery, &Intent),
        query: &Query<'_>,
        sources: &Sources<'_>,
        analyser: &mut Analyser,
    ) -> Result<UnknownWords> {
        let mut unknown = UnknownWords {
            is_of_long_query: query.is_shortened(),
            ..UnknownWords::default()
        };
        let is_unknown = |term: &QueryTerm| term.chunks == 0 && term.form_of.is_none();
        if !query.terms().iter().any(is_unknown) {
            return Ok(unknown);
        }
        let mut words: Vec<(usize, Range<usize>)> = Vec::new();
        analyser.analyse(text, |term, range| {
            let is_part = words.last().is_some_and(|(_, last)| range.start < last.end);
            let number = query.terms().iter().position(|known| known.term == term);
            if let (false, Some(number)) = (is_part, number) {
                words.push((number, range));
            }
        });
        let (mut all, mut of_missing) = (0.0, 0.0);
        for (number, range) in words {
            let weight = query
                .terms()
                .get(number)
                .map_or(0.0, QueryTerm::weighted_idf);
            all += weight;
            let is_form = |(at, term): (usize, &QueryTerm)| {
                (at == number || term.form_of == Some(number)) && term.chunks > 0
            };
            if query.terms().iter().enumerate().any(is_form) {
                continue;
            }
            let word = text.get(range.clone()).unwrap_or_default();
            if is_identifier(word) {
                if !has_other_style(word, sources)? {
                    of_missing += weight;
                    unknown.missing.push(word.to_owned());
                }
            } else if may_be_slip(text, &range, parsed, intent) {
                unknown.slips.push(range);
            }
        }
        unknown.missing.dedup();
        unknown.is_asked_for = of_missing > 0.0 && of_missing >= all * ASKED_SHARE;
        Ok(unknown)
    }

    /// The words that may be slips, each with the word that it is spelled like, and the text with these.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub(crate) fn corrected(
        &self,
        text: &str,
        sources: &Sources<'_>,
        analyser: &mut Analyser,
    ) -> Result<Option<(String, Replaced)>> {
        // To find a word that is spelled alike takes 1.5 ms, twice as long as a usual search.
        if self.slips.len() > MOST_CORRECTED || self.is_of_long_query {
            return Ok(None);
        }
        let (mut changed, mut end) = (String::new(), 0);
        let mut corrections = Replaced::new();
        for range in &self.slips {
            let word = text.get(range.clone()).unwrap_or_default();
            if let Some(similar) = similar(&word.to_lowercase(), sources, analyser)? {
                changed.push_str(text.get(end..range.start).unwrap_or_default());
                changed.push_str(&similar);
                end = range.end;
                corrections.push((word.to_owned(), similar));
            }
        }
        changed.push_str(text.get(end..).unwrap_or_default());
        Ok((!corrections.is_empty()).then_some((changed, corrections)))
    }
}

/// Whether a word is written as an identifier: with signs, digits beside letters, `_`, or capitals within.
fn is_identifier(word: &str) -> bool {
    let mut chars = word.chars();
    let has_hump = chars.any(char::is_lowercase) && chars.any(char::is_uppercase);
    let has_letter = word.contains(char::is_alphabetic);
    let has_sign = word.contains(|c: char| !c.is_alphabetic());
    let is_version = word.matches('.').count() > 1;
    has_hump || (has_letter && has_sign) || is_version
}

/// Whether documents have an identifier in the other style: `readTimeout` for `read_timeout`.
fn has_other_style(word: &str, sources: &Sources<'_>) -> Result<bool> {
    let plain = word.to_lowercase().replace('_', "");
    let mut snake = String::new();
    for c in word.chars() {
        if c.is_uppercase() && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    for segment in sources.keyword_segments()? {
        for style in [&plain, &snake] {
            if segment.reader.postings(style)?.is_some() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether an unknown word may be a slip: one in small letters, not quoted, not part of a path or a name.
pub(super) fn may_be_slip(
    text: &str,
    range: &Range<usize>,
    parsed: &ParsedQuery,
    intent: &Intent,
) -> bool {
    let word = text.get(range.clone()).unwrap_or_default();
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    let is_sign = |c: char| !c.is_whitespace() && !matches!(c, '(' | ')' | ',' | ';' | '?' | '!');
    let ends = |c: char| is_sign(c) && !matches!(c, '.' | ':');
    let is_free = !before.ends_with(is_sign) && !after.starts_with(ends);
    let mut next = after.chars();
    let is_path = next.next() == Some('.') && next.next().is_some_and(char::is_alphanumeric);
    // A capital at the beginning of a sentence.
    let small = if before.is_empty() && !after.trim().is_empty() {
        word.trim_start_matches(char::is_uppercase)
    } else {
        word
    };
    let is_small = word.len() - small.len() <= 4 && small.chars().all(char::is_lowercase);
    let lower = word.to_lowercase();
    let is_quoted = |quoted: &str| quoted.to_lowercase().contains(&lower);
    word.chars().count() >= LEAST_LETTERS
        && is_small
        && is_free
        && !is_path
        && !before.ends_with(QUOTES)
        && !parsed.quoted().any(is_quoted)
        && !intent.identifiers.iter().any(|name| name == word)
}

/// The word of the documents that a word in small letters is spelled like, the nearest and most frequent one.
fn similar(word: &str, sources: &Sources<'_>, analyser: &mut Analyser) -> Result<Option<String>> {
    let mut found = nearest(word, 1, sources, analyser)?;
    if found.is_none() && word.chars().count() >= LETTERS_OF_TWO {
        found = nearest(word, 2, sources, analyser)?;
    }
    let Some(written) = found else {
        return Ok(None);
    };
    let is_slip =
        embed::word_number(word).is_none() || embed::likeness(word, &written)? >= LEAST_LIKENESS;
    Ok(is_slip.then_some(written))
}

/// The word of the documents that is at most `most` edits away from a word.
fn nearest(
    word: &str,
    most: u8,
    sources: &Sources<'_>,
    analyser: &mut Analyser,
) -> Result<Option<String>> {
    let terms = if most == 1 && one_edit::is_plain(word) {
        terms_at_one_edit(word, sources, analyser)?
    } else {
        similar_terms(word, most, sources)?
    };
    let mut texts = RowText::new(sources);
    let mut best: Option<(usize, Reverse<u64>, String)> = None;
    for (term, distance, chunks) in &terms {
        // No word of this term can be nearer or more frequent.
        let least = (usize::from(*distance), Reverse(*chunks));
        if (best.as_ref()).is_some_and(|(at, chunks, _)| (*at, *chunks) <= least) {
            continue;
        }
        for address in rows_of(term, sources)? {
            let text = texts.of(address)?;
            analyser.analyse(text, |found, range| {
                let written = text.get(range).unwrap_or_default();
                if found == term && written.chars().all(char::is_alphabetic) {
                    let written = written.to_lowercase();
                    let key = (edit_distance(&written, word), Reverse(*chunks), written);
                    if key.0 <= usize::from(most) && best.as_ref().is_none_or(|best| key < *best) {
                        best = Some(key);
                    }
                }
            });
        }
    }
    Ok(best.map(|(.., written)| written))
}

/// The terms of the words that are one edit away from a word of small letters, with their distance and chunks, the most
/// frequent ones first. Some 400 are looked up, which is faster than to compare terms.
fn terms_at_one_edit(
    word: &str,
    sources: &Sources<'_>,
    analyser: &mut Analyser,
) -> Result<Vec<(String, u8, u64)>> {
    let segments = sources.keyword_segments()?;
    let mut seen: FxHashSet<String> = FxHashSet::default();
    let mut found = Vec::new();
    one_edit::for_each(word, |changed| {
        let Some(term) = term_of(changed, analyser).filter(|term| !seen.contains(term)) else {
            return Ok(());
        };
        let chunks = chunks_of(&term, &segments)?;
        if chunks > 0 {
            found.push((term.clone(), 1, chunks));
        }
        seen.insert(term);
        Ok(())
    })?;
    sources.tick()?;
    found.sort_by(|a, b| (b.2, &a.0).cmp(&(a.2, &b.0)));
    found.truncate(MOST_READ);
    Ok(found)
}

/// The term of a word.
pub(super) fn term_of(word: &str, analyser: &mut Analyser) -> Option<String> {
    let mut first = None;
    analyser.analyse(word, |term, _| {
        first.get_or_insert_with(|| term.to_owned());
    });
    first
}

/// The chunks that have a term, deleted ones included.
pub(super) fn chunks_of(term: &str, segments: &[QuerySegment<'_>]) -> Result<u64> {
    let mut chunks = 0;
    for segment in segments {
        let list = segment.reader.postings(term)?;
        chunks += list.map_or(0, |list| u64::from(list.count()));
    }
    Ok(chunks)
}

/// The terms that words of this spelling may have, with the distance of their beginning and their chunks: the nearest
/// and longest first, because a short one is the beginning of many words.
fn similar_terms(word: &str, most: u8, sources: &Sources<'_>) -> Result<Vec<(String, u8, u64)>> {
    let segments = sources.keyword_segments()?;
    let mut terms: Vec<SimilarTerm> = Vec::new();
    for segment in &segments {
        sources.tick()?;
        terms.extend(segment.reader.similar_terms(word, most)?);
    }
    terms.retain(|found| found.term.chars().all(char::is_lowercase));
    let order = |found: &SimilarTerm| (found.distance, Reverse(found.term.len()));
    terms.sort_by(|a, b| order(a).cmp(&order(b)).then_with(|| a.term.cmp(&b.term)));
    terms.dedup();
    let mut counted = Vec::new();
    for SimilarTerm { term, distance } in terms.into_iter().take(MOST_READ) {
        let chunks = chunks_of(&term, &segments)?;
        counted.push((term, distance, chunks));
    }
    Ok(counted)
}

/// Some chunks that have a term.
fn rows_of(term: &str, sources: &Sources<'_>) -> Result<Vec<ChunkAddress>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_told_from_words() {
        for word in [
            "ADR-086",
            "E0999",
            "frobnicate_all",
            "readTimeout",
            "2.10.3-rc",
            "#A4",
            "2.10.3",
        ] {
            assert!(is_identifier(word), "{word}");
        }
        for word in ["seperate", "Seperate", "404", "HTTP", "2.5"] {
            assert!(!is_identifier(word), "{word}");
        }
    }

    #[test]
    fn only_plain_words_may_be_slips() {
        let is_slip = |text: &str, word: &str| {
            let start = text.find(word).unwrap();
            let parsed = crate::search::query::parser::parse(text);
            let range = start..start + word.len();
            may_be_slip(text, &range, &parsed, &Intent::of(text))
        };
        for text in [
            "seperate",
            "how are files seperate?",
            "Seperate files",
            "(seperate)",
        ] {
            let word = if text.starts_with('S') {
                "Seperate"
            } else {
                "seperate"
            };
            assert!(is_slip(text, word), "{text}");
        }
        for text in [
            "\"seperate files\"",
            "src/seperate",
            "seperate.rs",
            "`seperate`",
            "--seperate",
        ] {
            assert!(!is_slip(text, "seperate"), "{text}");
        }
        assert!(!is_slip("the Seperate", "Seperate"));
        assert!(!is_slip("sep", "sep"));
    }
}
