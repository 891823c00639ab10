//! Verbatim: the words of a statement or an error message in a row, as the text has them. What a program filled in
//! stands between them where the text has a placeholder: `{}`, `%s`, `${path}`, `" + name + "`.

use std::ops::Range;

use crate::index::keyword::{Analyser, Query};
use crate::search::query::intent::{Ask, Intent};

/// Most words of a query that are looked for. A longer one says enough by its first words.
const WORDS_LIMIT: usize = 64;

/// Fewest words of a row.
// Two words beside each other count as a pair already.
const LEAST_WORDS: usize = 3;

/// Weight of a word that is no term: `the`, `is`. The others have their idf, mostly 2 to 9.
const FUNCTION_WORD_WEIGHT: f32 = 0.5;

/// Most words of the query that were filled in at one place.
// A path of six folders.
const FILLED_WORDS: usize = 8;

/// Most words of the text between two words of a row: the name of what is filled in.
const PLACEHOLDER_WORDS: usize = 4;

/// Most bytes between two neighbours, and around a placeholder.
const GAP_LIMIT_BYTES: usize = 24;
const PLACEHOLDER_LIMIT_BYTES: usize = 64;

/// Signs of a placeholder, or of a text that is put together from parts.
const PLACEHOLDER_SIGNS: [char; 6] = ['{', '%', '$', '+', '"', '`'];

/// Most places of one word in a query.
const SAME_WORDS: usize = 4;

/// Matches before one that may be the word before it.
const LOOK_BACK: usize = 32;

/// Share of a row that stands outside of a string of a program, for a message and for a quotation. Other statements count
/// by their words there: a share of theirs was tried (docs/decisions/12-reranking.md).
const OUTSIDE_SHARE: f32 = 0.7;

/// The words of a query in their order.
#[derive(Debug)]
pub(super) struct Verbatim {
    words: Vec<Word>,
    total: f32,
    /// Bits of the lengths of the words, so that most words of a text are compared with none.
    lengths: u64,
    /// Share of a row outside of a string.
    outside: f32,
    matches: Vec<Match>,
}

/// A word of a query.
#[derive(Debug, Clone)]
struct Word {
    /// In lower case.
    text: String,
    /// 0 for one that no chunk has.
    weight: f32,
    /// Numbers of its terms in the query; none for `the`.
    terms: Vec<usize>,
}

/// A word of a text that is one of the query.
#[derive(Debug, Clone)]
struct Match {
    /// Number of the word in the query.
    of_query: usize,
    /// Number of the word in the text.
    of_text: usize,
    range: Range<usize>,
    /// Of the best row that ends here: its weight, its words, the byte where it begins.
    weight: f32,
    count: usize,
    start: usize,
}

impl Verbatim {
    /// The words of a query, whose text is `text`; `None` with fewer than a row has.
    pub(super) fn new(
        (text, intent): (&str, &Intent),
        query: &Query<'_>,
        analyser: &mut Analyser,
    ) -> Option<Verbatim> {
        let mut terms: Vec<(Range<usize>, usize)> = Vec::new();
        analyser.analyse(text, |term, range| {
            let number = query.index_of(term);
            terms.extend(number.map(|number| (range, number)));
        });
        let weight = |number: usize| match query.terms().get(number) {
            Some(term) if term.chunks > 0 => term.weighted_idf(),
            _ => 0.0,
        };
        let words = words_of(text).take(WORDS_LIMIT).map(|range| {
            let of_word = terms
                .iter()
                .filter(|(of, _)| of.start < range.end && range.start < of.end);
            let terms: Vec<usize> = of_word.map(|(_, number)| *number).collect();
            let weights = terms.iter().map(|number| weight(*number));
            Word {
                text: text.get(range).unwrap_or_default().to_lowercase(),
                weight: weights.reduce(f32::max).unwrap_or(FUNCTION_WORD_WEIGHT),
                terms,
            }
        });
        let words = words.collect();
        let is_quoted = intent.ask == Ask::Message || intent.has_quote;
        Verbatim::with_weights(words, if is_quoted { OUTSIDE_SHARE } else { 0.0 })
    }

    fn with_weights(words: Vec<Word>, outside: f32) -> Option<Verbatim> {
        let total: f32 = words.iter().map(|word| word.weight).sum();
        let is_row = words.len() >= LEAST_WORDS && total > 0.0;
        is_row.then(|| Verbatim {
            lengths: words
                .iter()
                .fold(0, |bits, word| bits | bit(word.text.len())),
            words,
            total,
            outside,
            matches: Vec::new(),
        })
    }

    /// The most that [`Self::share`] can be of a text that has the terms of the query so many times, by number.
    pub(super) fn bound(&self, frequencies: &[u32], is_code: bool) -> f32 {
        let is_there = |term: &usize| frequencies.get(*term).is_some_and(|times| *times > 0);
        let may_be = |word: &&Word| word.terms.is_empty() || word.terms.iter().any(is_there);
        let weights = self.words.iter().filter(may_be).map(|word| word.weight);
        let share = if is_code { 1.0 } else { self.outside };
        weights.sum::<f32>() * share / self.total
    }

    /// The share of the words, by weight, that the best row of them in a text has, 0..1. Less outside of the strings of a
    /// program.
    pub(super) fn share(&mut self, text: &str, is_code: bool) -> f32 {
        self.matches.clear();
        let mut best = 0.0_f32;
        for (of_text, range) in words_of(text).enumerate() {
            if self.lengths & bit(range.len()) == 0 {
                continue;
            }
            let word = text.get(range.clone()).unwrap_or_default();
            // What is found of one word does not follow on itself.
            let before = self.matches.len();
            let words = self.words.iter().enumerate();
            let same = words.filter(|(_, known)| is_same(&known.text, word));
            for (of_query, known) in same.take(SAME_WORDS) {
                let mut found = Match {
                    of_query,
                    of_text,
                    range: range.clone(),
                    weight: known.weight,
                    count: 1,
                    start: range.start,
                };
                let others = self.matches.get(..before).unwrap_or_default();
                let others = others.iter().rev();
                let follows = others
                    .take(LOOK_BACK)
                    .filter(|other| other.precedes(&found, text));
                if let Some(other) = follows.max_by(|a, b| a.weight.total_cmp(&b.weight)) {
                    found.weight += other.weight;
                    found.count = other.count + 1;
                    found.start = other.start;
                }
                if found.count >= LEAST_WORDS {
                    let share = if is_code && is_in_string(text, found.start) {
                        1.0
                    } else {
                        self.outside
                    };
                    best = best.max(found.weight * share);
                }
                self.matches.push(found);
            }
        }
        (best / self.total).min(1.0)
    }
}

impl Match {
    /// Whether another word comes next, beside it or behind a placeholder.
    fn precedes(&self, next: &Match, text: &str) -> bool {
        if next.of_query <= self.of_query || next.of_text <= self.of_text {
            return false;
        }
        let (asked, read) = (next.of_query - self.of_query, next.of_text - self.of_text);
        let gap = text
            .get(self.range.end..next.range.start)
            .unwrap_or_default();
        if asked == 1 && read == 1 && gap.len() <= GAP_LIMIT_BYTES {
            return true;
        }
        asked <= FILLED_WORDS + 1
            && read <= PLACEHOLDER_WORDS + 1
            && gap.len() <= PLACEHOLDER_LIMIT_BYTES
            && gap.contains(PLACEHOLDER_SIGNS)
    }
}

/// The words of a text: runs of letters and digits.
fn words_of(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = end_of_run(text, at, false);
        at = end_of_run(text, start, true);
        (start < at).then_some(start..at)
    })
}

/// Where a run of letters and digits ends that begins at a byte, or a run of all others.
// By bytes where they are ASCII: each text of a candidate is read through here.
fn end_of_run(text: &str, from: usize, of_words: bool) -> usize {
    let mut at = from;
    while let Some(byte) = text.as_bytes().get(at) {
        let (is_word, length) = if byte.is_ascii() {
            (byte.is_ascii_alphanumeric(), 1)
        } else {
            let next = text.get(at..).and_then(|rest| rest.chars().next());
            next.map_or((false, 1), |next| (next.is_alphanumeric(), next.len_utf8()))
        };
        if is_word != of_words {
            break;
        }
        at += length;
    }
    at
}

fn bit(length: usize) -> u64 {
    1 << length.min(63)
}

/// Whether a word of a text is one of the query, which is in lower case.
fn is_same(known: &str, word: &str) -> bool {
    known.len() == word.len()
        && (known.eq_ignore_ascii_case(word) || (!word.is_ascii() && word.to_lowercase() == known))
}

/// Whether a quote stands before a place on its line.
fn is_in_string(text: &str, start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.contains(['"', '\'', '`'])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_are_runs_of_letters_and_digits(text in "[a-c1 ._é²ß\u{301}\u{4e00}\u{1f600}-]{0,40}") {
            let words: Vec<&str> = words_of(&text).map(|range| &text[range]).collect();
            let split = text.split(|c: char| !c.is_alphanumeric());
            let expected: Vec<&str> = split.filter(|word| !word.is_empty()).collect();
            prop_assert_eq!(words, expected);
        }
    }

    fn word(text: &str) -> Word {
        Word {
            text: text.to_owned(),
            weight: 1.0,
            terms: Vec::new(),
        }
    }

    fn share(query: &str, text: &str) -> f32 {
        let words = words_of(query).map(|range| word(&query[range].to_lowercase()));
        Verbatim::with_weights(words.collect(), OUTSIDE_SHARE)
            .map_or(0.0, |mut verbatim| verbatim.share(text, true))
    }

    #[test]
    fn a_message_is_found_around_what_was_filled_in() {
        let asked = "cannot read /etc/app.toml: 3 of 12 rows are damaged";
        for text in [
            "bail!(\"cannot read {path}: {} of {} rows are damaged\");",
            "printf(\"cannot read %s: %d of %d rows are damaged\", path, a, b);",
            "throw new Error(`cannot read ${path}: ${a} of ${b} rows are damaged`)",
            "raise E(\"cannot read \" + path + \": \" + a + \" of \" + b + \" rows are damaged\")",
        ] {
            let found = share(asked, text);
            assert!((found - 6.0 / 11.0).abs() < 1e-6, "{found} {text}");
        }
    }

    #[test]
    fn only_words_in_a_row_count() {
        let asked = "rows are damaged here";
        assert_eq!(share(asked, "\"rows are damaged here\""), 1.0);
        assert_eq!(share(asked, "Rows ARE damaged here"), OUTSIDE_SHARE);
        assert_eq!(share(asked, "\"rows are damaged\""), 0.75);
        for text in [
            "\"here are damaged rows\"",
            "\"rows are not damaged, are not here\"",
            "\"rows are\"",
            "rows(are)                                          damaged",
            "",
        ] {
            assert_eq!(share(asked, text), 0.0, "{text}");
        }
        assert_eq!(share("rows are", "\"rows are\""), 0.0);
        let words = ["a", "b", "c"].map(word);
        let mut asked = Verbatim::with_weights(words.to_vec(), 0.0).unwrap();
        assert_eq!(asked.share("`a b c`", false), 0.0);
        assert_eq!(asked.share("`a b c`", true), 1.0);
    }

    #[test]
    fn no_row_says_more_than_its_bound() {
        let words = ["rows", "are", "damaged", "gone"].into_iter().enumerate();
        let words = words.map(|(number, text)| Word {
            // `are` is no term.
            terms: if number == 1 {
                Vec::new()
            } else {
                vec![number]
            },
            ..word(text)
        });
        let mut asked = Verbatim::with_weights(words.collect(), OUTSIDE_SHARE).unwrap();
        assert_eq!(asked.bound(&[2, 0, 1, 0], true), 0.75);
        assert_eq!(asked.share("\"rows are damaged\"", true), 0.75);
        assert_eq!(asked.bound(&[2, 0, 1, 0], false), 0.75 * OUTSIDE_SHARE);
        assert_eq!(
            asked.share("\"rows are damaged\"", false),
            0.75 * OUTSIDE_SHARE
        );
        assert_eq!(asked.bound(&[], true), 0.25);
    }

    #[test]
    fn repeated_words_take_bounded_time() {
        let many = "a ".repeat(2_000);
        let found = share(&"a ".repeat(200), &many);
        assert!(found > 0.0 && found < 0.1, "{found}");
    }

    #[test]
    fn words_of_other_scripts_are_compared_in_lower_case() {
        let asked = "\u{dc}ber die Gr\u{f6}\u{df}e";
        assert_eq!(share(asked, "\"\u{fc}ber DIE gr\u{f6}\u{df}e\""), 1.0);
    }
}
