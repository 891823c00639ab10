//! Scores of one collection and of a group, and the table that shows them.

use anyhow::Result;
use kb_engine::Kb;
use kb_engine::Mode;
use kb_engine::Scan;
use serde_json::{Value, json};

use crate::bootstrap::{self, Interval};
use crate::metrics::mean;
use crate::reference::{self, GROUPS, GroupName, Reference};
use crate::runner::{self, Cut};
use crate::sets::JudgedSet;

/// Scores are cut after this many rows.
const CUT: usize = 10;

/// Scores of one mode on one collection.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModeScores {
    /// nDCG@10 of each question.
    pub(crate) ndcg_by_question: Vec<f64>,
    pub(crate) ndcg: f64,
    pub(crate) recall: f64,
}

/// Scores of all modes on one collection.
#[derive(Debug, Clone)]
pub(crate) struct SetScores {
    pub(crate) name: String,
    pub(crate) rows: usize,
    pub(crate) questions: usize,
    pub(crate) keyword: ModeScores,
    pub(crate) semantic: ModeScores,
    pub(crate) hybrid: ModeScores,
    /// Hybrid minus the better part.
    pub(crate) change: Interval,
}

/// Asks all questions in all modes.
pub(crate) fn measure(kb: &Kb, set: &JudgedSet, cut: Cut) -> Result<SetScores> {
    let keyword = score_mode(kb, set, Mode::Keyword, cut)?;
    let semantic = score_mode(kb, set, Mode::Semantic, cut)?;
    let hybrid = score_mode(kb, set, Mode::Hybrid, cut)?;
    let better = if keyword.ndcg >= semantic.ndcg {
        &keyword
    } else {
        &semantic
    };
    let change = bootstrap::paired(&hybrid.ndcg_by_question, &better.ndcg_by_question);
    Ok(SetScores {
        name: set.name.clone(),
        rows: set.rows.len(),
        questions: set.questions.len(),
        keyword,
        semantic,
        hybrid,
        change,
    })
}

fn score_mode(kb: &Kb, set: &JudgedSet, mode: Mode, cut: Cut) -> Result<ModeScores> {
    let ranked = runner::ranked_rows(kb, &set.questions, mode, Scan::Auto, cut)?;
    let answered = || ranked.iter().zip(&set.questions);
    let ndcg_by_question: Vec<f64> = answered()
        .map(|(rows, question)| question.judgements.ndcg(rows, CUT))
        .collect();
    let recall: Vec<f64> = answered()
        .map(|(rows, question)| question.judgements.recall(rows, CUT))
        .collect();
    Ok(ModeScores {
        ndcg: mean(&ndcg_by_question),
        recall: mean(&recall),
        ndcg_by_question,
    })
}

/// Means over the collections of a group that were measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GroupScores {
    pub(crate) name: GroupName,
    /// Whether all collections of the group were measured.
    pub(crate) complete: bool,
    pub(crate) keyword: f64,
    pub(crate) semantic: f64,
    pub(crate) hybrid: f64,
    /// Reference figures over the same collections.
    pub(crate) reference_keyword: f64,
    pub(crate) reference_semantic: f64,
    pub(crate) reference_hybrid: f64,
}

/// Means of every group of which at least one collection was measured.
pub(crate) fn group_means(scores: &[SetScores]) -> Vec<GroupScores> {
    GROUPS
        .iter()
        .filter_map(|group| group_mean(group, scores))
        .collect()
}

fn group_mean(group: &reference::Group, scores: &[SetScores]) -> Option<GroupScores> {
    let members: Vec<_> = reference::members(group.name).collect();
    let measured: Vec<_> = members
        .iter()
        .filter_map(|known| Some((*known, scores.iter().find(|set| set.name == known.set)?)))
        .collect();
    if measured.is_empty() {
        return None;
    }
    let complete = measured.len() == members.len();
    let mean_of = |figure: fn(&SetScores) -> f64| {
        mean(
            &measured
                .iter()
                .map(|(_, set)| figure(set))
                .collect::<Vec<_>>(),
        )
    };
    let reference = |whole: f64, figure: fn(&Reference) -> f64| {
        let part = measured.iter().map(|(known, _)| figure(known));
        if complete {
            whole
        } else {
            mean(&part.collect::<Vec<_>>())
        }
    };
    Some(GroupScores {
        name: group.name,
        complete,
        keyword: mean_of(|set| set.keyword.ndcg),
        semantic: mean_of(|set| set.semantic.ndcg),
        hybrid: mean_of(|set| set.hybrid.ndcg),
        reference_keyword: reference(group.keyword, |known| known.keyword),
        reference_semantic: reference(group.semantic, |known| known.semantic),
        reference_hybrid: reference(group.hybrid, |known| known.hybrid),
    })
}

/// Prints one line per collection and one per group.
pub(crate) fn print_table(title: &str, scores: &[SetScores]) {
    println!("\n## {title}\n");
    println!(
        "| set | rows | questions | keyword (reference) | semantic (reference) | hybrid (reference) \
         | hybrid - better part [95 %] | R@10 keyword / semantic / hybrid |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for set in scores {
        print_set(set);
    }
    for group in group_means(scores) {
        print_group(&group);
    }
}

fn print_set(set: &SetScores) {
    let known = reference::of(&set.name);
    let beside = |value: f64, figure: Option<f64>| match figure {
        Some(figure) => format!("{value:.4} ({figure:.3})"),
        None => format!("{value:.4}"),
    };
    let mark = if set.change.is_loss() { " loss" } else { "" };
    println!(
        "| {} | {} | {} | {} | {} | {} | {:+.4} [{:+.4}, {:+.4}]{mark} | {:.3} / {:.3} / {:.3} |",
        set.name,
        set.rows,
        set.questions,
        beside(set.keyword.ndcg, known.map(|known| known.keyword)),
        beside(set.semantic.ndcg, known.map(|known| known.semantic)),
        beside(set.hybrid.ndcg, known.map(|known| known.hybrid)),
        set.change.mean,
        set.change.low,
        set.change.high,
        set.keyword.recall,
        set.semantic.recall,
        set.hybrid.recall,
    );
}

fn print_group(group: &GroupScores) {
    let part = if group.complete { "" } else { ", part" };
    println!(
        "| **mean, {}{part}** | | | {:.4} ({:.3}) | {:.4} ({:.3}) | {:.4} ({:.3}) | {:+.4} | |",
        group.name.name(),
        group.keyword,
        group.reference_keyword,
        group.semantic,
        group.reference_semantic,
        group.hybrid,
        group.reference_hybrid,
        group.hybrid - group.keyword.max(group.semantic),
    );
}

/// All figures of one table.
pub(crate) fn to_json(scores: &[SetScores]) -> Value {
    let mode = |mode: &ModeScores| json!({"ndcg@10": mode.ndcg, "recall@10": mode.recall});
    let sets: Vec<Value> = scores
        .iter()
        .map(|set| {
            json!({
                "set": set.name,
                "rows": set.rows,
                "questions": set.questions,
                "keyword": mode(&set.keyword),
                "semantic": mode(&set.semantic),
                "hybrid": mode(&set.hybrid),
                "change": {
                    "mean": set.change.mean,
                    "low": set.change.low,
                    "high": set.change.high,
                    "loss": set.change.is_loss(),
                },
            })
        })
        .collect();
    let means: Vec<Value> = group_means(scores)
        .iter()
        .map(|group| {
            json!({
                "group": group.name.name(),
                "complete": group.complete,
                "keyword": group.keyword,
                "semantic": group.semantic,
                "hybrid": group.hybrid,
            })
        })
        .collect();
    json!({"sets": sets, "means": means})
}
