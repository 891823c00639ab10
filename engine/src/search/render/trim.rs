//! Cuts the text of a hit, around its snippet for one, and context at word boundaries.

use std::ops::Range;

/// The range of `characters` characters around the snippet `best` of a text, all of them in `within`, which
/// holds the snippet.
pub(crate) fn preview_within(
    text: &str,
    best: &Range<usize>,
    characters: usize,
    within: &Range<usize>,
) -> Range<usize> {
    let part = text.get(within.clone()).unwrap_or_default();
    let best = best.start.saturating_sub(within.start)..best.end.saturating_sub(within.start);
    let range = preview(part, &best, characters);
    within.start + range.start..within.start + range.end
}

/// The first whole words of a text within `characters` characters; the first characters where no word
/// ends in their second half, as in a script without spaces.
pub(crate) fn first_words(text: &str, characters: usize) -> &str {
    let Some((end, next)) = text.char_indices().nth(characters) else {
        return text;
    };
    let kept = text.get(..end).unwrap_or_default();
    if next.is_whitespace() {
        return kept.trim_end();
    }
    match kept.rfind(char::is_whitespace) {
        Some(space) if space >= end / 2 => kept.get(..space).unwrap_or_default().trim_end(),
        _ => kept,
    }
}

/// As [`first_words`], from the end of a text.
pub(crate) fn last_words(text: &str, characters: usize) -> &str {
    let mut backward = text.char_indices().rev();
    let start = match characters.checked_sub(1) {
        Some(others) => backward.nth(others).map(|(start, _)| start),
        None => Some(text.len()),
    };
    let (Some(start), Some((_, previous))) = (start, backward.next()) else {
        return text;
    };
    let kept = text.get(start..).unwrap_or_default();
    if previous.is_whitespace() {
        return kept.trim_start();
    }
    match kept.find(char::is_whitespace) {
        Some(space) if space <= kept.len() / 2 => {
            kept.get(space..).unwrap_or_default().trim_start()
        }
        _ => kept,
    }
}

/// The range of `characters` characters that contains the snippet, or the part of it that fits. Spare
/// characters go to the text after it, then to the text before.
fn preview(text: &str, best: &Range<usize>, characters: usize) -> Range<usize> {
    let forward = |from: usize, count: usize| {
        let rest = text.get(from..).unwrap_or_default();
        let end = rest.char_indices().nth(count);
        from + end.map_or(rest.len(), |(at, _)| at)
    };
    let end = forward(best.start, characters);
    let taken = text
        .get(best.start..end)
        .unwrap_or_default()
        .chars()
        .count();
    let before = text.get(..best.start).unwrap_or_default();
    let start = match characters.saturating_sub(taken) {
        0 => best.start,
        left => before
            .char_indices()
            .rev()
            .nth(left - 1)
            .map_or(0, |(at, _)| at),
    };
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_begins_with_the_best_lines_and_is_filled_up() {
        let text = "a\u{e9}cd\nefgh\nijkl\n";
        let part = |best: Range<usize>, characters| &text[preview(text, &best, characters)];
        assert_eq!(part(6..11, 3), "efg");
        assert_eq!(part(6..11, 8), "efgh\nijk");
        assert_eq!(part(6..11, 13), "cd\nefgh\nijkl\n");
        assert_eq!(part(0..6, 100), text);
        assert_eq!(part(0..0, 2), "a\u{e9}");
    }

    #[test]
    fn context_of_a_cut_text_is_whole_words() {
        let text = "the moon pulls the sea";
        for (characters, first, last) in [
            (0, "", ""),
            (3, "the", "sea"),
            (4, "the", "sea"),
            (2, "th", "ea"),
            (5, "the", "sea"),
            (7, "the", "the sea"),
            (8, "the moon", "the sea"),
            (11, "the moon", "the sea"),
            (22, text, text),
            (99, text, text),
        ] {
            assert_eq!(first_words(text, characters), first, "{characters}");
            assert_eq!(last_words(text, characters), last, "{characters}");
        }
        let long = "a incomprehensibility b";
        assert_eq!(first_words(long, 9), "a incompr");
        assert_eq!(last_words(long, 9), "ibility b");
        let lamp = "\u{706f}\u{53f0}\u{5b88}";
        assert_eq!(first_words(lamp, 2), "\u{706f}\u{53f0}");
        assert_eq!(last_words(lamp, 2), "\u{53f0}\u{5b88}");
    }
}
