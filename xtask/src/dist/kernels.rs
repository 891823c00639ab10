//! `cargo xtask kernels`: the vector kernels of another processor against the scalar reference.
//!
//! A machine compiles and runs only the kernels of its own processor. This verb builds their tests for another one and
//! runs them there, on a machine of this kind or in an emulator.

use anyhow::{Result, bail};

use super::build;
use super::options::Options;
use crate::steps;

/// What the step is in the summary.
const NAME: &str = "kernels";

/// Part of the names of the tests: those of the vector index and of the keyword index. Everything else calls the kernels
/// through these, and an emulator takes a minute for them alone.
const TESTS: &str = "::kernels::";

/// Runs the verb.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let options = Options::parse(arguments, "dev")?;
    if options.program.is_some() {
        bail!("kernels builds what it runs: it has no --program");
    }
    let mut test = build::cargo_for(&options, build::Verb::Test)?;
    // The grammars are most of a build and compute with no vectors.
    test.args(["--package", "kb-engine", "--lib", "--no-default-features"]);
    test.arg("--").arg(TESTS);
    if let Some(runner) = &options.runner {
        test.env(options.runner_variable(), runner);
    }
    steps::run_with(&[], |summary| {
        summary.count(NAME, &mut test)?;
        // A filter that no name passes is no failure to cargo.
        if !summary.has_tests() {
            summary.fail(NAME);
        }
        Ok(())
    })
}
