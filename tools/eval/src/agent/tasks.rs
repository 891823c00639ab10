//! The tasks, the questions and the checkouts they are about, from `tools/eval/data`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::checkout::Lines;
use crate::sets::{parse_lines, text_of};

const CHECKOUTS: &str = include_str!("../../data/checkouts.json");
const TASKS: &str = include_str!("../../data/agent-tasks.jsonl");
const QUESTIONS: &str = include_str!("../../data/where-questions.jsonl");

/// One question with the lines that answer it.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) checkout: String,
    pub(crate) kind: String,
    pub(crate) question: String,
    pub(crate) answers: Vec<Lines>,
}

/// One question with the files that answer it.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) checkout: String,
    pub(crate) question: String,
    pub(crate) files: Vec<String>,
}

/// The repositories that the tasks are about, and where the caller has them.
pub(crate) struct Checkouts {
    /// Repository and commit by name.
    pinned: BTreeMap<String, (String, String)>,
    folders: BTreeMap<String, PathBuf>,
}

impl Checkouts {
    pub(crate) fn load() -> Result<Checkouts> {
        let value: Value = serde_json::from_str(CHECKOUTS)?;
        let mut pinned = BTreeMap::new();
        for (name, checkout) in value.as_object().context("checkouts.json is no object")? {
            let fields = (
                text_of(checkout, "repository")?,
                text_of(checkout, "commit")?,
            );
            pinned.insert(name.clone(), fields);
        }
        Ok(Checkouts {
            pinned,
            folders: BTreeMap::new(),
        })
    }

    /// The caller has that checkout in a folder.
    pub(crate) fn give(&mut self, name: &str, folder: &Path) -> Result<()> {
        if !self.pinned.contains_key(name) {
            let names: Vec<&str> = self.pinned.keys().map(String::as_str).collect();
            bail!("no checkout {name:?}; there are {}", names.join(", "));
        }
        if !folder.is_dir() {
            bail!("{} is no folder", folder.display());
        }
        self.folders.insert(name.to_owned(), folder.to_owned());
        Ok(())
    }

    /// The caller has checkouts in folders of their names.
    pub(crate) fn give_all(&mut self, folder: &Path) {
        for name in self.pinned.keys() {
            let own = folder.join(name);
            if own.is_dir() {
                self.folders.insert(name.clone(), own);
            }
        }
    }

    /// Names and folders of the checkouts that the caller has.
    pub(crate) fn given(&self) -> impl Iterator<Item = (&str, &Path)> {
        let folders = self.folders.iter();
        folders.map(|(name, folder)| (name.as_str(), folder.as_path()))
    }

    /// Commands that fetch all checkouts.
    pub(crate) fn recipe(&self) -> Vec<String> {
        let lines = self.pinned.iter().flat_map(|(name, (repository, commit))| {
            [
                format!("git clone {repository} checkouts/{name}"),
                format!("git -C checkouts/{name} checkout {commit}"),
            ]
        });
        let how =
            "and name them with --checkouts checkouts, or one by one with --checkout NAME=DIR.";
        lines.chain(["".to_owned(), how.to_owned()]).collect()
    }

    /// The text of a file of a checkout, where the caller has that checkout.
    fn text(&self, checkout: &str, path: &str) -> Result<Option<String>> {
        let Some(folder) = self.folders.get(checkout) else {
            return Ok(None);
        };
        let commit = self.pinned.get(checkout).map_or("", |(_, commit)| commit);
        let text = fs::read_to_string(folder.join(path)).with_context(|| {
            format!("{checkout} has no {path}; the tasks were written for commit {commit}")
        })?;
        Ok(Some(text))
    }
}

/// Tasks about the checkouts that the caller has.
pub(crate) fn agent_tasks(checkouts: &Checkouts) -> Result<Vec<Task>> {
    let mut tasks = Vec::new();
    for value in parse_lines(TASKS)? {
        let task = Task {
            id: text_of(&value, "id")?,
            checkout: text_of(&value, "checkout")?,
            kind: text_of(&value, "kind")?,
            question: text_of(&value, "question")?,
            answers: texts(&value, "answers")?
                .iter()
                .map(|lines| Lines::parse(lines))
                .collect::<Result<_>>()?,
        };
        let mut is_given = false;
        for answer in &task.answers {
            let Some(text) = checkouts.text(&task.checkout, &answer.path)? else {
                break;
            };
            is_given = true;
            answer
                .check_against(&text)
                .with_context(|| format!("task {}", task.id))?;
        }
        if is_given {
            tasks.push(task);
        }
    }
    Ok(tasks)
}

/// Questions about the checkouts that the caller has.
pub(crate) fn where_questions(checkouts: &Checkouts) -> Result<Vec<Question>> {
    let mut questions = Vec::new();
    for value in parse_lines(QUESTIONS)? {
        let question = Question {
            checkout: text_of(&value, "checkout")?,
            question: text_of(&value, "question")?,
            files: texts(&value, "files")?,
        };
        let mut is_given = false;
        for file in &question.files {
            is_given |= checkouts.text(&question.checkout, file)?.is_some();
        }
        if is_given {
            questions.push(question);
        }
    }
    Ok(questions)
}

fn texts(value: &Value, field: &str) -> Result<Vec<String>> {
    let list = value[field].as_array().cloned().unwrap_or_default();
    let texts = list.iter().filter_map(|text| text.as_str());
    let texts: Vec<String> = texts.map(str::to_owned).collect();
    if texts.is_empty() {
        bail!("no list of texts in field {field:?}");
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_checkout_there_is_no_task() {
        let checkouts = Checkouts::load().unwrap();
        assert!(agent_tasks(&checkouts).unwrap().is_empty());
        assert!(where_questions(&checkouts).unwrap().is_empty());
        assert!(checkouts.recipe().len() > 12);
    }

    #[test]
    fn all_tasks_name_a_pinned_checkout() {
        let checkouts = Checkouts::load().unwrap();
        let tasks = parse_lines(TASKS).unwrap();
        assert_eq!(tasks.len(), 30);
        for value in tasks.iter().chain(&parse_lines(QUESTIONS).unwrap()) {
            let name = text_of(value, "checkout").unwrap();
            assert!(checkouts.pinned.contains_key(&name), "{name}");
        }
    }
}
