//! The long form of what every test run tries in short: power loss, killed writers, flipped bits.

use anyhow::{Context, Result, bail};
use xtask::repository;

/// States after a power loss.
const STATES: u64 = 10_000;

/// Writers that are killed.
const KILLS: u64 = 200;

/// Bits that are flipped.
const FLIPS: u64 = 100_000;

/// Runs the verb: `crash [STATES]`.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let states = match arguments {
        [] => STATES,
        [states] => states.parse().context("crash [STATES] takes a number")?,
        _ => bail!("crash takes one number at most"),
    };
    let mut command = repository::cargo(&[
        "test",
        "--release",
        "--package",
        "kb-cli",
        "--test",
        "tests",
        "--",
    ]);
    command
        .args(["--nocapture", "--test-threads=1"])
        .args([
            "crash::",
            "processes::",
            "verify::flips",
            "damage::a_flipped",
        ])
        .env("KB_CRASH_STATES", states.to_string())
        .env("KB_KILLS", KILLS.to_string())
        .env("KB_FLIPS", FLIPS.to_string());
    repository::run(&mut command)?;
    Ok(true)
}
