//! Finding functions in whole files that the engine cut itself.
//!
//! A hit is a returned range in the right file that covers at least half of the lines of the
//! target, or its first line and at least three lines of it.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use flate2::read::GzDecoder;
use kb_engine::Kb;
use kb_engine::{Mode, Request};
use serde_json::{Value, json};

use crate::runner::{self, Cut};
use crate::sets::{self, JudgedSet, Question};

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

/// Scores all modes; nothing when the collection has no files to cut.
pub(crate) fn measure(set: &JudgedSet) -> Result<Vec<SpanScores>> {
    let files = set.folder.join("files.jsonl.gz");
    if !files.is_file() {
        return Ok(Vec::new());
    }
    let targets = read_targets(&set.folder.join("spans.jsonl"))?;
    let rows = read_gzipped_lines(&files)?;
    let mut documents = Vec::new();
    for row in &rows {
        let path = sets::text_of(row, "_id")?;
        let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
        let kind = sets::kind_of_path(&path);
        documents.push(sets::document(
            path,
            &name,
            &sets::text_of(row, "text")?,
            kind,
        ));
    }
    let questions: Vec<Question> = set
        .questions
        .iter()
        .filter(|question| targets.contains_key(&question.id))
        .cloned()
        .collect();
    let built = runner::build(&set.name, documents.into_iter(), Cut::Chunked)?;
    let modes = [Mode::Keyword, Mode::Semantic, Mode::Hybrid].into_iter();
    modes
        .map(|mode| score(&built.kb, &set.name, &questions, &targets, mode))
        .collect()
}

fn score(
    kb: &Kb,
    set: &str,
    questions: &[Question],
    targets: &HashMap<String, Vec<Range>>,
    mode: Mode,
) -> Result<SpanScores> {
    let found = runner::for_each_question(questions, |question| {
        let mut request = Request::new(question.text.as_str());
        // Questions of collections are words; chunks are judged one by one.
        request.plain = true;
        request.join = false;
        request.mode = mode;
        request.k = DEPTH;
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
    let mut targets: HashMap<String, Vec<Range>> = HashMap::new();
    for value in sets::read_lines(path)? {
        let line = |field: &str| {
            value[field]
                .as_u64()
                .ok_or_else(|| anyhow!("{}: no {field}", path.display()))
        };
        let range = Range {
            path: sets::text_of(&value, "path")?,
            first: line("start")?,
            last: line("end")?,
        };
        targets
            .entry(sets::text_of(&value, "query-id")?)
            .or_default()
            .push(range);
    }
    Ok(targets)
}

fn read_gzipped_lines(path: &Path) -> Result<Vec<Value>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut text = String::new();
    GzDecoder::new(file)
        .read_to_string(&mut text)
        .with_context(|| format!("cannot unpack {}", path.display()))?;
    sets::parse_lines(&text).with_context(|| format!("{} is not lines of JSON", path.display()))
}

/// Prints one line per collection and mode.
pub(crate) fn print_table(scores: &[SpanScores]) {
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
}

/// All figures.
pub(crate) fn to_json(scores: &[SpanScores]) -> Value {
    let lines = scores.iter().map(|score| {
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
    Value::Array(lines.collect())
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
