//! `kb search`: prints the passages that answer a query.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use kb_engine::{
    ContextLines, Explanation, Hit, Kb, Mode, QUERY_LIMIT_BYTES, RELEVANT_SCORE, Relevance,
    Request, Response, Show, check_hits, search_files, shown_score,
};
use kb_json::best_score;

use crate::args::SearchArguments;
use crate::cmd::freshness::{refresh, warn_of_changes};
use crate::cmd::opened::{Opened, Rest, SOURCES_TIMEOUT, show_rest, stale_warning};
use crate::cmd::remote;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::models::reranker;
use crate::output::Output;
use crate::output::format::{count, plural, shell_word};
use crate::output::passage::{Layout, render_linked};
use crate::vector_file::one_vector;

/// Maximum number of characters of a query that the note about no results repeats.
const QUOTED_CHARACTERS: usize = 60;

/// Maximum number of results without `-k`.
const DEFAULT_RESULTS: usize = 10;

/// Runs a ranked search in `mode`.
pub(crate) fn run(
    arguments: &SearchArguments,
    mode: Mode,
    output: &mut Output,
) -> Result<Exit, Failure> {
    if let Some(url) = remote::server(&arguments.file)? {
        return remote::search(url, arguments, mode, &query(arguments)?, output);
    }
    let request = request(arguments, mode)?;
    if arguments.fresh.refresh {
        refresh(&arguments.file, output)?;
    }
    let opened = Opened::all("kb search", &arguments.file, output)?;
    let Some(first) = opened.first() else {
        return Ok(Exit::Nothing);
    };
    let files: Vec<&Kb> = opened.iter().map(|opened| &opened.kb).collect();
    let mut response = first.ask(search_files(&files, &request))?;
    // Staleness is best-effort: a result does not fail for it.
    let _ = check_hits(&files, &mut response.hits.items, SOURCES_TIMEOUT);
    for warning in &response.warnings {
        output.warning(&with_flag(warning));
    }
    output.verdict(response.relevance.name());
    output.spelling(kb_json::spelling(&response));
    if response.relevance == Relevance::NothingRelevant && !response.hits.is_empty() {
        let subject = match opened.as_slice() {
            [_] => "the file contains",
            _ => "the files contain",
        };
        output.warning(&format!(
            "{subject} nothing relevant to the query; these are the nearest passages"
        ));
    }
    if let Some((warning, hint)) = file_in_query(arguments) {
        output.warning(&warning);
        output.hint(&hint);
    }
    if let Some(warning) = stale_sources(&response.hits) {
        output.warning(&warning);
        output.hint("`kb index` brings the .kb file up to date");
    }
    print(arguments, &request, &response, &opened, output)?;
    let json = arguments.json.json;
    if response.hits.is_empty() {
        note_nothing_found(&request, &response, first, output);
        warn_of_changes(&opened, &[], json, output)?;
        return Ok(Exit::Nothing);
    }
    // The engine may cut a result even if no part was requested.
    let is_cut = response.hits.len() < request.k && response.hits.next.is_some();
    if arguments.page.is_given() || is_cut {
        show_rest(json, &Rest::from(&response.hits), output)?;
    }
    let told = response.hits.iter();
    let told = told.filter(|hit| hit.source_state.stale().is_some());
    let told: Vec<&str> = told.map(|hit| hit.document.as_str()).collect();
    warn_of_changes(&opened, &told, json, output)?;
    Ok(Exit::Found)
}

/// The warning of the engine with the flag of this command in place of a field of its request.
fn with_flag(warning: &str) -> Cow<'_, str> {
    // Only at the end: a warning may quote the query or a name of a document before it.
    for (field, flag) in [
        (" min_score", " --min-score"),
        (" with exact", " with --exact"),
    ] {
        if let Some(start) = warning.strip_suffix(field) {
            return Cow::Owned(format!("{start}{flag}"));
        }
    }
    Cow::Borrowed(warning)
}

/// The request that the arguments make.
fn request(arguments: &SearchArguments, mode: Mode) -> Result<Request, Failure> {
    if let Some(flag) = arguments.pattern.given() {
        let hint = "with `--mode regex`, QUERY is a regular expression";
        return Err(Failure::usage(
            format!("{flag} needs --mode regex"),
            Some(hint.to_owned()),
        ));
    }
    let mut request = Request::new(query(arguments)?)
        .plain(arguments.plain)
        .exact(arguments.exact)
        .k(arguments.k.unwrap_or(DEFAULT_RESULTS))
        .mode(mode)
        .scope(arguments.scope)
        .sort(arguments.sort.clone())
        .facets(&arguments.facet)
        .filters(arguments.filters())
        .min_score(arguments.min_score)
        .join(!arguments.no_join)
        .smart_context(arguments.smart_context)
        .show(Show::up_to_lines(arguments.lines).context_lines(arguments.before, arguments.after))
        .page(arguments.page.page())
        .explain(arguments.explain);
    request.vector = arguments.vector.as_deref().map(one_vector).transpose()?;
    request.vector_column.clone_from(&arguments.vector_column);
    request.group_by.clone_from(&arguments.group_by);
    request.rerank = reranker(&arguments.rerank)?;
    Ok(request)
}

/// Prints the hits, and how they came about where that is asked for.
fn print(
    arguments: &SearchArguments,
    request: &Request,
    response: &Response,
    opened: &[Opened],
    output: &mut Output,
) -> Result<(), Failure> {
    let names = Opened::names(opened);
    output.link_documents(&arguments.link.hyperlink_format);
    if arguments.json.json {
        for hit in &response.hits {
            let file = names.get(hit.file).map(String::as_str);
            let verdict = kb_json::verdict(response.relevance);
            output.json(kb_json::hit(hit, file, request).join(verdict))?;
        }
    } else {
        let layout = Layout {
            style: output.stdout_style(),
            columns: output.columns(),
            full: arguments.full
                || arguments.lines.is_some()
                || arguments.smart_context
                || request.show.lines_around() != ContextLines::NONE,
            explain: arguments.explain,
        };
        for (position, hit) in response.hits.iter().enumerate() {
            if position > 0 {
                output.line("")?;
            }
            let file = names.get(hit.file).map(String::as_str);
            let has_lines = hit.part.is_none() && hit.snippet_first_line.is_some();
            let link = |line: u32| {
                let kb = &opened.get(hit.file)?.kb;
                output.link(kb, &hit.document, if has_lines { line } else { 1 })
            };
            let block = render_linked(hit, file, &layout, &link);
            output.write(&block)?;
        }
    }
    if !response.facets.is_empty() {
        if arguments.json.json {
            output.json(kb_json::facets(response))?;
        } else {
            print_facets(response, output)?;
        }
    }
    if arguments.json.json {
        if let Some(explanation) = kb_json::explanation(response) {
            output.json(explanation)?;
        }
    } else if let Some(explanation) = &response.explanation {
        // On a terminal both streams are one: the results come before their explanation.
        output.flush()?;
        for line in explanation_lines(response, explanation) {
            output.note(&line);
        }
    }
    Ok(())
}

/// Values of a field in a line.
const SHOWN_VALUES: usize = 10;

/// Prints a line for each counted field: its most frequent values.
fn print_facets(response: &Response, output: &mut Output) -> Result<(), Failure> {
    if !response.hits.is_empty() {
        output.line("")?;
    }
    for facet in &response.facets {
        let values = facet.values.iter().take(SHOWN_VALUES);
        let mut shown: Vec<String> = values
            .map(|(value, documents)| format!("{value} ({})", count(*documents)))
            .collect();
        let hidden = facet.values.len().saturating_sub(SHOWN_VALUES) as u64 + facet.more_values;
        if hidden > 0 {
            shown.push(format!("{} more values", count(hidden)));
        }
        if shown.is_empty() {
            shown.push("no value".to_owned());
        }
        let line = format!("{}: {}", facet.field, shown.join(", "));
        let line = output.name(&line).into_owned();
        output.line(&line)?;
    }
    Ok(())
}

/// Returns a warning and a hint for a query that begins with the name of a .kb file. Other verbs take the file there,
/// but `kb search` treats it as a word.
fn file_in_query(arguments: &SearchArguments) -> Option<(String, String)> {
    let (file, words) = arguments.query.split_first()?;
    if words.is_empty() || !arguments.file.is_empty() {
        return None;
    }
    let path = Path::new(file);
    let is_kb = path.extension().is_some_and(|ending| ending == "kb") && path.is_file();
    is_kb.then(|| {
        let name = shell_word(path);
        let words = shell_word(words.join(" "));
        (
            format!("{name} is treated as a word of the query, not as the file to search"),
            format!("`kb search -f {name} {words}` searches that file"),
        )
    })
}

/// Returns the warning about results whose source files changed.
fn stale_sources(hits: &[Hit]) -> Option<String> {
    let stale = hits.iter().filter_map(|hit| {
        let state = hit.source_state.stale()?;
        Some((&*hit.document, state))
    });
    stale_warning(stale)
}

fn query(arguments: &SearchArguments) -> Result<String, Failure> {
    if arguments.query != ["-"] {
        return Ok(arguments.query.join(" "));
    }
    // The engine reads no more than its limit; one byte more makes it warn.
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(QUERY_LIMIT_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::io("read the query from standard input", &error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn note_nothing_found(
    request: &Request,
    response: &Response,
    opened: &Opened,
    output: &mut Output,
) {
    // A warning has named the filter or operator that excludes everything.
    if response.searched_chunks == 0 && !response.warnings.is_empty() {
        if request.filters.is_empty() {
            output.note("nothing found: no chunk matches the operators of the query");
            output.hint("`--plain` treats quotes, +, - and fields as plain text");
        } else {
            output.note("nothing found: no chunk passes these filters");
            let file = shell_word(&opened.file);
            output.hint(&format!(
                "`kb info {file}` lists types and languages, `kb ls -f {file}` lists paths"
            ));
        }
        return;
    }
    if request.min_score > 0.0 && !response.warnings.is_empty() {
        output.note("nothing found");
        output.hint("lower `--min-score` to see the nearest passages");
        return;
    }
    let mut shown: String = request.query.chars().take(QUOTED_CHARACTERS).collect();
    if shown.len() < request.query.len() {
        shown.push_str("...");
    }
    if shown.is_empty() {
        output.note("nothing found for this vector");
    } else {
        output.note(&format!("nothing found for {shown:?}"));
    }
    output.hint(match (request.filters.is_empty(), response.mode) {
        (false, _) => "try fewer filters, or other words",
        (true, Mode::Keyword) => {
            "try other words, or `--mode hybrid`, which also searches by meaning"
        }
        (true, _) if request.vector.is_some() => {
            "check that the vector comes from the model of the column; `kb vectors` lists columns and models"
        }
        (true, _) => "try other words",
    });
}

/// Describes how the vector index was searched.
fn vectors_text(explanation: &Explanation) -> String {
    let vectors = &explanation.vectors;
    match (vectors.rows, vectors.rescored) {
        (0, _) => "vectors: not searched".to_owned(),
        (rows, false) => format!("vectors: all {} rows compared", count(rows)),
        (rows, true) => format!(
            "vectors: sign bits of {} of {} rows read, {} rows rescored",
            count(vectors.estimated),
            count(rows),
            count(vectors.scored)
        ),
    }
}

fn explanation_lines(response: &Response, explanation: &Explanation) -> Vec<String> {
    let weight = explanation.vector_weight;
    let formula = match response.mode {
        Mode::Hybrid => format!("{:.2} x keyword + {weight:.2} x vector", 1.0 - weight),
        Mode::Semantic => "vector".to_owned(),
        mode => mode.name().to_owned(),
    };
    let mut lines = vec![
        String::new(),
        format!("mode {}: fused = {formula}", response.mode.name()),
        format!(
            "chunks: {} in the file, {} after filters, {:.1} terms on average",
            count(explanation.chunks),
            count(response.searched_chunks),
            explanation.mean_length
        ),
        format!(
            "candidates: {} by keyword, {} by vector",
            explanation.keyword_candidates, explanation.vector_candidates
        ),
        vectors_text(explanation),
        format!(
            "model: {} knows {} of {} words of the query",
            explanation.model, explanation.model_words_known, explanation.model_words
        ),
    ];
    if let Some((slope, constant)) = explanation.calibration.logistic() {
        lines.push(format!(
            "score: 1 / (1 + e^-({slope:.2} x fused {constant:+.2})), .5 at fused {:.3}",
            -constant / slope
        ));
    }
    let signals = &explanation.signals;
    let best = |part: Option<f32>| part.map_or("none".to_owned(), |part| format!("{part:.3}"));
    lines.push(format!(
        "verdict: {} (best score {}, {RELEVANT_SCORE} needed; best keyword {}, best vector {}, {:.1} of {:.1} idf in one chunk)",
        response.relevance.name(),
        best_score(explanation).map_or("none".to_owned(), |score| shown_score(score, 2).to_string()),
        best(signals.keyword),
        best(signals.vector),
        signals.matched_idf,
        signals.query_idf
    ));
    lines.extend(explanation.terms.iter().map(|term| {
        format!(
            "term {}: in {}, idf {:.3}, weight {:.2}",
            term.term,
            plural(term.chunks, "chunk"),
            term.idf,
            term.weight
        )
    }));
    let steps: Vec<String> = explanation
        .steps
        .iter()
        .map(|step| format!("{} {} us", step.name, step.micros))
        .collect();
    if !steps.is_empty() {
        lines.push(format!("steps: {}", steps.join(", ")));
    }
    lines
}
