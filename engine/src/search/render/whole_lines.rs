//! The rest of the lines that a passage begins and ends within. A chunk of a long line ends within it.

use std::ops::Range;

use kb_types::error::Result;

/// A passage is made longer by so many bytes on a side to begin or end with a whole line, and not by more.
// Half of the largest chunk: the rest of an ordinary line is shown, that of a minified file is not.
const LINE_REST_LIMIT_BYTES: usize = 1024;

/// What stands for text that is not shown of a line, or of the context.
pub(crate) const CUT: &str = "[...]";

/// What the chunks before or after a passage have of the line that it begins or ends within.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LineRest {
    /// The rest of the line; empty where the passage has the whole line, or the rest is too long.
    pub(crate) text: String,
    /// Whether there is one and it is too long.
    pub(crate) is_left_out: bool,
}

/// The beginning of the first line of a passage that has the rows from `rows.end` on; `rows` are those before it
/// that are looked at. `may_join` says whether a row may begin within the last line of the row before it; `read`
/// gives the text of a row.
pub(crate) fn before(
    rows: Range<u32>,
    may_join: impl Fn(u32) -> Result<bool>,
    mut read: impl FnMut(u32) -> Result<String>,
) -> Result<LineRest> {
    let mut rest = LineRest::default();
    let mut row = rows.end;
    while row > rows.start && may_join(row)? {
        row -= 1;
        let text = read(row)?;
        let start = text.rfind('\n').map_or(0, |end| end + 1);
        rest.text
            .insert_str(0, text.get(start..).unwrap_or_default());
        if rest.text.len() > LINE_REST_LIMIT_BYTES {
            return Ok(LineRest::too_long());
        }
        if start > 0 {
            break;
        }
    }
    Ok(rest)
}

/// The end of the last line of a passage that does not end with one, with `rows` after it.
pub(crate) fn after(
    rows: Range<u32>,
    mut read: impl FnMut(u32) -> Result<String>,
) -> Result<LineRest> {
    let mut rest = LineRest::default();
    for row in rows {
        let text = read(row)?;
        let end = text.find('\n').map_or(text.len(), |end| end + 1);
        rest.text.push_str(text.get(..end).unwrap_or_default());
        if rest.text.len() > LINE_REST_LIMIT_BYTES {
            return Ok(LineRest::too_long());
        }
        if rest.text.ends_with('\n') {
            break;
        }
    }
    Ok(rest)
}

impl LineRest {
    fn too_long() -> LineRest {
        LineRest {
            text: String::new(),
            is_left_out: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rests at the borders of `rows` among chunks.
    fn rests(chunks: &[String], rows: Range<u32>) -> (LineRest, LineRest) {
        let read = |row: u32| Ok(chunks[row as usize].clone());
        let joins = |row: u32| Ok(!chunks[row as usize - 1].ends_with('\n'));
        let end = chunks.len() as u32;
        let ends_line = chunks[rows.end as usize - 1].ends_with('\n');
        let last = if ends_line { end..end } else { rows.end..end };
        (
            before(0..rows.start, joins, read).unwrap(),
            after(last, read).unwrap(),
        )
    }

    #[test]
    fn the_rest_of_a_line_is_that_up_to_its_borders() {
        let chunks = ["a\nb ", "c ", "d ", "e\nf\n", "g"].map(str::to_owned);
        let texts = |rows| {
            let (before, after) = rests(&chunks, rows);
            assert!(!before.is_left_out && !after.is_left_out);
            (before.text, after.text)
        };
        let expected = |before: &str, after: &str| (before.to_owned(), after.to_owned());
        assert_eq!(texts(0..1), expected("", "c d e\n"));
        assert_eq!(texts(1..2), expected("b ", "d e\n"));
        assert_eq!(texts(2..3), expected("b c ", "e\n"));
        assert_eq!(texts(3..4), expected("b c d ", ""));
        assert_eq!(texts(4..5), expected("", ""));
    }

    #[test]
    fn a_long_rest_is_left_out() {
        let rest = "x".repeat(LINE_REST_LIMIT_BYTES);
        for (chunk, is_left_out) in [(rest.clone(), false), (rest + "x", true)] {
            let chunks = [chunk.clone(), "y".to_owned(), chunk];
            let (before, after) = rests(&chunks, 1..2);
            assert_eq!(
                (before.is_left_out, after.is_left_out),
                (is_left_out, is_left_out)
            );
            assert_eq!(before.text.is_empty(), is_left_out);
        }
    }
}
