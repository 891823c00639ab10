//! [`TrigramQuery`]: what the trigrams of a text must be for a pattern to match in it.
//!
//! Of each part of a pattern it is known what it matches if those are few strings, else how what it matches may
//! begin and end, and which trigrams must be in it; both are joined where parts follow each other (Cox 2012,
//! "Regular Expression Matching with a Trigram Index"). Everything is folded as trigrams are, so it holds for upper
//! and lower case alike.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use crate::index::trigram::trigrams::{Trigram, fold, trigram};

/// Most strings that a part of a pattern can match and still be known exactly.
// Concatenation multiplies them: two parts of 16 give 256 before they are reduced. Cox's code
// search (2012) bounds the same sets.
const MAX_EXACT: usize = 16;

/// Most prefixes or suffixes of a part that are kept.
const MAX_AFFIXES: usize = 16;

/// Longest string that is kept whole; of longer ones their trigrams are.
const MAX_EXACT_BYTES: usize = 64;

/// Most copies of a repeated part that are written out.
// `(abc){4}` yields all its trigrams with two copies; more copies only repeat them.
const MAX_UNROLLED: u32 = 4;

/// A condition on the set of trigrams of a text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TrigramQuery {
    /// Every text may match.
    Any,
    /// No text matches.
    Nothing,
    /// The text has that trigram.
    Has(Trigram),
    /// All of these hold.
    And(BTreeSet<TrigramQuery>),
    /// One of these holds.
    Or(BTreeSet<TrigramQuery>),
}

impl TrigramQuery {
    /// What holds for every text that has a match of `pattern`.
    pub(super) fn of(pattern: &Hir) -> TrigramQuery {
        let mut part = Part::of(pattern);
        part.give_up_exact();
        part.query
    }

    fn and(self, other: TrigramQuery) -> TrigramQuery {
        use TrigramQuery::{And, Any, Nothing};
        match (self, other) {
            (Nothing, _) | (_, Nothing) => Nothing,
            (Any, other) => other,
            (query, Any) => query,
            (And(mut all), And(others)) => {
                all.extend(others);
                And(all)
            }
            (And(mut all), other) | (other, And(mut all)) => {
                all.insert(other);
                And(all)
            }
            (query, other) if query == other => query,
            (query, other) => And(BTreeSet::from([query, other])),
        }
    }

    fn or(self, other: TrigramQuery) -> TrigramQuery {
        use TrigramQuery::{Any, Nothing, Or};
        match (self, other) {
            (Any, _) | (_, Any) => Any,
            (Nothing, other) => other,
            (query, Nothing) => query,
            (Or(mut all), Or(others)) => {
                all.extend(others);
                Or(all)
            }
            (Or(mut all), other) | (other, Or(mut all)) => {
                all.insert(other);
                Or(all)
            }
            (query, other) if query == other => query,
            (query, other) => Or(BTreeSet::from([query, other])),
        }
    }

    /// A text that contains one of these strings.
    fn any_of<'s>(strings: impl IntoIterator<Item = &'s Vec<u8>>) -> TrigramQuery {
        let all_of = |string: &Vec<u8>| {
            let trigrams = string.windows(3).filter_map(|bytes| {
                let bytes = bytes.first_chunk::<3>()?;
                trigram(*bytes)
            });
            let all = trigrams.map(TrigramQuery::Has);
            all.fold(TrigramQuery::Any, TrigramQuery::and)
        };
        let each = strings.into_iter().map(all_of);
        each.fold(TrigramQuery::Nothing, TrigramQuery::or)
    }
}

/// What is known of what a part of a pattern matches. Strings are folded.
#[derive(Debug, Clone)]
struct Part {
    /// All that it matches; `None` where those are too many.
    exact: Option<BTreeSet<Vec<u8>>>,
    /// How all that it matches begins and ends; not used where `exact` is known.
    starts: BTreeSet<Vec<u8>>,
    ends: BTreeSet<Vec<u8>>,
    /// What else holds for the trigrams of every text that has a match.
    query: TrigramQuery,
}

impl Part {
    fn exact(strings: impl IntoIterator<Item = Vec<u8>>) -> Part {
        Part {
            exact: Some(strings.into_iter().collect()),
            starts: BTreeSet::new(),
            ends: BTreeSet::new(),
            query: TrigramQuery::Any,
        }
    }

    /// A part of which nothing is known.
    fn anything() -> Part {
        Part {
            exact: None,
            starts: BTreeSet::from([Vec::new()]),
            ends: BTreeSet::from([Vec::new()]),
            query: TrigramQuery::Any,
        }
    }

    fn of(hir: &Hir) -> Part {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Part::exact([Vec::new()]),
            HirKind::Literal(literal) => {
                let folded = literal.0.iter().map(|byte| fold(*byte));
                Part::exact([folded.collect()]).bounded()
            }
            HirKind::Class(class) => Part::of_class(class),
            HirKind::Capture(capture) => Part::of(&capture.sub),
            HirKind::Repetition(repetition) => Part::of_repetition(repetition),
            HirKind::Concat(subs) => {
                let parts = subs.iter().map(Part::of);
                parts.fold(Part::exact([Vec::new()]), Part::then)
            }
            HirKind::Alternation(subs) => {
                let parts = subs.iter().map(Part::of);
                parts.fold(Part::exact([]), Part::or)
            }
        }
    }

    fn of_class(class: &Class) -> Part {
        let mut strings = BTreeSet::new();
        match class {
            Class::Unicode(class) => {
                let characters = class.iter().flat_map(|range| range.start()..=range.end());
                for character in characters.take(MAX_EXACT * 2 + 1) {
                    let mut bytes = [0; 4];
                    let bytes = character.encode_utf8(&mut bytes).bytes();
                    strings.insert(bytes.map(fold).collect());
                }
                let count: usize = class.iter().map(|range| range.len()).sum();
                if count > MAX_EXACT * 2 {
                    return Part::anything();
                }
            }
            Class::Bytes(class) => {
                let bytes = class.iter().flat_map(|range| range.start()..=range.end());
                strings.extend(bytes.map(|byte| vec![fold(byte)]));
            }
        }
        if strings.len() > MAX_EXACT {
            return Part::anything();
        }
        Part::exact(strings)
    }

    fn of_repetition(repetition: &Repetition) -> Part {
        let sub = Part::of(&repetition.sub);
        let nothing = || Part::exact([Vec::new()]);
        let unrolled = repetition.min.min(MAX_UNROLLED);
        let mut part = (0..unrolled).fold(nothing(), |part, _| part.then(sub.clone()));
        match repetition.max {
            Some(max) if max == unrolled => part,
            Some(1) if unrolled == 0 => sub.or(nothing()),
            _ if unrolled == 0 => Part::anything(),
            _ => {
                // It ends as it does when it is repeated once.
                part.give_up_exact();
                let mut last = sub;
                last.give_up_exact();
                part.ends = last.ends;
                part
            }
        }
    }

    /// This part and then another.
    fn then(mut self, mut other: Part) -> Part {
        if let (Some(exact), Some(others)) = (&self.exact, &other.exact)
            && let Some(both) = product(exact, others, MAX_EXACT)
        {
            return Part {
                query: self.query.and(other.query),
                ..Part::exact(both)
            }
            .bounded();
        }
        let starts = match &self.exact {
            Some(exact) => {
                let starts = other.exact.as_ref().unwrap_or(&other.starts);
                product(exact, starts, MAX_AFFIXES)
            }
            None => None,
        };
        let ends = match &other.exact {
            Some(exact) => {
                let ends = self.exact.as_ref().unwrap_or(&self.ends);
                product(ends, exact, MAX_AFFIXES)
            }
            None => None,
        };
        self.give_up_exact();
        other.give_up_exact();
        let mut query = self.query.and(other.query);
        // Where the one ends and the other begins.
        if let Some(joints) = product(&self.ends, &other.starts, MAX_AFFIXES * MAX_AFFIXES) {
            query = query.and(TrigramQuery::any_of(&joints));
        }
        Part {
            exact: None,
            starts: starts.unwrap_or(self.starts),
            ends: ends.unwrap_or(other.ends),
            query,
        }
        .bounded()
    }

    /// This part or another.
    fn or(mut self, mut other: Part) -> Part {
        if let (Some(exact), Some(others)) = (&self.exact, &other.exact)
            && exact.len() + others.len() <= MAX_EXACT
        {
            // Both conditions are about what is beside these strings.
            return Part {
                query: self.query.or(other.query),
                ..Part::exact(exact.union(others).cloned())
            };
        }
        if self.exact.as_ref().is_some_and(BTreeSet::is_empty) {
            return other;
        }
        self.give_up_exact();
        other.give_up_exact();
        self.starts.extend(other.starts);
        self.ends.extend(other.ends);
        Part {
            exact: None,
            starts: self.starts,
            ends: self.ends,
            query: self.query.or(other.query),
        }
        .bounded()
    }

    /// Keeps of what it matches the beginnings, the ends and the trigrams.
    fn give_up_exact(&mut self) {
        let Some(exact) = self.exact.take() else {
            return;
        };
        let query = std::mem::replace(&mut self.query, TrigramQuery::Any);
        self.query = query.and(TrigramQuery::any_of(&exact));
        self.starts = exact.iter().map(|string| start_of(string)).collect();
        self.ends = exact.iter().map(|string| end_of(string)).collect();
    }

    /// Gives up what is too long or too much.
    fn bounded(mut self) -> Part {
        let is_long = |string: &Vec<u8>| string.len() > MAX_EXACT_BYTES;
        if self
            .exact
            .as_ref()
            .is_some_and(|exact| exact.iter().any(is_long))
        {
            self.give_up_exact();
        }
        if self.exact.is_none() {
            let query = std::mem::replace(&mut self.query, TrigramQuery::Any);
            self.query = query
                .and(TrigramQuery::any_of(&self.starts))
                .and(TrigramQuery::any_of(&self.ends));
            self.starts = self.starts.iter().map(|string| start_of(string)).collect();
            self.ends = self.ends.iter().map(|string| end_of(string)).collect();
            for affixes in [&mut self.starts, &mut self.ends] {
                if affixes.len() > MAX_AFFIXES {
                    *affixes = BTreeSet::from([Vec::new()]);
                }
            }
        }
        self
    }
}

/// As much of a beginning as may become part of a trigram with what comes before.
fn start_of(string: &[u8]) -> Vec<u8> {
    string.get(..2).unwrap_or(string).to_vec()
}

/// As much of an end.
fn end_of(string: &[u8]) -> Vec<u8> {
    let from = string.len().saturating_sub(2);
    string.get(from..).unwrap_or(string).to_vec()
}

/// Each of the one followed by each of the other; `None` for more than `limit`.
fn product(
    first: &BTreeSet<Vec<u8>>,
    second: &BTreeSet<Vec<u8>>,
    limit: usize,
) -> Option<BTreeSet<Vec<u8>>> {
    if first.len().saturating_mul(second.len()) > limit {
        return None;
    }
    let joined = first.iter().flat_map(|start| {
        second
            .iter()
            .map(move |end| [start.as_slice(), end].concat())
    });
    Some(joined.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(pattern: &str) -> TrigramQuery {
        TrigramQuery::of(&regex_syntax::parse(pattern).unwrap())
    }

    fn has(text: &str) -> TrigramQuery {
        TrigramQuery::any_of(&[text.as_bytes().to_vec()])
    }

    #[test]
    fn literals_need_their_trigrams() {
        assert_eq!(query("abc"), has("abc"));
        assert_eq!(query("AbCd"), has("abc").and(has("bcd")));
        assert_eq!(query(r"\bparse_header\("), has("parse_header("));
        assert_eq!(query("(?i)Quart"), has("quart"));
        // Of these letters there are more than two cases.
        assert_eq!(query("(?i)sea"), has("sea").or(has("\u{17f}ea")));
        let long = "0123456789".repeat(100);
        assert_eq!(query(&long), has(&long));
    }

    #[test]
    fn parts_are_joined_where_they_meet() {
        assert_eq!(query("ab[cd]"), has("abc").or(has("abd")));
        assert_eq!(query("abc.*xyz"), has("abc").and(has("xyz")));
        assert_eq!(query("ab+c"), TrigramQuery::Any);
        assert_eq!(query("(foo|bar)baz"), has("foobaz").or(has("barbaz")));
        assert_eq!(query("a(bc)+d"), has("abc").and(has("bcd")));
        assert_eq!(query("x{3}"), has("xxx"));
        assert_eq!(query("abc?"), TrigramQuery::Any);
        assert_eq!(query(r"fn \w+_header"), has("fn ").and(has("_header")));
    }

    #[test]
    fn what_may_match_anything_needs_nothing() {
        for pattern in [
            "",
            ".",
            "a|",
            "[a-z]{3}",
            r"\w+\s\d*",
            "ab",
            "(abc)*",
            "^$",
            "abc|d",
        ] {
            assert_eq!(query(pattern), TrigramQuery::Any, "{pattern}");
        }
        assert_eq!(query(r"[a&&b]"), TrigramQuery::Nothing);
    }

    #[test]
    fn many_alternatives_stay_alternatives() {
        let names: Vec<String> = (0..300).map(|n| format!("name_{n:03}")).collect();
        let query = format!("{:?}", query(&names.join("|")));
        let count = query.matches("Has").count();
        assert!(query.contains("Or(") && count > 100, "{count}");
    }
}
