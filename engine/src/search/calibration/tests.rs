//! Scores and verdicts of made-up signals.

use proptest::prelude::*;

use super::*;
use crate::kb::{Kb, KbWriter};
use crate::search::Request;

fn signals(keyword: f32, vector: f32, chunks: u64) -> RelevanceSignals {
    RelevanceSignals {
        fused: 0.65 * keyword + 0.35 * vector,
        keyword: Some(keyword),
        matched_idf: 6.0,
        query_idf: 20.0,
        vector: Some(vector),
        near: 0.8 * vector,
        coverage: 1.0,
        chunks,
        has_given_vector: false,
        asks_for_missing: false,
    }
}

#[test]
fn each_mode_has_weights_of_its_own() {
    let all = signals(0.3, 0.4, 1000);
    let words = RelevanceSignals {
        vector: None,
        ..all
    };
    let meaning = RelevanceSignals {
        keyword: None,
        ..all
    };
    assert_eq!(weights(&all), &HYBRID);
    assert_eq!(weights(&words), &KEYWORD);
    assert_eq!(weights(&meaning), &SEMANTIC);
    assert_eq!(weights(&RelevanceSignals::default()), &KEYWORD);
}

#[test]
fn a_score_is_the_logistic_function_of_its_odds() {
    for signals in [signals(0.3, 0.4, 1000), signals(0.1, 0.2, 20)] {
        let calibration = Calibration::ranked(&signals);
        let (slope, constant) = calibration.logistic().unwrap();
        assert_eq!(slope, FUSED_WEIGHT);
        let even = (-constant / slope) as f32;
        assert!((calibration.score(even) - 0.5).abs() < 1e-6);
        let above = calibration.score(even + 0.1);
        assert!((above - 0.769).abs() < 0.001, "{above}");
    }
}

#[test]
fn the_vector_part_counts_as_far_as_words_are_known() {
    let known = signals(0.2, 0.75, 1000);
    let of = |coverage| facts(&RelevanceSignals { coverage, ..known })[0];
    assert_eq!(of(0.0), 0.0);
    assert!((of(0.5) - 0.3).abs() < 1e-6 && of(2.0) == of(1.0));
    let meaning = RelevanceSignals {
        keyword: None,
        coverage: 0.5,
        ..known
    };
    assert!((facts(&meaning)[0] - 0.6).abs() < 1e-6);
}

#[test]
fn a_chunk_with_every_term_scores_half_in_any_file() {
    let name = RelevanceSignals {
        matched_idf: 14.0,
        query_idf: 14.0,
        ..signals(0.2, 0.0, 1_000_000_000_000)
    };
    assert!(Calibration::ranked(&name).score(name.fused) >= 0.5);
    let but_one = RelevanceSignals {
        query_idf: 16.0,
        ..name
    };
    assert!(Calibration::ranked(&but_one).score(name.fused) < 0.1);
    let no_term = RelevanceSignals {
        matched_idf: 0.0,
        query_idf: 0.0,
        ..name
    };
    assert!(Calibration::ranked(&no_term).score(name.fused) < 0.1);
}

#[test]
fn the_tenth_hit_of_a_good_answer_scores_less_than_the_first() {
    let good = RelevanceSignals {
        matched_idf: 16.0,
        ..signals(0.7, 0.7, 2000)
    };
    let calibration = Calibration::ranked(&good);
    assert!(calibration.score(0.45) > 0.95);
    assert!(calibration.score(0.2) < 0.8);
    let smallest = |chunks| Calibration::ranked(&RelevanceSignals { chunks, ..good });
    assert_eq!(smallest(1), smallest(LEAST_CHUNKS));
    assert_ne!(smallest(LEAST_CHUNKS), smallest(LEAST_CHUNKS + 1));
}

#[test]
fn unrelated_hits_of_a_small_file_score_less_than_the_right_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("four.kb");
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    for (name, text) in [
        (
            "watch.md",
            "# Watching\n\nRun `kb watch` to keep the file of a folder up to date.\n",
        ),
        (
            "bread.md",
            "# Bread\n\nKnead the dough for ten minutes, then let it rest.\n",
        ),
        (
            "whales.md",
            "# Whales\n\nThe blue whale is the largest animal of the sea.\n",
        ),
        (
            "tax.md",
            "# Tax\n\nThe return is due in May; late returns cost a fee.\n",
        ),
    ] {
        writer.add_bytes(name, text.as_bytes()).unwrap();
    }
    writer.commit().unwrap();
    let kb = Kb::open(&path).unwrap();
    for query in ["How do I watch a folder?", "how long does the dough rest"] {
        let answer = kb.search(&Request::new(query)).unwrap();
        assert_eq!(answer.relevance, Relevance::Relevant, "{query}");
        let scores: Vec<f32> = answer.hits.iter().map(|hit| hit.score).collect();
        let (first, others) = scores.split_first().unwrap();
        assert!(*first >= 0.5, "{query} {scores:?}");
        assert!(
            others.iter().all(|score| *score < 0.75),
            "{query} {scores:?}"
        );
    }
    let foreign = kb.search(&Request::new("quantum entanglement of photons"));
    assert_eq!(foreign.unwrap().relevance, Relevance::NothingRelevant);
}

#[test]
fn titles_score_half_or_more_and_listed_documents_one() {
    let titles = Calibration::titles();
    assert_eq!(
        [0.0, 0.5, 1.0].map(|fused| titles.score(fused)),
        [0.5, 0.75, 1.0]
    );
    assert_eq!(Calibration::listed().score(0.0), 1.0);
    assert_eq!(titles.logistic(), None);
}

#[test]
fn what_is_shown_as_half_passes_half() {
    let below = f32::from_bits(0.5f32.to_bits() - 1);
    assert_eq!(shown_score(below, 2), 0.49);
    assert_eq!(shown_score(below, 6), 0.499_999);
    assert_eq!(shown_score(0.5, 2), 0.5);
    assert_eq!(shown_score(0.29, 2), 0.29);
    assert_eq!(shown_score(1.0, 4), 1.0);
    assert_eq!(shown_score(0.0, 4), 0.0);
}

#[test]
fn each_part_can_carry_an_answer_alone() {
    let words = RelevanceSignals {
        matched_idf: 18.0,
        ..signals(0.9, 0.1, 5000)
    };
    assert_eq!(judge(&words), Relevance::Relevant);
    assert_eq!(judge(&signals(0.0, 0.7, 5000)), Relevance::Relevant);
    assert_eq!(judge(&signals(0.15, 0.3, 5000)), Relevance::NothingRelevant);
}

#[test]
fn a_large_file_must_show_more() {
    assert_eq!(judge(&signals(0.2, 0.4, 20)), Relevance::Relevant);
    assert_eq!(
        judge(&signals(0.2, 0.4, 1_000_000)),
        Relevance::NothingRelevant
    );
}

#[test]
fn without_any_candidate_nothing_is_relevant() {
    let mut signals = RelevanceSignals {
        keyword: Some(0.0),
        vector: Some(0.0),
        chunks: 1,
        ..RelevanceSignals::default()
    };
    assert_eq!(judge(&signals), Relevance::NothingRelevant);
    (signals.keyword, signals.vector) = (None, None);
    assert_eq!(judge(&signals), Relevance::NothingRelevant);
}

#[test]
fn a_chunk_with_every_word_is_relevant_in_any_file() {
    let name = RelevanceSignals {
        matched_idf: 14.0,
        query_idf: 14.0,
        ..signals(0.3, 0.1, 1_000_000)
    };
    assert_eq!(judge(&name), Relevance::Relevant);
    let but_one = RelevanceSignals {
        query_idf: 16.0,
        matched_idf: 7.0,
        ..name
    };
    assert_eq!(judge(&but_one), Relevance::NothingRelevant);
}

proptest! {
    #[test]
    fn more_evidence_never_lowers_a_score(
        (keyword, vector, coverage) in (0f32..1.0, 0f32..1.0, 0f32..1.0),
        (fused, more) in (0f32..1.0, 0f32..0.5),
        (matched, total) in (0f32..60.0, 0f32..60.0),
        (has_keyword, has_vector) in any::<(bool, bool)>(),
        chunks in any::<u64>(),
    ) {
        let signals = RelevanceSignals {
            keyword: has_keyword.then_some(keyword),
            matched_idf: matched.min(total),
            query_idf: total,
            vector: has_vector.then_some(vector),
            near: if has_vector { vector } else { 0.0 },
            coverage,
            chunks,
            ..RelevanceSignals::default()
        };
        let score = Calibration::ranked(&signals).score(fused);
        prop_assert!(Calibration::ranked(&signals).score(fused + more) >= score);
        let better = [
            RelevanceSignals { near: signals.near + more, ..signals },
            RelevanceSignals { matched_idf: (matched + more).min(total), ..signals },
            RelevanceSignals { matched_idf: total, ..signals },
            RelevanceSignals { chunks: chunks / 2, ..signals },
        ];
        for better in better {
            prop_assert!(Calibration::ranked(&better).score(fused) >= score, "{:?}", better);
        }
    }

    #[test]
    fn a_clearly_larger_fused_score_scores_strictly_more(
        (keyword, vector) in (0f32..1.0, 0f32..1.0),
        fused in 0f32..0.99,
        chunks in 1u64..10_000_000,
    ) {
        let calibration = Calibration::ranked(&signals(keyword, vector, chunks));
        let (score, more) = (calibration.score(fused), calibration.score(fused + 0.001));
        prop_assert!(more > score || score > 0.9999, "{} {}", score, more);
    }

    #[test]
    fn no_number_breaks_a_score(
        bits in any::<[u32; 6]>(),
        (has_keyword, has_vector) in any::<(bool, bool)>(),
        chunks in any::<u64>(),
    ) {
        let [fused, keyword, matched_idf, query_idf, vector, coverage] = bits.map(f32::from_bits);
        let signals = RelevanceSignals {
            fused,
            keyword: has_keyword.then_some(keyword),
            matched_idf,
            query_idf,
            vector: has_vector.then_some(vector),
            near: vector,
            coverage,
            chunks,
            has_given_vector: false,
            asks_for_missing: false,
        };
        let all = [
            Calibration::ranked(&signals),
            Calibration::titles(),
            Calibration::listed(),
        ];
        for calibration in all {
            let score = calibration.score(fused);
            prop_assert!((0.0..=1.0).contains(&score), "{}", score);
        }
    }

    #[test]
    fn a_score_as_it_is_shown_passes_as_min_score(score in 0f32..=1.0, decimals in 0u8..9) {
        let shown = shown_score(score, decimals);
        prop_assert!(shown as f32 <= score && shown >= 0.0);
        prop_assert!(f64::from(score) - shown <= 10f64.powi(-i32::from(decimals)));
    }
}

#[test]
fn scores_of_a_given_vector_are_the_fused_ones() {
    let mut given = signals(0.0, 0.02, 1000);
    given.has_given_vector = true;
    let calibration = Calibration::ranked(&given);
    for fused in [0.0, 0.02, 0.5, 1.0] {
        assert_eq!(calibration.score(fused), fused);
    }
    assert_eq!(
        (calibration.score(1.3), calibration.logistic()),
        (1.0, None)
    );
    assert_eq!(judge(&given), Relevance::Relevant);
    given.fused = 0.0;
    assert_eq!(judge(&given), Relevance::NothingRelevant);
}

#[test]
fn hits_for_a_missing_identifier_score_below_half_in_the_same_order() {
    let known = RelevanceSignals {
        fused: 0.9,
        ..signals(0.9, 0.8, 1000)
    };
    let missing = RelevanceSignals {
        asks_for_missing: true,
        ..known
    };
    let (known, missing) = (Calibration::ranked(&known), Calibration::ranked(&missing));
    assert!(known.score(0.9) > 0.5);
    assert!((missing.score(0.9) - 0.4).abs() < 0.001);
    assert!(missing.score(0.5) < missing.score(0.9));
}
