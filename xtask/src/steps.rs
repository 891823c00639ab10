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
    pub(crate) arguments: Vec<String>,
    /// One environment variable to set.
    pub(crate) variable: Option<(&'static str, &'static str)>,
    /// Program that must be installed; without it the step is skipped with a word.
    pub(crate) needs: Option<&'static str>,
}

impl Step {
    /// A step that needs nothing but cargo; its arguments in groups.
    pub(crate) fn cargo(name: &'static str, arguments: &[&[&str]]) -> Step {
        let arguments = arguments.concat();
        Step {
            name,
            arguments: arguments.into_iter().map(str::to_owned).collect(),
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

    /// Whether a test passed.
    pub(crate) fn has_tests(&self) -> bool {
        self.passed_tests > 0
    }

    /// Notes a step that failed.
    pub(crate) fn fail(&mut self, name: &'static str) {
        self.failed_steps.push(name);
    }

    /// Runs a command that is no cargo, as a step of that name.
    pub(crate) fn count(&mut self, name: &'static str, command: &mut Command) -> Result<()> {
        println!("--- {name}");
        let start = Instant::now();
        let good = run_counting(command, self)?;
        if !good {
            self.fail(name);
        }
        print_end(name, good, start);
        Ok(())
    }
}

/// Runs all steps, also after one failed, and prints the summary last.
pub(crate) fn run_all(steps: &[Step]) -> Result<bool> {
    run_with(steps, |_| Ok(()))
}

/// The same, with what is no cargo command after the steps.
pub(crate) fn run_with(
    steps: &[Step],
    more: impl FnOnce(&mut Summary) -> Result<()>,
) -> Result<bool> {
    let mut summary = Summary::default();
    for step in steps {
        run_one(step, &mut summary)?;
    }
    more(&mut summary)?;
    print_summary(&summary);
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
    let arguments: Vec<&str> = step.arguments.iter().map(String::as_str).collect();
    let mut command = repository::cargo(&arguments);
    if let Some((name, value)) = step.variable {
        command.env(name, value);
    }
    let good = run_counting(&mut command, summary)?;
    if !good {
        summary.fail(step.name);
    }
    print_end(step.name, good, start);
    Ok(())
}

fn print_end(name: &str, good: bool, start: Instant) {
    let word = if good { "ok" } else { "FAILED" };
    let seconds = start.elapsed().as_secs_f64();
    println!("--- {name}: {word} in {seconds:.1} s");
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

/// Passed and failed tests of a line like `test result: ok. 12 passed; 0 failed; ...`, or that of pytest.
fn closing_line(line: &str) -> Option<(u64, u64)> {
    let Some(rest) = line.trim().strip_prefix("test result: ") else {
        return closing_line_of_pytest(line);
    };
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

/// Passed and failed tests of a line like `1 failed, 12 passed, 3 skipped in 4.56s`, with or without a frame of `=`.
fn closing_line_of_pytest(line: &str) -> Option<(u64, u64)> {
    let (counts, time) = line.trim().trim_matches(['=', ' ']).rsplit_once(" in ")?;
    let has_time = time.split('s').next()?.parse::<f64>().is_ok();
    let (mut passed, mut failed) = (None, 0);
    for count in counts.split(", ") {
        let (number, word) = count.split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        match word {
            "passed" => passed = Some(number),
            "failed" | "error" | "errors" => failed += number,
            "skipped" | "warning" | "warnings" | "deselected" | "xfailed" | "xpassed" => {}
            _ => return None,
        }
    }
    (has_time && (passed.is_some() || failed > 0)).then_some((passed.unwrap_or(0), failed))
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

fn print_summary(summary: &Summary) {
    println!();
    if summary.failed_steps.is_empty() {
        println!("all steps ended well");
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
    fn the_closing_line_of_pytest_is_counted() {
        for (line, counts) in [
            ("12 passed in 4.56s", (12, 0)),
            (
                "===== 1 failed, 11 passed, 2 skipped in 61.20s (0:01:01) =====",
                (11, 1),
            ),
            ("2 failed, 1 error in 0.10s", (0, 3)),
        ] {
            assert_eq!(closing_line(line), Some(counts), "{line}");
        }
        for line in [
            "2 files in 3s",
            "no tests ran in 0.01s",
            "12 passed in a row",
            "3 skipped in 0.1s",
        ] {
            assert_eq!(closing_line(line), None, "{line}");
        }
    }

    #[test]
    fn other_lines_are_not_counted() {
        assert_eq!(closing_line("running 3 tests"), None);
        assert_eq!(closing_line("test a::b ... 5 passed; 0 failed"), None);
        assert_eq!(closing_line("test result: unreadable"), None);
    }
}
