//! Text with a number before each line, which is also its address.

use std::ops::Range;

use kb_engine::Lines;
use maud::{Markup, PreEscaped, Render as _, html};

use super::highlight::Highlights;

/// Longest line that is shown whole, in bytes. Browsers lay out a line of a megabyte for seconds.
const LINE_LIMIT_BYTES: usize = 2 << 10;

/// The lines of `shown` in `text`, the first with the number `first`, as rows. Lines in `marked` are marked.
pub(crate) fn numbered(
    text: &str,
    shown: Range<usize>,
    first: u32,
    marked: Option<Lines>,
    highlights: &Highlights,
) -> Markup {
    let mut at = shown.start;
    let lines = text.get(shown).unwrap_or_default();
    let mut out = String::with_capacity(lines.len() + lines.len() / 2);
    let mut number = first;
    for whole in lines.split_inclusive('\n') {
        let line = whole.strip_suffix('\n').unwrap_or(whole);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let is_marked = marked.is_some_and(|lines| (lines.first..=lines.last).contains(&number));
        let (line, is_cut) = cut(line);
        let mut coloured = String::with_capacity(2 * line.len());
        highlights.render(text, at..at + line.len(), &mut coloured);
        html! {
            span.line.marked[is_marked] id={ "L" (number) } {
                a.number href={ "#L" (number) } { (number) }
                span.text { (PreEscaped(coloured)) @if is_cut { span.cut title="This line is longer" { " [...]" } } "\n" }
            }
        }
        .render_to(&mut out);
        at += whole.len();
        number = number.saturating_add(1);
    }
    PreEscaped(out)
}

fn cut(line: &str) -> (&str, bool) {
    if line.len() <= LINE_LIMIT_BYTES {
        return (line, false);
    }
    let end = line.floor_char_boundary(LINE_LIMIT_BYTES);
    (line.get(..end).unwrap_or_default(), true)
}

/// Reads `10`, `10-20` or `L10-L20`. `None` if it is no range of lines.
pub(crate) fn parse_range(text: &str) -> Option<Lines> {
    let number = |text: &str| text.trim_start_matches(['L', 'l']).parse::<u32>().ok();
    let (first, last) = match text.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(text)?, number(text)?),
    };
    (first >= 1 && first <= last).then_some(Lines { first, last })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_escaped_numbered_and_an_address() {
        let lines = Lines { first: 8, last: 8 };
        let plain = Highlights::default();
        let page = numbered("a\r\n<b>\n", 0..7, 7, Some(lines), &plain).into_string();
        assert!(page.contains("id=\"L7\"") && page.contains("href=\"#L8\""));
        assert!(page.contains("class=\"line marked\" id=\"L8\""), "{page}");
        assert!(page.contains("&lt;b&gt;") && !page.contains("id=\"L9\""));
    }

    #[test]
    fn a_piece_of_several_lines_is_coloured_in_each_that_is_shown() {
        let text = "x\n/* a\nb */ y\n";
        let highlights = Highlights::of("c", text);
        let page = numbered(text, 7..text.len(), 3, None, &highlights).into_string();
        assert!(page.contains("<span class=hc>b */</span> y"), "{page}");
        assert!(page.contains("id=\"L3\"") && !page.contains("id=\"L4\""));
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let line = "\u{e9}".repeat(LINE_LIMIT_BYTES);
        let plain = Highlights::default();
        let page = numbered(&line, 0..line.len(), 1, None, &plain).into_string();
        assert!(page.len() < 2 * LINE_LIMIT_BYTES && page.contains("[...]"));
    }

    #[test]
    fn a_range_of_lines_is_read_in_its_usual_forms() {
        let range = |first, last| Some(Lines { first, last });
        assert_eq!(parse_range("7"), range(7, 7));
        assert_eq!(parse_range("7-9"), range(7, 9));
        assert_eq!(parse_range("L7-L9"), range(7, 9));
        for wrong in ["", "0", "9-7", "a", "1-", "-3", "99999999999"] {
            assert_eq!(parse_range(wrong), None, "{wrong}");
        }
    }
}
