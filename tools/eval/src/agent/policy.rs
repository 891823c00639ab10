//! What an agent without a language model does with a question: choose a tool, look at what the hits
//! say, read the lines around the best ones, cite. It knows the question and the answers of the server,
//! nothing else.

use anyhow::Result;
use serde_json::{Value, json};

use super::client::{Answer, Server};
use super::evidence::Wanted;
use super::tasks::Lines;

/// A second search is worth its tokens when no hit has this share of what is asked for.
const ENOUGH: f64 = 0.5;

/// Lines read before and after a hit that is read on.
const READ_BEFORE: u64 = 10;
const READ_AFTER: u64 = 30;

/// Most lines that are read of a hit.
const READ_LINES: u64 = 80;

/// Most lines that are cited.
const CITED_LINES: usize = 40;

/// Hits that are read.
const READS: usize = 2;

/// What one hit loses against the one before it.
const RANK_LOSS: f64 = 0.06;

/// What a test loses when the question does not ask for tests.
const TEST_LOSS: f64 = 0.3;

/// What the agent did.
pub(crate) struct Outcome {
    pub(crate) citation: Option<Lines>,
    pub(crate) calls: usize,
    pub(crate) tokens: usize,
    pub(crate) steps: Vec<String>,
}

/// A place that may answer.
struct Candidate {
    lines: Lines,
    value: f64,
}

/// Answers a question.
pub(crate) fn solve(server: &mut Server, question: &str) -> Result<Outcome> {
    let wanted = Wanted::new(question);
    let mut outcome = Outcome {
        citation: None,
        calls: 0,
        tokens: 0,
        steps: Vec::new(),
    };
    let about_code = asks_for_code(question, &wanted);
    let tools = if about_code {
        ["search_code", "search_docs"]
    } else {
        ["search_docs", "search_code"]
    };
    let mut candidates = Vec::new();
    for tool in tools {
        let answer = server.call(tool, &json!({ "query": question }))?;
        outcome.count(tool.to_owned(), &answer);
        candidates.extend(hits(&answer.value, question, &wanted));
        if candidates.iter().any(|hit: &Candidate| hit.value >= ENOUGH) {
            break;
        }
    }
    candidates.sort_by(|a, b| b.value.total_cmp(&a.value));
    let mut best: Option<Candidate> = None;
    for candidate in candidates.into_iter().take(READS) {
        let read = read_around(server, &candidate.lines, &mut outcome)?;
        let Some((first, text)) = read else {
            continue;
        };
        let lines: Vec<&str> = text.lines().collect();
        let (start, end, share) = wanted.best_window(&lines, CITED_LINES);
        let path = &candidate.lines.path;
        let cited = Lines {
            path: path.clone(),
            first: first + start as u64,
            last: (first + end as u64).saturating_sub(1),
        };
        // Half of the judgement is the place as a whole, half what the cited lines say.
        let value = (candidate.value + share - loss_of_tests(path, question)) / 2.0;
        outcome.steps.push(format!(
            "  {}:{}-{} {value:.3}",
            path, cited.first, cited.last
        ));
        if best.as_ref().is_none_or(|best| value > best.value) {
            best = Some(Candidate {
                lines: cited,
                value,
            });
        }
    }
    outcome.citation = best.map(|best| best.lines);
    Ok(outcome)
}

impl Outcome {
    fn count(&mut self, step: String, answer: &Answer) {
        self.calls += 1;
        self.tokens += answer.tokens();
        self.steps
            .push(format!("{step}: {} tokens", answer.tokens()));
    }
}

/// Whether a question is about the program rather than about its documentation.
fn asks_for_code(question: &str, wanted: &Wanted) -> bool {
    const CODE_WORDS: [&str; 10] = [
        "code",
        "function",
        "class",
        "struct",
        "enum",
        "method",
        "test",
        "tests",
        "defined",
        "implemented",
    ];
    let mut words = question.split(|c: char| !c.is_alphanumeric());
    wanted.has_name() || words.any(|word| CODE_WORDS.contains(&word.to_lowercase().as_str()))
}

/// The hits of a search in their order, judged by their texts.
fn hits(answer: &Value, question: &str, wanted: &Wanted) -> Vec<Candidate> {
    let list = answer["results"].as_array().cloned().unwrap_or_default();
    let mut candidates = Vec::new();
    for (rank, hit) in list.iter().enumerate() {
        let field = |names: [&str; 2]| names.into_iter().find_map(|name| hit.get(name));
        let path = field(["file_path", "path"]).and_then(Value::as_str);
        let text = field(["content", "text"]).and_then(Value::as_str);
        let first = field(["start_line", "startLine"]).and_then(Value::as_u64);
        let last = field(["end_line", "endLine"]).and_then(Value::as_u64);
        let (Some(path), Some(text), Some(first), Some(last)) = (path, text, first, last) else {
            continue;
        };
        let share = wanted.share(&format!("{path}\n{text}"));
        let lines = Lines {
            path: path.to_owned(),
            first,
            last,
        };
        candidates.push(Candidate {
            value: share - RANK_LOSS * rank as f64 - loss_of_tests(path, question),
            lines,
        });
    }
    candidates
}

/// A reader who did not ask for tests looks at other files first.
fn loss_of_tests(path: &str, question: &str) -> f64 {
    let asks_for_tests = question.to_lowercase().contains("test");
    if path.to_lowercase().contains("test") && !asks_for_tests {
        TEST_LOSS
    } else {
        0.0
    }
}

/// Reads the lines of a hit with some around them; the first line read and the text.
fn read_around(
    server: &mut Server,
    hit: &Lines,
    outcome: &mut Outcome,
) -> Result<Option<(u64, String)>> {
    let first = hit.first.saturating_sub(READ_BEFORE).max(1);
    let last = (hit.last + READ_AFTER).min(first + READ_LINES - 1);
    let step = format!("read {}:{first}-{last}", hit.path);
    if server.reads_lines {
        let arguments = json!({ "document_id": hit.path, "start_line": first, "end_line": last });
        let answer = server.call("get_document_data", &arguments)?;
        outcome.count(step, &answer);
        let content = answer.value["data"]["content"].as_str();
        return Ok(content.map(|text| (first, text.to_owned())));
    }
    let path = percent_encoded(&hit.path);
    let uri = format!("kb://{}/lines/{first}-{last}/{path}", server.index);
    let answer = server.read(&uri)?;
    outcome.count(step, &answer);
    Ok(Some((first, answer.text)))
}

fn percent_encoded(path: &str) -> String {
    let mut encoded = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}
