//! A glob over text: `?` takes one character, and a class has characters, however many bytes they have in UTF-8.

use std::cell::RefCell;

use crate::glob::automaton::{Automaton, AutomatonBuilder, CONTINUATION, Step};
use crate::glob::bytes::Bytes;
use crate::glob::syntax::{self, Class, Fault, Syntax, Token};

/// A glob over whole texts.
#[derive(Debug)]
pub(crate) struct Glob {
    automaton: Automaton,
    /// Room for the work.
    state: RefCell<Vec<u64>>,
}

impl Glob {
    /// The matcher of tokens.
    pub(crate) fn new(tokens: &[Token]) -> Glob {
        let mut builder = AutomatonBuilder::default();
        builder.start();
        // `**` alone is everything.
        if matches!(tokens, [Token::Folders]) {
            builder.push(Step::Rest);
        } else {
            add(&mut builder, tokens);
        }
        builder.end(1, false);
        Glob {
            automaton: builder.finish(),
            state: RefCell::default(),
        }
    }

    /// Whether all of a text matches.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        let mut state = self.state.borrow_mut();
        let text = text.as_bytes();
        self.automaton.last_match(text, false, 0, &mut state) == 1
    }
}

/// Reads a glob with at most `max_depth` braces inside each other.
///
/// # Errors
/// Why it is none.
pub(crate) fn parse(glob: &str, max_depth: usize) -> Result<Vec<Token>, Fault> {
    let syntax = Syntax {
        allows_unclosed_class: false,
        max_depth,
    };
    syntax::parse(glob, syntax)
}

fn add(builder: &mut AutomatonBuilder, tokens: &[Token]) {
    for token in tokens {
        match token {
            Token::Char(character) => {
                for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                    builder.push(Step::Byte(byte));
                }
            }
            Token::Any => {
                let mut first = Bytes::default();
                first.add(*CONTINUATION.start(), *CONTINUATION.end());
                builder.push(Step::Class(first.negated().without_slash()));
                builder.push(Step::Continuation);
            }
            Token::Class(class) => add_class(builder, class),
            Token::Star => builder.push(Step::Star),
            Token::Folders => builder.push(Step::Folders),
            Token::Rest => builder.push(Step::Rest),
            Token::Group(alternatives) => {
                builder.alternatives(alternatives, |builder, tokens| add(builder, tokens));
            }
        }
    }
}

/// The first code point of several bytes in UTF-8.
const FIRST_OTHER: u32 = 0x80;

/// Ranges of bytes, one for each byte of some characters.
type Sequence = Vec<(u8, u8)>;

fn add_class(builder: &mut AutomatonBuilder, class: &Class) {
    let members = members(class);
    // Negated, it mostly has all characters of several bytes.
    let has_all_others = members
        .last()
        .is_some_and(|(first, last)| *first <= FIRST_OTHER && *last == u32::from(char::MAX));
    let mut sequences = Vec::new();
    for (first, last) in members {
        let last = if has_all_others {
            last.min(FIRST_OTHER - 1)
        } else {
            last
        };
        if first <= last {
            add_sequences(first, last, &mut sequences);
        }
    }
    let (single, longer): (Vec<Sequence>, Vec<Sequence>) =
        sequences.into_iter().partition(|bytes| bytes.len() == 1);
    let mut ascii = Bytes::default();
    for (first, last) in single.into_iter().flatten() {
        ascii.add(first, last);
    }
    if has_all_others {
        ascii.add(0xc0, 0xff);
        builder.push(Step::Class(ascii));
        return builder.push(Step::Continuation);
    }
    if longer.is_empty() {
        return builder.push(Step::Class(ascii));
    }
    let alternatives: Vec<Vec<Bytes>> = longer
        .iter()
        .map(|ranges| {
            let sets = ranges.iter().map(|(first, last)| {
                let mut bytes = Bytes::default();
                bytes.add(*first, *last);
                bytes
            });
            sets.collect()
        })
        .chain([vec![ascii]])
        .collect();
    builder.alternatives(&alternatives, |builder, bytes| {
        let steps = bytes.iter().map(|bytes| Step::Class(*bytes));
        steps.for_each(|step| builder.push(step));
    });
}

/// The code points of a class as ascending ranges.
fn members(class: &Class) -> Vec<(u32, u32)> {
    let code_points = |(first, last): &(char, char)| (u32::from(*first), u32::from(*last));
    let mut ranges: Vec<(u32, u32)> = class.ranges.iter().map(code_points).collect();
    ranges.sort_unstable();
    if !class.is_negated {
        return ranges;
    }
    let mut others = Vec::new();
    let mut next = 0;
    for (first, last) in ranges {
        if next < first {
            others.push((next, first - 1));
        }
        next = next.max(last + 1);
    }
    let last = u32::from(char::MAX);
    if next <= last {
        others.push((next, last));
    }
    others
}

/// The code points up to which characters have one byte in UTF-8, two, three, and four.
const LAST_OF_LENGTH: [u32; 4] = [0x7f, 0x7ff, 0xffff, 0x10_ffff];

/// Adds the UTF-8 of a range of code points. Surrogates, which no text has, are taken as if they were characters.
fn add_sequences(first: u32, last: u32, sequences: &mut Vec<Sequence>) {
    let border = LAST_OF_LENGTH
        .iter()
        .find(|border| first <= **border && **border < last);
    if let Some(border) = border {
        add_sequences(first, *border, sequences);
        return add_sequences(border + 1, last, sequences);
    }
    // All characters with the same bytes but the last ones, of which the range has all, are one sequence.
    let length = LAST_OF_LENGTH.iter().position(|border| last <= *border);
    let length = length.map_or(4, |at| at + 1);
    for behind in 1..length {
        let mask = (1u32 << (6 * behind)) - 1;
        if first & !mask == last & !mask {
            continue;
        }
        if first & mask != 0 {
            add_sequences(first, first | mask, sequences);
            return add_sequences((first | mask) + 1, last, sequences);
        }
        if last & mask != mask {
            add_sequences(first, (last & !mask) - 1, sequences);
            return add_sequences(last & !mask, last, sequences);
        }
    }
    let bytes = encoded(first, length).zip(encoded(last, length));
    sequences.push(bytes.collect());
}

/// The bytes of a code point in UTF-8.
fn encoded(code_point: u32, length: usize) -> impl Iterator<Item = u8> {
    let lead: u32 = match length {
        1 => 0,
        2 => 0xc0,
        3 => 0xe0,
        _ => 0xf0,
    };
    (0..length).map(move |at| {
        let bits = code_point >> (6 * (length - 1 - at));
        // The mask leaves what a byte holds.
        let byte = if at == 0 {
            lead | bits
        } else {
            0x80 | bits & 0x3f
        };
        byte as u8
    })
}

#[cfg(test)]
mod tests {
    use globset::GlobBuilder;
    use proptest::prelude::*;

    use super::*;

    fn glob(text: &str) -> Result<Glob, Fault> {
        parse(text, 32).map(|tokens| Glob::new(&tokens))
    }

    fn class() -> impl Strategy<Value = Class> {
        let member = prop_oneof![
            any::<char>(),
            prop::sample::select(vec![
                'a',
                '/',
                '\u{7f}',
                '\u{80}',
                '\u{7ff}',
                '\u{800}',
                '\u{ffff}',
                '\u{10000}',
                '\u{10ffff}',
                '\u{d7ff}',
                '\u{e000}',
            ]),
        ];
        let range = (member.clone(), member).prop_map(|(a, b)| (a.min(b), a.max(b)));
        let ranges = prop::collection::vec(range, 1..4);
        (any::<bool>(), ranges).prop_map(|(is_negated, ranges)| Class { is_negated, ranges })
    }

    fn piece() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "a",
            "b",
            "c",
            ".",
            "-",
            "*",
            "**",
            "?",
            "/",
            "/",
            "/**/",
            "**/",
            "/**",
            "{a,b}",
            "{a/b,c*}",
            "{**/a,b/**}",
            "{",
            ",",
            "}",
            "{}",
            "[ab]",
            "[a-c]",
            "[!a]",
            "[^a/]",
            "[.-a]",
            "[-a]",
            "[]a]",
            "[c-a]",
            "[",
            "]",
            "\\",
            "\\*",
            "!",
        ])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn globs_mean_what_they_mean_to_globset(
            pieces in prop::collection::vec(piece(), 1..8),
            paths in prop::collection::vec("([abc.*-]{1,3}/){0,3}[abc.*-]{1,3}", 24),
        ) {
            let text = pieces.concat();
            // To globset a separator behind an escape or within a group may be lost.
            prop_assume!(!text.contains("\\,**") && !text.contains("\\{**"));
            prop_assume!(!text.contains("**/**"));
            let theirs = GlobBuilder::new(&text).literal_separator(true).build();
            let ours = glob(&text);
            prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{}: {:?}", text, theirs);
            let (Ok(ours), Ok(theirs)) = (ours, theirs) else {
                return Ok(());
            };
            let theirs = theirs.compile_matcher();
            for path in paths {
                prop_assert_eq!(ours.is_match(&path), theirs.is_match(&path), "{} {}", text, path);
            }
        }

        #[test]
        fn a_class_has_the_characters_of_its_ranges(
            class in class(),
            others in prop::collection::vec(any::<char>(), 16),
        ) {
            let ends = class.ranges.iter().flat_map(|(first, last)| [*first, *last]);
            let next = |c: char| char::from_u32(u32::from(c) + 1);
            let near: Vec<char> = ends.clone().filter_map(next).collect();
            let characters: Vec<char> = ends.chain(near).chain(others).collect();
            let glob = Glob::new(&[Token::Class(class.clone())]);
            for c in characters {
                let is_in = class.ranges.iter().any(|(first, last)| (*first..=*last).contains(&c));
                let is_match = glob.is_match(&c.to_string());
                prop_assert_eq!(is_match, is_in != class.is_negated, "{:?} {:?}", class, c);
            }
        }
    }

    #[test]
    fn folders_before_an_empty_group_match_no_name() {
        for text in ["**/{}", "**/{,}", "**/{}{}"] {
            assert!(!glob(text).unwrap().is_match("a"), "{text}");
            assert!(glob(text).unwrap().is_match("a/"), "{text}");
        }
    }

    #[test]
    fn two_stars_at_any_place_are_any_folders() {
        for (text, path) in [
            ("**", "a/b"),
            ("**/", "a/b"),
            ("**/**", "a/b"),
            ("a/**/**", "a/b/c"),
            ("**/**/c", "a/b/c"),
            ("a/**/**/c", "a/c"),
            ("{x,**/**}", "a/b"),
        ] {
            assert!(glob(text).unwrap().is_match(path), "{text} {path}");
        }
    }
}
