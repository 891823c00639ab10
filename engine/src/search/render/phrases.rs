//! Finds the quoted phrases of a query in the text of a hit, so that the lines with them are shown: who quotes
//! words looks for that place, whether the phrase filters or stands in running text.

use std::borrow::Cow;

use crate::index::keyword::{Form, Phrase, PhraseMatcher};
use crate::search::query::execute::PHRASES_LIMIT;
use crate::search::query::parsed::ParsedQuery;
use crate::search::render::snippet::Highlight;

/// Weight of each end of a phrase, in the sum of the weights of all terms: lines with a phrase weigh more than
/// any lines without, and among lines with it the other words still count.
const END_WEIGHT: f32 = 4.0;

/// Most occurrences of a phrase that count in one text.
// A text of one repeated word has as many occurrences as words; they show nothing that the first
// ones do not.
const OCCURRENCES_LIMIT: usize = 256;

/// The beginning of a phrase is sought so many bytes before its end.
// Words may be apart by any number of spaces. A phrase that is longer in the text is marked from
// there on.
const PHRASE_LIMIT_BYTES: usize = 1024;

/// A phrase in the two forms that its words may have.
#[derive(Debug)]
struct QuotedPhrase {
    /// The same words, ignoring case: `page cache` finds `Page-Cache`, not `page caches`.
    written: PhraseMatcher,
    /// Other forms of its words, where it does not occur as written.
    stemmed: PhraseMatcher,
}

/// The quoted phrases of a query.
#[derive(Debug)]
pub(crate) struct QuotedPhrases {
    phrases: Vec<QuotedPhrase>,
}

impl QuotedPhrases {
    /// The phrases of a query. Excluded ones and those of a field are none.
    pub(crate) fn of(query: &ParsedQuery) -> QuotedPhrases {
        let mut phrases: Vec<Phrase> = Vec::new();
        for phrase in query.quoted().map(Phrase::new) {
            let counts = !phrase.is_empty() && !phrase.is_bare_word();
            if counts && phrases.len() < PHRASES_LIMIT && !phrases.contains(&phrase) {
                phrases.push(phrase);
            }
        }
        QuotedPhrases {
            phrases: phrases
                .iter()
                .map(|phrase| QuotedPhrase {
                    written: PhraseMatcher::new(phrase, Form::Written),
                    stemmed: PhraseMatcher::new(phrase, Form::Stemmed),
                })
                .collect(),
        }
    }

    /// `highlights` of a text and the first and last characters of its phrases, by their starts. Each end is a
    /// term of its own, numbered from `first_term` on; `weight` is that of all terms together.
    pub(crate) fn added_to<'h>(
        &mut self,
        text: &str,
        highlights: &'h [Highlight],
        first_term: usize,
        weight: f32,
    ) -> Cow<'h, [Highlight]> {
        let weight = END_WEIGHT * if weight > 0.0 { weight } else { 1.0 };
        let mut ends: Vec<Highlight> = Vec::new();
        for (number, phrase) in self.phrases.iter_mut().enumerate() {
            let mut matcher = &mut phrase.written;
            let mut occurrences = occurrences(matcher, text);
            // As filters do it: other forms of the words count only where nobody wrote the phrase
            // itself.
            if occurrences.is_empty() {
                matcher = &mut phrase.stemmed;
                occurrences = self::occurrences(matcher, text);
            }
            for end in occurrences {
                let start = start_of(matcher, text, end);
                let first = start..text.ceil_char_boundary(start + 1).min(end);
                let last = text.floor_char_boundary(end.saturating_sub(1)).max(start)..end;
                for (side, range) in [first, last].into_iter().enumerate() {
                    ends.push(Highlight {
                        range,
                        weight,
                        term: first_term + 2 * number + side,
                    });
                }
            }
        }
        if ends.is_empty() {
            return Cow::Borrowed(highlights);
        }
        ends.extend_from_slice(highlights);
        ends.sort_by_key(|highlight| highlight.range.start);
        Cow::Owned(ends)
    }
}

/// Where a phrase ends in a text.
fn occurrences(matcher: &mut PhraseMatcher, text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    matcher.each_end(text, |end| {
        if ends.len() < OCCURRENCES_LIMIT {
            ends.push(end);
        }
    });
    ends
}

/// Where the phrase that ends at byte `end` of a text begins.
fn start_of(matcher: &mut PhraseMatcher, text: &str, end: usize) -> usize {
    let (mut start, mut after) = (
        text.ceil_char_boundary(end.saturating_sub(PHRASE_LIMIT_BYTES)),
        end,
    );
    // The phrase is in the text from `start`, and not in that from `after`.
    loop {
        // By halves: the matcher tells only where a phrase ends, and trying every start would be
        // quadratic.
        let middle = text.floor_char_boundary(start.midpoint(after));
        if middle <= start {
            return start;
        }
        if matcher.matches(text.get(middle..end).unwrap_or_default()) {
            start = middle;
        } else {
            after = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::query::parser::parse;

    /// The ends of the phrases in a text, as byte ranges from the first to the last.
    fn found(query: &str, text: &str) -> Vec<String> {
        let mut phrases = QuotedPhrases::of(&parse(query));
        let marks = phrases.added_to(text, &[], 0, 1.0);
        let starts = marks.iter().filter(|mark| mark.term % 2 == 0);
        let ends = marks.iter().filter(|mark| mark.term % 2 == 1);
        starts
            .zip(ends)
            .map(|(first, last)| text[first.range.start..last.range.end].to_owned())
            .collect()
    }

    #[test]
    fn a_phrase_is_found_with_its_beginning_and_end() {
        let text = "Pull it. The moon,\n  pulls the sea; themoon pulls. The moon pulls.";
        let both = ["moon,\n  pulls", "moon pulls"];
        for query in [
            "\"moon pulls\"",
            "how far does the \"moon pulls\" reach?",
            "tide +\"moon pulls\"",
        ] {
            assert_eq!(found(query, text), both, "{query}");
        }
        for query in [
            "moon pulls",
            "-\"moon pulls\" x",
            "title:\"moon pulls\" x",
            "\"the\"",
        ] {
            assert_eq!(found(query, text), [""; 0], "{query}");
        }
    }

    #[test]
    fn other_forms_count_where_there_is_no_exact_one() {
        assert_eq!(
            found("\"moon pull\"", "a moon pulls\nmoon pull\n"),
            ["moon pull"]
        );
        assert_eq!(found("\"moon pull\"", "a moon pulls\n"), ["moon pulls"]);
        assert_eq!(
            found("\"\u{706f}\u{53f0}\"", "a \u{706f}\u{53f0}\u{5b88}"),
            ["\u{706f}\u{53f0}"]
        );
    }
}
