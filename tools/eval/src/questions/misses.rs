//! Questions whose right place is not first: what came first, and by which parts of its score.

use anyhow::Result;
use serde_json::Value;

use super::ask::{Answer, Hit};
use super::figures::Ranks;
use super::set::{ANSWERS, Question};
use super::table::share;

/// How far the right place is looked for.
pub(super) const FAR: usize = 100;

/// Describes a miss; `far` asks for the first [`FAR`] hits, which is done where the right place is not among `near`.
pub(super) fn describe(
    question: &Question,
    ranks: Ranks,
    near: &Answer,
    far: impl FnOnce() -> Result<Answer>,
) -> Result<String> {
    let place = |rank: Option<usize>| rank.map_or("-".to_owned(), |rank| rank.to_string());
    let mut text = format!(
        "{} {}: place {}, file {}: {}\n",
        question.id,
        question.kind,
        place(ranks.span),
        place(ranks.file),
        question.text
    );
    if let Some(first) = near.hits.first() {
        let of_grade = match question.grade(&first.lines) {
            0 if question.is_right_file(&first.lines.path) => " (right file)",
            0 => "",
            _ => " (answers a part)",
        };
        text.push_str(&format!("  first{of_grade}  {}\n", parts(first)));
    }
    let searched;
    let answer = if ranks.span.is_some() {
        near
    } else {
        searched = far()?;
        &searched
    };
    let mut hits = answer.hits.iter().zip(1..);
    match hits.find(|(hit, _)| question.grade(&hit.lines) == ANSWERS) {
        Some((hit, rank)) => text.push_str(&format!("  right, {rank}.  {}\n", parts(hit))),
        None => {
            let right = question.right_places();
            let right = right.map(|lines| format!("{}:{}-{}", lines.path, lines.first, lines.last));
            let right: Vec<String> = right.collect();
            text.push_str(&format!("  right, not among {FAR}  {}\n", right.join(", ")));
        }
    }
    Ok(text)
}

/// The place of a hit and the parts of its score.
fn parts(hit: &Hit) -> String {
    let number = |name: &str, value: &Value| {
        let value = value.as_f64();
        value.map(|value| format!("{name} {}", share(value, 3)))
    };
    let lines = &hit.lines;
    let mut text = format!("{}:{}-{}", lines.path, lines.first, lines.last);
    let scores = [
        ("score", "score"),
        ("fused", "fused_score"),
        ("keyword", "keyword_score"),
        ("vector", "vector_score"),
    ];
    let scores = scores.into_iter();
    let mut parts: Vec<String> = scores
        .filter_map(|(name, field)| number(name, hit.parts.get(field)?))
        .collect();
    for bonus in hit.parts["bonuses"].as_array().into_iter().flatten() {
        let name = bonus["bonus"].as_str().unwrap_or("bonus");
        let score = bonus["score"].as_f64().unwrap_or(0.0);
        parts.push(format!("{name} {score:+.3}"));
    }
    let terms = hit.parts["terms"].as_array().into_iter().flatten();
    let terms: Vec<String> = terms
        .filter_map(|term| number(term["term"].as_str()?, &term["score"]))
        .collect();
    if !terms.is_empty() {
        parts.push(format!("words: {}", terms.join(" ")));
    }
    text.push_str("  ");
    text.push_str(&parts.join(", "));
    text
}

#[cfg(test)]
mod tests {
    use super::super::ask::tests::answer;
    use super::super::set::tests::question;
    use super::*;

    fn described(near: &[&str], far: &[&str]) -> String {
        let asked = question("q-1", &[("a.c:10-20", 2), ("b.c:1-5", 1)]);
        let near = answer(near);
        let ranks = Ranks {
            span: near.span_rank(&asked),
            file: near.file_rank(&asked),
        };
        describe(&asked, ranks, &near, || Ok(answer(far))).unwrap()
    }

    #[test]
    fn a_miss_names_the_first_hit_and_the_right_one() {
        let text = described(&["b.c:1-5", "a.c:20-29"], &[]);
        let parts = "score .900, fused .500, keyword .250, adjacency -0.030, words: loop .100";
        let expected = format!(
            "q-1 where: place 2, file 2: where is it\n  first (answers a part)  b.c:1-5  {parts}\n  \
             right, 2.  a.c:20-29  {parts}\n"
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn a_place_that_is_not_near_is_looked_for_further_down() {
        let text = described(&["a.c:1-5"], &["a.c:1-5", "b.c:1-2", "a.c:9-10"]);
        assert!(text.contains("place -, file 1"), "{text}");
        assert!(text.contains("first (right file)"), "{text}");
        assert!(text.contains("right, 3.  a.c:9-10"), "{text}");
        let text = described(&["a.c:1-5"], &["a.c:1-5"]);
        assert!(text.contains("not among 100  a.c:10-20\n"), "{text}");
    }
}
