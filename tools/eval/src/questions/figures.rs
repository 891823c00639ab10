//! The figures of a group of questions, each with its interval.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::set::{KINDS, Question};
use crate::bootstrap::{self, Interval};

/// How many hits are looked at.
pub(super) const DEPTH: usize = 10;

/// Among how many first hits a place or a file counts as found.
pub(super) const CUTS: [usize; 4] = [1, 3, 5, DEPTH];

/// Where the right place and the right file stand among the first [`DEPTH`] hits, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ranks {
    pub(super) span: Option<usize>,
    pub(super) file: Option<usize>,
}

/// Figures of a group of questions. Each repository weighs the same.
#[derive(Debug, Clone)]
pub(super) struct Figures {
    pub(super) name: String,
    pub(super) questions: usize,
    /// Share of questions whose right place is among this many first hits, in the order of [`CUTS`].
    pub(super) span: [Interval; 4],
    /// The same of the right file.
    pub(super) file: [Interval; 4],
    /// Mean reciprocal rank of the right place.
    pub(super) mrr: Interval,
}

/// Figures of all questions, of each set where there are several, of each repository and of each kind.
pub(super) fn all(asked: &[(&Question, Ranks)]) -> Vec<Figures> {
    let mut figures = vec![of("all", asked, |_| true)];
    let names_of = |name: fn(&Question) -> &str| {
        let mut names: Vec<&str> = Vec::new();
        for (question, _) in asked {
            if !names.contains(&name(question)) {
                names.push(name(question));
            }
        }
        names
    };
    let sets = names_of(|question| &question.set);
    if sets.len() > 1 {
        let of_set = |set| of(set, asked, |question| question.set == set);
        figures.extend(sets.into_iter().map(of_set));
    }
    let repositories = names_of(|question| &question.repository);
    let of_repository = |name| of(name, asked, |question| question.repository == name);
    figures.extend(repositories.into_iter().map(of_repository));
    let kinds = names_of(|question| &question.kind);
    let kinds = KINDS.into_iter().filter(|kind| kinds.contains(kind));
    figures.extend(kinds.map(|kind| of(kind, asked, |question| question.kind == kind)));
    figures
}

fn of(
    name: &str,
    asked: &[(&Question, Ranks)],
    is_in_group: impl Fn(&Question) -> bool,
) -> Figures {
    let mut repositories: BTreeMap<&str, Vec<Ranks>> = BTreeMap::new();
    for (question, ranks) in asked.iter().filter(|(question, _)| is_in_group(question)) {
        let of_repository = repositories.entry(&question.repository).or_default();
        of_repository.push(*ranks);
    }
    let mean = |value: &dyn Fn(&Ranks) -> f64| {
        let groups: Vec<Vec<f64>> = repositories
            .values()
            .map(|ranks| ranks.iter().map(value).collect())
            .collect();
        bootstrap::of_macro_mean(&groups)
    };
    let is_within =
        |rank: Option<usize>, cut: usize| f64::from(u8::from(rank.is_some_and(|r| r <= cut)));
    Figures {
        name: name.to_owned(),
        questions: repositories.values().map(Vec::len).sum(),
        span: CUTS.map(|cut| mean(&|ranks| is_within(ranks.span, cut))),
        file: CUTS.map(|cut| mean(&|ranks| is_within(ranks.file, cut))),
        mrr: mean(&|ranks| ranks.span.map_or(0.0, |rank| 1.0 / rank as f64)),
    }
}

pub(super) fn to_json(figures: &Figures) -> Value {
    let interval =
        |figure: &Interval| json!({ "mean": figure.mean, "low": figure.low, "high": figure.high });
    let at_cuts = |figures: &[Interval; 4]| {
        let values = CUTS.iter().zip(figures);
        let fields = values.map(|(cut, figure)| (cut.to_string(), interval(figure)));
        Value::Object(fields.collect())
    };
    json!({
        "name": figures.name,
        "questions": figures.questions,
        "span": at_cuts(&figures.span),
        "file": at_cuts(&figures.file),
        "mrr": interval(&figures.mrr),
    })
}

#[cfg(test)]
mod tests {
    use super::super::set::tests::question;
    use super::*;

    #[test]
    fn each_repository_weighs_the_same() {
        let mut one = question("a", &[("a.c:1-2", 2)]);
        let mut other = one.clone();
        other.repository = "owner/other".to_owned();
        one.kind = "why".to_owned();
        let found = |span, file| Ranks { span, file };
        let asked = [
            (&one, found(Some(1), Some(1))),
            (&one, found(Some(4), Some(1))),
            (&one, found(None, Some(2))),
            (&other, found(None, None)),
        ];
        let figures = all(&asked);
        let names: Vec<&str> = figures.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["all", "owner/name", "owner/other", "where", "why"]);
        let first = figures.first().unwrap();
        assert_eq!(first.questions, 4);
        let means = |figures: [Interval; 4]| figures.map(|figure| (figure.mean * 600.0).round());
        assert_eq!(means(first.span), [100.0, 100.0, 200.0, 200.0]);
        assert_eq!(means(first.file), [200.0, 300.0, 300.0, 300.0]);
        assert!((first.mrr.mean - (1.0 + 0.25) / 3.0 / 2.0).abs() < 1e-9);
        assert_eq!(to_json(first)["file"]["3"]["mean"], 0.5);
    }
}
