//! One line of an ignore file -> what it matches, as flat lists of steps.
//!
//! The syntax is that of gitignore, with braces for alternatives as ripgrep has them. What gitignore
//! leaves open is decided as the crate `ignore` decides it; a test compares the two.

use std::fmt;

/// Longest line in bytes. No path component has more than 255, and no usual path more than 1024.
pub(super) const MAX_LINE_BYTES: usize = 1024;

/// Nesting depth of braces.
// An ignore file of 25,000 nested braces overflows the stack of a recursive matcher
// (docs/decisions/20-bounded-input.md).
const MAX_BRACE_DEPTH: usize = 4;

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

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Bytes([u64; 4]);

impl Bytes {
    fn add(&mut self, first: u8, last: u8) {
        for byte in first..=last {
            if let Some(word) = self.0.get_mut(usize::from(byte / 64)) {
                *word |= 1 << (byte % 64);
            }
        }
    }

    /// All but these, and never `/`: a class matches no separator.
    fn finish(mut self, is_negated: bool) -> Bytes {
        if is_negated {
            self.0 = self.0.map(|word| !word);
        }
        let [word, ..] = &mut self.0;
        *word &= !(1 << b'/');
        self
    }

    pub(super) fn has(&self, byte: u8) -> bool {
        let word = self.0.get(usize::from(byte / 64));
        word.is_some_and(|word| word >> (byte % 64) & 1 == 1)
    }
}

/// A step of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// This byte.
    Byte(u8),
    /// One byte of these; `?` and `[...]`.
    Class(Bytes),
    /// `*`: any bytes but `/`, or none.
    Star,
    /// `**/`: nothing, or bytes that end with `/`.
    Folders,
    /// `**` at the end, after its `/`: any bytes.
    Rest,
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
        alternatives: Parser::new(&glob).parse()?,
    }))
}

/// A branch of a group in braces, or the whole pattern: as many lists of steps as the groups inside
/// multiply to.
#[derive(Debug)]
struct Branch {
    lists: Vec<Vec<Step>>,
    /// Whether something was read into it, be it an empty group.
    is_begun: bool,
}

impl Branch {
    fn new() -> Branch {
        Branch {
            lists: vec![Vec::new()],
            is_begun: false,
        }
    }

    fn push(&mut self, step: Step) {
        self.is_begun = true;
        for list in &mut self.lists {
            // Two of them match what one does.
            let is_double =
                matches!(step, Step::Star | Step::Folders) && list.last() == Some(&step);
            if !is_double {
                list.push(step);
            }
        }
    }
}

struct Parser<'p> {
    chars: std::iter::Peekable<std::str::Chars<'p>>,
    /// The character before the one that was read last, and that one.
    before: Option<char>,
    last: Option<char>,
    /// Branches that are being read: the whole pattern, then for each open brace those so far.
    branches: Vec<Branch>,
    /// Where in `branches` each open brace began.
    open: Vec<usize>,
    /// No `]` follows any more, so each `[` is one.
    is_class_unclosed: bool,
}

impl<'p> Parser<'p> {
    fn new(glob: &'p str) -> Parser<'p> {
        Parser {
            chars: glob.chars().peekable(),
            before: None,
            last: None,
            branches: vec![Branch::new()],
            open: Vec::new(),
            is_class_unclosed: false,
        }
    }

    fn parse(mut self) -> Result<Vec<Vec<Step>>, Refusal> {
        while let Some(character) = self.read() {
            match character {
                '?' => self.push(Step::Class(Bytes::default().finish(true))),
                '*' => self.star(),
                '[' if !self.is_class_unclosed => self.class()?,
                '{' => self.open()?,
                '}' => self.close()?,
                ',' if !self.open.is_empty() => self.branches.push(Branch::new()),
                '\\' => match self.read() {
                    Some(character) => self.character(character),
                    None => return Err(Refusal::NotAPattern),
                },
                character => self.character(character),
            }
        }
        let whole = self.branches.pop().filter(|_| self.branches.is_empty());
        Ok(whole.ok_or(Refusal::NotAPattern)?.lists)
    }

    fn read(&mut self) -> Option<char> {
        self.before = self.last;
        self.last = self.chars.next();
        self.last
    }

    fn push(&mut self, step: Step) {
        if let Some(branch) = self.branches.last_mut() {
            branch.push(step);
        }
    }

    fn character(&mut self, character: char) {
        for byte in character.encode_utf8(&mut [0; 4]).bytes() {
            self.push(Step::Byte(byte));
        }
    }

    fn open(&mut self) -> Result<(), Refusal> {
        if self.open.len() == MAX_BRACE_DEPTH {
            return Err(Refusal::TooDeep);
        }
        self.open.push(self.branches.len());
        self.branches.push(Branch::new());
        Ok(())
    }

    fn close(&mut self) -> Result<(), Refusal> {
        let start = self.open.pop().ok_or(Refusal::NotAPattern)?;
        let inside = self.branches.split_off(start.min(self.branches.len()));
        // An empty alternative is none.
        let inside = inside.into_iter().flat_map(|branch| branch.lists);
        let inside: Vec<Vec<Step>> = inside.filter(|list| !list.is_empty()).collect();
        let Some(around) = self.branches.last_mut() else {
            return Err(Refusal::NotAPattern);
        };
        around.is_begun = true;
        if inside.is_empty() {
            return Ok(());
        }
        if inside.len() * around.lists.len() > MAX_ALTERNATIVES {
            return Err(Refusal::TooManyAlternatives);
        }
        let before = std::mem::take(&mut around.lists);
        for list in &before {
            let longer = inside.iter().map(|after| [list.as_slice(), after].concat());
            around.lists.extend(longer);
        }
        Ok(())
    }

    fn star(&mut self) {
        let before = self.before;
        if self.chars.peek() != Some(&'*') {
            return self.push(Step::Star);
        }
        self.read();
        let next = self.chars.peek().copied();
        let is_begun = self.branches.last().is_some_and(|branch| branch.is_begun);
        let ends_branch = !self.open.is_empty() && matches!(next, Some(',' | '}'));
        match next {
            // `**/` in front.
            None | Some('/') if !is_begun => {
                self.read();
                self.push(Step::Folders);
            }
            // `/**/` inside.
            Some('/') if before == Some('/') => {
                self.read();
                self.push(Step::Folders);
            }
            // `/**` at the end.
            _ if before == Some('/') && (next.is_none() || ends_branch) => {
                self.push(Step::Rest);
            }
            // Not between separators, it is two stars.
            _ => self.push(Step::Star),
        }
    }

    /// After `[`.
    fn class(&mut self) -> Result<(), Refusal> {
        let start = (self.chars.clone(), self.before, self.last);
        let is_negated = matches!(self.chars.peek(), Some('!' | '^'));
        if is_negated {
            self.read();
        }
        let mut ranges: Vec<(char, char)> = Vec::new();
        let (mut is_first, mut in_range) = (true, false);
        loop {
            let Some(character) = self.read() else {
                (self.chars, self.before, self.last) = start;
                self.is_class_unclosed = true;
                self.character('[');
                return Ok(());
            };
            match character {
                ']' if !is_first => break,
                '-' if !is_first && !in_range => in_range = true,
                character => match ranges.last_mut().filter(|_| in_range) {
                    Some(range) => {
                        range.1 = character;
                        in_range = false;
                    }
                    None => ranges.push((character, character)),
                },
            }
            is_first = false;
        }
        if in_range {
            ranges.push(('-', '-'));
        }
        let mut bytes = Bytes::default();
        for (first, last) in ranges {
            add_range(&mut bytes, first, last)?;
        }
        self.push(Step::Class(bytes.finish(is_negated)));
        Ok(())
    }
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
