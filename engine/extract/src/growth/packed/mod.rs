//! Constructs of documents that are packages of XML, and of the packages.

#![cfg(all(feature = "office", feature = "sheets"))]

mod office_open;
mod open_document;
mod packages;

use super::{Construct, check, repeated};
use crate::package::test_files::package;

/// Parts of a package, one of which holds a construct.
type Parts = &'static [(&'static str, &'static str)];

/// A kind of package: its parts, in which `{PIECES}` stands where constructs go.
struct Kind {
    file: &'static str,
    parts: fn() -> Vec<(String, String)>,
    /// Each with the part it goes to, and how it begins and ends.
    constructs: &'static [(&'static str, &'static str, &'static str)],
}

fn owned(parts: Parts) -> Vec<(String, String)> {
    let parts = parts.iter();
    parts
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect()
}

/// The package in which one part holds these pieces.
fn packed(parts: &[(String, String)], part: &str, pieces: &str) -> Vec<u8> {
    let filled = parts.iter().map(|(name, text)| {
        let stem = name
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .split('.')
            .next();
        let pieces = if stem == Some(part) { pieces } else { "" };
        let text = text.replace("{PIECES}", pieces);
        (
            name.as_str(),
            text.replace("{STYLES}", "").replace("{MANIFEST}", ""),
        )
    });
    let filled: Vec<(&str, String)> = filled.collect();
    let filled: Vec<(&str, &str)> = filled
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    package(&filled)
}

fn check_kind(kind: &Kind) {
    let mut constructs = Vec::new();
    for (part, open, close) in kind.constructs {
        let (part, open, close): (&'static str, &'static str, &'static str) = (part, open, close);
        let parts = (kind.parts)();
        let row = format!("{open}{close}");
        let name = format!("{part}: {row}");
        let in_row = parts.clone();
        constructs.push(Construct::new(kind.file, name, move |bytes| {
            packed(&in_row, part, &repeated(&row, bytes))
        }));
        if close.is_empty() {
            continue;
        }
        // Elements inside each other are limited to 2,000: as deep as that, again and again.
        let times = 1500 / open.matches('<').count().max(1);
        let name = format!("{part}: {open} inside each other");
        constructs.push(Construct::new(kind.file, name, move |bytes| {
            let each = open.len() + close.len();
            let deep = (bytes / each).clamp(1, times);
            let one = repeated(open, deep * open.len()) + &repeated(close, deep * close.len());
            packed(&parts, part, &repeated(&one, bytes))
        }));
    }
    check(constructs, 48 << 10, 768 << 10);
}
