//! `cargo xtask eval ranking`: chooses the weights of the ranking by the candidates that
//! `cargo xtask eval questions --candidates` writes.
//!
//! Each weight in turn takes the value of its steps with the best mean reciprocal rank, as long as something improves.
//! A repository is ranked by weights chosen on the others. The table shows what that gains over the weights of the
//! program; the last lines are the weights chosen on all repositories.

mod model;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use kb_engine::testing::search::{RANK_WEIGHTS, RankWeights};
use model::{Asked, Knob, knobs, reciprocal_rank};
use xtask::repository;

use crate::sets::read_lines;

/// What a change of a weight must gain in mean reciprocal rank. Less is noise: one question of 200 that moves from the
/// second place to the first gains .0025.
const LEAST_GAIN: f64 = 0.0008;

/// Passes over all weights.
const PASSES: usize = 3;

/// Runs the verb.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let path = match arguments {
        [] => repository::target().join("questions-candidates.jsonl"),
        [path] if !path.starts_with('-') => PathBuf::from(path),
        _ => bail!("eval ranking takes the file that eval questions --candidates writes"),
    };
    if !path.is_file() {
        println!(
            "ranking: skipped, there is no {}; `cargo xtask eval questions --candidates` writes it",
            path.display()
        );
        return Ok(true);
    }
    let asked = model::read(&read_lines(&path)?)
        .with_context(|| format!("cannot read the candidates of {}", path.display()))?;
    print(&asked);
    Ok(true)
}

fn print(asked: &[Asked]) {
    let mut repositories: BTreeMap<&str, Vec<&Asked>> = BTreeMap::new();
    for one in asked {
        repositories.entry(&one.repository).or_default().push(one);
    }
    println!("{:32} questions  program  left out", "repository");
    let (mut of_program, mut of_others) = (Vec::new(), Vec::new());
    for (repository, own) in &repositories {
        let others: Vec<&Asked> = asked
            .iter()
            .filter(|one| one.repository != *repository)
            .collect();
        let chosen = choose(&others);
        let (program, left_out) = (mean(&RANK_WEIGHTS, own), mean(&chosen, own));
        println!(
            "{repository:32} {:9}  {program:.3}    {left_out:.3}",
            own.len()
        );
        of_program.push(program);
        of_others.push(left_out);
    }
    let macro_mean = |means: &[f64]| means.iter().sum::<f64>() / means.len().max(1) as f64;
    println!(
        "{:32} {:9}  {:.3}    {:.3}\n",
        "mean",
        asked.len(),
        macro_mean(&of_program),
        macro_mean(&of_others)
    );
    let all: Vec<&Asked> = asked.iter().collect();
    let mut chosen = choose(&all);
    let mut program = RANK_WEIGHTS;
    println!("{:32} program  chosen on all", "weight");
    for knob in knobs() {
        let (now, best) = (*(knob.of)(&mut program), *(knob.of)(&mut chosen));
        println!("{:32} {now:7.2}  {best:7.2}", knob.name);
    }
}

/// The weights with the best mean over these questions, from those of the program on.
fn choose(asked: &[&Asked]) -> RankWeights {
    let mut weights = RANK_WEIGHTS;
    let mut best = mean(&weights, asked);
    for _ in 0..PASSES {
        let before = best;
        for Knob { of, steps, .. } in knobs() {
            for step in steps {
                let mut other = weights;
                *of(&mut other) = *step;
                let reached = mean(&other, asked);
                if reached > best + LEAST_GAIN {
                    (weights, best) = (other, reached);
                }
            }
        }
        if best <= before {
            break;
        }
    }
    weights
}

fn mean(weights: &RankWeights, asked: &[&Asked]) -> f64 {
    let ranks = asked.iter().map(|one| reciprocal_rank(weights, one));
    ranks.sum::<f64>() / asked.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::tests::asked;

    #[test]
    fn a_weight_is_chosen_when_it_ranks_better() {
        // The right place is of code, and an equal one of a changelog: the lower its share, the better.
        let questions: Vec<Asked> = (0..4)
            .map(|number| {
                asked(
                    &format!("owner/r{number}"),
                    &[(0.5, "changelog", false), (0.4, "", true)],
                )
            })
            .collect();
        let all: Vec<&Asked> = questions.iter().collect();
        let mut lenient = RANK_WEIGHTS;
        lenient.changelog = 1.0;
        assert_eq!(mean(&lenient, &all), 0.5);
        let chosen = choose(&all);
        assert!(chosen.changelog < 0.8);
        assert_eq!(mean(&chosen, &all), 1.0);
        assert_eq!(chosen.test, RANK_WEIGHTS.test);
    }
}
