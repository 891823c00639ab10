//! Pictures that a text holds itself, as base64 in its links: `data:image/png;base64,iVBOR...`.

use std::borrow::Cow;

/// Stands before base64.
const MARK: &str = ";base64,";
/// Bytes after `data:` in which a link says that it holds base64.
const TYPE_BYTES: usize = 100;
/// Least characters of a line that goes on with the data of the one before it, where no end of a link follows.
const LINE_CHARS: usize = 40;

/// A text without the data of links that have `least` characters of it or more: the type stays, and so do line ends.
pub(crate) fn without_base64(text: &str, least: usize) -> Cow<'_, str> {
    let mut kept = String::new();
    let (mut taken, mut from) = (0, 0);
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(MARK)) {
        let data = from + at + MARK.len();
        from = data;
        let before = text.get(..data).unwrap_or_default();
        let near = before.floor_char_boundary(data.saturating_sub(TYPE_BYTES));
        let is_link = before
            .get(near..)
            .is_some_and(|near| near.contains("data:"));
        let is_long = data_chars(text, data) >= least.max(1) || next_line(text, data).is_some();
        if !is_link || !is_long {
            continue;
        }
        kept.push_str(text.get(taken..data).unwrap_or_default());
        taken = data;
        while let Some((line_end, next)) = next_line(text, taken) {
            kept.push_str(text.get(line_end..next).unwrap_or_default());
            taken = next;
        }
        taken += data_chars(text, taken);
        from = taken;
    }
    if taken == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(text.get(taken..).unwrap_or_default());
    Cow::Owned(kept)
}

/// How many characters of base64 there are, at a place of a text.
fn data_chars(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default().bytes();
    rest.take_while(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'%')
    })
    .count()
}

/// The end of the line of data at a place, and where the data goes on in the next line, if it does.
fn next_line(text: &str, at: usize) -> Option<(usize, usize)> {
    let end = at + data_chars(text, at);
    let rest = text.get(end..)?;
    let line = rest
        .strip_prefix("\r\n")
        .or_else(|| rest.strip_prefix('\n'))?;
    let line = line.trim_start_matches([' ', '\t']);
    let next = text.len() - line.len();
    let chars = data_chars(text, next);
    let closes = || {
        let behind = line.as_bytes().get(chars);
        behind.is_some_and(|byte| matches!(byte, b'"' | b'\'' | b')' | b'>'))
    };
    let goes_on = chars >= LINE_CHARS || chars > 0 && chars.is_multiple_of(4) && closes();
    goes_on.then_some((end, next))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn data_goes_and_its_type_and_lines_stay() {
        let long = "iVBORw0K".repeat(50);
        for (before, behind) in [
            ("![a](data:image/png;base64,", ") b"),
            ("[ref]: data:image/png;base64,", "\nnext line of words\n"),
            ("[ref]: <data:image/svg+xml;charset=utf-8;base64,", ">\n"),
            ("<img src=\"data:image/png;base64,", "\"> words"),
            (".. image:: data:image/gif;base64,", "\n   :alt: a\n"),
            ("image::data:image/png;base64,", "[alt]\n"),
        ] {
            let text = format!("{before}{long}{behind}");
            assert_eq!(without_base64(&text, 100), format!("{before}{behind}"));
        }
        let line = "A".repeat(76);
        let wrapped = format!("x <img src='data:image/png;base64,{line}\n  {line}\r\nAAA='> y\n");
        let kept = "x <img src='data:image/png;base64,\n  \r\n'> y\n";
        assert_eq!(without_base64(&wrapped, 100), kept);
    }

    #[test]
    fn short_examples_and_what_is_no_link_stay() {
        let base64 = "A".repeat(200);
        for text in [
            "Write `data:text/plain;base64,SGVsbG8=` for it.",
            "a;base64,b",
            "data: none",
            &format!("the mark ;base64,{base64}"),
        ] {
            let kept = without_base64(text, 100);
            assert!(
                matches!(kept, Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
        assert_eq!(
            without_base64("data:a/b;base64,AA== c", 0),
            "data:a/b;base64, c"
        );
    }

    proptest! {
        #[test]
        fn any_text_is_shortened_and_keeps_its_lines(text in "(data:|;base64,|AAAA{0,60}|[\n\r )\"\u{e9}x])*") {
            let kept = without_base64(&text, 8);
            prop_assert!(kept.len() <= text.len());
            prop_assert_eq!(kept.matches('\n').count(), text.matches('\n').count());
        }
    }
}
