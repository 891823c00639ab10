//! The rows that have every word of a text.

use std::ops::Range;

use kb_types::error::Result;

use super::Query;
use crate::index::keyword::analysis::tokenizer::Analyser;
use crate::index::keyword::postings::list::Postings;

/// The words of a text, the rarest first, each by the indexes of its forms among the terms of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words(Vec<Vec<usize>>);

impl Query<'_> {
    /// The words of the text of the query. Of an identifier its parts, as a text may have them apart. `None` without
    /// any, and for a query whose words are not all searched.
    pub fn words(&self, text: &str, analyser: &mut Analyser) -> Option<Words> {
        let mut words: Vec<(Range<usize>, Vec<usize>)> = Vec::new();
        analyser.analyse(text, |term, range| {
            let at = self.terms.iter().position(|known| known.term == term);
            match words.last_mut() {
                // Another form of the same word.
                Some((before, forms)) if *before == range => {
                    forms.extend(at);
                    return;
                }
                Some((before, _)) if before.start <= range.start && range.end <= before.end => {
                    words.pop();
                }
                _ => {}
            }
            words.push((range, at.into_iter().collect()));
        });
        let mut words: Vec<Vec<usize>> = words.into_iter().map(|(_, forms)| forms).collect();
        words.sort_by_key(|forms| self.rows_with_any(forms));
        (!words.is_empty() && !self.is_shortened()).then_some(Words(words))
    }

    /// The number of rows that have these terms, over all segments, each counted as often as it has one.
    fn rows_with_any(&self, terms: &[usize]) -> u64 {
        let counts = terms.iter().filter_map(|at| self.terms.get(*at));
        counts.map(|term| term.chunks).sum()
    }

    /// The number of rows that have the rarest of these words, over all segments, or more: a row with two forms of a
    /// word counts twice.
    pub fn rows_with_rarest(&self, words: &Words) -> u64 {
        let rarest = words.0.first();
        rarest.map_or(0, |forms| self.rows_with_any(forms))
    }

    /// The rows of a segment that have each of these words, ascending, deleted ones included. `narrow` may leave out some
    /// of the rows with the rarest word before the others are sought.
    ///
    /// Cost: about two nanoseconds for each row with the rarest word, and a seek in the other lists for each that is left.
    ///
    /// # Errors
    /// As [`Query::top_k`]; those of `narrow`.
    pub fn rows_with_words(
        &self,
        segment: usize,
        words: &Words,
        narrow: impl FnOnce(Vec<u32>) -> Result<Vec<u32>>,
    ) -> Result<Vec<u32>> {
        let segment = self.segment(segment)?;
        let lists_of = |forms: &Vec<usize>| -> Vec<&Postings<'_>> {
            let all = segment.postings.iter();
            let of_word = all.filter(|(at, _)| forms.contains(at));
            of_word.map(|(_, list)| list).collect()
        };
        let lists: Vec<Vec<&Postings<'_>>> = words.0.iter().map(lists_of).collect();
        let mut rows: Vec<u32> = Vec::new();
        let Some((rarest, others)) = lists.split_first() else {
            return Ok(rows);
        };
        for list in rarest {
            let cursor = segment.reader.cursor(list)?;
            cursor.for_each_rows(|block| rows.extend_from_slice(block))?;
        }
        if rarest.len() > 1 {
            rows.sort_unstable();
            rows.dedup();
        }
        let mut rows = narrow(rows)?;
        for lists in others {
            if rows.is_empty() {
                break;
            }
            let cursors = lists.iter().map(|list| segment.reader.cursor(list));
            let mut cursors = cursors.collect::<Result<Vec<_>>>()?;
            let mut kept = Vec::with_capacity(rows.len());
            for row in rows {
                let mut has = false;
                for cursor in &mut cursors {
                    has = has || cursor.has_row(row, |_| true)?;
                }
                if has {
                    kept.push(row);
                }
            }
            rows = kept;
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use roaring::RoaringBitmap;

    use super::*;
    use crate::index::keyword::DocumentTermsBuilder;
    use crate::index::keyword::fixture::{Index, prose, word};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn rows_with_words_have_each_of_them(
            seed in any::<u64>(),
            chunks in 0u32..4000,
            words in 2u32..300,
            asked in prop::collection::vec(0u32..30, 1..5),
        ) {
            let index = Index::of(&prose(seed, chunks, words));
            let asked: Vec<String> = asked.into_iter().map(word).collect();
            let query = index.query(&asked.join(" "));
            let words = query.words(&asked.join(" "), &mut Analyser::new()).unwrap();
            let lists = asked.iter().map(|word| -> RoaringBitmap {
                index.lists.get(word).into_iter().flatten().map(|(row, _)| *row).collect()
            });
            let rarest = lists.clone().map(|rows| rows.len()).min();
            prop_assert_eq!(Some(query.rows_with_rarest(&words)), rarest);
            let expected = lists.reduce(|a, b| a & b).unwrap();
            let found = query.rows_with_words(0, &words, Ok).unwrap();
            prop_assert_eq!(found, expected.iter().collect::<Vec<u32>>());
        }
    }

    #[test]
    fn an_identifier_is_found_by_its_parts_and_a_word_in_any_form() {
        let mut analyser = Analyser::new();
        let mut documents = Vec::new();
        for text in [
            "storm tide",
            "StormTide",
            "storm",
            "Caf\u{e9} tide",
            "cafe tide",
        ] {
            let mut builder = DocumentTermsBuilder::new(&mut analyser);
            builder.add_text(text, 1);
            builder.end_chunk();
            documents.push(builder.finish());
        }
        let index = Index::of(&documents);
        for (text, rows) in [
            ("StormTide", vec![0, 1]),
            ("storm the tide", vec![0, 1]),
            ("caf\u{e9} tide", vec![3, 4]),
            ("cafe", vec![3, 4]),
            ("storm surge", Vec::new()),
        ] {
            let query = index.query(text);
            let words = query.words(text, &mut analyser).unwrap();
            let found = query.rows_with_words(0, &words, Ok).unwrap();
            assert_eq!(found, rows, "{text}");
            let narrow = |rows: Vec<u32>| Ok(rows.into_iter().skip(1).collect());
            let others = query.rows_with_words(0, &words, narrow).unwrap();
            assert!(others.len() < rows.len().max(1), "{text}");
        }
        assert_eq!(index.query("the").words("the", &mut analyser), None);
    }
}
