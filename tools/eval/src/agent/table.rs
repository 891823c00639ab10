//! The table of the agent's tasks and its thresholds.

use serde_json::{Value, json};

use super::policy::Outcome;
use super::tasks::Task;
use crate::checkout::Lines;

/// What is asked of the whole list: right citations, and calls and tokens of each task.
const RIGHT: usize = 27;
const MOST_CALLS: usize = 4;
const MOST_TOKENS: usize = 6000;

/// Longest citation that counts: a longer one says little.
const LONGEST_CITATION: u64 = 60;

/// One task with what the agent did.
pub(crate) struct Row {
    id: String,
    kind: String,
    question: String,
    calls: usize,
    tokens: usize,
    citation: Option<Lines>,
    is_right: bool,
}

impl Row {
    pub(crate) fn new(task: &Task, outcome: Outcome) -> Row {
        let is_right = outcome.citation.as_ref().is_some_and(|cited| {
            cited.len() <= LONGEST_CITATION
                && task.answers.iter().any(|answer| answer.overlaps(cited))
        });
        Row {
            id: task.id.clone(),
            kind: task.kind.clone(),
            question: task.question.clone(),
            calls: outcome.calls,
            tokens: outcome.tokens,
            citation: outcome.citation,
            is_right,
        }
    }

    fn is_within_bounds(&self) -> bool {
        self.calls <= MOST_CALLS && self.tokens <= MOST_TOKENS
    }

    fn cited(&self) -> String {
        self.citation.as_ref().map_or_else(String::new, |lines| {
            format!("{}:{}-{}", lines.path, lines.first, lines.last)
        })
    }
}

/// What was done for one task, line by line.
pub(crate) fn print_steps(task: &Task, outcome: &Outcome) {
    println!("{} {}", task.id, task.question);
    for step in &outcome.steps {
        println!("    {step}");
    }
}

/// Prints the table; whether the thresholds are reached.
pub(crate) fn print(rows: &[Row]) -> bool {
    println!("\n## Agent tasks\n");
    println!("| task | kind | question | calls | tokens | cited | right |");
    println!("|---|---|---|---|---|---|---|");
    for row in rows {
        let right = if row.is_right { "yes" } else { "**no**" };
        println!(
            "| {} | {} | {} | {} | {} | {} | {right} |",
            row.id,
            row.kind,
            row.question,
            row.calls,
            row.tokens,
            row.cited()
        );
    }
    let right = rows.iter().filter(|row| row.is_right).count();
    let good = rows
        .iter()
        .filter(|row| row.is_right && row.is_within_bounds())
        .count();
    let tokens: usize = rows.iter().map(|row| row.tokens).sum();
    let most = rows.iter().map(|row| row.tokens).max().unwrap_or_default();
    println!(
        "\n{right} of {} right, {good} of them with at most {MOST_CALLS} calls and {MOST_TOKENS} tokens \
         (required: {RIGHT} of 30); tokens: mean {}, most {most}",
        rows.len(),
        tokens / rows.len().max(1)
    );
    // Where only one of the checkouts is there, the same share is asked of it.
    good * 30 >= RIGHT * rows.len()
}

pub(crate) fn to_json(rows: &[Row]) -> Value {
    let tasks = rows.iter().map(|row| {
        json!({
            "id": row.id,
            "calls": row.calls,
            "tokens": row.tokens,
            "cited": row.cited(),
            "right": row.is_right,
        })
    });
    Value::Array(tasks.collect())
}
