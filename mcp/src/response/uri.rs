//! URIs of resources: `kb://INDEX`, `kb://INDEX/doc/PATH`, `kb://INDEX/outline/PATH` and
//! `kb://INDEX/lines/A-B/PATH`, percent-encoded.

use kb_engine::percent;

/// A parsed URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Uri {
    pub(crate) index: String,
    pub(crate) part: Part,
    /// Path of the document; empty for an index.
    pub(crate) path: String,
}

/// Which part of an index or a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The index itself.
    Overview,
    /// The text of a document.
    Document,
    /// Its headings.
    Outline,
    /// Some lines, first and last from 1.
    Lines(u32, u32),
}

/// The URI of a document.
pub(crate) fn of_document(index: &str, path: &str) -> String {
    format!(
        "kb://{}/doc/{}",
        percent::encode(index, false),
        percent::encode(path, true)
    )
}

/// The URI of an index.
pub(crate) fn of_index(index: &str) -> String {
    format!("kb://{}", percent::encode(index, false))
}

/// Parses a URI; `None` for any other text.
pub(crate) fn parse(text: &str) -> Option<Uri> {
    let rest = text.strip_prefix("kb://")?;
    let (index, rest) = match rest.split_once('/') {
        Some((index, rest)) => (index, Some(rest)),
        None => (rest, None),
    };
    let index = percent::decode(index)?;
    let Some(rest) = rest.filter(|rest| !rest.is_empty()) else {
        let path = String::new();
        return (!index.is_empty()).then_some(Uri {
            index,
            part: Part::Overview,
            path,
        });
    };
    let (kind, rest) = rest.split_once('/')?;
    let (part, path) = match kind {
        "doc" => (Part::Document, rest),
        "outline" => (Part::Outline, rest),
        "lines" => {
            let (range, path) = rest.split_once('/')?;
            let (first, last) = range.split_once('-')?;
            (Part::Lines(number(first)?, number(last)?), path)
        }
        _ => return None,
    };
    let path = percent::decode(path)?;
    let is_whole = !index.is_empty() && !path.is_empty();
    is_whole.then_some(Uri { index, part, path })
}

fn number(digits: &str) -> Option<u32> {
    let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| all_digits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn uris_of_documents_round_trip(index in "[^/]{1,20}", path in "\\PC{1,60}") {
            let uri = of_document(&index, &path);
            prop_assert!(uri.is_ascii(), "{uri}");
            let found = Uri { index, part: Part::Document, path };
            prop_assert_eq!(parse(&uri), Some(found));
        }

        #[test]
        fn any_text_can_be_parsed(text in "(kb://)?\\PC{0,60}") {
            if let Some(uri) = parse(&text) {
                prop_assert!(!uri.index.is_empty());
            }
        }
    }

    #[test]
    fn lines_and_outlines_have_uris_and_other_texts_have_none() {
        let lines = parse("kb://team/lines/3-12/docs/a%20b.md").unwrap();
        assert_eq!(lines.part, Part::Lines(3, 12));
        assert_eq!(lines.path, "docs/a b.md");
        assert_eq!(parse("kb://team/outline/a.md").unwrap().part, Part::Outline);
        assert_eq!(parse("kb://team").unwrap().part, Part::Overview);
        for text in [
            "docs/a.md",
            "file:///etc/passwd",
            "kb://",
            "kb://team/doc/",
            "kb://team/other/a",
            "kb://team/lines/3/a",
            "kb://t/lines/+3-4/a",
            "kb://team/doc/%zz",
            "kb://team/doc/%ff",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
