//! What the figures must reach.

use kb_engine::Mode;
use serde_json::{Value, json};

use crate::reference::{GROUPS, KEYWORD_ALLOWANCE, KNOWN_LOSS, PART_ALLOWANCE};
use crate::scores::{self, GroupScores, SetScores};
use crate::vectors::{self, SetVectors, Way};
use crate::verdict::{self, SetVerdicts};

/// Share of the questions put to the wrong file that the hybrid verdict must reject.
const REJECTED: f64 = 0.80;

/// Share of the questions put to their own file that it may lose.
const LOST: f64 = 0.05;

/// The hybrid means in two stages may be this far off the exact ones.
const TWO_STAGE_OFF: f64 = 0.001;

/// One bar and what was measured.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) measured: f64,
    pub(crate) required: f64,
    pub(crate) reached: bool,
}

impl Bar {
    fn at_least(name: String, measured: f64, required: f64) -> Bar {
        Bar {
            name,
            measured,
            required,
            reached: measured >= required,
        }
    }
}

/// All bars that can be judged with what was measured.
pub(crate) fn judge(scores: &[SetScores]) -> Vec<Bar> {
    let mut bars = Vec::new();
    for group in scores::group_means(scores) {
        if group.complete {
            judge_group(&group, &mut bars);
        } else {
            judge_part(&group, &mut bars);
        }
    }
    bars.extend(scores.iter().map(judge_set));
    bars
}

fn judge_group(group: &GroupScores, bars: &mut Vec<Bar>) {
    let name = group.name.name();
    bars.push(Bar::at_least(
        format!("{name}: keyword mean"),
        group.keyword,
        group.reference_keyword - KEYWORD_ALLOWANCE,
    ));
    let better = group.keyword.max(group.semantic);
    bars.push(Bar {
        name: format!("{name}: hybrid mean above both parts"),
        measured: group.hybrid,
        required: better,
        reached: group.hybrid > better,
    });
    if let Some(known) = GROUPS.iter().find(|known| known.name == group.name) {
        let bar = format!("{name}: hybrid mean");
        bars.push(Bar::at_least(bar, group.hybrid, known.hybrid_bar));
    }
}

fn judge_part(group: &GroupScores, bars: &mut Vec<Bar>) {
    let name = group.name.name();
    bars.push(Bar::at_least(
        format!("part of {name}: keyword mean"),
        group.keyword,
        group.reference_keyword - PART_ALLOWANCE,
    ));
    bars.push(Bar::at_least(
        format!("part of {name}: hybrid mean"),
        group.hybrid,
        group.reference_hybrid - PART_ALLOWANCE,
    ));
}

fn judge_set(set: &SetScores) -> Bar {
    let (known_set, allowance) = KNOWN_LOSS;
    if set.name == known_set {
        let name = format!("{}: hybrid loses at most {allowance}", set.name);
        return Bar::at_least(name, set.change.mean, -allowance);
    }
    Bar {
        name: format!("{}: hybrid no loss beyond chance", set.name),
        measured: set.change.mean,
        required: set.change.mean - set.change.high,
        reached: !set.change.is_loss(),
    }
}

/// The bars of the verdict, for hybrid answers: means over the collections.
pub(crate) fn judge_verdicts(verdicts: &[SetVerdicts]) -> Vec<Bar> {
    let mean = verdict::macro_mean(verdicts, Mode::Hybrid);
    vec![
        Bar::at_least(
            "verdict: wrong questions rejected".to_owned(),
            mean.rejected,
            REJECTED,
        ),
        Bar::at_least(
            "verdict: right questions kept".to_owned(),
            1.0 - mean.lost,
            1.0 - LOST,
        ),
    ]
}

/// The bars of the search in two stages: how far its hybrid means may be off the exact ones.
pub(crate) fn judge_vectors(place: &str, sets: &[SetVectors]) -> Vec<Bar> {
    let bars = vectors::means(sets).into_iter().map(|means| {
        let off = means.change(Way::TwoStage).hybrid.abs();
        Bar {
            name: format!("two stages, {place}, {}: hybrid mean off exact", means.name),
            measured: off,
            required: TWO_STAGE_OFF,
            reached: off <= TWO_STAGE_OFF,
        }
    });
    bars.collect()
}

/// Prints all bars; whether all were reached.
pub(crate) fn print(bars: &[Bar]) -> bool {
    println!("\n## Bars\n\n| bar | measured | required | |\n|---|---|---|---|");
    for bar in bars {
        let word = if bar.reached { "reached" } else { "MISSED" };
        println!(
            "| {} | {:+.4} | {:+.4} | {word} |",
            bar.name, bar.measured, bar.required
        );
    }
    let missed = bars.iter().filter(|bar| !bar.reached).count();
    println!("\n{} of {} bars reached", bars.len() - missed, bars.len());
    missed == 0
}

/// All bars as JSON.
pub(crate) fn to_json(bars: &[Bar]) -> Value {
    let bars = bars.iter().map(|bar| {
        json!({
            "bar": bar.name,
            "measured": bar.measured,
            "required": bar.required,
            "reached": bar.reached,
        })
    });
    Value::Array(bars.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::Difference;
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
            change: Difference {
                mean,
                low: mean - 0.01,
                high: mean + 0.01,
            },
        }
    }

    fn text_sets(change: f64) -> Vec<SetScores> {
        reference::members(GroupName::Text)
            .map(|known| {
                let hybrid = known.hybrid.max(known.keyword - 0.009) + 0.006 + change;
                scored(known.set, known.keyword, known.semantic, hybrid)
            })
            .collect()
    }

    fn missed(scores: &[SetScores]) -> Vec<String> {
        judge(scores)
            .into_iter()
            .filter(|bar| !bar.reached)
            .map(|bar| bar.name)
            .collect()
    }

    #[test]
    fn figures_like_the_reference_reach_every_bar() {
        assert_eq!(missed(&text_sets(0.0)), Vec::<String>::new());
    }

    #[test]
    fn a_hybrid_mean_that_is_too_low_is_missed() {
        let names = missed(&text_sets(-0.02));
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
    fn two_stages_may_be_off_a_little_to_either_side() {
        let missed = |change: f64| {
            let scores = [0.5, 0.5 + change, 0.1].map(|hybrid| vectors::Scores {
                semantic: 0.0,
                hybrid,
            });
            let set = SetVectors {
                name: "scifact".to_owned(),
                rows: 1,
                by_way: scores,
            };
            let bars = judge_vectors("own rows", &[set]);
            bars.iter().filter(|bar| !bar.reached).count()
        };
        assert_eq!(missed(0.0009), 0);
        assert_eq!(missed(0.0011), 2);
        assert_eq!(missed(-0.0011), 2);
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
