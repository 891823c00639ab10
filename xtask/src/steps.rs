//! A list of commands run one after the other, and the line that sums them up.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};
use xtask::repository;

/// One command of a verb.
pub(crate) struct Step {
    /// One word for the summary.
    pub(crate) name: &'static str,
    /// Arguments of cargo.
    pub(crate) arguments: Vec<&'static str>,
    /// One environment variable to set.
    pub(crate) variable: Option<(&'static str, &'static str)>,
    /// Program that must be installed; without it the step is skipped with a word.
    pub(crate) needs: Option<&'static str>,
}

impl Step {
    /// A step that needs nothing but cargo; its arguments in groups.
    pub(crate) fn cargo(name: &'static str, arguments: &[&[&'static str]]) -> Step {
        Step {
            name,
            arguments: arguments.concat(),
            variable: None,
            needs: None,
        }
    }
}

/// What the steps came to.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    passed_tests: u64,
    failed_tests: u64,
    failed_steps: Vec<&'static str>,
}

impl Summary {
    /// Whether nothing failed.
    pub(crate) fn is_good(&self) -> bool {
        self.failed_steps.is_empty() && self.failed_tests == 0
    }
}

/// Runs all steps, also after one failed, and prints the summary last.
pub(crate) fn run_all(steps: &[Step]) -> Result<bool> {
    let mut summary = Summary::default();
    for step in steps {
        run_one(step, &mut summary)?;
    }
    print_summary(steps.len(), &summary);
    Ok(summary.is_good())
}

fn run_one(step: &Step, summary: &mut Summary) -> Result<()> {
    if let Some(program) = step.needs
        && !is_installed(program)
    {
        println!("--- {}: skipped, {program} is not installed", step.name);
        return Ok(());
    }
    println!("--- {}: cargo {}", step.name, step.arguments.join(" "));
    let start = Instant::now();
    let mut command = repository::cargo(&step.arguments);
    if let Some((name, value)) = step.variable {
        command.env(name, value);
    }
    let good = run_counting(&mut command, summary)?;
    if !good {
        summary.failed_steps.push(step.name);
    }
    let word = if good { "ok" } else { "FAILED" };
    println!(
        "--- {}: {word} in {:.1} s",
        step.name,
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Runs the command, passes its output on and adds up the closing lines of test binaries.
fn run_counting(command: &mut Command, summary: &mut Summary) -> Result<bool> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {command:?}"))?;
    if let Some(output) = child.stdout.take() {
        let mut reader = BufReader::new(output);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            let text = String::from_utf8_lossy(&line);
            print!("{text}");
            if let Some((passed, failed)) = closing_line(&text) {
                summary.passed_tests += passed;
                summary.failed_tests += failed;
            }
            line.clear();
        }
    }
    Ok(child.wait()?.success())
}

/// Passed and failed tests of a line like `test result: ok. 12 passed; 0 failed; ...`.
fn closing_line(line: &str) -> Option<(u64, u64)> {
    let rest = line.trim().strip_prefix("test result: ")?;
    let count_before = |word: &str| {
        let before = rest.split(word).next()?.trim_end();
        before
            .rsplit(|c: char| !c.is_ascii_digit())
            .next()?
            .parse()
            .ok()
    };
    Some((count_before(" passed")?, count_before(" failed")?))
}

fn is_installed(program: &str) -> bool {
    let mut command = Command::new(program);
    command
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn print_summary(steps: usize, summary: &Summary) {
    println!();
    if summary.failed_steps.is_empty() {
        println!("all {steps} steps ended well");
    } else {
        println!("failed steps: {}", summary.failed_steps.join(", "));
    }
    // A failed step without a failed test counts as one failure, so that 0 means that all is well.
    let failed = summary.failed_tests.max(summary.failed_steps.len() as u64);
    println!("{} passed, {failed} failed", summary.passed_tests);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_line_of_a_test_binary_is_counted() {
        let line = "test result: ok. 12 passed; 3 failed; 1 ignored; 0 measured; finished in 0.1s";
        assert_eq!(closing_line(line), Some((12, 3)));
        assert_eq!(
            closing_line("test result: FAILED. 0 passed; 1 failed; 0 ignored"),
            Some((0, 1))
        );
    }

    #[test]
    fn other_lines_are_not_counted() {
        assert_eq!(closing_line("running 3 tests"), None);
        assert_eq!(closing_line("test a::b ... 5 passed; 0 failed"), None);
        assert_eq!(closing_line("test result: unreadable"), None);
    }
}
