//! The systems that are compared, how each is started, and what it answers.
//!
//! Each verb is a process of its own. Building may use all cores; what is timed runs on one core with
//! one thread, where the system has `taskset` and the libraries keep to their settings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use xtask::repository;

use crate::peers::{process, python};

/// A process that takes longer is ended, and its system named as missing: this long for every
/// [`LIMIT_CHUNKS`] chunks or part of them.
const LIMIT: Duration = Duration::from_secs(300);
const LIMIT_CHUNKS: usize = 200_000;

/// How a system is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    /// This program, which links the engine.
    Ours,
    /// `tools/bench/baselines`.
    Rust,
    /// A script of `tools/bench/baselines/python` and its variant.
    Python(&'static str, &'static str),
}

/// One system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct System {
    /// Short name for `--only`, and of its folder.
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) program: Program,
    /// The fullest mode that it has.
    pub(crate) mode: &'static str,
    /// What a reader of the figures must know.
    pub(crate) note: &'static str,
}

const BY_HAND: &str = "scores fused by minimum and maximum of both lists of 100";

/// All of them, kb first.
pub(crate) const SYSTEMS: [System; 10] = [
    System {
        id: "kb",
        name: "kb",
        program: Program::Ours,
        mode: "hybrid",
        note: "reads, cuts and embeds while it builds; embeds every query",
    },
    System {
        id: "tantivy",
        name: "tantivy",
        program: Program::Rust,
        mode: "keyword",
        note: "words only, from Rust; same terms as kb",
    },
    System {
        id: "faiss-flat",
        name: "FAISS flat f32",
        program: Program::Python("faiss_baseline.py", "flat"),
        mode: "semantic",
        note: "row numbers without texts; held in memory",
    },
    System {
        id: "faiss-sq8",
        name: "FAISS SQ8",
        program: Program::Python("faiss_baseline.py", "sq8"),
        mode: "semantic",
        note: "row numbers without texts; held in memory",
    },
    System {
        id: "faiss-hnsw",
        name: "FAISS HNSW32 SQ8",
        program: Program::Python("faiss_baseline.py", "hnsw"),
        mode: "semantic",
        note: "row numbers without texts; held in memory; efSearch 128",
    },
    System {
        id: "sqlite",
        name: "sqlite-vec + FTS5",
        program: Program::Python("sqlite_baseline.py", "vec+fts5"),
        mode: "hybrid",
        note: BY_HAND,
    },
    System {
        id: "lancedb-flat",
        name: "LanceDB, no vector index",
        program: Program::Python("lancedb_baseline.py", "flat"),
        mode: "hybrid",
        note: "its own English analyser; fused by its reciprocal ranks",
    },
    System {
        id: "lancedb",
        name: "LanceDB, default index",
        program: Program::Python("lancedb_baseline.py", "indexed"),
        mode: "hybrid",
        note: "IVF_PQ, bitmap indexes for filters; its own English analyser; reciprocal ranks",
    },
    System {
        id: "hand-sq8",
        name: "by hand: tantivy + FAISS SQ8 + SQLite",
        program: Program::Python("by_hand_baseline.py", "sq8"),
        mode: "hybrid",
        note: BY_HAND,
    },
    System {
        id: "hand-hnsw",
        name: "by hand: tantivy + FAISS HNSW + SQLite",
        program: Program::Python("by_hand_baseline.py", "hnsw"),
        mode: "hybrid",
        note: BY_HAND,
    },
];

/// Starts systems.
pub(crate) struct Runner {
    /// The exported collection.
    pub(crate) data: PathBuf,
    /// Where systems keep what they build.
    pub(crate) built: PathBuf,
    /// The .kb.
    pub(crate) file: PathBuf,
    limit: Duration,
    /// Where Python keeps what it compiled of the scripts.
    python_caches: PathBuf,
    python: PathBuf,
    rust: PathBuf,
    /// Whether what is timed is kept to one core.
    pub(crate) pinned: bool,
}

impl Runner {
    /// Makes room below `folder`; programs are built and installed by [`Runner::prepare`].
    pub(crate) fn new(folder: &Path, data: &Path, file: &Path, chunks: usize) -> Result<Runner> {
        let built = folder.join("built");
        if built.exists() {
            fs::remove_dir_all(&built)?;
        }
        fs::create_dir_all(&built)?;
        Ok(Runner {
            data: data.to_path_buf(),
            built,
            file: file.to_path_buf(),
            limit: LIMIT * u32::try_from(chunks / LIMIT_CHUNKS + 1)?,
            python_caches: folder.join("pycache"),
            python: python::program(&venv()),
            rust: repository::target()
                .join("bench-baselines/release")
                .join(format!(
                    "kb-bench-baselines{}",
                    std::env::consts::EXE_SUFFIX
                )),
            pinned: process::can_pin(),
        })
    }

    /// Compiles or installs what these systems need. What fails is told by the system that lacks it.
    pub(crate) fn prepare(&self, systems: &[System]) {
        let needs = |wanted: fn(Program) -> bool| systems.iter().any(|one| wanted(one.program));
        if needs(|program| program == Program::Rust)
            && let Err(error) = compile()
        {
            eprintln!("bench-baselines: {error:#}");
        }
        if needs(|program| matches!(program, Program::Python(..)))
            && let Err(error) = python::install(&python_folder().join("requirements.txt"), &venv())
        {
            eprintln!("python: {error:#}");
        }
    }

    fn command(&self, system: &System, verb: &str, words: &[&str]) -> Result<Command> {
        let one_core = verb != "build";
        let program = match system.program {
            Program::Ours => std::env::current_exe()?,
            Program::Rust => self.rust.clone(),
            Program::Python(..) => self.python.clone(),
        };
        let mut command = if one_core && self.pinned {
            process::on_core(&program, 0)
        } else {
            Command::new(program)
        };
        let folder = match system.program {
            Program::Ours => {
                command.args(["search", "--as-process"]);
                self.file.clone()
            }
            Program::Rust => self.built.join(system.id),
            Program::Python(script, variant) => {
                command.arg(python_folder().join(script)).arg(variant);
                self.built.join(system.id)
            }
        };
        command.arg(verb).arg(&self.data).arg(folder).args(words);
        command.env("PYTHONPYCACHEPREFIX", &self.python_caches);
        if one_core {
            command.envs(process::ONE_THREAD.map(|name| (name, "1")));
        }
        Ok(command)
    }

    /// Builds the index of a baseline; kb has been built by `kb index`.
    pub(crate) fn build(&self, system: &System) -> Result<Value> {
        self.run(system, "build", &[])
    }

    /// All modes and filters, warm.
    pub(crate) fn ask(&self, system: &System, seconds: f64) -> Result<Value> {
        self.run(system, "ask", &[&seconds.to_string()])
    }

    /// Opens and answers once in a fresh process: what it says, and the time of the whole process.
    pub(crate) fn first(&self, system: &System) -> Result<(Value, Duration)> {
        let mut command = self.command(system, "first", &[system.mode])?;
        let start = Instant::now();
        let output = command.stdin(Stdio::null()).output();
        let elapsed = start.elapsed();
        let output = output.with_context(|| format!("cannot start {command:?}"))?;
        if !output.status.success() {
            bail!(
                "{}",
                process::last_line(&String::from_utf8_lossy(&output.stderr))
            );
        }
        Ok((
            process::answer(&String::from_utf8_lossy(&output.stdout))?,
            elapsed,
        ))
    }

    fn run(&self, system: &System, verb: &str, words: &[&str]) -> Result<Value> {
        let mut command = self.command(system, verb, words)?;
        let name = format!("{}.{verb}", system.id);
        process::answer_of(&mut command, &self.built.join(name), self.limit)
            .context(verb.to_owned())
    }
}

fn compile() -> Result<()> {
    let manifest = repository::root().join("tools/bench/baselines/Cargo.toml");
    let mut command = repository::cargo(&["build", "--release", "--quiet", "--manifest-path"]);
    command.arg(manifest).arg("--target-dir");
    repository::run(command.arg(repository::target().join("bench-baselines")))
}

fn python_folder() -> PathBuf {
    repository::root().join("tools/bench/baselines/python")
}

fn venv() -> PathBuf {
    crate::corpus::bench_folder().join("venv")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_have_ids_of_their_own_and_scripts_that_exist() {
        let ids: std::collections::BTreeSet<_> = SYSTEMS.iter().map(|one| one.id).collect();
        assert_eq!(ids.len(), SYSTEMS.len());
        for system in SYSTEMS {
            if let Program::Python(script, variant) = system.program {
                let text = fs::read_to_string(python_folder().join(script)).unwrap();
                assert!(
                    text.contains(&format!("\"{variant}\": (")),
                    "{script} {variant}"
                );
            }
        }
    }
}
