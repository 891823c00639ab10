//! `cargo xtask test`: everything that must hold before a change is merged.

use std::thread;

use anyhow::{Result, bail};
use xtask::repository::TESTED;

use crate::steps::{self, Step};
use crate::{c, check, docs, python};

/// Runs the verb.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    if let Some(argument) = arguments.first() {
        bail!("test takes no arguments; {argument:?} was given");
    }
    let mut steps = check::quick_steps();
    steps.push(docs::step());
    let tests: &[&[&str]] = &[&["test"], &TESTED, &["--no-fail-fast"]];
    steps.push(Step::cargo("tests", tests));
    thread::scope(|scope| {
        // The packages come over the network while the compiler works.
        scope.spawn(python::prepare);
        steps::run_with(&steps, |summary| {
            c::test(summary)?;
            python::test(summary, &[])
        })
    })
}
