//! `cargo xtask quick`: format, clippy and unit tests of what changed, for the loop after each edit.
//!
//! The tests are those of the folders of sources that changed: all unit tests of the engine take longer, unoptimised,
//! than everything else together. `--whole` runs all of the crates that changed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use xtask::repository::root;

use crate::steps::{self, Step};

/// Crates that take longer to check than the loop may: only named, `cargo xtask check` reads them.
const OUTSIDE: [&str; 1] = ["tools/bench/baselines"];

/// Runs the verb: `quick [--whole] [--since REVISION]`.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let (is_whole, rest) = match arguments {
        [flag, rest @ ..] if flag == "--whole" => (true, rest),
        rest => (false, rest),
    };
    let since = match rest {
        [] => "HEAD",
        [flag, revision] if flag == "--since" => revision,
        _ => bail!("quick knows --whole and --since REVISION"),
    };
    let start = Instant::now();
    let mut change = Change::since(since)?;
    if is_whole {
        change.rooms.clear();
    }
    change.print(since);
    if change.crates.is_empty() {
        return Ok(true);
    }
    let good = steps::run_all(&change.steps())?;
    let wall = start.elapsed().as_secs_f64();
    match processor_seconds() {
        Some(seconds) => println!("{seconds:.1} s of processor time, {wall:.1} s in all"),
        None => println!("{wall:.1} s in all"),
    }
    Ok(good)
}

/// The crates and rooms with edits since a revision, which decide what is checked.
#[derive(Debug, Default, PartialEq, Eq)]
struct Change {
    /// Names of the packages whose files changed.
    crates: BTreeSet<String>,
    /// The modules of the folders of their sources that changed, such as `search::rank`; none of a crate whose root
    /// changed.
    rooms: BTreeSet<String>,
    /// Whether a line with `pub` was added or removed: crates that depend on these may not compile any more.
    is_public: bool,
    /// Whether a file below `tests/` changed: they are one large target, which this verb does not build.
    has_tests: bool,
    /// How many files changed that are in no crate.
    others: usize,
}

impl Change {
    /// Everything between a revision and the files on disk, with files that git does not know yet.
    fn since(revision: &str) -> Result<Change> {
        let edited = git(&["diff", "--name-only", "--no-renames", revision, "--"])?;
        let new = git(&["ls-files", "--others", "--exclude-standard"])?;
        let mut change = Change {
            is_public: has_public_line(&git(&["diff", "--unified=0", revision, "--", "*.rs"])?),
            ..Change::default()
        };
        for path in edited.lines().chain(new.lines()) {
            change.add(path);
        }
        Ok(change)
    }

    fn add(&mut self, path: &str) {
        if OUTSIDE.iter().any(|folder| path.starts_with(folder)) {
            return;
        }
        if path.starts_with("tests/") {
            self.has_tests |= path.ends_with(".rs");
            return;
        }
        match package_of(path) {
            Some(name) if !path.ends_with(".md") => {
                self.crates.insert(name);
                self.rooms.insert(room_of(path));
            }
            _ => self.others += 1,
        }
    }

    fn print(&self, since: &str) {
        let names: Vec<&str> = self.crates.iter().map(String::as_str).collect();
        match names.as_slice() {
            [] => println!("no crate changed since {since}"),
            names => println!("changed since {since}: {}", names.join(", ")),
        }
        if self.others > 0 {
            println!("{} files outside of crates are not looked at", self.others);
        }
        if self.has_tests {
            println!("run changed tests yourself: cargo test -p kb-cli --test tests NAME");
        }
    }

    fn steps(&self) -> Vec<Step> {
        let packages = self.packages();
        let mut steps = vec![
            Step::cargo("format", &[&["fmt", "--check"], &packages]),
            Step::cargo(
                "clippy",
                &[
                    &["clippy", "--quiet"],
                    &packages,
                    // Benches and examples are targets of their own: `cargo xtask check` reads them.
                    &[
                        "--lib",
                        "--bins",
                        "--profile",
                        "test",
                        "--",
                        "-D",
                        "warnings",
                    ],
                ],
            ),
        ];
        if self.is_public {
            steps.push(self.dependents());
        }
        let rooms = self.filters();
        let rooms: &[&[&str]] = &[&["--"], &rooms];
        steps.push(Step::cargo(
            "tests",
            &[
                &["test", "--quiet"],
                &packages,
                &["--lib", "--bins"],
                &rooms.concat(),
            ],
        ));
        // Compiled sooner than the tests of one crate would run faster.
        for step in &mut steps {
            step.variable = Some(("CARGO_PROFILE_DEV_OPT_LEVEL", "0"));
        }
        steps
    }

    /// What the names of tests begin with; nothing for all tests.
    fn filters(&self) -> Vec<&str> {
        if self.rooms.contains("") {
            return Vec::new();
        }
        self.rooms.iter().map(String::as_str).collect()
    }

    fn packages(&self) -> Vec<&str> {
        let flags = self.crates.iter().flat_map(|name| ["--package", name]);
        flags.collect()
    }

    /// Whether the command, which has all other crates below it, still compiles.
    fn dependents(&self) -> Step {
        Step::cargo(
            "dependents",
            &[&["check", "--quiet", "--package", "kb-cli"]],
        )
    }
}

/// The module of the folder that a source file is in, as names of tests begin: `search::rank::`. Empty for the root of
/// a crate and for what is no source file.
fn room_of(path: &str) -> String {
    let Some((_, path)) = path.split_once("/src/") else {
        return String::new();
    };
    match path.rsplit_once('/') {
        Some((folder, _)) => format!("{}::", folder.replace('/', "::")),
        None => match path.strip_suffix(".rs") {
            Some("lib" | "main") | None => String::new(),
            Some(file) => format!("{file}::"),
        },
    }
}

/// The package that a file belongs to: that of the nearest manifest above it.
fn package_of(path: &str) -> Option<String> {
    let mut folder = Path::new(path).parent()?;
    while folder != Path::new("") {
        if let Ok(manifest) = fs::read_to_string(root().join(folder).join("Cargo.toml")) {
            return name_in(&manifest);
        }
        folder = folder.parent()?;
    }
    None
}

/// The name in the section `[package]` of a manifest.
fn name_in(manifest: &str) -> Option<String> {
    let (_, package) = manifest.split_once("[package]")?;
    let line = package.lines().find(|line| line.starts_with("name = "))?;
    Some(line.split('"').nth(1)?.to_owned())
}

/// Whether a difference adds or removes a line that says `pub`, other than to a room of the same crate.
fn has_public_line(diff: &str) -> bool {
    let mut lines = diff
        .lines()
        .filter(|line| !line.starts_with("+++") && !line.starts_with("---"))
        .filter_map(|line| line.strip_prefix(['+', '-']));
    lines.any(|line| line.trim_start().starts_with("pub "))
}

fn git(arguments: &[&str]) -> Result<String> {
    let mut command = Command::new("git");
    let output = command.args(arguments).current_dir(root()).output();
    let output = output.context("git is needed to see what changed")?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Seconds of processor time of all commands that this process has waited for; `None` where the system does not say.
fn processor_seconds() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    children_seconds(&text)
}

/// User and system time of children in a line of `/proc/PID/stat`: fields 16 and 17, in hundredths of a second.
fn children_seconds(stat: &str) -> Option<f64> {
    // The second field is a name in brackets, which may hold spaces.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(13);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some((user + system) as f64 / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_belongs_to_the_nearest_manifest() {
        assert_eq!(package_of("xtask/src/quick.rs").as_deref(), Some("xtask"));
        assert_eq!(
            package_of("tools/header/src/main.rs").as_deref(),
            Some("kb-header")
        );
        assert_eq!(package_of("docs/search.md"), None);
        assert_eq!(package_of("Cargo.toml"), None);
    }

    #[test]
    fn a_room_is_the_folder_of_a_source_file() {
        assert_eq!(
            room_of("engine/src/search/rank/scored.rs"),
            "search::rank::"
        );
        assert_eq!(room_of("engine/src/search/mod.rs"), "search::");
        assert_eq!(room_of("xtask/src/quick.rs"), "quick::");
        assert_eq!(room_of("engine/src/lib.rs"), "");
        assert_eq!(room_of("engine/Cargo.toml"), "");
    }

    #[test]
    fn pages_and_tests_are_no_change_of_a_crate() {
        let mut change = Change::default();
        for path in [
            "README.md",
            "python/README.md",
            "tests/cli.rs",
            "tests/golden/x.json",
        ] {
            change.add(path);
        }
        assert_eq!(change.crates.len(), 0);
        assert_eq!(change.others, 2);
        assert!(change.has_tests);
    }

    #[test]
    fn only_public_lines_reach_other_crates() {
        assert!(has_public_line(
            "--- a/x.rs\n+++ b/x.rs\n+    pub fn f() {}\n"
        ));
        assert!(!has_public_line(
            "+    pub(crate) fn f() {}\n-    let public = 1;\n pub fn f() {}\n"
        ));
    }

    #[test]
    fn the_time_of_children_is_read() {
        let stat = "1 (a) b) S 0 1 1 0 -1 4194560 1 2 3 4 5 6 700 50 20 0 1 0";
        assert_eq!(children_seconds(stat), Some(7.5));
    }
}
