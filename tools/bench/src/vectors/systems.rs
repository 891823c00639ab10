//! The systems that are compared, how each is started, and what it answers. Each verb is a process of
//! its own. Building may use all cores; what is timed runs on one core with one thread.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::scripts;
use super::sets::Data;
use crate::peers::process::{self, Started};

/// A process that takes longer is ended, and its system named as missing: this long, and this long for each
/// number of the rows.
const LIMIT: Duration = Duration::from_secs(900);
const LIMIT_PER_NUMBER: Duration = Duration::from_micros(8);

/// How long processes that answer at the same time may take to open their index and warm it.
const READY_LIMIT: Duration = Duration::from_secs(600);

/// Rows above which only some systems are asked: the others would take hours, or more memory than most
/// machines have.
pub(crate) const MANY_ROWS: usize = 2_000_000;

/// How a system is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    /// This program, which links the engine, and the variant.
    Ours(&'static str),
    /// A script of `tools/bench/baselines/python/vectors` and its variant.
    Python(&'static str, &'static str),
}

/// One system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct System {
    /// Short name for `--only`, and of its folder.
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) program: Program,
    /// What a reader of the figures must know.
    pub(crate) note: &'static str,
    /// Part of a short try.
    pub(crate) quick: bool,
    /// Asked above [`MANY_ROWS`] too.
    pub(crate) many: bool,
}

const fn peer(id: &'static str, name: &'static str, script: Program, note: &'static str) -> System {
    System {
        id,
        name,
        program: script,
        note,
        quick: false,
        many: false,
    }
}

const fn faiss(variant: &'static str) -> Program {
    Program::Python("faiss_peer.py", variant)
}

const fn graph(variant: &'static str) -> Program {
    Program::Python("graph_peer.py", variant)
}

const fn sqlite(variant: &'static str) -> Program {
    Program::Python("sqlite_vec_peer.py", variant)
}

const fn lancedb(variant: &'static str) -> Program {
    Program::Python("lancedb_peer.py", variant)
}

const fn zvec(variant: &'static str) -> Program {
    Program::Python("zvec_peer.py", variant)
}

impl System {
    const fn quick(self) -> System {
        System {
            quick: true,
            ..self
        }
    }

    const fn many(self) -> System {
        System { many: true, ..self }
    }

    pub(crate) fn is_ours(&self) -> bool {
        matches!(self.program, Program::Ours(_))
    }
}

/// All of them, ours first.
pub(crate) const SYSTEMS: [System; 18] = [
    peer(
        "kb-i8",
        "kb, signed bytes",
        Program::Ours("i8"),
        "mapped; inverted lists, then the best rows, or all rows",
    )
    .quick()
    .many(),
    peer(
        "kb-i4",
        "kb, nibbles",
        Program::Ours("i4"),
        "mapped; inverted lists, then the best rows, or all rows",
    )
    .many(),
    peer(
        "faiss-flat",
        "FAISS Flat",
        faiss("flat"),
        "held in memory; exact",
    )
    .quick(),
    peer("faiss-sq8", "FAISS SQ8", faiss("sq8"), "held in memory"),
    peer(
        "faiss-ivf-sq8",
        "FAISS IVF,SQ8",
        faiss("ivf-sq8"),
        "held in memory; 256, 1024 or 4096 lists by the number of rows",
    )
    .quick()
    .many(),
    peer(
        "faiss-ivf-pq-flat",
        "FAISS IVF,PQ fast-scan,RFlat",
        faiss("ivf-pq-flat"),
        "held in memory with the f32 rows; 4 bits for two numbers; lists as IVF,SQ8",
    ),
    peer(
        "faiss-ivf-pq-sq8",
        "FAISS IVF,PQ fast-scan,Refine(SQ8)",
        faiss("ivf-pq-sq8"),
        "held in memory; 4 bits for two numbers; lists as IVF,SQ8",
    )
    .many(),
    peer(
        "faiss-hnsw",
        "FAISS HNSW32",
        faiss("hnsw"),
        "held in memory with the f32 rows; efConstruction 128",
    ),
    peer(
        "hnswlib",
        "hnswlib",
        graph("hnswlib"),
        "held in memory with the f32 rows; M 16, ef_construction 128",
    )
    .quick(),
    peer(
        "usearch-f32",
        "usearch f32",
        graph("usearch-f32"),
        "mapped; connectivity 16, expansion_add 128",
    ),
    peer(
        "usearch-i8",
        "usearch i8",
        graph("usearch-i8"),
        "mapped; connectivity 16, expansion_add 128",
    ),
    peer(
        "sqlite-vec",
        "sqlite-vec float",
        sqlite("float"),
        "exact; reads its file anew for each query",
    )
    .quick(),
    peer(
        "sqlite-vec-int8",
        "sqlite-vec int8",
        sqlite("int8"),
        "all rows; quantised by the caller",
    ),
    peer(
        "sqlite-vec-bit",
        "sqlite-vec bit, then float",
        sqlite("bit"),
        "all sign bits, then the best rows again, in one statement",
    ),
    peer(
        "lancedb-ivf-pq",
        "LanceDB IVF_PQ",
        lancedb("ivf-pq"),
        "keeps the f32 rows beside; 8 bits for four numbers; lists as FAISS; `refine_factor`",
    ),
    peer(
        "lancedb-ivf-hnsw-sq",
        "LanceDB IVF_HNSW_SQ",
        lancedb("ivf-hnsw-sq"),
        "keeps the f32 rows beside; m 16, ef_construction 128; `refine_factor`",
    ),
    peer(
        "zvec-hnsw-i8",
        "zvec HNSW INT8",
        zvec("hnsw-i8"),
        "keeps the f32 rows beside; mapped; m 16, ef_construction 128; with its refiner and without",
    )
    .quick(),
    peer(
        "zvec-ivf-rabitq",
        "zvec IVF_RABITQ",
        zvec("ivf-rabitq"),
        "keeps the f32 rows beside; mapped; 7 bits; lists as FAISS; with its refiner and without",
    ),
];

/// Starts systems.
pub(crate) struct Runner {
    /// Where systems keep what they build.
    pub(crate) built: PathBuf,
    python: PathBuf,
    /// Whether what is timed is kept to one core.
    pub(crate) pinned: bool,
}

impl Runner {
    /// Makes room below `folder`; peers are installed by [`scripts::install`].
    pub(crate) fn new(folder: &Path) -> Result<Runner> {
        let built = folder.join("built");
        if built.exists() {
            fs::remove_dir_all(&built)?;
        }
        fs::create_dir_all(&built)?;
        Ok(Runner {
            built,
            python: scripts::python(),
            pinned: process::can_pin(),
        })
    }

    /// Where the index of a system lies.
    pub(crate) fn place(&self, system: &System) -> PathBuf {
        self.built.join(system.id)
    }

    /// A verb of a system; on the core with that number from the last one, if on one at all.
    fn command(
        &self,
        system: &System,
        data: &Data,
        verb: &str,
        words: &[String],
        core: Option<usize>,
    ) -> Result<Command> {
        let program = match system.program {
            Program::Ours(_) => std::env::current_exe()?,
            Program::Python(..) => self.python.clone(),
        };
        let mut command = match core {
            Some(core) if self.pinned => process::on_core(&program, core),
            _ => Command::new(program),
        };
        match system.program {
            Program::Ours(variant) => command.args(["vectors", "--as-process", variant]),
            Program::Python(script, variant) => {
                command.arg(scripts::folder().join(script)).arg(variant)
            }
        };
        command
            .arg(verb)
            .arg(&data.folder)
            .arg(self.place(system))
            .args(words);
        // Compiling its libraries would leave free memory behind, in which an index hides.
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        if core.is_some() {
            command.envs(process::ONE_THREAD.map(|name| (name, "1")));
        }
        Ok(command)
    }

    fn files(&self, system: &System, verb: &str) -> PathBuf {
        self.built.join(format!("{}.{verb}", system.id))
    }

    /// Builds the index: what the system says, and the most private memory that was seen.
    pub(crate) fn build(&self, system: &System, data: &Data) -> Result<(Value, u64)> {
        let mut command = self.command(system, data, "build", &[], None)?;
        command.stdin(Stdio::null());
        let started = Started::new(&mut command, &self.files(system, "build"))?;
        started.answer_and_peak(limit(data)).context("build")
    }

    /// All settings, warm.
    pub(crate) fn sweep(&self, system: &System, data: &Data, seconds: f64) -> Result<Value> {
        let words = [seconds.to_string()];
        let mut command = self.command(system, data, "sweep", &words, Some(0))?;
        process::answer_of(&mut command, &self.files(system, "sweep"), limit(data)).context("sweep")
    }

    /// Opens and answers in a fresh process, its files out of the cache of the system.
    pub(crate) fn cold(&self, system: &System, data: &Data, setting: usize) -> Result<Value> {
        forget(&self.place(system))?;
        let words = [setting.to_string()];
        let mut command = self.command(system, data, "cold", &words, Some(0))?;
        process::answer_of(&mut command, &self.files(system, "cold"), limit(data)).context("cold")
    }

    /// Queries per second of this many processes together, each on its own core.
    pub(crate) fn load(
        &self,
        system: &System,
        data: &Data,
        setting: usize,
        seconds: f64,
        processes: usize,
    ) -> Result<f64> {
        let words = [setting.to_string(), seconds.to_string()];
        let mut started = Vec::new();
        for number in 0..processes {
            let mut command = self.command(system, data, "load", &words, Some(number))?;
            command.stdin(Stdio::piped());
            let files = self.files(system, &format!("load-{number}"));
            started.push(Started::new(&mut command, &files)?);
        }
        for one in &mut started {
            one.ready(READY_LIMIT).context("load")?;
        }
        for one in &mut started {
            one.go();
        }
        let mut rate = 0.0;
        for one in started {
            let said = one.answer(limit(data)).context("load")?;
            let queries = said["queries"].as_f64().context("no queries")?;
            rate += queries / said["seconds"].as_f64().context("no time")?;
        }
        Ok(rate)
    }
}

fn limit(data: &Data) -> Duration {
    let numbers = (data.rows * data.dim) as f64;
    LIMIT + LIMIT_PER_NUMBER.mul_f64(numbers)
}

/// Takes the files of an index out of the cache of the system, where it can be told to.
fn forget(place: &Path) -> Result<()> {
    if place.is_dir() {
        for entry in fs::read_dir(place)? {
            forget(&entry?.path())?;
        }
        return Ok(());
    }
    let file = File::open(place)?;
    // Pages that are not on disk yet stay.
    file.sync_all()?;
    #[cfg(target_os = "linux")]
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
    Ok(())
}

/// The systems for sets of that size, or the named ones.
pub(crate) fn chosen(only: &[String], quick: bool) -> Result<Vec<System>> {
    for id in only {
        let known = || SYSTEMS.map(|system| system.id).join(", ");
        ensure!(
            SYSTEMS.iter().any(|system| system.id == id),
            "no system {id:?}; there are: {}",
            known()
        );
    }
    let wanted = |system: &System| {
        if only.is_empty() {
            system.quick || !quick
        } else {
            only.iter().any(|id| id == system.id)
        }
    };
    Ok(SYSTEMS.into_iter().filter(wanted).collect())
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
                let text = fs::read_to_string(scripts::folder().join(script)).unwrap();
                assert!(
                    text.contains(&format!("\"{variant}\": (")),
                    "{script} {variant}"
                );
            }
        }
    }

    #[test]
    fn systems_are_chosen_by_name_or_by_the_length_of_the_try() {
        let named = chosen(&["hnswlib".to_owned()], true).unwrap();
        assert_eq!(named.len(), 1);
        assert_eq!(chosen(&[], false).unwrap().len(), SYSTEMS.len());
        assert!(chosen(&[], true).unwrap().len() < SYSTEMS.len());
        let error = chosen(&["hnsw".to_owned()], false).unwrap_err();
        assert!(error.to_string().contains("hnswlib"), "{error}");
    }
}
