//! Whether the lines that the tools show by default hold the answer as often as the whole passages do.
//!
//! The first five hits of each question, as `search_docs` and `search_code` ask for them, once whole and
//! once as the best lines. Judged spans are byte ranges of the documents.

use std::collections::HashMap;

use anyhow::{Result, anyhow};
use kb_engine::{Hit, Kb, Mode, PageOptions, Request, Show};
use serde_json::{Value, json};

use crate::runner;
use crate::sets::Question;

/// Hits, lines of each and tokens of all, as the tools ask for them by default.
const HITS: usize = 5;
const LINES: u32 = 40;
const TOKENS: u32 = 1500;

/// A judged range of bytes of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) path: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Target {
    /// How many of its bytes a hit shows.
    fn shown_by(&self, hit: &Hit) -> usize {
        if hit.document != self.path {
            return 0;
        }
        let (start, end) = (hit.span.start as usize, hit.span.end as usize);
        end.min(self.end).saturating_sub(start.max(self.start))
    }
}

/// What the hits of one question show of its targets.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Shown {
    /// Place of the first hit that overlaps a target, from 1.
    rank: Option<usize>,
    /// Whether a hit shows at least half of a target.
    half: bool,
    /// Share of the bytes of the target that is shown best, in all hits together.
    share: f64,
    /// Bytes of all texts.
    bytes: usize,
    hits: usize,
}

/// Means over the questions of a collection.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Figures {
    hit_at: [f64; 3],
    half: f64,
    share: f64,
    tokens: f64,
    hits: f64,
}

/// Figures of one collection, of whole passages and of the shown lines.
#[derive(Debug, Clone)]
pub(crate) struct ShownScores {
    set: String,
    questions: usize,
    passages: Figures,
    lines: Figures,
}

const CUTS: [usize; 3] = [1, 3, HITS];

pub(super) fn measure(
    kb: &Kb,
    set: &str,
    questions: &[Question],
    targets: &HashMap<String, Vec<Target>>,
) -> Result<ShownScores> {
    let figures = |request: &(dyn Fn(&str) -> Request + Sync)| -> Result<Figures> {
        let shown = runner::for_each_question(questions, |question| {
            let response = runner::ask(kb, &request(&question.text))?;
            let targets = targets
                .get(&question.id)
                .ok_or_else(|| anyhow!("no target of {}", question.id))?;
            Ok(of_hits(&response.hits, targets))
        })?;
        Ok(mean(&shown))
    };
    let whole = |text: &str| Request::new(text).plain(true).mode(Mode::Hybrid).k(HITS);
    Ok(ShownScores {
        set: set.to_owned(),
        questions: questions.len(),
        passages: figures(&whole)?,
        lines: figures(&|text| {
            let page = PageOptions::default().max_tokens(TOKENS);
            whole(text).join(false).show(Show::lines(LINES)).page(page)
        })?,
    })
}

fn of_hits(hits: &[Hit], targets: &[Target]) -> Shown {
    let mut shown = Shown {
        bytes: hits.iter().map(|hit| hit.text.len()).sum(),
        hits: hits.len(),
        ..Shown::default()
    };
    let overlaps = |hit: &Hit| targets.iter().any(|target| target.shown_by(hit) > 0);
    shown.rank = hits.iter().position(overlaps).map(|place| place + 1);
    for target in targets {
        let len = (target.end - target.start).max(1);
        let mut together = 0;
        for hit in hits {
            let bytes = target.shown_by(hit);
            shown.half |= 2 * bytes >= len;
            // Passages do not overlap, so nothing counts twice.
            together += bytes;
        }
        shown.share = shown.share.max(together as f64 / len as f64);
    }
    shown
}

fn mean(shown: &[Shown]) -> Figures {
    let each = 1.0 / shown.len().max(1) as f64;
    let within = |cut| {
        let ranks = shown.iter().filter_map(|shown| shown.rank);
        ranks.filter(|rank| *rank <= cut).count() as f64 * each
    };
    let sum = |of: fn(&Shown) -> f64| shown.iter().map(of).sum::<f64>() * each;
    Figures {
        hit_at: CUTS.map(within),
        half: sum(|shown| f64::from(u8::from(shown.half))),
        share: sum(|shown| shown.share),
        tokens: sum(|shown| shown.bytes as f64 / 4.0),
        hits: sum(|shown| shown.hits as f64),
    }
}

/// Prints two lines for each collection, and their means.
pub(crate) fn print_table(scores: &[ShownScores]) {
    println!("\n## What the first {HITS} hits show of the judged spans\n");
    println!(
        "| set | shown | hit@1 | hit@3 | hit@5 | half of a span | share of it | hits | tokens of text |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let line = |set: &str, name: &str, figures: &Figures| {
        let [one, three, five] = figures.hit_at;
        println!(
            "| {set} | {name} | {one:.3} | {three:.3} | {five:.3} | {:.3} | {:.3} | {:.1} | {:.0} |",
            figures.half, figures.share, figures.hits, figures.tokens
        );
    };
    for score in scores {
        line(&score.set, "passages", &score.passages);
        line("", "lines", &score.lines);
    }
}

/// All figures.
pub(crate) fn to_json(scores: &[ShownScores]) -> Value {
    let figures = |figures: &Figures| {
        json!({
            "hit@1": figures.hit_at[0],
            "hit@3": figures.hit_at[1],
            "hit@5": figures.hit_at[2],
            "half": figures.half,
            "share": figures.share,
            "hits": figures.hits,
            "tokens": figures.tokens,
        })
    };
    let lines = scores.iter().map(|score| {
        json!({
            "set": score.set,
            "questions": score.questions,
            "passages": figures(&score.passages),
            "lines": figures(&score.lines),
        })
    });
    Value::Array(lines.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(path: &str, start: u32, end: u32) -> Hit {
        let mut hit = Hit::of_text(path, "x".repeat((end - start) as usize));
        (hit.span.start, hit.span.end) = (start, end);
        hit
    }

    fn target(path: &str, start: usize, end: usize) -> Target {
        Target {
            path: path.to_owned(),
            start,
            end,
        }
    }

    #[test]
    fn what_is_shown_of_a_target_is_counted_in_bytes() {
        let hits = [hit("b", 0, 100), hit("a", 0, 50), hit("a", 60, 70)];
        let shown = of_hits(&hits, &[target("a", 40, 80)]);
        assert_eq!(shown.rank, Some(2));
        assert_eq!((shown.half, shown.share, shown.bytes), (false, 0.5, 160));
        let shown = of_hits(&hits, &[target("a", 40, 80), target("b", 90, 105)]);
        assert_eq!((shown.rank, shown.half), (Some(1), true));
        assert_eq!(of_hits(&hits, &[target("a", 50, 60)]).rank, None);
    }

    #[test]
    fn figures_are_means_over_questions() {
        let shown = |rank| Shown {
            rank,
            half: rank == Some(1),
            share: 0.5,
            bytes: 400,
            hits: 5,
        };
        let figures = mean(&[shown(Some(1)), shown(Some(3)), shown(Some(5)), shown(None)]);
        assert_eq!(figures.hit_at, [0.25, 0.5, 0.75]);
        assert_eq!((figures.half, figures.share), (0.25, 0.5));
        assert_eq!((figures.tokens, figures.hits), (100.0, 5.0));
    }
}
