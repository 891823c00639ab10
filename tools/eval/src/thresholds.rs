//! The thresholds that the figures must reach.

use kb_engine::Mode;
use serde_json::{Value, json};

use crate::reference::{GROUPS, KNOWN_LOSS, PART_ALLOWANCE};
use crate::scores::{self, GroupScores, SetScores};
use crate::vectors::{self, SetVectors, Way};
use crate::verdict::{self, SetVerdicts};

/// Share of the questions put to the wrong file that the hybrid verdict must reject.
const REJECTED: f64 = 0.80;

/// Share of the questions put to their own file that it may lose.
const LOST: f64 = 0.05;

/// The hybrid means in two stages may be this far off the exact ones.
const TWO_STAGE_OFF: f64 = 0.001;

/// One threshold and what was measured.
#[derive(Debug, Clone)]
pub(crate) struct Threshold {
    pub(crate) name: String,
    pub(crate) measured: f64,
    pub(crate) required: f64,
    pub(crate) reached: bool,
}

impl Threshold {
    pub(crate) fn at_least(name: String, measured: f64, required: f64) -> Threshold {
        Threshold {
            name,
            measured,
            required,
            reached: measured >= required,
        }
    }
}

/// All thresholds that can be judged with what was measured.
pub(crate) fn judge(scores: &[SetScores]) -> Vec<Threshold> {
    let mut thresholds = Vec::new();
    for group in scores::group_means(scores) {
        if group.complete {
            judge_group(&group, &mut thresholds);
        } else {
            judge_part(&group, &mut thresholds);
        }
    }
    thresholds.extend(scores.iter().map(judge_set));
    thresholds
}

fn judge_group(group: &GroupScores, thresholds: &mut Vec<Threshold>) {
    let name = group.name.name();
    let better = group.keyword.max(group.semantic);
    thresholds.push(Threshold {
        name: format!("{name}: hybrid mean above both parts"),
        measured: group.hybrid,
        required: better,
        reached: group.hybrid > better,
    });
    if let Some(known) = GROUPS.iter().find(|known| known.name == group.name) {
        let threshold = format!("{name}: keyword mean");
        thresholds.push(Threshold::at_least(
            threshold,
            group.keyword,
            known.keyword_threshold,
        ));
        let threshold = format!("{name}: hybrid mean");
        thresholds.push(Threshold::at_least(
            threshold,
            group.hybrid,
            known.hybrid_threshold,
        ));
    }
}

fn judge_part(group: &GroupScores, thresholds: &mut Vec<Threshold>) {
    let name = group.name.name();
    thresholds.push(Threshold::at_least(
        format!("part of {name}: keyword mean"),
        group.keyword,
        group.reference_keyword - PART_ALLOWANCE,
    ));
    thresholds.push(Threshold::at_least(
        format!("part of {name}: hybrid mean"),
        group.hybrid,
        group.reference_hybrid - PART_ALLOWANCE,
    ));
}

fn judge_set(set: &SetScores) -> Threshold {
    let (known_set, allowance) = KNOWN_LOSS;
    if set.name == known_set {
        let name = format!("{}: hybrid loses at most {allowance}", set.name);
        return Threshold::at_least(name, set.change.mean, -allowance);
    }
    Threshold {
        name: format!("{}: hybrid no loss beyond chance", set.name),
        measured: set.change.mean,
        required: set.change.mean - set.change.high,
        reached: !set.change.is_loss(),
    }
}

/// The thresholds of the verdict, for hybrid answers: means over the collections.
pub(crate) fn judge_verdicts(verdicts: &[SetVerdicts]) -> Vec<Threshold> {
    let mean = verdict::macro_mean(verdicts, Mode::Hybrid);
    vec![
        Threshold::at_least(
            "verdict: wrong questions rejected".to_owned(),
            mean.rejected,
            REJECTED,
        ),
        Threshold::at_least(
            "verdict: right questions kept".to_owned(),
            1.0 - mean.lost,
            1.0 - LOST,
        ),
    ]
}

/// The thresholds of the search in two stages, without inverted lists and with them: how far its hybrid means may be
/// off the exact ones.
pub(crate) fn judge_vectors(place: &str, sets: &[SetVectors]) -> Vec<Threshold> {
    let mut thresholds = Vec::new();
    for means in vectors::means(sets) {
        for (way, name) in [(Way::TwoStage, "two stages"), (Way::Lists, "lists")] {
            let off = means.change(way).hybrid.abs();
            thresholds.push(Threshold {
                name: format!("{name}, {place}, {}: hybrid mean off exact", means.name),
                measured: off,
                required: TWO_STAGE_OFF,
                reached: off <= TWO_STAGE_OFF,
            });
        }
    }
    thresholds
}

/// Prints all thresholds; whether all were reached.
pub(crate) fn print(thresholds: &[Threshold]) -> bool {
    println!("\n## Thresholds\n\n| threshold | measured | required | |\n|---|---|---|---|");
    for threshold in thresholds {
        let word = if threshold.reached {
            "reached"
        } else {
            "MISSED"
        };
        println!(
            "| {} | {:+.4} | {:+.4} | {word} |",
            threshold.name, threshold.measured, threshold.required
        );
    }
    let missed = thresholds
        .iter()
        .filter(|threshold| !threshold.reached)
        .count();
    println!(
        "\n{} of {} thresholds reached",
        thresholds.len() - missed,
        thresholds.len()
    );
    missed == 0
}

/// All thresholds as JSON.
pub(crate) fn to_json(thresholds: &[Threshold]) -> Value {
    let thresholds = thresholds.iter().map(|threshold| {
        json!({
            "threshold": threshold.name,
            "measured": threshold.measured,
            "required": threshold.required,
            "reached": threshold.reached,
        })
    });
    Value::Array(thresholds.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::Interval;
    use crate::reference::{self, GroupName};
    use crate::scores::ModeScores;

    fn scored(name: &str, keyword: f64, semantic: f64, hybrid: f64) -> SetScores {
        let mode = |ndcg| ModeScores {
            ndcg,
            ..ModeScores::default()
        };
        let mean = hybrid - keyword.max(semantic);
        SetScores {
            name: name.to_owned(),
            rows: 1,
            questions: 1,
            keyword: mode(keyword),
            semantic: mode(semantic),
            hybrid: mode(hybrid),
            change: Interval {
                mean,
                low: mean - 0.01,
                high: mean + 0.01,
            },
        }
    }

    fn text_sets(change: f64) -> Vec<SetScores> {
        reference::members(GroupName::Text)
            .map(|known| {
                let hybrid = known.hybrid.max(known.keyword - 0.009) + 0.016 + change;
                scored(known.set, known.keyword + 0.014, known.semantic, hybrid)
            })
            .collect()
    }

    fn missed(scores: &[SetScores]) -> Vec<String> {
        judge(scores)
            .into_iter()
            .filter(|threshold| !threshold.reached)
            .map(|threshold| threshold.name)
            .collect()
    }

    #[test]
    fn figures_like_the_reference_reach_every_bar() {
        assert_eq!(missed(&text_sets(0.0)), Vec::<String>::new());
    }

    #[test]
    fn a_hybrid_mean_that_is_too_low_is_missed() {
        let names = missed(&text_sets(-0.03));
        assert!(names.contains(&"text: hybrid mean".to_owned()), "{names:?}");
        assert!(
            names.contains(&"text: hybrid mean above both parts".to_owned()),
            "{names:?}"
        );
    }

    #[test]
    fn a_keyword_mean_under_the_allowance_is_missed() {
        let mut sets = text_sets(0.0);
        for set in &mut sets {
            set.keyword.ndcg -= 0.006;
        }
        assert_eq!(missed(&sets), ["text: keyword mean"]);
    }

    #[test]
    fn two_stages_and_lists_may_be_off_a_little_to_either_side() {
        let missed = |change: f64| {
            let scores = [0.5, 0.5 + change, 0.5 + change, 0.1].map(|hybrid| vectors::Scores {
                semantic: 0.0,
                hybrid,
            });
            let set = SetVectors {
                name: "scifact".to_owned(),
                rows: 1,
                by_way: scores,
            };
            let thresholds = judge_vectors("own rows", &[set]);
            thresholds
                .iter()
                .filter(|threshold| !threshold.reached)
                .count()
        };
        assert_eq!(missed(0.0009), 0);
        assert_eq!(missed(0.0011), 4);
        assert_eq!(missed(-0.0011), 4);
    }

    #[test]
    fn one_collection_with_a_loss_beyond_chance_is_missed() {
        let set = scored("scifact", 0.69, 0.46, 0.676);
        assert_eq!(missed(&[set]), ["scifact: hybrid no loss beyond chance"]);
    }

    #[test]
    fn the_collection_with_a_known_loss_has_a_limit_of_its_own() {
        assert_eq!(
            missed(&[scored("chunkeval", 0.783, 0.592, 0.760)]),
            Vec::<String>::new()
        );
        assert_eq!(
            missed(&[scored("chunkeval", 0.783, 0.592, 0.757)]),
            ["chunkeval: hybrid loses at most 0.025"]
        );
    }
}
