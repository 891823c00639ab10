//! The rows that have a term, for filters that need no scores.

use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

use crate::index::keyword::analysis::script_class::single_character;
use crate::index::keyword::postings::list::Postings;
use crate::index::keyword::postings::reader::Reader;

impl Reader<'_> {
    /// The rows that have a term, deleted ones included. About two nanoseconds a row. A single
    /// character of a script without spaces also matches within bigrams, which costs a pass over
    /// the bigrams of the dictionary.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the bytes that are read contradict the format.
    pub fn rows_with(&self, term: &str) -> Result<RoaringBitmap> {
        if let Some(character) = single_character(term) {
            let found = self.rows_with_characters(&[character])?;
            let rows = found.into_iter().flatten().map(|(row, _)| row);
            return Ok(rows.collect());
        }
        match self.postings(term)? {
            Some(postings) => self.rows_of(&postings),
            None => Ok(RoaringBitmap::new()),
        }
    }

    /// All rows of a list.
    fn rows_of(&self, postings: &Postings<'_>) -> Result<RoaringBitmap> {
        let mut all = RoaringBitmap::new();
        let mut ascends = true;
        self.cursor(postings)?.for_each_rows(|rows| {
            ascends &= all.append(rows.iter().copied()).is_ok();
        })?;
        if ascends {
            Ok(all)
        } else {
            Err(Error::damaged("the rows of a term do not ascend"))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::index::keyword::fixture::{Index, prose, word};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn rows_with_terms_are_those_that_went_in(
            seed in any::<u64>(),
            chunks in 0u32..4000,
            words in 2u32..300,
            asked in prop::collection::vec(0u32..320, 0..5),
        ) {
            let index = Index::of(&prose(seed, chunks, words));
            let reader = index.reader();
            let asked: Vec<String> = asked.into_iter().map(word).collect();
            let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
            let lists: Vec<RoaringBitmap> = asked
                .iter()
                .map(|term| index.lists.get(*term).into_iter().flatten().map(|(row, _)| *row).collect())
                .collect();
            for (term, list) in asked.iter().zip(&lists) {
                prop_assert_eq!(&reader.rows_with(term).unwrap(), list);
            }
        }
    }
}
