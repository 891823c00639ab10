//! Lines of scripts that are written from right to left: from the order on paper to the order of reading.

use unicode_bidi::{BidiClass, BidiInfo, Level, bidi_class};

/// How many letters for one from right to left make a line one from left to right, on a page that has more of the other.
// A line with a few foreign names keeps the direction of its page.
const FOREIGN: usize = 4;

/// The pieces of a line - letters with their marks, spaces - as they stand on paper, from left to right, in the order in
/// which they are read. `prefers_right`: most letters of the page are written from right to left.
pub(super) fn logical(pieces: &[String], prefers_right: bool) -> String {
    let of = |class: BidiClass| class == BidiClass::R || class == BidiClass::AL;
    let classes = || pieces.iter().flat_map(|it| it.chars()).map(bidi_class);
    let right = classes().filter(|class| of(*class)).count();
    if right == 0 {
        return pieces.concat();
    }
    let left = classes().filter(|class| *class == BidiClass::L).count();
    let is_right = if prefers_right {
        FOREIGN * right >= left
    } else {
        right >= left
    };
    let level = if is_right { Level::rtl() } else { Level::ltr() };
    // One character stands for each piece. A space within a number is of the number.
    let character = |at: usize| pieces.get(at).and_then(|it| it.chars().next());
    let is_digit = |at: usize| character(at).is_some_and(|one| one.is_ascii_digit());
    let line = (0..pieces.len()).filter_map(|at| {
        let is_group = character(at) == Some(' ')
            && at > 0
            && is_digit(at - 1)
            && (at + 1..at + 4).all(is_digit)
            && !is_digit(at + 4);
        if is_group {
            Some('\u{a0}')
        } else {
            character(at)
        }
    });
    let line: String = line.collect();
    // What the algorithm does to words in the order of reading it undoes on paper, but for embeddings, which no page has.
    let info = BidiInfo::new(&line, Some(level));
    let mut read: Vec<(&str, bool)> = Vec::with_capacity(pieces.len());
    let mut skipped = 0;
    for paragraph in &info.paragraphs {
        let levels = info.reordered_levels_per_char(paragraph, paragraph.range.clone());
        let text = line.get(paragraph.range.clone()).unwrap_or_default();
        let count = text.chars().count();
        let of_paragraph = pieces.get(skipped..skipped + count).unwrap_or_default();
        let levels = levels.get(skipped..skipped + count).unwrap_or_default();
        skipped += count;
        for at in BidiInfo::reorder_visual(levels) {
            if let (Some(piece), Some(level)) = (of_paragraph.get(at), levels.get(at)) {
                read.push((piece.as_str(), level.is_rtl()));
            }
        }
    }
    with_brackets(&read)
}

/// Brackets that lie in text from right to left are drawn the other way round. Some programs say which bracket is meant,
/// others which one is drawn: then the closing one comes first.
fn with_brackets(read: &[(&str, bool)]) -> String {
    const PAIRS: [(&str, &str); 3] = [("(", ")"), ("[", "]"), ("{", "}")];
    let mut text: String = String::with_capacity(read.len() * 2);
    let turned = PAIRS.map(|(open, close)| {
        let mut brackets = read
            .iter()
            .filter(|(it, is_right)| *is_right && (*it == open || *it == close));
        let has_open = read.iter().any(|(it, is_right)| *is_right && *it == open);
        has_open && brackets.next().is_some_and(|(first, _)| *first == close)
    });
    for (piece, is_right) in read {
        let pair = PAIRS.iter().zip(turned).find(|((open, close), is_turned)| {
            *is_turned && *is_right && (piece == open || piece == close)
        });
        text.push_str(match pair {
            Some(((open, close), _)) if piece == open => close,
            Some(((open, _), _)) => open,
            None => piece,
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::logical;

    fn read(paper: &str, prefers_right: bool) -> String {
        let mut pieces: Vec<String> = Vec::new();
        for one in paper.chars() {
            match pieces.last_mut() {
                Some(last) if one == '\u{5b8}' => last.push(one),
                _ => pieces.push(one.to_string()),
            }
        }
        logical(&pieces, prefers_right)
    }

    #[test]
    fn lines_on_paper_become_lines_as_read() {
        for (paper, expected) in [
            ("plain words", "plain words"),
            // alef bet gimel
            ("\u{5d2}\u{5d1}\u{5d0}", "\u{5d0}\u{5d1}\u{5d2}"),
            // Two words with a number between: the number stays.
            ("\u{5d2} 123 \u{5d1}\u{5d0}", "\u{5d0}\u{5d1} 123 \u{5d2}"),
            // One with a gap between its thousands.
            ("\u{5d2} 5 021 \u{5d0}", "\u{5d0} 5 021 \u{5d2}"),
            // A Latin line with a Hebrew word.
            ("one \u{5d1}\u{5d0} two", "one \u{5d0}\u{5d1} two"),
            // A Hebrew line with a Latin word.
            (
                "\u{5d3}\u{5d2} pdf \u{5d1}\u{5d0}",
                "\u{5d0}\u{5d1} pdf \u{5d2}\u{5d3}",
            ),
            // A vowel stays behind its letter.
            ("\u{5d1}\u{5d0}\u{5b8}", "\u{5d0}\u{5b8}\u{5d1}"),
            // Brackets that are named as they are drawn, and as they are meant.
            ("(\u{5d2}) \u{5d1}\u{5d0}", "\u{5d0}\u{5d1} (\u{5d2})"),
            (")\u{5d2}( \u{5d1}\u{5d0}", "\u{5d0}\u{5d1} (\u{5d2})"),
        ] {
            assert_eq!(read(paper, false), expected);
        }
    }

    #[test]
    fn the_page_tells_which_way_a_mixed_line_goes() {
        let paper = "\u{5d2}\u{5d2} example.org \u{5d1}\u{5d0}";
        assert_eq!(
            read(paper, true),
            "\u{5d0}\u{5d1} example.org \u{5d2}\u{5d2}"
        );
        assert_eq!(
            read(paper, false),
            "\u{5d2}\u{5d2} example.org \u{5d0}\u{5d1}"
        );
    }
}
