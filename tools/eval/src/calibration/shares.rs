//! What scores keep and reject: the share of the right answers above a threshold, and of the hits to
//! foreign questions below it.

use kb_engine::testing::search::calibration::{self, Weights, with_weights};

use super::fit::Example;
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

/// The right answers, and the best hit of each foreign question, without the pairs that `left_out` has
/// part in. Each collection in each size counts the same. `weights`: answers that the engine scores with
/// others, because a part has no score, teach nothing about these.
pub(crate) fn examples(
    all: &[Observation],
    mode: usize,
    weights: &Weights,
    left_out: Option<usize>,
) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut lists = [0usize, 0];
    for list in all.chunk_by(|a, b| (a.set, a.size, a.is_own) == (b.set, b.size, b.is_own)) {
        let counts = |seen: &&Observation| {
            left_out.is_none_or(|out| seen.set != out && seen.file != Some(out))
        };
        let mut of_list = Vec::new();
        for answer in list
            .iter()
            .filter(counts)
            .filter_map(|s| s.answers.get(mode))
        {
            if calibration::weights(&answer.signals) != weights {
                continue;
            }
            let is_own = list.first().is_some_and(|seen| seen.is_own);
            let hits = answer.hits.iter().enumerate();
            let hits = hits.filter(|(rank, hit)| if is_own { hit.is_right } else { *rank == 0 });
            of_list.extend(hits.map(|(_, hit)| Example {
                fused: f64::from(hit.fused),
                facts: calibration::facts(&answer.signals),
                is_right: is_own,
                weight: 0.0,
            }));
        }
        let Some(first) = of_list.first() else {
            continue;
        };
        lists[usize::from(first.is_right)] += 1;
        let weight = 1.0 / of_list.len() as f64;
        examples.extend(of_list.into_iter().map(|one| Example { weight, ..one }));
    }
    for example in &mut examples {
        example.weight /= lists[usize::from(example.is_right)] as f64;
    }
    examples
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

/// Of the right answers and the best hits of foreign questions with a score in that tenth, the share that
/// is right, where there are as many of either; `None` without any.
pub(crate) fn right_in_tenth(all: &[Scores], tenth: usize) -> Option<f64> {
    let (low, high) = (tenth as f32 / 10.0, (tenth + 1) as f32 / 10.0);
    let above = |threshold| shares(all, threshold, |_| true);
    let (low, high) = (above(low), above(high));
    let right = low.kept - high.kept;
    let wrong = high.best_gone - low.best_gone;
    (right + wrong > 0.0).then(|| right / (right + wrong))
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
        // Half of the right answers and the best foreign hit.
        assert_eq!(right_in_tenth(&all, 3), Some(0.5 / 1.5));
        assert_eq!(right_in_tenth(&all, 5), None);
    }
}
