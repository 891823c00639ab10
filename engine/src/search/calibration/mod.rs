//! From the fused score to the score of a hit: one scale for all requests and files.
//!
//! A fused score of 0.3 is a good answer to a question of ten words and a chance match of a name in a
//! large file. So the score of a hit is, in odds (the logarithm of them, as in logistic regression),
//! a sum of its fused score and of facts about the whole request, with weights for each mode. It lies in
//! 0..1 and rises strictly with the fused score, so the order of the hits of an answer is that of
//! their fused scores.
//!
//! The score is the probability that a hit answers, in a population of four right hits for the best hit of a question
//! of another field, and 0.3 wrong hits for each of these: a right answer that is left out costs more than a
//! wrong hit that is shown.

mod table;

#[cfg(any(test, feature = "testing"))]
pub use table::FUSED_WEIGHT;
pub use table::{HYBRID, KEYWORD, SEMANTIC, Weights};

use crate::search::relevance::{RELEVANT_SCORE, Relevance, RelevanceSignals};

/// Where one chunk has every term of the query, a hit of this fused score or more scores at least .5,
/// however large the file: names and error codes have no useful embedding. A chunk of twice the mean
/// length that has the terms once reaches it. 0.001 of the off-topic queries have such a chunk.
pub(crate) const EVERY_TERM_FUSED: f64 = 0.1;

/// The logarithm of the odds of the best hit for an identifier that no document has: a score of .4. Its neighbours may
/// still be of use, so it is above [`RELEVANT_SCORE`](crate::RELEVANT_SCORE).
const MISSING_ODDS: f64 = -0.405;

/// Files of fewer chunks count as one of so many, the smallest that the weights are fitted to.
const LEAST_CHUNKS: u64 = 15;

/// Turns the fused scores of one answer into scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    scale: Scale,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    /// The logarithm of the odds is `slope * fused + constant`.
    Logistic { slope: f64, constant: f64 },
    /// Documents found by their names.
    Titles,
    /// Documents that pass the operators of a query; nothing ranks them.
    Listed,
    /// Hits of a vector that was given: the fused scores as they are.
    Fused,
}

impl Calibration {
    /// For hits ranked by keyword or vector score.
    pub fn ranked(signals: &RelevanceSignals) -> Calibration {
        if signals.has_given_vector {
            return Calibration {
                scale: Scale::Fused,
            };
        }
        with_weights(weights(signals), signals)
    }

    /// For hits of title mode: every one has each word of the query in its names, so all score .5 or more.
    pub(crate) fn titles() -> Calibration {
        Calibration {
            scale: Scale::Titles,
        }
    }

    /// For documents that are listed because they pass the operators: each is what was asked for and
    /// scores 1.
    pub(crate) fn listed() -> Calibration {
        Calibration {
            scale: Scale::Listed,
        }
    }

    /// Slope and constant: the logarithm of the odds of a hit is `slope * fused + constant`, and its score
    /// `1 / (1 + e^-that)`. `None` for documents that are not ranked by their text, and for hits of a vector that was given.
    pub fn logistic(&self) -> Option<(f64, f64)> {
        match self.scale {
            Scale::Logistic { slope, constant } => Some((slope, constant)),
            Scale::Titles | Scale::Listed | Scale::Fused => None,
        }
    }

    /// Whether a hit with that fused score is one, and scores as much or more.
    pub(crate) fn passes(&self, fused: f32, min_score: f32) -> bool {
        fused > 0.0 && (min_score <= 0.0 || self.score(fused) >= min_score)
    }

    /// The score of a hit with that fused score, 0..1. It never falls as `fused` rises; a number that is
    /// not finite counts as 0.
    pub fn score(&self, fused: f32) -> f32 {
        let fused = finite(fused);
        match self.scale {
            Scale::Logistic { slope, constant } => {
                let odds = slope * fused + constant;
                (1.0 / (1.0 + (-odds).exp())) as f32
            }
            Scale::Titles => (0.5 + 0.5 * fused.clamp(0.0, 1.0)) as f32,
            Scale::Listed => 1.0,
            Scale::Fused => fused.clamp(0.0, 1.0) as f32,
        }
    }
}

/// Judges an answer, in constant time, by the score of its best hit.
pub fn judge(signals: &RelevanceSignals) -> Relevance {
    let is_hit = signals.has_given_vector && signals.fused > 0.0;
    if is_hit || Calibration::ranked(signals).passes(signals.fused, RELEVANT_SCORE) {
        Relevance::Relevant
    } else {
        Relevance::NothingRelevant
    }
}

/// The calibration that these weights make of an answer.
pub fn with_weights(weights: &Weights, signals: &RelevanceSignals) -> Calibration {
    let of_facts = weights.of_facts().into_iter().zip(facts(signals));
    let mut constant: f64 = of_facts.map(|(weight, fact)| weight * fact).sum();
    if signals.has_every_term() {
        constant = constant.max(-weights.fused * EVERY_TERM_FUSED);
    }
    if signals.asks_for_missing {
        constant = constant.min(MISSING_ODDS - weights.fused * finite(signals.fused));
    }
    Calibration {
        scale: Scale::Logistic {
            slope: weights.fused,
            constant,
        },
    }
}

/// The weights for the scores that there are.
pub fn weights(signals: &RelevanceSignals) -> &'static Weights {
    match (signals.keyword, signals.vector) {
        (Some(_), Some(_)) => &HYBRID,
        (None, Some(_)) => &SEMANTIC,
        (_, None) => &KEYWORD,
    }
}

/// The facts of a request in the order of [`Weights::of_facts`]. Numbers that are not finite or are
/// negative count as 0.
pub fn facts(signals: &RelevanceSignals) -> [f64; 5] {
    let coverage = finite(signals.coverage).min(1.0);
    let trust = if signals.keyword.is_some() {
        coverage
    } else {
        1.0
    };
    [
        trust * finite(signals.near),
        finite(signals.matched_idf).sqrt(),
        coverage,
        (signals.chunks.max(LEAST_CHUNKS) as f64).log10(),
        1.0,
    ]
}

fn finite(number: f32) -> f64 {
    if number.is_finite() {
        f64::from(number).max(0.0)
    } else {
        0.0
    }
}

/// A score as it is shown with that many decimals: the nearest such number that `min_score` does
/// not leave out, so a score that is shown as .50 passes .5.
pub fn shown_score(score: f32, decimals: u8) -> f64 {
    let steps = 10f64.powi(i32::from(decimals.min(9)));
    let nearest = (f64::from(score) * steps).round();
    if (nearest / steps) as f32 > score {
        (nearest - 1.0) / steps
    } else {
        nearest / steps
    }
}

#[cfg(test)]
mod tests;
