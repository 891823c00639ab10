//! The stages of one search, in order.

pub(super) mod rerank;
mod spelling;

use kb_types::error::Result;

use crate::index::keyword::{Analyser, Query};
use crate::paging::{Budget, CursorScope, PageOptions};
use crate::search::calibration::{self, Calibration, shown_score};
use crate::search::explanation::{Bonus, Explanation, Step, TermScore, TermStatistics};
use crate::search::options::Sort;
use crate::search::plan::{self, Plan};
use crate::search::query::parsed::{ParsedQuery, has_words, nothing_passes};
use crate::search::query::two_phase::TwoPhaseFilter;
use crate::search::rank::Ranker;
use crate::search::rank::parts::Rules;
use crate::search::rank::passages::Passage;
use crate::search::read_cache::ReadCache;
use crate::search::relevance::Relevance;
use crate::search::render::hit::{HIT_TEXT_LIMIT_BYTES, Renderer};
use crate::search::render::phrases::QuotedPhrases;
use crate::search::render::room::Room;
use crate::search::request::Request;
use crate::search::response::{FacetCounts, Hit, Response};
use crate::search::retrieve::layers::{self, Ranked};
use crate::search::retrieve::{browse, order, sorted};
use crate::search::show::Show;
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
    order::check_fields(request, &sources)?;
    let parsed = plan::parse(request, &mut warnings);
    let start_at = usize::try_from(start).unwrap_or(usize::MAX);
    // One more than `k` shows whether there is a next page.
    let wanted = request.k.saturating_add(1);
    let Answer {
        plan,
        filter,
        found,
        cache,
        relevance,
        warnings: of_answer,
        facets,
    } = ordered(
        request,
        parsed,
        &sources,
        analyser,
        (start_at, wanted),
        &mut timer,
    )?;
    warnings.extend(of_answer);
    warnings.extend(plan.parsed.not_applied_warning());
    warnings.extend(spelling::warnings(&plan));
    warnings.extend(filter.unread_warning());
    let has_words = has_words(&request.query);
    let has_something = has_words || request.vector.is_some() || request.lists_documents();
    if found.passages.is_empty() && warnings.is_empty() && !has_something {
        warnings.push("nothing was searched: the query has no letter or digit".to_owned());
    }
    // An offset is returned also where deeper layers may turn out to have nothing.
    if start_at > found.passages.len() {
        return Err(CursorScope::out_of_range());
    }
    let is_one = found.passages.len() == start_at + 1 && !found.may_go_on;
    let is_preview = relevance == Relevance::NothingRelevant && !is_one;
    let previews = request.previews.filter(|_| is_preview);
    let (show, most) = match previews {
        Some((hits, lines)) => (Show::lines(lines), hits.min(request.k)),
        None => (request.show, request.k),
    };
    let passages = found.passages.get(start_at..).unwrap_or_default();
    let mut budget = Budget::of_texts(&request.page);
    let hits = render(
        &sources,
        (request, show),
        &plan,
        (passages.get(..most).unwrap_or(passages), found.calibration),
        &mut budget,
        (&mut *analyser, cache),
        &mut warnings,
    )?;
    timer.step("text");

    if found.left_out && found.passages.len() < request.k {
        warnings.push(format!(
            "less relevant passages were left out: by {} only those are sorted that score at least {} of \
             the best, or have every word",
            request.sort.name(),
            sorted::RELEVANT_SHARE
        ));
    }
    if hits.is_empty() && start_at == 0 && request.min_score > 0.0 && filter.count() > 0 {
        warnings.extend(best_below(&sources, request, analyser)?);
    }
    let next = start_at.saturating_add(hits.len());
    let has_more = (found.passages.len() > next || found.may_go_on) && previews.is_none();
    // Previews are all that there is.
    let behind = if previews.is_some() { 0 } else { found.behind };
    let count = match previews {
        Some(_) => next,
        None => found.passages.len(),
    };
    let explanation = request
        .explain
        .then(|| explain(&sources, &plan, &found, timer.steps));
    Ok(Response {
        hits: budget.paged(hits, &scope, has_more.then_some(next as u64)),
        mode: plan.mode,
        relevance,
        found: behind.saturating_add(count as u64),
        searched_chunks: filter.count(),
        corrections: spelling::corrections(&plan, &request.query),
        facets,
        missing: plan.missing,
        warnings,
        explanation,
    })
}

/// Says what the best score is, where all are below the lowest that a request asks for. Retrieves once more, for
/// the first result only, of which it renders nothing.
fn best_below(
    sources: &Sources<'_>,
    request: &Request,
    analyser: &mut Analyser,
) -> Result<Option<String>> {
    let any = Request {
        min_score: 0.0,
        sort: Sort::Score,
        group_by: None,
        facets: Vec::new(),
        k: 1,
        page: PageOptions::default(),
        explain: false,
        ..request.clone()
    };
    let parsed = plan::parse(&any, &mut Vec::new());
    let timer = &mut StepTimer::start();
    let found = find(&any, parsed, sources, analyser, (0, any.k), timer)?.found;
    Ok(found.passages.first().map(|best| {
        let score = found.calibration.score(best.best.score);
        format!(
            "no passage scores {} or more; the best scores {}: pass a lower min_score",
            shown_score(request.min_score, 4),
            shown_score(score, 4)
        )
    }))
}

/// What a query finds, and how.
struct Answer<'b> {
    plan: Plan<'b>,
    filter: TwoPhaseFilter<'b>,
    found: Ranked,
    cache: ReadCache<'b>,
    relevance: Relevance,
    warnings: Vec<String>,
    facets: Vec<FacetCounts>,
}

impl Answer<'_> {
    /// When operators may be why nothing is found: the query without those that are not strict, and
    /// these.
    fn without_operators(&self) -> Option<(ParsedQuery, Vec<String>)> {
        let parsed = &self.plan.parsed;
        let is_final = !self.found.passages.is_empty()
            || self.found.may_go_on
            || self.filter.is_spent()
            // `min_score` leaves hits out, not the operators.
            || self.found.signals.fused > 0.0
            || parsed.only_excludes();
        let mut parsed = (!is_final).then(|| parsed.clone())?;
        let dropped = parsed.drop_lenient();
        (!dropped.is_empty()).then_some((parsed, dropped))
    }
}

/// As [`find`], with the first passages in the order of a model, if the request wants one.
fn ordered<'b>(
    request: &'b Request,
    parsed: ParsedQuery,
    sources: &'b Sources<'b>,
    analyser: &mut Analyser,
    (start, wanted): (usize, usize),
    timer: &mut StepTimer,
) -> Result<Answer<'b>> {
    let Some(rerank) = rerank::wanted(request)? else {
        return find(request, parsed, sources, analyser, (start, wanted), timer);
    };
    // All that the model orders are found, whatever page is asked for.
    let window = (start, rerank.top.saturating_sub(start).max(wanted));
    let mut answer = find(request, parsed, sources, analyser, window, timer)?;
    let passages = &mut answer.found.passages;
    let warning = rerank::apply(rerank, &answer.plan, sources, passages, &mut answer.cache)?;
    answer.warnings.extend(warning);
    passages.truncate(start.saturating_add(wanted));
    timer.step("rerank");
    Ok(answer)
}

/// The results from the first to the end of the window, its start and length: symbols or passages.
fn find<'b>(
    request: &'b Request,
    parsed: ParsedQuery,
    sources: &'b Sources<'b>,
    analyser: &mut Analyser,
    (start, wanted): (usize, usize),
    timer: &mut StepTimer,
) -> Result<Answer<'b>> {
    if request.is_of_symbols() {
        let wanted = start.saturating_add(wanted);
        return of_symbols(request, parsed, sources, analyser, wanted, timer);
    }
    answer(request, parsed, sources, analyser, (start, wanted), timer)
}

/// As [`retrieve`], without operators that leave nothing.
fn answer<'b>(
    request: &'b Request,
    parsed: ParsedQuery,
    sources: &'b Sources<'b>,
    analyser: &mut Analyser,
    window: (usize, usize),
    timer: &mut StepTimer,
) -> Result<Answer<'b>> {
    let mut answer = retrieve(request, parsed, sources, analyser, window, timer)?;
    let Some((parsed, dropped)) = answer.without_operators() else {
        return Ok(answer);
    };
    let nothing = nothing_passes(&dropped);
    let mut plain = retrieve(request, parsed, sources, analyser, window, timer)?;
    if !plain.found.passages.is_empty() {
        plain.plan.parsed.not_applied.extend(dropped);
        answer.warnings.extend(plain.warnings);
        return Ok(Answer {
            warnings: answer.warnings,
            ..plain
        });
    }
    if answer.filter.count() == 0
        && answer.warnings.is_empty()
        && answer.plan.parsed.not_applied.is_empty()
    {
        answer.warnings.push(nothing);
    }
    Ok(answer)
}

/// As [`answer`], with symbols in place of chunks, `wanted` from the first on. A symbol may have many chunks, so it
/// goes on until there are enough.
fn of_symbols<'b>(
    request: &'b Request,
    parsed: ParsedQuery,
    sources: &'b Sources<'b>,
    analyser: &mut Analyser,
    wanted: usize,
    timer: &mut StepTimer,
) -> Result<Answer<'b>> {
    let mut window = (0, wanted);
    loop {
        let found = answer(request, parsed.clone(), sources, analyser, window, timer)?;
        let Answer {
            plan,
            filter,
            mut found,
            cache,
            relevance,
            warnings,
            facets,
        } = found;
        let chunks = found.passages.len();
        let mut renderer = renderer(
            sources,
            (request, request.show),
            &plan,
            found.calibration,
            (analyser, cache),
        )?;
        let symbols = renderer.symbol_passages(&found.passages)?;
        let cache = renderer.into_cache();
        timer.step("symbols");
        let is_all = !found.may_go_on && chunks < window.0.saturating_add(window.1);
        if symbols.len() >= wanted || is_all || chunks <= window.0 {
            // What is not read yet is behind the last.
            found.may_go_on &= symbols.len() >= wanted;
            found.passages = symbols;
            return Ok(Answer {
                plan,
                filter,
                found,
                cache,
                relevance,
                warnings,
                facets,
            });
        }
        window = (chunks, chunks.max(wanted));
    }
}

/// The passages from the first to the end of the window, its start and length.
fn retrieve<'b>(
    request: &'b Request,
    parsed: ParsedQuery,
    sources: &'b Sources<'b>,
    analyser: &mut Analyser,
    (start, wanted): (usize, usize),
    timer: &mut StepTimer,
) -> Result<Answer<'b>> {
    let mut warnings = Vec::new();
    let (plan, mut filter) = plan::plan(request, parsed, sources, analyser, &mut warnings)?;
    timer.step("plan");
    let mut ranker = Ranker::new(&plan, sources, analyser);
    let (mut found, relevance);
    if plan.browses_documents() {
        let end = start.saturating_add(wanted);
        let (passages, behind) = browse::passages(&plan, request, sources, &mut filter, end)?;
        timer.step("documents");
        relevance = if passages.is_empty() {
            Relevance::NothingRelevant
        } else {
            Relevance::Relevant
        };
        found = Ranked::of_documents(passages, browse::calibration(&plan));
        found.behind = behind;
    } else {
        found = if request.sort == Sort::Score && request.group_by.is_none() {
            let window = (start, wanted);
            let filter = &mut filter;
            layers::find(&plan, request, sources, filter, window, &mut ranker, timer)?
        } else {
            sorted::find(&plan, request, sources, &mut filter, &mut ranker, timer)?
        };
        relevance = calibration::judge(&found.signals);
    }
    let cache = ranker.into_cache();
    let facets = facets(&plan, request, sources, &mut filter, timer)?;
    Ok(Answer {
        plan,
        filter,
        found,
        cache,
        relevance,
        warnings,
        facets,
    })
}

/// The counts that a request asks for: of the documents that are listed, or have a relevant hit.
fn facets(
    plan: &Plan<'_>,
    request: &Request,
    sources: &Sources<'_>,
    filter: &mut TwoPhaseFilter<'_>,
    timer: &mut StepTimer,
) -> Result<Vec<FacetCounts>> {
    if request.facets.is_empty() {
        return Ok(Vec::new());
    }
    let documents = if plan.browses_documents() {
        browse::documents(plan, request, sources, filter)?
    } else {
        sorted::documents(plan, sources, filter, timer)?
    };
    let counts = order::counts(&documents, request, sources);
    timer.step("facets");
    counts
}

/// What the cursors of a request are valid for. Budget and display options may change from page to page.
fn cursor_scope(files: &[Source<'_>], request: &Request) -> CursorScope {
    let commits: Vec<([u8; 16], u64)> = files
        .iter()
        .map(|source| (source.uuid, source.catalog.manifest.generation))
        .collect();
    CursorScope::new("search", &commits, request.fingerprint())
}

/// Most bytes of text and outlines that are decoded for one result. The hits of an honest file take some
/// tens of KB each.
const WORK_LIMIT_BYTES: u64 = 512 << 20;

/// What makes hits of the passages of a plan.
fn renderer<'r, 'a>(
    sources: &'r Sources<'r>,
    (request, show): (&Request, Show),
    plan: &Plan<'_>,
    calibration: Calibration,
    (analyser, cache): (&'a mut Analyser, ReadCache<'r>),
) -> Result<Renderer<'r, 'a>> {
    let mut terms: Vec<(String, f32)> = Vec::new();
    match &plan.keyword_query {
        Some(query) => {
            let weighted = query.terms().iter();
            terms.extend(weighted.map(|term| (term.term.clone(), term.weighted_idf())));
        }
        // Without a keyword score the terms of the query are still highlighted.
        None => analyser.analyse(&plan.text, |term, _| terms.push((term.to_owned(), 1.0))),
    }
    Renderer::new(
        sources,
        (request, show),
        plan.mode,
        calibration,
        (analyser, cache),
        (
            &terms,
            QuotedPhrases::of(&plan.parsed),
            plan.definitions.wanted(),
        ),
    )
}

/// The passages as hits, as many as the budget has room for.
fn render<'r>(
    sources: &'r Sources<'r>,
    (request, show): (&'r Request, Show),
    plan: &Plan<'_>,
    (found, calibration): (&[Passage], Calibration),
    budget: &mut Budget,
    read: (&mut Analyser, ReadCache<'r>),
    warnings: &mut Vec<String>,
) -> Result<Vec<Hit>> {
    let mut renderer = renderer(sources, (request, show), plan, calibration, read)?;
    let mut hits = Vec::with_capacity(found.len());
    let mut is_too_much_work = false;
    for (number, passage) in found.iter().enumerate() {
        sources.tick()?;
        let terms = match (&plan.keyword_query, request.explain) {
            (Some(query), true) => term_scores(query, passage.best.address)?,
            _ => Vec::new(),
        };
        let room = Room::new(budget.left_bytes(), number, found.len());
        let mut hit = renderer.hit(passage, terms, room)?;
        if request.explain {
            hit.bonuses = bonuses(passage, plan, sources);
        }
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
    let is_cut = hits.len() < found.len();
    if is_cut && (budget.is_full() || is_too_much_work) {
        warnings.push(format!(
            "the result was truncated after {} hits to limit memory and time; its continuation has the \
             others",
            hits.len()
        ));
    }
    Ok(hits)
}

/// What each term adds to the keyword score of a hit.
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

/// What is known of a hit beside its keyword and vector score, and what it adds.
fn bonuses(passage: &Passage, plan: &Plan<'_>, sources: &Sources<'_>) -> Vec<Bonus> {
    let best = &passage.best;
    let file = sources.file_of(best.address.segment);
    let keyword_weight = 1.0 - plan.vector(file).weight;
    let parts = Rules::of(&plan.intent).parts(best.fused, keyword_weight, &best.features);
    let parts = parts.into_iter().filter(|part| part.value != 0.0);
    let contextual = best.contextual.iter();
    let reranked = passage.reranked.iter();
    reranked
        .map(|number| Bonus::new("reranker", *number, *number))
        .chain(contextual.map(|it| Bonus::new("contextual", it.own, it.gain)))
        .chain(parts.map(|part| Bonus::new(part.name, part.value, part.score)))
        .collect()
}

fn explain(
    sources: &Sources<'_>,
    plan: &Plan<'_>,
    found: &Ranked,
    steps: Vec<Step>,
) -> Explanation {
    let statistics = sources.statistics();
    let models = sources.files.iter().enumerate();
    let mut models: Vec<&str> = models
        .map(|(file, source)| {
            let columns = &source.catalog.vector_columns;
            match columns.numbered(plan.vector(file).column) {
                Some(column) => column.record.model.as_str(),
                None => source.catalog.meta.embedder.id.as_str(),
            }
        })
        .collect();
    models.extend(
        sources
            .files
            .iter()
            .enumerate()
            .filter_map(|(file, source)| {
                let columns = &source.catalog.vector_columns;
                let column = columns.numbered(plan.contextual(file).column)?;
                Some(column.record.model.as_str())
            }),
    );
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
                weight: term.weight,
            })
            .collect(),
        intent: plan.intent.ask.name(),
        definition_of: plan.definitions.name().map(str::to_owned),
        vector_weight: plan.vector(0).weight,
        code_share: plan.code_share,
        model_words_known: plan.model_words.0,
        model_words: plan.model_words.1,
        model: models.join(", "),
        chunks: statistics.chunks,
        mean_length: statistics.mean_length(),
        keyword_candidates: found.first.from_keyword,
        vector_candidates: found.first.from_vector,
        vectors: found.first.vectors,
        signals: found.signals,
        calibration: found.calibration,
        steps,
    }
}

#[cfg(test)]
mod tests;
