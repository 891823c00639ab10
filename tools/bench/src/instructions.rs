//! `cargo xtask bench instructions`: how many instructions the inner loops and whole searches take, counted by
//! valgrind, against `tests/bench-results/instructions.json`. Counts are the same on a busy machine,
//! but belong to one compiler and one kind of processor; elsewhere nothing is compared.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};
use xtask::repository;

/// A count may grow by this many parts in a hundred.
const TOLERANCE_PERCENT: u64 = 3;

/// Counts by bench.
type Counts = BTreeMap<String, u64>;

/// Counts, and what they hold for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Record {
    /// What `rustc --version` says.
    compiler: String,
    /// Processor family, and whether it has the vectors that kernels choose under valgrind.
    processor: String,
    counts: Counts,
}

/// Runs the verb; false when a count grew, or benches and counts do not match.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let update = match arguments {
        [] => false,
        [flag] if flag == "--update" => true,
        _ => bail!("bench instructions knows only --update"),
    };
    if let Some(reason) = missing_tool()? {
        println!("skipped: {reason}");
        return Ok(true);
    }
    let (compiler, processor) = (compiler()?, processor());
    let committed = if update {
        None
    } else {
        Some(Record::read(&fs::read_to_string(path())?)?)
    };
    if let Some(record) = &committed {
        for (committed, here) in [
            (&record.compiler, &compiler),
            (&record.processor, &processor),
        ] {
            if committed != here {
                println!("skipped: the committed counts are of {committed}, this is {here}");
                return Ok(true);
            }
        }
    }
    let counts = measure()?;
    let Some(committed) = committed else {
        let record = Record {
            compiler,
            processor,
            counts,
        };
        fs::write(path(), record.text()?)?;
        println!(
            "{} counts written to {}",
            record.counts.len(),
            path().display()
        );
        return Ok(true);
    };
    let (lines, passed) = compare(&committed.counts, &counts);
    println!("{lines}");
    Ok(passed)
}

fn path() -> PathBuf {
    repository::root().join("tests/bench-results/instructions.json")
}

impl Record {
    fn read(text: &str) -> Result<Record> {
        let value: Value = serde_json::from_str(text)?;
        let word = |field: &str| {
            let word = value[field].as_str().map(str::to_owned);
            word.with_context(|| format!("the committed counts have no {field}"))
        };
        let counts = value["instructions"].as_object();
        let counts = counts.context("the committed counts have no instructions")?;
        let counts = counts.iter().map(|(name, count)| {
            let count = count
                .as_u64()
                .with_context(|| format!("{name} has no count"))?;
            Ok((name.clone(), count))
        });
        Ok(Record {
            compiler: word("compiler")?,
            processor: word("processor")?,
            counts: counts.collect::<Result<_>>()?,
        })
    }

    fn text(&self) -> Result<String> {
        let value = json!({
            "compiler": self.compiler,
            "processor": self.processor,
            "instructions": self.counts,
        });
        Ok(serde_json::to_string_pretty(&value)? + "\n")
    }
}

/// Why nothing can be counted here, if so.
fn missing_tool() -> Result<Option<String>> {
    if !cfg!(target_os = "linux") || output(Command::new("valgrind").arg("--version")).is_none() {
        return Ok(Some("valgrind is not installed".to_owned()));
    }
    let lock = fs::read_to_string(repository::root().join("Cargo.lock"))?;
    let wanted = locked_version(&lock, "gungraun").context("Cargo.lock has no gungraun")?;
    let runner = output(Command::new("gungraun-runner").arg("--version")).unwrap_or_default();
    Ok((runner.split_whitespace().last() != Some(wanted))
        .then(|| format!("cargo install gungraun-runner --version {wanted} --locked was not run")))
}

/// The version of a package in a Cargo.lock.
fn locked_version<'l>(lock: &'l str, package: &str) -> Option<&'l str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name).skip(1);
    let version = lines.next()?.strip_prefix("version = \"")?;
    version.strip_suffix('"')
}

/// What a program prints; `None` when it cannot be started or fails.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

fn compiler() -> Result<String> {
    let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = output(Command::new(program).arg("--version"));
    version.context("cannot start rustc")
}

/// Kernels are chosen when a program runs; valgrind knows no vectors of 512 bits.
fn processor() -> String {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        return "x86_64 with avx2".to_owned();
    }
    std::env::consts::ARCH.to_owned()
}

fn measure() -> Result<Counts> {
    let output = repository::cargo(&[
        "bench",
        "--quiet",
        "--package",
        "kb-engine",
        // Grammars and readers of PDF, which take most of a build, are in none of these benches.
        "--no-default-features",
        "--bench",
        "instructions",
        "--",
        "--output-format=json",
    ])
    .stderr(Stdio::inherit())
    .output()
    .context("cannot start cargo")?;
    if !output.status.success() {
        bail!("the benches ended with {}", output.status);
    }
    let counts = parse(&String::from_utf8_lossy(&output.stdout))?;
    if counts.is_empty() {
        bail!("the benches counted nothing");
    }
    Ok(counts)
}

/// One object a line, one line a bench.
fn parse(lines: &str) -> Result<Counts> {
    let objects = lines.lines().filter(|line| line.starts_with('{'));
    objects
        .map(|line| {
            let value: Value = serde_json::from_str(line)?;
            let word = |field: &str| {
                let word = value[field].as_str();
                word.with_context(|| format!("a bench says no {field}"))
            };
            let name = format!(
                "{}/{} {}",
                word("group")?,
                word("function_name")?,
                word("id")?
            );
            let count = value.pointer("/profiles/0/data/total/metrics/Ir/values/new");
            let count = count.and_then(Value::as_u64);
            let count = count.ok_or_else(|| anyhow!("{name} has no count of instructions"))?;
            Ok((name, count))
        })
        .collect()
}

/// A line for each bench, and whether none grew too much and all are in both.
fn compare(committed: &Counts, counts: &Counts) -> (String, bool) {
    let mut lines = Vec::new();
    let mut passed = true;
    for (name, now) in counts {
        let Some(before) = committed.get(name) else {
            passed = false;
            lines.push(format!(
                "{name}: {now}, no committed count: run with --update"
            ));
            continue;
        };
        let change = (*now as f64 / *before as f64 - 1.0) * 100.0;
        let grew = now.saturating_mul(100) > before.saturating_mul(100 + TOLERANCE_PERCENT);
        passed &= !grew;
        let word = if grew { "  GREW" } else { "" };
        lines.push(format!(
            "{name}: {now}, was {before} ({change:+.1} %){word}"
        ));
    }
    for name in committed.keys().filter(|name| !counts.contains_key(*name)) {
        passed = false;
        lines.push(format!("{name}: is gone: run with --update"));
    }
    (lines.join("\n"), passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(of: &[(&str, u64)]) -> Counts {
        let of = of.iter();
        of.map(|(name, count)| ((*name).to_owned(), *count))
            .collect()
    }

    #[test]
    fn only_growth_beyond_the_tolerance_and_missing_benches_fail() {
        let committed = counts(&[("a", 1000), ("b", 2000)]);
        let passes = |of: &[(&str, u64)]| compare(&committed, &counts(of)).1;
        assert!(passes(&[("a", 1030), ("b", 20)]));
        assert!(!passes(&[("a", 1031), ("b", 2000)]));
        assert!(!passes(&[("a", 1000)]));
        assert!(!passes(&[("a", 1000), ("b", 2000), ("c", 1)]));
    }

    #[test]
    fn a_record_reads_back() {
        let record = Record {
            compiler: "rustc 1".to_owned(),
            processor: "x86_64".to_owned(),
            counts: counts(&[("text/a b", 7)]),
        };
        assert_eq!(Record::read(&record.text().unwrap()).unwrap(), record);
        assert!(Record::read("{}").is_err());
    }

    #[test]
    fn counts_are_found_in_what_the_runner_prints() {
        let line = r#"{"group":"text","function_name":"f","id":"x","profiles":
            [{"data":{"total":{"metrics":{"Ir":{"values":{"new":9,"old":8}}}}}}]}"#;
        let line = line.replace('\n', "");
        assert_eq!(parse(&line).unwrap(), counts(&[("text/f x", 9)]));
        assert!(parse("{}").is_err());
    }

    #[test]
    fn the_locked_version_is_that_of_the_whole_name() {
        let lock = "name = \"ab-c\"\nversion = \"1.0.0\"\n\nname = \"ab\"\nversion = \"2.0.1\"\n";
        assert_eq!(locked_version(lock, "ab"), Some("2.0.1"));
        assert_eq!(locked_version(lock, "b"), None);
    }
}
