//! Choice of the constants of the verdict, leave one collection out.
//!
//! Every collection is asked as a whole and as a small file, because the threshold depends on the size.
//! For each rule of a grid the threshold is the height at which 5 % of the right questions are lost, and
//! the rule is the one that then rejects most of the wrong ones; both are means over collections and
//! sizes. What counts for a collection is found on pairs that it has no part in.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use kb_engine::Mode;
use kb_engine::testing::search::relevance::{self, RelevanceSignals, Rule};
use serde_json::{Value, json};

use crate::metrics::{Judgements, mean};
use crate::runner::{self, Cut, RANKED};
use crate::sets::{self, JudgedSet, Question};
use crate::verdict::{Answers, Built, SetEvidence, gather};

/// Share of the right questions that a threshold may lose.
const LOST: f64 = 0.05;

/// Rows of the small files.
const SMALL: [usize; 2] = [40, 400];

/// One question with the collections it came from and its weight.
struct Shown {
    /// What it shows, in the order of [`RANKED`].
    evidence: [RelevanceSignals; RANKED.len()],
    from: usize,
    file: usize,
    weight: f64,
}

impl Shown {
    fn new(answers: &Answers, from: usize, file: usize, weight: f64) -> Shown {
        Shown {
            evidence: answers.map(|judged| judged.evidence),
            from,
            file,
            weight,
        }
    }

    /// How far it stands above the threshold of a rule for that mode.
    fn margin(&self, rule: &Rule, mode: Mode) -> f32 {
        let place = RANKED.iter().position(|other| *other == mode);
        let evidence = place.and_then(|place| self.evidence.get(place));
        evidence.map_or(f32::MIN, |evidence| relevance::margin(rule, evidence))
    }
}

/// Everything that was asked: right and wrong.
struct Asked {
    names: Vec<String>,
    right: Vec<Shown>,
    wrong: Vec<Shown>,
}

impl Asked {
    fn number(&self, name: &str) -> usize {
        let found = self.names.iter().position(|other| other == name);
        found.unwrap_or(usize::MAX)
    }

    fn add(&mut self, sets: &[SetEvidence]) {
        for set in sets {
            let from = self.number(&set.name);
            let weight = 1.0 / set.right.len() as f64;
            let right = set.right.iter();
            self.right
                .extend(right.map(|answers| Shown::new(answers, from, from, weight)));
            let weight = 1.0 / set.wrong.len() as f64;
            let wrong: Vec<Shown> = set
                .wrong
                .iter()
                .map(|(file, answers)| Shown::new(answers, from, self.number(file), weight))
                .collect();
            self.wrong.extend(wrong);
        }
    }
}

/// Share, by weight, of those that a rule rejects.
fn rejected<'s>(rule: &Rule, mode: Mode, shown: impl Iterator<Item = &'s Shown>) -> f64 {
    let (mut all, mut below) = (0.0, 0.0);
    for shown in shown {
        all += shown.weight;
        if shown.margin(rule, mode) < 0.0 {
            below += shown.weight;
        }
    }
    if all > 0.0 { below / all } else { 0.0 }
}

/// The rule with the threshold under which at most [`LOST`] of `right` are.
fn with_bar<'s>(rule: &Rule, mode: Mode, right: impl Iterator<Item = &'s Shown>) -> Rule {
    let flat = Rule {
        threshold: 0.0,
        ..*rule
    };
    let mut margins: Vec<(f32, f64)> = right
        .map(|shown| (shown.margin(&flat, mode), shown.weight))
        .collect();
    margins.sort_by(|left, right| left.0.total_cmp(&right.0));
    let all: f64 = margins.iter().map(|(_, weight)| weight).sum();
    let mut below = 0.0;
    let mut threshold = 0.0;
    for (margin, weight) in margins {
        threshold = margin;
        below += weight;
        if below > LOST * all {
            break;
        }
    }
    Rule { threshold, ..flat }
}

/// The rules that are tried in a mode; thresholds are found, not listed.
fn grid(mode: Mode) -> Vec<Rule> {
    let (keywords, idfs, vector): (&[f32], &[f32], f32) = match mode {
        Mode::Keyword => (&[1.0], &[0.0, 0.005, 0.01, 0.0125, 0.02], 0.0),
        Mode::Semantic => (&[0.0], &[0.0], 1.0),
        _ => (&[0.25, 0.5, 0.75, 1.0, 1.5], &[0.0, 0.0125], 1.0),
    };
    let mut rules = Vec::new();
    for &keyword in keywords {
        for &matched_idf in idfs {
            for step in 0..=14u8 {
                rules.push(Rule {
                    keyword,
                    matched_idf,
                    vector,
                    threshold: 0.0,
                    threshold_per_decade: f32::from(step) / 100.0,
                });
            }
        }
    }
    rules
}

/// The best rule of the grid, without the pairs that `left_out` has part in, and what it rejects.
fn choose(asked: &Asked, mode: Mode, left_out: Option<usize>) -> (Rule, f64) {
    let counts = |shown: &&Shown| left_out != Some(shown.from) && left_out != Some(shown.file);
    let mut best: Option<(Rule, f64)> = None;
    for rule in grid(mode) {
        let rule = with_bar(&rule, mode, asked.right.iter().filter(counts));
        let value = rejected(&rule, mode, asked.wrong.iter().filter(counts));
        if best.is_none_or(|(_, other)| value > other) {
            best = Some((rule, value));
        }
    }
    best.unwrap_or((relevance::HYBRID, 0.0))
}

/// Asks, prints the choice for every mode and gives it as JSON.
pub(crate) fn run(folder: &Path, names: &[String]) -> Result<Value> {
    let mut asked = Asked {
        names: names.to_vec(),
        right: Vec::new(),
        wrong: Vec::new(),
    };
    for rows in [None, Some(SMALL[0]), Some(SMALL[1])] {
        eprintln!("verdict sweep: {}", rows.unwrap_or(0));
        let mut built = Vec::new();
        for name in names {
            let set = sets::load(folder, name)?;
            let set = match rows {
                Some(rows) => sample(&set, rows),
                None => set,
            };
            built.push(Built::new(&set, runner::build_rows(&set, Cut::Uncut)?));
        }
        asked.add(&gather(&built)?);
    }
    if asked.right.is_empty() || asked.wrong.is_empty() {
        println!("\nverdict: skipped, no two of these collections are of different fields");
        return Ok(Value::Null);
    }
    let figures = RANKED.map(|mode| {
        print_grid(&asked, mode);
        json!({"mode": mode.name(), "left_out": print_choice(&asked, mode)})
    });
    Ok(Value::Array(figures.to_vec()))
}

fn describe(rule: &Rule) -> String {
    format!(
        "vector {} + keyword {} + idf {} >= {:.3} + {:.2} log10 chunks",
        rule.vector, rule.keyword, rule.matched_idf, rule.threshold, rule.threshold_per_decade
    )
}

fn print_grid(asked: &Asked, mode: Mode) {
    println!("\n## Verdict, {}: every rule\n", mode.name());
    println!("| rule at 5 % of the right lost | rejected wrong |\n|---|---|");
    for rule in grid(mode) {
        let rule = with_bar(&rule, mode, asked.right.iter());
        let value = rejected(&rule, mode, asked.wrong.iter());
        println!("| {} | {value:.3} |", describe(&rule));
    }
}

fn print_choice(asked: &Asked, mode: Mode) -> Vec<Value> {
    let shipped = match mode {
        Mode::Keyword => relevance::KEYWORD,
        Mode::Semantic => relevance::SEMANTIC,
        _ => relevance::HYBRID,
    };
    println!("\n## Verdict, {}: left out\n", mode.name());
    println!("| left out | chosen on the others | rejected, lost | as it is: rejected, lost |");
    println!("|---|---|---|---|");
    let mut lines = Vec::new();
    let mut unseen: Vec<[f64; 4]> = Vec::new();
    for (number, name) in asked.names.iter().enumerate() {
        let own = |shown: &&Shown| shown.from == number;
        if !asked.right.iter().any(|shown| own(&shown)) {
            continue;
        }
        let (rule, _) = choose(asked, mode, Some(number));
        let of = |rule: &Rule| {
            [
                rejected(rule, mode, asked.wrong.iter().filter(own)),
                rejected(rule, mode, asked.right.iter().filter(own)),
            ]
        };
        let ([rejected, lost], [as_is_rejected, as_is_lost]) = (of(&rule), of(&shipped));
        println!(
            "| {name} | {} | {rejected:.3}, {lost:.3} | {as_is_rejected:.3}, {as_is_lost:.3} |",
            describe(&rule)
        );
        lines.push(json!({"set": name, "rejected": rejected, "lost": lost}));
        unseen.push([rejected, lost, as_is_rejected, as_is_lost]);
    }
    let of = |place: usize| mean(&unseen.iter().map(|line| line[place]).collect::<Vec<_>>());
    println!(
        "| **mean** | | {:.3}, {:.3} | {:.3}, {:.3} |",
        of(0),
        of(1),
        of(2),
        of(3)
    );
    println!(
        "\nchosen on all: {}",
        describe(&choose(asked, mode, None).0)
    );
    lines
}

/// A smaller collection: questions evenly over the list, two right rows of each, filled up with rows
/// evenly over the rest.
fn sample(set: &JudgedSet, rows: usize) -> JudgedSet {
    let wanted = (rows / 6).clamp(1, set.questions.len().max(1));
    let step = set.questions.len().div_ceil(wanted).max(1);
    let questions: Vec<&Question> = set.questions.iter().step_by(step).collect();
    let count = u32::try_from(set.rows.len()).unwrap_or(u32::MAX);
    let mut kept = BTreeSet::new();
    for question in &questions {
        let right = (0..count).filter(|row| question.judgements.is_right(*row));
        kept.extend(right.take(2));
    }
    let step = (set.rows.len() / rows.max(1)).max(1);
    for row in (0..count).step_by(step) {
        if kept.len() >= rows {
            break;
        }
        kept.insert(row);
    }
    let questions = questions.into_iter().map(|question| {
        let mut judgements = Judgements::default();
        for (place, row) in kept.iter().enumerate() {
            if question.judgements.is_right(*row) {
                judgements.add(u32::try_from(place).ok(), 1.0);
            }
        }
        Question {
            id: question.id.clone(),
            text: question.text.clone(),
            judgements,
        }
    });
    JudgedSet {
        name: set.name.clone(),
        folder: set.folder.clone(),
        questions: questions.collect(),
        rows: kept
            .iter()
            .filter_map(|row| set.rows.get(*row as usize).cloned())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::Row;

    fn shown(vector: f32, from: usize, file: usize) -> Shown {
        let mut evidence = RelevanceSignals::default();
        evidence.vector = Some(vector);
        evidence.chunks = 1;
        Shown {
            evidence: [evidence; RANKED.len()],
            from,
            file,
            weight: 1.0,
        }
    }

    #[test]
    fn the_bar_loses_no_more_than_it_may() {
        let right: Vec<Shown> = (0u8..100)
            .map(|n| shown(f32::from(n) / 100.0, 0, 0))
            .collect();
        let rule = with_bar(&relevance::SEMANTIC, Mode::Semantic, right.iter());
        assert!((rule.threshold - 0.05).abs() < 1e-6, "{rule:?}");
        assert_eq!(rejected(&rule, Mode::Semantic, right.iter()), 0.05);
    }

    #[test]
    fn a_collection_left_out_has_no_say_as_question_or_file() {
        let asked = Asked {
            names: ["a", "b", "c"].map(str::to_owned).to_vec(),
            right: vec![shown(0.9, 0, 0), shown(0.2, 1, 1), shown(0.8, 2, 2)],
            wrong: vec![shown(0.5, 0, 2), shown(0.85, 2, 1)],
        };
        let (rule, value) = choose(&asked, Mode::Semantic, Some(1));
        assert!((rule.threshold - 0.8).abs() < 1e-6, "{rule:?}");
        assert_eq!(value, 1.0);
        assert_eq!(choose(&asked, Mode::Semantic, None).1, 0.0);
    }

    #[test]
    fn a_sample_keeps_the_right_rows_of_its_questions() {
        let rows = (0..100).map(|n| Row {
            title: String::new(),
            text: format!("row {n}"),
        });
        let questions = (0..10u32).map(|n| {
            let mut judgements = Judgements::default();
            judgements.add(Some(n * 7 + 3), 1.0);
            Question {
                id: n.to_string(),
                text: n.to_string(),
                judgements,
            }
        });
        let set = JudgedSet {
            name: "s".to_owned(),
            folder: "f".into(),
            rows: rows.collect(),
            questions: questions.collect(),
        };
        let small = sample(&set, 30);
        assert_eq!(small.rows.len(), 30);
        assert_eq!(small.questions.len(), 5);
        for question in &small.questions {
            let n: u32 = question.id.parse().unwrap();
            let place = small
                .rows
                .iter()
                .position(|row| row.text == format!("row {}", n * 7 + 3));
            let place = u32::try_from(place.unwrap()).unwrap();
            assert!(question.judgements.is_right(place));
        }
    }
}
