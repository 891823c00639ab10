//! The `kb` command: parse, run, exit status. Everything else is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    kb_cli::run(std::env::args_os())
}
