//! How the weight of the vector part should follow the share of known words, language by language.
//!
//! The model knows English; of other languages it knows names and loan words. The candidates of the
//! questions of each language are fused again with the shipped weight, each time with another
//! dependence on the share. Text and code stand beside them, because a rule counts for all files.

use anyhow::Result;
use serde_json::{Value, json};

use crate::bootstrap;
use crate::metrics::mean;
use crate::runner::{self, Cut};
use crate::sets::JudgedSet;
use crate::sweep::{self, CUT, Pool, Rule, SetSweep, Share, Weights};

/// The collection of several languages. The ids of its questions begin with the language: `de:...`.
pub(crate) const SET: &str = "xquadr";

/// What the engine does.
const SHIPPED: Share = Share::Linear;

/// The questions of one language.
struct Language {
    name: String,
    /// Mean share of known words.
    known: f64,
    /// nDCG@10 and MRR@10 of the keyword part alone.
    keyword: [f64; 2],
    /// nDCG@10 of each question, in the order of [`Share::ALL`].
    ndcg: Vec<Vec<f64>>,
    /// Mean MRR@10, in that order.
    mrr: Vec<f64>,
}

impl Language {
    fn ndcg(&self, place: usize) -> f64 {
        self.ndcg.get(place).map_or(0.0, |scores| mean(scores))
    }
}

/// The language of a question.
fn language_of(id: &str) -> &str {
    id.split_once(':').map_or("", |(language, _)| language)
}

fn rule(share: Share) -> Rule {
    Rule {
        vector_weights: Weights::SHIPPED,
        keyword_power: 1.0,
        share,
    }
}

/// Scores every dependence, prints the tables and gives them as JSON. `sweeps` are the collections
/// of text and code.
pub(crate) fn run(set: &JudgedSet, sweeps: &[SetSweep]) -> Result<Value> {
    eprintln!("sweep: {}", set.name);
    let built = runner::build_rows(set, Cut::Uncut)?;
    let pools =
        runner::for_each_question(&set.questions, |question| sweep::pool(&built.kb, question))?;
    let languages = by_language(set, &pools);
    print_table(&languages, sweeps);
    print_differences(&languages);
    print_choice(&languages);
    let lines = languages.iter().map(|language| {
        let figures = Share::ALL.iter().enumerate().map(|(place, share)| {
            json!({
                "share": share.name(),
                "ndcg@10": language.ndcg(place),
                "mrr@10": language.mrr.get(place),
            })
        });
        json!({
            "language": language.name,
            "known": language.known,
            "shares": figures.collect::<Vec<_>>(),
        })
    });
    Ok(Value::Array(lines.collect()))
}

fn by_language(set: &JudgedSet, pools: &[Pool]) -> Vec<Language> {
    let mut names: Vec<&str> = set.questions.iter().map(|q| language_of(&q.id)).collect();
    names.sort_unstable();
    names.dedup();
    let of = |name: &str| {
        let all = set.questions.iter().zip(pools);
        let own: Vec<_> = all.filter(|(q, _)| language_of(&q.id) == name).collect();
        let ndcg = |rule: Rule| -> Vec<f64> {
            let scores = own.iter();
            scores
                .map(|(question, pool)| question.judgements.ndcg(&pool.fused(rule), CUT))
                .collect()
        };
        let mrr = |rule: Rule| {
            let ranks = own.iter().map(|(question, pool)| {
                question.judgements.reciprocal_rank(&pool.fused(rule), CUT)
            });
            mean(&ranks.collect::<Vec<_>>())
        };
        let words = Rule {
            vector_weights: Weights { prose: 0, code: 0 },
            ..rule(SHIPPED)
        };
        Language {
            name: name.to_owned(),
            known: mean(&own.iter().map(|(_, pool)| pool.known).collect::<Vec<_>>()),
            keyword: [mean(&ndcg(words)), mrr(words)],
            ndcg: Share::ALL.iter().map(|share| ndcg(rule(*share))).collect(),
            mrr: Share::ALL.iter().map(|share| mrr(rule(*share))).collect(),
        }
    };
    names.into_iter().map(of).collect()
}

fn print_table(languages: &[Language], sweeps: &[SetSweep]) {
    println!("\n## Weight by the share of known words, nDCG@10 / MRR@10\n");
    let names = Share::ALL.map(Share::name).join(" | ");
    println!("| language | known | keyword alone | {names} |");
    println!("|---|---|---|{}", "---|".repeat(Share::ALL.len()));
    for language in languages {
        let cells: Vec<String> = (0..Share::ALL.len())
            .map(|place| {
                let mrr = language.mrr.get(place).copied().unwrap_or(0.0);
                format!("{:.4} / {mrr:.4}", language.ndcg(place))
            })
            .collect();
        let [ndcg, mrr] = language.keyword;
        println!(
            "| {} | {:.2} | {ndcg:.4} / {mrr:.4} | {} |",
            language.name,
            language.known,
            cells.join(" | ")
        );
    }
    let over =
        |figure: &dyn Fn(&Language) -> f64| mean(&languages.iter().map(figure).collect::<Vec<_>>());
    let cells: Vec<String> = (0..Share::ALL.len())
        .map(|place| {
            let mrr = over(&|language| language.mrr.get(place).copied().unwrap_or(0.0));
            format!("{:.4} / {mrr:.4}", over(&|language| language.ndcg(place)))
        })
        .collect();
    println!(
        "| **mean, languages** | {:.2} | {:.4} / {:.4} | {} |",
        over(&|language| language.known),
        over(&|language| language.keyword[0]),
        over(&|language| language.keyword[1]),
        cells.join(" | ")
    );
    let rules = sweep::grid();
    let beside = Share::ALL.map(|share| {
        let place = rules.iter().position(|other| {
            other.vector_weights == Weights::SHIPPED
                && other.keyword_power == 1.0
                && other.share == share
        });
        let of = |sweep: &SetSweep| place.and_then(|place| sweep.by_rule.get(place).copied());
        sweep::group_scores(sweeps, |sweep| of(sweep).unwrap_or(0.0))
    });
    for (place, group) in ["text", "code"].into_iter().enumerate() {
        let cells = beside.map(|means| format!("{:.4}", means[place]));
        println!("| **mean, {group}** | | | {} |", cells.join(" | "));
    }
}

/// Each dependence minus the shipped one, over all questions.
fn print_differences(languages: &[Language]) {
    let all = |share: Share| -> Vec<f64> {
        let place = Share::ALL.iter().position(|other| *other == share);
        let scores = languages.iter();
        scores
            .filter_map(|language| place.and_then(|place| language.ndcg.get(place)))
            .flatten()
            .copied()
            .collect()
    };
    let shipped = all(SHIPPED);
    println!("\nnDCG@10 minus that of {}, 95 %:", SHIPPED.name());
    for share in Share::ALL.into_iter().filter(|share| *share != SHIPPED) {
        let difference = bootstrap::paired(&all(share), &shipped);
        println!(
            "- {}: {:+.4} [{:+.4}, {:+.4}]",
            share.name(),
            difference.mean,
            difference.low,
            difference.high
        );
    }
}

/// Number of the best dependence on all languages but one; the shipped one where it is as good.
fn best(languages: &[Language], left_out: Option<&str>) -> usize {
    let value = |place: usize| {
        let others = languages
            .iter()
            .filter(|language| Some(language.name.as_str()) != left_out);
        mean(
            &others
                .map(|language| language.ndcg(place))
                .collect::<Vec<_>>(),
        )
    };
    let mut best = shipped_place();
    for place in 0..Share::ALL.len() {
        if value(place) > value(best) {
            best = place;
        }
    }
    best
}

fn shipped_place() -> usize {
    let found = Share::ALL.iter().position(|share| *share == SHIPPED);
    found.unwrap_or(0)
}

fn print_choice(languages: &[Language]) {
    println!("\n| left out | chosen on the others | its nDCG@10 | as it is |");
    println!("|---|---|---|---|");
    let mut unseen = Vec::new();
    for language in languages {
        let place = best(languages, Some(&language.name));
        let name = Share::ALL.get(place).map_or("", |share| share.name());
        let (chosen, shipped) = (language.ndcg(place), language.ndcg(shipped_place()));
        println!(
            "| {} | {name} | {chosen:.4} | {shipped:.4} |",
            language.name
        );
        unseen.push([chosen, shipped]);
    }
    let of = |place: usize| mean(&unseen.iter().map(|line| line[place]).collect::<Vec<_>>());
    println!("| **mean** | | {:.4} | {:.4} |", of(0), of(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(name: &str, scores: [f64; Share::ALL.len()]) -> Language {
        Language {
            name: name.to_owned(),
            known: 0.1,
            keyword: [0.0; 2],
            ndcg: scores.map(|score| vec![score]).to_vec(),
            mrr: Vec::new(),
        }
    }

    #[test]
    fn the_language_stands_before_the_colon() {
        assert_eq!(language_of("de:5705f7c8"), "de");
        assert_eq!(language_of("5705f7c8"), "");
    }

    #[test]
    fn the_language_left_out_has_no_say() {
        let languages = [
            language("ar", [0.9, 0.1, 0.2, 0.3, 0.3]),
            language("de", [0.1, 0.1, 0.2, 0.4, 0.3]),
            language("el", [0.1, 0.1, 0.2, 0.4, 0.3]),
        ];
        let chosen = |left_out| Share::ALL[best(&languages, left_out)];
        assert_eq!(chosen(None), Share::Constant);
        assert_eq!(chosen(Some("ar")), Share::Squared);
    }

    #[test]
    fn the_shipped_dependence_stays_where_it_is_as_good() {
        let languages = [language("de", [0.2; Share::ALL.len()])];
        assert_eq!(Share::ALL[best(&languages, None)], SHIPPED);
    }
}
