//! What an answer says of the words of its query that no document has.

use std::ops::Range;

use crate::resolve::abbreviate;
use crate::search::plan::Plan;
use crate::search::response::Correction;

/// The words that were replaced, and where they are in the query.
pub(super) fn corrections(plan: &Plan<'_>, query: &str) -> Vec<Correction> {
    let mut end = 0;
    let corrections = plan.corrections.iter().map(|(from, to)| {
        let span = span_of(from, query, end);
        end = span.end;
        Correction {
            from: from.clone(),
            to: to.clone(),
            span,
        }
    });
    corrections.collect()
}

/// Where a word is first written in a query, by itself, from a byte on. What is searched is the query without its
/// operators, with other positions.
fn span_of(word: &str, query: &str, from: usize) -> Range<usize> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '-' | '"');
    let places = query.match_indices(word).filter(|(at, _)| *at >= from);
    let mut free = places.filter(|(at, word)| {
        let (before, rest) = query.split_at_checked(*at).unwrap_or_default();
        let after = rest.get(word.len()..).unwrap_or_default();
        !before.ends_with(is_word) && !after.starts_with(char::is_alphanumeric)
    });
    let at = free.next().map_or(from, |(at, _)| at);
    at..(at + word.len()).min(query.len())
}

/// Says which words of the query no document has or may be misspelled, and what was done about it.
pub(super) fn warnings(plan: &Plan<'_>) -> Vec<String> {
    let corrected = plan.corrections.iter().map(|(from, to)| {
        format!(
            "no document has {from}: showing results for {to}; search instead for {from} with exact"
        )
    });
    let missing = plan.missing.iter();
    let missing = missing.map(|name| format!("no document has {}", abbreviate(name)));
    let offered = plan.offered.iter();
    let offered = offered.map(|(word, usual)| format!("did you mean {usual} for {word}?"));
    let mut warnings: Vec<String> = corrected.chain(offered).chain(missing).collect();
    warnings.dedup();
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_where_it_stands_by_itself() {
        for (query, from, at) in [
            ("seperate", 0, 0),
            ("how are files seperate?", 0, 14),
            ("seperated seperate", 0, 10),
            ("path:seperate seperate", 0, 14),
            ("-seperate Stra\u{df}e, (seperate)", 0, 20),
            ("seperate or seperate", 8, 12),
        ] {
            let span = span_of("seperate", query, from);
            assert_eq!(span, at..at + 8, "{query}");
        }
    }

    #[test]
    fn a_word_that_is_not_there_has_a_place_within_the_query() {
        assert_eq!(span_of("seperate", "a", 0), 0..1);
        assert_eq!(span_of("seperate", "", 0), 0..0);
    }
}
