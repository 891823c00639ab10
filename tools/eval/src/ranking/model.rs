//! The ranking of the engine over candidates that were written: the same parts, with other weights.

use anyhow::Result;
use kb_engine::testing::search::RankWeights;
use serde_json::Value;

use crate::sets::text_of;

/// One question with its candidates.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) repository: String,
    id: String,
    /// What it asks for, as the engine understood it.
    intent: String,
    code_share: f64,
    /// Share of its words that the model knows.
    known: f64,
    candidates: Vec<Candidate>,
}

#[derive(Debug, Clone)]
struct Candidate {
    keyword: f64,
    vector: f64,
    class: String,
    /// Evidence by name, and how much of it there is.
    parts: Vec<(String, f64)>,
    is_right: bool,
}

/// A weight that is chosen, and the values that are tried.
#[derive(Debug, Clone, Copy)]
pub(super) struct Knob {
    pub(super) name: &'static str,
    pub(super) of: fn(&mut RankWeights) -> &mut f32,
    pub(super) steps: &'static [f32],
}

const SHARES: &[f32] = &[0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
const GAINS: &[f32] = &[0.0, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1];

/// The weights that questions decide.
pub(super) fn knobs() -> [Knob; 17] {
    let knob = |name, of, steps| Knob { name, of, steps };
    [
        knob(
            "vector_in_code_for_questions",
            |w| &mut w.vector_in_code_for_questions,
            &[0.35, 0.45, 0.5, 0.55, 0.6, 0.65],
        ),
        knob("test", |w| &mut w.test, SHARES),
        knob("test_function", |w| &mut w.test_function, SHARES),
        knob("changelog", |w| &mut w.changelog, SHARES),
        knob("example", |w| &mut w.example, SHARES),
        knob("declaration", |w| &mut w.declaration, SHARES),
        knob("generated", |w| &mut w.generated, SHARES),
        knob("data", |w| &mut w.data, SHARES),
        knob("place_code", |w| &mut w.place_code, GAINS),
        knob(
            "place_prose",
            |w| &mut w.place_prose,
            &[0.0, -0.02, -0.04, -0.05, -0.06, -0.08, -0.1],
        ),
        knob("task_prose", |w| &mut w.task_prose, GAINS),
        knob("behaviour_code", |w| &mut w.behaviour_code, GAINS),
        knob("reason_prose", |w| &mut w.reason_prose, GAINS),
        knob("path", |w| &mut w.path, GAINS),
        knob(
            "file_name_in_question",
            |w| &mut w.file_name_in_question,
            GAINS,
        ),
        knob(
            "adjacency_in_question",
            |w| &mut w.adjacency_in_question,
            &[0.0, 0.05, 0.1, 0.15, 0.25],
        ),
        knob(
            "definition_in_question",
            |w| &mut w.definition_in_question,
            &[0.0, 0.04, 0.08, 0.16, 0.33],
        ),
    ]
}

/// The questions of candidates, one a line, those of a question one after another.
pub(super) fn read(lines: &[Value]) -> Result<Vec<Asked>> {
    let mut asked: Vec<Asked> = Vec::new();
    for line in lines {
        let (id, repository) = (text_of(line, "id")?, text_of(line, "repo")?);
        let (hit, search) = (&line["hit"], &line["search"]);
        let number = |of: &Value, name: &str| of[name].as_f64().unwrap_or(0.0);
        let is_same = asked
            .last()
            .is_some_and(|last| last.id == id && last.repository == repository);
        if !is_same {
            let words = number(search, "model_words").max(1.0);
            asked.push(Asked {
                repository,
                id,
                intent: text_of(search, "intent")?,
                code_share: number(search, "code_share"),
                known: number(search, "model_words_known") / words,
                candidates: Vec::new(),
            });
        }
        let parts = hit["bonuses"].as_array().into_iter().flatten();
        let parts = parts.map(|part| Ok((text_of(part, "bonus")?, number(part, "value"))));
        let candidate = Candidate {
            keyword: number(hit, "keyword_score"),
            vector: number(hit, "vector_score"),
            class: text_of(hit, "class")?,
            parts: parts.collect::<Result<_>>()?,
            is_right: line["label"] == 1,
        };
        if let Some(last) = asked.last_mut() {
            last.candidates.push(candidate);
        }
    }
    Ok(asked)
}

/// One divided by the rank of the first right candidate; 0 without any. Of equal scores the right one comes last.
pub(super) fn reciprocal_rank(weights: &RankWeights, asked: &Asked) -> f64 {
    let scored = asked.candidates.iter();
    let scores: Vec<(f64, bool)> = scored
        .map(|candidate| (score(weights, asked, candidate), candidate.is_right))
        .collect();
    let right = scores.iter().filter(|(_, is_right)| *is_right);
    let Some(best) = right.map(|(score, _)| *score).reduce(f64::max) else {
        return 0.0;
    };
    let before = scores
        .iter()
        .filter(|(score, is_right)| !is_right && *score >= best)
        .count();
    1.0 / (before + 1) as f64
}

fn score(weights: &RankWeights, asked: &Asked, candidate: &Candidate) -> f64 {
    let prose = f64::from(weights.vector_in_prose);
    let code = f64::from(weights.vector_in_code_for_questions);
    let vector_weight = (prose + (code - prose) * asked.code_share) * asked.known;
    let fused = (1.0 - vector_weight) * candidate.keyword + vector_weight * candidate.vector;
    let (mut share, mut sum) = (1.0, 0.0);
    let (mut is_ordinary, mut is_changelog) = (true, false);
    for (name, value) in &candidate.parts {
        let kept = match name.as_str() {
            "tests" => Some(weights.test),
            "test functions" => Some(weights.test_function),
            "changelog" => Some(weights.changelog),
            "example" => Some(weights.example),
            "declarations" => Some(weights.declaration),
            "generated" => Some(weights.generated),
            _ => None,
        };
        is_ordinary &= kept.is_none();
        is_changelog |= name == "changelog";
        share *= f64::from(kept.unwrap_or(1.0));
        let added = match name.as_str() {
            "path" => weights.path,
            "file name" => weights.file_name_in_question,
            "adjacency" => weights.adjacency_in_question * (1.0 - vector_weight) as f32,
            "definition" => weights.definition_in_question,
            "symbol" => weights.symbol,
            "title" => weights.title,
            _ => 0.0,
        };
        sum += value * f64::from(added);
    }
    if candidate.class == "data" {
        share *= f64::from(weights.data);
    }
    let of_intent = match (asked.intent.as_str(), candidate.class.as_str()) {
        ("place", "code") if is_ordinary => weights.place_code,
        ("place", "doc") => weights.place_prose,
        ("task", "doc") if is_ordinary => weights.task_prose,
        ("behaviour", "code") if is_ordinary => weights.behaviour_code,
        ("reason", "doc") if is_ordinary => weights.reason_prose,
        ("change", _) if is_changelog => weights.change_changelog,
        _ => 0.0,
    };
    fused * share + f64::from(of_intent) + sum
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use kb_engine::testing::search::RANK_WEIGHTS;
    use serde_json::json;

    /// A question with candidates of a keyword score, the name of a part, and whether they are right.
    pub(in crate::ranking) fn asked(repository: &str, candidates: &[(f64, &str, bool)]) -> Asked {
        let lines: Vec<Value> = candidates
            .iter()
            .map(|(keyword, part, is_right)| {
                let parts = if part.is_empty() {
                    json!([])
                } else {
                    json!([{ "bonus": part, "value": 1.0, "score": 0.1 }])
                };
                json!({
                    "repo": repository, "id": "q", "label": u8::from(*is_right),
                    "hit": { "keyword_score": keyword, "vector_score": keyword, "class": "code", "bonuses": parts },
                    "search": { "intent": "other", "code_share": 0.5, "model_words": 4, "model_words_known": 4 },
                })
            })
            .collect();
        read(&lines).unwrap().remove(0)
    }

    #[test]
    fn the_rank_is_that_of_the_first_right_candidate() {
        let rank = |candidates: &[(f64, &str, bool)]| {
            reciprocal_rank(&RANK_WEIGHTS, &asked("a/b", candidates))
        };
        assert_eq!(
            rank(&[(0.9, "", false), (0.5, "", true), (0.4, "", true)]),
            0.5
        );
        assert_eq!(rank(&[(0.9, "tests", false), (0.8, "", true)]), 1.0);
        assert_eq!(rank(&[(0.5, "", false), (0.5, "", true)]), 0.5);
        assert_eq!(rank(&[(0.9, "", false)]), 0.0);
    }
}
