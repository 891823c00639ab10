//! Texts of several documents within one token budget.

use crate::content::DocumentText;
use crate::error::{Error, Result};
use crate::kb::Kb;
use crate::paging::{PageOptions, tokens};
use crate::types::Lines;

/// What the names of a text count in a token budget, in bytes, beside its path and title.
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
        page.max_tokens = Some(u32::try_from(left.max(1)).unwrap_or(u32::MAX));
        let reason = match read(kb, name, *lines, &page) {
            Ok(Read::Whole(text)) if tokens(taken_bytes + taken(&text)) <= max_tokens.into() => {
                taken_bytes += taken(&text);
                found.texts.push(NamedText { position, text });
                continue;
            }
            Ok(Read::Whole(text)) => {
                let size = text.tokens;
                if found.texts.is_empty() && beginning.is_none() {
                    beginning = Some(NamedText { position, text });
                }
                LeftOutReason::OverBudget(Some(size))
            }
            Ok(Read::Beginning(text, size)) => {
                if found.texts.is_empty() && beginning.is_none() {
                    beginning = Some(NamedText { position, text });
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

enum Read {
    Whole(DocumentText),
    /// Of a text that does not fit, with the tokens of all of it, where they are known.
    Beginning(DocumentText, Option<u64>),
}

fn read(kb: &Kb, name: &str, lines: Option<Lines>, page: &PageOptions) -> Result<Read> {
    let located = kb.locate(name)?;
    let (document, lines) = (located.document, lines.or(located.lines));
    let text = kb.text_paged(&document.path, lines, page)?;
    if text.next.is_none() && !text.over_budget {
        return Ok(Read::Whole(text));
    }
    let size = lines.is_none().then(|| tokens(document.text_bytes));
    Ok(Read::Beginning(text, size))
}

#[cfg(test)]
#[cfg(feature = "ingest")]
mod tests {
    use super::*;
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
}
