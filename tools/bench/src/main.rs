//! Speed, size and memory of a release build of `kb`, and what other search engines need for the same
//! work. Started by `cargo xtask bench`, which builds it; results are kept in `tests/bench-results`.

mod c;
mod child;
mod corpus;
mod export;
mod growth;
mod instructions;
mod latency;
mod live;
mod machine;
mod mcp;
mod mcp_clients;
mod peers;
mod ready_terms;
mod regex;
mod search;
mod shipped_build;
mod speed;
mod table;
mod vectors;

use std::process::ExitCode;

use anyhow::{Result, bail};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs one benchmark; `false` when it ran and something failed.
fn run(arguments: &[String]) -> Result<bool> {
    let Some((name, rest)) = arguments.split_first() else {
        bail!("no benchmark given; `cargo xtask help` lists them");
    };
    match name.as_str() {
        "main" => speed::run(rest),
        "search" => search::run(rest),
        "vectors" => vectors::run(rest),
        "fields" => speed::fields::run(rest),
        "live" => live::run(rest),
        "growth" => growth::run(rest),
        "slips" => speed::slips::run(rest),
        "regex" => regex::run(rest),
        "c" => c::run(rest),
        "mcp" => mcp::run(rest),
        "instructions" => instructions::run(rest),
        "mcp-clients" => mcp_clients::run(rest),
        other => bail!(
            "no benchmark {other:?}; there are main, search, vectors, fields, live, growth, slips, regex, c, mcp and instructions"
        ),
    }
}
