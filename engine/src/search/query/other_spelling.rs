//! Words of a query that may be misspelled although the built-in model, and perhaps a document, has them: `adress`. The
//! answer offers the other spelling and searches what was asked.

use std::cmp::Reverse;
use std::ops::Range;

use kb_types::error::Result;

use super::one_edit;
use super::term_chunks::chunks_of;
use super::unknown_words::{Replaced, may_be_slip, term_of};
use crate::embed;
use crate::index::keyword::{Analyser, Query};
use crate::search::query::intent::Intent;
use crate::search::query::parsed::ParsedQuery;
use crate::search::sources::Sources;

/// Least number in the vocabulary of the model of a word that may be misspelled.
// Of 19 common slips that it has, 16 are behind 16,000; `colour` and `grey`, which are none, are before 9,000.
const LEAST_NUMBER: u32 = 13_000;

/// How many times the number of the other spelling that of the word is, at least.
const LEAST_RATIO: u32 = 3;

/// Most chunks that have a misspelled word, and how many times as many have the other spelling, at least.
const MOST_CHUNKS: u64 = 20;
const LEAST_FACTOR: u64 = 20;

/// Spellings of one word that are counted.
const MOST_COUNTED: usize = 4;

/// The words of `text` that may be misspelled, each with the more usual spelling that documents have.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(crate) fn offered(
    text: &str,
    (parsed, intent): (&ParsedQuery, &Intent),
    query: &Query<'_>,
    sources: &Sources<'_>,
    analyser: &mut Analyser,
) -> Result<Replaced> {
    let mut words: Vec<(Range<usize>, u64)> = Vec::new();
    let mut end = 0;
    analyser.analyse(text, |term, range| {
        let known = query.index_of(term).and_then(|at| query.terms().get(at));
        if let Some(known) = known.filter(|_| range.start >= end) {
            words.push((range.clone(), known.chunks));
        }
        end = end.max(range.end);
    });
    words.retain(|(_, chunks)| *chunks <= MOST_CHUNKS);
    let mut offered = Replaced::new();
    for (range, chunks) in words {
        let word = text.get(range.clone()).unwrap_or_default();
        let lower = word.to_lowercase();
        let number = embed::word_number(&lower).filter(|number| *number >= LEAST_NUMBER);
        let Some(number) = number.filter(|_| may_be_slip(text, &range, parsed, intent)) else {
            continue;
        };
        let spelling = usual_spelling(&lower, (number, chunks), sources, analyser)?;
        offered.extend(spelling.map(|usual| (word.to_owned(), usual)));
    }
    Ok(offered)
}

/// The usual spelling of a word with a number and chunks: the one that most chunks have.
fn usual_spelling(
    word: &str,
    (number, chunks): (u32, u64),
    sources: &Sources<'_>,
    analyser: &mut Analyser,
) -> Result<Option<String>> {
    let mut usual: Vec<(u32, String)> = Vec::new();
    one_edit::for_each(word, |other| {
        let known = embed::word_number(other);
        let known = known.filter(|known| known.saturating_mul(LEAST_RATIO) <= number);
        // A word of the documents may be right, unless it is written as slips are.
        let known = known.filter(|_| chunks == 0 || is_common_slip(word, other));
        usual.extend(known.map(|known| (known, other.to_owned())));
        Ok::<(), kb_types::error::Error>(())
    })?;
    usual.sort_unstable();
    usual.dedup();
    usual.truncate(MOST_COUNTED);
    let segments = sources.keyword_segments()?;
    let own = term_of(word, analyser);
    let mut best: Option<(Reverse<u64>, String)> = None;
    for (_, other) in usual {
        let Some(term) = term_of(&other, analyser).filter(|term| own.as_ref() != Some(term)) else {
            continue;
        };
        let of_other = chunks_of(&term, &segments)?;
        if of_other >= chunks.saturating_mul(LEAST_FACTOR).max(1) {
            let found = (Reverse(of_other), other);
            if best.as_ref().is_none_or(|best| found < *best) {
                best = Some(found);
            }
        }
    }
    Ok(best.map(|(_, other)| other))
}

/// Whether two words at one edit differ as a slip does: in the order of two letters, in a letter that is written once
/// or twice, or in a vowel.
fn is_common_slip(word: &str, other: &str) -> bool {
    let (a, b) = (word.as_bytes(), other.as_bytes());
    let shared = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (rest_a, rest_b) = (
        a.get(shared..).unwrap_or_default(),
        b.get(shared..).unwrap_or_default(),
    );
    let is_vowel = |letter: Option<&u8>| letter.is_some_and(|letter| b"aeiou".contains(letter));
    match a.len().cmp(&b.len()) {
        std::cmp::Ordering::Equal => {
            let is_order = rest_a.first() == rest_b.get(1) && rest_a.get(1) == rest_b.first();
            is_order || (is_vowel(rest_a.first()) && is_vowel(rest_b.first()))
        }
        // The letter that one of them has more is the one before it.
        std::cmp::Ordering::Less => is_twice(b, shared),
        std::cmp::Ordering::Greater => is_twice(a, shared),
    }
}

/// Whether the letter at a place is the same as the one before it.
fn is_twice(word: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| word.get(before));
    before.is_some() && before == word.get(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_told_from_other_words() {
        for (word, other) in [
            ("recieve", "receive"),
            ("lenght", "length"),
            ("adress", "address"),
            ("neccessary", "necessary"),
            ("existance", "existence"),
            ("begining", "beginning"),
        ] {
            assert!(is_common_slip(word, other), "{word}");
            assert!(is_common_slip(other, word), "{other}");
        }
        for (word, other) in [
            ("filer", "file"),
            ("poster", "posted"),
            ("sporting", "sorting"),
            ("coping", "coding"),
            ("shard", "share"),
        ] {
            assert!(!is_common_slip(word, other), "{word}");
        }
    }
}
