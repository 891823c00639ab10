//! What an agent without a language model does with a question: choose a tool, look at what the hits
//! say, read the lines around the best ones, cite; and search once more when that does not convince it. It
//! knows the question and the answers of the server, nothing else.
//!
//! Weights and losses were chosen on the same tasks that it is judged by.

use anyhow::Result;
use kb_engine::percent;
use serde_json::{Value, json};

use super::client::{Answer, Server};
use super::evidence::{Wanted, first_definition};
use crate::checkout::Lines;

/// A citation of this value is given without a second search.
const CONVINCING: f64 = 0.58;

/// Most calls.
const CALLS: usize = 4;

/// What a search and reading may cost, in tokens.
const SEARCH_TOKENS: usize = 1100;
const READ_TOKENS: usize = 1700;

/// Lines read before and after a hit that is read on.
const READ_BEFORE: u64 = 10;
const READ_AFTER: u64 = 30;

/// Most lines that are read of a hit.
const READ_LINES: u64 = 80;

/// Most lines that are cited.
const CITED_LINES: usize = 40;

/// Hits of one search that are read.
const READS: usize = 3;

/// What a test loses when the question does not ask for tests, and other files when it does.
const TEST_LOSS: f64 = 0.3;

/// What a file of data loses when the question asks for code, and the head of a file of code.
const DATA_LOSS: f64 = 0.2;
const HEAD_LOSS: f64 = 0.2;

/// Ends of names of files of data.
const DATA: [&str; 9] = [
    ".toml", ".yaml", ".yml", ".json", ".cfg", ".ini", ".lock", ".xml", ".txt",
];

/// What the agent did.
#[derive(Default)]
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

/// One search.
struct Search {
    tool: &'static str,
    query: String,
    /// Whether it goes on where the one before it ended.
    continues: bool,
}

impl Search {
    fn new(tool: &'static str, query: &str) -> Search {
        Search {
            tool,
            query: query.to_owned(),
            continues: false,
        }
    }
}

/// Answers a question.
pub(crate) fn solve(server: &mut Server, question: &str) -> Result<Outcome> {
    let mut wanted = Wanted::new(question);
    let mut outcome = Outcome::default();
    let mut texts = Vec::new();
    let (mut read, mut best): (Vec<Lines>, Option<Candidate>) = (Vec::new(), None);
    let (mut continuation, mut top) = (Value::Null, 1.0);
    for search in searches(question, &wanted) {
        let limit = if search.tool == "search_code" {
            "limit"
        } else {
            "top_k"
        };
        let mut arguments = json!({ "query": search.query, limit: 5, "max_tokens": SEARCH_TOKENS });
        if search.continues {
            if !server.continues || continuation.is_null() {
                break;
            }
            arguments["continuation_token"] = continuation.take();
        }
        let answer = server.call(search.tool, &arguments)?;
        outcome.count(search.tool.to_owned(), &answer);
        continuation = answer.value["continuation"]["token"].clone();
        let hits = hits(&answer.value);
        texts.extend(hits.iter().map(|hit| hit.text.clone()));
        wanted.weigh(&texts);
        if let (Some(first), false) = (hits.first(), search.continues) {
            top = first.score.max(f64::EPSILON);
        }
        let places = places(&hits, top, &wanted, &mut read);
        for (place, text) in read_around(server, &places, &mut outcome)? {
            let cited = citation(place, &text, &wanted);
            outcome.steps.push(format!(
                "  {}:{}-{} {:.3}",
                cited.lines.path, cited.lines.first, cited.lines.last, cited.value
            ));
            if best.as_ref().is_none_or(|best| cited.value > best.value) {
                best = Some(cited);
            }
        }
        if best.as_ref().is_some_and(|best| best.value >= CONVINCING) {
            break;
        }
    }
    outcome.citation = best.map(|best| best.lines);
    Ok(outcome)
}

/// A search, and another one for when the first does not convince. What is quoted is searched by itself
/// first. Who asks for code looks at more of it next, others at code.
fn searches(question: &str, wanted: &Wanted) -> Vec<Search> {
    if let Some(quotation) = wanted.quotation() {
        let quoted = Search::new("search_code", &format!("\"{quotation}\""));
        return vec![quoted, Search::new("search_code", question)];
    }
    if wanted.asks_for_code {
        let first = Search::new("search_code", question);
        let mut more = Search::new("search_code", question);
        more.continues = true;
        return vec![first, more];
    }
    vec![
        Search::new("search_docs", question),
        Search::new("search_code", question),
    ]
}

impl Outcome {
    fn count(&mut self, step: String, answer: &Answer) {
        self.calls += 1;
        self.tokens += answer.tokens();
        self.steps
            .push(format!("{step}: {} tokens", answer.tokens()));
    }
}

/// A hit of a search.
struct Hit {
    lines: Lines,
    section: String,
    text: String,
    score: f64,
}

/// The hits of a search in their order.
fn hits(answer: &Value) -> Vec<Hit> {
    let list = answer["results"].as_array().into_iter().flatten();
    let hit = |hit: &Value| {
        let field = |names: [&str; 2]| names.into_iter().find_map(|name| hit.get(name));
        Some(Hit {
            lines: Lines {
                path: field(["file_path", "path"])?.as_str()?.to_owned(),
                first: field(["start_line", "startLine"])?.as_u64()?,
                last: field(["end_line", "endLine"])?.as_u64()?,
            },
            section: hit["section"].as_str().unwrap_or_default().to_owned(),
            text: field(["content", "text"])?.as_str()?.to_owned(),
            score: hit["score"].as_f64().unwrap_or_default(),
        })
    };
    list.filter_map(hit).collect()
}

/// The places around the best hits that were not read yet. Half of the judgement is the score as a share of
/// the highest, half what the hit says.
fn places(hits: &[Hit], top: f64, wanted: &Wanted, read: &mut Vec<Lines>) -> Vec<Candidate> {
    let value = |hit: &Hit| {
        let path = &hit.lines.path;
        let share = wanted.share(&format!("{path}\n{}\n{}", hit.section, hit.text));
        let mut value = (hit.score / top + share) / 2.0 - loss_of_kind(path, wanted);
        let lines: Vec<&str> = hit.text.lines().collect();
        if wanted.asks_for_code && hit.lines.first == 1 && first_definition(&lines).is_none() {
            value -= HEAD_LOSS;
        }
        value
    };
    let mut valued: Vec<(f64, &Hit)> = hits.iter().map(|hit| (value(hit), hit)).collect();
    valued.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut places = Vec::new();
    for (value, hit) in valued {
        let was_read = read.iter().any(|lines| {
            lines.path == hit.lines.path
                && lines.first <= hit.lines.first
                && hit.lines.last <= lines.last
        });
        if was_read || places.len() >= READS {
            continue;
        }
        let first = hit.lines.first.saturating_sub(READ_BEFORE).max(1);
        let lines = Lines {
            path: hit.lines.path.clone(),
            first,
            last: (hit.lines.last + READ_AFTER).min(first + READ_LINES - 1),
        };
        read.push(lines.clone());
        places.push(Candidate { lines, value });
    }
    places
}

/// What a file loses that is of another kind than what is asked for.
fn loss_of_kind(path: &str, wanted: &Wanted) -> f64 {
    let mut loss = 0.0;
    if path.to_lowercase().contains("test") != wanted.asks_for_tests {
        loss += TEST_LOSS;
    }
    if wanted.asks_for_code && DATA.iter().any(|end| path.ends_with(end)) {
        loss += DATA_LOSS;
    }
    loss
}

/// Reads places, each with its text: all in one call, or with a server that cannot as many as the calls
/// allow.
fn read_around<'p>(
    server: &mut Server,
    places: &'p [Candidate],
    outcome: &mut Outcome,
) -> Result<Vec<(&'p Candidate, String)>> {
    let mut texts = Vec::new();
    if places.is_empty() {
        return Ok(texts);
    }
    if !server.reads_many {
        for place in places {
            if outcome.calls < CALLS {
                let answer = server.read(&uri(&server.index, &place.lines))?;
                outcome.count(format!("read {}", show(&place.lines)), &answer);
                texts.push((place, answer.text));
            }
        }
        return Ok(texts);
    }
    let wanted: Vec<String> = places.iter().map(|place| show(&place.lines)).collect();
    let arguments = json!({ "documents": wanted, "max_tokens": READ_TOKENS });
    let answer = server.call("get_documents", &arguments)?;
    outcome.count(format!("get_documents {}", wanted.join(" ")), &answer);
    let documents = answer.value["documents"].as_array().into_iter().flatten();
    for document in documents {
        let place = places.iter().find(|place| {
            document["document_id"] == place.lines.path.as_str()
                && document["start_line"] == place.lines.first
        });
        if let (Some(place), Some(text)) = (place, document["content"].as_str()) {
            texts.push((place, text.to_owned()));
        }
    }
    Ok(texts)
}

fn show(lines: &Lines) -> String {
    format!("{}:{}-{}", lines.path, lines.first, lines.last)
}

fn uri(index: &str, lines: &Lines) -> String {
    let (first, last) = (lines.first, lines.last);
    let (index, path) = (
        percent::encode(index, false),
        percent::encode(&lines.path, true),
    );
    format!("kb://{index}/lines/{first}-{last}/{path}")
}

/// The lines of a place that say most. Half of the judgement is the place, half what these lines say. Who
/// asks for code does not cite the head of a file.
fn citation(place: &Candidate, text: &str, wanted: &Wanted) -> Candidate {
    let lines: Vec<&str> = text.lines().collect();
    let first = place.lines.first;
    let (mut head, mut loss) = (0, loss_of_kind(&place.lines.path, wanted));
    if wanted.asks_for_code && first == 1 {
        match first_definition(&lines) {
            Some(definition) => head = definition,
            None => loss += 2.0 * HEAD_LOSS,
        }
    }
    let (start, end, share) = wanted.best_window(&lines[head..], CITED_LINES);
    Candidate {
        lines: Lines {
            path: place.lines.path.clone(),
            first: first + (head + start) as u64,
            last: (first + (head + end) as u64).saturating_sub(1),
        },
        value: (place.value + share - loss) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: &str, first: u64, value: f64) -> Candidate {
        let lines = Lines {
            path: path.to_owned(),
            first,
            last: first + 79,
        };
        Candidate { lines, value }
    }

    fn hit(path: &str, first: u64, text: &str, score: f64) -> Hit {
        let lines = Lines {
            path: path.to_owned(),
            first,
            last: first + 5,
        };
        Hit {
            lines,
            section: String::new(),
            text: text.to_owned(),
            score,
        }
    }

    #[test]
    fn the_second_search_depends_on_the_question() {
        let tools = |question: &str| -> Vec<(&str, String, bool)> {
            let searches = searches(question, &Wanted::new(question));
            let parts = |it: Search| (it.tool, it.query, it.continues);
            searches.into_iter().map(parts).collect()
        };
        let asked = tools("What raises \"Too many\" there");
        assert_eq!(asked[0], ("search_code", "\"too many\"".to_owned(), false));
        assert!(!asked[1].2);
        let code = tools("Which function retries");
        assert!(code[1].2 && code[1].0 == "search_code");
        let docs = tools("How do I retry?");
        assert_eq!((docs[0].0, docs[1].0), ("search_docs", "search_code"));
    }

    #[test]
    fn the_best_places_are_read_once() {
        let wanted = Wanted::new("Which function retries requests?");
        let hits = [
            hit("tests/test_retry.py", 1, "def retry(request):", 1.0),
            hit("a.toml", 20, "retry request", 0.9),
            hit("retry.py", 40, "def retry(request):", 0.8),
            hit("retry.py", 44, "    return request", 0.7),
        ];
        let mut read = Vec::new();
        let places = places(&hits, 1.0, &wanted, &mut read);
        let paths: Vec<&str> = places
            .iter()
            .map(|place| place.lines.path.as_str())
            .collect();
        // The second hit of the file is within the lines read for its first one.
        assert_eq!(paths, ["retry.py", "a.toml", "tests/test_retry.py"]);
        assert_eq!((places[0].lines.first, places[0].lines.last), (30, 75));
        assert!(super::places(&hits, 1.0, &wanted, &mut read).is_empty());
    }

    #[test]
    fn the_head_of_a_file_is_not_cited_as_code() {
        let text =
            "# retries of requests\nimport retry\n\ndef send(request):\n    retry(request)\n";
        let wanted = Wanted::new("Which function retries requests?");
        let cited = citation(&place("retry.py", 1, 0.5), text, &wanted);
        assert_eq!((cited.lines.first, cited.lines.last), (4, 5));
        let wanted = Wanted::new("How are requests retried?");
        let cited = citation(&place("retry.py", 1, 0.5), text, &wanted);
        assert_eq!(cited.lines.first, 1);
    }
}
