//! Questions with graded places, one object of JSON a line; `tools/eval/questions/README.md` has the form.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

use crate::checkout::Lines;
use crate::sets::{read_lines, text_of};

/// What a question may ask for, in the order of the tables.
pub(super) const KINDS: [&str; 6] = ["where", "how", "what-happens", "howto", "why", "error"];

/// The grade of a place that answers the question; 1 answers a part of it.
pub(crate) const ANSWERS: u64 = 2;

/// One question about a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    /// The file that it is from, without its ending.
    pub(super) set: String,
    /// `owner/name` on GitHub.
    pub(crate) repository: String,
    pub(super) commit: String,
    pub(super) id: String,
    pub(super) kind: String,
    pub(crate) text: String,
    pub(crate) places: Vec<Place>,
}

/// Lines that answer a question, with their grade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(super) lines: Lines,
    pub(super) grade: u64,
}

impl Question {
    /// A question with one place `path:A-B`.
    #[cfg(test)]
    pub(crate) fn about(text: &str, place: &str, grade: u64) -> Question {
        Question {
            text: text.to_owned(),
            ..tests::question("q", &[(place, grade)])
        }
    }

    /// The best grade of the places that share a line with these; 0 without one.
    pub(crate) fn grade(&self, lines: &Lines) -> u64 {
        let shared = self
            .places
            .iter()
            .filter(|place| place.lines.overlaps(lines));
        shared.map(|place| place.grade).max().unwrap_or(0)
    }

    /// Places that answer the question.
    pub(super) fn right_places(&self) -> impl Iterator<Item = &Lines> {
        let right = self.places.iter().filter(|place| place.grade == ANSWERS);
        right.map(|place| &place.lines)
    }

    /// Whether a place that answers the question is in this file.
    pub(super) fn is_right_file(&self, path: &str) -> bool {
        self.right_places().any(|lines| lines.path == path)
    }

    /// An error when the checkout lacks one of the places.
    pub(super) fn check_against(&self, checkout: &Path) -> Result<()> {
        for place in &self.places {
            let path = checkout.join(&place.lines.path);
            fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))
                .and_then(|text| place.lines.check_against(&text))
                .with_context(|| {
                    format!(
                        "question {} is about commit {}; check that one out",
                        self.id, self.commit
                    )
                })?;
        }
        Ok(())
    }
}

/// Reads a set.
pub(super) fn load(path: &Path) -> Result<Vec<Question>> {
    let set = path.file_stem().unwrap_or_default().to_string_lossy();
    let lines = read_lines(path)?;
    let questions = lines.iter().zip(1..).map(|(value, number)| {
        parse(&set, value).with_context(|| format!("{}, line {number}", path.display()))
    });
    questions.collect()
}

fn parse(set: &str, value: &Value) -> Result<Question> {
    let question = Question {
        set: set.to_owned(),
        repository: text_of(value, "repo")?,
        commit: text_of(value, "commit")?,
        id: text_of(value, "id")?,
        kind: text_of(value, "kind")?,
        text: text_of(value, "question")?,
        places: value["answers"]
            .as_array()
            .into_iter()
            .flatten()
            .map(place)
            .collect::<Result<_>>()?,
    };
    if !KINDS.contains(&question.kind.as_str()) {
        bail!(
            "no kind {:?}; there are {}",
            question.kind,
            KINDS.join(", ")
        );
    }
    if question.right_places().next().is_none() {
        bail!("{} has no answer of grade {ANSWERS}", question.id);
    }
    Ok(question)
}

fn place(value: &Value) -> Result<Place> {
    let number = |field: &str| {
        let number = value[field].as_u64();
        number.ok_or_else(|| anyhow!("no number in field {field:?} of an answer"))
    };
    Ok(Place {
        lines: Lines {
            path: text_of(value, "path")?,
            first: number("start")?,
            last: number("end")?,
        },
        grade: number("grade")?,
    })
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::questions::own_set;

    /// A question of kind `where` with places `path:A-B` of these grades.
    pub(in crate::questions) fn question(id: &str, places: &[(&str, u64)]) -> Question {
        Question {
            set: "test".to_owned(),
            repository: "owner/name".to_owned(),
            commit: "c0ffee".to_owned(),
            id: id.to_owned(),
            kind: "where".to_owned(),
            text: "where is it".to_owned(),
            places: places
                .iter()
                .map(|(lines, grade)| Place {
                    lines: Lines::parse(lines).unwrap(),
                    grade: *grade,
                })
                .collect(),
        }
    }

    #[test]
    fn lines_have_the_best_grade_of_the_places_they_share_a_line_with() {
        let asked = question(
            "q",
            &[("a.c:1-9", 1), ("a.c:10-20", 2), ("docs/a.md:1-5", 1)],
        );
        let grade = |lines: &str| asked.grade(&Lines::parse(lines).unwrap());
        assert_eq!(grade("a.c:5-10"), 2);
        assert_eq!(grade("a.c:5-9"), 1);
        assert_eq!(grade("a.c:21-30"), 0);
        assert_eq!(grade("b.c:10-20"), 0);
        assert!(asked.is_right_file("a.c") && !asked.is_right_file("docs/a.md"));
    }

    #[test]
    fn a_question_needs_a_known_kind_and_an_answer() {
        let answer = json!({ "path": "a.c", "start": 1, "end": 2, "grade": 2 });
        let line = |kind: &str, answers: Value| {
            json!({
                "repo": "o/n", "commit": "c", "id": "n-1", "kind": kind, "question": "?",
                "answers": answers,
            })
        };
        assert!(parse("s", &line("how", json!([answer]))).is_ok());
        assert!(parse("s", &line("whence", json!([answer]))).is_err());
        let mut part = answer.clone();
        part["grade"] = json!(1);
        assert!(parse("s", &line("how", json!([part]))).is_err());
        part["end"] = json!("2");
        assert!(parse("s", &line("how", json!([answer, part]))).is_err());
    }

    #[test]
    fn a_checkout_of_another_commit_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.c"), "one\ntwo\n").unwrap();
        let asked = question("q", &[("a.c:1-2", 2)]);
        assert!(asked.check_against(folder.path()).is_ok());
        let asked = question("q", &[("a.c:1-2", 2), ("a.c:3-3", 1)]);
        let error = asked.check_against(folder.path()).unwrap_err();
        assert!(format!("{error:#}").contains("c0ffee"), "{error:#}");
    }

    #[test]
    fn our_own_set_has_25_questions_each_of_four_repositories() {
        let questions = load(&own_set()).unwrap();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for asked in &questions {
            *counts.entry(&asked.repository).or_default() += 1;
            assert_eq!(asked.commit.len(), 40, "{}", asked.id);
            for (number, place) in asked.places.iter().enumerate() {
                let lines = &place.lines;
                assert!(
                    lines.first > 0 && lines.first <= lines.last,
                    "{}: {lines:?}",
                    asked.id
                );
                assert!([1, ANSWERS].contains(&place.grade), "{}", asked.id);
                let others = asked.places.iter().skip(number + 1);
                for other in others {
                    assert!(!lines.overlaps(&other.lines), "{}: {lines:?}", asked.id);
                }
            }
        }
        assert_eq!(counts.len(), 4);
        assert!(counts.values().all(|count| *count == 25), "{counts:?}");
        let mut ids: Vec<&str> = questions.iter().map(|asked| asked.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), questions.len());
    }
}
