//! Text with some of its bytes marked.

use std::ops::Range;

use maud::{Markup, PreEscaped, Render as _, html};

/// `text` from `window`, with the bytes of `marked` in `<mark>`. Ranges are ascending and do not overlap; what is not
/// within characters and the window is left out.
pub(crate) fn marked(text: &str, window: Range<usize>, marks: &[Range<usize>]) -> Markup {
    let mut out = String::new();
    let mut at = window.start;
    for mark in marks {
        let (start, end) = (mark.start.max(at), mark.end.min(window.end));
        let (Some(before), Some(inside)) = (text.get(at..start), text.get(start..end)) else {
            continue;
        };
        if inside.is_empty() {
            continue;
        }
        before.render_to(&mut out);
        html! { mark { (inside) } }.render_to(&mut out);
        at = end;
    }
    text.get(at..window.end)
        .unwrap_or_default()
        .render_to(&mut out);
    PreEscaped(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::single_range_in_vec_init, reason = "a list of one mark")]
    #[test]
    fn marks_are_around_escaped_text_and_within_the_window() {
        let text = "a <b> c";
        let all = |marks: &[Range<usize>]| marked(text, 0..7, marks).into_string();
        assert_eq!(all(&[2..5]), "a <mark>&lt;b&gt;</mark> c");
        assert_eq!(
            all(&[0..1, 6..7]),
            "<mark>a</mark> &lt;b&gt; <mark>c</mark>"
        );
        assert_eq!(
            marked(text, 2..5, &[0..3]).into_string(),
            "<mark>&lt;</mark>b&gt;"
        );
        // Ranges that a text does not have are left out, not a panic.
        assert_eq!(all(&[5..99, 3..4]), "a &lt;b&gt;<mark> c</mark>");
        assert_eq!(marked("\u{e9}", 0..2, &[1..2]).into_string(), "\u{e9}");
    }
}
