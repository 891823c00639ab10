//! Tells which lines at the beginning of a program bring in what it uses, so that they are shown only where nothing else
//! has the words of the query.

use std::borrow::Cow;
use std::ops::Range;

use crate::search::render::snippet::Highlight;

/// How the first line of an import begins, without its indent, in the languages that have such lines.
const STARTS: [&str; 14] = [
    "import ",
    "import(",
    "import\t",
    "from ",
    "use ",
    "pub use ",
    "pub(crate) use ",
    "pub(super) use ",
    "extern crate ",
    "using ",
    "package ",
    "#include",
    "# include",
    "@import ",
];

/// How a line is that stands among imports without being one: a comment, an attribute, or a directive of a preprocessor.
const BETWEEN: [&str; 9] = ["//", "/*", "*", "#", "--", ";;", "@", "\"\"\"", "'''"];

/// Most lines that an import goes on for. A longer list is a table that a reader may look for.
const MOST_LINES: usize = 60;

/// The highlights outside of the imports that a program begins with; all where there are no others.
pub(crate) fn without_imports<'h>(
    text: &str,
    highlights: Cow<'h, [Highlight]>,
) -> Cow<'h, [Highlight]> {
    let Some(last) = highlights.last() else {
        return highlights;
    };
    let imports = imports(text, last.range.start);
    if imports.is_empty() {
        return highlights;
    }
    let is_outside = |highlight: &&Highlight| {
        let of = imports.partition_point(|import| import.end <= highlight.range.start);
        imports
            .get(of)
            .is_none_or(|import| highlight.range.start < import.start)
    };
    let others: Vec<Highlight> = highlights.iter().filter(is_outside).cloned().collect();
    if others.is_empty() || others.len() == highlights.len() {
        return highlights;
    }
    Cow::Owned(others)
}

/// The imports before the first other line of a program and before byte `until`, as bytes of whole lines, ascending.
fn imports(text: &str, until: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut open: Option<Open> = None;
    for line in text.split_inclusive('\n') {
        if start > until {
            break;
        }
        let range = start..start + line.len();
        start = range.end;
        let words = line.trim();
        open = match open.take() {
            Some(Open::Text(quote)) => (!words.contains(quote)).then_some(Open::Text(quote)),
            Some(Open::Import(mark, lines)) => {
                found.push(range);
                (!words.contains(mark) && lines < MOST_LINES)
                    .then_some(Open::Import(mark, lines + 1))
            }
            None if STARTS.iter().any(|start| words.starts_with(start)) => {
                found.push(range);
                unclosed(words).map(|mark| Open::Import(mark, 0))
            }
            None if words.is_empty() => None,
            None if BETWEEN.iter().any(|mark| words.starts_with(mark)) => opened_text(words),
            None => break,
        };
    }
    found
}

/// What goes on in the next line.
enum Open {
    /// An import up to the line with this bracket, after so many lines.
    Import(char, usize),
    /// A text of several lines, up to this mark.
    Text(&'static str),
}

/// The bracket that closes what a line opens and leaves open.
fn unclosed(line: &str) -> Option<char> {
    [('{', '}'), ('(', ')')]
        .into_iter()
        .find(|(opens, closes)| line.contains(*opens) && !line.contains(*closes))
        .map(|(_, closes)| closes)
}

/// The text of several lines that a line begins and does not end.
fn opened_text(line: &str) -> Option<Open> {
    [("\"\"\"", "\"\"\""), ("'''", "'''"), ("/*", "*/")]
        .into_iter()
        .find(|(opens, closes)| {
            line.strip_prefix(opens)
                .is_some_and(|rest| !rest.contains(closes))
        })
        .map(|(_, closes)| Open::Text(closes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The highlights of a word, each a term of its own.
    fn highlights(text: &str, word: &str) -> Vec<Highlight> {
        text.match_indices(word)
            .map(|(start, word)| Highlight {
                range: start..start + word.len(),
                weight: 1.0,
                term: start,
            })
            .collect()
    }

    /// The lines whose highlights stay.
    fn lines_left(text: &str) -> Vec<usize> {
        let all = highlights(text, "filter");
        let left = without_imports(text, Cow::Borrowed(&all));
        let line = |highlight: &Highlight| text[..highlight.range.start].matches('\n').count();
        left.iter().map(line).collect()
    }

    #[test]
    fn words_of_imports_are_left_out() {
        for (text, left) in [
            ("use a::filter;\n\nfn filter() {}\n", vec![2]),
            ("//! The filter.\n\nuse a::filter;\nfn b() {}\n", vec![0]),
            (
                "use a::{\n    filter,\n    b,\n};\nuse c::filter;\nconst D: u8 = 0; // filter\n",
                vec![5],
            ),
            (
                "\"\"\"Sorts.\n\nOr a filter.\"\"\"\nimport filter\nfrom a import (\n    filter,\n)\ndef filter(): pass\n",
                vec![2, 7],
            ),
            (
                "package filter\n\nimport (\n\t\"a/filter\"\n)\n\nfunc filter() {}\n",
                vec![6],
            ),
            (
                "/* A filter. */\n#include <filter.h>\nint filter(void);\n",
                vec![0, 2],
            ),
            ("import { filter } from 'a'\nfilter()\n", vec![1]),
            // Nothing else has the word.
            ("use a::filter;\nfn b() {}\n", vec![0]),
            // Behind other lines it is a statement that a reader may look for.
            (
                "fn b() {\n    use a::filter;\n    filter()\n}\n",
                vec![1, 2],
            ),
        ] {
            assert_eq!(lines_left(text), left, "{text}");
        }
    }

    #[test]
    fn an_import_without_end_is_no_more_than_a_page() {
        let text = format!("use a::{{\n{}filter();\n", "b,\n".repeat(100));
        assert_eq!(imports(&text, text.len()).len(), MOST_LINES + 2);
    }
}
