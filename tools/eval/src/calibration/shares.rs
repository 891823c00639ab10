//! What scores keep and reject: the share of the right answers above a threshold, and of the hits to
//! foreign questions below it.

use kb_engine::testing::search::calibration::{self, Weights, with_weights};

use super::fit::{Example, RIGHT_SHARE, WRONG_SHARE};
use super::observe::{Observation, Size};
use crate::metrics::mean;

/// Hits that a front shows by default where it has the score .5 as a threshold.
const FIRST: usize = 5;

/// Steps of the curves from 0 to 1.
pub(crate) const STEPS: usize = 100;

/// The scores of the answers of one mode.
#[derive(Debug, Clone)]
pub(crate) struct Scores {
    pub(crate) set: usize,
    pub(crate) size: Size,
    pub(crate) is_own: bool,
    /// Best first.
    pub(crate) hits: Vec<(f32, bool)>,
}

/// The scores of one observation with these weights.
pub(crate) fn scores(seen: &Observation, mode: usize, weights: &Weights) -> Option<Scores> {
    let answer = seen.answers.get(mode)?;
    let calibration = with_weights(weights, &answer.signals);
    let scored = answer.hits.iter();
    Some(Scores {
        set: seen.set,
        size: seen.size,
        is_own: seen.is_own,
        hits: scored
            .map(|hit| (calibration.score(hit.fused), hit.is_right))
            .collect(),
    })
}

/// Right hits, wrong hits beside them, and the best hit of each foreign question, without the pairs that `left_out` has
/// part in. Each collection in each size counts the same, and each kind of hit as its share says. `weights`: answers
/// that the engine scores with others, because a part has no score, teach nothing about these.
pub(crate) fn examples(
    all: &[Observation],
    mode: usize,
    weights: &Weights,
    left_out: Option<usize>,
) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut lists = [0usize; KINDS];
    for list in all.chunk_by(|a, b| (a.set, a.size, a.is_own) == (b.set, b.size, b.is_own)) {
        let counts = |seen: &&Observation| {
            left_out.is_none_or(|out| seen.set != out && seen.file != Some(out))
        };
        let mut of_list: [Vec<Example>; KINDS] = Default::default();
        for seen in list.iter().filter(counts) {
            let Some(answer) = seen.answers.get(mode) else {
                continue;
            };
            if calibration::weights(&answer.signals) != weights {
                continue;
            }
            for (rank, hit) in answer.hits.iter().enumerate() {
                let Some(kind) = kind_of(seen.is_own, hit.is_right, rank) else {
                    continue;
                };
                of_list[kind].push(Example {
                    fused: f64::from(hit.fused),
                    facts: calibration::facts(&answer.signals),
                    is_right: kind == RIGHT,
                    weight: SHARES[kind],
                });
            }
        }
        for (kind, of_kind) in of_list.into_iter().enumerate() {
            lists[kind] += usize::from(!of_kind.is_empty());
            let count = of_kind.len() as f64;
            let weighted = of_kind.into_iter().map(|one| Example {
                weight: one.weight / count,
                ..one
            });
            examples.extend(weighted.map(|one| (kind, one)));
        }
    }
    let examples = examples.into_iter();
    examples
        .map(|(kind, one)| Example {
            weight: one.weight / lists[kind] as f64,
            ..one
        })
        .collect()
}

/// Kinds of hits that weights are fitted to: right ones, the best of foreign questions, wrong ones of own questions.
const KINDS: usize = 3;
const RIGHT: usize = 0;
const FOREIGN: usize = 1;
const WRONG: usize = 2;

/// How much each kind counts.
const SHARES: [f64; KINDS] = [RIGHT_SHARE, 1.0, WRONG_SHARE];

/// The kind of a hit at a rank, from 0; `None` for one that does not count.
fn kind_of(is_own: bool, is_right: bool, rank: usize) -> Option<usize> {
    match (is_own, is_right, rank) {
        (true, true, _) => Some(RIGHT),
        (true, false, _) => Some(WRONG),
        (false, _, 0) => Some(FOREIGN),
        (false, ..) => None,
    }
}

/// How well scores tell right hits from others, and how well they are probabilities.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Reliability {
    /// Chance that a right hit scores more than another one of the population that the weights are fitted to.
    pub(crate) auc: f64,
    /// The same among the hits of own questions.
    pub(crate) auc_of_own: f64,
    /// Mean squared difference between the score and 1 of a right hit, 0 of another.
    pub(crate) brier: f64,
    /// By tenths of score: the mean score, the share of right ones, and the share of all.
    pub(crate) tenths: Vec<Tenth>,
    /// Mean scores of the first and of the last hit of answers that have a right one.
    pub(crate) first: f64,
    pub(crate) last: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Tenth {
    pub(crate) score: f64,
    pub(crate) right: f64,
    pub(crate) share: f64,
}

/// The reliability of the lists that `counts`.
pub(crate) fn reliability(all: &[Scores], counts: impl Fn(&Scores) -> bool) -> Reliability {
    let mut of_kinds: [Vec<f64>; KINDS] = Default::default();
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for one in all.iter().filter(|one| counts(one)) {
        for (rank, (score, is_right)) in one.hits.iter().enumerate() {
            if let Some(kind) = kind_of(one.is_own, *is_right, rank) {
                of_kinds[kind].push(f64::from(*score));
            }
        }
        if one.hits.iter().any(|hit| hit.1) {
            first.extend(one.hits.first().map(|hit| f64::from(hit.0)));
            last.extend(one.hits.last().map(|hit| f64::from(hit.0)));
        }
    }
    let mut weighted: Vec<(f64, bool, f64)> = Vec::new();
    for (kind, scores) in of_kinds.iter().enumerate() {
        let weight = SHARES[kind] / scores.len().max(1) as f64;
        weighted.extend(scores.iter().map(|score| (*score, kind == RIGHT, weight)));
    }
    let own: Vec<(f64, bool, f64)> = [RIGHT, WRONG]
        .into_iter()
        .flat_map(|kind| {
            of_kinds[kind]
                .iter()
                .map(move |score| (*score, kind == RIGHT, 1.0))
        })
        .collect();
    let total: f64 = weighted.iter().map(|one| one.2).sum();
    let squares = weighted.iter().map(|(score, is_right, weight)| {
        let off = score - f64::from(u8::from(*is_right));
        weight * off * off
    });
    let tenths = (0..10u8).map(|tenth| {
        let in_tenth = |score: f64| ((score * 10.0) as u8).min(9) == tenth;
        let these = || weighted.iter().filter(|one| in_tenth(one.0));
        let weight: f64 = these().map(|one| one.2).sum();
        let of = |sum: f64| if weight > 0.0 { sum / weight } else { 0.0 };
        Tenth {
            score: of(these().map(|one| one.0 * one.2).sum()),
            right: of(these().filter(|one| one.1).map(|one| one.2).sum()),
            share: weight / total.max(f64::MIN_POSITIVE),
        }
    });
    Reliability {
        brier: squares.sum::<f64>() / total.max(f64::MIN_POSITIVE),
        tenths: tenths.collect(),
        auc: auc(weighted),
        auc_of_own: auc(own),
        first: mean(&first),
        last: mean(&last),
    }
}

/// Chance that a right one is larger than another, by weights; of equal ones half.
fn auc(mut scored: Vec<(f64, bool, f64)>) -> f64 {
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut won) = (0.0, 0.0);
    let mut right = 0.0;
    for equal in scored.chunk_by(|a, b| a.0 == b.0) {
        let of = |is_right: bool| -> f64 {
            let these = equal.iter().filter(|one| one.1 == is_right);
            these.map(|one| one.2).sum()
        };
        won += of(true) * (below + of(false) / 2.0);
        below += of(false);
        right += of(true);
    }
    won / (right * below).max(f64::MIN_POSITIVE)
}

/// The shares at one threshold.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Shares {
    /// Of the right answers among the first ten hits, those kept.
    pub(crate) kept: f64,
    /// Of the best hits of foreign questions, those gone.
    pub(crate) best_gone: f64,
    /// Of all first ten hits of foreign questions, those gone.
    pub(crate) gone: f64,
    /// Share of the questions with a right answer among the first five hits that keep one.
    pub(crate) answered: f64,
    /// Of the questions put to their own file, those with no hit left.
    pub(crate) lost: f64,
}

/// The shares of the lists that `counts`: means over the sizes of a collection, then over
/// collections.
pub(crate) fn shares(all: &[Scores], threshold: f32, counts: impl Fn(&Scores) -> bool) -> Shares {
    let mut by_set: Vec<(usize, [Vec<f64>; 5])> = Vec::new();
    for list in all.chunk_by(|a, b| (a.set, a.size, a.is_own) == (b.set, b.size, b.is_own)) {
        let Some(first) = list.first().filter(|first| counts(first)) else {
            continue;
        };
        let place = match by_set.iter().position(|(set, _)| *set == first.set) {
            Some(place) => place,
            None => {
                by_set.push((first.set, Default::default()));
                by_set.len() - 1
            }
        };
        let Some((_, figures)) = by_set.get_mut(place) else {
            continue;
        };
        let mut add = |figure: usize, flags: Vec<bool>| {
            if !flags.is_empty() {
                let true_ones = flags.iter().filter(|flag| **flag).count();
                figures[figure].push(true_ones as f64 / flags.len() as f64);
            }
        };
        let passes = |hit: &(f32, bool)| hit.0 >= threshold;
        if first.is_own {
            let right = list.iter().flat_map(|one| &one.hits).filter(|hit| hit.1);
            add(0, right.map(passes).collect());
            let answered = list.iter().map(|one| {
                let first = one.hits.iter().take(FIRST).filter(|hit| hit.1);
                first.map(passes).collect::<Vec<bool>>()
            });
            let answered = answered.filter(|right| !right.is_empty());
            add(3, answered.map(|right| right.contains(&true)).collect());
            add(
                4,
                list.iter()
                    .map(|one| !one.hits.iter().any(passes))
                    .collect(),
            );
        } else {
            let best = list.iter().filter_map(|one| one.hits.first());
            add(1, best.map(|hit| !passes(hit)).collect());
            let every = list.iter().flat_map(|one| &one.hits);
            add(2, every.map(|hit| !passes(hit)).collect());
        }
    }
    let of = |figure: usize| {
        let means = by_set.iter().map(|(_, figures)| &figures[figure]);
        let means = means.filter(|values| !values.is_empty()).map(|v| mean(v));
        mean(&means.collect::<Vec<_>>())
    };
    Shares {
        kept: of(0),
        best_gone: of(1),
        gone: of(2),
        answered: of(3),
        lost: of(4),
    }
}

/// The shares at every step from 0 to 1.
pub(crate) fn curve(all: &[Scores]) -> Vec<Shares> {
    let steps = 0..=STEPS;
    steps
        .map(|step| shares(all, step as f32 / STEPS as f32, |_| true))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(set: usize, size: Size, is_own: bool, answers: &[&[(f32, bool)]]) -> Vec<Scores> {
        let answers = answers.iter().map(|hits| Scores {
            set,
            size,
            is_own,
            hits: hits.to_vec(),
        });
        answers.collect()
    }

    #[test]
    fn shares_are_means_over_sizes_then_collections() {
        let whole = Size::Whole;
        let own: &[&[(f32, bool)]] = &[&[(0.9, true), (0.4, true)], &[(0.3, false)]];
        let mut all = list(0, whole, true, own);
        all.extend(list(0, whole, false, &[&[(0.6, false), (0.2, false)], &[]]));
        all.extend(list(0, Size::Joined, true, &[&[(0.8, true)]]));
        all.extend(list(1, whole, true, &[&[(0.1, true)]]));
        let found = shares(&all, 0.5, |_| true);
        // (1/2 + 1) / 2 of the first, none of the second.
        assert_eq!(found.kept, 0.375);
        assert_eq!((found.best_gone, found.gone), (0.0, 0.5));
        // Both right answers of the first question count once.
        assert_eq!(found.answered, 0.5);
        assert_eq!(found.lost, (0.25 + 1.0) / 2.0);
        assert_eq!(shares(&all, 0.5, |one| one.set == 1).kept, 0.0);
    }

    #[test]
    fn curves_fall_and_rise() {
        let mut all = list(0, Size::Whole, true, &[&[(0.9, true)], &[(0.35, true)]]);
        all.extend(list(
            0,
            Size::Whole,
            false,
            &[&[(0.3, false), (0.1, false)]],
        ));
        let curve = curve(&all);
        assert_eq!(curve.len(), STEPS + 1);
        assert!(curve.is_sorted_by(|a, b| a.kept >= b.kept && a.gone <= b.gone));
        assert_eq!((curve[0].kept, curve[0].gone), (1.0, 0.0));
        assert_eq!((curve[STEPS].kept, curve[STEPS].gone), (0.0, 1.0));
    }

    #[test]
    fn reliability_weighs_right_foreign_and_wrong_hits() {
        let whole = Size::Whole;
        let mut all = list(
            0,
            whole,
            true,
            &[&[(0.95, true), (0.25, false)], &[(0.85, false)]],
        );
        // Of foreign questions the best hit counts.
        all.extend(list(0, whole, false, &[&[(0.2, false), (0.1, false)]]));
        let found = reliability(&all, |_| true);
        assert_eq!((found.auc, found.auc_of_own), (1.0, 1.0));
        let total = RIGHT_SHARE + 1.0 + WRONG_SHARE;
        let squares =
            RIGHT_SHARE * 0.05 * 0.05 + 0.2 * 0.2 + WRONG_SHARE / 2.0 * (0.25 * 0.25 + 0.85 * 0.85);
        assert!((found.brier - squares / total).abs() < 1e-6, "{found:?}");
        assert!((found.tenths[9].share - RIGHT_SHARE / total).abs() < 1e-9);
        assert_eq!((found.tenths[9].right, found.tenths[8].right), (1.0, 0.0));
        let mean = (0.2 + WRONG_SHARE / 2.0 * 0.25) / (1.0 + WRONG_SHARE / 2.0);
        assert!((found.tenths[2].score - mean).abs() < 1e-6);
        assert!((found.first - 0.95).abs() < 1e-6 && (found.last - 0.25).abs() < 1e-6);
        assert_eq!(reliability(&all, |one| one.set == 1).brier, 0.0);
    }

    #[test]
    fn equal_scores_are_told_apart_half_of_the_time() {
        assert_eq!(auc(vec![(0.5, true, 1.0), (0.5, false, 3.0)]), 0.5);
        let three = vec![(0.9, true, 1.0), (0.5, true, 3.0), (0.7, false, 1.0)];
        assert_eq!(auc(three), 0.25);
    }
}
