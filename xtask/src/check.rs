//! `cargo xtask check`: what a developer runs before every commit.

use anyhow::{Result, bail};
use xtask::repository::TESTED;

use crate::steps::{self, Step};

/// The quick steps; `cargo xtask test` begins with them.
pub(crate) fn quick_steps() -> Vec<Step> {
    let no_warnings: &[&str] = &["--", "-D", "warnings"];
    // None has the feature `testing`, so what only tests use is a warning there.
    let reader: &[&str] = &[
        "clippy",
        "--package",
        "kb-engine",
        "--package",
        "kb-json",
        "--no-default-features",
    ];
    let shipped: &[&str] = &["clippy", "--package", "kb-cli"];
    let licences: &[&str] = &["deny", "check", "licenses", "bans", "sources"];
    vec![
        Step::cargo("format", &[&["fmt", "--all", "--check"]]),
        Step::cargo(
            "clippy",
            &[&["clippy"], &TESTED, &["--all-targets"], no_warnings],
        ),
        Step::cargo("reader", &[reader, no_warnings]),
        Step::cargo("shipped", &[shipped, no_warnings]),
        Step {
            needs: Some("cargo-deny"),
            ..Step::cargo("licences", &[licences])
        },
    ]
}

/// Runs the verb.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    if let Some(argument) = arguments.first() {
        bail!("check takes no arguments; {argument:?} was given");
    }
    steps::run_all(&quick_steps())
}
