//! Files that are, or hold, keys and credentials: by their names, and by the text that would be stored of them.
//! They are left out with a reason unless [`IndexOptions::include_secrets`] is set.
//!
//! A text counts that holds a private key or a token that its issuer makes recognisable ([`tokens`]), or a file
//! of settings in which a secret is set ([`settings_files`]). What is made up to show how such a thing looks
//! ([`placeholder`]) does not count, nor does a line that says `gitleaks:allow` or `pragma: allowlist secret`,
//! the marks of gitleaks and detect-secrets. A password in code or prose is not recognised.
//!
//! [`IndexOptions::include_secrets`]: crate::IndexOptions::include_secrets

mod names;
mod placeholder;
mod private_key;
mod settings_files;
mod starts;
mod token;
mod tokens;
mod values;

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use memchr::{memchr, memchr_iter, memmem, memrchr};

use crate::ingest::secrets::names::Name;
use crate::ingest::secrets::settings_files::FILES;
use crate::ingest::secrets::starts::Starts;
use crate::ingest::secrets::token::TokenRule;
use crate::ingest::secrets::tokens::TOKENS;
use crate::types::Document;

/// How the reason of every such file begins; with it stored reasons are recognised.
pub(crate) const REASON_START: &str = "may hold a key or credentials";

/// Version of all rules together, by which a .kb remembers that its documents were searched. To be raised with
/// every rule that finds more than before.
pub(crate) const RULES: u32 = 1;

/// Marks of lines that are known to hold no real secret.
const ALLOWED: &[&str] = &["gitleaks:allow", "pragma: allowlist secret"];

/// Why a file should not be stored where others read it. Shown, it names the kind of secret and its line, never
/// the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Secret {
    /// The rule that found it, as `github-pat`: mostly the id of the rule of gitleaks that it follows.
    pub rule: &'static str,
    /// What it is, in a few words; of a file that is one by its name, none.
    pub what: Option<&'static str>,
    /// Line of the original, from 1; of a file that is one by its name, none.
    pub line: Option<u32>,
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.what, self.line) {
            (Some(what), Some(line)) => write!(f, "{REASON_START} ({what}, line {line})"),
            _ => write!(f, "{REASON_START} (by its name)"),
        }
    }
}

/// Whether a file of that path is a secret by its name (`id_rsa`, `.env`, `*.p12`), whatever it holds.
pub fn secret_by_name(path: &str) -> Option<Secret> {
    let rule = names::rule_of(&Name::of(path))?;
    Some(Secret {
        rule,
        what: None,
        line: None,
    })
}

/// The first secret in the text of a document, unless it is one by its name: see [`secret_by_name`]. Linear in
/// the text.
pub fn secret_in(document: &Document) -> Option<Secret> {
    let (rule, what, start) = find(&document.path, &document.text)?;
    let before = document.text.as_bytes().get(..start).unwrap_or_default();
    let index = memchr_iter(b'\n', before).count();
    let line = document.line_numbers.get(index).copied();
    Some(Secret {
        rule,
        what: Some(what),
        line: Some(line.unwrap_or_else(|| u32::try_from(index + 1).unwrap_or(u32::MAX))),
    })
}

/// Rule and kind of the first secret, and where it begins.
fn find(path: &str, text: &str) -> Option<(&'static str, &'static str, usize)> {
    let mut lines = AllowedLines {
        text: text.as_bytes(),
        last: 0..0,
        is_allowed: false,
    };
    let name = Name::of(path);
    for file in FILES.iter().filter(|file| (file.is_named)(&name)) {
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

impl AllowedLines<'_> {
    fn is_allowed(&mut self, at: usize) -> bool {
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
