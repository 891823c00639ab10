//! The stages of one search, in order.

use crate::error::Result;
use crate::index::keyword::{Analyser, Query};
use crate::paging::{Budget, CursorScope};
use crate::search::explanation::{Explanation, Step, TermScore, TermStatistics};
use crate::search::fuse::passages::Passage;
use crate::search::plan::{self, Plan};
use crate::search::relevance::{self, Relevance, RelevanceSignals};
use crate::search::render::hit::{HIT_TEXT_LIMIT_BYTES, Renderer};
use crate::search::request::Request;
use crate::search::response::{Hit, Response};
use crate::search::retrieve::browse;
use crate::search::retrieve::candidates::Candidates;
use crate::search::retrieve::layers::{self, Ranked};
use crate::search::sources::{ChunkAddress, Source, Sources};
use crate::search::timer::StepTimer;

/// Answers a request to one or several files. The scores of several files are those that one file
/// with all their documents would give.
///
/// # Errors
/// [`crate::Error::InvalidArgument`] for what the request gets wrong,
/// [`crate::Error::InvalidCursor`] and [`crate::Error::StaleCursor`] for a continuation of
/// something else, [`crate::Error::EmbeddingModelUnavailable`] for a semantic request without the
/// model, [`crate::Error::Cancelled`], [`crate::Error::Damaged`] for what the file gets wrong.
pub(crate) fn search(
    files: &[Source<'_>],
    request: &Request,
    analyser: &mut Analyser,
) -> Result<Response> {
    request.validate()?;
    let scope = cursor_scope(files, request);
    let start = scope.start(&request.page)?;
    let mut warnings = Vec::new();
    let mut timer = StepTimer::start();
    let sources = Sources::bind(files)?;
    let (plan, mut filter) = plan::plan(request, &sources, analyser, &mut warnings)?;
    timer.step("plan");
    let start_at = usize::try_from(start).unwrap_or(usize::MAX);
    // One more tells whether the answer goes on.
    let wanted = request.k.saturating_add(1);
    let (found, signals, relevance);
    if plan.browses_documents() {
        let end = start_at.saturating_add(wanted);
        let passages = browse::passages(&plan, request, &sources, &mut filter, end)?;
        timer.step("documents");
        relevance = match passages.is_empty() {
            true => Relevance::NothingRelevant,
            false => Relevance::Relevant,
        };
        signals = RelevanceSignals::default();
        found = Ranked {
            passages,
            ..Ranked::default()
        };
    } else {
        let window = (start_at, wanted);
        found = layers::find(&plan, request, &sources, &mut filter, window, &mut timer)?;
        signals = self::signals(&plan, &found.first, &sources)?;
        relevance = relevance::judge(&signals);
    }
    warnings.extend(filter.unread_warning());
    // Nothing may be left where it was not known whether anything would be.
    if start_at > found.passages.len() {
        return Err(CursorScope::out_of_range());
    }
    let mut budget = Budget::of_texts(&request.page);
    let hits = render(
        &sources,
        request,
        &plan,
        found.passages.get(start_at..).unwrap_or_default(),
        &mut budget,
        analyser,
        &mut warnings,
    )?;
    timer.step("text");

    let next = start_at.saturating_add(hits.len());
    let goes_on = found.passages.len() > next || found.may_go_on;
    let explanation = request
        .explain
        .then(|| explain(&sources, &plan, &found.first, signals, timer.steps));
    Ok(Response {
        hits: budget.paged(hits, &scope, goes_on.then_some(next as u64)),
        mode: plan.mode,
        relevance,
        searched_chunks: filter.count(),
        warnings,
        explanation,
    })
}

/// Answers several requests, each as [`search`] would, one after the other: vectors of several
/// questions are compared faster together only where all rows are read, which [`Scan::Auto`] does
/// in files so small that it takes less than a tenth of a millisecond.
///
/// [`Scan::Auto`]: crate::index::vector::Scan::Auto
///
/// # Errors
/// As [`search`], for the first that fails.
pub(crate) fn search_many(
    files: &[Source<'_>],
    requests: &[Request],
    analyser: &mut Analyser,
) -> Result<Vec<Response>> {
    let answers = requests.iter();
    answers
        .map(|request| search(files, request, analyser))
        .collect()
}

/// What the cursors of a request are valid for. Budget and display options may change from page to page.
fn cursor_scope(files: &[Source<'_>], request: &Request) -> CursorScope {
    let commits: Vec<([u8; 16], u64)> = files
        .iter()
        .map(|source| (source.uuid, source.catalog.manifest.generation))
        .collect();
    CursorScope::new("search", &commits, request.fingerprint())
}

/// What the best candidates show of the question.
fn signals(
    plan: &Plan<'_>,
    candidates: &Candidates,
    sources: &Sources<'_>,
) -> Result<RelevanceSignals> {
    let list = &candidates.list;
    let mut signals = RelevanceSignals {
        chunks: sources.statistics().chunks,
        ..RelevanceSignals::default()
    };
    if plan.has_vectors() {
        let largest = list.iter().map(|scored| scored.vector).fold(0.0, f32::max);
        signals.vector = Some(largest);
    }
    let Some(query) = plan
        .keyword_query
        .as_ref()
        .filter(|query| !query.terms().is_empty())
    else {
        return Ok(signals);
    };
    signals.query_idf = query.terms().iter().map(|term| term.idf).sum();
    let best = list.iter().map(|scored| scored.keyword).fold(0.0, f32::max);
    signals.keyword = Some(best);
    if best > 0.0 {
        // Of several the one that has most, so that it does not matter which segment comes first.
        let tied = list.iter().filter(|scored| scored.keyword == best);
        let mut tied: Vec<ChunkAddress> =
            tied.take(MOST_TIED).map(|scored| scored.address).collect();
        tied.sort_unstable();
        for of_segment in tied.chunk_by(|a, b| a.segment == b.segment) {
            let rows: Vec<u32> = of_segment.iter().map(|address| address.row).collect();
            if let Some(first) = of_segment.first() {
                let most = query.most_matched_idf(first.segment, &rows)?;
                signals.matched_idf = signals.matched_idf.max(most);
            }
        }
    }
    Ok(signals)
}

/// Chunks of the same largest keyword part that are looked at; copies of one text are alike.
const MOST_TIED: usize = 10;

/// Most bytes of text and records that are decoded for one answer. The hits of an honest file take some
/// tens of KB each.
const WORK_LIMIT_BYTES: u64 = 512 << 20;

/// The first `k` passages as hits, as many as the budget lets through.
fn render(
    sources: &Sources<'_>,
    request: &Request,
    plan: &Plan<'_>,
    found: &[Passage],
    budget: &mut Budget,
    analyser: &mut Analyser,
    warnings: &mut Vec<String>,
) -> Result<Vec<Hit>> {
    let mut terms: Vec<(String, f32)> = Vec::new();
    match &plan.keyword_query {
        Some(query) => {
            let weighted = query.terms().iter();
            terms.extend(weighted.map(|term| (term.term.clone(), term.idf)));
        }
        // No keyword part, but the words of the query still show where a hit speaks of them.
        None => analyser.analyse(&plan.parsed.plain, |term, _| {
            terms.push((term.to_owned(), 1.0))
        }),
    }
    let mut renderer = Renderer::new(sources, request, plan.mode, analyser, &terms);
    let mut hits = Vec::with_capacity(found.len().min(request.k));
    let mut is_too_much_work = false;
    for passage in found.iter().take(request.k) {
        sources.tick()?;
        let terms = match (&plan.keyword_query, request.explain) {
            (Some(query), true) => term_scores(query, passage.best.address)?,
            _ => Vec::new(),
        };
        let hit = renderer.hit(passage, terms)?;
        if !budget.take_holding(hit.cost_bytes(), hit.held_bytes()) {
            break;
        }
        hits.push(hit);
        is_too_much_work = renderer.work_bytes() > WORK_LIMIT_BYTES;
        if is_too_much_work {
            break;
        }
    }
    if renderer.cut_hits() > 0 {
        warnings.push(format!(
            "{} of the hits are longer than {} KB; their text was cut around the snippet",
            renderer.cut_hits(),
            HIT_TEXT_LIMIT_BYTES / 1000
        ));
    }
    let is_cut = hits.len() < found.len().min(request.k);
    if is_cut && (budget.is_full() || is_too_much_work) {
        warnings.push(format!(
            "the result was truncated after {} hits to limit memory and time; its continuation has the \
             others",
            hits.len()
        ));
    }
    Ok(hits)
}

/// What each term gave to a hit, as shares of the keyword part.
fn term_scores(query: &Query<'_>, address: ChunkAddress) -> Result<Vec<TermScore>> {
    let parts = query.explain(address.segment, address.row)?;
    let scored = parts.into_iter().filter_map(|(term, frequency, score)| {
        let term = query.terms().get(term)?.term.clone();
        Some(TermScore {
            term,
            frequency,
            score: score / query.idf_sum(),
        })
    });
    Ok(scored.collect())
}

fn explain(
    sources: &Sources<'_>,
    plan: &Plan<'_>,
    candidates: &Candidates,
    signals: RelevanceSignals,
    steps: Vec<Step>,
) -> Explanation {
    let statistics = sources.statistics();
    let models = sources.files.iter();
    let mut models: Vec<&str> = models
        .map(|source| source.catalog.meta.embedder.id.as_str())
        .collect();
    models.dedup();
    Explanation {
        terms: plan
            .keyword_query
            .iter()
            .flat_map(Query::terms)
            .map(|term| TermStatistics {
                term: term.term.clone(),
                chunks: term.chunks,
                idf: term.idf,
            })
            .collect(),
        vector_weight: plan.vector(0).weight,
        model_words_known: plan.model_words.0,
        model_words: plan.model_words.1,
        model: models.join(", "),
        chunks: statistics.chunks,
        mean_length: statistics.mean_length(),
        keyword_candidates: candidates.from_keyword,
        vector_candidates: candidates.from_vector,
        vectors: candidates.vectors,
        signals,
        steps,
    }
}
