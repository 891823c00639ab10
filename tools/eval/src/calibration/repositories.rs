//! What files of checkouts answer: natural questions put to their own repository and to those of other fields.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use kb_engine::{IndexOptions, Kb, KbWriter, Progress, Request};
use tempfile::TempDir;

use super::observe::{Answer, Observation, Scored, Size, TOP};
use crate::checkout::Lines;
use crate::questions::{ANSWERS, Question, judged};
use crate::runner::RANKED;
use crate::verdict::foreign;

/// A checkout with its questions.
struct Repository {
    name: String,
    questions: Vec<Question>,
    kb: Kb,
}

/// Asks everything, and adds the names of the repositories to those of the collections.
pub(super) fn observe(checkouts: &Path, names: &mut Vec<String>) -> Result<Vec<Observation>> {
    let folder = TempDir::new()?;
    let mut repositories = Vec::new();
    for (checkout, questions) in judged(checkouts)? {
        let Some(first) = questions.first() else {
            continue;
        };
        let name = first.repository.clone();
        eprintln!("calibration: {name}");
        let path = folder.path().join(name.replace('/', "+"));
        let mut writer = KbWriter::open_or_create(&path)?;
        writer.index(&[checkout], &IndexOptions::new(), &mut Progress::ignore)?;
        drop(writer);
        repositories.push(Repository {
            name,
            questions,
            kb: Kb::open(&path)?,
        });
    }
    let mut all = Vec::new();
    for (place, own) in repositories.iter().enumerate() {
        let number = names.len() + place;
        let observed = |is_own, answers| Observation {
            set: number,
            file: Some(number),
            size: Size::Repository,
            is_own,
            answers,
        };
        for question in &own.questions {
            all.push(observed(true, ask(&own.kb, question, true)?));
        }
        for other in &repositories {
            if foreign(&own.name, &other.name) {
                for question in &other.questions {
                    all.push(observed(false, ask(&own.kb, question, false)?));
                }
            }
        }
    }
    names.extend(repositories.into_iter().map(|one| one.name));
    Ok(all)
}

/// Asks in all ranked modes. A hit that answers a part of the question is neither right nor wrong, and is left out.
fn ask(kb: &Kb, question: &Question, is_own: bool) -> Result<[Answer; RANKED.len()]> {
    let mut answers = Vec::with_capacity(RANKED.len());
    for mode in RANKED {
        let mut request = Request::new(question.text.as_str()).mode(mode).join(false);
        (request.plain, request.k, request.explain) = (true, TOP, true);
        let response = kb.search(&request).with_context(|| question.text.clone())?;
        let graded = response.hits.iter().map(|hit| {
            let lines = Lines {
                path: hit.document.clone(),
                first: u64::from(hit.lines.first),
                last: u64::from(hit.lines.last),
            };
            let grade = if is_own { question.grade(&lines) } else { 0 };
            (hit.fused_score, grade)
        });
        let clear = graded.filter(|(_, grade)| matches!(*grade, 0 | ANSWERS));
        let hits = clear
            .map(|(fused, grade)| Scored {
                fused,
                is_right: grade == ANSWERS,
            })
            .collect();
        let explanation = response
            .explanation
            .context("an answer without explanation")?;
        answers.push(Answer {
            signals: explanation.signals,
            hits,
        });
    }
    answers
        .try_into()
        .map_err(|_| anyhow!("a mode without an answer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_right_about_its_own_lines_only() {
        let folder = tempfile::tempdir().unwrap();
        let checkout = folder.path().join("pool");
        std::fs::create_dir(&checkout).unwrap();
        let text = "def close_pool():\n    return drain(pool)\n";
        std::fs::write(checkout.join("pool.py"), text).unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        let options = IndexOptions::new();
        writer
            .index(&[checkout], &options, &mut Progress::ignore)
            .unwrap();
        drop(writer);
        let kb = Kb::open(&path).unwrap();
        let asked = |grade| {
            let mut asked = Question::about("where is the pool closed", "pool.py:1-2", grade);
            asked.repository = "owner/pool".to_owned();
            asked
        };
        let rights = |question: &Question, is_own| -> Vec<bool> {
            let [hybrid, ..] = ask(&kb, question, is_own).unwrap();
            hybrid.hits.iter().map(|hit| hit.is_right).collect()
        };
        assert_eq!(rights(&asked(ANSWERS), true), [true]);
        assert_eq!(rights(&asked(ANSWERS), false), [false]);
        assert!(rights(&asked(1), true).is_empty(), "a part of the answer");
    }
}
