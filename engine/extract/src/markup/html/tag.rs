//! Tags, comments and raw-text elements, found in the source without a tree.

use crate::markup::html::character_references::decode_into;

/// Length of a comment, doctype or processing instruction.
pub(in crate::markup) fn declaration_len(rest: &str) -> usize {
    let Some(body) = rest.strip_prefix("<!--") else {
        return rest.find('>').map_or(rest.len(), |end| end + 1);
    };
    if let Some(short) = [">", "->"].into_iter().find(|end| body.starts_with(*end)) {
        return 4 + short.len();
    }
    // One search for both endings, or a page of comments without the second would be quadratic.
    let mut from = 0;
    while let Some(found) = body.get(from..).and_then(|rest| rest.find("--")) {
        let end = from + found + 2;
        let after = body.get(end..).unwrap_or_default();
        if after.starts_with('>') {
            return 4 + end + 1;
        }
        if after.starts_with("!>") {
            return 4 + end + 2;
        }
        from = end - 1;
    }
    rest.len()
}

/// A tag at the start of a string.
pub(in crate::markup) struct Tag<'a> {
    /// In lower case.
    pub(in crate::markup) name: String,
    pub(in crate::markup) is_end: bool,
    /// Between name and `>`.
    pub(in crate::markup) attributes: &'a str,
    /// Bytes from `<` to `>`.
    pub(in crate::markup) len: usize,
}

impl<'a> Tag<'a> {
    /// `None` when the text ends inside the tag.
    pub(in crate::markup) fn scan(rest: &'a str) -> Option<Tag<'a>> {
        let bytes = rest.as_bytes();
        let is_end = bytes.get(1) == Some(&b'/');
        let name_start = 1 + usize::from(is_end);
        let is_name_end = |byte: u8| byte.is_ascii_whitespace() || byte == b'/' || byte == b'>';
        let name_len = bytes
            .iter()
            .skip(name_start)
            .position(|&byte| is_name_end(byte))?;
        let name_end = name_start + name_len;
        let mut quote = None;
        let mut after_equals = false;
        for (index, &byte) in bytes.iter().enumerate().skip(name_end) {
            match (quote, byte) {
                (Some(mark), _) if mark == byte => quote = None,
                (Some(_), _) => continue,
                (None, b'>') => {
                    return Some(Tag {
                        name: rest.get(name_start..name_end)?.to_ascii_lowercase(),
                        is_end,
                        attributes: rest.get(name_end..index)?,
                        len: index + 1,
                    });
                }
                // Only after `=` does a quote enclose a value.
                (None, b'"' | b'\'') if after_equals => quote = Some(byte),
                (None, _) if byte.is_ascii_whitespace() => continue,
                (None, _) => {}
            }
            after_equals = byte == b'=' && quote.is_none();
        }
        None
    }

    /// Whether an element of XML ends where it begins.
    pub(in crate::markup) fn is_empty(&self) -> bool {
        self.attributes.ends_with('/')
    }

    /// Decoded value of an attribute.
    pub(in crate::markup) fn attribute(&self, wanted: &str) -> Option<String> {
        let mut valued = self
            .attributes()
            .filter_map(|(name, value)| Some((name, value?)));
        let (_, value) = valued.find(|(name, _)| name.eq_ignore_ascii_case(wanted))?;
        let mut decoded = String::new();
        decode_into(&mut decoded, value);
        Some(decoded)
    }

    /// Names of the attributes and their values as they are written; some have none.
    pub(super) fn attributes(&self) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
        let mut rest = self.attributes;
        std::iter::from_fn(move || {
            let (attribute, after) = next_attribute(rest)?;
            rest = after;
            Some(attribute)
        })
    }
}

/// The first attribute, and what follows it.
fn next_attribute(attributes: &str) -> Option<((&str, Option<&str>), &str)> {
    let rest = attributes.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
    if rest.is_empty() {
        return None;
    }
    let is_end = |c: char| c.is_ascii_whitespace() || matches!(c, '=' | '/');
    // A name may begin with `=`; it ends at the next one.
    let skip = usize::from(rest.starts_with('='));
    let name_len = rest
        .get(skip..)?
        .find(is_end)
        .map_or(rest.len(), |at| at + skip);
    let (name, after) = rest.split_at_checked(name_len)?;
    let after = after.trim_start();
    let Some(value) = after.strip_prefix('=') else {
        return Some(((name, None), after));
    };
    let value = value.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
    let (value, after) = match quote {
        Some(mark) => {
            let inside = value.get(1..)?;
            inside.split_once(mark).unwrap_or((inside, ""))
        }
        None => {
            let end = value.find(|c: char| c.is_ascii_whitespace());
            value.split_at_checked(end.unwrap_or(value.len()))?
        }
    };
    Some(((name, Some(value)), after))
}

/// Length of the content of a raw-text element, up to its end tag or the end of the file.
pub(in crate::markup) fn raw_text_len(body: &str, name: &str) -> usize {
    let mut from = 0;
    while let Some(found) = body.get(from..).and_then(|rest| rest.find("</")) {
        let at = from + found;
        let after = body.as_bytes().get(at + 2..).unwrap_or_default();
        let is_name = after
            .get(..name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()));
        let next = after.get(name.len()).copied().unwrap_or(b'>');
        if is_name && (next.is_ascii_whitespace() || matches!(next, b'/' | b'>')) {
            return at;
        }
        from = at + 2;
    }
    body.len()
}
