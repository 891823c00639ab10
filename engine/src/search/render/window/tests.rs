use proptest::prelude::*;

use super::*;

fn limit(lines: usize, bytes: usize) -> WindowLimit {
    WindowLimit { lines, bytes }
}

/// A match of each of these words wherever it stands.
fn highlights(text: &str, words: &[&str]) -> Vec<Highlight> {
    let mut found: Vec<Highlight> = words
        .iter()
        .enumerate()
        .flat_map(|(term, word)| {
            text.match_indices(word).map(move |(start, _)| Highlight {
                range: start..start + word.len(),
                weight: 1.0,
                term,
            })
        })
        .collect();
    found.sort_by_key(|highlight| highlight.range.start);
    found
}

fn shown<'t>(text: &'t str, words: &[&str], best: Range<usize>, limit: WindowLimit) -> &'t str {
    &text[window(text, &highlights(text, words), &best, limit)]
}

#[test]
fn a_text_that_fits_is_shown_whole() {
    let text = "\none\ntwo\n\n";
    assert_eq!(shown(text, &["two"], 0..4, limit(4, 99)), text);
    assert_eq!(shown("", &[], 0..0, limit(4, 99)), "");
}

#[test]
fn whole_lines_around_the_words_are_shown() {
    let lines: Vec<String> = (0..100).map(|n| format!("line number {n}\n")).collect();
    let mut text = lines.concat();
    text = text
        .replace("number 60", "walrus 60")
        .replace("number 62", "ice 62");
    let part = shown(&text, &["walrus", "ice"], 0..10, limit(5, 999));
    assert_eq!(part.lines().count(), 5);
    assert!(part.starts_with("line ") && part.ends_with('\n'), "{part}");
    assert!(part.contains("walrus") && part.contains("ice"), "{part}");
    // Bytes limit as lines do.
    let part = shown(&text, &["walrus"], 0..10, limit(50, 60));
    assert!(part.len() <= 60 && part.contains("walrus 60\n"), "{part}");
}

#[test]
fn the_line_with_most_words_wins_over_words_apart() {
    let apart = "walrus\n\n\n\nice\n\n\n\nsea\n";
    let text = format!(
        "{apart}{}walrus ice sea\n{}",
        "x\n".repeat(50),
        "x\n".repeat(50)
    );
    let part = shown(&text, &["walrus", "ice", "sea"], 0..10, limit(10, 999));
    assert!(part.contains("walrus ice sea"), "{part}");
}

#[test]
fn without_a_common_word_the_best_chunk_is_shown() {
    let lines: Vec<String> = (0..100).map(|n| format!("line number {n}\n")).collect();
    let text = lines.concat();
    let start = text.find("line number 70").unwrap();
    let part = shown(&text, &[], start..start + 300, limit(5, 999));
    assert!(part.starts_with("line number 70\n"), "{part}");
}

#[test]
fn long_lines_are_divided_at_sentences() {
    let sentence = "The mate counts every rope on the deck and writes it down. ";
    let text = format!(
        "{}A walrus rests on the ice. {}",
        sentence.repeat(20),
        sentence.repeat(20)
    );
    let part = shown(&text, &["walrus"], 0..10, limit(20, 300));
    assert!(part.contains("A walrus rests on the ice."), "{part}");
    assert!(
        part.starts_with("The mate") && part.trim_end().ends_with('.'),
        "{part}"
    );
    assert!(part.len() <= 300);
}

#[test]
fn long_sentences_are_divided_at_words() {
    let text = format!("{}walrus {}", "rope ".repeat(300), "deck ".repeat(300));
    let part = shown(&text, &["walrus"], 0..10, limit(20, 300));
    assert!(part.contains("walrus ") && part.len() <= 300, "{part}");
    assert!(
        part.split_whitespace()
            .all(|word| ["rope", "walrus", "deck"].contains(&word))
    );
    // No spaces at all.
    let text = "\u{4e2d}".repeat(900);
    let part = shown(&text, &[], 0..10, limit(20, 300));
    assert!(!part.is_empty() && part.len() <= 300);
}

#[test]
fn blank_lines_at_the_ends_are_left_out() {
    let text = format!("{}walrus\n{}", "\n".repeat(30), "\n".repeat(30));
    assert_eq!(shown(&text, &["walrus"], 0..10, limit(9, 99)), "walrus\n");
    let blank = "\n".repeat(30);
    assert_eq!(shown(&blank, &[], 0..10, limit(9, 99)).len(), 9);
}

proptest! {
    #[test]
    fn a_window_fits_and_cuts_no_word(
        words in prop::collection::vec("([a-z]{1,12}|walrus|ice|[.]|\n| |\u{4e2d}{1,9})[ \n.]?", 0..400),
        lines in 1usize..30,
        bytes in 40usize..2000,
        best in 0usize..500,
    ) {
        let text = words.concat();
        let found = highlights(&text, &["walrus", "ice"]);
        let range = window(&text, &found, &(best..best + 10), limit(lines, bytes));
        let part = &text[range.clone()];
        prop_assert!(part.len() <= bytes && part.split_inclusive('\n').count() <= lines);
        prop_assert!(text.is_empty() || !part.is_empty());
        // Runs of letters without a space may be longer than any piece.
        let longest = text.split(char::is_whitespace).map(str::len).max().unwrap_or(0);
        let is_inside_word = |at: usize| {
            let (before, after) = text.split_at(at);
            before.chars().next_back().is_some_and(|c| c.is_ascii_alphabetic())
                && after.chars().next().is_some_and(|c| c.is_ascii_alphabetic())
        };
        if longest < 20 {
            prop_assert!(!is_inside_word(range.start) && !is_inside_word(range.end));
            let shows_one = part.contains("walrus") || part.contains("ice");
            prop_assert!(shows_one || found.is_empty(), "{:?} has none", part);
        }
    }
}
