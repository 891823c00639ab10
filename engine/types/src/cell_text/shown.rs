//! Rows of a sheet as a reader of the sheet sees them: what cells show, between tabs.

use std::ops::Range;

/// Rows as they are seen, and where each byte of the stored ones went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownRows {
    /// One line a row. A cell shows its text, or the formula whose value is not known; its own tabs and line ends
    /// are spaces, and cells that are skipped leave no gap.
    pub text: String,
    /// Where pieces of the text begin, in the stored rows and in the text, both ascending.
    pieces: Vec<(usize, usize)>,
}

impl ShownRows {
    /// Of stored rows, whole or cut anywhere. Linear in them.
    pub fn of(stored: &str) -> ShownRows {
        let mut rows = ShownRows::default();
        let mut cell = Cell::Begins;
        let mut at = 0;
        while let Some(rest) = stored.get(at..).filter(|rest| !rest.is_empty()) {
            let plain = rest.find(['\\', '\t', '\n']).unwrap_or(rest.len());
            if plain > 0 {
                if cell != Cell::Value {
                    rows.push(at, rest.get(..plain).unwrap_or_default());
                    cell = Cell::Shown;
                }
                at += plain;
                continue;
            }
            let (bytes, shown) = match rest.as_bytes() {
                [separator @ (b'\t' | b'\n'), ..] => {
                    cell = Cell::Begins;
                    (1, if *separator == b'\t' { "\t" } else { "\n" })
                }
                [b'\\', b'>', ..] if cell == Cell::Begins => (skip_bytes(rest), ""),
                [b'\\', b'=', b'f', ..] if cell != Cell::Value => {
                    // Of a formula nothing is shown but itself.
                    cell = Cell::Shown;
                    (3, "")
                }
                [b'\\', b'=', ..] if cell != Cell::Value => {
                    cell = Cell::Value;
                    (2, "")
                }
                [b'\\', b't' | b'n' | b'r', ..] => (2, " "),
                [b'\\', b'\\', ..] => (2, "\\"),
                _ => (1, ""),
            };
            let is_separator = matches!(shown, "\t" | "\n");
            rows.push(
                at,
                if cell == Cell::Value && !is_separator {
                    ""
                } else {
                    shown
                },
            );
            if cell == Cell::Begins && !shown.is_empty() && !is_separator {
                cell = Cell::Shown;
            }
            at += bytes;
        }
        rows.pieces.push((stored.len(), rows.text.len()));
        rows
    }

    fn push(&mut self, stored: usize, shown: &str) {
        self.pieces.push((stored, self.text.len()));
        self.text.push_str(shown);
    }

    /// Where the stored bytes of a range are shown; empty for what is not.
    pub fn range(&self, stored: &Range<usize>) -> Range<usize> {
        let start = self.at(stored.start);
        start..self.at(stored.end).max(start)
    }

    fn at(&self, stored: usize) -> usize {
        let after = self.pieces.partition_point(|(from, _)| *from <= stored);
        let before = after.checked_sub(1).and_then(|at| self.pieces.get(at));
        let (from, shown) = before.copied().unwrap_or((0, 0));
        let end = self
            .pieces
            .get(after)
            .map_or(self.text.len(), |next| next.1);
        let at = shown.saturating_add(stored.saturating_sub(from)).min(end);
        self.text.floor_char_boundary(at)
    }
}

/// What has been read of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    /// Nothing.
    Begins,
    /// What it shows, or a formula.
    Shown,
    /// A value that says otherwise.
    Value,
}

/// Bytes of `\>17;`; those of its mark alone where it is none.
fn skip_bytes(rest: &str) -> usize {
    let digits = rest.get(2..).unwrap_or_default();
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    match digits.as_bytes().get(count) {
        Some(b';') => count + 3,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cells_show_what_a_reader_sees() {
        let stored = "Total\t$1,234.50\\=n1234.5\t\t\\>20;a\\tb\\\\n\\n\t\\=f=A1+B\\\\2\tx\\=z\t\u{fc}\n\\>3;y\n";
        let shown = ShownRows::of(stored);
        assert_eq!(
            shown.text,
            "Total\t$1,234.50\t\ta b\\n \t=A1+B\\2\tx\t\u{fc}\ny\n"
        );
        let at = stored.find("$1").unwrap();
        assert_eq!(&shown.text[shown.range(&(at..at + 9))], "$1,234.50");
        let at = stored.find("1234.5\t").unwrap();
        assert!(shown.range(&(at..at + 6)).is_empty());
        let at = stored.find('y').unwrap();
        assert_eq!(&shown.text[shown.range(&(at..at + 1))], "y");
        assert_eq!(shown.range(&(0..stored.len())), 0..shown.text.len());
    }

    #[test]
    fn plain_text_is_shown_as_it_is() {
        let text = "a,b\tc\n\nd";
        let shown = ShownRows::of(text);
        assert_eq!(shown.text, text);
        assert_eq!(shown.range(&(2..5)), 2..5);
    }

    proptest! {
        #[test]
        fn lines_and_order_are_kept(
            stored in "[a\\\\\t\n>=;9nft\u{fc}]{0,40}",
            a in 0usize..60,
            b in 0usize..60,
        ) {
            let shown = ShownRows::of(&stored);
            prop_assert_eq!(shown.text.matches('\n').count(), stored.matches('\n').count());
            let (start, end) = (a.min(b), a.max(b));
            let range = shown.range(&(start..end));
            prop_assert!(shown.text.get(range.clone()).is_some(), "{:?}", range);
            prop_assert_eq!(shown.range(&(0..stored.len())), 0..shown.text.len());
        }
    }
}
