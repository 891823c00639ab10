//! Flags of `kb bench`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use kb_engine::{K_LIMIT, Mode};

use super::flags::{FileOperand, JsonFlag, modes};

/// Maximum number of queries of one run.
const NUMBER_LIMIT: usize = 100_000;

/// Measure how fast a .kb file answers on this machine
///
/// Runs queries drawn from the file itself, the same ones each time. Shows the latency in each search mode and of every
/// step. Also shows how fast this machine reads the stored vectors, and how close an exact scan comes to that limit, and
/// the private memory and page faults of the process. Nothing is written; the file may be read-only.
#[derive(Debug, Args)]
#[command(after_help = BENCH_EXAMPLES)]
pub(crate) struct BenchArguments {
    #[command(flatten)]
    pub(crate) file: FileOperand,

    /// Maximum number of queries
    #[arg(short, value_name = "N", default_value_t = 100, value_parser = number)]
    pub(crate) number: usize,

    /// Results per query
    #[arg(short, value_name = "K", default_value_t = 10, value_parser = answers)]
    pub(crate) k: usize,

    /// Only this mode (repeatable) [default: hybrid, semantic and keyword]
    #[arg(long, value_name = "MODE", value_parser = modes())]
    pub(crate) mode: Vec<Mode>,

    /// Read queries from this file, one per line; blank lines and lines that begin with # are skipped
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) queries: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

const BENCH_EXAMPLES: &str = "\
Examples:
  kb bench notes.kb                     every mode, 100 queries drawn from the file
  kb bench notes.kb -n 1000 --mode hybrid
  kb bench notes.kb --queries asked.txt --json | jq '.modes[] | {mode, p50_us}'

To compare two files or two versions of kb, run them one after the other on a quiet machine. Other
busy processes make every figure worse.";

fn number(text: &str) -> Result<usize, String> {
    within(text, NUMBER_LIMIT)
}

fn answers(text: &str) -> Result<usize, String> {
    within(text, K_LIMIT)
}

fn within(text: &str, most: usize) -> Result<usize, String> {
    let number = text.parse().ok();
    number
        .filter(|number| (1..=most).contains(number))
        .ok_or_else(|| format!("expected a number from 1 to {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_limits() {
        assert_eq!(number("1"), Ok(1));
        assert_eq!(answers("10000"), Ok(10_000));
        for wrong in ["0", "-1", "x", "", "100001", "99999999999999999999"] {
            assert!(number(wrong).is_err(), "{wrong:?}");
        }
        assert!(answers("10001").is_err());
    }
}
