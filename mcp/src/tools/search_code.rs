//! `search_code`: passages of source code.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use kb_engine::{Class, Cursor, Hit, Mode, Request, Response, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::arguments::JoinedList;
use super::call::budget::{self, Attempt};
use super::call::context::{Context, non_empty};
use super::call::params::{ContinuationToken, Full, IndexName, Limit, PassageTokens};
use super::call::tool::Tool;
use super::call::{hits, resolve, stale};
use crate::indexes::{Index, WORKING_DIRECTORY};
use crate::limits::{LIST_LIMIT, QUERY_LIMIT};
use crate::response::envelope::Continuation;
use crate::response::{Text, ToolError, ToolResponse, Warnings};

/// What is searched: programs, and data, which any search includes.
const CLASSES: [Class; 2] = [Class::Code, Class::Data];

/// Percent of the budget that the engine gets beyond it. With more, names and lines make the structured form of many
/// answers too large, and each is searched for again: 57 of the 126 questions of the bench at 25, 19 at 16, none at 12.
const MORE_PERCENT: u32 = 12;

pub(super) struct SearchCode;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchCodeParams {
    /// Natural language or identifiers.
    #[schemars(length(max = QUERY_LIMIT))]
    query: String,
    index_name: Option<IndexName>,
    #[serde(default)]
    limit: Limit,
    /// Comma-separated: python, typescript, hcl. Aliases: terraform=hcl, shell=bash, sh=bash.
    #[schemars(length(max = LIST_LIMIT))]
    language: Option<String>,
    /// true: vector and keyword. false: vector only. Omit to decide from the query.
    use_hybrid_search: Option<bool>,
    /// Lines before the match.
    #[schemars(range(min = 0, max = 200))]
    context_before: Option<u32>,
    /// Lines after the match.
    #[schemars(range(min = 0, max = 200))]
    context_after: Option<u32>,
    #[serde(default)]
    full: Full,
    max_tokens: Option<PassageTokens>,
    continuation_token: Option<ContinuationToken>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SearchCodeResult<'a> {
    search_context: Option<SearchContext>,
    /// Best first.
    results: Vec<Passage<'a>>,
    staleness_warning: Option<StalenessWarning>,
    truncated: Option<bool>,
    continuation: Option<Continuation>,
    warnings: Option<Warnings>,
}

// What was searched, where the caller did not say it.
#[derive(Serialize, JsonSchema)]
struct SearchContext {
    /// Always search_context.
    r#type: SearchContextType,
    searching: String,
    index_name: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SearchContextType {
    SearchContext,
}

#[derive(Serialize, JsonSchema)]
struct Passage<'a> {
    file_path: &'a str,
    start_line: u32,
    end_line: u32,
    /// 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    score: f64,
    content: Cow<'a, str>,
    language_id: Option<&'a str>,
    context_before: Option<&'a str>,
    context_after: Option<&'a str>,
    /// Which side matched.
    match_type: Option<MatchType>,
    vector_score: Option<f64>,
    keyword_score: Option<f64>,
    /// changed or deleted: the file, since it was indexed.
    stale: Option<&'a str>,
    /// With the first result of a file.
    uri: Option<String>,
    /// When several are searched.
    index_name: Option<&'a str>,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum MatchType {
    Semantic,
    Keyword,
    Both,
}

impl MatchType {
    fn of(hit: &Hit) -> Option<MatchType> {
        let matches = |score: Option<f32>| score.is_some_and(|score| score > 0.0);
        match (matches(hit.vector_score), matches(hit.keyword_score)) {
            (true, true) => Some(MatchType::Both),
            (true, false) => Some(MatchType::Semantic),
            (false, true) => Some(MatchType::Keyword),
            (false, false) => None,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            MatchType::Semantic => "semantic",
            MatchType::Keyword => "keyword",
            MatchType::Both => "both",
        }
    }
}

/// Present when the index is older than 7 days.
#[derive(Serialize, JsonSchema)]
struct StalenessWarning {
    /// Always staleness_warning.
    r#type: StalenessWarningType,
    message: String,
    #[schemars(default)]
    age_days: f64,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StalenessWarningType {
    StalenessWarning,
}

impl Tool for SearchCode {
    const NAME: &'static str = "search_code";
    const TITLE: &'static str = "Search code";
    const DESCRIPTION: &'static str = "Search source code with natural language or identifiers. \
        Returns code chunks ranked by relevance with file and lines. \
        context_before and context_after add lines around each match. Operators: \"phrase\", +word, \
        -word, path:x; in sentences +\"phrase\", -\"phrase\".";
    const JOINED_LISTS: &'static [JoinedList] = &[JoinedList {
        name: "language",
        begin: "",
        between: ",",
    }];

    type Params = SearchCodeParams;
    type Output = SearchCodeResult<'static>;

    fn run(cx: &Context<'_>, params: &SearchCodeParams) -> Result<ToolResponse, ToolError> {
        let indexes = resolve::all(cx, params.index_name.as_deref())?;
        if !resolve::any_has(&indexes, &CLASSES)? {
            let (code, what) = ("CODE_INDEX_NOT_FOUND", "source code");
            return Err(hits::holds_none(cx, &indexes, code, what, "search_docs"));
        }
        let mut request = request(params);
        let max_tokens = PassageTokens::of(params.max_tokens, params.full);
        budget::fit_results(max_tokens, MORE_PERCENT, |budget| {
            request.page = cx.page(budget, params.continuation_token.as_deref());
            let response = hits::ask(cx, &indexes, &request)?;
            let made = respond(cx, params, &request, &indexes, &response)?;
            Ok(Attempt {
                can_shrink: hits::shrink(&mut request, &response),
                tokens: response.hits.tokens,
                response: made,
            })
        })
    }
}

fn request(params: &SearchCodeParams) -> Request {
    let mut request = Request::new(&params.query);
    request.k = params.limit.get();
    request.mode = match params.use_hybrid_search {
        Some(false) => Mode::Semantic,
        _ => Mode::Hybrid,
    };
    request.scope = Scope::Chunks;
    request.context_lines = (
        params.context_before.unwrap_or(0),
        params.context_after.unwrap_or(0),
    );
    request.filters.classes = CLASSES.to_vec();
    let languages = params.language.as_deref().unwrap_or_default();
    request.filters.languages = languages
        .split(',')
        .map(str::trim)
        .filter(|language| !language.is_empty())
        .map(str::to_owned)
        .collect();
    hits::show(&mut request, params.full.get());
    request
}

fn respond(
    cx: &Context<'_>,
    params: &SearchCodeParams,
    request: &Request,
    indexes: &[Arc<Index>],
    response: &Response,
) -> Result<ToolResponse, ToolError> {
    let is_cut = response.hits.next.is_some() && response.hits.len() < request.k;
    let token = response.hits.next.as_ref().map(Cursor::as_str);
    let search_context = match params.index_name.as_deref() {
        Some(name) if name != WORKING_DIRECTORY => None,
        _ => Some(search_context(indexes)?),
    };
    let stale = staleness_warning(indexes);
    let warnings = hits::warnings(cx, indexes, response);
    let max_tokens = PassageTokens::of(params.max_tokens, params.full);
    let uri = |number| {
        let first = hits::first_of_document(&response.hits, number)?;
        hits::has_facts(max_tokens).then(|| hits::uri_of(indexes, first))
    };
    let mut text = Text::new();
    text.warnings(&warnings);
    if let Some(context) = &search_context {
        text.line(if context.searching == context.index_name {
            format!("Searching {}.", hits::names(indexes))
        } else {
            format!(
                "Searching {} (index {}).",
                context.searching, context.index_name
            )
        });
    }
    if let Some(stale) = &stale {
        text.line(format!("Age {:?} days: {}", stale.age_days, stale.message));
    }
    for (number, hit) in response.hits.iter().enumerate() {
        show(&mut text, indexes, &response.hits, number, hit, uri(number));
    }
    text.line(hits::count(response));
    let hits = response.hits.iter().enumerate();
    let passages =
        hits.map(|(number, hit)| passage(indexes, &response.hits, number, hit, uri(number)));
    let result = SearchCodeResult {
        search_context,
        results: passages.collect(),
        staleness_warning: stale,
        truncated: is_cut.then_some(true),
        continuation: token.map(|token| Continuation::of(Some(token))),
        warnings: Warnings::of(warnings),
    };
    let text = text.continued(hits::lead(is_cut), token);
    Ok(ToolResponse::new(&result, text))
}

fn passage<'a>(
    indexes: &'a [Arc<Index>],
    hits: &'a [Hit],
    number: usize,
    hit: &'a Hit,
    uri: Option<String>,
) -> Passage<'a> {
    let first = hits::first_of_document(hits, number);
    Passage {
        file_path: &hit.document,
        start_line: hit.lines.first,
        end_line: hit.lines.last,
        score: hits::score(hit.score),
        content: hit.shown_text(),
        language_id: first.and_then(|hit| non_empty(&hit.language)),
        context_before: non_empty(&hit.before),
        context_after: non_empty(&hit.after),
        match_type: MatchType::of(hit),
        vector_score: hit.vector_score.map(hits::score),
        keyword_score: hit.keyword_score.map(hits::score),
        stale: hit.source_state.stale(),
        uri,
        index_name: hits::index_shown(indexes, hit),
    }
}

/// The same passage as text.
fn show(
    text: &mut Text,
    indexes: &[Arc<Index>],
    hits: &[Hit],
    number: usize,
    hit: &Hit,
    uri: Option<String>,
) {
    hits::first_line(text, hits, number, hit);
    let first = hits::first_of_document(hits, number);
    let shown = |score: Option<f32>| score.map(|score| format!("{:?}", hits::score(score)));
    let shown = |score| shown(score).unwrap_or_default();
    let match_type = MatchType::of(hit).map_or("", MatchType::as_str);
    text.facts(&[
        (
            "index",
            Some(&hits::index_shown(indexes, hit).unwrap_or_default()),
        ),
        (
            "language",
            Some(&first.map_or("", |hit| hit.language.as_str())),
        ),
        ("lines", Some(&hits::lines_beside(hit))),
        ("match", Some(&match_type)),
        ("vector", Some(&shown(hit.vector_score))),
        ("keyword", Some(&shown(hit.keyword_score))),
        ("", Some(&uri.unwrap_or_default())),
    ]);
    text.named_passage("Before:", &hit.before);
    text.passage(&hit.shown_text());
    text.named_passage("After:", &hit.after);
}

/// The folder that the index was made from, if it is on this machine, else the names of the indexes.
fn search_context(indexes: &[Arc<Index>]) -> Result<SearchContext, ToolError> {
    let index_name = hits::name_list(indexes).join(", ");
    let root = match indexes {
        [index] => {
            let mut roots = index.kb().roots()?.into_iter();
            roots.find(|root| Path::new(&root.source).is_dir())
        }
        _ => None,
    };
    Ok(SearchContext {
        r#type: SearchContextType::SearchContext,
        searching: root.map_or_else(|| index_name.clone(), |root| root.source),
        index_name,
    })
}

/// About the oldest of the indexes, where one is old.
fn staleness_warning(indexes: &[Arc<Index>]) -> Option<StalenessWarning> {
    let ages = indexes
        .iter()
        .map(|index| (index.name(), index.staleness()));
    let old = ages.filter(|(_, stale)| stale.is_old());
    let (name, stale) = old.max_by(|a, b| a.1.age_days.total_cmp(&b.1.age_days))?;
    Some(StalenessWarning {
        r#type: StalenessWarningType::StalenessWarning,
        message: stale::out_of_date(name, &stale),
        age_days: (stale.age_days * 10.0).round() / 10.0,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tools::testing::Fixture;

    #[test]
    fn code_is_found_by_meaning_and_by_name() {
        let fixture = Fixture::guides();
        let given = json!({"query": "fn trim_sail(angle: f32) -> f32", "limit": 2});
        let answer = fixture.answer("search_code", given);
        let first = &answer.structured["results"][0];
        assert_eq!(first["file_path"], "src/rig.rs");
        assert_eq!(first["language_id"], "rust");
        assert_eq!(first["match_type"], "both");
        assert_eq!(answer.structured["search_context"]["index_name"], "guides");
        assert!(first["content"].as_str().unwrap().contains("trim_sail"));
        let named = fixture.answer(
            "search_code",
            json!({"query": "sail", "index_name": "guides"}),
        );
        assert!(named.structured.get("search_context").is_none());
    }

    #[test]
    fn results_are_code_of_the_languages() {
        let fixture = Fixture::guides();
        let paths = |given| {
            let answer = fixture.answer("search_code", given);
            let results = answer.structured["results"].as_array().unwrap().clone();
            let paths = results
                .iter()
                .map(|one| one["file_path"].as_str().unwrap().to_owned());
            paths.collect::<std::collections::BTreeSet<_>>()
        };
        let all = paths(json!({"query": "mending sails with wax"}));
        assert!(all.iter().all(|path| path.starts_with("src/")), "{all:?}");
        let rust = paths(json!({"query": "sails", "language": "rs"}));
        assert_eq!(rust.into_iter().collect::<Vec<_>>(), ["src/rig.rs"]);
        let both = paths(json!({"query": "sails", "language": ["rs", "python"]}));
        assert_eq!(both.len(), 2);
    }

    #[test]
    fn signs_of_a_language_are_plain_text() {
        let fixture = Fixture::guides();
        for query in [
            "fn trim_sail(angle: f32) -> f32",
            "trim_sail -a",
            "trim_sail(-angle)",
        ] {
            let answer = fixture.answer("search_code", json!({"query": query}));
            let first = &answer.structured["results"][0];
            assert_eq!(first["file_path"], "src/rig.rs", "{query}");
        }
    }

    #[test]
    fn a_language_that_no_document_has_is_named() {
        let fixture = Fixture::guides();
        let answer = fixture.answer("search_code", json!({"query": "sails", "language": "go"}));
        assert_eq!(answer.structured["results"].as_array().unwrap().len(), 0);
        let warnings = answer.structured["warnings"].as_array().unwrap();
        let [warning] = warnings.as_slice() else {
            panic!("{warnings:?}");
        };
        let warning = warning.as_str().unwrap();
        assert!(
            warning.contains("has language \"go\"; there are: python, rust"),
            "{warning}"
        );
    }

    #[test]
    fn hybrid_search_can_be_turned_off() {
        let fixture = Fixture::guides();
        let given = json!({"query": "trim_sail", "use_hybrid_search": "false"});
        let answer = fixture.answer("search_code", given);
        let first = &answer.structured["results"][0];
        assert!(first.get("keyword_score").is_none());
        assert_eq!(first["match_type"], "semantic");
    }

    #[test]
    fn context_lines_are_optional() {
        let function = |n: u32| {
            let body = "    let total = values.iter().sum::<f32>();\n".repeat(6);
            format!("/// Number {n}.\npub fn item_{n}() -> f32 {{\n{body}    total\n}}\n\n")
        };
        let code: String = (0..60).map(function).collect();
        let code = code.replace("pub fn item_30(", "pub fn walrus(");
        let fixture = Fixture::new("code", &[("a.rs", &code)]);
        let first = |given| fixture.answer("search_code", given).structured["results"][0].clone();
        let plain = first(json!({"query": "walrus", "limit": 1}));
        assert!(plain.get("context_after").is_none() && plain.get("context_before").is_none());
        let given = json!({"query": "walrus", "limit": 1, "context_before": 2, "context_after": 3});
        let around = first(given);
        let lines = |key: &str| around[key].as_str().unwrap().lines().count();
        assert_eq!((lines("context_before"), lines("context_after")), (2, 3));
    }

    #[test]
    fn an_unknown_filter_is_ignored_with_a_warning() {
        let fixture = Fixture::guides();
        let given = json!({"query": "hoist", "language": "python", "symbol_type": "function"});
        let answer = fixture.answer("search_code", given);
        let warning = answer.structured["warnings"][0].as_str().unwrap();
        assert!(warning.starts_with("symbol_type ignored"), "{warning}");
    }

    #[test]
    fn a_token_continues_with_the_first_arguments() {
        let fixture = Fixture::guides();
        let given = json!({"query": "sails", "limit": 1, "language": ["rs", "python"]});
        let first = fixture.answer("search_code", given);
        let token = &first.structured["continuation"]["token"];
        assert!(first.structured.get("truncated").is_none());
        let next = json!({"query": "sails", "continuation_token": token});
        let next = fixture.answer("search_code", next);
        assert_eq!(next.structured["results"].as_array().unwrap().len(), 1);
        assert_ne!(next.structured["results"], first.structured["results"]);
        assert!(
            next.structured.get("continuation").is_none(),
            "{}",
            next.text
        );
    }

    #[test]
    fn an_index_without_code_is_an_error() {
        let fixture = Fixture::new("docs", &[("a.md", "# A\n\ntext")]);
        let error = fixture.error("search_code", json!({"query": "main"}));
        assert_eq!(error.code, "CODE_INDEX_NOT_FOUND");
    }
}
