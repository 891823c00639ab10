//! The score of hits: fits the weights of the calibration, leaving one collection or repository out at a time, and
//! shows what scores keep and reject, and how well they are probabilities.

mod fit;
mod observe;
mod plot;
mod repositories;
mod shares;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use kb_engine::RELEVANT_SCORE;
use kb_engine::testing::search::calibration::Weights;
use serde_json::{Value, json};

use crate::runner::RANKED;
use crate::thresholds::Threshold;
use observe::{Observation, Size};
use shares::{Reliability, Scores, Shares};

/// The score at which a right answer and the best hit of an off-topic question are equally likely.
const EVEN: f32 = 0.5;

/// Share of the right answers that hybrid scores of .5 and more must keep on collections left out.
const KEPT: f64 = 0.92;

/// Share of the hits to foreign questions that must be gone.
const GONE: f64 = 0.85;

/// What one mode does.
struct OfMode {
    name: &'static str,
    fitted: Weights,
    /// Each collection with the weights fitted to the others.
    left_out: Vec<Scores>,
    /// With the weights of the engine.
    shipped: Vec<Scores>,
}

/// What was measured.
pub(crate) struct Report {
    names: Vec<String>,
    modes: Vec<OfMode>,
}

/// Asks, fits and prints; `None` when no two collections are of different fields.
pub(crate) fn run(folder: &Path, names: &[String], checkouts: &Path) -> Result<Option<Report>> {
    let mut all = observe::observe(folder, names)?;
    let mut names = names.to_vec();
    all.extend(repositories::observe(checkouts, &mut names)?);
    if !all.iter().any(|seen| seen.is_own) || all.iter().all(|seen| seen.is_own) {
        println!("\ncalibration: skipped, no two of these collections are of different fields");
        return Ok(None);
    }
    let modes = RANKED.iter().enumerate().map(|(place, mode)| {
        let weights = fit::shipped(*mode);
        let of = |left_out| {
            let examples = shares::examples(&all, place, &weights, left_out);
            fit::fit(&examples, *mode)
        };
        let each: Vec<Weights> = (0..names.len()).map(|set| of(Some(set))).collect();
        let left_out = all
            .iter()
            .filter_map(|seen: &Observation| shares::scores(seen, place, each.get(seen.set)?));
        let shipped = all
            .iter()
            .filter_map(|seen| shares::scores(seen, place, &weights));
        OfMode {
            name: mode.name(),
            fitted: of(None),
            left_out: left_out.collect(),
            shipped: shipped.collect(),
        }
    });
    let modes = modes.collect();
    let report = Report { names, modes };
    report.print();
    Ok(Some(report))
}

impl Report {
    /// The diagram of both curves.
    pub(crate) fn draw(&self, path: &Path) -> Result<()> {
        let panels = self.modes.iter().map(|mode| plot::Panel {
            name: mode.name,
            curve: shares::curve(&mode.left_out),
        });
        let text = plot::svg(&panels.collect::<Vec<_>>(), RELEVANT_SCORE);
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// What the hybrid scores must reach on collections left out.
    pub(crate) fn judged(&self) -> Vec<Threshold> {
        let Some(hybrid) = self.modes.first() else {
            return Vec::new();
        };
        let shares = shares::shares(&hybrid.left_out, EVEN, |_| true);
        let name = |what: &str| format!("score: {what} at {EVEN}, hybrid, left out");
        vec![
            Threshold::at_least(name("right answers kept"), shares.kept, KEPT),
            Threshold::at_least(name("foreign hits gone"), shares.gone, GONE),
        ]
    }

    pub(crate) fn to_json(&self) -> Value {
        let modes = self.modes.iter().map(|mode| {
            let shares = shares::shares(&mode.left_out, EVEN, |_| true);
            json!({
                "mode": mode.name,
                "fused": mode.fitted.fused,
                "facts": mode.fitted.of_facts(),
                "kept": shares.kept,
                "best_gone": shares.best_gone,
                "gone": shares.gone,
            })
        });
        Value::Array(modes.collect())
    }

    fn print(&self) {
        for mode in &self.modes {
            println!("\n## Scores, {}\n", mode.name);
            print_table(mode);
            println!(
                "| at {EVEN} | left out: right kept | best foreign gone | all foreign gone | answered in \
                 5, kept | as it is: the same |"
            );
            println!("|---|---|---|---|---|---|");
            for (set, name) in self.names.iter().enumerate() {
                mode.print_line(name, EVEN, |scores| scores.set == set);
            }
            for size in Size::ALL {
                mode.print_line(&size.name(), EVEN, |scores| scores.size == size);
            }
            mode.print_line("**mean**", EVEN, |_| true);
            println!(
                "\n| threshold | left out: right kept | best foreign gone | all foreign gone | answered in 5, kept | as it is: the same |"
            );
            println!("|---|---|---|---|---|---|");
            for step in 3..=14u8 {
                let threshold = f32::from(step) / 20.0;
                mode.print_line(&format!("{threshold:.2}"), threshold, |_| true);
            }
            let lost = |all: &[Scores]| shares::shares(all, RELEVANT_SCORE, |_| true);
            let (left_out, shipped) = (lost(&mode.left_out), lost(&mode.shipped));
            println!(
                "\nno hit of {RELEVANT_SCORE} or more: {:.3} of own questions, {:.3} of foreign ones \
                 (as it is: {:.3}, {:.3})",
                left_out.lost, left_out.best_gone, shipped.lost, shipped.best_gone
            );
            for (name, is_repository) in [("collections", false), ("repositories", true)] {
                let counts = |one: &Scores| (one.size == Size::Repository) == is_repository;
                print_reliability(name, &shares::reliability(&mode.left_out, counts));
            }
        }
    }
}

/// The weights as they stand in the table of the engine.
fn print_table(mode: &OfMode) {
    let Weights {
        near,
        matched_idf,
        coverage,
        chunks,
        constant,
        ..
    } = mode.fitted;
    println!(
        "```rust\npub const {}: Weights = Weights {{\n    fused: FUSED_WEIGHT,\n    near: {near:.3},\n    \
         matched_idf: {matched_idf:.3},\n    coverage: {coverage:.3},\n    chunks: {chunks:.3},\n    constant: \
         {constant:.3},\n}};\n```\n",
        mode.name.to_uppercase()
    );
}

fn print_reliability(name: &str, found: &Reliability) {
    println!(
        "\n{name}, left out: AUC {:.3}, of own hits {:.3}, Brier {:.3}; first hit {:.2}, last {:.2}\n",
        found.auc, found.auc_of_own, found.brier, found.first, found.last
    );
    println!("| score | mean | right | share of hits |\n|---|---|---|---|");
    for (tenth, of) in found.tenths.iter().enumerate() {
        let low = tenth as f64 / 10.0;
        println!(
            "| {low:.1} to {:.1} | {:.2} | {:.2} | {:.3} |",
            low + 0.1,
            of.score,
            of.right,
            of.share
        );
    }
}

impl OfMode {
    fn print_line(&self, name: &str, threshold: f32, counts: impl Fn(&Scores) -> bool) {
        let text = |all: &[Scores]| {
            let Shares {
                kept,
                best_gone,
                gone,
                answered,
                ..
            } = shares::shares(all, threshold, &counts);
            [kept, best_gone, gone, answered].map(|share| format!("{share:.3}"))
        };
        println!(
            "| {name} | {} | {} |",
            text(&self.left_out).join(" | "),
            text(&self.shipped).join(", ")
        );
    }
}
