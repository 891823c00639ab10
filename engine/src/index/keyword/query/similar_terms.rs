//! The terms of a dictionary that are spelled like a word.
//!
//! The Damerau-Levenshtein distance (optimal string alignment) is computed row by row over the characters of a term.
//! Terms with the same first characters share rows, and what begins too unlike the word is passed over.

use std::ops::ControlFlow;

use kb_types::error::Result;

use crate::index::keyword::postings::dictionary::for_each_term_from;
use crate::index::keyword::postings::reader::Reader;

/// Terms that are read at most in one dictionary.
// 0.05 us each. More would take longer than 1 ms in all, and a hostile file could ask for any number.
const MOST_TERMS: usize = 12_000;

/// A term that is spelled like a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SimilarTerm {
    /// The term: a stem.
    pub(crate) term: String,
    /// The least distance of the term to the beginning of the word.
    pub(crate) distance: u8,
}

impl Reader<'_> {
    /// Some of the first rows that have a term, ascending, deleted ones included.
    ///
    /// # Errors
    /// As [`similar_terms`](Reader::similar_terms).
    pub(crate) fn first_rows(&self, term: &str) -> Result<Vec<u32>> {
        let Some(list) = self.postings(term)? else {
            return Ok(Vec::new());
        };
        let mut cursor = self.cursor(&list)?;
        if cursor.seek_row(0)?.is_none() {
            return Ok(Vec::new());
        }
        Ok(cursor.block()?.0.to_vec())
    }

    /// The first term that begins with a text; one look at the dictionary.
    ///
    /// # Errors
    /// As [`similar_terms`](Reader::similar_terms).
    pub(crate) fn first_beginning_with(&self, text: &str) -> Result<Option<String>> {
        let mut found = None;
        for_each_term_from(self.parts(), &self.dictionary(), text.as_bytes(), |term| {
            let term = std::str::from_utf8(term).ok();
            found = term
                .filter(|term| term.starts_with(text))
                .map(str::to_owned);
            ControlFlow::Break(())
        })?;
        Ok(found)
    }

    /// The terms that are at most `most` edits away from the beginning of a word in lower case, or from all of it, and
    /// have at least half of its characters. They begin with its first letter, at one edit also with its second one, and at
    /// two with both. Terms are stems, so a word goes on where its term ends.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`] when the bytes that are read contradict the format.
    pub(crate) fn similar_terms(&self, word: &str, most: u8) -> Result<Vec<SimilarTerm>> {
        let word: Vec<char> = word.chars().collect();
        // The first letter is rarely wrong, but it may be one too many or change places with the second. With two edits
        // nearly all terms of a letter would be read.
        let both: String = word.iter().take(2).collect();
        let mut beginnings = vec![both.clone()];
        if most < 2 {
            beginnings = both.chars().map(String::from).collect();
            beginnings.dedup();
        }
        let mut rows = Rows::new(word, most);
        let mut found = Vec::new();
        let mut read = 0;
        for beginning in &beginnings {
            let mut from = Some(beginning.clone().into_bytes());
            while let Some(start) = from.take() {
                for_each_term_from(self.parts(), &self.dictionary(), &start, |bytes| {
                    read += 1;
                    let term = std::str::from_utf8(bytes).unwrap_or_default();
                    if read > MOST_TERMS || !term.starts_with(beginning) {
                        return ControlFlow::Break(());
                    }
                    match rows.read(term) {
                        Some(distance) => {
                            if rows.is_long(term) {
                                let term = term.to_owned();
                                found.push(SimilarTerm { term, distance });
                            }
                            ControlFlow::Continue(())
                        }
                        None => {
                            from = rows.next_start();
                            ControlFlow::Break(())
                        }
                    }
                })?;
            }
        }
        Ok(found)
    }
}

/// The rows of the matrix of distances, one for each character of the last term.
struct Rows {
    word: Vec<char>,
    most: u8,
    /// The characters of the last term, as far as they were read.
    term: Vec<char>,
    /// Row `i` has the distances of the first `i` characters of the term to each beginning of the word.
    rows: Vec<Vec<u8>>,
}

impl Rows {
    fn new(word: Vec<char>, most: u8) -> Rows {
        let first = (0..=word.len()).map(|at| u8::try_from(at).unwrap_or(u8::MAX));
        Rows {
            rows: vec![first.collect()],
            term: Vec::new(),
            word,
            most,
        }
    }

    /// Whether a term has at least half of the characters of the word.
    fn is_long(&self, term: &str) -> bool {
        term.chars().count() * 2 >= self.word.len()
    }

    /// The least distance of a term to a beginning of the word; `None` where no term that begins like this one is near
    /// enough: `term` then has the characters that show it.
    fn read(&mut self, term: &str) -> Option<u8> {
        let shared = self.term.iter().zip(term.chars());
        let shared = shared.take_while(|(a, b)| **a == *b).count();
        self.term.truncate(shared);
        self.rows.truncate(shared + 1);
        for c in term.chars().skip(shared) {
            self.push(c);
            if self.least() > self.most {
                return None;
            }
        }
        Some(self.least()).filter(|least| *least <= self.most)
    }

    fn least(&self) -> u8 {
        let last = self.rows.last().and_then(|row| row.iter().min());
        last.copied().unwrap_or(u8::MAX)
    }

    fn push(&mut self, c: char) {
        let (Some(above), before) = (self.rows.last(), self.term.last()) else {
            return;
        };
        let earlier = self.rows.len().checked_sub(2);
        let earlier = earlier.and_then(|at| self.rows.get(at));
        let mut row = Vec::with_capacity(above.len());
        row.push(above.first().map_or(u8::MAX, |cell| cell.saturating_add(1)));
        for (at, of_word) in self.word.iter().enumerate() {
            let cell = |row: &[u8], at: usize| row.get(at).copied().unwrap_or(u8::MAX);
            let same = cell(above, at).saturating_add(u8::from(*of_word != c));
            let other = cell(above, at + 1).min(cell(&row, at)).saturating_add(1);
            let mut least = same.min(other);
            // Two characters in the other order.
            if let (Some(earlier), Some(left)) = (earlier, at.checked_sub(1))
                && self.word.get(left) == Some(&c)
                && before == Some(of_word)
            {
                least = least.min(cell(earlier, left).saturating_add(1));
            }
            row.push(least);
        }
        self.rows.push(row);
        self.term.push(c);
    }

    /// The first bytes behind all terms that begin like the last one, which was not near enough.
    fn next_start(&self) -> Option<Vec<u8>> {
        let (last, first) = self.term.split_last()?;
        let next = (u32::from(*last) + 1..=u32::from(char::MAX)).find_map(char::from_u32)?;
        let start: String = first.iter().chain([&next]).collect();
        Some(start.into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_is_compared_with_the_beginning_of_a_word() {
        let mut rows = Rows::new("seperate".chars().collect(), 1);
        assert_eq!(rows.read("separ"), Some(1));
        assert_eq!(rows.read("separator"), None);
        assert_eq!(rows.read("seper"), Some(0));
        assert_eq!(rows.read("xyz"), None);
        assert_eq!(rows.next_start(), Some(b"xz".to_vec()));
    }
}
