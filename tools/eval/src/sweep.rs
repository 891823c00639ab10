//! Choice of the fusion constants, leave one collection out.
//!
//! Both part scores of every candidate are read once from a deep hybrid list; the lists are then
//! fused again for every rule of the grid. The candidates are those of a search for up to 100 hits:
//! the union of the best 100 by keyword and the best 100 by vector. For each collection the rule is
//! chosen on all others, so its figure says what the way of choosing is worth on unseen data.

use std::collections::HashSet;

use anyhow::{Result, anyhow};
use kb_engine::Kb;
use kb_engine::Mode;
use kb_engine::Scan;
use kb_engine::testing::search::RANK_WEIGHTS;
use serde_json::{Map, Value, json};

use crate::metrics::mean;
use crate::reference::{self, GroupName};
use crate::runner::{self, Cut};
use crate::sets::{self, JudgedSet, Question};

/// Candidates of each part.
const POOL: usize = 100;

/// Hits of the hybrid list from which part scores are read.
const DEPTH: usize = 400;

/// Scores are cut after this many rows.
pub(crate) const CUT: usize = 10;

/// How the weight of the vector part follows the share of the words that the model knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    /// Not at all.
    Constant,
    Root,
    Linear,
    Squared,
    /// All of it from half of the words on, none below.
    Half,
}

impl Share {
    pub(crate) const ALL: [Share; 5] = [
        Share::Constant,
        Share::Root,
        Share::Linear,
        Share::Squared,
        Share::Half,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Share::Constant => "constant",
            Share::Root => "root",
            Share::Linear => "linear",
            Share::Squared => "squared",
            Share::Half => "from half on",
        }
    }

    /// What the weight is multiplied with for a known share, 0..1.
    fn of(self, known: f64) -> f64 {
        match self {
            Share::Constant => 1.0,
            Share::Root => known.sqrt(),
            Share::Linear => known,
            Share::Squared => known * known,
            Share::Half => f64::from(u8::from(known >= 0.5)),
        }
    }
}

/// Weights of the vector part among prose and among code, in thousandths, so that they compare exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Weights {
    pub(crate) prose: u16,
    pub(crate) code: u16,
}

impl Weights {
    /// Those of the engine.
    pub(crate) const SHIPPED: Weights = Weights {
        prose: (RANK_WEIGHTS.vector_in_prose * 1000.0 + 0.5) as u16,
        code: (RANK_WEIGHTS.vector_in_code * 1000.0 + 0.5) as u16,
    };

    /// The weight where that share of the chunks is code.
    fn at(self, code_share: f64) -> f64 {
        let (prose, code) = (f64::from(self.prose), f64::from(self.code));
        (prose + (code - prose) * code_share) / 1000.0
    }
}

/// One way to fuse two part scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rule {
    pub(crate) vector_weights: Weights,
    /// Exponent of the keyword part.
    pub(crate) keyword_power: f64,
    pub(crate) share: Share,
}

impl Rule {
    fn describe(self) -> String {
        format!(
            "a {:.3} prose {:.3} code, keyword^{:.1}, share {}",
            f64::from(self.vector_weights.prose) / 1000.0,
            f64::from(self.vector_weights.code) / 1000.0,
            self.keyword_power,
            self.share.name()
        )
    }

    fn to_json(self) -> Value {
        json!({
            "vector_weight_prose": f64::from(self.vector_weights.prose) / 1000.0,
            "vector_weight_code": f64::from(self.vector_weights.code) / 1000.0,
            "keyword_power": self.keyword_power,
            "share": self.share.name(),
        })
    }
}

/// All rules that are tried: one weight for all files in each way, and two weights in the way of the engine.
pub(crate) fn grid() -> Vec<Rule> {
    let mut rules = Vec::new();
    for keyword_power in [1.0, 0.5] {
        for share in Share::ALL {
            for weight in (0..=1000).step_by(50) {
                rules.push(Rule {
                    vector_weights: Weights {
                        prose: weight,
                        code: weight,
                    },
                    keyword_power,
                    share,
                });
            }
        }
    }
    for share in Share::ALL {
        for prose in (200..=450).step_by(25) {
            for code in (300..=600).step_by(25) {
                rules.push(Rule {
                    vector_weights: Weights { prose, code },
                    keyword_power: 1.0,
                    share,
                });
            }
        }
    }
    rules
}

/// One candidate of a question with both part scores.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    row: u32,
    keyword: f64,
    vector: f64,
    /// What its text adds, at weight 1 of the keyword part.
    bonus: f64,
}

/// All candidates of one question.
#[derive(Debug, Clone)]
pub(crate) struct Pool {
    candidates: Vec<Candidate>,
    /// Share of the words of the query that the model knows, 0..1.
    pub(crate) known: f64,
    /// Share of code among the chunks, 0..1.
    code_share: f64,
}

impl Pool {
    /// The best rows by that rule; equal scores by row.
    pub(crate) fn fused(&self, rule: Rule) -> Vec<u32> {
        let weight = rule.vector_weights.at(self.code_share) * rule.share.of(self.known);
        let score = |candidate: &Candidate| {
            let keyword = candidate.keyword.powf(rule.keyword_power) + candidate.bonus;
            (1.0 - weight) * keyword + weight * candidate.vector
        };
        let mut scored: Vec<(f64, u32)> = self
            .candidates
            .iter()
            .map(|candidate| (score(candidate), candidate.row))
            .collect();
        scored.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
        scored.truncate(CUT);
        scored.into_iter().map(|(_, row)| row).collect()
    }
}

/// nDCG@10 of one collection by every rule of the grid.
pub(crate) struct SetSweep {
    name: String,
    group: GroupName,
    pub(crate) by_rule: Vec<f64>,
    /// nDCG@10 of the hybrid search as it is.
    shipped: f64,
}

/// Asks the deep lists of one collection and scores every rule.
fn sweep_set(set: &JudgedSet, group: GroupName) -> Result<SetSweep> {
    let built = runner::build_rows(set, Cut::Uncut)?;
    let pools = runner::for_each_question(&set.questions, |question| pool(&built.kb, question))?;
    let by_rule = grid()
        .into_iter()
        .map(|rule| score(set, &pools, rule))
        .collect();
    let ranked = runner::ranked_rows(
        &built.kb,
        &set.questions,
        Mode::Hybrid,
        Scan::Auto,
        Cut::Uncut,
    )?;
    let shipped: Vec<f64> = ranked
        .iter()
        .zip(&set.questions)
        .map(|(rows, question)| question.judgements.ndcg(rows, CUT))
        .collect();
    Ok(SetSweep {
        name: set.name.clone(),
        group,
        by_rule,
        shipped: mean(&shipped),
    })
}

fn score(set: &JudgedSet, pools: &[Pool], rule: Rule) -> f64 {
    let scores: Vec<f64> = pools
        .iter()
        .zip(&set.questions)
        .map(|(pool, question)| question.judgements.ndcg(&pool.fused(rule), CUT))
        .collect();
    mean(&scores)
}

/// The candidates of one question with their parts.
pub(crate) fn pool(kb: &Kb, question: &Question) -> Result<Pool> {
    let mut wanted = HashSet::new();
    for mode in [Mode::Keyword, Mode::Semantic] {
        wanted.extend(runner::rows_of(&runner::ask(
            kb,
            &runner::request(question, mode, POOL),
        )?)?);
    }
    let mut deep = runner::request(question, Mode::Hybrid, DEPTH);
    deep.explain = true;
    let response = runner::ask(kb, &deep)?;
    let explanation = response.explanation.as_ref();
    let known = explanation.map_or(1.0, |explanation| {
        explanation.model_words_known as f64 / explanation.model_words.max(1) as f64
    });
    let code_share = explanation.map_or(0.0, |explanation| f64::from(explanation.code_share));
    // The texts that are read are those of the engine's own order.
    let keyword_weight = explanation.map_or(1.0, |explanation| {
        1.0 - f64::from(explanation.vector_weight)
    });
    let mut candidates = Vec::new();
    for hit in &response.hits {
        let row = runner::row_of(&hit.document)?;
        if wanted.contains(&row) {
            candidates.push(Candidate {
                row,
                keyword: f64::from(hit.keyword_score.unwrap_or(0.0)),
                vector: f64::from(hit.vector_score.unwrap_or(0.0)),
                bonus: hit
                    .bonuses
                    .iter()
                    .map(|bonus| f64::from(bonus.score))
                    .sum::<f64>()
                    / keyword_weight,
            });
        }
    }
    Ok(Pool {
        candidates,
        known,
        code_share,
    })
}

/// Mean of the group means by one rule, without the collection `left_out`.
fn objective(sweeps: &[SetSweep], rule: usize, left_out: Option<&str>) -> f64 {
    let group_mean = |group: GroupName| {
        let scores: Vec<f64> = sweeps
            .iter()
            .filter(|sweep| sweep.group == group && Some(sweep.name.as_str()) != left_out)
            .map(|sweep| sweep.by_rule[rule])
            .collect();
        (!scores.is_empty()).then(|| mean(&scores))
    };
    let groups: Vec<f64> = [GroupName::Text, GroupName::Code]
        .into_iter()
        .filter_map(group_mean)
        .collect();
    mean(&groups)
}

/// Number of the best rule; the first of equals, so simpler rules win.
fn best_rule(sweeps: &[SetSweep], left_out: Option<&str>) -> Option<usize> {
    let rules = sweeps.first()?.by_rule.len();
    let mut best = None;
    for rule in 0..rules {
        let value = objective(sweeps, rule, left_out);
        if best.is_none_or(|(_, other)| value > other) {
            best = Some((rule, value));
        }
    }
    best.map(|(rule, _)| rule)
}

/// Sweeps all collections that count in a mean and prints the choice. Returns it as JSON, with the sweeps.
pub(crate) fn run(
    folder: &std::path::Path,
    names: &[String],
) -> Result<(Map<String, Value>, Vec<SetSweep>)> {
    let mut sweeps = Vec::new();
    for name in names {
        let group = reference::of(name).map_or(GroupName::Languages, |known| known.group);
        if group == GroupName::Languages {
            continue;
        }
        eprintln!("sweep: {name}");
        sweeps.push(sweep_set(&sets::load(folder, name)?, group)?);
    }
    let rules = grid();
    let chosen =
        best_rule(&sweeps, None).ok_or_else(|| anyhow!("no collection that counts in a mean"))?;
    print_weights(&sweeps, &rules);
    let lines = print_choice(&sweeps, &rules, chosen);
    let mut report = Map::new();
    report.insert("chosen".to_owned(), rules[chosen].to_json());
    report.insert("left_out".to_owned(), lines.into());
    Ok((report, sweeps))
}

/// Group means along the vector weight for every family of rules.
fn print_weights(sweeps: &[SetSweep], rules: &[Rule]) {
    println!(
        "\n## Fusion, mean nDCG@10 by rule\n\n| rule | text | code | mean |\n|---|---|---|---|"
    );
    for (number, rule) in rules.iter().enumerate() {
        let [text, code] = group_scores(sweeps, |sweep| sweep.by_rule[number]);
        let both = objective(sweeps, number, None);
        println!(
            "| {} | {text:.4} | {code:.4} | {both:.4} |",
            rule.describe()
        );
    }
}

/// Means of a figure over the collections of text and of code.
pub(crate) fn group_scores(sweeps: &[SetSweep], score: impl Fn(&SetSweep) -> f64) -> [f64; 2] {
    [GroupName::Text, GroupName::Code].map(|group| {
        let members = sweeps.iter().filter(|sweep| sweep.group == group);
        mean(&members.map(&score).collect::<Vec<_>>())
    })
}

fn print_choice(sweeps: &[SetSweep], rules: &[Rule], chosen: usize) -> Vec<Value> {
    println!("\n## Fusion, chosen leave one collection out\n");
    println!("Largest mean of the group means (text, code) over the other collections.\n");
    println!("| left out | chosen on the others | its nDCG@10 | chosen on all | as it is |");
    println!("|---|---|---|---|---|");
    let mut lines = Vec::new();
    let mut unseen = Vec::new();
    for sweep in sweeps {
        let rule = best_rule(sweeps, Some(&sweep.name)).unwrap_or(chosen);
        let score = sweep.by_rule[rule];
        println!(
            "| {} | {} | {score:.4} | {:.4} | {:.4} |",
            sweep.name,
            rules[rule].describe(),
            sweep.by_rule[chosen],
            sweep.shipped,
        );
        lines.push(json!({"set": sweep.name, "rule": rules[rule].to_json(), "ndcg@10": score}));
        unseen.push((sweep.name.as_str(), score));
    }
    let left_out = group_scores(sweeps, |sweep| {
        unseen
            .iter()
            .find(|(name, _)| *name == sweep.name)
            .map_or(0.0, |(_, score)| *score)
    });
    let on_all = group_scores(sweeps, |sweep| sweep.by_rule[chosen]);
    let shipped = group_scores(sweeps, |sweep| sweep.shipped);
    for (place, group) in ["text", "code"].into_iter().enumerate() {
        println!(
            "| **mean, {group}** | | {:.4} | {:.4} | {:.4} |",
            left_out[place], on_all[place], shipped[place]
        );
    }
    println!("\nchosen on all: {}", rules[chosen].describe());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(weight: u16) -> Rule {
        Rule {
            vector_weights: Weights {
                prose: weight,
                code: weight,
            },
            keyword_power: 1.0,
            share: Share::Constant,
        }
    }

    fn two_candidates(known: f64) -> Pool {
        let candidates = vec![
            Candidate {
                row: 1,
                keyword: 0.9,
                vector: 0.1,
                bonus: 0.0,
            },
            Candidate {
                row: 2,
                keyword: 0.2,
                vector: 0.7,
                bonus: 0.0,
            },
        ];
        Pool {
            candidates,
            known,
            code_share: 0.25,
        }
    }

    #[test]
    fn the_weight_decides_which_part_leads() {
        assert_eq!(two_candidates(1.0).fused(plain(200)), [1, 2]);
        assert_eq!(two_candidates(1.0).fused(plain(800)), [2, 1]);
    }

    #[test]
    fn the_weight_follows_the_share_of_code() {
        let weights = Weights {
            prose: 200,
            code: 1000,
        };
        assert!((weights.at(0.25) - 0.4).abs() < 1e-9);
        let rule = Rule {
            vector_weights: weights,
            ..plain(0)
        };
        assert_eq!(two_candidates(1.0).fused(rule), [1, 2]);
        let mut code = two_candidates(1.0);
        code.code_share = 0.9;
        assert_eq!(code.fused(rule), [2, 1]);
    }

    #[test]
    fn a_bonus_lifts_a_candidate() {
        let mut pool = two_candidates(1.0);
        pool.candidates[1].bonus = 0.9;
        assert_eq!(pool.fused(plain(200)), [2, 1]);
    }

    #[test]
    fn an_unknown_query_moves_the_weight_to_keywords() {
        let rule = Rule {
            share: Share::Linear,
            ..plain(800)
        };
        assert_eq!(two_candidates(1.0).fused(rule), [2, 1]);
        assert_eq!(two_candidates(0.1).fused(rule), [1, 2]);
    }

    #[test]
    fn the_collection_left_out_has_no_say_in_its_rule() {
        let sweep = |name: &str, group, by_rule: [f64; 2]| SetSweep {
            name: name.to_owned(),
            group,
            by_rule: by_rule.to_vec(),
            shipped: 0.0,
        };
        let sweeps = [
            sweep("a", GroupName::Text, [0.9, 0.1]),
            sweep("b", GroupName::Text, [0.4, 0.5]),
            sweep("c", GroupName::Code, [0.4, 0.5]),
        ];
        assert_eq!(best_rule(&sweeps, None), Some(0));
        assert_eq!(best_rule(&sweeps, Some("a")), Some(1));
    }
}
