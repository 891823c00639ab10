//! `cargo xtask docs`: the documentation of all crates, where a warning is an error.

use anyhow::{Result, bail};
use xtask::repository::{self, AS_TESTS, TESTED};

use crate::steps::{self, Step};

/// The tests that compare the committed definitions and the page with the tools, or write them.
const COMMITTED: &str = "committed_";

/// The step that builds the documentation.
pub(crate) fn step() -> Step {
    let doc: &[&str] = &["doc", "--no-deps", "--lib", "--bins"];
    Step {
        variable: Some(("RUSTDOCFLAGS", "-D warnings")),
        ..Step::cargo("docs", &[doc, &TESTED, &AS_TESTS])
    }
}

/// Runs the verb.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    if arguments == ["--write"] {
        let write = Step {
            variable: Some(("KB_WRITE_DOCS", "1")),
            ..Step::cargo(
                "mcp/data/tools.json and docs/mcp-tools.md",
                &[&["test", "--package", "kb-mcp", "--lib", COMMITTED]],
            )
        };
        return steps::run_all(&[write]);
    }
    if let Some(argument) = arguments.first() {
        bail!("docs knows --write only; {argument:?} was given");
    }
    let good = steps::run_all(&[step()])?;
    if good {
        let page = repository::target().join("doc/kb_engine/index.html");
        println!("start at {}", page.display());
    }
    Ok(good)
}
