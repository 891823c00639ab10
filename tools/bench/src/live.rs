//! `cargo xtask bench live`: what changes cost a file of 100 000 chunks, what reading beside a writer
//! costs, and what opening, verifying and sealing take. No baseline: none has such a file.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use kb_engine::{
    IndexOptions, Kb, KbWriter, Progress, Request, SealOptions, VerifyOptions, document_of,
};
use xtask::repository;

use crate::latency::Summary;
use crate::table::Table;
use crate::{child, corpus, shipped_build};

/// Changes of one file.
const CHANGES: usize = 40;

/// Requests that are timed beside a writer and alone.
const REQUESTS: usize = 600;

/// Copies of the corpus in the large file.
const COPIES: usize = 13;

/// Runs the verb; `--large` adds the file of 1 GB.
pub(super) fn run(arguments: &[String]) -> Result<bool> {
    if let [role, file] = arguments
        && role == "--writer"
    {
        return write_five_times_a_second(Path::new(file));
    }
    let is_large = match arguments {
        [] => false,
        [one] if one == "--large" => true,
        other => bail!("bench live does not know {other:?}"),
    };
    let parts = corpus::fetch()?;
    shipped_build::build()?;
    let folders: Vec<PathBuf> = parts.iter().map(|part| part.folder.clone()).collect();
    let bench = corpus::bench_folder();
    let mut table = Table::default();
    nothing_changed(&mut table, &bench.join("live-part1.kb"), &folders[..1])?;
    let file = bench.join("live.kb");
    shipped_build::index_anew(&file, &folders)?;
    one_file_changed(&mut table, &file, &folders)?;
    beside_a_writer(&mut table, &file)?;
    verify(&mut table, "verify", &file)?;
    seal(&mut table, &file)?;
    if is_large {
        large(&mut table, &folders)?;
    }
    table.write(
        "live",
        "A file that changes",
        "cargo xtask bench live --large",
    )?;
    Ok(true)
}

fn index(file: &Path, folders: &[PathBuf]) -> Result<Duration> {
    Ok(shipped_build::index(file, folders)?.elapsed)
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

fn spread(summary: Summary) -> String {
    format!("p50 {}, p95 {}", ms(summary.p50), ms(summary.p95))
}

fn nothing_changed(table: &mut Table, file: &Path, folders: &[PathBuf]) -> Result<()> {
    shipped_build::index_anew(file, folders)?;
    let before = fs::read(file)?;
    let times = (0..15)
        .map(|_| index(file, folders))
        .collect::<Result<_>>()?;
    if fs::read(file)? != before {
        bail!("a run without changes wrote to the file");
    }
    let documents = Kb::open(file)?.info()?.documents;
    table.add(
        format!("`kb index` again, nothing changed, {documents} documents, whole process"),
        spread(Summary::of(times)),
        "<= 150 ms",
    );
    Ok(())
}

/// Bytes that this process has handed to the system for writing.
fn written_bytes() -> u64 {
    child::written_bytes(&fs::read_to_string("/proc/self/io").unwrap_or_default())
}

fn one_file_changed(table: &mut Table, file: &Path, folders: &[PathBuf]) -> Result<()> {
    let changed = folders
        .first()
        .context("a folder")?
        .join("kb-bench-live.md");
    let text = |round: usize| {
        let line = "A lighthouse keeper writes down every ship that passes in the night.\n";
        format!("# Log {round}\n\n{}", line.repeat(140))
    };
    fs::write(&changed, text(0))?;
    index(file, folders)?;
    let (mut times, mut processes, mut written) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=CHANGES {
        fs::write(&changed, text(round))?;
        if round % 2 == 0 {
            processes.push(index(file, folders)?);
            continue;
        }
        let before = written_bytes();
        let started = Instant::now();
        let mut writer = KbWriter::open_or_create(file)?;
        let options = IndexOptions::default();
        let report = writer.index(folders, &options, &mut Progress::ignore)?;
        drop(writer);
        times.push(started.elapsed());
        written.push(written_bytes() - before);
        if report.updated.len() != 1 {
            bail!("{} files were updated", report.updated.len());
        }
    }
    fs::remove_file(&changed)?;
    let chunks = Kb::open(file)?.info()?.chunks;
    written.sort_unstable();
    let size = text(1).len() as u64;
    table.add(
        format!("one file of {size} bytes changed, {chunks} chunks, library"),
        spread(Summary::of(times)),
        "<= 300 ms",
    );
    table.add(
        "the same, `kb index` whole process",
        spread(Summary::of(processes)),
        "<= 300 ms",
    );
    let median = written.get(written.len() / 2).copied().unwrap_or(0);
    let most = written.last().copied().unwrap_or(0);
    table.add(
        "bytes written for it, opening and closing included",
        format!(
            "median {} KB, most (with a merge) {} KB",
            median / 1000,
            most / 1000
        ),
        &format!("<= {} KB", (20 * size + (256 << 10)) / 1000),
    );
    Ok(())
}

/// Processor time of this process.
fn own_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or("")
        .split_whitespace()
        .collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
    // Fields 14 and 15 of proc(5), in hundredths of a second.
    Duration::from_millis(10 * (ticks(11).unwrap_or(0) + ticks(12).unwrap_or(0)))
}

fn ask(kb: &Kb, queries: &[String]) -> Result<Duration> {
    let before = own_time();
    for query in queries.iter().cycle().take(REQUESTS) {
        kb.search(&Request::new(query.as_str()))?;
    }
    Ok((own_time() - before) / REQUESTS as u32)
}

fn beside_a_writer(table: &mut Table, file: &Path) -> Result<()> {
    let queries = corpus::queries()?;
    let kb = Kb::open(file)?;
    ask(&kb, &queries)?;
    let (mut idle, mut beside) = (Vec::new(), Vec::new());
    let first = kb.info()?.commit;
    let mut seconds = 0.0;
    for _ in 0..3 {
        idle.push(ask(&kb, &queries)?);
        let mut writer = spawn_writer(file)?;
        sleep(Duration::from_millis(700));
        let started = Instant::now();
        beside.push(ask(&kb, &queries)?);
        seconds += started.elapsed().as_secs_f64() + 0.7;
        writer.kill()?;
        writer.wait()?;
    }
    let commits = kb.info()?.commit - first;
    idle.sort_unstable();
    beside.sort_unstable();
    let (idle, beside) = (idle[1], beside[1]);
    table.add(
        format!(
            "processor time of a hybrid request beside {:.1} commits/s, against an idle file",
            commits as f64 / seconds
        ),
        format!(
            "{} / {} = {:.2}",
            ms(beside),
            ms(idle),
            beside.as_secs_f64() / idle.as_secs_f64()
        ),
        "<= 1.1",
    );
    Ok(())
}

fn spawn_writer(file: &Path) -> Result<Child> {
    Command::new(std::env::current_exe()?)
        .args(["live", "--writer"])
        .arg(file)
        .stdout(Stdio::null())
        .spawn()
        .context("cannot start the writer")
}

/// The role of the writer: one document replaced five times a second, until it is killed.
fn write_five_times_a_second(file: &Path) -> Result<bool> {
    let mut writer = KbWriter::open_or_create(file)?.lock_timeout(Duration::from_secs(10));
    for round in 0u64.. {
        let started = Instant::now();
        let text = format!("Round {round}. {}", "The tide comes and goes. ".repeat(60));
        writer.replace(document_of("bench-live/note.txt", text.as_bytes())?)?;
        writer.commit()?;
        sleep(Duration::from_millis(200).saturating_sub(started.elapsed()));
    }
    Ok(true)
}

fn verify(table: &mut Table, what: &str, file: &Path) -> Result<()> {
    let kb = Kb::open(file)?;
    for deep in [false, true] {
        let mut times = Vec::new();
        let mut bytes = 0;
        for _ in 0..if deep { 1 } else { 5 } {
            let report = kb.verify(&VerifyOptions::new().deep(deep), &mut Progress::ignore)?;
            if let Some(problem) = report.problems.first() {
                bail!("{}: {problem}", file.display());
            }
            times.push(report.elapsed);
            bytes = report.bytes;
        }
        let time = Summary::of(times).p50;
        let name = if deep { " --deep" } else { "" };
        table.add(
            format!(
                "`kb {what}{name}`, {} MB in use, in memory",
                bytes / 1_000_000
            ),
            format!(
                "{} = {:.2} GB/s",
                ms(time),
                bytes as f64 / 1e9 / time.as_secs_f64()
            ),
            if deep { "-" } else { ">= 2 GB/s" },
        );
    }
    Ok(())
}

fn seal(table: &mut Table, file: &Path) -> Result<()> {
    let sealed = file.with_file_name("live-sealed.kb");
    let started = Instant::now();
    let options = SealOptions::new().replace(true);
    let mut writer = KbWriter::open_or_create(file)?;
    let report = writer.seal(Some(&sealed), &options, &mut Progress::ignore)?;
    let kb = Kb::open(&sealed)?;
    let text = kb.info()?.text_bytes as f64;
    table.add(
        "`kb seal`",
        format!(
            "{:.0} s, {} MB -> {} MB = {:.3} of the text",
            started.elapsed().as_secs_f64(),
            report.bytes_before / 1_000_000,
            report.bytes_after / 1_000_000,
            report.bytes_after as f64 / text
        ),
        "<= 0.65 of the text",
    );
    let sections: Vec<String> = kb
        .sizes()?
        .sections
        .iter()
        .map(|(name, bytes)| format!("{name} {:.3}", *bytes as f64 / text))
        .collect();
    table.add(
        "sealed, sections as shares of the text",
        sections.join(", "),
        "text .30, keywords .15, vectors .25, rest .02",
    );
    opening(table, "sealed", &sealed)?;
    verify(table, "verify", &sealed)
}

fn opening(table: &mut Table, what: &str, file: &Path) -> Result<()> {
    let times = (0..50).map(|_| {
        let started = Instant::now();
        let kb = Kb::open(file)?;
        let time = started.elapsed();
        drop(kb);
        Ok(time)
    });
    let summary = Summary::of(times.collect::<Result<_>>()?);
    let megabytes = fs::metadata(file)?.len() / 1_000_000;
    table.add(
        format!("open, {what} file of {megabytes} MB"),
        spread(summary),
        "<= 5 ms at 1 GB sealed",
    );
    Ok(())
}

/// A file of 1 GB: opened, verified, and opened for writing after its writer was killed.
fn large(table: &mut Table, folders: &[PathBuf]) -> Result<()> {
    let bench = corpus::bench_folder();
    let copies = bench.join("copies");
    if copies.exists() {
        fs::remove_dir_all(&copies)?;
    }
    for copy in 0..COPIES {
        for folder in folders {
            let to = copies.join(copy.to_string());
            fs::create_dir_all(&to)?;
            // Hard links: no bytes are copied.
            let mut command = Command::new("cp");
            repository::run(command.arg("-al").arg(folder).arg(&to))?;
        }
    }
    let file = bench.join("large.kb");
    let time = shipped_build::index_anew(&file, std::slice::from_ref(&copies))?.elapsed;
    let bytes = fs::metadata(&file)?.len();
    table.add(
        "indexing the large file",
        format!("{:.0} s, {} MB", time.as_secs_f64(), bytes / 1_000_000),
        "-",
    );
    opening(table, "fresh", &file)?;
    let mut times = Vec::new();
    for _ in 0..15 {
        let mut writer = spawn_writer(&file)?;
        sleep(Duration::from_millis(900));
        writer.kill()?;
        writer.wait()?;
        let started = Instant::now();
        let mut writer = KbWriter::open_or_create(&file)?;
        // The first change opens the file for writing.
        writer.add_bytes("reopened.txt", b"again")?;
        times.push(started.elapsed());
        drop(writer);
        std::io::stdout().flush()?;
    }
    table.add(
        "open for writing after SIGKILL of the writer, all pages of trees checked",
        spread(Summary::of(times)),
        "p50 <= 50 ms",
    );
    verify(table, "verify", &file)?;
    fs::remove_dir_all(&copies)?;
    fs::remove_file(&file)?;
    Ok(())
}
