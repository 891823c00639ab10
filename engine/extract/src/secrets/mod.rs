//! Files that are, or hold, keys and credentials: by their names, and by all that would be stored of them: text, path,
//! title, outline, metadata, names of parts. They are left out with a reason unless
//! `IndexOptions::include_secrets` of the engine is set.
//!
//! A text counts that holds a private key or a token that its issuer makes recognisable (`tokens`), or a file
//! of settings in which a secret is set (`settings_files`). What is made up to show how such a thing looks
//! (`placeholder`) does not count, nor does a line that says `gitleaks:allow` or `pragma: allowlist secret`,
//! the marks of gitleaks and detect-secrets. A password in code or prose is not recognised.
//!

mod names;
mod placeholder;
mod private_key;
mod settings_files;
mod starts;
mod token;
mod tokens;
mod values;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use kb_types::{Document, PartContent};
use memchr::{memchr, memchr_iter, memmem, memrchr};

use crate::secrets::names::Name;
use crate::secrets::settings_files::FILES;
use crate::secrets::starts::Starts;
use crate::secrets::token::TokenRule;
use crate::secrets::tokens::TOKENS;

/// How the reason of every such file begins; with it stored reasons are recognised.
pub const REASON_START: &str = "may hold a key or credentials";

/// Version of all rules together, by which a .kb remembers that its documents were searched. To be raised with
/// every rule that finds more than before.
pub const RULES: u32 = 2;

/// Marks of lines that are known to hold no real secret.
// Marks of gitleaks and of detect-secrets, which authors have put there already.
const ALLOWED: &[&str] = &["gitleaks:allow", "pragma: allowlist secret"];

/// Why a file should not be stored where others read it. Shown, it names the kind of secret and where it is, never
/// the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Secret {
    /// The rule that found it, as `github-pat`: mostly the id of the rule of gitleaks that it follows.
    pub rule: &'static str,
    /// What it is, in a few words; of a file that is one by its name, none.
    pub what: Option<&'static str>,
    /// Line of the original, from 1; of a file that is one by its name, and of what is not in the text, none.
    pub line: Option<u32>,
    /// What it stands in where that is not the text, as `its title`.
    pub place: Option<&'static str>,
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.what, self.line, self.place) {
            (Some(what), Some(line), _) => write!(f, "{REASON_START} ({what}, line {line})"),
            (Some(what), None, Some(place)) => write!(f, "{REASON_START} ({what} in {place})"),
            _ => write!(f, "{REASON_START} (by its name)"),
        }
    }
}

/// Whether a file of that path is a secret by its name (`id_rsa`, `.env`, `*.p12`), whatever it holds, or has one in
/// its path. Linear in the path.
pub fn secret_by_name(path: &str) -> Option<Secret> {
    if let Some(rule) = names::rule_of(&Name::of(path)) {
        return Some(Secret {
            rule,
            what: None,
            line: None,
            place: None,
        });
    }
    in_words(path, "its path")
}

/// The first secret in what would be stored of a document: its text, path, title, outline, metadata, and the names
/// of its sheets, slides and pages. A document may be one by its name alone: see [`secret_by_name`]. Linear in what is
/// stored.
pub fn secret_in(document: &Document) -> Option<Secret> {
    in_text(document).or_else(|| {
        let mut others = beside_text(document);
        others.find_map(|(place, words)| in_words(words, place))
    })
}

fn in_text(document: &Document) -> Option<Secret> {
    // The line of the original, not of the stored text: a person has to find it in the file.
    let (rule, what, start) = find(&document.path, &document.text)?;
    let before = document.text.as_bytes().get(..start).unwrap_or_default();
    let index = memchr_iter(b'\n', before).count();
    let line = document.line_numbers.get(index).copied();
    Some(Secret {
        rule,
        what: Some(what),
        line: Some(line.unwrap_or_else(|| u32::try_from(index + 1).unwrap_or(u32::MAX))),
        place: None,
    })
}

/// What is stored of a document beside its text, and what it is. Symbols and what is used are words of the text.
fn beside_text(document: &Document) -> impl Iterator<Item = (&'static str, &str)> {
    let head = [
        ("its path", document.path.as_str()),
        ("its title", &document.title),
        ("its file type", &document.file_type),
        ("its language", &document.language),
    ];
    let outline = document.outline.iter();
    let outline = outline.map(|heading| ("its outline", heading.title.as_str()));
    let metadata = document.metadata.iter();
    let metadata =
        metadata.flat_map(|(key, value)| [("its metadata", key.as_str()), ("its metadata", value)]);
    let parts = document.parts.iter().map(|part| match &part.content {
        PartContent::Page(page) => ("the number of a page", page.label.as_str()),
        PartContent::Sheet(sheet) => ("the name of a sheet", sheet.name.as_str()),
        PartContent::Slide(slide) => ("the title of a slide", slide.title.as_str()),
    });
    head.into_iter().chain(outline).chain(metadata).chain(parts)
}

/// The first secret in words that are no text of a file: a title, a tag.
pub fn in_words(words: &str, place: &'static str) -> Option<Secret> {
    let (rule, what, _) = find_token(words)?;
    Some(Secret {
        rule,
        what: Some(what),
        line: None,
        place: Some(place),
    })
}

/// Whether words hold a secret.
pub fn has_secret(words: &str) -> bool {
    find_token(words).is_some()
}

/// A path as it may be shown and kept: the name of a file or folder that holds a secret makes way for `…`.
pub fn path_without_secrets(path: &str) -> Cow<'_, str> {
    if find_token(path).is_none() {
        return Cow::Borrowed(path);
    }
    let names = path.split('/').map(|name| match find_token(name) {
        Some(_) => "\u{2026}",
        None => name,
    });
    Cow::Owned(names.collect::<Vec<&str>>().join("/"))
}

/// As [`find`], of what has no name by which it could be a file of settings.
fn find_token(text: &str) -> Option<(&'static str, &'static str, usize)> {
    scanner()?.find(text.as_bytes(), &mut AllowedLines::of(text))
}

/// Rule and kind of the first secret, and where it begins.
fn find(path: &str, text: &str) -> Option<(&'static str, &'static str, usize)> {
    let mut lines = AllowedLines::of(text);
    let name = Name::of(path);
    for file in FILES.iter().filter(|file| (file.is_named)(&name)) {
        // Settings files first: their reason says more than that of a token inside.
        let found = (file.find)(text, &mut |at| !lines.is_allowed(at));
        if let Some(start) = found {
            return Some((file.id, file.what, start));
        }
    }
    scanner()?.find(text.as_bytes(), &mut lines)
}

/// Which lines are marked to be stored.
struct AllowedLines<'t> {
    text: &'t [u8],
    /// The line that was looked at last, so that a line with many tokens is searched once.
    last: Range<usize>,
    is_allowed: bool,
}

impl<'t> AllowedLines<'t> {
    fn of(text: &'t str) -> AllowedLines<'t> {
        AllowedLines {
            text: text.as_bytes(),
            last: 0..0,
            is_allowed: false,
        }
    }

    fn is_allowed(&mut self, at: usize) -> bool {
        // Otherwise a line of many tokens would be searched once for each of them.
        if !self.last.contains(&at) {
            let before = self.text.get(..at).unwrap_or_default();
            let after = self.text.get(at..).unwrap_or_default();
            let start = memrchr(b'\n', before).map_or(0, |newline| newline + 1);
            let end = memchr(b'\n', after).map_or(self.text.len(), |newline| at + newline);
            let line = self.text.get(start..end).unwrap_or_default();
            let has = |mark: &&str| memmem::find(line, mark.as_bytes()).is_some();
            self.is_allowed = ALLOWED.iter().any(has);
            self.last = start..end;
        }
        self.is_allowed
    }
}

/// Finds what private keys and tokens begin with, all at once, and then compares the rest of each.
struct Scanner {
    starts: Starts,
    /// Length of each start.
    lengths: Vec<usize>,
    /// Of each start what it may begin.
    kinds: Vec<Vec<Kind>>,
}

enum Kind {
    Pem,
    Putty,
    Token(&'static TokenRule),
}

fn scanner() -> Option<&'static Scanner> {
    static SCANNER: OnceLock<Option<Scanner>> = OnceLock::new();
    SCANNER.get_or_init(Scanner::new).as_ref()
}

impl Scanner {
    /// `None` only if the starts were too many for the filter: a test makes it.
    fn new() -> Option<Scanner> {
        let mut starts: Vec<&'static str> = vec![private_key::PEM_START, private_key::PUTTY_START];
        let mut kinds = vec![vec![Kind::Pem], vec![Kind::Putty]];
        for rule in TOKENS {
            for start in rule.starts {
                match starts.iter().position(|known| known == start) {
                    Some(at) => kinds.get_mut(at)?.push(Kind::Token(rule)),
                    None => {
                        starts.push(start);
                        kinds.push(vec![Kind::Token(rule)]);
                    }
                }
            }
        }
        Some(Scanner {
            starts: Starts::new(&starts)?,
            lengths: starts.iter().map(|start| start.len()).collect(),
            kinds,
        })
    }

    fn find(
        &self,
        text: &[u8],
        lines: &mut AllowedLines<'_>,
    ) -> Option<(&'static str, &'static str, usize)> {
        self.starts.find(text, |number, start| {
            let end = start + self.lengths.get(number)?;
            let after = text.get(end..)?;
            for kind in self.kinds.get(number)? {
                let (rule, what, is_one) = match kind {
                    Kind::Pem => ("private-key", "private key", private_key::is_pem(after)),
                    Kind::Putty => ("private-key", "private key", private_key::is_putty(after)),
                    Kind::Token(rule) => (rule.id, rule.what, rule.is_at(text, start, end)),
                };
                if is_one && !lines.is_allowed(start) {
                    return Some((rule, what, start));
                }
            }
            None
        })
    }
}

#[cfg(test)]
pub(crate) mod tests;
