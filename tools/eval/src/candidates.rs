//! What a hybrid search knows of the candidates of each question of a collection, to choose weights by.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use kb_engine::{Hit, Kb, Mode};
use serde_json::{Value, json};

use crate::runner::{self, ask, for_each_question};
use crate::sets::{JudgedSet, Question};

/// Hits of a question: the best 100 of each index, and no deeper ones if all differ.
const MOST: usize = 300;

/// Evidence that multiplies a fused score.
const SHARES: [&str; 7] = [
    "tests",
    "test functions",
    "changelog",
    "example",
    "declarations",
    "generated",
    "data",
];

/// Writes one object of JSON for each question.
pub(crate) struct Candidates(BufWriter<File>);

impl Candidates {
    pub(crate) fn create(path: &Path) -> Result<Candidates> {
        let file =
            File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Candidates(BufWriter::new(file)))
    }

    /// Adds the questions of a collection.
    pub(crate) fn add(&mut self, kb: &Kb, set: &JudgedSet) -> Result<()> {
        let lines = for_each_question(&set.questions, |question| of_question(kb, set, question))?;
        for line in lines {
            writeln!(self.0, "{line}")?;
        }
        Ok(self.0.flush()?)
    }
}

fn of_question(kb: &Kb, set: &JudgedSet, question: &Question) -> Result<Value> {
    let mut request = runner::request(question, Mode::Hybrid, MOST);
    request.explain = true;
    let found = ask(kb, &request)?;
    let explained = found.explanation.context("an answer without explanation")?;
    request.k = 1;
    request.vector_column = Some("built-in".to_owned());
    let alone = ask(kb, &request)?
        .explanation
        .context("an answer without explanation")?;
    let hits: Result<Vec<Value>> = found.hits.iter().map(|hit| of_hit(question, hit)).collect();
    Ok(json!({
        "set": set.name,
        "id": question.id,
        "question": question.text,
        "ideal": question.judgements.ideal(10),
        "intent": explained.intent,
        "code_share": explained.code_share,
        "model_words": explained.model_words,
        "model_words_known": explained.model_words_known,
        "vector_weight": explained.vector_weight,
        "vector_weight_alone": alone.vector_weight,
        "terms": explained.terms.iter().map(|term| json!([term.term, term.chunks, term.idf, term.weight])).collect::<Vec<_>>(),
        "chunks": explained.chunks,
        "hits": hits?,
    }))
}

/// Row, gain, keyword, built-in and contextual score, share that is kept, neighbouring words, all else that is added.
fn of_hit(question: &Question, hit: &Hit) -> Result<Value> {
    let row = runner::row_of(&hit.document)?;
    let (mut added, mut lost, mut adjacency, mut contextual) = (0.0, 0.0, 0.0, None);
    for bonus in &hit.bonuses {
        match bonus.name {
            "contextual" => contextual = Some(bonus.value),
            "adjacency" => adjacency = bonus.score,
            name if SHARES.contains(&name) => lost += bonus.score,
            _ => added += bonus.score,
        }
    }
    let fused = hit.fused_score - added - lost - adjacency;
    let share = if fused > 0.0 {
        (fused + lost) / fused
    } else {
        1.0
    };
    Ok(json!([
        row,
        question.judgements.gain(row),
        hit.keyword_score,
        hit.vector_score,
        contextual,
        share,
        adjacency,
        added,
        fused,
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Judgements;
    use crate::runner::{Cut, build_rows};
    use crate::sets::{Row, read_lines};

    #[test]
    fn a_line_has_the_candidates_of_a_question() {
        let row = |text: &str| Row {
            title: String::new(),
            text: text.to_owned(),
        };
        let mut judgements = Judgements::default();
        judgements.add(Some(1), 2.0);
        let set = JudgedSet {
            name: "pools".to_owned(),
            folder: "f".into(),
            rows: vec![row("a lake"), row("how the pool is closed")],
            questions: vec![Question {
                id: "q".to_owned(),
                text: "where is the pool closed".to_owned(),
                judgements,
            }],
        };
        let file = build_rows(&set, Cut::Uncut).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("candidates.jsonl");
        let mut candidates = Candidates::create(&path).unwrap();
        candidates.add(&file.kb, &set).unwrap();
        let lines = read_lines(&path).unwrap();
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0]["ideal"], 2.0);
        let first = &lines[0]["hits"][0];
        assert_eq!((&first[0], &first[1]), (&json!(1), &json!(2.0)));
        assert!(first[2].as_f64() > Some(0.0) && first[4].is_null());
    }
}
