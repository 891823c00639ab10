//! From the fused score to the score of a hit: one scale for all requests and files.
//!
//! A fused score of 0.3 is a good answer to a question of ten words and a chance match of a name in a
//! large file. So the score of a hit is, in odds (the logarithm of them, as in logistic regression),
//! a sum of its fused score and of facts about the whole request, with weights for each mode. It lies in
//! 0..1 and rises strictly with the fused score, so the order of the hits of an answer is that of
//! their fused scores. At .5 a right answer and the best hit of a question of another field are
//! equally likely.

use crate::search::relevance::{RELEVANT_SCORE, Relevance, RelevanceSignals};

/// The weights of one combination of keyword and vector scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Of the fused score of the hit. Chosen, not fitted: see [`FUSED_WEIGHT`].
    pub fused: f64,
    /// Of the largest keyword score of the answer.
    pub keyword: f64,
    /// Of the largest vector score of the answer; where there is a keyword score too, times the coverage,
    /// as in the fused score.
    pub vector: f64,
    /// Of the square root of the matched idf: the idf of the terms that the chunk with the largest
    /// keyword score has.
    pub matched_idf: f64,
    /// Of the coverage: the share of the words of the query that the model knows.
    pub coverage: f64,
    /// Of the tenfolds of chunks in the files: the best of many chance matches is a close one.
    pub chunks: f64,
    /// What is added to all.
    pub constant: f64,
}

impl Weights {
    /// All but the first, in the order of the fields.
    pub fn of_facts(&self) -> [f64; 6] {
        [
            self.keyword,
            self.vector,
            self.matched_idf,
            self.coverage,
            self.chunks,
            self.constant,
        ]
    }
}

/// How far the hits of one answer are apart: a tenth of fused score is .8 in the logarithm of the odds,
/// .5 against .69. Right answers against the best hits of foreign questions say nothing about it,
/// because only the best of those counts: from 0 to 12 the share of either falls by .006.
pub const FUSED_WEIGHT: f64 = 8.0;

// The weights below are a logistic regression on the development sets: judged right answers among the
// first ten hits, against the best hit of questions put to files of other fields. Files of 15 to 13 000
// chunks, and of all sets together, 70 000; each set and each size counts the same. Of sets left out,
// .94 of the right answers score .5 or more, and .94 of those best hits less; with keywords alone .86
// and .91, with vectors alone .90 and .91.
// `cargo xtask eval --tables calibration` fits them again, leaving one set out at a time, prints what
// they keep and reject beside what these do, and draws both.

/// Keyword and vector score.
pub const HYBRID: Weights = Weights {
    fused: FUSED_WEIGHT,
    keyword: 4.46,
    vector: 14.54,
    matched_idf: 1.44,
    coverage: -9.83,
    chunks: -2.662,
    constant: 4.685,
};

/// Keyword score alone.
pub const KEYWORD: Weights = Weights {
    fused: FUSED_WEIGHT,
    keyword: 6.47,
    vector: 0.0,
    matched_idf: 2.177,
    coverage: 0.0,
    chunks: -2.143,
    constant: -3.542,
};

/// Vector score alone.
pub const SEMANTIC: Weights = Weights {
    fused: FUSED_WEIGHT,
    keyword: 0.0,
    vector: 16.91,
    matched_idf: 0.0,
    coverage: 0.0,
    chunks: -1.739,
    constant: -4.017,
};

/// Where one chunk has every term of the query, a hit of this fused score or more scores at least .5,
/// however large the file: names and error codes have no useful embedding. A chunk of twice the mean
/// length that has the terms once reaches it. 0.001 of the off-topic queries have such a chunk.
pub(crate) const EVERY_TERM_FUSED: f64 = 0.1;

/// The logarithm of the odds of the best hit for an identifier that no document has: a score of .4. Its neighbours may
/// still be of use, so it is above [`RELEVANT_SCORE`](crate::RELEVANT_SCORE).
const MISSING_ODDS: f64 = -0.405;

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
pub fn facts(signals: &RelevanceSignals) -> [f64; 6] {
    let coverage = finite(signals.coverage).min(1.0);
    let trust = if signals.keyword.is_some() {
        coverage
    } else {
        1.0
    };
    [
        finite(signals.keyword.unwrap_or(0.0)),
        trust * finite(signals.vector.unwrap_or(0.0)),
        finite(signals.matched_idf).sqrt(),
        coverage,
        (signals.chunks.max(1) as f64).log10(),
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
