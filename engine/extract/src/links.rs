//! The documents that a Markdown document links to, as it names them.
//!
//! `[a](b.md)`, `[a]: b.md`, `<a href="b.md">`, `[[Note]]`, `[[Note|label]]`, `[[Note#Heading]]` and `![[embed]]`, outside
//! of code. One pass over the lines, without a parser: a link in a place where Markdown has none is at worst one too many.

use std::collections::BTreeSet;

use kb_types::link::{Link, name_of};
use kb_types::percent;
use unicode_normalization::UnicodeNormalization;

/// Links of one document; further ones are not read.
const MAX_LINKS: usize = 5000;

/// Bytes of a link as it is written; a longer one is none of a document.
const MAX_LINK_BYTES: usize = 500;

/// The links of a text of that type, each once, in order.
pub fn of_text(file_type: &str, text: &str) -> BTreeSet<Link> {
    let mut links = BTreeSet::new();
    if file_type != "markdown" {
        return links;
    }
    let mut fence: Option<(u8, usize)> = None;
    for line in text.lines() {
        if links.len() >= MAX_LINKS {
            break;
        }
        let trimmed = line.trim_start_matches([' ', '\t', '>']);
        if let Some((mark, count, rest)) = fence_of(trimmed) {
            match fence {
                None => fence = Some((mark, count)),
                Some((open, least)) if open == mark && count >= least && rest.trim().is_empty() => {
                    fence = None;
                }
                Some(_) => {}
            }
        } else if fence.is_none() {
            add_definition(trimmed, &mut links);
            add_line(line, &mut links);
        }
    }
    links
}

/// The mark of a fence of code and how many there are, and what follows.
fn fence_of(line: &str) -> Option<(u8, usize, &str)> {
    let mark = *line.as_bytes().first()?;
    let count = line.bytes().take_while(|byte| *byte == mark).count();
    let is_fence = matches!(mark, b'`' | b'~') && count >= 3;
    let rest = line.get(count..)?;
    (is_fence && !(mark == b'`' && rest.contains('`'))).then_some((mark, count, rest))
}

/// `[label]: target`.
fn add_definition(line: &str, links: &mut BTreeSet<Link>) {
    let definition = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]:"));
    if let Some((label, target)) = definition
        && !label.starts_with('^')
        && !label.contains(['[', ']'])
    {
        links.extend(path(destination(target)));
    }
}

/// Links within a line.
fn add_line(line: &str, links: &mut BTreeSet<Link>) {
    const HREF: &str = "href=";
    let bytes = line.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let rest = line.get(at..).unwrap_or_default();
        at += match byte {
            b'\\' => 2,
            b'`' => code(rest),
            b'[' if rest.starts_with("[[") => match rest.split_once("]]") {
                Some((inner, _)) => {
                    let inner = inner.get(2..).unwrap_or_default();
                    links.extend(note(inner));
                    inner.len() + 4
                }
                None => 2,
            },
            b']' if rest.starts_with("](") => {
                links.extend(path(destination(rest.get(2..).unwrap_or_default())));
                2
            }
            b'h' if rest.starts_with(HREF) => {
                let value = rest.get(HREF.len()..).unwrap_or_default();
                let quoted = value.strip_prefix('"').map(|value| value.split('"'));
                let quoted = quoted.and_then(|mut value| value.next());
                links.extend(quoted.and_then(path));
                HREF.len()
            }
            _ => 1,
        };
    }
}

/// The length of code at the start of a text: marks, code, as many marks. Marks alone, if no such end follows.
fn code(text: &str) -> usize {
    let count = text.bytes().take_while(|byte| *byte == b'`').count();
    let mut at = count;
    while let Some(next) = text.get(at..).and_then(|rest| rest.find('`')) {
        let marks = text.get(at + next..).unwrap_or_default();
        let marks = marks.bytes().take_while(|byte| *byte == b'`').count();
        at += next + marks;
        if marks == count {
            return at;
        }
    }
    count
}

/// The target at the start of a text: in `<...>`, or up to a space or the `)` that closes it.
fn destination(text: &str) -> &str {
    let text = text.trim_start();
    if let Some(pointed) = text.strip_prefix('<') {
        return pointed.split('>').next().unwrap_or_default();
    }
    let mut depth = 0_u32;
    let end = text.find(|c: char| match c {
        '(' => {
            depth += 1;
            false
        }
        ')' if depth > 0 => {
            depth -= 1;
            false
        }
        c => c == ')' || c.is_whitespace(),
    });
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

/// The document that a target names; `None` for addresses, places in the same document, and folders.
fn path(target: &str) -> Option<Link> {
    let end = target.find(['#', '?']).unwrap_or(target.len());
    let target = target.get(..end)?;
    let scheme = target.split_once(':').map(|(scheme, _)| scheme);
    let is_address = target.starts_with("//") || scheme.is_some_and(|scheme| !scheme.contains('/'));
    if target.is_empty() || is_address || target.ends_with('/') || target.len() > MAX_LINK_BYTES {
        return None;
    }
    let target = percent::decode(target).unwrap_or_else(|| target.to_owned());
    let target: String = target.replace('\\', "/").nfc().collect();
    let is_path = !target.contains(|c: char| c.is_control()) && !name_of(&target).is_empty();
    is_path.then_some(Link::Path(target))
}

/// The note that the inside of `[[...]]` names.
fn note(inner: &str) -> Option<Link> {
    let end = inner.find(['|', '#', '^']).unwrap_or(inner.len());
    // `\|` in the cells of a table.
    let name = inner.get(..end)?.trim_end_matches('\\').trim();
    let name: String = name.trim_matches('/').to_lowercase().nfc().collect();
    let is_name = !name.is_empty() && name.len() <= MAX_LINK_BYTES;
    let is_name = is_name && !name.contains(|c: char| c.is_control() || matches!(c, '[' | ']'));
    is_name.then_some(Link::Note(name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn links_of(text: &str) -> Vec<String> {
        let links = of_text("markdown", text).into_iter();
        links
            .map(|link| match link {
                Link::Path(path) => path,
                Link::Note(name) => format!("[[{name}]]"),
            })
            .collect()
    }

    #[test]
    fn links_of_every_form_are_found() {
        for (text, expected) in [
            (
                "See [a](b.md), ![p](../i/p.png \"t\") and [c](<d e.md#x>).",
                &["../i/p.png", "b.md", "d e.md"][..],
            ),
            (
                "[a](b%20c.md?x=1)(d) [e](f_(g).md)",
                &["b c.md", "f_(g).md"],
            ),
            (
                "[ref]: docs/guide.md \"Guide\"\n[^1]: a note.md",
                &["docs/guide.md"],
            ),
            ("<a href=\"x/y.md#part\">y</a>", &["x/y.md"]),
            (
                "[[Note]] and [[Folder/Other Note#Part|label]]",
                &["[[folder/other note]]", "[[note]]"],
            ),
            (
                "![[embed.png]] | [[Cell\\|shown]] |",
                &["[[cell]]", "[[embed.png]]"],
            ),
            ("[a](b.md) [a](b.md)\n> - [c](/d.md)", &["/d.md", "b.md"]),
            ("[![badge](b.svg)](c.md)", &["b.svg", "c.md"]),
        ] {
            assert_eq!(links_of(text), expected, "{text}");
        }
    }

    #[test]
    fn code_addresses_and_places_of_the_same_document_are_no_links() {
        for text in [
            "`[a](b.md)` and ``[[c]] ` d``",
            "```\n[a](b.md)\n```\n~~~ sh\n[[a]]\n```\n~~~",
            "[a](https://x.org/b.md) [b](mailto:a@b) [c](//x/y.md) [d](#part) [e](docs/)",
            "[[#Part]] [[^block]] [[]] [[a\n]] \\[[a]] \\[a\\](b.md)",
            "[a] (b.md) a[0][1]",
        ] {
            assert_eq!(links_of(text), [""; 0], "{text}");
        }
        assert!(of_text("rust", "[a](b.md)").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(\\[\\[|\\]\\]|\\]\\(|`{1,4}|[a\n)(\\\\<>~#| \u{e9}])*") {
            for link in of_text("markdown", &text) {
                let (Link::Path(name) | Link::Note(name)) = link;
                prop_assert!(!name.is_empty());
            }
        }
    }
}
