//! `cargo xtask bench slips`: what it costs to correct a word that no document has. Files with many different words are
//! made, each query is one of them with one or two slips, and it is timed beside the search of the word that it is
//! corrected to.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use kb_engine::{Kb, KbWriter, Mode, Request};

use crate::latency::Summary;
use crate::machine;

/// Different words of the files.
const TERMS: [usize; 3] = [30_000, 100_000, 300_000];

/// Words of a document.
const WORDS_OF_DOCUMENT: usize = 300;

/// Slips of each kind that are asked for.
const QUERIES: usize = 200;

/// Most that a correction may add at the median, with so many words that a file of prose and code has.
const BAR: Duration = Duration::from_millis(1);
const BAR_TERMS: usize = 100_000;

/// Syllables of the words: all have a vowel, so that words begin and go on like those of a language.
const SYLLABLES: [&str; 40] = [
    "ba", "ber", "bil", "ca", "con", "cor", "da", "den", "dis", "el", "en", "er", "fa", "for",
    "ga", "gen", "in", "ka", "la", "lin", "ma", "men", "mor", "na", "nor", "o", "pa", "per", "pro",
    "ra", "re", "ri", "sa", "sen", "ta", "ter", "ti", "un", "va", "ver",
];

/// A sequence of numbers that is the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        // Constants of Knuth's MMIX generator; its high bits are the good ones.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// How a word is misspelled.
#[derive(Debug, Clone, Copy)]
enum Slip {
    One,
    Two,
}

/// Runs the verb; `--terms N` measures one size. False where a correction takes too long.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let mut sizes = TERMS.to_vec();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--terms" => {
                let number = rest.next().context("--terms needs a number")?;
                sizes = vec![number.parse().context("--terms")?];
            }
            other => bail!("bench slips does not know {other:?}"),
        }
    }
    println!("{}", machine::describe());
    println!(
        "| different words | slips | corrected | spelled right, p50 | corrected, p50 | added, p50 | added, p95 |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut is_met = true;
    for terms in sizes {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("words.kb");
        let words = write(&path, terms)?;
        let kb = Kb::open(&path)?;
        for slip in [Slip::One, Slip::Two] {
            let queries = queries(&words, slip)?;
            let row = measure(&kb, &queries)?;
            println!("| {terms} | {slip:?} | {row} |");
            is_met &= terms > BAR_TERMS || row.added.p50 <= BAR;
        }
    }
    Ok(is_met)
}

/// Makes a file with so many different words; some of them.
fn write(path: &std::path::Path, terms: usize) -> Result<Vec<String>> {
    let mut numbers = Numbers(7);
    let mut seen = std::collections::HashSet::with_capacity(terms);
    let mut words = Vec::with_capacity(terms);
    while words.len() < terms {
        let count = 3 + numbers.below(3);
        let syllables = (0..count).filter_map(|_| SYLLABLES.get(numbers.below(SYLLABLES.len())));
        let word: String = syllables.copied().collect();
        if seen.insert(word.clone()) {
            words.push(word);
        }
    }
    let mut writer = KbWriter::open_or_create(path)?;
    for (number, words) in words.chunks(WORDS_OF_DOCUMENT).enumerate() {
        let lines: Vec<String> = words.chunks(12).map(|words| words.join(" ")).collect();
        writer.add_bytes(&format!("{number}.txt"), lines.join("\n").as_bytes())?;
    }
    writer.commit()?;
    Ok(words)
}

/// Misspelled words.
fn queries(words: &[String], slip: Slip) -> Result<Vec<String>> {
    let mut numbers = Numbers(11);
    let mut queries = Vec::with_capacity(QUERIES);
    while queries.len() < QUERIES {
        let word = words.get(numbers.below(words.len()));
        let word = word.context("no words")?;
        let mut letters: Vec<char> = word.chars().collect();
        if letters.len() < 9 {
            continue;
        }
        let edits = match slip {
            Slip::One => 1,
            Slip::Two => 2,
        };
        for _ in 0..edits {
            // Not the first two letters, which are rarely wrong.
            let at = 2 + numbers.below(letters.len() - 3);
            match numbers.below(4) {
                0 => letters.swap(at, at + 1),
                1 => letters.splice(at..=at, ['y']).for_each(drop),
                2 => letters.insert(at, 'x'),
                _ => {
                    letters.remove(at);
                }
            }
        }
        queries.push(letters.into_iter().collect());
    }
    Ok(queries)
}

/// Times of queries that are corrected, and of the same ones spelled right.
struct Row {
    corrected: usize,
    asked: usize,
    plain: Summary,
    full: Summary,
    added: Summary,
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ms = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
        write!(
            f,
            "{} of {} | {} | {} | {} | {}",
            self.corrected,
            self.asked,
            ms(self.plain.p50),
            ms(self.full.p50),
            ms(self.added.p50),
            ms(self.added.p95)
        )
    }
}

fn measure(kb: &Kb, queries: &[String]) -> Result<Row> {
    let (mut plain, mut full, mut added) = (Vec::new(), Vec::new(), Vec::new());
    let mut corrected = 0;
    // The first pass brings the file into memory.
    for pass in 0..3 {
        corrected = 0;
        for query in queries {
            let ask = |text: &str, is_exact: bool| -> Result<(Duration, Option<String>)> {
                let request = Request::new(text).mode(Mode::Keyword).exact(is_exact);
                let start = Instant::now();
                let response = kb.search(&request)?;
                let elapsed = start.elapsed();
                Ok((
                    elapsed,
                    response.corrections.into_iter().next().map(|it| it.to),
                ))
            };
            let (with, found) = ask(query, false)?;
            // The same search without what the correction costs: it finds and shows the same.
            let (without, _) = ask(found.as_ref().unwrap_or(query), true)?;
            corrected += usize::from(found.is_some());
            if pass > 0 {
                plain.push(without);
                full.push(with);
                added.push(with.saturating_sub(without));
            }
        }
    }
    ensure!(corrected > 0, "nothing was corrected");
    Ok(Row {
        corrected,
        asked: queries.len(),
        plain: Summary::of(plain),
        full: Summary::of(full),
        added: Summary::of(added),
    })
}
