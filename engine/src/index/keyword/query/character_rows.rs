//! The rows that have a single character of a script without spaces.
//!
//! Such a character is a term only where it is alone; elsewhere it is part of one or two bigrams.
//! So the postings of all bigrams that begin or end with it are united.
//!
//! Cost: one pass over the bigrams of the dictionary for all characters of a query, some tens of
//! nanoseconds for each bigram, and some nanoseconds for each posting of those that have one of the
//! characters. Memory: some tens of bytes for each row that has one.

use std::ops::ControlFlow;

use kb_types::error::Result;
use rustc_hash::FxHashMap;

use crate::index::keyword::analysis::script_class::FIRST_BIGRAM_CHARACTER;
use crate::index::keyword::postings::dictionary::for_each_from;
use crate::index::keyword::postings::reader::Reader;

/// Most characters of one query that are searched within bigrams. Further ones match only as terms.
// A query has one or two of them: longer runs are bigrams. Each costs a pass over its postings and
// a map of its rows, so a pasted list of characters must be bounded.
pub(crate) const CHARACTERS_LIMIT: usize = 8;

/// Ascending rows, each with the approximate frequency of a character.
pub(crate) type CharacterRows = Vec<(u32, u32)>;

impl Reader<'_> {
    /// The rows that have each of some characters of scripts without spaces, deleted ones included.
    ///
    /// Within a run every character but the last begins a bigram, and every one but the first ends
    /// one. So the larger of both counts differs from the true one by at most one for each run.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`] when the bytes that are read contradict the format.
    pub(crate) fn rows_with_characters(&self, characters: &[char]) -> Result<Vec<CharacterRows>> {
        let mut counts: Vec<FxHashMap<u32, (u32, u32)>> =
            vec![FxHashMap::default(); characters.len()];
        let mut first_bytes = [0; 4];
        let from = FIRST_BIGRAM_CHARACTER.encode_utf8(&mut first_bytes);
        for_each_from(
            self.parts(),
            &self.dictionary(),
            // All terms of these scripts sort behind this one, so ASCII terms are skipped.
            from.as_bytes(),
            |term, info| {
                let Ok(term) = std::str::from_utf8(term) else {
                    return Ok(ControlFlow::Continue(()));
                };
                let mut of_term = term.chars();
                let (first, second) = (of_term.next(), of_term.next());
                if of_term.next().is_some() {
                    return Ok(ControlFlow::Continue(()));
                }
                for (character, counts) in characters.iter().zip(&mut counts) {
                    let (begins, ends) = (first == Some(*character), second == Some(*character));
                    if !begins && !ends {
                        continue;
                    }
                    let list = self.open(info)?;
                    self.cursor(&list)?.for_each_block(|rows, frequencies, _| {
                        for (row, frequency) in rows.iter().zip(frequencies) {
                            let count = counts.entry(*row).or_default();
                            count.0 = count.0.saturating_add(if begins { *frequency } else { 0 });
                            count.1 = count.1.saturating_add(if ends { *frequency } else { 0 });
                        }
                        Ok(())
                    })?;
                }
                Ok(ControlFlow::Continue(()))
            },
        )?;
        let sorted = counts.into_iter().map(|counts| {
            let counts = counts.into_iter();
            let mut rows: CharacterRows = counts
                .map(|(row, count)| (row, count.0.max(count.1)))
                .collect();
            rows.sort_unstable();
            rows
        });
        Ok(sorted.collect())
    }
}
