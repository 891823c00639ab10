//! The long form of the trials that every test run makes in short: hostile trees, moves, permissions,
//! texts, kills, attacks, requests over HTTP and models, from a seed; and of many clients at once, for as many seconds as
//! rounds.

use anyhow::{Context, Result, bail};
use xtask::repository;

/// The trial that is among the unit tests of another crate than the others.
const MODELS: &str = "models";

/// A trial, its tests, and how many rounds of it the long form makes.
const TRIALS: [(&str, &str, u64); 9] = [
    ("trees", "trials::trees::", 30),
    ("moves", "trials::moves::", 280),
    ("permissions", "trials::permissions::", 1),
    ("words", "trials::words::", 20_000),
    ("kills", "trials::kills::", 1000),
    ("attacks", "trials::attacks::", 50),
    ("requests", "serve::hostile::", 10_000),
    ("load", "serve::load::", 60),
    (MODELS, "onnx::tests::mutations::", 100_000),
];

/// Runs the verb: `trials [NAME] [--rounds N] [--seed S]`.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let (mut only, mut rounds, mut seed) = (None, None, 1);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut number = || -> Result<u64> {
            let text = rest
                .next()
                .with_context(|| format!("{argument} needs a number"))?;
            text.parse()
                .with_context(|| format!("{argument} needs a number, not {text:?}"))
        };
        match argument.as_str() {
            "--rounds" => rounds = Some(number()?),
            "--seed" => seed = number()?,
            name if TRIALS.iter().any(|(known, ..)| *known == name) => only = Some(name),
            other => {
                let names: Vec<&str> = TRIALS.iter().map(|(name, ..)| *name).collect();
                bail!("no trial {other:?}; there are {}", names.join(", "));
            }
        }
    }
    for (name, tests, usual) in TRIALS {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        println!("--- {name}");
        let program = match name {
            MODELS => &["--package", "kb-embedders", "--lib"][..],
            _ => &["--package", "kb-cli", "--test", "tests"],
        };
        let mut command = repository::cargo(&["test", "--release"]);
        command
            .args(program)
            .args(["--", "--nocapture", "--test-threads=1"])
            .arg(tests)
            .env("KB_TRIAL_ROUNDS", rounds.unwrap_or(usual).to_string())
            .env("KB_TRIAL_SEED", seed.to_string())
            // What only takes longer, not more seeds.
            .env("KB_TRIAL_DEPTH", "3000")
            .env("KB_TRIAL_WIDE", "50000")
            .env("KB_TRIAL_READERS", "4");
        repository::run(&mut command)?;
    }
    Ok(true)
}
