//! Adjacency: terms that are neighbours in the query and in the text of a chunk.

use std::ops::Range;

use crate::index::keyword::{Analyser, Query, QueryTerm};
use crate::search::rank::names::is_part_of;
use crate::search::read_cache::Occurrence;

/// Weight of a pair of words in the other order.
// The order of two words often says nothing (`file reader`, `reader of files`), but not always.
const REVERSED: f32 = 0.5;

/// Most pairs of words of a query that count.
// Each pair is looked for in 20 to 100 texts. A longer query says enough by its first pairs.
const PAIRS_LIMIT: usize = 64;

/// Most bytes between two neighbours.
// One word or a few signs may stand between: `read_the_file`, `read (file)`.
const GAP_LIMIT_BYTES: usize = 16;

/// What a word counts at most for a pair: once before the other word and once, reversed, behind it.
const PAIRS_OF_WORD: f32 = 1.0 + REVERSED;

/// Two neighbouring words of a query.
#[derive(Debug)]
struct Pair {
    /// Numbers of the terms of the words as they are written.
    words: (usize, usize),
}

/// The pairs of neighbouring terms of a query.
#[derive(Debug)]
pub(super) struct Pairs {
    pairs: Vec<Pair>,
    /// The word of each term of the query; empty where no word has other forms.
    words: Vec<usize>,
    /// Occurrences of each pair in the text at hand, those in the order of the query counted whole.
    counts: Vec<f32>,
}

impl Pairs {
    /// The pairs of a query, whose text is `text`; `None` without any.
    pub(super) fn new(text: &str, query: &Query<'_>, analyser: &mut Analyser) -> Option<Pairs> {
        let terms = query.terms();
        let mut content: Vec<(usize, Range<usize>)> = Vec::new();
        analyser.analyse(text, |term, range| {
            if content
                .last()
                .is_some_and(|(_, before)| is_part_of(&range, before))
            {
                content.pop();
            }
            if let Some(number) = query.index_of(term) {
                let form_of = terms.get(number).and_then(|term| term.form_of);
                let word = (form_of.unwrap_or(number), range);
                if content.last() != Some(&word) {
                    content.push(word);
                }
            }
        });
        // What is not content is passed over, in the query and in the text: "parsing of the header" has the
        // pair parsing, header.
        content.retain(|(number, _)| terms.get(*number).is_some_and(QueryTerm::is_content));
        let mut pairs: Vec<Pair> = Vec::new();
        for ((first, a), (second, b)) in content.iter().zip(content.iter().skip(1)) {
            let is_known = pairs.iter().any(|pair| pair.is_of(*first, *second));
            // Bigrams of one run of characters overlap: each has its neighbour in it already.
            if first == second || is_known || b.start < a.end || pairs.len() >= PAIRS_LIMIT {
                continue;
            }
            pairs.push(Pair {
                words: (*first, *second),
            });
        }
        (!pairs.is_empty()).then(|| Pairs {
            counts: vec![0.0; pairs.len()],
            pairs,
            words: if terms.iter().any(|term| term.form_of.is_some()) {
                let numbered = terms.iter().enumerate();
                numbered
                    .map(|(number, term)| term.form_of.unwrap_or(number))
                    .collect()
            } else {
                Vec::new()
            },
        })
    }

    /// The BM25 score of the pairs in a text as a share of the most that they can reach, 0..1. Every pair has
    /// the same idf: on the development sets the sum, least or largest of the idf of its terms gain nothing.
    /// `occurrences` are those of the terms of the query, in the order of the text; `norm` is
    /// that of the chunk.
    pub(super) fn score(&mut self, text: &str, occurrences: &[Occurrence], norm: f32) -> f32 {
        let of_words = (!self.words.is_empty()).then(|| self.words_of(occurrences));
        let occurrences = of_words.as_deref().unwrap_or(occurrences);
        let Pairs { pairs, counts, .. } = self;
        counts.fill(0.0);
        // Where occurrences are that the next one may be beside: one, but for identifiers and their parts.
        let mut near = 0;
        for (here, (number, range)) in occurrences.iter().enumerate() {
            let before = occurrences.get(..here).unwrap_or_default();
            let is_far = |(_, before): &Occurrence| {
                before.end <= range.start && !has_no_word(text, before.end..range.start)
            };
            near += before.iter().skip(near).take_while(|at| is_far(at)).count();
            for (other, there) in before.iter().skip(near) {
                if there.end <= range.start && has_no_word(text, there.end..range.start) {
                    for (pair, count) in pairs.iter().zip(counts.iter_mut()) {
                        *count += pair.weight_of(*other, *number);
                    }
                }
            }
        }
        let scores: f32 = counts.iter().map(|count| count / (count + norm)).sum();
        scores / pairs.len() as f32
    }
}

impl Pairs {
    /// The most that [`Pairs::score`] can be for a text that has each term of the query so many times.
    pub(super) fn bound(&self, frequencies: &[u32], norm: f32) -> f32 {
        let times = |word: usize| -> u32 {
            if self.words.is_empty() {
                return frequencies.get(word).copied().unwrap_or(0);
            }
            let forms = self.words.iter().zip(frequencies);
            let of_word = forms.filter(|(of, _)| **of == word);
            of_word.map(|(_, times)| *times).sum()
        };
        let bounds = self.pairs.iter().map(|pair| {
            let most = times(pair.words.0).min(times(pair.words.1));
            let count = most as f32 * PAIRS_OF_WORD;
            count / (count + norm)
        });
        bounds.sum::<f32>() / self.pairs.len() as f32
    }

    /// The occurrences of words instead of their forms, each once.
    fn words_of(&self, occurrences: &[Occurrence]) -> Vec<Occurrence> {
        let words = occurrences.iter().map(|(number, range)| {
            let word = self.words.get(*number).copied();
            (word.unwrap_or(*number), range.clone())
        });
        let mut words: Vec<Occurrence> = words.collect();
        words.dedup();
        words
    }
}

impl Pair {
    /// Whether it is the pair of two words, in either order.
    fn is_of(&self, a: usize, b: usize) -> bool {
        self.weight_of(a, b) > 0.0
    }

    /// What an occurrence of two words, one after the other, counts.
    fn weight_of(&self, a: usize, b: usize) -> f32 {
        if self.words == (a, b) {
            1.0
        } else if self.words == (b, a) {
            REVERSED
        } else {
            0.0
        }
    }
}

/// Whether a gap of a text is short and has no word.
fn has_no_word(text: &str, gap: Range<usize>) -> bool {
    gap.len() <= GAP_LIMIT_BYTES
        && !text
            .get(gap)
            .unwrap_or_default()
            .contains(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::keyword::{Statistics, TermSet};

    /// A query of no segment: pairs need idf and weights alone. The terms are for the occurrences.
    fn query(text: &str) -> (Option<Pairs>, TermSet) {
        let mut analyser = Analyser::new();
        let statistics = Statistics {
            chunks: 100,
            total_length: 1000,
        };
        let weight = |word: &str| if word.len() <= 3 { 0.2 } else { 1.0 };
        let query = Query::weighted(&mut analyser, text, &[], statistics, weight).unwrap();
        let terms = TermSet::new(query.terms().iter().map(|term| term.term.as_str()));
        (Pairs::new(text, &query, &mut analyser), terms)
    }

    fn pairs(text: &str) -> Option<Pairs> {
        query(text).0
    }

    fn score(asked: &str, text: &str) -> f32 {
        let (pairs, terms) = query(asked);
        let mut occurrences = Vec::new();
        Analyser::new().highlights(text, &terms, |number, range| {
            occurrences.push((number, range))
        });
        pairs.unwrap().score(text, &occurrences, 1.2)
    }

    #[test]
    fn neighbours_pass_over_weak_words() {
        assert_eq!(pairs("how are headers parsed").unwrap().pairs.len(), 1);
        assert_eq!(pairs("robots.txt parser class").unwrap().pairs.len(), 2);
        assert_eq!(pairs("parseHeaderLine").unwrap().pairs.len(), 2);
        assert!(pairs("headers").is_none());
        assert!(pairs("headers headers").is_none());
        assert!(pairs("how headers are").is_none());
        assert!(pairs("").is_none());
    }

    #[test]
    fn words_beside_each_other_score_more_than_apart() {
        let query = "retry middleware";
        let beside = score(query, "The retry middleware sleeps.");
        assert!(beside > 0.4, "{beside}");
        let reversed = score(query, "The middleware: retry once.");
        assert!((0.2..beside).contains(&reversed), "{reversed}");
        assert_eq!(score(query, "class RetryMiddleware:"), beside);
        assert_eq!(score(query, "retry_middleware = 3"), beside);
        assert!(score(query, "retry middleware, retry middleware") > beside);
        for apart in [
            "The retry of a middleware.",
            "retry\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\nmiddleware",
            "middleware",
            "",
        ] {
            assert_eq!(score(query, apart), 0.0, "{apart:?}");
        }
    }

    #[test]
    fn a_pair_may_have_any_form_of_a_word() {
        let asked = "K\u{f6}ln Rathaus";
        assert_eq!(pairs(asked).unwrap().pairs.len(), 1);
        let written = score(asked, "Der K\u{f6}ln Rathaus.");
        assert!(written > 0.4, "{written}");
        for text in ["Der Koln Rathaus.", "Der Koeln Rathaus."] {
            assert_eq!(score(asked, text), written, "{text}");
        }
    }

    #[test]
    fn a_score_is_a_share_of_all_pairs() {
        let query = "retry middleware settings";
        let (one, both) = (
            score(query, "retry middleware"),
            score(query, "retry middleware settings"),
        );
        assert!((both - 2.0 * one).abs() < 1e-6, "{one} {both}");
        let many = "retry middleware settings ".repeat(100_000);
        assert!((0.9..1.0).contains(&score(query, &many)));
    }
}
