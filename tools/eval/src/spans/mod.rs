//! Finding functions in whole files that the engine cut itself.
//!
//! A hit is a returned range in the right file that covers at least half of the lines of the
//! target, or its first line and at least three lines of it. `shown` judges what the tools show of it.

mod shown;

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use flate2::read::GzDecoder;
use kb_engine::{Document, Extraction, Kb, Mode};
use serde_json::{Value, json};

use crate::runner::{self, Cut, TemporaryKb};
use crate::sets::{self, JudgedSet, Question};
pub(crate) use shown::ShownScores;
use shown::Target;

/// Hits asked for.
const DEPTH: usize = 100;

/// Lines of a file, from 1, both included.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Range {
    path: String,
    first: u64,
    last: u64,
}

impl Range {
    fn len(&self) -> u64 {
        (self.last + 1).saturating_sub(self.first)
    }

    /// Whether this range shows the target.
    fn covers(&self, target: &Range) -> bool {
        if self.path != target.path {
            return false;
        }
        let end = self.last.min(target.last) + 1;
        let overlap = end.saturating_sub(self.first.max(target.first));
        let holds_first_line = self.first <= target.first && target.first <= self.last;
        2 * overlap >= target.len() || (holds_first_line && overlap >= 3)
    }
}

/// What one question came to.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Found {
    /// Place of the first hit, from 1.
    rank: Option<usize>,
    /// Lines of the first ten ranges.
    lines: u64,
}

/// Scores of one mode on one collection.
#[derive(Debug, Clone)]
pub(crate) struct SpanScores {
    set: String,
    mode: Mode,
    questions: usize,
    hit_at: [f64; 3],
    mrr: f64,
    lines: f64,
}

const HIT_CUTS: [usize; 3] = [1, 5, 10];

/// Figures of one collection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Measured {
    pub(crate) spans: Vec<SpanScores>,
    pub(crate) shown: Vec<ShownScores>,
}

/// Scores all modes, and what is shown; nothing when the collection has no whole documents.
pub(crate) fn measure(set: &JudgedSet) -> Result<Measured> {
    let judged = set.folder.join("spans.jsonl");
    let (files, documents) = ("files.jsonl.gz", "documents.jsonl.gz");
    let mut measured = Measured::default();
    if set.folder.join(files).is_file() {
        let texts = read_documents(&set.folder.join(files))?;
        let targets = read_targets(&judged)?;
        let bytes = by_question(&judged, |row| target_of_lines(row, &texts))?;
        let questions = questions_of(set, &bytes);
        let built = build(set, &texts)?;
        for mode in [Mode::Keyword, Mode::Semantic, Mode::Hybrid] {
            let scores = score(&built.kb, &set.name, &questions, &targets, mode)?;
            measured.spans.push(scores);
        }
        let shown = shown::measure(&built.kb, &set.name, &questions, &bytes)?;
        measured.shown.push(shown);
    } else if set.folder.join(documents).is_file() {
        let texts = read_documents(&set.folder.join(documents))?;
        let bytes = by_question(&judged, |row| target_of_characters(row, &texts))?;
        let questions = questions_of(set, &bytes);
        let built = build(set, &texts)?;
        let shown = shown::measure(&built.kb, &set.name, &questions, &bytes)?;
        measured.shown.push(shown);
    }
    Ok(measured)
}

/// Texts by path.
fn read_documents(path: &Path) -> Result<BTreeMap<String, String>> {
    let rows = read_gzipped_lines(path)?;
    let texts = rows
        .iter()
        .map(|row| Ok((sets::text_of(row, "_id")?, sets::text_of(row, "text")?)));
    texts.collect()
}

fn build(set: &JudgedSet, texts: &BTreeMap<String, String>) -> Result<TemporaryKb> {
    let documents = texts.iter().map(|(path, text)| document_of(path, text));
    let documents: Vec<Document> = documents.collect::<Result<_>>()?;
    runner::build(&set.name, documents.into_iter(), Cut::Chunked)
}

/// The document that a file becomes, as in an index.
fn document_of(path: &str, text: &str) -> Result<Document> {
    let extracted = Extraction::InProcess.extract(path, text.as_bytes());
    extracted.with_context(|| format!("cannot read {path}"))
}

/// The questions that have a target.
fn questions_of<T>(set: &JudgedSet, targets: &HashMap<String, T>) -> Vec<Question> {
    let questions = set.questions.iter();
    let judged = questions.filter(|question| targets.contains_key(&question.id));
    judged.cloned().collect()
}

fn score(
    kb: &Kb,
    set: &str,
    questions: &[Question],
    targets: &HashMap<String, Vec<Range>>,
    mode: Mode,
) -> Result<SpanScores> {
    let found = runner::for_each_question(questions, |question| {
        let request = runner::request(question, mode, DEPTH);
        let ranges: Vec<Range> = runner::ask(kb, &request)?
            .hits
            .into_iter()
            .map(|hit| Range {
                path: hit.document,
                first: hit.lines.first.into(),
                last: hit.lines.last.into(),
            })
            .collect();
        Ok(find(
            &ranges,
            targets.get(&question.id).map_or(&[], Vec::as_slice),
        ))
    })?;
    Ok(summarise(set, mode, &found))
}

fn find(ranges: &[Range], targets: &[Range]) -> Found {
    let shows = |range: &Range| targets.iter().any(|target| range.covers(target));
    Found {
        rank: ranges.iter().position(shows).map(|place| place + 1),
        lines: ranges.iter().take(10).map(Range::len).sum(),
    }
}

fn summarise(set: &str, mode: Mode, found: &[Found]) -> SpanScores {
    let questions = found.len();
    let per_question = 1.0 / questions.max(1) as f64;
    let ranks = || found.iter().filter_map(|found| found.rank);
    let within = |cut| ranks().filter(|rank| *rank <= cut).count() as f64 * per_question;
    SpanScores {
        set: set.to_owned(),
        mode,
        questions,
        hit_at: HIT_CUTS.map(within),
        mrr: ranks()
            .filter(|rank| *rank <= 10)
            .map(|rank| 1.0 / rank as f64)
            .sum::<f64>()
            * per_question,
        lines: found.iter().map(|found| found.lines).sum::<u64>() as f64 * per_question,
    }
}

fn read_targets(path: &Path) -> Result<HashMap<String, Vec<Range>>> {
    by_question(path, |row| {
        Ok(Range {
            path: sets::text_of(row, "path")?,
            first: number_of(row, "start")?,
            last: number_of(row, "end")?,
        })
    })
}

/// The judged spans of each question.
fn by_question<T>(
    path: &Path,
    of_row: impl Fn(&Value) -> Result<T>,
) -> Result<HashMap<String, Vec<T>>> {
    let mut targets: HashMap<String, Vec<T>> = HashMap::new();
    for row in sets::read_lines(path)? {
        let target = of_row(&row).with_context(|| path.display().to_string())?;
        let question = sets::text_of(&row, "query-id")?;
        targets.entry(question).or_default().push(target);
    }
    Ok(targets)
}

fn number_of(row: &Value, field: &str) -> Result<u64> {
    row[field].as_u64().ok_or_else(|| anyhow!("no {field}"))
}

fn text_of<'t>(texts: &'t BTreeMap<String, String>, path: &str) -> Result<&'t str> {
    let text = texts.get(path).map(String::as_str);
    text.ok_or_else(|| anyhow!("no document {path}"))
}

/// Lines from 1, both included.
fn target_of_lines(row: &Value, texts: &BTreeMap<String, String>) -> Result<Target> {
    let path = sets::text_of(row, "path")?;
    let (first, last) = (number_of(row, "start")?, number_of(row, "end")?);
    let mut ends = vec![0];
    let lines = text_of(texts, &path)?.split_inclusive('\n');
    for line in lines {
        ends.push(ends.last().unwrap_or(&0) + line.len());
    }
    let end_of = |line: u64| {
        ends.get(line as usize)
            .or(ends.last())
            .copied()
            .unwrap_or(0)
    };
    Ok(Target {
        start: end_of(first.saturating_sub(1)),
        end: end_of(last),
        path,
    })
}

/// Characters from 0, the end excluded.
fn target_of_characters(row: &Value, texts: &BTreeMap<String, String>) -> Result<Target> {
    let path = sets::text_of(row, "doc")?;
    let text = text_of(texts, &path)?;
    let byte_of = |field| -> Result<usize> {
        let character = number_of(row, field)? as usize;
        let place = text.char_indices().nth(character);
        Ok(place.map_or(text.len(), |(byte, _)| byte))
    };
    Ok(Target {
        start: byte_of("start")?,
        end: byte_of("end")?,
        path,
    })
}

fn read_gzipped_lines(path: &Path) -> Result<Vec<Value>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut text = String::new();
    GzDecoder::new(file)
        .read_to_string(&mut text)
        .with_context(|| format!("cannot unpack {}", path.display()))?;
    sets::parse_lines(&text).with_context(|| format!("{} is not lines of JSON", path.display()))
}

/// Prints one line per collection and mode, and what is shown.
pub(crate) fn print_tables(measured: &Measured) {
    let scores = &measured.spans;
    println!("\n## Functions in whole files, cut by the engine\n");
    println!("| set | mode | questions | hit@1 | hit@5 | hit@10 | MRR@10 | lines in top 10 |");
    println!("|---|---|---|---|---|---|---|---|");
    for score in scores {
        let [one, five, ten] = score.hit_at;
        println!(
            "| {} | {} | {} | {one:.3} | {five:.3} | {ten:.3} | {:.3} | {:.0} |",
            score.set,
            score.mode.name(),
            score.questions,
            score.mrr,
            score.lines
        );
    }
    shown::print_table(&measured.shown);
}

/// All figures.
pub(crate) fn to_json(measured: &Measured) -> Value {
    let lines = measured.spans.iter().map(|score| {
        json!({
            "set": score.set,
            "mode": score.mode.name(),
            "questions": score.questions,
            "hit@1": score.hit_at[0],
            "hit@5": score.hit_at[1],
            "hit@10": score.hit_at[2],
            "mrr@10": score.mrr,
            "lines": score.lines,
        })
    });
    json!({"functions": lines.collect::<Vec<_>>(), "shown": shown::to_json(&measured.shown)})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(path: &str, first: u64, last: u64) -> Range {
        Range {
            path: path.to_owned(),
            first,
            last,
        }
    }

    #[test]
    fn targets_are_bytes_of_the_text() {
        let text = "\u{e9}ne\ntwo\nthree".to_owned();
        let texts = BTreeMap::from([("a".to_owned(), text)]);
        let row = json!({"path": "a", "start": 2, "end": 3});
        let target = target_of_lines(&row, &texts).unwrap();
        assert_eq!((target.start, target.end), (5, 14));
        let row = json!({"doc": "a", "start": 1, "end": 5});
        let target = target_of_characters(&row, &texts).unwrap();
        assert_eq!((target.start, target.end), (2, 6));
    }

    #[test]
    fn half_of_the_target_is_a_hit() {
        assert!(range("a", 5, 9).covers(&range("a", 1, 9)));
        assert!(!range("a", 6, 9).covers(&range("a", 1, 9)));
    }

    #[test]
    fn the_first_three_lines_of_a_long_target_are_a_hit() {
        assert!(range("a", 1, 12).covers(&range("a", 10, 90)));
        assert!(!range("a", 1, 11).covers(&range("a", 10, 90)));
        assert!(!range("a", 11, 20).covers(&range("a", 10, 90)));
    }

    #[test]
    fn another_file_or_other_lines_are_no_hit() {
        assert!(!range("b", 1, 9).covers(&range("a", 1, 9)));
        assert!(!range("a", 20, 30).covers(&range("a", 1, 9)));
    }

    #[test]
    fn ranks_become_shares_and_reciprocal_means() {
        let found = [
            Found {
                rank: Some(1),
                lines: 100,
            },
            Found {
                rank: Some(4),
                lines: 50,
            },
            Found {
                rank: Some(40),
                lines: 30,
            },
            Found {
                rank: None,
                lines: 20,
            },
        ];
        let scores = summarise("s", Mode::Keyword, &found);
        assert_eq!(scores.hit_at, [0.25, 0.5, 0.5]);
        assert_eq!(scores.mrr, 1.25 / 4.0);
        assert_eq!(scores.lines, 50.0);
    }

    #[test]
    fn lines_are_counted_in_the_first_ten_only() {
        let ranges: Vec<Range> = (0..12)
            .map(|n| range("a", 10 * n + 1, 10 * n + 10))
            .collect();
        let found = find(&ranges, &[range("a", 111, 120)]);
        assert_eq!(
            found,
            Found {
                rank: Some(12),
                lines: 100
            }
        );
    }
}
