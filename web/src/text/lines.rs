//! Text with a number before each line, which is also its address.

use kb_engine::Lines;
use maud::{Markup, PreEscaped, Render as _, html};

/// Longest line that is shown whole, in bytes. Browsers lay out a line of a megabyte for seconds.
const LINE_LIMIT_BYTES: usize = 2 << 10;

/// `text`, whose first line has the number `first`, as rows. Lines in `marked` are marked.
pub(crate) fn numbered(text: &str, first: u32, marked: Option<Lines>) -> Markup {
    let mut out = String::with_capacity(text.len() + text.len() / 2);
    let mut number = first;
    for line in text.lines() {
        let is_marked = marked.is_some_and(|lines| (lines.first..=lines.last).contains(&number));
        let (shown, is_cut) = cut(line);
        html! {
            span.line.marked[is_marked] id={ "L" (number) } {
                a.number href={ "#L" (number) } { (number) }
                span.text { (shown) @if is_cut { span.cut title="This line is longer" { " [...]" } } "\n" }
            }
        }
        .render_to(&mut out);
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
        let page = numbered("a\n<b>\n", 7, Some(lines)).into_string();
        assert!(page.contains("id=\"L7\"") && page.contains("href=\"#L8\""));
        assert!(page.contains("class=\"line marked\" id=\"L8\""), "{page}");
        assert!(page.contains("&lt;b&gt;") && !page.contains("id=\"L9\""));
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let line = "\u{e9}".repeat(LINE_LIMIT_BYTES);
        let page = numbered(&line, 1, None).into_string();
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
