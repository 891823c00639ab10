use proptest::prelude::*;

use super::searched::LOOKED_UP_TERMS;
use super::*;
use crate::index::keyword::fixture::{Index, live, prose, word};
use crate::index::keyword::{DocumentTerms, DocumentTermsBuilder};

impl Index {
    /// Scores of all rows from what went in, every row and term looked at.
    fn exhaustive(&self, query: &Query<'_>) -> Vec<i32> {
        let mut scores = vec![0; self.lengths.len()];
        for term in &query.terms {
            let weight = term.idf * term.weight * term.times as f32;
            let scorer = Bm25Weight::new(weight, query.units, query.mean_length, 1.0);
            for (row, frequency) in self.lists.get(&term.term).into_iter().flatten() {
                let length = self.lengths[*row as usize] as f32;
                scores[*row as usize] += scorer.units(*frequency, length);
            }
        }
        scores
    }

    fn expected(
        &self,
        query: &Query<'_>,
        k: usize,
        filter: Option<&RoaringBitmap>,
        floor: f32,
    ) -> Vec<ScoredRow> {
        let mut rows: Vec<(i32, u32)> = self
            .exhaustive(query)
            .into_iter()
            .zip(0..)
            .filter(|(units, row)| {
                *units > 0
                    && query.units.score(*units) >= floor
                    && filter.is_none_or(|filter| filter.contains(*row))
            })
            .collect();
        rows.sort_by_key(|(units, row)| (std::cmp::Reverse(*units), *row));
        rows.truncate(k);
        rows.into_iter()
            .map(|(units, row)| ScoredRow {
                row,
                score: query.units.score(units),
            })
            .collect()
    }
}

#[test]
fn every_posting_reads_back_also_from_lists_of_several_parts() {
    let mut analyser = Analyser::new();
    let documents: Vec<DocumentTerms> = (0..70_000u32)
        .map(|i| {
            let mut builder = DocumentTermsBuilder::new(&mut analyser);
            builder.add_text("always", 1 + i % 3);
            builder.add_text(&word(i % 701), 1);
            if i > 40_000 {
                builder.add_text("later", i);
            }
            builder.end_chunk();
            builder.finish()
        })
        .collect();
    let index = Index::of(&documents);
    let reader = index.reader();
    assert_eq!(index.record.terms, index.lists.len() as u64);
    for (term, list) in &index.lists {
        let postings = reader.postings(term).unwrap().unwrap();
        assert_eq!(postings.count() as usize, list.len(), "{term}");
        let mut cursor = reader.cursor(&postings).unwrap();
        let mut found = Vec::new();
        let mut row = 0;
        while let Some((there, frequency)) = cursor.seek(row).unwrap() {
            found.push((there, frequency));
            row = there + 1;
        }
        assert!(&found == list, "{term}");
        for step in [50, 1000, 30_000] {
            let mut cursor = reader.cursor(&postings).unwrap();
            for row in (0..70_000).step_by(step) {
                let after = list.partition_point(|(there, _)| *there < row);
                assert_eq!(cursor.seek(row).unwrap(), list.get(after).copied());
            }
        }
    }
    for (row, length) in (0..).zip(&index.lengths) {
        assert_eq!(reader.length(row).unwrap(), *length);
    }
    assert!(reader.length(70_000).is_err());
    assert!(reader.postings("absent").unwrap().is_none());
}

#[test]
fn the_same_documents_give_the_same_bytes() {
    let documents = prose(5, 3000, 5000);
    let (first, second) = (Index::of(&documents), Index::of(&documents));
    assert_eq!(first.record, second.record);
    assert_eq!(first.extents, second.extents);
}

#[test]
fn an_empty_segment_answers_nothing() {
    let index = Index::of(&[]);
    let query = index.query("some words");
    assert_eq!(query.top_k(0, 10, None, 0.0).unwrap(), []);
    assert_eq!(query.terms().len(), 2);
    assert!(query.idf_sum() > 0.0);
    assert!(query.top_k(1, 10, None, 0.0).is_err());
}

#[test]
fn chunks_of_more_than_65535_terms_keep_their_exact_length() {
    let mut analyser = Analyser::new();
    let mut builder = DocumentTermsBuilder::new(&mut analyser);
    for times in [70_000, 3, 65_535] {
        builder.add_text(&"word ".repeat(times), 1);
        builder.end_chunk();
    }
    let index = Index::of(&[builder.finish()]);
    assert_eq!(index.record.lengths.width, 4);
    let reader = index.reader();
    assert_eq!(reader.length(0).unwrap(), 70_000);
    assert_eq!(reader.length(1).unwrap(), 3);
    let query = index.query("words");
    assert_eq!(
        query.top_k(0, 3, None, 0.0).unwrap(),
        index.expected(&query, 3, None, 0.0)
    );
}

#[test]
fn a_record_that_contradicts_its_columns_is_refused() {
    let mut index = Index::of(&prose(8, 100, 40));
    index.record.version += 1;
    assert_eq!(index.try_reader().unwrap_err().code(), "FORMAT_UNSUPPORTED");
    index.record.version -= 1;
    index.record.rows += 1;
    assert_eq!(index.try_reader().unwrap_err().code(), "DAMAGED");
    index.record.rows = u32::MAX;
    assert_eq!(index.try_reader().unwrap_err().code(), "DAMAGED");
    index.record.rows = 100;
    index.record.dictionary_parts[0].len_bytes = u32::MAX;
    let error = index.reader().postings(&word(0)).unwrap_err();
    assert_eq!(error.code(), "DAMAGED");
}

#[test]
fn postings_beyond_the_rows_of_the_segment_are_refused() {
    let mut analyser = Analyser::new();
    let mut builder = DocumentTermsBuilder::new(&mut analyser);
    for row in 0..300 {
        for (first, term) in [(150, "block"), (290, "short"), (299, "single")] {
            if row >= first {
                builder.add_text(term, 1);
            }
        }
        builder.end_chunk();
    }
    let mut index = Index::of(&[builder.finish()]);
    index.record.rows = 200;
    index.extents[2] = vec![vec![1; 400]];
    index.starts[2] = vec![0, 400];
    let reader = index.reader();
    for term in ["block", "short", "singl"] {
        let sought = reader.postings(term).and_then(|postings| {
            let mut cursor = reader.cursor(&postings.expect("the term is there"))?;
            cursor.seek(150)
        });
        assert_eq!(sought.unwrap_err().code(), "DAMAGED", "{term}");
    }
}

#[test]
fn equal_scores_come_in_the_order_of_rows() {
    let mut analyser = Analyser::new();
    let documents: Vec<DocumentTerms> = (0..9000)
        .map(|_| {
            let mut builder = DocumentTermsBuilder::new(&mut analyser);
            builder.add_text("same words", 1);
            builder.end_chunk();
            builder.finish()
        })
        .collect();
    let index = Index::of(&documents);
    let query = index.query("words same");
    let best = query.top_k(0, 5, None, 0.0).unwrap();
    let rows: Vec<u32> = best.iter().map(|hit| hit.row).collect();
    assert_eq!(rows, [0, 1, 2, 3, 4]);
    let again = query.top_k(0, 5, None, best[0].score).unwrap();
    assert_eq!(again, best);
    assert_eq!(query.top_k(0, 5, None, best[0].score * 1.001).unwrap(), []);
}

#[test]
fn a_repeated_word_weighs_as_often_as_it_stands_in_the_query() {
    let index = Index::of(&prose(6, 200, 50));
    let text = format!("{0} {1} {0}", word(3), word(9));
    let query = index.query(&text);
    let [three, nine] = query.terms() else {
        panic!("two terms")
    };
    assert_eq!((three.times, nine.times), (2, 1));
    assert!((query.idf_sum() - (2.0 * three.idf + nine.idf)).abs() < 1e-5);
    let best = query.top_k(0, 1, None, 0.0).unwrap()[0];
    let parts = query.explain(0, best.row).unwrap();
    let sum: f32 = parts.iter().map(|(_, _, score)| score).sum();
    assert_eq!(sum, best.score);
    assert_eq!(index.lists[&word(3)].len() as u64, three.chunks);
}

#[test]
fn pruning_changes_no_answer_over_many_windows() {
    let index = Index::of(&prose(7, 30_000, 20_000));
    for words in [
        &[0, 1, 2][..],
        &[0, 5000],
        &[17, 300, 3000, 9],
        &[12_000],
        &[1, 1, 40],
    ] {
        let text: Vec<String> = words.iter().map(|i| word(*i)).collect();
        let query = index.query(&text.join(" "));
        for k in [1, 10, 300, 40_000] {
            let found = query.top_k(0, k, None, 0.0).unwrap();
            assert_eq!(found, index.expected(&query, k, None, 0.0), "{words:?} {k}");
        }
    }
}

#[test]
fn windows_in_any_order_and_scattered_filters_change_no_answer() {
    // Lists of more than one part, and some of few blocks that reach over several windows; enough
    // windows that some are searched ahead.
    let index = Index::of(&prose(9, 120_000, 5000));
    let rows = index.lengths.len() as u32;
    assert!(index.lists[&word(0)].len() > 1 << 16);
    let scattered = |every: u64| -> RoaringBitmap {
        let mixed = |row: &u32| (u64::from(*row) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        (0..rows).filter(|row| mixed(row) % every == 0).collect()
    };
    let filters = [
        None,
        Some(scattered(3)),
        Some(scattered(10)),
        Some(scattered(40)),
        Some(scattered(1500)),
        Some((30_000..36_000).collect()),
    ];
    for words in [
        &[0][..],
        &[0, 40],
        &[0, 3, 90, 280],
        &[250, 299, 200],
        &[100, 900],
        &[800, 1500, 2800],
    ] {
        let text: Vec<String> = words.iter().map(|i| word(*i)).collect();
        let query = index.query(&text.join(" "));
        for filter in &filters {
            for k in [1, 10, 100, 1000] {
                let found = query.top_k(0, k, filter.as_ref(), 0.0).unwrap();
                assert_eq!(found, index.expected(&query, k, filter.as_ref(), 0.0));
            }
        }
    }
}

#[test]
fn of_equal_scores_in_any_windows_the_lowest_rows_are_kept() {
    // A few texts over and over, and better ones in some windows only, so that these are searched
    // ahead; more windows than are looked at together.
    let texts = ["cat", "cat dog", "dog elk", "cat cat", "elk", "cat dog elk"];
    let better = ["cat", "dog", "elk"].map(|word| [word; 6].join(" "));
    let mut analyser = Analyser::new();
    let rows = 530_000u32;
    let text = |row: u32| {
        let mixed = (u64::from(row) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        match (row / 4096 % 7, mixed % 300) {
            (5, some @ 0..3) => better[some as usize].as_str(),
            _ => texts[mixed as usize % texts.len()],
        }
    };
    let documents: Vec<DocumentTerms> = (0..rows)
        .step_by(1000)
        .map(|first| {
            let mut builder = DocumentTermsBuilder::new(&mut analyser);
            for row in first..first + 1000 {
                builder.add_text(text(row), 1);
                builder.end_chunk();
            }
            builder.finish()
        })
        .collect();
    let index = Index::of(&documents);
    let odd: RoaringBitmap = (0..rows).filter(|row| row % 5 < 2).collect();
    let few: RoaringBitmap = (0..rows).step_by(333).collect();
    for words in ["cat", "cat dog", "elk", "elk cat dog"] {
        let query = index.query(words);
        for filter in [None, Some(&odd), Some(&few)] {
            let expected = index.expected(&query, 3000, filter, 0.0);
            for k in [1, 10, 100, 700, 3000] {
                let found = query.top_k(0, k, filter, 0.0).unwrap();
                assert!(found == expected[..k.min(expected.len())], "{words} {k}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_pruned_answer_is_the_exhaustive_one(
        seed in any::<u64>(),
        chunks in 1u32..9000,
        words in 2u32..400,
        asked in prop::collection::vec(0u32..400, 1..7),
        k in prop_oneof![Just(1usize), 1..20usize, 1..10_000usize],
        filter in prop::option::of((1u32..3000, 0u32..3000, 1u32..9000)),
        floor in prop_oneof![2 => Just(0.0f32), 1 => 0f32..12.0],
        mean_factor in prop_oneof![Just(1u64), 1..9u64],
    ) {
        let index = Index::of(&prose(seed, chunks, words));
        let text: Vec<String> = asked.iter().map(|i| word(*i)).collect();
        let mut statistics = index.statistics();
        statistics.total_length = statistics.total_length * mean_factor / 3;
        // Words of all weights.
        let weight = |word: &str| [1.0, 0.05, 0.31][word.bytes().map(usize::from).sum::<usize>() % 3];
        let query = Query::weighted(
            &mut Analyser::new(), &text.join(" "), &[live(index.reader())], statistics, weight,
        ).unwrap();
        let filter = filter.map(|(step, first, last)| {
            (first..last.max(first)).step_by(step as usize).collect::<RoaringBitmap>()
        });
        let found = query.top_k(0, k, filter.as_ref(), floor).unwrap();
        prop_assert_eq!(&found, &index.expected(&query, k, filter.as_ref(), floor));
        let all: Vec<u32> = (0..chunks).collect();
        let scores = query.score_rows(0, &all).unwrap();
        for (score, units) in scores.iter().zip(index.exhaustive(&query)) {
            prop_assert_eq!(*score, query.units.score(units));
        }
    }

    #[test]
    fn changed_bytes_give_an_error_or_an_answer(
        seed in 0u64..4,
        changes in prop::collection::vec(
            (0..3usize, any::<prop::sample::Index>(), any::<u8>()), 1..4,
        ),
    ) {
        let mut index = Index::of(&prose(seed, 1500, 300));
        for (column, at, value) in changes {
            let extent = &mut index.extents[column][0];
            let at = at.index(extent.len());
            extent[at] = value;
        }
        let Ok(reader) = index.try_reader() else { return Ok(()) };
        let mut analyser = Analyser::new();
        for i in 0..300 {
            let text = format!("{} {} {}", word(i), word(i / 7), word(0));
            let statistics = index.statistics();
            let Ok(query) = Query::new(&mut analyser, &text, &[live(reader)], statistics) else {
                continue;
            };
            let rows: Vec<u32> = (0..1500).collect();
            if let Ok(best) = query.top_k(0, 10, None, 0.0) {
                prop_assert!(best.iter().all(|hit| hit.row < 1500));
            }
            let _ = query.score_rows(0, &rows);
        }
    }
}

#[test]
fn all_terms_of_a_word_have_its_weight() {
    let index = Index::of(&prose(1, 30, 50));
    let weight = |word: &str| match word {
        "readFileSync" => 0.5,
        "files" => 0.25,
        _ => 1.0,
    };
    let query = Query::weighted(
        &mut Analyser::new(),
        "readFileSync tide files",
        &[live(index.reader())],
        index.statistics(),
        weight,
    )
    .unwrap();
    let told = |wanted: &str| {
        let term = query
            .terms()
            .iter()
            .find(|term| term.term == wanted)
            .unwrap();
        (term.times, term.weight)
    };
    assert_eq!(told("readfilesync"), (1, 0.5));
    assert_eq!(told("sync"), (1, 0.5));
    assert_eq!(told("tide"), (1, 1.0));
    assert_eq!(told("file"), (2, 0.375));
    let sum: f32 = query
        .terms()
        .iter()
        .map(|term| term.idf * term.weight * term.times as f32)
        .sum();
    assert!((query.idf_sum() - sum).abs() < 1e-4);
}

#[test]
fn of_a_long_query_the_words_that_add_most_are_searched() {
    // Chunk n has the words from n on, so that the last words are the most frequent.
    let mut analyser = Analyser::new();
    let documents: Vec<DocumentTerms> = (0..SEARCHED_TERMS as u32 * 2)
        .map(|chunk| {
            let mut builder = DocumentTermsBuilder::new(&mut analyser);
            for number in chunk..SEARCHED_TERMS as u32 * 2 {
                builder.add_text(&word(number), 1);
            }
            builder.end_chunk();
            builder.finish()
        })
        .collect();
    let index = Index::of(&documents);
    let text = |words: std::ops::Range<u32>| words.map(word).collect::<Vec<_>>().join(" ");
    let most = SEARCHED_TERMS as u32;
    let short = index.query(&text(0..most));
    assert!(!short.is_shortened());
    let long = index.query(&(text(0..most * 2) + " absent"));
    assert!(long.is_shortened());
    let terms = |query: &Query<'_>| -> Vec<String> {
        query.terms().iter().map(|term| term.term.clone()).collect()
    };
    // Unknown words are not counted.
    let known = terms(&short).into_iter().chain(["absent".to_owned()]);
    assert_eq!(terms(&long), known.collect::<Vec<_>>());
    let found = long.top_k(0, 10, None, 0.0).unwrap();
    assert_eq!(found, index.expected(&long, 10, None, 0.0));
    let rows: Vec<u32> = found.iter().map(|found| found.row).collect();
    let of_short = short.top_k(0, 10, None, 0.0).unwrap();
    assert_eq!(
        rows,
        of_short.iter().map(|found| found.row).collect::<Vec<_>>()
    );
    // Far more words than are looked up.
    let longest = index.query(&text(0..5000));
    assert!(longest.terms().len() <= LOOKED_UP_TERMS);
    assert!(longest.idf_sum() > 0.0);
}
