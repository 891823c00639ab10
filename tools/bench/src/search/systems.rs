//! The systems that are compared, how each is started, and what it answers.
//!
//! Each verb is a process of its own. Building may use all cores; what is timed runs on one core with
//! one thread, where the system has `taskset` and the libraries keep to their settings.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;
use xtask::repository;

/// A process that takes longer is ended, and its system named as missing: so long for every
/// [`LIMIT_CHUNKS`] chunks or part of them.
const LIMIT: Duration = Duration::from_secs(300);
const LIMIT_CHUNKS: usize = 200_000;

/// One core and one thread, in every way that a library may be told.
const ONE_THREAD: [&str; 6] = [
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "TOKIO_WORKER_THREADS",
    "LANCE_CPU_THREADS",
    "LANCE_IO_THREADS",
];

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
        let taskset = Command::new("taskset").arg("-V").output();
        Ok(Runner {
            data: data.to_path_buf(),
            built,
            file: file.to_path_buf(),
            limit: LIMIT * u32::try_from(chunks / LIMIT_CHUNKS + 1)?,
            python: venv_python(),
            rust: repository::target()
                .join("bench-baselines/release")
                .join(format!(
                    "kb-bench-baselines{}",
                    std::env::consts::EXE_SUFFIX
                )),
            pinned: taskset.is_ok_and(|output| output.status.success()),
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
            && let Err(error) = install()
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
            let core = thread::available_parallelism().map_or(0, |cores| cores.get() - 1);
            let mut command = Command::new("taskset");
            command.args(["-c", &core.to_string()]).arg(program);
            command
        } else {
            Command::new(program)
        };
        let folder = match system.program {
            Program::Ours => {
                command.args(["search", "--as-process"]);
                self.file.clone()
            }
            Program::Rust => {
                command.arg("search");
                self.built.join(system.id)
            }
            Program::Python(script, variant) => {
                command.arg(python_folder().join(script)).arg(variant);
                self.built.join(system.id)
            }
        };
        command.arg(verb).arg(&self.data).arg(folder).args(words);
        let caches = super::folder().join("pycache");
        command.env("PYTHONPYCACHEPREFIX", caches);
        if one_core {
            command.envs(ONE_THREAD.map(|name| (name, "1")));
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
            bail!("{}", last_line(&String::from_utf8_lossy(&output.stderr)));
        }
        Ok((answer(&String::from_utf8_lossy(&output.stdout))?, elapsed))
    }

    fn run(&self, system: &System, verb: &str, words: &[&str]) -> Result<Value> {
        let mut command = self.command(system, verb, words)?;
        // Files instead of pipes: nobody has to read while the process is waited for.
        let said = self.built.join(format!("{}.{verb}.json", system.id));
        let complained = self.built.join(format!("{}.{verb}.log", system.id));
        let mut child = command
            .stdin(Stdio::null())
            .stdout(File::create(&said)?)
            .stderr(File::create(&complained)?)
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let end = Instant::now() + self.limit;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if Instant::now() > end {
                child.kill()?;
                child.wait()?;
                bail!("{verb} took longer than {} s", self.limit.as_secs());
            }
            thread::sleep(Duration::from_millis(20));
        };
        if !status.success() {
            let log = fs::read_to_string(&complained).unwrap_or_default();
            bail!("{verb} ended with {status}: {}", last_line(&log));
        }
        answer(&fs::read_to_string(&said)?)
    }
}

/// What a system printed: the last line, because a library may print before.
fn answer(output: &str) -> Result<Value> {
    let line = output.lines().next_back().unwrap_or_default();
    serde_json::from_str(line).map_err(|error| anyhow!("no answer but {line:?}: {error}"))
}

fn last_line(log: &str) -> &str {
    let mut lines = log.lines().map(str::trim);
    lines
        .rfind(|line| !line.is_empty())
        .unwrap_or("it said nothing")
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

fn venv_python() -> PathBuf {
    let program = if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    };
    venv().join(program)
}

/// Makes the virtual environment, unless it already has what `requirements.txt` lists. A package that
/// cannot be had does not keep the others away.
fn install() -> Result<()> {
    let list = python_folder().join("requirements.txt");
    let wanted = fs::read_to_string(&list)?;
    // Written last: an installation that failed has none.
    let stamp = venv().join("requirements.txt");
    if fs::read_to_string(&stamp).ok().as_deref() == Some(wanted.as_str()) {
        return Ok(());
    }
    let python = if cfg!(windows) { "python" } else { "python3" };
    repository::run(Command::new(python).args(["-m", "venv"]).arg(venv()))?;
    let pip = || {
        let mut command = Command::new(venv_python());
        command.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]);
        command
    };
    eprintln!("installing {} into {}", list.display(), venv().display());
    if repository::run(pip().arg("-r").arg(&list)).is_err() {
        let packages = wanted.lines().filter(|line| !line.starts_with('#'));
        for package in packages.filter(|line| !line.trim().is_empty()) {
            repository::run(pip().arg(package))
                .unwrap_or_else(|error| eprintln!("{package}: {error:#}"));
        }
        return Ok(());
    }
    Ok(fs::write(stamp, wanted)?)
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

    #[test]
    fn every_requirement_is_pinned() {
        let list = fs::read_to_string(python_folder().join("requirements.txt")).unwrap();
        let packages = list.lines().filter(|line| !line.starts_with('#'));
        assert!(packages.clone().count() > 3);
        assert!(packages.into_iter().all(|line| line.contains("==")));
    }

    #[test]
    fn the_last_line_is_what_a_system_says() {
        assert_eq!(answer("warning\n{\"a\":1}\n").unwrap()["a"], 1);
        assert!(answer("").is_err() && answer("Traceback").is_err());
        assert_eq!(last_line("a\nImportError: b \n\n"), "ImportError: b");
        assert_eq!(last_line(""), "it said nothing");
    }
}
