//! Does the verdict "nothing relevant" tell questions put to the wrong file from those put to their
//! own? Wrong are the questions of a collection put to the collections of other fields.

use anyhow::{Context, Result, anyhow};
use kb_engine::{Calibration, Kb, Mode, Relevance, RelevanceSignals};
use serde_json::{Value, json};

use crate::metrics::mean;
use crate::runner::{self, RANKED, TemporaryKb};
use crate::sets::{JudgedSet, Question};

/// Questions of one collection that are put to each collection of another field.
pub(crate) const WRONG_PER_FILE: usize = 60;

/// A right question is well answered if a right row is among this many hits.
const TOP: usize = 10;

/// A collection with a file of it.
pub(crate) struct Built {
    pub(crate) name: String,
    pub(crate) questions: Vec<Question>,
    pub(crate) file: TemporaryKb,
}

impl Built {
    pub(crate) fn new(set: &JudgedSet, file: TemporaryKb) -> Built {
        let answerable = |question: &&Question| question.judgements.answerable();
        Built {
            name: set.name.clone(),
            questions: set.questions.iter().filter(answerable).cloned().collect(),
            file,
        }
    }
}

/// What a collection speaks of. Two with a field in common may answer each other's questions.
fn fields(set: &str) -> &'static [&'static str] {
    match set {
        "scifact" => &["medicine"],
        "cranfield" => &["aeronautics"],
        "cisi" => &["libraries"],
        "trecdl-pool" | "chunkeval" => &["general", "medicine"],
        "xquadr" => &["general"],
        "docsqa" => &["manuals", "python", "shell"],
        "nl2bash" => &["shell"],
        "code-python" | "commits" => &["code", "python"],
        "code-go" | "code-java" | "code-js" | "code-rust" | "cookbook-code" => &["code"],
        "encode/httpx" | "expressjs/express" => &["http"],
        "jhy/jsoup" => &["http", "html"],
        "spf13/cobra" => &["command lines"],
        "BurntSushi/ripgrep" => &["command lines", "files"],
        "libuv/libuv" => &["files", "processes"],
        "ajv-validator/ajv" => &["schemas"],
        "prometheus/docs" => &["http", "monitoring"],
        // Nothing is known of it, so no question is known to be wrong for it.
        _ => &[],
    }
}

/// Whether questions of one are wrong for the other.
pub(crate) fn foreign(one: &str, other: &str) -> bool {
    let (one, other) = (fields(one), fields(other));
    let shared = one.iter().any(|field| other.contains(field));
    !one.is_empty() && !other.is_empty() && !shared
}

/// What a file answers to one question in one mode.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judged {
    pub(crate) evidence: RelevanceSignals,
    /// The judgement that the answer itself carries.
    pub(crate) verdict: Relevance,
}

/// What a file answers to one question, in the order of [`RANKED`].
pub(crate) type Answers = [Judged; RANKED.len()];

/// Asks in all ranked modes; also whether a right row is among the first hybrid hits.
fn ask(kb: &Kb, question: &Question) -> Result<(Answers, bool)> {
    let mut answered = false;
    let mut judged = Vec::with_capacity(RANKED.len());
    for mode in RANKED {
        let mut request = runner::request(question, mode, TOP);
        request.explain = true;
        let response = runner::ask(kb, &request)?;
        if mode == Mode::Hybrid {
            let rows = runner::rows_of(&response)?;
            answered = rows.iter().any(|row| question.judgements.is_right(*row));
        }
        let explanation = response.explanation.context("an answer without evidence")?;
        judged.push(Judged {
            evidence: explanation.signals,
            verdict: response.relevance,
        });
    }
    let answers = Answers::try_from(judged).map_err(|_| anyhow!("a mode without an answer"))?;
    Ok((answers, answered))
}

/// What the files show for the questions of one collection.
pub(crate) struct SetEvidence {
    pub(crate) name: String,
    /// Put to their own file.
    pub(crate) right: Vec<Answers>,
    /// For each of `right`, whether a right row is among the first hybrid hits.
    answered: Vec<bool>,
    /// Put to files of other fields, with the name of each.
    pub(crate) wrong: Vec<(String, Answers)>,
}

/// Puts the questions of every collection to its own file and to those of other fields.
pub(crate) fn gather(built: &[Built]) -> Result<Vec<SetEvidence>> {
    let mut all = Vec::new();
    for own in built {
        let kb = &own.file.kb;
        let asked = runner::for_each_question(&own.questions, |question| ask(kb, question))?;
        let (right, answered): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
        let mut wrong = Vec::new();
        let asked = spread(&own.questions, WRONG_PER_FILE);
        for other in built {
            if foreign(&own.name, &other.name) {
                let kb = &other.file.kb;
                let shown = runner::for_each_question(&asked, |question| ask(kb, question))?;
                let shown = shown.into_iter().map(|(answers, _)| answers);
                wrong.extend(shown.map(|answers| (other.name.clone(), answers)));
            }
        }
        if !right.is_empty() && !wrong.is_empty() {
            all.push(SetEvidence {
                name: own.name.clone(),
                right,
                answered,
                wrong,
            });
        }
    }
    Ok(all)
}

/// At most `count` questions, evenly over the list.
pub(crate) fn spread(questions: &[Question], count: usize) -> Vec<Question> {
    let count = count.min(questions.len());
    (0..count)
        .map(|n| questions[n * questions.len() / count].clone())
        .collect()
}

/// How the verdict does in one mode.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ModeVerdicts {
    /// Chance that the best score of a right question is larger than that of a wrong one.
    pub(crate) auc: f64,
    /// Share of the wrong questions that are rejected.
    pub(crate) rejected: f64,
    /// Share of the right questions that are rejected.
    pub(crate) lost: f64,
    /// The same among those with a right row in the first hits.
    pub(crate) lost_answered: f64,
}

/// How the verdict does on the questions of one collection.
#[derive(Debug, Clone)]
pub(crate) struct SetVerdicts {
    name: String,
    right: usize,
    wrong: usize,
    /// In the order of [`RANKED`].
    modes: [ModeVerdicts; RANKED.len()],
}

/// Judges all collections; empty when no two are of different fields.
pub(crate) fn measure(built: &[Built]) -> Result<Vec<SetVerdicts>> {
    Ok(gather(built)?.iter().map(judge_set).collect())
}

fn judge_set(set: &SetEvidence) -> SetVerdicts {
    let judge_mode = |place: usize| {
        let rejects = |answers: &Answers| answers[place].verdict == Relevance::NothingRelevant;
        let score = |answers: &Answers| {
            let shown = &answers[place].evidence;
            Calibration::ranked(shown).score(shown.fused)
        };
        let right: Vec<f32> = set.right.iter().map(score).collect();
        let wrong: Vec<f32> = set.wrong.iter().map(|(_, shown)| score(shown)).collect();
        let pairs = set.right.iter().zip(&set.answered);
        let answered = pairs.filter(|(_, answered)| **answered);
        ModeVerdicts {
            auc: auc(&right, &wrong),
            rejected: share(set.wrong.iter().map(|(_, shown)| rejects(shown))),
            lost: share(set.right.iter().map(rejects)),
            lost_answered: share(answered.map(|(shown, _)| rejects(shown))),
        }
    };
    SetVerdicts {
        name: set.name.clone(),
        right: set.right.len(),
        wrong: set.wrong.len(),
        modes: [0, 1, 2].map(judge_mode),
    }
}

fn share(flags: impl Iterator<Item = bool>) -> f64 {
    let flags: Vec<f64> = flags.map(|flag| f64::from(u8::from(flag))).collect();
    mean(&flags)
}

/// Chance that one of `right` is larger than one of `wrong`, ties half.
fn auc(right: &[f32], wrong: &[f32]) -> f64 {
    let mut sorted = wrong.to_vec();
    sorted.sort_by(f32::total_cmp);
    let won = right.iter().map(|value| {
        let below = sorted.partition_point(|other| other < value);
        let not_above = sorted.partition_point(|other| other <= value);
        (below + not_above) as f64 / 2.0
    });
    won.sum::<f64>() / (right.len() * wrong.len()).max(1) as f64
}

/// Means over the collections in one mode.
pub(crate) fn macro_mean(verdicts: &[SetVerdicts], mode: Mode) -> ModeVerdicts {
    let place = RANKED.iter().position(|other| *other == mode);
    let of = |figure: fn(&ModeVerdicts) -> f64| {
        let figures = verdicts
            .iter()
            .filter_map(|set| place.and_then(|place| set.modes.get(place)))
            .map(figure);
        mean(&figures.collect::<Vec<_>>())
    };
    ModeVerdicts {
        auc: of(|mode| mode.auc),
        rejected: of(|mode| mode.rejected),
        lost: of(|mode| mode.lost),
        lost_answered: of(|mode| mode.lost_answered),
    }
}

/// Prints one line per collection and the means.
pub(crate) fn print_table(verdicts: &[SetVerdicts]) {
    println!("\n## Verdict \"nothing relevant\"\n");
    println!("Questions put to their own rows (right) and to rows of other fields (wrong).\n");
    println!(
        "| set | right | wrong | hybrid: AUC | rejected wrong | lost right \
         | lost of those answered in the top {TOP} | semantic: AUC, rejected, lost \
         | keyword: AUC, rejected, lost |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for set in verdicts {
        print_line(
            &set.name,
            &format!("{} | {}", set.right, set.wrong),
            &set.modes,
        );
    }
    let means = RANKED.map(|mode| macro_mean(verdicts, mode));
    print_line("**mean**", " | ", &means);
}

fn print_line(name: &str, counts: &str, modes: &[ModeVerdicts; RANKED.len()]) {
    let [hybrid, semantic, keyword] = modes;
    println!(
        "| {name} | {counts} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3}, {:.3}, {:.3} \
         | {:.3}, {:.3}, {:.3} |",
        hybrid.auc,
        hybrid.rejected,
        hybrid.lost,
        hybrid.lost_answered,
        semantic.auc,
        semantic.rejected,
        semantic.lost,
        keyword.auc,
        keyword.rejected,
        keyword.lost,
    );
}

/// All figures.
pub(crate) fn to_json(verdicts: &[SetVerdicts]) -> Value {
    let sets = verdicts.iter().map(|set| {
        let modes = RANKED.iter().zip(&set.modes).map(|(mode, figures)| {
            json!({
                "mode": mode.name(),
                "auc": figures.auc,
                "rejected": figures.rejected,
                "lost": figures.lost,
                "lost_answered": figures.lost_answered,
            })
        });
        json!({
            "set": set.name,
            "right": set.right,
            "wrong": set.wrong,
            "modes": modes.collect::<Vec<_>>(),
        })
    });
    Value::Array(sets.collect())
}

#[cfg(test)]
mod tests {
    use kb_engine::testing::search::calibration;

    use super::*;

    #[test]
    fn only_collections_of_other_fields_are_wrong() {
        assert!(foreign("scifact", "code-go"));
        assert!(!foreign("scifact", "chunkeval"), "both speak of medicine");
        assert!(!foreign("code-go", "code-go"));
        assert!(!foreign("scifact", "unknown"));
    }

    #[test]
    fn the_area_counts_pairs_in_the_right_order() {
        assert_eq!(auc(&[0.9, 0.5], &[0.1, 0.2]), 1.0);
        assert_eq!(auc(&[0.9, 0.1], &[0.5, 0.1]), 0.625);
        assert_eq!(auc(&[0.5], &[0.5]), 0.5);
    }

    #[test]
    fn rejected_and_lost_are_shares_of_their_own_lists() {
        let shown = |vector| {
            let mut evidence = RelevanceSignals::default();
            evidence.keyword = Some(0.0);
            evidence.vector = Some(vector);
            evidence.fused = vector;
            evidence.coverage = 1.0;
            evidence.chunks = 1000;
            evidence.query_idf = 1.0;
            let verdict = calibration::judge(&evidence);
            [Judged { evidence, verdict }; RANKED.len()]
        };
        let set = SetEvidence {
            name: "s".to_owned(),
            right: vec![shown(0.9), shown(0.1), shown(0.2), shown(0.8)],
            answered: vec![true, true, false, false],
            wrong: vec![("o".to_owned(), shown(0.1)), ("o".to_owned(), shown(0.7))],
        };
        let hybrid = judge_set(&set).modes[0];
        assert_eq!(hybrid.rejected, 0.5);
        assert_eq!(hybrid.lost, 0.5);
        assert_eq!(hybrid.lost_answered, 0.5);
        assert_eq!(hybrid.auc, 5.5 / 8.0);
    }
}
