//! [`Pattern`]: the text of a pattern as an automaton.

use kb_types::error::{Error, PatternFault, Result};
use regex_automata::Input;
use regex_automata::meta;
use regex_automata::nfa::thompson::WhichCaptures;
use regex_syntax::ParserBuilder;
use regex_syntax::ast;
use regex_syntax::hir::{
    self, Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look,
    Repetition,
};

use crate::search::regex::machine::{Machine, steps_per_byte};
use crate::search::regex::request::{PATTERN_LIMIT_BYTES, RegexRequest};
use crate::search::regex::trigram_query::TrigramQuery;

/// Most memory of the automaton of a pattern, in bytes.
// The default of the `regex` crate, enough for `\w{100}`. Time is linear in the text and, for the
// worst patterns, in the size of the automaton: see [`Pattern::steps_per_byte`].
const AUTOMATON_LIMIT_BYTES: usize = 10 << 20;

/// Deepest nesting of groups and repetitions: what is done with a pattern recurses as deep.
// Parsing and compiling recurse as deep. Patterns of people have some ten levels.
const NEST_LIMIT: u32 = 100;

/// A pattern, ready to search.
#[derive(Debug)]
pub(super) struct Pattern {
    regex: meta::Regex,
    /// What it was made of.
    hir: Hir,
    /// The most steps that a search takes for a byte, about.
    steps_per_byte: u64,
    /// Whether matches may reach over lines.
    is_multi_line: bool,
    /// Whether it must be searched in whole documents: matches reach over lines, or are bound to the ends of a text.
    needs_document: bool,
    /// Whether it has an empty match wherever one is looked for.
    matches_anywhere: bool,
    /// What the trigrams of a text with a match are.
    trigrams: TrigramQuery,
}

impl Pattern {
    /// Parses the pattern of a request and makes its automaton, in some milliseconds at most.
    ///
    /// # Errors
    /// [`Error::InvalidPattern`].
    pub(super) fn compile(request: &RegexRequest) -> Result<Pattern> {
        let pattern = &*request.pattern;
        if pattern.len() > PATTERN_LIMIT_BYTES {
            return Err(Error::InvalidPattern {
                position: None,
                reason: format!(
                    "it has {} bytes, more than {PATTERN_LIMIT_BYTES}",
                    pattern.len()
                ),
                fault: PatternFault::TooLarge,
            });
        }
        let hir = parse(request)?;
        let hir = if request.multi_line {
            hir
        } else {
            without_line_ends(hir)?
        };
        let hir = if request.whole_words {
            let start = Hir::look(Look::WordStartHalfUnicode);
            let end = Hir::look(Look::WordEndHalfUnicode);
            Hir::concat(vec![start, hir, end])
        } else {
            hir
        };
        let config = meta::Config::new()
            .nfa_size_limit(Some(AUTOMATON_LIMIT_BYTES))
            .which_captures(WhichCaptures::Implicit);
        let regex = meta::Builder::new().configure(config).build_from_hir(&hir);
        let regex = regex.map_err(|error| too_large(error.size_limit()))?;
        let anchored = hir.properties().look_set().contains_anchor_haystack();
        Ok(Pattern {
            regex,
            steps_per_byte: steps_per_byte(&hir),
            is_multi_line: request.multi_line,
            needs_document: request.multi_line || anchored,
            matches_anywhere: hir.properties().minimum_len() == Some(0)
                && hir.properties().look_set().is_empty(),
            trigrams: TrigramQuery::of(&hir),
            hir,
        })
    }

    /// What holds for the trigrams of every text that has a match.
    pub(super) fn trigrams(&self) -> &TrigramQuery {
        &self.trigrams
    }

    /// Whether matches may reach over lines.
    pub(super) fn is_multi_line(&self) -> bool {
        self.is_multi_line
    }

    /// Whether it has an empty match wherever one is looked for, so that every line matches.
    pub(super) fn matches_anywhere(&self) -> bool {
        self.matches_anywhere
    }

    /// Whether it must be searched in whole documents.
    pub(super) fn needs_document(&self) -> bool {
        self.needs_document
    }

    /// The most steps that a search takes for a byte, about.
    pub(super) fn steps_per_byte(&self) -> u64 {
        self.steps_per_byte
    }

    /// Makes what finds the same matches as [`Pattern::find`] and can be stopped.
    ///
    /// # Errors
    /// [`Error::InvalidPattern`].
    pub(super) fn machine(&self) -> Result<Machine> {
        let machine = Machine::new(&self.hir, AUTOMATON_LIMIT_BYTES);
        machine.map_err(|error| too_large(error.size_limit()))
    }

    /// The first match that begins at or after `from` and ends at or before `to`, which may look at all of `text`.
    pub(super) fn find(&self, text: &str, from: usize, to: usize) -> Option<(usize, usize)> {
        let found = self.regex.search(&Input::new(text).range(from..to))?;
        Some((found.start(), found.end()))
    }
}

/// The error of an automaton that was not made, for its size if there is a limit.
fn too_large(limit_bytes: Option<usize>) -> Error {
    Error::InvalidPattern {
        position: None,
        reason: match limit_bytes {
            Some(limit) => format!("its automaton takes more than {} MiB", limit >> 20),
            None => "its automaton cannot be made".to_owned(),
        },
        fault: PatternFault::TooLarge,
    }
}

/// What no match within a line has.
const LINE_ENDS: [u8; 2] = *b"\n\r";

impl RegexRequest {
    /// Checks the values, the pattern too, without searching.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when a number is out of range; [`Error::InvalidPattern`].
    pub fn validate(&self) -> Result<()> {
        self.validate_numbers()?;
        Pattern::compile(self).map(|_| ())
    }
}

fn parse(request: &RegexRequest) -> Result<Hir> {
    let pattern = &*request.pattern;
    let mut parser = ParserBuilder::new()
        .case_insensitive(request.ignore_case)
        .multi_line(true)
        .crlf(true)
        .nest_limit(NEST_LIMIT)
        .build();
    let parsed = if request.literal {
        parser.parse(&regex_syntax::escape(pattern))
    } else {
        parser.parse(pattern)
    };
    parsed.map_err(|error| {
        let (offset, reason, fault) = match &error {
            regex_syntax::Error::Parse(error) => {
                let fault = match error.kind() {
                    ast::ErrorKind::UnsupportedLookAround => PatternFault::LookAround,
                    ast::ErrorKind::UnsupportedBackreference => PatternFault::Backreference,
                    ast::ErrorKind::NestLimitExceeded(_) | ast::ErrorKind::CaptureLimitExceeded => {
                        PatternFault::TooLarge
                    }
                    _ => PatternFault::Syntax,
                };
                (
                    Some(error.span().start.offset),
                    error.kind().to_string(),
                    fault,
                )
            }
            regex_syntax::Error::Translate(error) => {
                let fault = match error.kind() {
                    hir::ErrorKind::InvalidUtf8 => PatternFault::InvalidUtf8,
                    _ => PatternFault::Syntax,
                };
                (
                    Some(error.span().start.offset),
                    error.kind().to_string(),
                    fault,
                )
            }
            _ => (None, "it does not parse".to_owned(), PatternFault::Syntax),
        };
        let before = offset.and_then(|offset| pattern.get(..offset));
        let characters = before.map(|before| before.chars().count());
        Error::InvalidPattern {
            position: characters.and_then(|count| u32::try_from(count + 1).ok()),
            reason,
            fault,
        }
    })
}

/// A pattern that matches within lines what `hir` matches: classes lose the line ends.
///
/// # Errors
/// [`Error::InvalidPattern`] where only a line end would do.
fn without_line_ends(hir: Hir) -> Result<Hir> {
    let needs_line_end = || Error::InvalidPattern {
        position: None,
        reason: "it needs a line end, and each line is searched by itself".to_owned(),
        fault: PatternFault::LineEnd,
    };
    Ok(match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Literal(literal) if literal.0.iter().any(|byte| LINE_ENDS.contains(byte)) => {
            return Err(needs_line_end());
        }
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(Class::Unicode(mut class)) => {
            let was_empty = class.ranges().is_empty();
            let line_ends = LINE_ENDS.map(|byte| ClassUnicodeRange::new(byte.into(), byte.into()));
            class.difference(&ClassUnicode::new(line_ends));
            if class.ranges().is_empty() && !was_empty {
                return Err(needs_line_end());
            }
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(mut class)) => {
            let was_empty = class.ranges().is_empty();
            let line_ends = LINE_ENDS.map(|byte| ClassBytesRange::new(byte, byte));
            class.difference(&ClassBytes::new(line_ends));
            if class.ranges().is_empty() && !was_empty {
                return Err(needs_line_end());
            }
            Hir::class(Class::Bytes(class))
        }
        HirKind::Repetition(repetition) => {
            let sub = without_line_ends(*repetition.sub)?;
            Hir::repetition(Repetition {
                sub: Box::new(sub),
                ..repetition
            })
        }
        HirKind::Capture(capture) => without_line_ends(*capture.sub)?,
        HirKind::Concat(subs) => {
            let subs = subs.into_iter().map(without_line_ends);
            Hir::concat(subs.collect::<Result<Vec<Hir>>>()?)
        }
        HirKind::Alternation(subs) => {
            let subs = subs.into_iter().map(without_line_ends);
            Hir::alternation(subs.collect::<Result<Vec<Hir>>>()?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(request: &RegexRequest) -> (Option<u32>, PatternFault) {
        match Pattern::compile(request) {
            Err(Error::InvalidPattern {
                position, fault, ..
            }) => (position, fault),
            other => panic!("{:?}: {other:?}", request.pattern),
        }
    }

    #[test]
    fn what_is_wrong_with_a_pattern_is_named_with_its_position() {
        for (pattern, position, expected) in [
            ("a(b", Some(2), PatternFault::Syntax),
            ("\u{fc}[z-a]", Some(3), PatternFault::Syntax),
            ("*a", Some(1), PatternFault::Syntax),
            ("a{5,2}", Some(2), PatternFault::Syntax),
            ("(?=a)b", Some(1), PatternFault::LookAround),
            ("a(?<!b)", Some(2), PatternFault::LookAround),
            (r"(a)\1", Some(4), PatternFault::Backreference),
            (r"ab(?-u:\xff)", Some(8), PatternFault::InvalidUtf8),
            (r"\p{Nothing}", Some(1), PatternFault::Syntax),
            (r"a\nb", None, PatternFault::LineEnd),
            ("a\nb", None, PatternFault::LineEnd),
            (r"x[\n]", None, PatternFault::LineEnd),
            (r"a\r", None, PatternFault::LineEnd),
            ("((a{100}){100}){100}", None, PatternFault::TooLarge),
            (r"(?:\w{10}){100}", None, PatternFault::TooLarge),
        ] {
            let found = fault(&RegexRequest::new(pattern));
            assert_eq!(found, (position, expected), "{pattern}");
        }
        let deep = format!("{}a{}", "(".repeat(5000), ")".repeat(5000));
        assert_eq!(fault(&RegexRequest::new(deep)).1, PatternFault::TooLarge);
        let long = RegexRequest::new("a".repeat(PATTERN_LIMIT_BYTES + 1));
        assert_eq!(fault(&long).1, PatternFault::TooLarge);
    }

    #[test]
    fn large_patterns_within_the_limits_compile() {
        let alternatives: Vec<String> = (0..1000).map(|n| format!("name_{n}")).collect();
        for pattern in [
            "a".repeat(PATTERN_LIMIT_BYTES),
            "[a-z]".repeat(2000),
            alternatives.join("|"),
            r"\w{100}".to_owned(),
            format!("{}a{}", "(".repeat(50), ")".repeat(50)),
            "(a*)*b".to_owned(),
        ] {
            let compiled = Pattern::compile(&RegexRequest::new(&*pattern));
            assert!(compiled.is_ok(), "{compiled:?} {}", pattern.len());
        }
    }

    #[test]
    fn line_ends_in_a_literal_or_class_need_multi_line() {
        for pattern in ["a\nb", r"a\r\nb", r"[\n]"] {
            let request = RegexRequest::new(pattern).multi_line(true);
            assert!(Pattern::compile(&request).is_ok(), "{pattern}");
        }
        let literal = RegexRequest::new(r"a\n(b").literal(true);
        assert!(Pattern::compile(&literal).is_ok());
    }
}
