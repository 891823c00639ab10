//! `search_regex`: every line that matches a regular expression.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kb_engine::{
    Hit, Kb, RegexMatch, RegexOutput, RegexRequest, RegexResponse, search_files_regex,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::arguments::JoinedList;
use super::call::budget::{self, Attempt};
use super::call::context::{Context, non_empty};
use super::call::params::{ContinuationToken, DocumentName, IndexName, MaxTokens, globs};
use super::call::part_location::PartLocation;
use super::call::tool::Tool;
use super::call::{hits, resolve, stale};
use crate::indexes::{Index, look_at_sources, together};
use crate::limits::{DOCUMENT_LIMIT, LIST_LIMIT, PATTERN_LIMIT, TAG_LIMIT};
use crate::response::envelope::Continuation;
use crate::response::{Text, ToolError, ToolResponse, Warnings, wording};

/// Longest search of one call; what is left has a continuation token.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Bytes of a line that are shown, around its first match.
const LINE_BYTES: usize = 300;

/// Percent of the budget that the engine gets beyond it: it counts the path with each line, and the forms have it
/// once a document.
const MORE_PERCENT: u32 = 20;

pub(super) struct SearchRegex;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchRegexParams {
    /// Perl-like, Unicode-aware; no look-around or backreferences.
    #[schemars(length(max = PATTERN_LIMIT))]
    pattern: String,
    index_name: Option<IndexName>,
    /// Ignore case.
    #[serde(default)]
    ignore_case: bool,
    /// Match whole words.
    #[serde(default)]
    whole_words: bool,
    /// Plain text, not a pattern.
    #[serde(default)]
    literal: bool,
    /// Let matches span lines.
    #[serde(default)]
    multiline: bool,
    /// counts: matching lines per document. documents: those with a match.
    #[serde(default)]
    output: OutputParam,
    /// Globs: src/**/*.rs, !tests/**.
    #[schemars(length(max = DOCUMENT_LIMIT))]
    path: Option<String>,
    /// Comma-separated.
    #[schemars(length(max = LIST_LIMIT))]
    language: Option<String>,
    /// One tag.
    #[schemars(length(max = TAG_LIMIT))]
    tag: Option<String>,
    document_id: Option<DocumentName>,
    #[serde(default)]
    limit: MatchLimit,
    #[serde(default)]
    max_tokens: MaxTokens,
    continuation_token: Option<ContinuationToken>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutputParam {
    #[default]
    Lines,
    Counts,
    Documents,
}

/// Maximum lines or documents.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
struct MatchLimit(#[schemars(range(min = 1, max = 1000))] u32);

impl Default for MatchLimit {
    fn default() -> MatchLimit {
        MatchLimit(100)
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SearchRegexResult<'a> {
    /// By path.
    results: Vec<DocumentResult<'a>>,
    truncated: Option<bool>,
    continuation: Option<Continuation>,
    warnings: Option<Warnings>,
}

#[derive(Serialize, JsonSchema)]
struct DocumentResult<'a> {
    document_id: &'a str,
    /// When several are searched.
    index_name: Option<&'a str>,
    /// changed or deleted: the file, since it was indexed.
    stale: Option<&'a str>,
    matching_lines: Option<u64>,
    matches: Option<Vec<LineResult<'a>>>,
}

#[derive(Serialize, JsonSchema)]
struct LineResult<'a> {
    line: u32,
    /// Where it is another.
    end_line: Option<u32>,
    text: String,
    page: Option<u32>,
    sheet: Option<&'a str>,
    row: Option<u32>,
    slide: Option<u32>,
}

impl Tool for SearchRegex {
    const NAME: &'static str = "search_regex";
    const TITLE: &'static str = "Search by pattern";
    const DESCRIPTION: &'static str = "Every line of code, prose, pages, sheets and slides that matches a \
        regular expression, like grep. For exact strings, all uses of a name, patterns.";
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("query", "pattern"),
        ("regex", "pattern"),
        ("case_insensitive", "ignore_case"),
        ("word", "whole_words"),
        ("fixed_strings", "literal"),
        ("multi_line", "multiline"),
        ("glob", "path"),
        ("head_limit", "limit"),
    ];
    const JOINED_LISTS: &'static [JoinedList] = &[
        JoinedList::with_commas("language"),
        JoinedList::with_commas("path"),
    ];

    type Params = SearchRegexParams;
    type Output = SearchRegexResult<'static>;

    fn run(cx: &Context<'_>, params: &SearchRegexParams) -> Result<ToolResponse, ToolError> {
        let indexes = resolve::all(cx, params.index_name.as_deref())?;
        let began = Instant::now();
        let mut request = request(params);
        budget::fit_results(params.max_tokens.get(), MORE_PERCENT, |budget| {
            // All attempts together have that time.
            request.time_limit = Some(TIME_LIMIT.saturating_sub(began.elapsed()));
            request.page = cx.page(budget, params.continuation_token.as_deref());
            let response = ask(cx, &indexes, &request)?;
            Ok(Attempt {
                can_shrink: response.matches.len() > 1,
                tokens: response.matches.tokens,
                response: respond(cx, params, &indexes, &response),
            })
        })
    }
}

fn request(params: &SearchRegexParams) -> RegexRequest {
    let mut request = RegexRequest::new(&params.pattern)
        .ignore_case(params.ignore_case)
        .whole_words(params.whole_words)
        .literal(params.literal)
        .multi_line(params.multiline)
        .output(match params.output {
            OutputParam::Lines => RegexOutput::Lines,
            OutputParam::Counts => RegexOutput::Counts,
            OutputParam::Documents => RegexOutput::Documents,
        })
        .k(usize::try_from(params.limit.0).unwrap_or(usize::MAX))
        .documents(params.document_id.as_deref())
        .max_line_bytes(LINE_BYTES);
    let languages = params.language.as_deref().unwrap_or_default().split(',');
    let languages = languages
        .map(str::trim)
        .filter(|language| !language.is_empty());
    request.filters.languages = languages.map(str::to_owned).collect();
    request.filters.paths = globs(params.path.as_deref());
    request.filters.tags = params.tag.iter().cloned().collect();
    request
}

/// Searches the files one after the other, until the call is cancelled. Of several, those that cannot be read are
/// left out with a warning.
pub(in crate::tools) fn ask(
    cx: &Context<'_>,
    indexes: &[Arc<Index>],
    request: &RegexRequest,
) -> Result<RegexResponse, ToolError> {
    let mut alone = request.clone();
    alone.page.cursor = None;
    let mut warnings = Vec::new();
    let (mut response, numbers) = together(indexes, &mut warnings, |files, is_alone| {
        search(cx, files, if is_alone { &alone } else { request })
    })?;
    for found in &mut response.matches.items {
        found.file = numbers.get(found.file).copied().unwrap_or(found.file);
    }
    response.warnings.extend(warnings);
    Ok(response)
}

fn search(
    cx: &Context<'_>,
    files: &[&Kb],
    request: &RegexRequest,
) -> kb_engine::Result<RegexResponse> {
    search_files_regex(files, request, &mut cx.hook())
}

fn respond(
    cx: &Context<'_>,
    params: &SearchRegexParams,
    indexes: &[Arc<Index>],
    response: &RegexResponse,
) -> ToolResponse {
    let mut warnings = cx.warnings.clone();
    warnings.extend(response.warnings.iter().cloned());
    warnings.extend(stale::of_indexes(indexes, response.matches.is_empty()));
    let is_same = |a: &RegexMatch, b: &RegexMatch| a.file == b.file && a.document == b.document;
    let groups: Vec<&[RegexMatch]> = response.matches.chunk_by(is_same).collect();
    let mut documents: Vec<Hit> = groups
        .iter()
        .filter_map(|group| {
            let first = group.first()?;
            let mut hit = Hit::of_text(&*first.document, "");
            hit.file = first.file;
            Some(hit)
        })
        .collect();
    look_at_sources(indexes, &mut documents);
    let mut text = Text::new();
    text.warnings(&warnings);
    let mut results = Vec::with_capacity(groups.len());
    for (group, hit) in groups.iter().zip(&documents) {
        let index_name = hits::index_shown(indexes, hit);
        let state = hit.source_state.stale();
        show(&mut text, params.output, group, index_name, state);
        let count: u64 = group.iter().map(|found| found.matching_lines).sum();
        results.push(DocumentResult {
            document_id: group.first().map_or("", |found| &found.document),
            index_name,
            stale: state,
            matching_lines: matches!(params.output, OutputParam::Counts).then_some(count),
            matches: matches!(params.output, OutputParam::Lines)
                .then(|| group.iter().map(line_result).collect()),
        });
    }
    let what = match params.output {
        OutputParam::Lines => "match",
        OutputParam::Counts | OutputParam::Documents => "document",
    };
    text.line(format!("{}.", count_of(response.matches.len(), what)));
    let token = cx.token(response.matches.next.as_ref());
    let token = token.as_deref();
    let limit = usize::try_from(params.limit.0).unwrap_or(usize::MAX);
    let is_cut = token.is_some() && response.is_complete && response.matches.len() < limit;
    let result = SearchRegexResult {
        results,
        truncated: token.map(|_| true),
        continuation: token.map(|token| Continuation::of(Some(token))),
        warnings: Warnings::of(warnings),
    };
    ToolResponse::new(&result, text.continued(hits::lead(is_cut), token))
}

fn count_of(count: usize, what: &str) -> String {
    match (what, count) {
        ("match", 1) => "1 match".to_owned(),
        ("match", _) => format!("{count} matches"),
        _ => wording::count(count as u64, what),
    }
}

fn line_result(found: &RegexMatch) -> LineResult<'_> {
    let location = PartLocation::of(found.part.as_ref());
    let end = found.lines.last;
    LineResult {
        line: found.lines.first,
        end_line: (end != found.lines.first).then_some(end),
        text: shown(found),
        page: location.page,
        sheet: location.sheet.and_then(non_empty),
        row: location.start_row,
        slide: location.slide,
    }
}

/// The text of a match, with `[...]` for the rest of a long line.
fn shown(found: &RegexMatch) -> String {
    let cut = |is_cut: bool| if is_cut { "[...]" } else { "" };
    let (before, after) = (cut(found.begins_within_line), cut(found.ends_within_line));
    format!("{before}{}{after}", found.text)
}

/// The matches of a document as text: its path, then a passage with a line for each.
fn show(
    text: &mut Text,
    output: OutputParam,
    group: &[RegexMatch],
    index_name: Option<&str>,
    stale: Option<&str>,
) {
    let Some(first) = group.first() else {
        return;
    };
    let mut line = first.document.clone();
    if let OutputParam::Counts = output {
        line.push_str(&format!(": {}", first.matching_lines));
    }
    if let Some(name) = index_name {
        line.push_str(&format!("  index {name}"));
    }
    if let Some(state) = stale {
        line.push_str(&format!("  STALE: {state} after it was indexed"));
    }
    text.line(line);
    if !matches!(output, OutputParam::Lines) {
        return;
    }
    let mut passage = String::new();
    for found in group {
        let lines = found.lines;
        let address = match &found.part {
            Some(part) => format!("{part}, line {}", lines.first),
            None if lines.first == lines.last => lines.first.to_string(),
            None => format!("{}-{}", lines.first, lines.last),
        };
        passage.push_str(&format!("{address}: {}\n", shown(found)));
    }
    text.passage(&passage);
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::tools::testing::Fixture;

    #[test]
    fn matches_come_by_document_and_line() {
        let fixture = Fixture::new(
            "code",
            &[
                ("b.rs", "fn one() {}\nlet x = 1;\nfn two() {}\n"),
                ("a.md", "# fn\n"),
            ],
        );
        let answer = fixture.answer("search_regex", json!({"pattern": r"\bfn\b"}));
        let results = &answer.structured["results"];
        assert_eq!(
            results[0],
            json!({"document_id": "a.md", "matches": [{"line": 1, "text": "# fn"}]})
        );
        assert_eq!(
            results[1]["matches"][1],
            json!({"line": 3, "text": "fn two() {}"})
        );
        assert!(
            answer
                .text
                .contains("b.rs\n```\n1: fn one() {}\n3: fn two() {}\n```\n"),
            "{}",
            answer.text
        );
        assert!(answer.text.contains("3 matches."), "{}", answer.text);
        let counts =
            json!({"pattern": "FN", "ignore_case": true, "output": "counts", "glob": "*.rs"});
        let answer = fixture.answer("search_regex", counts);
        assert_eq!(
            answer.structured["results"],
            json!([{"document_id": "b.rs", "matching_lines": 2}])
        );
        let documents = json!({"pattern": "let|#", "output": "documents"});
        let answer = fixture.answer("search_regex", documents);
        assert_eq!(
            answer.structured["results"],
            json!([{"document_id": "a.md"}, {"document_id": "b.rs"}])
        );
        let none = fixture.answer("search_regex", json!({"pattern": "nowhere"}));
        assert_eq!(none.structured["results"], json!([]));
    }

    #[test]
    fn a_match_names_its_page_row_or_slide() {
        let fixture = Fixture::harbour(&[]);
        let located = |pattern: &str| {
            let answer = fixture.answer(
                "search_regex",
                json!({"pattern": pattern, "ignore_case": true}),
            );
            let found = answer.structured["results"][0].clone();
            (
                found["document_id"].clone(),
                found["matches"][0].clone(),
                answer.text,
            )
        };
        let (path, found, _) = located("anchorage");
        assert_eq!(
            (&path, found["page"].is_u64()),
            (&json!("pilot-book.pdf"), true),
            "{found}"
        );
        let (path, found, text) = located(r"^Kittiwake\t");
        assert_eq!(
            (&path, &found["sheet"]),
            (&json!("ledger.xlsx"), &json!("Dues")),
            "{found}"
        );
        assert!(
            found["row"].is_u64() && text.contains("[Dues] row "),
            "{text}"
        );
        let (path, found, _) = located("turns on mercury");
        assert_eq!((&path, &found["slide"]), (&json!("talk.pptx"), &json!(2)));
    }

    #[test]
    fn a_wrong_pattern_names_its_position_and_a_way_out() {
        let fixture = Fixture::new("code", &[("a.rs", "fn main() {}")]);
        for (pattern, position, hint) in [
            ("a(b", "character 2", "literal=true"),
            ("(?=a)", "character 1", "look-around"),
            (r"(a)\1", "character 4", "backreferences"),
            (r"a\nb", "line", "multiline=true"),
        ] {
            let error = fixture.error("search_regex", json!({"pattern": pattern}));
            assert_eq!(error.code, "INVALID_REGEX");
            let text = error.text();
            assert!(text.contains(position) && text.contains(hint), "{text}");
        }
    }

    #[test]
    fn a_long_answer_goes_on_with_its_token() {
        let text: String = (0..400).map(|n| format!("line {n} has walrus\n")).collect();
        let fixture = Fixture::new("many", &[("a.txt", &text), ("b.txt", &text)]);
        let mut lines: Vec<Value> = Vec::new();
        let mut asked = json!({"pattern": "walrus", "max_tokens": 900, "limit": 1000});
        for _ in 0..100 {
            let answer = fixture.answer("search_regex", asked.clone());
            for result in answer.structured["results"].as_array().unwrap() {
                lines.extend(result["matches"].as_array().unwrap().iter().cloned());
            }
            match answer.structured.get("continuation") {
                Some(continuation) => asked["continuation_token"] = continuation["token"].clone(),
                None => break,
            }
        }
        assert_eq!(lines.len(), 800);
        assert_eq!(lines[0]["text"], "line 0 has walrus");
        assert_eq!(lines[799]["line"], 400);
    }
}
