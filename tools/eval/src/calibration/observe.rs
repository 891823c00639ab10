//! What files of all sizes answer: questions put to their own file and to those of other fields.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use kb_engine::{Kb, RelevanceSignals, Request, search_files};

use crate::metrics::Judgements;
use crate::runner::{self, Cut, RANKED};
use crate::sets::{self, JudgedSet, Question};
use crate::verdict::{Built, WRONG_PER_FILE, foreign, spread};

/// Hits of a question that count.
pub(super) const TOP: usize = 10;

/// Questions of a collection that are put to a file of it, to the file of all collections, and to that of all other
/// fields.
const PER_FILE: usize = 150;

/// How large the files are: rows of a sample, a whole collection, all collections together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Size {
    Rows(usize),
    Whole,
    Joined,
    /// A checkout of a repository.
    Repository,
}

impl Size {
    pub(crate) const ALL: [Size; 6] = [
        Size::Rows(15),
        Size::Rows(40),
        Size::Rows(400),
        Size::Whole,
        Size::Joined,
        Size::Repository,
    ];

    pub(crate) fn name(self) -> String {
        match self {
            Size::Rows(rows) => format!("{rows} chunks"),
            Size::Whole => "whole sets".to_owned(),
            Size::Joined => "all sets in one".to_owned(),
            Size::Repository => "repositories".to_owned(),
        }
    }
}

/// One hit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scored {
    pub(crate) fused: f32,
    pub(crate) is_right: bool,
}

/// What one file answers to one question in one mode.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) signals: RelevanceSignals,
    /// Best first.
    pub(crate) hits: Vec<Scored>,
}

/// What a file answers to one question, in the order of [`RANKED`].
#[derive(Debug, Clone)]
pub(crate) struct Observation {
    /// Number of the collection that the question is from.
    pub(crate) set: usize,
    /// Number of the collection that was asked; `None` for several.
    pub(crate) file: Option<usize>,
    pub(crate) size: Size,
    /// Whether the file holds answers; else it is of other fields.
    pub(crate) is_own: bool,
    pub(crate) answers: [Answer; RANKED.len()],
}

/// Asks everything. Observations of one collection and size stand together.
pub(crate) fn observe(folder: &Path, names: &[String]) -> Result<Vec<Observation>> {
    let mut all = Vec::new();
    for size in Size::ALL {
        let Some(rows) = rows_of(size) else {
            continue;
        };
        eprintln!("calibration: {}", size.name());
        let mut built = Vec::new();
        for name in names {
            let set = sets::load(folder, name)?;
            let set = match rows {
                Some(rows) => sample(&set, rows),
                None => set,
            };
            built.push(Built::new(&set, runner::build_rows(&set, Cut::Uncut)?));
        }
        apart(&built, size, &mut all)?;
        if size == Size::Whole {
            eprintln!("calibration: {}", Size::Joined.name());
            joined(&built, &mut all)?;
        }
    }
    Ok(all)
}

/// Rows of the files of a size, `None` for all of them; `None` for what is no collection by itself.
fn rows_of(size: Size) -> Option<Option<usize>> {
    match size {
        Size::Rows(rows) => Some(Some(rows)),
        Size::Whole => Some(None),
        Size::Joined | Size::Repository => None,
    }
}

/// Every collection is a file.
fn apart(built: &[Built], size: Size, all: &mut Vec<Observation>) -> Result<()> {
    for (set, own) in built.iter().enumerate() {
        let files = [&own.file.kb];
        let observed = |file: usize, is_own, answers| Observation {
            set,
            file: Some(file),
            size,
            is_own,
            answers,
        };
        let questions = spread(&own.questions, PER_FILE);
        let answers = ask_all(&files, Some(0), &questions)?;
        all.extend(answers.into_iter().map(|one| observed(set, true, one)));
        let wrong = spread(&own.questions, WRONG_PER_FILE);
        for (number, other) in built.iter().enumerate() {
            if foreign(&own.name, &other.name) {
                let answers = ask_all(&[&other.file.kb], None, &wrong)?;
                all.extend(answers.into_iter().map(|one| observed(number, false, one)));
            }
        }
    }
    Ok(())
}

/// All collections are one file; so are all of other fields than the question.
fn joined(built: &[Built], all: &mut Vec<Observation>) -> Result<()> {
    let every: Vec<&Kb> = built.iter().map(|one| &one.file.kb).collect();
    for (set, own) in built.iter().enumerate() {
        let questions = spread(&own.questions, PER_FILE);
        let others = built.iter().filter(|one| foreign(&own.name, &one.name));
        let others: Vec<&Kb> = others.map(|one| &one.file.kb).collect();
        let observed = |is_own, answers| Observation {
            set,
            file: None,
            size: Size::Joined,
            is_own,
            answers,
        };
        if every.len() > 1 {
            let answers = ask_all(&every, Some(set), &questions)?;
            all.extend(answers.into_iter().map(|one| observed(true, one)));
        }
        if others.len() > 1 {
            let answers = ask_all(&others, None, &questions)?;
            all.extend(answers.into_iter().map(|one| observed(false, one)));
        }
    }
    Ok(())
}

/// Asks all questions; `own` is the position of the file that they are judged for.
fn ask_all(
    files: &[&Kb],
    own: Option<usize>,
    questions: &[Question],
) -> Result<Vec<[Answer; RANKED.len()]>> {
    runner::for_each_question(questions, |question| {
        let mut answers = Vec::with_capacity(RANKED.len());
        for mode in RANKED {
            let mut request = runner::request(question, mode, TOP);
            request.explain = true;
            answers.push(ask(files, own, question, &request)?);
        }
        answers
            .try_into()
            .map_err(|_| anyhow!("a mode without an answer"))
    })
}

fn ask(
    files: &[&Kb],
    own: Option<usize>,
    question: &Question,
    request: &Request,
) -> Result<Answer> {
    let response = search_files(files, request).with_context(|| question.text.clone())?;
    let mut hits = Vec::with_capacity(response.hits.len());
    for hit in &response.hits {
        let row = runner::row_of(&hit.document)?;
        hits.push(Scored {
            fused: hit.fused_score,
            is_right: own == Some(hit.file) && question.judgements.is_right(row),
        });
    }
    let explanation = response
        .explanation
        .context("an answer without explanation")?;
    Ok(Answer {
        signals: explanation.signals,
        hits,
    })
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
