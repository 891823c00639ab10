//! Lines behind the name of a document, as searches, compilers and code hosts write them.

use kb_types::Lines;

/// The lines that a name selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineSuffix {
    /// As they stand there: from 0, or reversed, where that is what was written.
    pub(super) lines: Lines,
    /// Bytes of their text that are skipped.
    pub(super) skip_bytes: u32,
}

impl LineSuffix {
    /// In one form, whatever it was written as: `10-20+300`.
    pub(super) fn range_text(self) -> String {
        self.lines.range_text_after(self.skip_bytes)
    }
}

impl From<Lines> for LineSuffix {
    fn from(lines: Lines) -> LineSuffix {
        LineSuffix {
            lines,
            skip_bytes: 0,
        }
    }
}

/// Splits `docs/a.md:10-20` into name and lines. The suffixes are `:10`, `:10-20`, `:10-` (to the end), and
/// `#L10`, `#L10-20`, `#L10-L20`, `#L10-`, and behind each of them `+300`, the bytes that an earlier answer had
/// of these lines. `None` for a name without one of them.
pub(super) fn split_lines(name: &str) -> Option<(&str, LineSuffix)> {
    if let Some((rest, skip)) = name.rsplit_once('+')
        && let Some(skip_bytes) = number(skip)
        && let Some((path, lines)) = split_range(rest)
    {
        return Some((path, LineSuffix { lines, skip_bytes }));
    }
    split_range(name).map(|(path, lines)| (path, lines.into()))
}

/// As [`split_lines`], without the bytes.
fn split_range(name: &str) -> Option<(&str, Lines)> {
    let (path, range, is_fragment) = match name.rsplit_once("#L") {
        Some((path, range)) => (path, range, true),
        None => {
            let (path, range) = name.rsplit_once(':')?;
            (path, range, false)
        }
    };
    let lines = match range.split_once('-') {
        None => number(range).map(|line| (line, line)),
        Some((first, "")) => number(first).map(|first| (first, u32::MAX)),
        Some((first, last)) => {
            let last = last
                .strip_prefix('L')
                .filter(|_| is_fragment)
                .unwrap_or(last);
            number(first).zip(number(last))
        }
    };
    let (first, last) = lines?;
    (!path.is_empty()).then_some((path, Lines { first, last }))
}

/// Splits `src/a.py:10:5`, line and column as compilers write them, into name and line. `None` for a name that
/// does not end so.
pub(super) fn split_column(name: &str) -> Option<(&str, Lines)> {
    let (rest, column) = name.rsplit_once(':')?;
    number(column)?;
    let (path, line) = rest.rsplit_once(':')?;
    let line = number(line)?;
    let lines = Lines {
        first: line,
        last: line,
    };
    (!path.is_empty()).then_some((path, lines))
}

/// Lines as they stand in an address: `10-20`.
pub(super) fn address_lines(range: &str) -> Option<Lines> {
    let (first, last) = range.split_once('-')?;
    let (first, last) = number(first).zip(number(last))?;
    Some(Lines { first, last })
}

/// A number of digits only; one that is too large is the largest line.
fn number(digits: &str) -> Option<u32> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_behind_a_colon_or_in_a_fragment() {
        let split = |name| {
            split_lines(name).map(|(path, suffix)| (path, suffix.lines.first, suffix.lines.last))
        };
        for (name, expected) in [
            ("a.md:10-20", Some(("a.md", 10, 20))),
            ("a.md:7", Some(("a.md", 7, 7))),
            ("a.md:7-", Some(("a.md", 7, u32::MAX))),
            ("a.md#L7", Some(("a.md", 7, 7))),
            ("a.md#L7-9", Some(("a.md", 7, 9))),
            ("a.md#L7-L9", Some(("a.md", 7, 9))),
            ("a.md#L7-", Some(("a.md", 7, u32::MAX))),
            ("a:b:0", Some(("a:b", 0, 0))),
            ("a:9-3", Some(("a", 9, 3))),
            ("a:99999999999", Some(("a", u32::MAX, u32::MAX))),
            ("a.md", None),
            ("a.md:", None),
            ("a.md:x", None),
            ("a.md:-3", None),
            ("a.md:L7", None),
            ("a.md:7-L9", None),
            ("a.md:+7", None),
            ("a.md:7-+", None),
            ("a.md+7", None),
            ("a.md:5:+7", None),
            ("a.md:7-+300", Some(("a.md", 7, u32::MAX))),
            ("a.md:1-2-3", None),
            ("a.md#7", None),
            (":10", None),
            ("#L10", None),
        ] {
            assert_eq!(split(name), expected, "{name}");
        }
        let skipped = |name| split_lines(name).map(|(path, suffix)| (path, suffix.skip_bytes));
        for (name, skip) in [("a.md:7-9+300", 300), ("a.md#L7+0", 0), ("a.md:7+1", 1)] {
            assert_eq!(skipped(name), Some(("a.md", skip)), "{name}");
        }
        let column = |name| split_column(name).map(|(path, lines)| (path, lines.first, lines.last));
        assert_eq!(column("src/a.py:10:5"), Some(("src/a.py", 10, 10)));
        for wrong in ["a.py:10", "a.py:10:", "a.py:x:5", "a.py:10:x", ":10:5"] {
            assert_eq!(column(wrong), None, "{wrong}");
        }
        assert_eq!(address_lines("3-9"), Some(Lines { first: 3, last: 9 }));
        for wrong in ["3", "3-", "-9", "+3-9", "3-9-", ""] {
            assert_eq!(address_lines(wrong), None, "{wrong}");
        }
    }
}
