//! `cargo xtask check`: what a developer runs before every commit.

use anyhow::{Result, bail};

use crate::steps::{self, Step};

/// The quick steps; `cargo xtask test` begins with them.
pub(crate) fn quick_steps() -> Vec<Step> {
    vec![
        Step::cargo("format", &["fmt", "--all", "--check"]),
        Step::cargo(
            "clippy",
            &[
                "clippy",
                "--workspace",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ],
        ),
        Step::cargo(
            "reader",
            &["check", "--package", "kb-engine", "--no-default-features"],
        ),
        Step {
            needs: Some("cargo-deny"),
            ..Step::cargo(
                "licences",
                &["deny", "check", "licenses", "bans", "sources"],
            )
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
