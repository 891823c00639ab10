//! Patterns of a `tokenizer.json`: a text, or a regular expression.

use regex_automata::Input;
use regex_automata::meta::Regex;
use serde_json::Value;

/// Most bytes of an expression. That of GPT-4o has 400.
const EXPRESSION_LIMIT_BYTES: usize = 2048;
/// Most bytes of the automaton of an expression.
const AUTOMATON_LIMIT_BYTES: usize = 4 << 20;
/// A match has at most so many bytes. Without a bound, some expressions read the rest of the text at each place.
const MATCH_LIMIT_BYTES: usize = 16 << 10;

/// How the expressions of GPT-2 and its successors end: white space before a word leaves its last character to the word.
/// The engine here has no look-ahead, so that this is done by hand.
const LEAVES_SPACE: &str = r"|\s+(?!\S)|\s+";

/// What is looked for.
#[derive(Debug)]
pub(super) enum Pattern {
    Text(String),
    Expression {
        regex: Box<Regex>,
        /// Whether matches of the second alternative are white space that leaves its last character.
        leaves_space: bool,
    },
    /// Characters of a kind, each alone or with its neighbours.
    Characters(fn(char) -> bool, bool),
}

impl Pattern {
    /// Reads `{"String": ...}` or `{"Regex": ...}`.
    pub(super) fn new(part: Option<&Value>) -> Result<Pattern, String> {
        let of = |name: &str| part?.get(name)?.as_str();
        match (of("String"), of("Regex")) {
            (Some(""), _) => Err("an empty pattern".to_owned()),
            (Some(text), _) => Ok(Pattern::Text(text.to_owned())),
            (None, Some(expression)) => Pattern::expression(expression),
            _ => Err("no pattern".to_owned()),
        }
    }

    pub(super) fn expression(expression: &str) -> Result<Pattern, String> {
        let start: String = expression.chars().take(60).collect();
        let unreadable = |reason: &str| {
            format!("this program cannot read the regular expression {start:?}: {reason}")
        };
        if expression.len() > EXPRESSION_LIMIT_BYTES {
            return Err(unreadable("it is too long"));
        }
        let config = Regex::config()
            .nfa_size_limit(Some(AUTOMATON_LIMIT_BYTES))
            .onepass(false);
        let mut builder = Regex::builder();
        let builder = builder.configure(config);
        let stem = expression.strip_suffix(LEAVES_SPACE);
        let regex = match stem {
            Some(stem) => builder.build_many(&[stem, r"\s+"]),
            None => builder.build(expression),
        };
        let regex = regex.map_err(|error| {
            let fault = error.syntax_error().map(ToString::to_string);
            let fault = fault.unwrap_or_else(|| "it needs too much memory".to_owned());
            unreadable(fault.lines().last().unwrap_or_default())
        })?;
        Ok(Pattern::Expression {
            regex: Box::new(regex),
            leaves_space: stem.is_some(),
        })
    }

    /// The first match at a place or behind it, which may be empty: where it begins and ends.
    fn find(&self, text: &str, from: usize) -> Option<(usize, usize)> {
        let rest = text.get(from..)?;
        match self {
            Pattern::Text(wanted) => {
                let start = from + rest.find(wanted)?;
                Some((start, start + wanted.len()))
            }
            Pattern::Characters(is_one, is_alone) => {
                let start = from + rest.find(*is_one)?;
                let rest = text.get(start..)?;
                let end = match is_alone {
                    true => rest.chars().next().map(char::len_utf8),
                    false => rest.find(|character| !is_one(character)),
                };
                Some((start, start + end.unwrap_or(rest.len())))
            }
            Pattern::Expression {
                regex,
                leaves_space,
            } => {
                let mut from = from;
                let found = loop {
                    let mut end = from.saturating_add(MATCH_LIMIT_BYTES).min(text.len());
                    while !text.is_char_boundary(end) {
                        end -= 1;
                    }
                    let input = Input::new(text).span(from..end);
                    match regex.search(&input) {
                        Some(found) => break found,
                        None if end == text.len() => return None,
                        None => from = end,
                    }
                };
                let (start, end) = (found.start(), found.end());
                if !*leaves_space || found.pattern().as_usize() == 0 {
                    return Some((start, end));
                }
                let spaces = text.get(start..end)?;
                let last = spaces.chars().next_back().map_or(0, char::len_utf8);
                let end = match end - last > start && end < text.len() {
                    true => end - last,
                    false => end,
                };
                Some((start, end))
            }
        }
    }

    /// Calls `on_part` with all parts of a text in order, and whether they match. No part is empty.
    pub(super) fn parts<'a>(&self, text: &'a str, mut on_part: impl FnMut(&'a str, bool)) {
        let (mut done, mut from) = (0, 0);
        while let Some((start, end)) = self.find(text, from) {
            if start > done {
                on_part(text.get(done..start).unwrap_or_default(), false);
            }
            done = start.max(done);
            if end > start {
                on_part(text.get(start..end).unwrap_or_default(), true);
                done = end;
                from = end;
            } else {
                // An empty match: go on behind the next character.
                let next = text.get(end..).and_then(|rest| rest.chars().next());
                match next {
                    Some(next) => from = end + next.len_utf8(),
                    None => break,
                }
            }
        }
        let last = text.get(done..).unwrap_or_default();
        if !last.is_empty() {
            on_part(last, false);
        }
    }

    /// The text with `content` in place of the matches, up to about `limit_bytes`.
    pub(super) fn replace(&self, text: &str, content: &str, limit_bytes: usize) -> String {
        let mut out = String::with_capacity(text.len());
        self.parts(text, |part, is_match| {
            if out.len() <= limit_bytes {
                out.push_str(if is_match { content } else { part });
            }
        });
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts<'a>(pattern: &Pattern, text: &'a str) -> Vec<(&'a str, bool)> {
        let mut parts = Vec::new();
        pattern.parts(text, |part, is_match| parts.push((part, is_match)));
        parts
    }

    #[test]
    fn expressions_split_as_those_of_gpt_4_do() {
        let expression = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
        let pattern = Pattern::expression(expression).unwrap();
        let words = |text| {
            let parts = parts(&pattern, text).into_iter();
            parts.map(|part| part.0).collect::<Vec<&str>>()
        };
        assert_eq!(
            words("It'S 12345  a"),
            ["It", "'S", " ", "123", "45", " ", " a"]
        );
        assert_eq!(words("a \n\n b\t"), ["a", " \n\n", " b", "\t"]);
        assert_eq!(words("x  !!\n("), ["x", " ", " !!\n", "("]);
        assert_eq!(words("  "), ["  "]);
    }

    #[test]
    fn parts_cover_the_text_whatever_matches() {
        let empty = Pattern::expression("b*").unwrap();
        let expected = [("a", false), ("bb", true), ("\u{e9}", false)];
        assert_eq!(parts(&empty, "abb\u{e9}"), expected);
        let alone = Pattern::Characters(char::is_numeric, true);
        assert_eq!(
            parts(&alone, "12a"),
            [("1", true), ("2", true), ("a", false)]
        );
        let text = Pattern::Text("ab".to_owned());
        assert_eq!(text.replace("abcab", "x", 100), "xcx");
        assert!(text.replace(&"ab".repeat(1000), "abc", 100).len() < 110);
    }

    #[test]
    fn expressions_have_bounds() {
        for (expression, expected) in [
            ("(?!a)", "look-around"),
            (r"(\w{1,100}){1,1000}", "too much memory"),
            ("(", "unclosed"),
        ] {
            let error = Pattern::expression(expression).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        let long = "a".repeat(EXPRESSION_LIMIT_BYTES + 1);
        assert!(Pattern::expression(&long).is_err());
        let run = Pattern::expression("[a-z]+").unwrap();
        let text = "a".repeat(40_000);
        let lengths = parts(&run, &text).into_iter().map(|part| part.0.len());
        assert_eq!(lengths.collect::<Vec<usize>>(), [16_384, 16_384, 7_232]);
    }
}
