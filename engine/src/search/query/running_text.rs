//! Tells queries made of keywords from running text, where quotes and signs are punctuation.
//!
//! A query is running text when its plain words, those without quotes and signs, are five or more, or
//! when one of them is a function word (`how`, `the`, `is`, `with`) or ends with a question mark. Its
//! `"..."`, `+word` and `-word` are plain text: `the -O2 flag of gcc`, `how to fix "not found"`. In other
//! queries `-word` excludes before or after all plain words (`rust -async`), not among them (`curl
//! -Wall warnings`), and not beside options (`gcc -c -Wall`).
//!
//! Measured on 537 questions, commit messages and issue titles with quotes or signs of 15 collections:
//! taking them all as operators loses .10 nDCG@10 of .49 against plain text, only phrases that occur
//! loses .015, and this rule .002. A phrase in running text is no filter, even where it occurs: that lost
//! .05 to .20 on the sets. But the lines with it are shown before others.

use crate::index::keyword::is_stop_word;
use crate::search::query::parsed::{Piece, QUOTES, Sign, has_words};

/// Number of plain words from which on a query is running text.
// Four and six words gave the same nDCG (docs/decisions/13-query-operators.md).
const RUNNING_WORDS: usize = 5;

/// The question marks of most scripts.
const QUESTION_MARKS: [char; 3] = ['?', '\u{ff1f}', '\u{61f}'];

/// Function words beside the stop words of the index, sorted.
const FUNCTION_WORDS: [&str; 38] = [
    "all", "any", "can", "could", "did", "do", "does", "each", "from", "had", "has", "have", "how",
    "i", "its", "may", "me", "my", "should", "so", "than", "to", "we", "were", "what", "when",
    "where", "which", "while", "who", "whom", "whose", "why", "without", "would", "you", "your",
    "yours",
];

/// Takes operators that running text has by chance as plain text. Returns the words with a sign, as typed,
/// that are operators among keywords: here they may have been meant, too.
pub(crate) fn settle(pieces: &mut [Piece]) -> Vec<String> {
    let mut signs_as_text = Vec::new();
    let is_plain_word = |piece: &Piece| piece.operator.is_none() && has_words(&piece.raw);
    let mut words = pieces.iter().filter(|piece| is_plain_word(piece));
    let is_question = pieces
        .iter()
        .any(|piece| piece.operator.is_none() && piece.raw.ends_with(QUESTION_MARKS));
    let is_running = is_question
        || words.clone().count() >= RUNNING_WORDS
        || words.clone().any(|piece| is_function_word(&piece.raw));
    let has_options = words.any(|piece| is_option(&piece.raw));
    let first = pieces.iter().position(is_plain_word);
    let last = pieces.iter().rposition(is_plain_word);
    for (number, piece) in pieces.iter_mut().enumerate() {
        let Some(operator) = &piece.operator else {
            continue;
        };
        let is_plainly_meant = operator.field.is_some() || operator.is_strict();
        let is_among_words =
            first.is_some_and(|first| first < number) && last.is_some_and(|last| number < last);
        let is_like_an_option =
            operator.sign == Some(Sign::Minus) && (is_among_words || has_options);
        if !is_plainly_meant && (is_running || is_like_an_option) {
            if operator.sign.is_some() && !is_like_an_option {
                signs_as_text.push(piece.raw.clone());
            }
            piece.operator = None;
        }
    }
    signs_as_text
}

/// Whether a word is one that keywords do without.
pub(super) fn is_function_word(word: &str) -> bool {
    let letters = word.trim_matches(|c: char| !c.is_alphanumeric());
    let lower = letters.to_lowercase();
    is_stop_word(&lower) || FUNCTION_WORDS.binary_search(&lower.as_str()).is_ok()
}

/// Whether a plain word is an option of a command: `-p`, `--flag`, `-O2=x`.
fn is_option(word: &str) -> bool {
    let body = word.trim_start_matches('-');
    body.len() < word.len() && body.starts_with(char::is_alphabetic) && !body.starts_with(QUOTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_words_are_sorted_for_binary_search() {
        assert!(FUNCTION_WORDS.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
