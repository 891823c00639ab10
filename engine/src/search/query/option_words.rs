//! Tells an option of a command (`java -version`) from a word to exclude (`rust -async`) by the texts.
//!
//! A word with a dash is an option when of the best matches of the query, read as plain text, several write
//! it so: with one dash before it, no letter, digit or underscore before the dash, and nothing but
//! punctuation or white space after the word. One of many may do so by chance, and who typed a dash meant
//! it. Costs one keyword search and ten texts.

use kb_types::error::Result;

use crate::index::keyword::{Analyser, Query};
use crate::search::filter::rows::Rows;
use crate::search::query::parsed::{ParsedQuery, searched_as_text};
use crate::search::query::phrase::RowText;
use crate::search::sources::{ChunkAddress, Sources};
use crate::search::top_k;

/// Texts that are read: one page of the results that the query has as plain text.
const TEXTS: usize = 10;

/// Number of texts that must write a word as an option.
// One text may quote a command by chance. Three of ten show that `-name` is an option of the
// collection and not an operator.
const ENOUGH: usize = 3;

/// In how many texts a word stands.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    /// In any form, in letters of either case.
    word: usize,
    /// With one dash before it, as in `java -version`; never more than `word`.
    option: usize,
}

impl Counts {
    fn add(&mut self, text: &str, word: &str) {
        let is_option = has_option(text, word);
        self.option += usize::from(is_option);
        let lower = word.to_lowercase();
        self.word += usize::from(is_option || text.to_lowercase().contains(&lower));
    }

    /// Whether [`ENOUGH`] texts, or half of those that have the word, write it as an option.
    fn is_option(self) -> bool {
        self.option >= ENOUGH || (self.option > 0 && self.option * 2 >= self.word)
    }
}

/// Takes excluded words that are options as plain text, with a warning.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(crate) fn take_as_text(
    parsed: &mut ParsedQuery,
    sources: &Sources<'_>,
    rows: &Rows,
    analyser: &mut Analyser,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let words: Vec<(usize, String)> = parsed
        .operators()
        .filter(|(_, it)| it.excludes() && it.field.is_none() && !it.operand.is_quoted)
        .map(|(number, it)| (number, it.operand.text.clone()))
        .collect();
    if words.is_empty() {
        return Ok(());
    }
    let mut text = parsed.ranked_text();
    for (_, word) in &words {
        text.push(' ');
        text.push_str(word);
    }
    let mut counts = vec![Counts::default(); words.len()];
    let mut texts = RowText::new(sources);
    for address in best(&text, sources, rows, analyser)? {
        sources.tick()?;
        let text = texts.of(address)?;
        for (counts, (_, word)) in counts.iter_mut().zip(&words) {
            counts.add(text, word);
        }
    }
    let mut options = Vec::new();
    for ((number, word), counts) in words.iter().zip(counts) {
        if counts.is_option() {
            options.push(format!("-{word}"));
            parsed.take_as_text(*number);
        }
    }
    warnings.extend(searched_as_text(&options, "documents write it so"));
    Ok(())
}

/// The best matches of a text by keyword.
fn best(
    text: &str,
    sources: &Sources<'_>,
    rows: &Rows,
    analyser: &mut Analyser,
) -> Result<Vec<ChunkAddress>> {
    let segments = sources.keyword_segments()?;
    let query = Query::new(analyser, text, &segments, sources.statistics())?;
    let mut found = Vec::new();
    for segment in 0..sources.segments.len() {
        let rows = rows.as_ref().and_then(|rows| rows.get(segment));
        let top = query.top_k(segment, TEXTS, rows, 0.0)?;
        let address = |row| ChunkAddress { segment, row };
        found.extend(top.into_iter().map(|hit| (hit.score, address(hit.row))));
    }
    let found = top_k::top_k(
        found,
        TEXTS,
        |(score, _)| *score,
        |(_, address)| *address,
        |address| sources.tie_break_key(address),
    )?;
    Ok(found.into_iter().map(|(_, address)| address).collect())
}

/// Whether `text` has `-word` where an option of a command may stand.
fn has_option(text: &str, word: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + word.len()..).unwrap_or_default();
        let outside = before.trim_end_matches('-');
        before.len() - outside.len() == 1
            && !outside.ends_with(in_word)
            && !after.starts_with(in_word)
            && !after.starts_with('-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_stands_alone_behind_its_dash() {
        for text in ["java -version", "`-version`", "-version", "(-version=1)"] {
            assert!(has_option(text, "version"), "{text}");
        }
        for text in [
            "version",
            "sub-version",
            "x_-version",
            "-versions",
            "-version-id",
            "- version",
            "--version",
            "-Version",
        ] {
            assert!(!has_option(text, "version"), "{text}");
        }
    }

    #[test]
    fn one_text_of_many_does_not_make_an_option() {
        let counts = |options: usize, words: usize| {
            let mut counts = Counts::default();
            for number in 0..words {
                let text = if number < options {
                    "x -Windows"
                } else {
                    "on windows"
                };
                counts.add(text, "Windows");
            }
            counts.is_option()
        };
        assert!(counts(1, 1) && counts(1, 2) && counts(2, 4) && counts(3, 10));
        assert!(!counts(0, 0) && !counts(0, 5) && !counts(1, 3) && !counts(2, 5));
    }
}
