//! `find_symbols`: definitions in source code.

use std::sync::Arc;

use kb_engine::{
    FoundSymbol, SymbolRelation, SymbolsRequest, SymbolsResponse, search_files_symbols,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::indexes::{Index, together};
use crate::limits::{DOCUMENT_LIMIT, LIST_LIMIT, SYMBOL_LIMIT};
use crate::response::envelope::Continuation;
use crate::response::{Text, ToolError, ToolResponse, Warnings, wording};
use crate::tools::call::arguments::JoinedList;
use crate::tools::call::budget::{self, Attempt};
use crate::tools::call::coerce::invalid;
use crate::tools::call::context::{Context, non_empty};
use crate::tools::call::params::{
    ContinuationToken, IndexName, MaxTokens, globs, symbol_kinds, words,
};
use crate::tools::call::tool::Tool;
use crate::tools::call::{hits, resolve, stale};

pub(crate) struct FindSymbols;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct FindSymbolsParams {
    /// Glob: parse_*.
    #[schemars(length(max = SYMBOL_LIMIT))]
    name: Option<String>,
    index_name: Option<IndexName>,
    /// Comma-separated: function, method, class, struct, interface, enum, trait, module, constant, type, impl, field.
    #[schemars(length(max = LIST_LIMIT))]
    kind: Option<String>,
    /// Comma-separated.
    #[schemars(length(max = LIST_LIMIT))]
    language: Option<String>,
    /// Globs: src/**, !tests/**.
    #[schemars(length(max = DOCUMENT_LIMIT))]
    path: Option<String>,
    /// Only what uses this name: callers.
    #[schemars(length(max = SYMBOL_LIMIT))]
    uses: Option<String>,
    /// Only what this name's definition uses.
    #[schemars(length(max = SYMBOL_LIMIT))]
    used_by: Option<String>,
    #[serde(default)]
    limit: SymbolCount,
    #[serde(default)]
    max_tokens: MaxTokens,
    continuation_token: Option<ContinuationToken>,
}

/// Maximum symbols.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
struct SymbolCount(#[schemars(range(min = 1, max = 1000))] u32);

impl Default for SymbolCount {
    fn default() -> SymbolCount {
        SymbolCount(50)
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct FindSymbolsResult<'a> {
    /// By path and line.
    results: Vec<SymbolResult<'a>>,
    /// On all pages.
    total: u64,
    truncated: Option<bool>,
    continuation: Option<Continuation>,
    warnings: Option<Warnings>,
}

#[derive(Serialize, JsonSchema)]
struct SymbolResult<'a> {
    document_id: &'a str,
    /// When several are asked.
    index_name: Option<&'a str>,
    start_line: u32,
    end_line: u32,
    kind: &'static str,
    name: &'a str,
    /// With what holds it.
    hierarchy: &'a str,
    signature: Option<&'a str>,
    /// With uses.
    used_in_lines: Option<&'a [u32]>,
    /// Those of them that call it.
    called_in_lines: Option<&'a [u32]>,
}

impl Tool for FindSymbols {
    const NAME: &'static str = "find_symbols";
    const TITLE: &'static str = "Find definitions";
    const DESCRIPTION: &'static str = "Definitions in source code by name, kind and path, with lines and \
        signatures, or callers. For: where is X defined, who calls a function. Compares names, not types.";
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("query", "name"),
        ("symbol", "name"),
        ("symbol_name", "name"),
        ("symbol_type", "kind"),
        ("kinds", "kind"),
        ("glob", "path"),
        ("callers_of", "uses"),
        ("callees_of", "used_by"),
    ];
    const JOINED_LISTS: &'static [JoinedList] = &[
        JoinedList::with_commas("language"),
        JoinedList::with_commas("kind"),
        JoinedList::with_commas("path"),
    ];

    type Params = FindSymbolsParams;
    type Output = FindSymbolsResult<'static>;

    fn run(cx: &Context<'_>, params: &FindSymbolsParams) -> Result<ToolResponse, ToolError> {
        let indexes = resolve::all(cx, params.index_name.as_deref())?;
        let mut request = request(params)?;
        budget::fit(params.max_tokens.get(), |budget| {
            request.page = cx.page(budget, params.continuation_token.as_deref());
            let found = ask(cx, &indexes, &request)?;
            Ok(Attempt {
                can_shrink: found.symbols.len() > 1,
                tokens: found.symbols.tokens,
                response: respond(cx, params, &indexes, &found),
            })
        })
    }
}

/// Asks the files one after the other, until the call is cancelled. Of several, those that cannot be read are left out
/// with a warning.
fn ask(
    cx: &Context<'_>,
    indexes: &[Arc<Index>],
    request: &SymbolsRequest,
) -> Result<SymbolsResponse, ToolError> {
    let mut alone = request.clone();
    alone.page.cursor = None;
    let mut warnings = Vec::new();
    let (mut response, numbers) = together(indexes, &mut warnings, |files, is_alone| {
        let request = if is_alone { &alone } else { request };
        search_files_symbols(files, request, &mut cx.hook())
    })?;
    for symbol in &mut response.symbols.items {
        symbol.file = numbers.get(symbol.file).copied().unwrap_or(symbol.file);
    }
    response.warnings.extend(warnings);
    Ok(response)
}

fn request(params: &FindSymbolsParams) -> Result<SymbolsRequest, ToolError> {
    let mut request = SymbolsRequest::new()
        .kinds(symbol_kinds("kind", &words(params.kind.as_deref()))?)
        .k(usize::try_from(params.limit.0).unwrap_or(usize::MAX));
    request.name = given(params.name.as_deref());
    request.filters.languages = words(params.language.as_deref());
    request.filters.paths = globs(params.path.as_deref());
    request.relation = match (
        given(params.uses.as_deref()),
        given(params.used_by.as_deref()),
    ) {
        (Some(_), Some(_)) => {
            return Err(invalid("uses", "it cannot be combined with used_by"));
        }
        (Some(name), None) => Some(SymbolRelation::Uses(name)),
        (None, Some(name)) => Some(SymbolRelation::UsedBy(name)),
        (None, None) => None,
    };
    Ok(request)
}

/// A name; an empty one says nothing.
fn given(name: Option<&str>) -> Option<String> {
    name.and_then(non_empty).map(str::to_owned)
}

fn respond(
    cx: &Context<'_>,
    params: &FindSymbolsParams,
    indexes: &[Arc<Index>],
    found: &SymbolsResponse,
) -> ToolResponse {
    let mut warnings = cx.warnings.clone();
    warnings.extend(found.warnings.iter().cloned());
    warnings.extend(stale::of_indexes(indexes, found.symbols.is_empty()));
    if !found.has_symbols {
        warnings.push("no document has symbols: there is no parsed source code".to_owned());
    }
    if found.uses_outside > 0 {
        warnings.push(format!(
            "the name also occurs in {} outside symbols: search_regex finds all lines",
            wording::count(found.uses_outside, "line")
        ));
    }
    let mut text = Text::new();
    text.warnings(&warnings);
    let mut passage = String::new();
    for symbol in &found.symbols {
        passage.push_str(&line_of(symbol, index_shown(indexes, symbol)));
    }
    if !passage.is_empty() {
        text.passage(&passage);
    }
    text.line(format!("{}.", wording::count(found.total, "symbol")));
    let token = cx.token(found.symbols.next.as_ref());
    let token = token.as_deref();
    let limit = usize::try_from(params.limit.0).unwrap_or(usize::MAX);
    let is_cut = token.is_some() && found.symbols.len() < limit;
    let result = FindSymbolsResult {
        results: found
            .symbols
            .iter()
            .map(|symbol| result_of(symbol, index_shown(indexes, symbol)))
            .collect(),
        total: found.total,
        truncated: token.map(|_| true),
        continuation: token.map(|token| Continuation::of(Some(token))),
        warnings: Warnings::of(warnings),
    };
    ToolResponse::new(&result, text.continued(hits::lead(is_cut), token))
}

/// The name of the index of a symbol, when several are asked.
fn index_shown<'i>(indexes: &'i [Arc<Index>], symbol: &FoundSymbol) -> Option<&'i str> {
    let index = indexes.get(symbol.file).filter(|_| indexes.len() > 1)?;
    Some(index.name())
}

/// `src/a.rs:12-40 method impl Foo > fn bar: pub fn bar(&self) -> u8`.
fn line_of(symbol: &FoundSymbol, index_name: Option<&str>) -> String {
    let lines = symbol.lines;
    let mut line = index_name.map_or_else(String::new, |name| format!("[{name}] "));
    line.push_str(&format!(
        "{}:{}-{} {} {}",
        symbol.document, lines.first, lines.last, symbol.kind, symbol.hierarchy
    ));
    if let Some(signature) = signature_of(symbol) {
        line.push_str(": ");
        line.push_str(signature);
    }
    if !symbol.uses.is_empty() {
        line.push_str(&format!(" ({})", uses_of(symbol)));
    }
    line.push('\n');
    line
}

/// `called in lines 5, 9; named in line 12`.
fn uses_of(symbol: &FoundSymbol) -> String {
    let lines = |verb: &str, lines: &[u32]| {
        let numbers: Vec<String> = lines.iter().map(u32::to_string).collect();
        let lines = if numbers.len() == 1 { "line" } else { "lines" };
        (!numbers.is_empty()).then(|| format!("{verb} in {lines} {}", numbers.join(", ")))
    };
    let parts = [
        lines("called", &symbol.calls),
        lines("named", &symbol.mentions()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Where it says more than the label.
fn signature_of(symbol: &FoundSymbol) -> Option<&str> {
    let says_more = !symbol.hierarchy.ends_with(&symbol.signature);
    non_empty(&symbol.signature).filter(|_| says_more)
}

fn result_of<'a>(symbol: &'a FoundSymbol, index_name: Option<&'a str>) -> SymbolResult<'a> {
    let shown = |lines: &'a [u32]| (!lines.is_empty()).then_some(lines);
    SymbolResult {
        document_id: &symbol.document,
        index_name,
        start_line: symbol.lines.first,
        end_line: symbol.lines.last,
        kind: symbol.kind.name(),
        name: &symbol.name,
        hierarchy: &symbol.hierarchy,
        signature: signature_of(symbol),
        used_in_lines: shown(&symbol.uses),
        called_in_lines: shown(&symbol.calls),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tools::testing::Fixture;

    const PYTHON: &str = "import os\n\nclass LoginHandler:\n    def check(self, name):\n        return validate(name)\n\n\
        def validate(name):\n    return name\n";

    #[test]
    fn definitions_come_with_lines_and_signatures() {
        let fixture = Fixture::new("code", &[("a.py", PYTHON)]);
        let answer = fixture.answer(
            "find_symbols",
            json!({"symbol": "*HANDLER", "kind": ["class"]}),
        );
        let expected = json!([{"document_id": "a.py", "start_line": 3, "end_line": 5, "kind": "class",
            "name": "LoginHandler", "hierarchy": "class LoginHandler"}]);
        assert_eq!(answer.structured["results"], expected);
        let answer = fixture.answer("find_symbols", json!({"uses": "validate"}));
        let result = &answer.structured["results"][0];
        assert_eq!(result["hierarchy"], "class LoginHandler > def check");
        assert_eq!(result["used_in_lines"], json!([5]));
        assert_eq!(result["called_in_lines"], json!([5]));
        assert!(
            answer.text.contains("(called in line 5)"),
            "{}",
            answer.text
        );
        assert!(
            answer
                .text
                .contains("a.py:4-5 method class LoginHandler > def check"),
            "{}",
            answer.text
        );
        let answer = fixture.answer("find_symbols", json!({"used_by": "check"}));
        assert_eq!(answer.structured["results"][0]["name"], "validate");
        assert_eq!(answer.structured["total"], 1);
    }

    #[test]
    fn an_unknown_kind_is_refused_with_those_there_are() {
        let fixture = Fixture::new("code", &[("a.py", PYTHON)]);
        let error = fixture.error("find_symbols", json!({"kind": "gadget"}));
        assert!(
            error.text().contains("function, class, method"),
            "{}",
            error.text()
        );
        let error = fixture.error("find_symbols", json!({"uses": "a", "used_by": "b"}));
        assert!(error.text().contains("used_by"), "{}", error.text());
    }

    #[test]
    fn a_file_without_programs_says_so() {
        let fixture = Fixture::new("notes", &[("a.md", "# Tides\n")]);
        let answer = fixture.answer("find_symbols", json!({"name": "a*"}));
        assert!(answer.text.contains("has symbols"), "{}", answer.text);
        assert_eq!(answer.structured["total"], 0);
    }

    #[test]
    fn several_indexes_are_asked_together() {
        let other: &[(&str, &str)] = &[("b.py", "def login(name):\n    return validate(name)\n")];
        let fixture = Fixture::of(&[("code", &[("a.py", PYTHON)]), ("other", other)], false);
        let answer = fixture.answer("find_symbols", json!({"uses": "validate"}));
        let names =
            ["index_name", "document_id"].map(|key| answer.structured["results"][1][key].clone());
        assert_eq!(names, [json!("other"), json!("b.py")]);
        assert!(answer.text.contains("[other] b.py:1-2"), "{}", answer.text);
        let one = json!({"uses": "validate", "index_name": "code"});
        let answer = fixture.answer("find_symbols", one);
        assert_eq!(answer.structured["total"], 1);
        assert_eq!(answer.structured["results"][0]["index_name"], json!(null));
    }
}
