//! How scores of a contextual model join those of the built-in one.

/// Fewest chunks with both scores that tell how one scale follows from the other.
// Each scale is a mean and a deviation, and one number has no deviation.
const LEAST_PAIRS: usize = 2;

/// What keyword score, built-in model and contextual model weigh; not scaled to any sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FusionWeights {
    keyword: f32,
    built_in: f32,
    contextual: f32,
}

impl FusionWeights {
    /// Those of a query of whose words the built-in model knows that share.
    pub(crate) fn of(coverage: f32) -> FusionWeights {
        FusionWeights {
            keyword: 0.4,
            built_in: 0.3 * coverage,
            contextual: 0.3,
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

    #[test]
    fn too_few_chunks_tell_no_scale() {
        for pairs in [&[][..], &[(0.3, 0.5)], &[(0.3, 0.5), (0.4, 0.5)]] {
            assert_eq!(Scale::of(pairs), Scale::SAME, "{pairs:?}");
        }
        // A query of which the built-in model knows no word.
        assert_eq!(Scale::of(&[(0.0, 0.5), (0.0, 0.7)]), Scale::SAME);
    }
}
