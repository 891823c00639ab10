//! The first hits of each question with all parts of their scores, to learn a ranking from.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use super::ask::{Answer, Hit};
use super::set::{ANSWERS, Question};

/// The file that is written, one object of JSON a question and hit.
pub(super) struct Candidates {
    path: PathBuf,
    writer: BufWriter<File>,
    count: usize,
}

impl Candidates {
    pub(super) fn create(path: &Path) -> Result<Candidates> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        let file =
            File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Candidates {
            path: path.to_owned(),
            writer: BufWriter::new(file),
            count: 0,
        })
    }

    /// Adds the hits of one question.
    pub(super) fn add(&mut self, question: &Question, answer: &Answer) -> Result<()> {
        let search = without(&answer.explanation, "steps");
        for (hit, rank) in answer.hits.iter().zip(1..) {
            let line = line(question, &search, hit, rank);
            writeln!(self.writer, "{line}")
                .with_context(|| format!("cannot write {}", self.path.display()))?;
            self.count += 1;
        }
        Ok(())
    }

    /// Writes what is left and says where it is.
    pub(super) fn finish(mut self) -> Result<()> {
        self.writer
            .flush()
            .with_context(|| format!("cannot write {}", self.path.display()))?;
        println!("\n{} candidates in {}", self.count, self.path.display());
        Ok(())
    }
}

fn line(question: &Question, search: &Value, hit: &Hit, rank: usize) -> Value {
    let grade = question.grade(&hit.lines);
    json!({
        "set": question.set,
        "repo": question.repository,
        "id": question.id,
        "kind": question.kind,
        "question": question.text,
        "rank": rank,
        "path": hit.lines.path,
        "start": hit.lines.first,
        "end": hit.lines.last,
        "grade": grade,
        "label": u8::from(grade == ANSWERS),
        "is_right_file": question.is_right_file(&hit.lines.path),
        // The checkout has the text, and the times of the steps differ in each run.
        "hit": without(&hit.parts, "text"),
        "search": search,
    })
}

/// An object without one of its fields.
fn without(object: &Value, field: &str) -> Value {
    let fields = object.as_object().into_iter().flatten();
    let kept: Map<String, Value> = fields
        .filter(|(name, _)| *name != field)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Value::Object(kept)
}

#[cfg(test)]
mod tests {
    use super::super::ask::tests::answer;
    use super::super::set::tests::question;
    use super::*;
    use crate::sets::read_lines;

    #[test]
    fn each_hit_is_a_line_with_its_parts_and_its_grade() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/candidates.jsonl");
        let asked = question("q-1", &[("a.c:10-20", 2), ("b.c:1-5", 1)]);
        let mut candidates = Candidates::create(&path).unwrap();
        let found = answer(&["a.c:1-9", "b.c:1-5", "a.c:20-29"]);
        candidates.add(&asked, &found).unwrap();
        candidates.finish().unwrap();
        let lines = read_lines(&path).unwrap();
        let column =
            |name: &str| -> Value { lines.iter().map(|line| line[name].clone()).collect() };
        assert_eq!(column("grade"), json!([0, 1, 2]));
        assert_eq!(column("label"), json!([0, 0, 1]));
        assert_eq!(column("rank"), json!([1, 2, 3]));
        assert_eq!(column("is_right_file"), json!([true, false, true]));
        for line in &lines {
            assert_eq!(line["hit"]["keyword_score"], 0.25);
            assert!(line["hit"]["text"].is_null());
            assert_eq!(line["search"], json!({ "mode": "hybrid" }));
        }
    }
}
