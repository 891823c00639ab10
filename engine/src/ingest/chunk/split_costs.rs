//! What it costs to cut a text at a split point: one pass over its lines, a few rules per kind of text.
//!
//! Costs are small numbers on one scale: 0 is a perfect place (between functions, before a title),
//! [`ANYWHERE`] the last resort. A split point belongs to the line that follows it; blank lines stay
//! with what they follow.

use std::ops::Range;

use kb_types::{Class, Document, Heading};

use crate::ingest::chunk::syntax_costs::{LineBefore, SyntaxCosts};

/// Bytes of a stretch of text, of which one split point is kept.
// A chunk of 1,200 bytes then chooses among some ten ends. A finer grid makes the search for the
// best cut slower.
pub(crate) const GRID_BYTES: usize = 128;
/// Lines longer than this are cut inside when that is better than a chunk of the wrong size.
// Lines of programs are shorter; a paragraph of prose on one line is longer.
pub(crate) const LONG_LINE_BYTES: usize = 256;

/// Price of a cut, from 0.
pub(crate) type Cost = u32;

/// Cost of a split point in the middle of anything.
// Above all other costs and the prices of sizes (`SHORT_PRICE`, `LONG_PRICE`), so it is used only
// in texts without any structure. How the costs below were chosen is not recorded; their order and
// rough distances decide where a text is cut.
pub(crate) const ANYWHERE: Cost = 400;

// Code. Depth is counted in steps of indentation.
const CODE_PER_DEPTH: Cost = 22;
const CODE_NO_BLANK_LINE: Cost = 45;
/// After the line that closes an item, without a blank line.
const CODE_AFTER_CLOSING: Cost = 25;
const CODE_AFTER_COMMENT: Cost = 110;
const CODE_INTO_BODY: Cost = 110;
const CODE_BEFORE_CLOSING: Cost = 160;
/// Inside of a text between `"""`, as Julia and Elixir describe functions.
const CODE_INSIDE_TEXT: Cost = 170;
/// Lines of such a text; one that goes on is none, but a mark that nothing closes.
// Without a limit one mark that nothing closes would make the rest of a file one text.
const MAX_CODE_TEXT_LINES: u32 = 100;
// Deeper lines are all equally bad; counting on would make them worse than `ANYWHERE`.
const DEEPEST: usize = 6;

// Prose.
const PROSE_PER_HEADING_LEVEL: Cost = 4;
const PROSE_PARAGRAPH: Cost = 30;
const PROSE_LIST_ITEM: Cost = 45;
const PROSE_PER_INDENT: Cost = 8;
const PROSE_TABLE_ROW: Cost = 70;
const PROSE_SENTENCE_LINE: Cost = 70;
const PROSE_LINE: Cost = 100;
const PROSE_INTO_LIST: Cost = 60;
const PROSE_AFTER_HEADING: Cost = 200;
const FENCED_LINE: Cost = 150;
const FENCED_BLANK_LINE: Cost = 110;

// Tables and inside of long lines.
const ROW: Cost = 10;
const INSIDE_CELL: Cost = 200;
const SENTENCE: Cost = 60;
const CLAUSE: Cost = 160;
const WORD: Cost = 220;
const CHARACTER: Cost = 320;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Prose,
    Rows,
}

/// The split points of one document.
pub(crate) struct SplitCosts<'a> {
    document: &'a Document,
    /// In the order of the text, which that of bookmarks need not be.
    headings: Vec<&'a Heading>,
    kind: Kind,
    /// Lines longer than this are cut inside.
    whole_line_bytes: usize,
    /// Bytes of a chunk.
    record_bytes: usize,
    /// Columns of one step of indentation.
    step: usize,
}

/// What earlier lines leave behind for the next split point.
#[derive(Default)]
struct Before<'a> {
    /// The last line that is not blank, trimmed.
    line: &'a str,
    indent: usize,
    /// Whether blank lines follow it.
    blank: bool,
    is_comment: bool,
    closes: bool,
    /// The marker of the fence that is open.
    fence: Option<&'a str>,
    /// Whether nothing but the heading's own lines came since a heading.
    heading: bool,
    /// Inside a quoted cell.
    quoted: bool,
    /// Lines of the text between `"""` so far, that of the opening mark included; none outside of one.
    text_lines: u32,
}

impl<'a> SplitCosts<'a> {
    /// Records of at most `record_bytes` have no split point inside.
    pub(crate) fn new(document: &'a Document, record_bytes: usize) -> SplitCosts<'a> {
        let kind = match (document.class, document.file_type.as_str()) {
            (_, "csv" | "tsv" | "xlsx" | "xls" | "ods" | "jsonl" | "log" | "lock") => Kind::Rows,
            // Markdown with fences of code.
            (_, "ipynb") => Kind::Prose,
            (Class::Code | Class::Data, name) if name != "text" => Kind::Code,
            _ => Kind::Prose,
        };
        // A record is of use only as a whole.
        let whole_line_bytes = match document.file_type.as_str() {
            "jsonl" => record_bytes,
            _ => LONG_LINE_BYTES,
        };
        let mut headings: Vec<&Heading> = document.outline.iter().collect();
        // Bookmarks of a PDF may be in any order.
        headings.sort_by_key(|heading| heading.start);
        SplitCosts {
            document,
            headings,
            kind,
            whole_line_bytes,
            record_bytes,
            step: indent_step(&document.text),
        }
    }

    /// Calls `offer(byte offset, line from 0, cost)` for every split point worth a look in the bytes `span` of
    /// the text, the first of which lies in `line`, in ascending order, and last for the end of the span.
    pub(crate) fn visit(
        &self,
        span: Range<usize>,
        line: u32,
        offer: &mut dyn FnMut(usize, u32, Cost),
    ) {
        let text = self.document.text.get(span.clone()).unwrap_or_default();
        let headings = &self.headings;
        let first = headings.partition_point(|heading| (heading.start as usize) < span.start);
        let mut headings = headings.get(first..).unwrap_or_default().iter().peekable();
        let mut before = Before::default();
        let mut syntax = SyntaxCosts::new(self.document, self.record_bytes);
        let (mut at, mut number) = (span.start, line);
        for line in text.split_inclusive('\n') {
            let trimmed = line.trim_ascii();
            let end = at + line.len();
            let heading = heading_within(&mut headings, end);
            if !trimmed.is_empty() {
                let indent = indent_columns(line);
                let cost = match self.kind {
                    Kind::Code => match &mut syntax {
                        Some(syntax) => syntax.cost(
                            at,
                            LineBefore {
                                is_blank: before.blank,
                                is_outer: before.indent < indent,
                            },
                        ),
                        None => self.code_cost(&mut before, trimmed, indent),
                    },
                    Kind::Prose => prose_cost(&mut before, trimmed, indent, heading),
                    Kind::Rows => row_cost(&mut before, line, &self.document.file_type),
                };
                offer(at, number, cost);
                before.line = trimmed;
                before.indent = indent;
            }
            before.blank = trimmed.is_empty();
            if line.len() > self.whole_line_bytes {
                inside_line(line, &mut |inside, cost| offer(at + inside, number, cost));
            }
            at = end;
            number = number.saturating_add(u32::from(line.ends_with('\n')));
        }
        offer(span.end, number, 0);
    }

    fn code_cost(&self, before: &mut Before<'_>, line: &str, indent: usize) -> Cost {
        let closing = closes_something(line);
        let is_comment = is_comment_or_attribute(line);
        let depth = (indent / self.step).min(DEEPEST) as Cost;
        let mut cost = depth * CODE_PER_DEPTH;
        if !before.blank {
            cost += if before.closes && before.indent == indent {
                CODE_AFTER_CLOSING
            } else {
                CODE_NO_BLANK_LINE
            };
            // A comment that goes on, or the item that it speaks about. With a blank line between,
            // a comment may stand alone.
            if before.is_comment {
                cost += CODE_AFTER_COMMENT;
            }
        }
        if indent > before.indent {
            cost += CODE_INTO_BODY;
        }
        if closing {
            cost += CODE_BEFORE_CLOSING;
        }
        let is_inside = (1..MAX_CODE_TEXT_LINES).contains(&before.text_lines);
        if is_inside {
            cost += CODE_INSIDE_TEXT;
        }
        // What stands behind a mark may close it.
        let is_mark = line.matches("\"\"\"").count() % 2 == 1;
        before.text_lines = match (is_inside, is_mark) {
            (true, false) => before.text_lines + 1,
            (false, true) => 1,
            _ => 0,
        };
        before.closes = closing;
        before.is_comment = is_comment;
        cost
    }
}

fn prose_cost<'a>(
    before: &mut Before<'a>,
    line: &'a str,
    indent: usize,
    heading: Option<&Heading>,
) -> Cost {
    if let Some(fence) = before.fence {
        if line.starts_with(fence) && line.trim_start_matches(['`', '~']).is_empty() {
            before.fence = None;
            return FENCED_LINE + PROSE_LINE;
        }
        return if before.blank {
            FENCED_BLANK_LINE
        } else {
            FENCED_LINE
        };
    }
    if let Some(heading) = heading {
        // A heading right under another belongs to it.
        let under_heading = std::mem::replace(&mut before.heading, true);
        let cost = Cost::from(heading.level) * PROSE_PER_HEADING_LEVEL;
        return if under_heading {
            cost + PROSE_AFTER_HEADING / 2
        } else {
            cost
        };
    }
    if is_adornment(line) && !before.blank {
        return PROSE_AFTER_HEADING;
    }
    let after_heading = std::mem::replace(&mut before.heading, false);
    let is_table_row = line.starts_with('|');
    let follows_introduction = before.line.ends_with(':');
    let mut cost = if is_table_row && before.line.starts_with('|') {
        PROSE_TABLE_ROW
    } else if is_list_item(line) {
        if before.blank {
            PROSE_PARAGRAPH
        } else {
            PROSE_LIST_ITEM
        }
    } else if before.blank {
        PROSE_PARAGRAPH
    } else if ends_sentence(before.line) {
        PROSE_SENTENCE_LINE
    } else {
        PROSE_LINE
    };
    cost += (indent / 2).min(DEEPEST) as Cost * PROSE_PER_INDENT;
    if follows_introduction {
        cost += PROSE_INTO_LIST;
    }
    if after_heading {
        cost += PROSE_AFTER_HEADING;
    }
    if let Some(fence) = opening_fence(line) {
        before.fence = Some(fence);
        // The words before an example introduce it.
        cost += PROSE_INTO_LIST / 2;
    }
    cost
}

/// Rows of a table; a quoted cell may hold line ends.
fn row_cost(before: &mut Before<'_>, line: &str, file_type: &str) -> Cost {
    let cost = if before.quoted { INSIDE_CELL } else { ROW };
    if file_type == "csv" {
        let quotes = line.bytes().filter(|&byte| byte == b'"').count();
        before.quoted ^= quotes % 2 == 1;
    }
    cost
}

/// The last heading that starts before `end`, taken off the iterator with those before it.
fn heading_within<'a>(
    headings: &mut std::iter::Peekable<std::slice::Iter<'_, &'a Heading>>,
    end: usize,
) -> Option<&'a Heading> {
    let mut found = None;
    while let Some(heading) = headings.next_if(|heading| (heading.start as usize) < end) {
        found = Some(*heading);
    }
    found
}

/// Columns of white space before the first word; a tab goes to the next multiple of four.
fn indent_columns(line: &str) -> usize {
    let mut columns = 0;
    for byte in line.bytes() {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns = (columns / 4 + 1) * 4,
            _ => break,
        }
    }
    columns
}

/// Columns of one step of indentation: the smallest that is common in the first lines.
fn indent_step(text: &str) -> usize {
    let mut lines_by_indent = [0u32; 9];
    let mut indented = 0;
    for line in text.split('\n').take(400) {
        let indent = indent_columns(line);
        if let Some(count) = lines_by_indent.get_mut(indent)
            && indent >= 2
        {
            *count += 1;
            indented += 1;
        }
    }
    let common = lines_by_indent
        .iter()
        .position(|&count| count * 10 > indented && count > 0);
    common.unwrap_or(4)
}

fn closes_something(line: &str) -> bool {
    let mut bytes = line.bytes();
    let first = bytes.next();
    if matches!(first, Some(b'}' | b')' | b']' | b'>')) {
        return true;
    }
    if !matches!(first, Some(b'e' | b'c' | b'f' | b'{' | b'd' | b't' | b'*')) {
        return false;
    }
    let word = line
        .split(|c: char| !c.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default();
    matches!(
        word,
        "end"
            | "endif"
            | "else"
            | "elif"
            | "elsif"
            | "except"
            | "catch"
            | "finally"
            | "fi"
            | "done"
            | "esac"
            | "ensure"
            | "then"
    ) || line == "{"
        || line == "*/"
}

fn is_comment_or_attribute(line: &str) -> bool {
    let mut bytes = line.bytes();
    match (bytes.next(), bytes.next()) {
        (Some(b'/'), Some(b'/' | b'*')) | (Some(b'-'), Some(b'-')) => true,
        (Some(b'#'), second) => second != Some(b'i') && second != Some(b'e'),
        (Some(b'@' | b';' | b'%'), _) => true,
        (Some(b'*'), second) => matches!(second, None | Some(b' ' | b'/' | b'*')),
        (Some(b'"'), Some(b'"')) => line.starts_with("\"\"\""),
        (Some(b'['), _) => line.ends_with(']'),
        (Some(b'<'), Some(b'!')) => line.starts_with("<!--"),
        _ => line.starts_with("template<") || line.starts_with("template <"),
    }
}

fn opening_fence(line: &str) -> Option<&str> {
    let mark = line
        .chars()
        .next()
        .filter(|mark| matches!(mark, '`' | '~'))?;
    let len = line.len() - line.trim_start_matches(mark).len();
    let (fence, rest) = line.split_at_checked(len)?;
    (len >= 3 && !rest.contains('`')).then_some(fence)
}

/// A line of one repeated mark under or over a title: `=====`.
fn is_adornment(line: &str) -> bool {
    let bytes = line.as_bytes();
    let first = bytes.first().copied().unwrap_or(b' ');
    bytes.len() >= 3 && first.is_ascii_punctuation() && bytes.iter().all(|&byte| byte == first)
}

fn is_list_item(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let marks = if rest.len() < line.len() {
        ['.', ')', ')']
    } else {
        ['-', '*', '+']
    };
    rest.strip_prefix(marks)
        .is_some_and(|rest| rest.starts_with([' ', '\t']))
}

fn ends_sentence(line: &str) -> bool {
    line.ends_with(['.', '!', '?', '\u{3002}', '\u{ff01}', '\u{ff1f}', '\u{964}'])
}

/// Split points inside a long line: the cheapest certain ones, at most a few in every stretch.
fn inside_line(line: &str, offer: &mut dyn FnMut(usize, Cost)) {
    let mut characters = line.char_indices();
    let Some((_, mut previous)) = characters.next() else {
        return;
    };
    let mut before_previous = '\n';
    let mut best: Option<(usize, Cost)> = None;
    for (at, next) in characters {
        if let Some((place, cost)) = best
            && place / GRID_BYTES != at / GRID_BYTES
        {
            offer(place, cost);
            best = None;
        }
        // Most characters stand inside words: of use only while nothing better is known.
        let is_inside_word = previous.is_ascii_alphanumeric() && next.is_ascii_alphanumeric();
        let is_of_use = !is_inside_word || best.is_none();
        if is_of_use && !next.is_whitespace() && is_certain_border(previous, next) {
            let cost = character_cost(before_previous, previous);
            if best.is_none_or(|(_, lowest)| cost < lowest) {
                best = Some((at, cost));
            }
        }
        before_previous = previous;
        previous = next;
    }
    if let Some((place, cost)) = best {
        offer(place, cost);
    }
}

/// Cost of a cut after `last`, which follows `before_last`.
fn character_cost(before_last: char, last: char) -> Cost {
    match (before_last, last) {
        ('.' | '!' | '?', ' ' | '\t' | '\u{a0}') => SENTENCE,
        (_, '\u{3002}' | '\u{ff01}' | '\u{ff1f}' | '\u{964}' | '\r') => SENTENCE,
        (',' | ';' | ':' | ')', ' ' | '\t') => CLAUSE,
        (_, ';' | '}' | ',' | '\u{3001}' | '\u{ff0c}' | '\u{ff1b}' | '>') => CLAUSE,
        (_, ' ' | '\t' | '\u{3000}') => WORD,
        (_, '/' | '&' | '|' | ')' | ']') => CHARACTER - 40,
        _ => CHARACTER,
    }
}

/// Whether a grapheme surely ends between two characters, whatever stands around them. False for
/// anything doubtful: marks, joiners, emoji, flags, Hangul parts, scripts that reorder.
fn is_certain_border(previous: char, next: char) -> bool {
    let previous_is_plain = match previous {
        '\r' => next != '\n',
        '\0'..='\u{7e}' => true,
        _ => is_plain(previous),
    };
    previous_is_plain && (next.is_ascii() || is_plain(next))
}

/// Letters, ideographs and marks of punctuation that always are graphemes of their own.
fn is_plain(c: char) -> bool {
    matches!(c,
        '\u{a1}'..='\u{a8}'
        | '\u{aa}'..='\u{ac}'
        | '\u{af}'..='\u{2ff}'
        | '\u{370}'..='\u{377}'
        | '\u{391}'..='\u{3a1}'
        | '\u{3a3}'..='\u{482}'
        | '\u{48a}'..='\u{52f}'
        | '\u{5d0}'..='\u{5ea}'
        | '\u{620}'..='\u{64a}'
        | '\u{904}'..='\u{939}'
        | '\u{964}'..='\u{965}'
        | '\u{e01}'..='\u{e30}'
        | '\u{e40}'..='\u{e46}'
        | '\u{2010}'..='\u{2027}'
        | '\u{3000}'..='\u{3029}'
        | '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{ff01}'..='\u{ff5e}')
}

#[cfg(test)]
mod tests {
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;

    #[test]
    fn certain_boundaries_are_grapheme_boundaries() {
        let beside = [
            'a', ' ', '\r', '\u{6f22}', '\u{ac00}', '\u{e01}', '\u{915}', '\u{628}',
        ];
        let mut certain = 0;
        for c in (0..0x11_0000).filter_map(char::from_u32) {
            for other in beside {
                for (first, second) in [(c, other), (other, c)] {
                    if is_certain_border(first, second) {
                        let pair = String::from_iter([first, second]);
                        assert_eq!(pair.graphemes(true).count(), 2, "{pair:?}");
                        certain += 1;
                    }
                }
            }
        }
        assert!(certain > 500_000);
    }

    #[test]
    fn the_step_of_indentation_is_found() {
        for (text, step) in [
            ("a:\n  b\n    c\n  b\n", 2),
            ("a:\n    b\n        c\n", 4),
            ("a:\n\tb\n\t\tc\n", 4),
            ("a\n   odd\nb\n", 3),
            ("", 4),
        ] {
            assert_eq!(indent_step(text), step, "{text:?}");
        }
    }

    #[test]
    fn list_items_and_adornments_are_told_from_words() {
        for line in ["- a", "* a", "+ a", "1. a", "12) a"] {
            assert!(is_list_item(line), "{line}");
        }
        for line in ["-a", "a", "1.5 a", "--", ""] {
            assert!(!is_list_item(line), "{line}");
        }
        assert!(is_adornment("====") && !is_adornment("==") && !is_adornment("==-=="));
        assert_eq!(opening_fence("```rust"), Some("```"));
        assert_eq!(opening_fence("``a``"), None);
    }
}
