//! Lines of scripts that are written from right to left: from the order on paper to the order of reading.

use unicode_bidi::{BidiClass, BidiInfo, Level, bidi_class};

/// A line of text as its characters stand on paper, from left to right, in the order in which it is read.
pub(super) fn logical(line: String) -> String {
    let is_right = |one: char| matches!(bidi_class(one), BidiClass::R | BidiClass::AL);
    let right = line.chars().filter(|one| is_right(*one)).count();
    if right == 0 {
        return line;
    }
    let left = line.chars().filter(|one| bidi_class(*one) == BidiClass::L);
    let level = if right >= left.count() {
        Level::rtl()
    } else {
        Level::ltr()
    };
    // What the algorithm does to words in the order of reading it undoes on paper, but for embeddings, which no page has.
    let info = BidiInfo::new(&line, Some(level));
    let mut read = String::with_capacity(line.len());
    for paragraph in &info.paragraphs {
        let levels = info.reordered_levels_per_char(paragraph, paragraph.range.clone());
        let text = line.get(paragraph.range.clone()).unwrap_or_default();
        let first = line.get(..paragraph.range.start).unwrap_or_default();
        let skipped = first.chars().count();
        let levels = levels.get(skipped..).unwrap_or_default();
        let characters: Vec<char> = text.chars().collect();
        let levels = levels.get(..characters.len()).unwrap_or_default();
        let order = BidiInfo::reorder_visual(levels);
        let ordered = order.iter().filter_map(|at| {
            let is_right = levels.get(*at)?.is_rtl();
            Some((*characters.get(*at)?, is_right))
        });
        push_with_marks(&mut read, ordered);
    }
    read
}

/// Marks come behind their letter, on paper as in text; turning the letters round has put them before it.
fn push_with_marks(read: &mut String, ordered: impl Iterator<Item = (char, bool)>) {
    let mut marks: Vec<char> = Vec::new();
    for (one, is_right) in ordered {
        if is_right && bidi_class(one) == BidiClass::NSM {
            marks.push(one);
            continue;
        }
        read.push(one);
        read.extend(marks.drain(..).rev());
    }
    read.extend(marks);
}

#[cfg(test)]
mod tests {
    use super::logical;

    #[test]
    fn lines_on_paper_become_lines_as_read() {
        for (paper, read) in [
            ("plain words", "plain words"),
            // alef bet gimel
            ("\u{5d2}\u{5d1}\u{5d0}", "\u{5d0}\u{5d1}\u{5d2}"),
            // Two words with a number between: the number stays.
            ("\u{5d2} 123 \u{5d1}\u{5d0}", "\u{5d0}\u{5d1} 123 \u{5d2}"),
            // A Latin line with a Hebrew word.
            ("one \u{5d1}\u{5d0} two", "one \u{5d0}\u{5d1} two"),
            // A Hebrew line with a Latin word.
            (
                "\u{5d3}\u{5d2} pdf \u{5d1}\u{5d0}",
                "\u{5d0}\u{5d1} pdf \u{5d2}\u{5d3}",
            ),
            // A vowel stays behind its letter.
            ("\u{5d1}\u{5d0}\u{5b8}", "\u{5d0}\u{5b8}\u{5d1}"),
        ] {
            assert_eq!(logical(paper.to_owned()), read);
        }
    }
}
