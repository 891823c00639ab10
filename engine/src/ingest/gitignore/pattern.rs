//! One line of an ignore file -> what it matches, as flat lists of steps.
//!
//! The syntax is that of gitignore, with braces for alternatives as ripgrep has them. What gitignore
//! leaves open is decided as the crate `ignore` decides it; a test compares the two.

use std::fmt;

use crate::glob::automaton::Step;
use crate::glob::bytes::Bytes;
use crate::glob::syntax::{self, Class, Fault, Syntax, Token};

/// Longest line in bytes. No path component has more than 255, and no usual path more than 1024.
pub(super) const MAX_LINE_BYTES: usize = 1024;

/// Nesting depth of braces.
// An ignore file of 25,000 nested braces overflows the stack of a recursive matcher
// (docs/decisions/20-bounded-input.md).
const MAX_BRACE_DEPTH: usize = 4;

const SYNTAX: Syntax = Syntax {
    allows_unclosed_class: true,
    max_depth: MAX_BRACE_DEPTH,
};

/// Alternatives that the braces of one line multiply to: `{a,b}{c,d}` has four. Each is matched as a
/// pattern of its own.
const MAX_ALTERNATIVES: usize = 64;

/// Why a line is not applied. Says nothing of what stands in the line: it may come from a file that
/// nobody meant to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Refusal {
    NotUtf8,
    TooLong,
    NotAPattern,
    TooDeep,
    TooManyAlternatives,
    TooManyWildcards,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NotUtf8 => f.write_str("not UTF-8"),
            Refusal::TooLong => write!(f, "longer than {MAX_LINE_BYTES} bytes"),
            Refusal::NotAPattern => f.write_str("not a pattern"),
            Refusal::TooDeep => write!(f, "more than {MAX_BRACE_DEPTH} braces inside each other"),
            Refusal::TooManyAlternatives => {
                write!(f, "more than {MAX_ALTERNATIVES} alternatives in braces")
            }
            Refusal::TooManyWildcards => f.write_str("more wildcards than are matched at once"),
        }
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        match fault {
            Fault::TooDeep => Refusal::TooDeep,
            _ => Refusal::NotAPattern,
        }
    }
}

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// `!` in front: what matches is not ignored.
    pub(super) is_negated: bool,
    /// `/` behind: only folders match.
    pub(super) only_folders: bool,
    /// What matches, relative to the folder of the file: one list for each alternative.
    pub(super) alternatives: Vec<Vec<Step>>,
}

/// Reads a line, without its end. `None`: a comment, or nothing.
pub(super) fn parse(line: &str) -> Result<Option<Pattern>, Refusal> {
    if line.starts_with('#') {
        return Ok(None);
    }
    // A space behind a backslash is meant.
    let line = if line.ends_with("\\ ") {
        line
    } else {
        line.trim_end()
    };
    if line.is_empty() {
        return Ok(None);
    }
    if line.len() > MAX_LINE_BYTES {
        return Err(Refusal::TooLong);
    }
    let (mut rest, mut is_negated, mut is_anchored) = (line, false, false);
    if rest.starts_with("\\!") || rest.starts_with("\\#") {
        rest = rest.get(1..).unwrap_or_default();
    } else {
        if let Some(after) = rest.strip_prefix('!') {
            (rest, is_negated) = (after, true);
        }
        if let Some(after) = rest.strip_prefix('/') {
            (rest, is_anchored) = (after, true);
        }
    }
    let only_folders = rest.ends_with('/');
    if let Some(before) = rest.strip_suffix('/') {
        // An escaped slash is a slash.
        rest = before.strip_suffix('\\').unwrap_or(before);
    }
    if rest.is_empty() {
        return Ok(None);
    }
    let mut glob = rest.to_owned();
    // Without a slash inside, it matches in every folder below.
    if matches!(rest, "**" | "**/") {
        // Everything.
        glob = "**/*".to_owned();
    } else if !is_anchored && !rest.contains('/') {
        glob.insert_str(0, "**/");
    }
    // What is inside of a folder, and not the folder.
    if glob.ends_with("/**") {
        glob.push_str("/*");
    }
    Ok(Some(Pattern {
        is_negated,
        only_folders,
        alternatives: lists(&syntax::parse(&glob, SYNTAX)?)?,
    }))
}

/// The lists of steps that tokens stand for: as many as the groups in them multiply to.
fn lists(tokens: &[Token]) -> Result<Vec<Vec<Step>>, Refusal> {
    let mut lists = vec![Vec::new()];
    for token in tokens {
        match token {
            Token::Char(character) => {
                for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                    push(&mut lists, Step::Byte(byte));
                }
            }
            Token::Any => push(&mut lists, class(Bytes::default(), true)),
            Token::Class(Class { is_negated, ranges }) => {
                let mut bytes = Bytes::default();
                for (first, last) in ranges {
                    add_range(&mut bytes, *first, *last)?;
                }
                push(&mut lists, class(bytes, *is_negated));
            }
            Token::Star => push(&mut lists, Step::Star),
            Token::Folders => push(&mut lists, Step::Folders),
            Token::Rest => push(&mut lists, Step::Rest),
            Token::Group(alternatives) => {
                let mut inside = Vec::new();
                for alternative in alternatives {
                    inside.extend(self::lists(alternative)?);
                }
                if inside.len() * lists.len() > MAX_ALTERNATIVES {
                    return Err(Refusal::TooManyAlternatives);
                }
                let longer = |list: Vec<Step>| {
                    let longer = inside.iter().map(move |after| [&list[..], after].concat());
                    longer.collect::<Vec<Vec<Step>>>()
                };
                lists = lists.into_iter().flat_map(longer).collect();
            }
        }
    }
    Ok(lists)
}

fn push(lists: &mut [Vec<Step>], step: Step) {
    for list in lists {
        // Two of them match what one does.
        let is_double = matches!(step, Step::Star | Step::Folders) && list.last() == Some(&step);
        if !is_double {
            list.push(step);
        }
    }
}

/// One of these bytes, or of all others. Never `/`: a class matches no separator.
fn class(bytes: Bytes, is_negated: bool) -> Step {
    let bytes = if is_negated { bytes.negated() } else { bytes };
    Step::Class(bytes.without_slash())
}

/// Adds the characters of a range. As git does, by bytes: those of a character that has several are
/// members each, and a range goes from the last byte of its first to the first byte of its last.
fn add_range(bytes: &mut Bytes, first: char, last: char) -> Result<(), Refusal> {
    let (mut from, mut to) = ([0; 4], [0; 4]);
    let from = first.encode_utf8(&mut from).as_bytes();
    let to = last.encode_utf8(&mut to).as_bytes();
    let (Some((low, others)), Some((high, more))) = (from.split_last(), to.split_first()) else {
        return Err(Refusal::NotAPattern);
    };
    if first > last || (first != last && low > high) {
        return Err(Refusal::NotAPattern);
    }
    for byte in from.iter().chain(others).chain(more) {
        bytes.add(*byte, *byte);
    }
    if first != last {
        bytes.add(*low, *high);
    } else {
        for byte in to {
            bytes.add(*byte, *byte);
        }
    }
    Ok(())
}
