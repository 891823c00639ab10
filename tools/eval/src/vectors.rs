//! What cheaper vectors cost: two stages, inverted lists and nibbles against all rows of signed bytes.
//!
//! Two stages take the exact product of 40 k + 400 rows, and the table asks for k = 100; in a small
//! file that leaves out few rows or none. Therefore the same questions are also put to one file with
//! the rows of all collections.

use anyhow::Result;
use kb_engine::Document;
use kb_engine::Mode;
use kb_engine::{Scan, VectorCodec};
use serde_json::{Value, json};

use crate::metrics::mean;
use crate::reference::{self, GroupName};
use crate::runner::{self, Cut, TemporaryKb};
use crate::sets::{JudgedSet, Question};

/// Scores are cut after this many rows.
const CUT: usize = 10;

/// One way to store and to search vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// All rows of signed bytes.
    Exact,
    /// Signs first, then rows of signed bytes.
    TwoStage,
    /// Inverted lists, then rows of signed bytes.
    Lists,
    /// All rows of nibbles.
    Nibbles,
}

const WAYS: [Way; 4] = [Way::Exact, Way::TwoStage, Way::Lists, Way::Nibbles];

/// nDCG@10 of one collection.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scores {
    pub(crate) semantic: f64,
    pub(crate) hybrid: f64,
}

/// nDCG@10 of one collection by every way.
#[derive(Debug, Clone)]
pub(crate) struct SetVectors {
    pub(crate) name: String,
    /// Rows of the file.
    pub(crate) rows: usize,
    /// In the order of [`WAYS`].
    pub(crate) by_way: [Scores; WAYS.len()],
}

impl SetVectors {
    fn of(&self, way: Way) -> Scores {
        let place = WAYS.iter().position(|other| *other == way);
        let found = place.and_then(|place| self.by_way.get(place));
        found.copied().unwrap_or_default()
    }
}

/// A file of signed bytes, the same with inverted lists, and as nibbles.
struct Files<'f> {
    bytes: &'f TemporaryKb,
    lists: TemporaryKb,
    nibbles: TemporaryKb,
}

impl<'f> Files<'f> {
    fn new(bytes: &'f TemporaryKb) -> Result<Files<'f>> {
        let nibbles = bytes.sealed_as(VectorCodec::I4)?;
        let lists = bytes.with_lists()?;
        Ok(Files {
            bytes,
            lists,
            nibbles,
        })
    }

    fn measure(&self, name: &str, rows: usize, questions: &[Question]) -> Result<SetVectors> {
        let mut by_way = [Scores::default(); WAYS.len()];
        for (scores, way) in by_way.iter_mut().zip(WAYS) {
            let score = |mode| self.score(questions, mode, way);
            *scores = Scores {
                semantic: score(Mode::Semantic)?,
                hybrid: score(Mode::Hybrid)?,
            };
        }
        Ok(SetVectors {
            name: name.to_owned(),
            rows,
            by_way,
        })
    }

    fn score(&self, questions: &[Question], mode: Mode, way: Way) -> Result<f64> {
        let (file, scan) = match way {
            Way::Exact => (self.bytes, Scan::Exact),
            Way::TwoStage => (self.bytes, Scan::Rescored),
            Way::Lists => (&self.lists, Scan::Rescored),
            Way::Nibbles => (&self.nibbles, Scan::Exact),
        };
        let ranked = runner::ranked_rows(&file.kb, questions, mode, scan, Cut::Uncut)?;
        let scores = ranked.iter().zip(questions);
        let scores: Vec<f64> = scores
            .map(|(rows, question)| question.judgements.ndcg(rows, CUT))
            .collect();
        Ok(mean(&scores))
    }
}

/// The rows of all collections, to become one file.
#[derive(Default)]
pub(crate) struct Together {
    documents: Vec<Document>,
    rows: usize,
    /// The questions of each collection; what is right has the numbers of the one file.
    sets: Vec<(String, Vec<Question>)>,
}

impl Together {
    pub(crate) fn add(&mut self, set: &JudgedSet) -> Result<()> {
        let by = u32::try_from(self.rows)?;
        let questions = set.questions.iter().map(|question| Question {
            judgements: question.judgements.shifted(by),
            ..question.clone()
        });
        self.sets.push((set.name.clone(), questions.collect()));
        self.documents.extend(runner::documents(set, self.rows));
        self.rows += set.rows.len();
        Ok(())
    }

    /// Scores every collection on the one file.
    pub(crate) fn measure(self) -> Result<Vec<SetVectors>> {
        let bytes = runner::build("together", self.documents.into_iter(), Cut::Uncut)?;
        let files = Files::new(&bytes)?;
        let sets = self.sets.iter();
        sets.map(|(name, questions)| files.measure(name, self.rows, questions))
            .collect()
    }
}

/// Scores a collection on the file of its rows, which must be uncut.
pub(crate) fn measure(set: &JudgedSet, file: &TemporaryKb) -> Result<SetVectors> {
    Files::new(file)?.measure(&set.name, set.rows.len(), &set.questions)
}

/// Means over a group of collections, or over all.
#[derive(Debug, Clone)]
pub(crate) struct Means {
    pub(crate) name: &'static str,
    by_way: SetVectors,
}

impl Means {
    /// A way minus the exact one.
    pub(crate) fn change(&self, way: Way) -> Scores {
        change(&self.by_way, way)
    }
}

fn change(set: &SetVectors, way: Way) -> Scores {
    let (scores, exact) = (set.of(way), set.of(Way::Exact));
    Scores {
        semantic: scores.semantic - exact.semantic,
        hybrid: scores.hybrid - exact.hybrid,
    }
}

/// Means over all collections that were measured, and over those of each group.
pub(crate) fn means(sets: &[SetVectors]) -> Vec<Means> {
    let groups = [None, Some(GroupName::Text), Some(GroupName::Code)];
    let means = groups.into_iter().filter_map(|group| {
        let of_group = |set: &&SetVectors| {
            let own = reference::of(&set.name).map(|known| known.group);
            group.is_none() || own == group
        };
        let members: Vec<&SetVectors> = sets.iter().filter(of_group).collect();
        if members.is_empty() {
            return None;
        }
        let name = group.map_or("all", GroupName::name);
        let by_way = WAYS.map(|way| {
            let over = |figure: fn(&Scores) -> f64| {
                let figures = members.iter().map(|set| figure(&set.of(way)));
                mean(&figures.collect::<Vec<_>>())
            };
            Scores {
                semantic: over(|scores| scores.semantic),
                hybrid: over(|scores| scores.hybrid),
            }
        });
        let by_way = SetVectors {
            name: format!("**mean, {name}**"),
            rows: 0,
            by_way,
        };
        Some(Means { name, by_way })
    });
    means.collect()
}

/// Prints one line per collection and the means.
pub(crate) fn print_table(title: &str, sets: &[SetVectors]) {
    println!("\n## {title}\n");
    println!("nDCG@10 of all rows of signed bytes, and what another way changes.\n");
    println!(
        "| set | rows | semantic | in two stages | in lists | as nibbles | hybrid | in two stages | in lists | as nibbles |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for set in sets {
        print_line(set, &set.rows.to_string());
    }
    for means in means(sets) {
        print_line(&means.by_way, "");
    }
}

fn print_line(set: &SetVectors, rows: &str) {
    let exact = set.of(Way::Exact);
    let [two_stage, lists, nibbles] =
        [Way::TwoStage, Way::Lists, Way::Nibbles].map(|way| change(set, way));
    println!(
        "| {} | {rows} | {:.4} | {:+.4} | {:+.4} | {:+.4} | {:.4} | {:+.4} | {:+.4} | {:+.4} |",
        set.name,
        exact.semantic,
        two_stage.semantic,
        lists.semantic,
        nibbles.semantic,
        exact.hybrid,
        two_stage.hybrid,
        lists.hybrid,
        nibbles.hybrid
    );
}

/// All figures.
pub(crate) fn to_json(sets: &[SetVectors]) -> Value {
    let line = |name: &str, set: &SetVectors| {
        let way = |way| {
            let scores = set.of(way);
            json!({"semantic": scores.semantic, "hybrid": scores.hybrid})
        };
        json!({
            "set": name,
            "exact": way(Way::Exact),
            "two_stage": way(Way::TwoStage),
            "lists": way(Way::Lists),
            "nibbles": way(Way::Nibbles),
        })
    };
    let means = means(sets);
    let means = means.iter().map(|means| line(means.name, &means.by_way));
    let lines = sets.iter().map(|set| line(&set.name, set));
    json!({
        "sets": lines.collect::<Vec<_>>(),
        "means": means.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Judgements;
    use crate::sets::Row;

    fn set(name: &str, texts: &[&str], question: &str, right: u32) -> JudgedSet {
        let mut judgements = Judgements::default();
        judgements.add(Some(right), 1.0);
        JudgedSet {
            name: name.to_owned(),
            folder: "f".into(),
            rows: texts
                .iter()
                .map(|text| Row {
                    title: String::new(),
                    text: (*text).to_owned(),
                })
                .collect(),
            questions: vec![Question {
                id: "1".to_owned(),
                text: question.to_owned(),
                judgements,
            }],
        }
    }

    #[test]
    fn judged_rows_are_found_among_other_collections() {
        let cars = set(
            "cars",
            &["how to change a tyre of a car", "fuel for engines"],
            "change a tyre",
            0,
        );
        let cats = set(
            "cats",
            &["what a kitten eats in its first week", "where a cat sleeps"],
            "where does a cat sleep",
            1,
        );
        let mut together = Together::default();
        together.add(&cars).unwrap();
        together.add(&cats).unwrap();
        let mut measured = together.measure().unwrap();
        let file = runner::build_rows(&cats, Cut::Uncut).unwrap();
        measured.push(super::measure(&cats, &file).unwrap());
        assert_eq!(measured[0].rows, 4);
        for set in &measured {
            for scores in set.by_way {
                assert_eq!((scores.semantic, scores.hybrid), (1.0, 1.0), "{set:?}");
            }
        }
    }

    #[test]
    fn a_mean_counts_the_collections_of_its_group() {
        let measured = |name: &str, two_stage| SetVectors {
            name: name.to_owned(),
            rows: 1,
            by_way: [0.5, two_stage, 0.5, 0.5].map(|hybrid| Scores {
                semantic: 0.0,
                hybrid,
            }),
        };
        let sets = [
            measured("scifact", 0.4),
            measured("cisi", 0.5),
            measured("code-go", 0.3),
        ];
        let changes: Vec<(&str, f64)> = means(&sets)
            .iter()
            .map(|means| (means.name, means.change(Way::TwoStage).hybrid))
            .collect();
        let expected = [("all", -0.1), ("text", -0.05), ("code", -0.2)];
        for ((name, change), (expected_name, expected)) in changes.iter().zip(expected) {
            assert_eq!(*name, expected_name);
            assert!((change - expected).abs() < 1e-9);
        }
        assert_eq!(changes.len(), 3);
    }
}
