//! The text of a glob as tokens.
//!
//! `*` is any characters but `/`, `**` any folders, `?` one character, `[...]` one of a set, `{...}` alternatives, and
//! `\` takes the next character as it is. Odd cases are decided as the crate `globset` decides them; a test compares
//! the two.

use std::fmt;

/// A part of a glob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// This character.
    Char(char),
    /// `?`: one character.
    Any,
    /// `[...]`: one character of a set.
    Class(Class),
    /// `*`: any characters but `/`, or none.
    Star,
    /// `**/`: nothing, or text that ends with `/`.
    Folders,
    /// `**` behind a `/`, at the end: any text.
    Rest,
    /// `{...}`: one of these. Neither the group nor an alternative is empty.
    Group(Vec<Vec<Token>>),
}

/// A set of characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Class {
    /// Whether it has all characters but these.
    pub(crate) is_negated: bool,
    /// The first and the last character of each range.
    pub(crate) ranges: Vec<(char, char)>,
}

/// What may be in a glob.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Syntax {
    /// Whether a `[` without a `]` stands for itself.
    pub(crate) allows_unclosed_class: bool,
    /// Most braces inside each other. Tokens are nested as deep, and are walked by recursion.
    pub(crate) max_depth: usize,
}

/// Why a text is not a glob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A `[` without a `]`.
    UnclosedClass,
    /// A range that goes down.
    Range(char, char),
    /// A `}` without a `{`.
    UnopenedGroup,
    /// A `{` without a `}`.
    UnclosedGroup,
    /// A `\` at the end.
    DanglingEscape,
    /// More braces inside each other than allowed.
    TooDeep,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::UnclosedClass => f.write_str("`[` without `]` (write `[[]` for the character)"),
            Fault::Range(first, last) => write!(f, "the range `{first}-{last}` goes down"),
            Fault::UnopenedGroup => f.write_str("`}` without `{` (write `[}]` for the character)"),
            Fault::UnclosedGroup => f.write_str("`{` without `}` (write `[{]` for the character)"),
            Fault::DanglingEscape => f.write_str("nothing follows the last `\\`"),
            Fault::TooDeep => f.write_str("too many braces inside each other"),
        }
    }
}

/// Reads a glob.
///
/// # Errors
/// Why it is none.
pub(crate) fn parse(glob: &str, syntax: Syntax) -> Result<Vec<Token>, Fault> {
    let parser = Parser {
        chars: glob.chars().peekable(),
        before: None,
        last: None,
        branches: vec![Branch::default()],
        open: Vec::new(),
        is_class_unclosed: false,
        syntax,
    };
    parser.parse()
}

/// An alternative of a group, or the whole glob.
#[derive(Debug, Default)]
struct Branch {
    tokens: Vec<Token>,
    /// Whether something was read into it, be it an empty group.
    is_begun: bool,
}

struct Parser<'p> {
    chars: std::iter::Peekable<std::str::Chars<'p>>,
    /// The character before the one that was read last, and that one.
    before: Option<char>,
    last: Option<char>,
    /// Branches that are being read: the whole glob, then for each open brace those so far.
    branches: Vec<Branch>,
    /// Where in `branches` each open brace began.
    open: Vec<usize>,
    /// No `]` follows any more, so each `[` is one.
    is_class_unclosed: bool,
    syntax: Syntax,
}

impl Parser<'_> {
    fn parse(mut self) -> Result<Vec<Token>, Fault> {
        while let Some(character) = self.read() {
            match character {
                '?' => self.push(Token::Any),
                '*' => self.star(),
                '[' if !self.is_class_unclosed => self.class()?,
                '{' => self.open()?,
                '}' => self.close()?,
                ',' if !self.open.is_empty() => self.branches.push(Branch::default()),
                '\\' => match self.read() {
                    Some(character) => self.push(Token::Char(character)),
                    None => return Err(Fault::DanglingEscape),
                },
                character => self.push(Token::Char(character)),
            }
        }
        let whole = self.branches.pop().filter(|_| self.branches.is_empty());
        Ok(whole.ok_or(Fault::UnclosedGroup)?.tokens)
    }

    fn read(&mut self) -> Option<char> {
        self.before = self.last;
        self.last = self.chars.next();
        self.last
    }

    fn push(&mut self, token: Token) {
        if let Some(branch) = self.branches.last_mut() {
            branch.is_begun = true;
            branch.tokens.push(token);
        }
    }

    fn open(&mut self) -> Result<(), Fault> {
        if self.open.len() >= self.syntax.max_depth {
            return Err(Fault::TooDeep);
        }
        self.open.push(self.branches.len());
        self.branches.push(Branch::default());
        Ok(())
    }

    fn close(&mut self) -> Result<(), Fault> {
        let start = self.open.pop().ok_or(Fault::UnopenedGroup)?;
        let inside = self.branches.split_off(start.min(self.branches.len()));
        let inside = inside.into_iter().map(|branch| branch.tokens);
        let inside: Vec<Vec<Token>> = inside.filter(|tokens| !tokens.is_empty()).collect();
        let around = self.branches.last_mut().ok_or(Fault::UnopenedGroup)?;
        around.is_begun = true;
        if !inside.is_empty() {
            around.tokens.push(Token::Group(inside));
        } else if matches!(around.tokens.as_slice(), [Token::Folders]) {
            // A group of nothing matches nothing, yet with it `**/` is not the whole glob, which would match every path.
            around.tokens.push(Token::Group(vec![Vec::new()]));
        }
        Ok(())
    }

    fn star(&mut self) {
        let before = self.before;
        if self.chars.peek() != Some(&'*') {
            return self.push(Token::Star);
        }
        self.read();
        let next = self.chars.peek().copied();
        let is_begun = self.branches.last().is_some_and(|branch| branch.is_begun);
        let ends_branch = !self.open.is_empty() && matches!(next, Some(',' | '}'));
        match next {
            // `**/` in front.
            None | Some('/') if !is_begun => {
                self.read();
                self.push(Token::Folders);
            }
            // `/**/` inside.
            Some('/') if before == Some('/') => {
                self.read();
                self.push(Token::Folders);
            }
            // `/**` at the end.
            _ if before == Some('/') && (next.is_none() || ends_branch) => {
                self.push(Token::Rest);
            }
            // Not between separators, it is two stars, which match what one does.
            _ => self.push(Token::Star),
        }
    }

    /// After `[`.
    fn class(&mut self) -> Result<(), Fault> {
        let start = (self.chars.clone(), self.before, self.last);
        let is_negated = matches!(self.chars.peek(), Some('!' | '^'));
        if is_negated {
            self.read();
        }
        let mut ranges: Vec<(char, char)> = Vec::new();
        let (mut is_first, mut in_range) = (true, false);
        loop {
            let Some(character) = self.read() else {
                if !self.syntax.allows_unclosed_class {
                    return Err(Fault::UnclosedClass);
                }
                (self.chars, self.before, self.last) = start;
                self.is_class_unclosed = true;
                self.push(Token::Char('['));
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
        if let Some((first, last)) = ranges.iter().find(|(first, last)| first > last) {
            return Err(Fault::Range(*first, *last));
        }
        self.push(Token::Class(Class { is_negated, ranges }));
        Ok(())
    }
}
