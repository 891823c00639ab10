//! How scores of a contextual model join those of the built-in one.

use crate::search::rank::weights::RANK_WEIGHTS;

/// Fewest chunks with both scores that tell how one scale follows from the other.
// Each scale is a mean and a deviation, and one number has no deviation.
const LEAST_PAIRS: usize = 2;

/// What the weights follow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Asked {
    /// The share of the words of the query that the built-in model knows, 0..1.
    pub(crate) coverage: f32,
    /// The share of code among the chunks of code and prose, 0..1.
    pub(crate) code_share: f32,
    /// Whether the query is a question or a request. What it says is seldom written in these words.
    pub(crate) is_question: bool,
}

/// What keyword score, built-in model and contextual model weigh; not scaled to any sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FusionWeights {
    keyword: f32,
    built_in: f32,
    contextual: f32,
}

impl FusionWeights {
    /// Those of a query.
    pub(crate) fn of(asked: Asked) -> FusionWeights {
        let weights = RANK_WEIGHTS;
        let (keyword, built_in) = if asked.is_question {
            let prose = weights.built_in_of_three_in_prose_for_questions;
            let code = weights.built_in_of_three_in_code_for_questions;
            let built_in = prose + (code - prose) * asked.code_share.clamp(0.0, 1.0);
            (weights.keyword_of_three_for_questions, built_in)
        } else {
            (weights.keyword_of_three, weights.built_in_of_three)
        };
        FusionWeights {
            keyword,
            built_in: built_in * asked.coverage.clamp(0.0, 1.0),
            contextual: 1.0 - keyword - built_in,
        }
    }

    /// The share of both models together.
    pub(crate) fn vectors(self) -> f32 {
        let vectors = self.built_in + self.contextual;
        vectors / (self.keyword + vectors)
    }

    /// The share of the contextual model in that.
    pub(crate) fn contextual_share(self) -> f32 {
        self.contextual / (self.built_in + self.contextual)
    }
}

/// What a contextual model says of a chunk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ContextualScore {
    /// Its score as it is.
    pub(crate) own: f32,
    /// Its score, on the scale of the built-in model.
    pub(crate) score: f32,
    /// What that adds to the fused score of keywords and built-in model.
    pub(crate) gain: f32,
}

/// How scores of a contextual model become scores of the built-in one: models differ in how near two texts are that
/// have nothing in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    slope: f32,
    constant: f32,
}

impl Scale {
    /// Scores as they are.
    const SAME: Scale = Scale {
        slope: 1.0,
        constant: 0.0,
    };

    /// The scale by which both scores of the chunks of a list, built-in and contextual, have the same mean and deviation.
    pub(crate) fn of(pairs: &[(f32, f32)]) -> Scale {
        let count = pairs.len() as f32;
        let built_in = Spread::of(pairs.iter().map(|pair| pair.0), count);
        let contextual = Spread::of(pairs.iter().map(|pair| pair.1), count);
        let slope = built_in.deviation / contextual.deviation;
        if pairs.len() < LEAST_PAIRS || !slope.is_finite() || built_in.mean == 0.0 {
            return Scale::SAME;
        }
        Scale {
            slope,
            constant: built_in.mean - slope * contextual.mean,
        }
    }

    /// A contextual score on the scale of the built-in model, 0..1.
    pub(crate) fn apply(self, score: f32) -> f32 {
        (self.slope * score + self.constant).clamp(0.0, 1.0)
    }
}

/// Mean and standard deviation.
struct Spread {
    mean: f32,
    deviation: f32,
}

impl Spread {
    fn of(numbers: impl Iterator<Item = f32> + Clone, count: f32) -> Spread {
        let mean = numbers.clone().sum::<f32>() / count;
        let squares: f32 = numbers.map(|number| (number - mean).powi(2)).sum();
        Spread {
            mean,
            deviation: (squares / count).sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_another_model_get_the_spread_of_the_built_in_one() {
        // As of a model whose cosines all lie above .7.
        let pairs = [(0.2, 0.75), (0.4, 0.80), (0.6, 0.85)];
        let scale = Scale::of(&pairs);
        for (built_in, contextual) in pairs {
            assert!((scale.apply(contextual) - built_in).abs() < 1e-5);
        }
        assert_eq!(scale.apply(1.0), 1.0);
        assert_eq!(scale.apply(0.0), 0.0);
    }

    fn asked(code_share: f32, is_question: bool) -> Asked {
        Asked {
            coverage: 1.0,
            code_share,
            is_question,
        }
    }

    #[test]
    fn a_question_trusts_the_contextual_model_more_than_a_statement_does() {
        let contextual = |asked: Asked| {
            let weights = FusionWeights::of(asked);
            weights.vectors() * weights.contextual_share()
        };
        for code_share in [0.0, 0.5] {
            let (question, statement) = (asked(code_share, true), asked(code_share, false));
            assert!(contextual(question) > contextual(statement) + 0.1);
            let (question, statement) = (FusionWeights::of(question), FusionWeights::of(statement));
            assert!(question.vectors() > statement.vectors());
        }
        // In code it leaves a part of that to the built-in model, which has learned from code.
        assert!(contextual(asked(0.0, true)) > contextual(asked(1.0, true)) + 0.2);
    }

    #[test]
    fn the_weights_sum_up_to_one_and_unknown_words_count_for_the_other_two() {
        for asked in [asked(0.0, true), asked(1.0, true), asked(0.3, false)] {
            let known = FusionWeights::of(asked);
            let sum = known.keyword + known.built_in + known.contextual;
            assert!((sum - 1.0).abs() < 1e-6, "{known:?}");
            let unknown = FusionWeights::of(Asked {
                coverage: 0.0,
                ..asked
            });
            assert_eq!(unknown.contextual_share(), 1.0);
            let ratio = |weights: FusionWeights| weights.contextual / weights.keyword;
            assert_eq!(ratio(known), ratio(unknown));
        }
    }

    #[test]
    fn too_few_chunks_tell_no_scale() {
        for pairs in [&[][..], &[(0.3, 0.5)], &[(0.3, 0.5), (0.4, 0.5)]] {
            assert_eq!(Scale::of(pairs), Scale::SAME, "{pairs:?}");
        }
        // A query of which the built-in model knows no word.
        assert_eq!(Scale::of(&[(0.0, 0.5), (0.0, 0.7)]), Scale::SAME);
    }
}
