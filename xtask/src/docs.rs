//! `cargo xtask docs`: the documentation of all crates, where a warning is an error.

use anyhow::{Result, bail};

use crate::repository;
use crate::steps::{self, Step};

/// The step that builds the documentation.
pub(crate) fn step() -> Step {
    Step {
        variable: Some(("RUSTDOCFLAGS", "-D warnings")),
        ..Step::cargo("docs", &["doc", "--workspace", "--no-deps"])
    }
}

/// Runs the verb.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    if let Some(argument) = arguments.first() {
        bail!("docs takes no arguments; {argument:?} was given");
    }
    let good = steps::run_all(&[step()])?;
    if good {
        let page = repository::target().join("doc/kb_engine/index.html");
        println!("start at {}", page.display());
    }
    Ok(good)
}
