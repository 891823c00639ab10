//! Words of a query that no document has: slips are replaced by the word that they are spelled like, parts of compounds
//! and compounds by each other, the beginning of a hash by the hash, identifiers are said to be missing.
//!
//! A query whose words are all known costs a look at its terms.

use std::cmp::Reverse;
use std::ops::Range;

use kb_types::edit_distance;
use kb_types::error::Result;
use rustc_hash::FxHashSet;

use crate::embed;
use crate::index::keyword::{Analyser, Language, Query, QueryTerm, SimilarTerm};
use crate::search::query::compounds;
use crate::search::query::intent::Intent;
use crate::search::query::one_edit;
use crate::search::query::parsed::{ParsedQuery, QUOTES};
use crate::search::query::phrase::RowText;
use crate::search::query::term_chunks::{chunks_of, rows_of};
use crate::search::sources::Sources;

/// Fewest letters of a word that is corrected, and of one that may have two slips.
// A shorter word is one edit away from too many others.
const LEAST_LETTERS: usize = 4;
const LETTERS_OF_TWO: usize = 8;

/// Similar terms whose words are read in a text.
// Each is read in up to [`ROWS_OF_TERM`] rows, and a row costs the decoding of a block of text.
const MOST_READ: usize = 6;

/// Words that are corrected at most. A text of many unknown words is no slip.
const MOST_CORRECTED: usize = 3;

/// Least cosine of a word that the model has and the word that takes its place.
// Its vocabulary has common slips. Of the ten that were tried, five have .26 to .60: `seperate`, `recieve`, `lenght`,
// `paramater`, `colour`. The others have -.03 to .13 and are not corrected: `occured`, `enviroment`, `adress`, `accomodate`,
// `wich`. Of thirteen pairs of different words all but `container` and `contained` (.18) have .11 or less.
const LEAST_LIKENESS: f32 = 0.2;

/// Share of the content of a query from which on a missing identifier is what the query asks for.
const ASKED_SHARE: f32 = 0.5;

/// Fewest digits of the beginning of a hash: as many as git shows.
const LEAST_HASH: usize = 7;

/// Words of a query, each with the word that takes its place.
pub(crate) type Replaced = Vec<(String, String)>;

/// The words of a query that no document has.
#[derive(Debug, Default)]
pub(crate) struct UnknownWords {
    /// Identifiers as they are written.
    pub(crate) missing: Vec<String>,
    /// Whether they are most of what the query asks for.
    pub(crate) is_asked_for: bool,
    /// Ranges of the words in whose place others may be searched.
    words: Vec<(Range<usize>, Unknown)>,
    /// Whether so much is asked that one word hardly matters.
    is_of_long_query: bool,
}

/// What an unknown word may be.
#[derive(Debug, PartialEq, Eq)]
enum Unknown {
    /// A slip, a part of compounds or a compound.
    Slip,
    /// The same without a slip: it has a capital, as names have and nouns in German.
    Word,
    /// The beginning of this hash.
    Hash(String),
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
            let number = query.index_of(term);
            if let (false, Some(number)) = (is_part, number) {
                words.push((number, range));
            }
        });
        let (mut all, mut of_missing) = (0.0, 0.0);
        for (number, range) in words {
            let own = query.terms().get(number);
            let weight = own.map_or(0.0, QueryTerm::weighted_idf);
            all += weight;
            if own.is_some_and(|term| term.chunks > 0) {
                continue;
            }
            let is_form = |term: &QueryTerm| term.form_of == Some(number) && term.chunks > 0;
            if query.terms().iter().any(is_form) {
                continue;
            }
            let word = text.get(range.clone()).unwrap_or_default();
            if is_identifier(word) {
                let hash = hash_of(word, sources)?.map(Unknown::Hash);
                unknown.words.extend(hash.map(|hash| (range.clone(), hash)));
                if !has_other_style(word, sources)? {
                    of_missing += weight;
                    unknown.missing.push(word.to_owned());
                }
            } else if may_be_replaced(text, &range, parsed, intent) {
                let is_small = is_in_small_letters(text, &range);
                let kind = if is_small {
                    Unknown::Slip
                } else {
                    Unknown::Word
                };
                unknown.words.push((range, kind));
            }
        }
        unknown.missing.dedup();
        unknown.is_asked_for = of_missing > 0.0 && of_missing >= all * ASKED_SHARE;
        Ok(unknown)
    }

    /// The words that have another one to be searched instead, with that, and the text with these: a slip with the word
    /// that it is spelled like, a part of compounds with some of them, a compound with its parts.
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
        let slips = self
            .words
            .iter()
            .filter(|(_, it)| *it == Unknown::Slip)
            .count();
        if self.words.is_empty() || slips > MOST_CORRECTED || self.is_of_long_query {
            return Ok(None);
        }
        let mut languages = compounds::languages(sources)?;
        let told = (!languages.is_empty()).then(|| Language::of_query(text));
        let is_told = told
            .flatten()
            .is_some_and(|language| languages.contains(&language));
        // Of one or two words the language cannot be told.
        if !is_told && text.split_whitespace().nth(2).is_some() {
            languages.clear();
        }
        let (mut changed, mut end) = (String::new(), 0);
        let mut corrections = Replaced::new();
        // A name that no document has is none of a language without compounds.
        let may_be = |kind: &Unknown| *kind != Unknown::Word || !languages.is_empty();
        let words = self.words.iter().filter(|(_, kind)| may_be(kind));
        for (range, kind) in words.take(MOST_CORRECTED) {
            let word = text.get(range.clone()).unwrap_or_default();
            let lower = word.to_lowercase();
            let asked = (languages.as_slice(), is_told);
            let mut other = match kind {
                Unknown::Hash(hash) => vec![hash.clone()],
                _ if languages.is_empty() => Vec::new(),
                _ => compounds::with_part(&lower, &languages, sources, analyser)?,
            };
            if other.is_empty() && *kind == Unknown::Slip {
                other.extend(similar(&lower, sources, analyser)?);
            }
            if other.is_empty() && !languages.is_empty() {
                other = compounds::parts_of(&lower, asked, sources)?;
            }
            if !other.is_empty() {
                let similar = other.join(" ");
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

/// The hash of the documents that a word is the beginning of.
fn hash_of(word: &str, sources: &Sources<'_>) -> Result<Option<String>> {
    let has = |test: fn(&u8) -> bool| word.bytes().any(|byte| test(&byte));
    let is_hex = word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_hash = is_hex && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    if !is_hash || word.len() < LEAST_HASH {
        return Ok(None);
    }
    let lower = word.to_lowercase();
    for segment in sources.keyword_segments()? {
        let term = segment.reader.first_beginning_with(&lower)?;
        let is_hash = |term: &String| term.bytes().all(|byte| byte.is_ascii_hexdigit());
        if let Some(hash) = term.filter(is_hash) {
            return Ok(Some(hash));
        }
    }
    Ok(None)
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

/// Whether an unknown word may be a slip: one in small letters that may be replaced.
pub(super) fn may_be_slip(
    text: &str,
    range: &Range<usize>,
    parsed: &ParsedQuery,
    intent: &Intent,
) -> bool {
    is_in_small_letters(text, range) && may_be_replaced(text, range, parsed, intent)
}

/// Whether a word has small letters only, but for a capital at the beginning of a sentence.
fn is_in_small_letters(text: &str, range: &Range<usize>) -> bool {
    let word = text.get(range.clone()).unwrap_or_default();
    let is_first = range.start == 0;
    let after = text.get(range.end..).unwrap_or_default();
    let small = if is_first && !after.trim().is_empty() {
        word.trim_start_matches(char::is_uppercase)
    } else {
        word
    };
    word.len() - small.len() <= 4 && small.chars().all(char::is_lowercase)
}

/// Whether another word may be searched in the place of an unknown one: of letters, not quoted, not part of a path or a
/// name.
fn may_be_replaced(
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
    let lower = word.to_lowercase();
    let is_quoted = |quoted: &str| quoted.to_lowercase().contains(&lower);
    word.chars().count() >= LEAST_LETTERS
        && word.chars().skip(1).all(char::is_lowercase)
        && word.starts_with(char::is_alphabetic)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kb::{Kb, KbWriter};
    use crate::search::Request;

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

    #[test]
    fn the_beginning_of_a_hash_finds_the_hash() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let text = "# Log\n\nCommit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke the importer.\n";
        writer.add_bytes("log.md", text.as_bytes()).unwrap();
        writer
            .add_bytes(
                "other.md",
                b"# Log\n\nThe importer was mended by a later commit.\n",
            )
            .unwrap();
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        for query in ["9fceb02", "what did commit 9FCEB02D0 break?"] {
            let found = kb.search(&Request::new(query)).unwrap();
            assert_eq!(found.hits[0].document, "log.md", "{query}");
            assert_eq!(found.corrections[0].to.len(), 40, "{query}");
            assert!(found.missing.is_empty(), "{query}");
            let exact = kb.search(&Request::new(query).exact(true)).unwrap();
            assert_eq!(
                (exact.corrections.len(), exact.missing.len()),
                (0, 1),
                "{query}"
            );
        }
        // Six digits, another hash, and no hash.
        for query in ["9fceb0", "9fceb03", "9fceb02d0xyz"] {
            let found = kb.search(&Request::new(query)).unwrap();
            assert!(found.corrections.is_empty(), "{query}");
        }
    }
}
