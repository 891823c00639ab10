//! Texts of several documents within one token budget.

use kb_types::Lines;
use kb_types::error::{Error, Result};

use crate::content::DocumentText;
use crate::kb::Kb;
use crate::paging::{PageOptions, tokens};

/// What the names of a text count in a token budget, in bytes, beside its path and title.
// The field names, braces and numbers of JSON. Counted, because many small texts would exceed a
// budget by them.
const TEXT_OVERHEAD_BYTES: u64 = 80;

/// Texts of several documents, and what was left out of them.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Texts {
    /// The texts that fit, each whole, in the order of the names; where none fits, the beginning of the first
    /// that does not.
    pub texts: Vec<NamedText>,
    /// The names without a text, in order.
    pub left_out: Vec<LeftOut>,
    /// Tokens of the texts with their names, at 4 bytes each.
    pub tokens: u64,
}

/// A text, and which name it is for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NamedText {
    /// Position of the name in the call.
    pub position: usize,
    /// The text; where its `next` is set, only the beginning of what the name means.
    pub text: DocumentText,
    /// The name of the rest, where the text is cut: `a.md:40-90`, or within a line `a.md:40-90+300`, the same
    /// without the first 300 bytes.
    pub rest: Option<String>,
}

/// A name that has no text in the result.
#[derive(Debug)]
#[non_exhaustive]
pub struct LeftOut {
    /// Position of the name in the call.
    pub position: usize,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why a name has no text in the result.
#[derive(Debug)]
#[non_exhaustive]
pub enum LeftOutReason {
    /// The text is larger than what the others left of the budget. The number of its tokens, where that is
    /// known without reading it: of whole documents.
    OverBudget(Option<u64>),
    /// The name means no document, or not these lines of one; or the text cannot be read.
    Failed(Error),
}

/// Reads texts of documents, each named as in the calls of [`Kb`], with lines in the name, beside it (which has
/// precedence) or without, in the order of the names. A text that does not fit is left out, and the next ones
/// are tried.
///
/// Each is read from the newest commit of its file. Reads at most the budget for each name.
///
/// # Errors
/// [`Error::InvalidArgument`] for a budget out of range. What fails for one name is in
/// [`Texts::left_out`].
pub fn read_texts(names: &[(&Kb, &str, Option<Lines>)], max_tokens: u32) -> Result<Texts> {
    let mut page = PageOptions::default().max_tokens(max_tokens);
    page.validate()?;
    let mut found = Texts::default();
    // What the texts take, without rounding up each.
    let (mut taken_bytes, mut beginning) = (0, None);
    let taken = |text: &DocumentText| {
        let names = text.document.path.len() + text.document.title.len();
        (text.text.len() + names) as u64 + TEXT_OVERHEAD_BYTES
    };
    for (position, (kb, name, lines)) in names.iter().enumerate() {
        let left = u64::from(max_tokens).saturating_sub(tokens(taken_bytes));
        // At least one: zero is not a budget, and a text is read to know whether it is there.
        page.max_tokens = Some(u32::try_from(left.max(1)).unwrap_or(u32::MAX));
        let reason = match read(kb, position, name, *lines, &page) {
            Ok((named, size)) => {
                let with = taken_bytes + taken(&named.text);
                if named.rest.is_none() && tokens(with) <= max_tokens.into() {
                    taken_bytes = with;
                    found.texts.push(named);
                    continue;
                }
                // A caller that gets nothing cannot go on: the beginning with the name of the rest
                // always leads further.
                if found.texts.is_empty() && beginning.is_none() {
                    beginning = Some(named);
                }
                LeftOutReason::OverBudget(size)
            }
            Err(error) => LeftOutReason::Failed(error),
        };
        found.left_out.push(LeftOut { position, reason });
    }
    if let (true, Some(beginning)) = (found.texts.is_empty(), beginning) {
        taken_bytes = taken(&beginning.text);
        found
            .left_out
            .retain(|left| left.position != beginning.position);
        found.texts.push(beginning);
    }
    found.tokens = tokens(taken_bytes);
    Ok(found)
}

/// The text, or as much of it as fits, and the tokens of all of it where they are known.
fn read(
    kb: &Kb,
    position: usize,
    name: &str,
    lines: Option<Lines>,
    page: &PageOptions,
) -> Result<(NamedText, Option<u64>)> {
    let located = kb.locate(name)?;
    let (named, skip_bytes) = match lines {
        Some(_) => (lines, 0),
        None => (located.lines, located.skip_bytes),
    };
    let path = &located.document.path;
    let text = match named {
        Some(lines) if skip_bytes > 0 => {
            kb.text_paged(&name_of(path, lines, skip_bytes), None, page)?
        }
        _ => kb.text_paged(path, named, page)?,
    };
    let size = match (&text.next, named) {
        (None, _) => Some(text.tokens),
        (Some(_), None) => Some(tokens(located.document.text_bytes)),
        (Some(_), Some(_)) => None,
    };
    let rest = text.next.is_some().then(|| {
        let named = named.unwrap_or(Lines {
            first: 1,
            last: u32::MAX,
        });
        rest_of(&text, named, skip_bytes)
    });
    let named = NamedText {
        position,
        text,
        rest,
    };
    Ok((named, size))
}

/// The name of what follows a text that is cut, of which `lines` without `skip_bytes` were asked for.
fn rest_of(text: &DocumentText, lines: Lines, skip_bytes: u32) -> String {
    let path = &text.document.path;
    let (all_bytes, begun_bytes) = text.stored_bytes;
    let next = |first: u32| Lines { first, ..lines };
    // Its lines are not those of the original: only bytes say where it was cut.
    if text.document.has_own_lines {
        return name_of(path, lines, skip_bytes.saturating_add(all_bytes));
    }
    match begun_bytes {
        0 => name_of(path, next(text.lines.last.saturating_add(1)), 0),
        _ if begun_bytes < all_bytes => name_of(path, next(text.lines.last), begun_bytes),
        _ => {
            let skip_bytes = skip_bytes.saturating_add(all_bytes);
            name_of(path, next(text.lines.first), skip_bytes)
        }
    }
}

/// The name of the text of some lines after its first bytes.
fn name_of(path: &str, lines: Lines, skip_bytes: u32) -> String {
    format!("{path}:{}", lines.range_text_after(skip_bytes))
}

#[cfg(test)]
#[cfg(feature = "ingest")]
mod tests {
    use super::*;
    use crate::content::tests::two_documents;
    use crate::kb::KbWriter;

    fn kb() -> (tempfile::TempDir, Kb) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&file).unwrap();
        let long = "the moon pulls the sea\n".repeat(400);
        for (path, text) in [
            ("a.txt", "one\ntwo\nthree\n"),
            ("long.txt", &long),
            ("z.txt", "last\n"),
        ] {
            writer.add_bytes(path, text.as_bytes()).unwrap();
        }
        writer.commit().unwrap();
        (folder, Kb::open(&file).unwrap())
    }

    fn read_all(kb: &Kb, names: &[&str], max_tokens: u32) -> (Vec<(usize, String)>, Vec<String>) {
        let names: Vec<_> = names.iter().map(|name| (kb, *name, None)).collect();
        let found = read_texts(&names, max_tokens).unwrap();
        let is_one = found.texts.len() == 1;
        assert!(found.tokens <= max_tokens.into() || is_one);
        let texts = found.texts.into_iter();
        let left = found.left_out.into_iter().map(|left| match left.reason {
            LeftOutReason::OverBudget(size) => format!("{} {size:?}", left.position),
            LeftOutReason::Failed(error) => format!("{} {}", left.position, error.code()),
        });
        let texts = texts
            .map(|named| (named.position, named.text.text))
            .collect();
        (texts, left.collect())
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_the_rest_is_tried() {
        let (_folder, kb) = kb();
        let (texts, left) = read_all(&kb, &["long.txt", "a.txt:2-9", "b.txt", "z.txt"], 100);
        assert_eq!(
            texts,
            [(1, "two\nthree\n".to_owned()), (3, "last\n".to_owned())]
        );
        assert_eq!(left, ["0 Some(2300)", "2 DOCUMENT_NOT_FOUND"]);
        let (texts, left) = read_all(&kb, &["a.txt:7", "long.txt:3-4"], 100);
        assert_eq!(texts, [(1, "the moon pulls the sea\n".repeat(2))]);
        assert_eq!(left, ["0 INVALID_RANGE"]);
        let (texts, left) = read_all(&kb, &["a.txt", "long.txt", "z.txt"], 20_000);
        assert_eq!((texts.len(), left.len()), (3, 0));
    }

    #[test]
    fn bytes_that_lines_do_not_have_are_named() {
        let (_folder, kb) = kb();
        assert_eq!(kb.text("a.txt:2-3+4", None).unwrap().text, "three\n");
        for (range, lines) in [("2-3+10", "2-3"), ("2-+900", "2-"), ("1-9+14", "1-9")] {
            let error = kb.text(&format!("a.txt:{range}"), None).unwrap_err();
            let (_, skip) = range.split_once('+').unwrap();
            let expected = format!(
                "lines {range} of \"a.txt\": the text of {lines} has no character that begins after {skip} bytes"
            );
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn globs_keep_the_lines_and_bytes_behind_them() {
        let (_folder, kb) = kb();
        for (glob, names) in [
            ("?.txt:2-3+4", ["a.txt:2-3+4", "z.txt:2-3+4"]),
            ("kb://a/doc/?.txt#L2-L3+4", ["a.txt:2-3+4", "z.txt:2-3+4"]),
            ("kb://a/lines/2-3/?.txt", ["a.txt:2-3", "z.txt:2-3"]),
        ] {
            assert_eq!(kb.matching(glob, 9).unwrap().0, names, "{glob}");
        }
    }

    #[test]
    fn where_nothing_fits_the_first_begins() {
        let (_folder, kb) = kb();
        let (texts, left) = read_all(&kb, &["none", "long.txt", "long.txt:1-300"], 60);
        assert_eq!(texts, [(1, "the moon pulls the sea\n".repeat(10))]);
        assert_eq!(left, ["0 DOCUMENT_NOT_FOUND", "2 None"]);
        let (texts, left) = read_all(&kb, &["a.txt", "z.txt"], 1);
        assert_eq!((texts.len(), left), (1, vec!["1 Some(2)".to_owned()]));
        let error = read_texts(&[], 0).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
    }

    /// Reads a document from `name` on as the names of the rest say, each answer of at most `max_tokens`.
    fn read_on(kb: &Kb, name: &str, max_tokens: u32) -> String {
        let (mut name, mut all) = (name.to_owned(), String::new());
        for _ in 0..100_000 {
            let mut found = read_texts(&[(kb, &name, None)], max_tokens).unwrap();
            assert!(found.left_out.is_empty(), "{name}: {:?}", found.left_out);
            let named = found.texts.pop().unwrap();
            all.push_str(&named.text.text);
            let Some(rest) = named.rest else {
                return all;
            };
            assert_ne!(rest, name, "the same text for ever");
            name = rest;
        }
        panic!("{name} does not end");
    }

    #[test]
    fn the_name_of_the_rest_leads_through_a_long_line() {
        let long = format!("one\n{}\nthree\nfour\n", "word \u{1f30a} ".repeat(800));
        let (_folder, kb) = two_documents("a.txt", &long);
        for max_tokens in [1, 7, 100, 130, 1000, 5000] {
            assert_eq!(read_on(&kb, "a.txt", max_tokens), long, "{max_tokens}");
            let middle = long.rsplit_once("four").unwrap().0;
            assert_eq!(read_on(&kb, "a.txt:1-3", max_tokens), middle);
        }
        for (name, rest) in [
            ("a.txt", "a.txt:2-"),
            ("a.txt:2-3", "a.txt:2-3+4000"),
            ("a.txt:2-3+4000", "a.txt:2-3+8000"),
        ] {
            let found = read_texts(&[(&kb, name, None)], 1000).unwrap();
            assert_eq!(found.texts[0].rest.as_deref(), Some(rest), "{name}");
        }
        let text = |name| kb.text(name, None).map(|text| text.text);
        assert_eq!(text("a.txt:3-4+2").unwrap(), "ree\nfour\n");
        for wrong in ["a.txt:3-4+11", "a.txt:2+6", "a.txt:9-+1"] {
            assert_eq!(text(wrong).unwrap_err().code(), "INVALID_RANGE", "{wrong}");
        }
    }

    #[test]
    fn a_text_with_lines_of_its_own_goes_on_by_bytes() {
        let body = "<p>The moon pulls\nthe sea.</p>\n".repeat(300);
        let html = format!("<html><body>{body}</body></html>");
        let (_folder, kb) = two_documents("a.html", &html);
        let whole = kb.text("a.html", None).unwrap();
        assert!(whole.document.has_own_lines);
        for max_tokens in [50, 333] {
            assert_eq!(read_on(&kb, "a.html", max_tokens), whole.text);
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { cases: 48, failure_persistence: None, ..proptest::prelude::ProptestConfig::default() })]

        #[test]
        fn any_document_is_read_to_its_end(
            text in "([a-z ]{0,30}|\n|\r\n|\u{4e2d}{1,99}|[a-z]{200,400}|\u{1f30a}e\u{301}){0,60}",
            max_tokens in 1u32..600,
        ) {
            let (_folder, kb) = two_documents("a.txt", &text);
            proptest::prop_assert_eq!(read_on(&kb, "a.txt", max_tokens), text);
        }
    }
}
