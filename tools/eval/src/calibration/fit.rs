//! The weights of the calibration: a logistic regression by Newton's method.

use kb_engine::Mode;
use kb_engine::testing::search::calibration::{self, FUSED_WEIGHT, Weights};

/// Number of facts of a request.
const FACTS: usize = 5;

/// How many right hits are counted for the best hit of each question of another field. A right answer that is left out
/// costs more than a wrong hit that is shown.
pub(crate) const RIGHT_SHARE: f64 = 4.0;

/// How many wrong hits of answers that have a right one are counted for each of these. They spread the hits of an
/// answer: what is about the subject of a question is not far from an answer.
pub(crate) const WRONG_SHARE: f64 = 0.3;

/// Most steps; Newton's method needs about ten.
const STEPS: usize = 60;

/// Keeps weights finite where the examples are separable. It is small against the weight of all
/// examples of one kind.
const RIDGE: f64 = 1e-5;

/// A hit to learn from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Example {
    pub(crate) fused: f64,
    pub(crate) facts: [f64; FACTS],
    pub(crate) is_right: bool,
    /// The weights of the best hits of foreign questions sum up to 1, those of right hits to [`RIGHT_SHARE`], and those
    /// of wrong hits beside them to [`WRONG_SHARE`].
    pub(crate) weight: f64,
}

/// Which weight may be what, in the order of [`Weights::of_facts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Zero,
    /// More evidence never lowers a score.
    NotNegative,
    /// A larger file never raises one.
    NotPositive,
    Any,
}

fn signs(mode: Mode) -> [Sign; FACTS] {
    use Sign::{Any, NotNegative, NotPositive, Zero};
    match mode {
        Mode::Keyword => [Zero, NotNegative, Zero, NotPositive, Any],
        Mode::Semantic => [NotNegative, Zero, Zero, NotPositive, Any],
        _ => [NotNegative, NotNegative, Any, NotPositive, Any],
    }
}

/// The weights that the engine has for a mode.
pub(crate) fn shipped(mode: Mode) -> Weights {
    match mode {
        Mode::Keyword => calibration::KEYWORD,
        Mode::Semantic => calibration::SEMANTIC,
        _ => calibration::HYBRID,
    }
}

/// The most likely weights for a mode, with the fused weight as it is.
pub(crate) fn fit(examples: &[Example], mode: Mode) -> Weights {
    let signs = signs(mode);
    let mut free = signs.map(|sign| sign != Sign::Zero);
    loop {
        let found = newton(examples, &free);
        let wrong = |place: &usize| match signs[*place] {
            Sign::NotNegative => found[*place] < 0.0,
            Sign::NotPositive => found[*place] > 0.0,
            Sign::Zero | Sign::Any => false,
        };
        let Some(place) = (0..FACTS).find(wrong) else {
            let [near, matched_idf, coverage, chunks, constant] = found;
            return Weights {
                fused: FUSED_WEIGHT,
                near,
                matched_idf,
                coverage,
                chunks,
                constant,
            };
        };
        free[place] = false;
    }
}

/// The weights that are free; the others are 0.
fn newton(examples: &[Example], free: &[bool; FACTS]) -> [f64; FACTS] {
    let mut found = [0.0; FACTS];
    let mut loss = loss_of(examples, &found);
    for _ in 0..STEPS {
        let mut gradient = [0.0; FACTS];
        let mut curvature = [[0.0; FACTS]; FACTS];
        for place in 0..FACTS {
            gradient[place] = RIDGE * found[place];
            curvature[place][place] = RIDGE;
        }
        for example in examples {
            let chance = 1.0 / (1.0 + (-odds(example, &found)).exp());
            let off = chance - f64::from(u8::from(example.is_right));
            for row in (0..FACTS).filter(|row| free[*row]) {
                gradient[row] += example.weight * off * example.facts[row];
                let scale = example.weight * chance * (1.0 - chance) * example.facts[row];
                for column in (0..FACTS).filter(|column| free[*column]) {
                    curvature[row][column] += scale * example.facts[column];
                }
            }
        }
        let step = solve(curvature, gradient, free);
        let mut length = 1.0;
        let next = loop {
            let mut next = found;
            for place in 0..FACTS {
                next[place] -= length * step[place];
            }
            let value = loss_of(examples, &next);
            if value <= loss || length < 1e-6 {
                loss = value;
                break next;
            }
            length /= 2.0;
        };
        let moved = (0..FACTS).map(|place| (next[place] - found[place]).abs());
        let moved = moved.fold(0.0, f64::max);
        found = next;
        if moved < 1e-7 {
            break;
        }
    }
    found
}

fn odds(example: &Example, weights: &[f64; FACTS]) -> f64 {
    let facts = weights.iter().zip(&example.facts);
    FUSED_WEIGHT * example.fused + facts.map(|(weight, fact)| weight * fact).sum::<f64>()
}

fn loss_of(examples: &[Example], weights: &[f64; FACTS]) -> f64 {
    let ridge: f64 = weights.iter().map(|weight| weight * weight).sum();
    let terms = examples.iter().map(|example| {
        let odds = odds(example, weights);
        let against = if example.is_right { -odds } else { odds };
        // ln(1 + e^x) without overflow.
        example.weight * (against.max(0.0) + (-against.abs()).exp().ln_1p())
    });
    terms.sum::<f64>() + RIDGE * ridge / 2.0
}

/// Solves `matrix x = right` for the free places by elimination with pivots; the others are 0.
fn solve(
    mut matrix: [[f64; FACTS]; FACTS],
    mut right: [f64; FACTS],
    free: &[bool; FACTS],
) -> [f64; FACTS] {
    for place in (0..FACTS).filter(|place| !free[*place]) {
        matrix[place] = [0.0; FACTS];
        matrix[place][place] = 1.0;
        right[place] = 0.0;
    }
    for column in 0..FACTS {
        let size = |row: &usize| matrix[*row][column].abs();
        let pivot = (column..FACTS).max_by(|a, b| size(a).total_cmp(&size(b)));
        let pivot = pivot.unwrap_or(column);
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        let pivot_row = matrix[column];
        for row in column + 1..FACTS {
            let factor = matrix[row][column] / pivot_row[column];
            for (value, above) in matrix[row].iter_mut().zip(pivot_row) {
                *value -= factor * above;
            }
            right[row] -= factor * right[column];
        }
    }
    let mut found = [0.0; FACTS];
    for row in (0..FACTS).rev() {
        let known: f64 = (row + 1..FACTS)
            .map(|column| matrix[row][column] * found[column])
            .sum();
        found[row] = (right[row] - known) / matrix[row][row];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples whose odds are exactly those of the weights.
    fn examples_of(weights: &[f64; FACTS]) -> Vec<Example> {
        let mut examples = Vec::new();
        for number in 0..400u32 {
            let part = |shift: u32| f64::from((number * 37 + shift * 101) % 97) / 97.0;
            let facts = [part(2), 4.0 * part(3), part(4), 4.0 * part(5), 1.0];
            let mut example = Example {
                fused: part(6) / 4.0,
                facts,
                is_right: true,
                weight: 0.0,
            };
            let chance = 1.0 / (1.0 + (-odds(&example, weights)).exp());
            example.weight = chance;
            examples.push(example);
            example.is_right = false;
            example.weight = 1.0 - chance;
            examples.push(example);
        }
        examples
    }

    #[test]
    fn the_weights_that_made_the_examples_are_found() {
        let made = [3.0, 0.5, -1.0, -0.75, 0.25];
        let found = fit(&examples_of(&made), Mode::Hybrid);
        for (found, made) in found.of_facts().into_iter().zip(made) {
            // The ridge takes a little.
            assert!((found - made).abs() < 0.02, "{found} {made}");
        }
        assert_eq!(found.fused, FUSED_WEIGHT);
    }

    #[test]
    fn evidence_has_no_negative_weight() {
        let found = fit(&examples_of(&[-2.0, 1.5, 0.0, 0.5, 0.0]), Mode::Hybrid);
        assert_eq!((found.near, found.chunks), (0.0, 0.0));
        assert!(found.matched_idf > 0.1);
    }

    #[test]
    fn a_mode_learns_from_its_own_facts_only() {
        let examples = examples_of(&[3.0, 0.5, -1.0, -0.75, 0.25]);
        let keyword = fit(&examples, Mode::Keyword);
        assert_eq!((keyword.near, keyword.coverage), (0.0, 0.0));
        let semantic = fit(&examples, Mode::Semantic);
        assert_eq!((semantic.matched_idf, semantic.coverage), (0.0, 0.0));
    }
}
