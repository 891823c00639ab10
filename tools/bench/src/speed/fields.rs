//! Filters by fields of many small documents: bytes of a value, time of conditions, rate of an import.
//!
//! `kb-bench fields FOLDER [--documents N] [--kb PROGRAM]` makes a file of N documents (1,000,000) with six fields in
//! FOLDER, and prints a table. With the program `kb` it imports the same documents as JSON Lines, too.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use kb_engine::{
    FieldValue, Filters, Kb, KbWriter, Mode, Progress, Request, SealOptions, document_of,
    give_fields,
};
use serde_json::json;

use crate::latency::Summary;

/// Searches of each row of the table.
const RUNS: u64 = 200;

/// Documents of a commit.
const BATCH: u64 = 100_000;

/// Words of which texts are made.
const WORDS: [&str; 16] = [
    "harbour", "lamp", "tide", "signal", "keeper", "fog", "anchor", "gauge", "storm", "buoy",
    "channel", "beacon", "pilot", "reef", "current", "log",
];

const STATES: [&str; 5] = ["draft", "review", "final", "lost", "closed"];

/// What can be measured without any condition, and what cannot.
const CONDITIONS: [(&str, &str); 12] = [
    ("equality, integer of 35 values", "year = 2004"),
    ("equality, integer of many values", "number = 123457"),
    ("equality, text of 5 values", "status = \"final\""),
    ("equality, text of many values", "key = \"log-0004d2\""),
    ("equality, item of a list", "places = \"p77\""),
    ("range, integer of 35 values", "year > 2015"),
    (
        "range, integer of many values",
        "number >= 250000 and number < 260000",
    ),
    ("range, date", "seen >= 2015-03-01 and seen < 2015-09-01"),
    ("range, text of many values", "key > \"log-0c\""),
    (
        "one of ten",
        "number in (1, 22, 333, 4444, 55555, 666, 77, 8, 99, 1010)",
    ),
    (
        "four joined",
        "year > 2000 and status = \"final\" and seen >= 2014-01 and number < 500000",
    ),
    ("missing", "missing(places)"),
];

/// Deterministic numbers (SplitMix64).
fn number(seed: u64, below: u64) -> u64 {
    let mut z = seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(0x1234_5678);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) % below
}

fn text_of(at: u64) -> String {
    let words = (0..24).map(|word| {
        let which = number(at * 31 + word, WORDS.len() as u64);
        WORDS
            .get(usize::try_from(which).unwrap_or(0))
            .copied()
            .unwrap_or("lamp")
    });
    words.collect::<Vec<_>>().join(" ")
}

fn values_of(at: u64) -> Vec<(&'static str, Vec<FieldValue>)> {
    let integer = |value: u64| FieldValue::Integer(i64::try_from(value).unwrap_or(i64::MAX));
    let text = |text: String| FieldValue::Text(text);
    let day_ms = i64::try_from(number(at + 7, 3650)).unwrap_or(0) * 86_400_000;
    let state = usize::try_from(number(at + 3, 5)).unwrap_or(0);
    let mut values = vec![
        ("year", vec![integer(1990 + number(at, 35))]),
        ("number", vec![integer(number(at + 1, 1_000_000))]),
        ("seen", vec![FieldValue::Time(1_262_304_000_000 + day_ms)]),
        (
            "status",
            vec![text(
                STATES.get(state).copied().unwrap_or("draft").to_owned(),
            )],
        ),
        ("key", vec![text(format!("log-{at:06x}"))]),
    ];
    if at.is_multiple_of(4) {
        let places = (0..3).map(|place| text(format!("p{}", number(at * 3 + place, 500))));
        values.push(("places", places.collect()));
    }
    values
}

/// Runs the benchmark.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let (mut folder, mut documents, mut program) = (None, 1_000_000u64, None);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--documents" => {
                documents = rest.next().context("--documents wants a number")?.parse()?;
            }
            "--kb" => program = Some(PathBuf::from(rest.next().context("--kb wants a program")?)),
            _ => folder = Some(PathBuf::from(argument)),
        }
    }
    let Some(folder) = folder else {
        bail!("kb-bench fields FOLDER [--documents N] [--kb PROGRAM]");
    };
    std::fs::create_dir_all(&folder)?;
    let (with, without) = (folder.join("with.kb"), folder.join("without.kb"));
    for (path, has_fields) in [(&without, false), (&with, true)] {
        if !path.exists() {
            let start = Instant::now();
            write(path, documents, has_fields)?;
            println!("{}: made in {:.0?}", path.display(), start.elapsed());
        }
    }
    sizes(&with, documents)?;
    conditions(&with)?;
    if let Some(program) = program {
        import(&program, &folder, documents)?;
    }
    Ok(true)
}

fn write(path: &Path, documents: u64, has_fields: bool) -> Result<()> {
    let mut writer = KbWriter::open_or_create(path)?;
    for at in 0..documents {
        let name = format!("d/{at:07}.txt");
        let mut document = document_of(&name, text_of(at).as_bytes())?;
        document.path = name;
        if has_fields {
            let fields = values_of(at).into_iter();
            let fields: Vec<_> = fields
                .map(|(name, values)| (name.to_owned(), values))
                .collect();
            give_fields(&mut document, &fields)?;
        }
        writer.add(document)?;
        if at % BATCH == BATCH - 1 {
            writer.commit()?;
        }
    }
    writer.commit()?;
    writer.seal(None, &SealOptions::default(), &mut Progress::ignore)?;
    Ok(())
}

fn sizes(path: &Path, documents: u64) -> Result<()> {
    let values: u64 = (0..documents)
        .map(|at| {
            values_of(at)
                .iter()
                .map(|(_, of)| of.len() as u64)
                .sum::<u64>()
        })
        .sum();
    println!(
        "\n{values} values of {documents} documents\n\n| section | bytes a value |\n|---|---|"
    );
    for (name, bytes) in Kb::open(path)?.sizes()?.sections {
        if ["fields", "facets", "documents"].contains(&name.as_str()) {
            println!("| {name} | {:.2} |", bytes as f64 / values as f64);
        }
    }
    Ok(())
}

fn conditions(path: &Path) -> Result<()> {
    let kb = Kb::open(path)?;
    println!(
        "\n| condition | documents | keyword, beyond none | hybrid, of none |\n|---|---|---|---|"
    );
    let none = [Mode::Keyword, Mode::Hybrid].map(|mode| times(&kb, mode, None));
    let [keyword, hybrid] = none;
    let (keyword, hybrid) = (keyword?, hybrid?);
    println!("| none | all | {:.2?} | {:.2?} |", keyword.p50, hybrid.p50);
    let shares = [
        ("1 % kept", "number < 10000"),
        ("50 % kept", "number < 500000"),
    ];
    for (what, condition) in CONDITIONS.into_iter().chain(shares) {
        let found =
            kb.documents_where(None, true, condition, &kb_engine::PageOptions::default())?;
        let with = times(&kb, Mode::Keyword, Some(condition))?;
        let mixed = times(&kb, Mode::Hybrid, Some(condition))?;
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "| {what} | {} | {:+.3} ms | {:.2}x |",
            found.items.len(),
            millis(with.p50) - millis(keyword.p50),
            millis(mixed.p50) / millis(hybrid.p50),
        );
    }
    Ok(())
}

fn times(kb: &Kb, mode: Mode, condition: Option<&str>) -> Result<Summary> {
    let mut times = Vec::new();
    for run in 0..RUNS + 5 {
        let words = (0..3).map(|word| number(run * 3 + word, WORDS.len() as u64));
        let words = words.filter_map(|word| WORDS.get(usize::try_from(word).ok()?).copied());
        let query = words.collect::<Vec<_>>().join(" ");
        let mut request = Request::new(query).k(10).mode(mode);
        if let Some(condition) = condition {
            request = request.filters(Filters::new().where_(condition));
        }
        let start = Instant::now();
        kb.search(&request)?;
        if run >= 5 {
            times.push(start.elapsed());
        }
    }
    Ok(Summary::of(times))
}

fn import(program: &Path, folder: &Path, documents: u64) -> Result<()> {
    let rows = folder.join("rows.jsonl");
    let mut text_bytes = 0;
    let mut lines = BufWriter::new(std::fs::File::create(&rows)?);
    for at in 0..documents {
        let text = text_of(at);
        text_bytes += text.len();
        let row = json!({
            "path": format!("d/{at:07}.txt"), "text": text, "metadata": {
                "year": 1990 + number(at, 35), "number": number(at + 1, 1_000_000),
            },
        });
        writeln!(lines, "{row}")?;
    }
    lines.flush()?;
    let target = folder.join("imported.kb");
    let _ = std::fs::remove_file(&target);
    let start = Instant::now();
    let status = Command::new(program)
        .args(["import", "documents"])
        .args([&target, &rows])
        .stdout(Stdio::null())
        .status()?;
    let seconds = start.elapsed().as_secs_f64();
    if !status.success() {
        bail!("kb import documents ended with {status}");
    }
    let megabytes = text_bytes as f64 / 1e6;
    println!(
        "\nimport of {documents} rows: {seconds:.1} s, {:.1} MB/s of text",
        megabytes / seconds
    );
    Ok(())
}
