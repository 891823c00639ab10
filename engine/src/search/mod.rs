//! Room 3b: request -> plan -> retrieve -> fuse -> render.
//!
//! The only place where words, vectors and stored text meet for reading. It does not write, does not
//! know files or folders, and formats nothing for a front.

pub mod filter;
pub mod fuse;
pub mod order;
pub mod plan;
pub mod render;
pub mod request;
pub mod resolve;
pub mod response;
pub mod retrieve;

use std::time::Instant;

use crate::catalog::{BoundSegment, Catalog, Segment};
use crate::container::Snapshot;
use crate::embed::Embedder;
use crate::error::Result;
use crate::index::text::{Analyser, Query};
use crate::search::fuse::Scored;
use crate::search::plan::Plan;
use crate::search::render::Renderer;
use crate::search::request::Request;
use crate::search::response::{Explanation, Response, Step, TermScore, TermStatistics};
use crate::search::retrieve::Candidates;
use crate::types::ChunkId;

/// What a search reads.
#[derive(Debug)]
pub struct Parts<'p> {
    /// The commit.
    pub snapshot: &'p Snapshot<'p>,
    /// Its records.
    pub catalog: &'p Catalog,
    /// The model of the file; `None` when this program cannot reproduce it.
    pub model: Option<&'p dyn Embedder>,
}

/// Answers a request.
///
/// # Errors
/// [`crate::Error::InvalidArgument`] for what the request gets wrong,
/// [`crate::Error::EmbeddingModelUnavailable`] for a semantic request without the model,
/// [`crate::Error::Damaged`] for what the file gets wrong.
pub fn search(parts: &Parts<'_>, request: &Request, analyser: &mut Analyser) -> Result<Response> {
    request.validate()?;
    let mut warnings = Vec::new();
    let mut clock = Clock::start();
    let bound = parts
        .catalog
        .segments
        .iter()
        .map(|segment: &Segment| segment.bind(parts.snapshot))
        .collect::<Result<Vec<BoundSegment<'_>>>>()?;

    let plan = plan::plan(
        request,
        parts.snapshot,
        parts.catalog,
        &bound,
        parts.model,
        analyser,
        &mut warnings,
    )?;
    clock.step("plan");
    let candidates = retrieve::retrieve(&plan, parts.snapshot, parts.catalog, &bound)?;
    clock.step("retrieve");
    let ranked = fuse(parts, &plan, &candidates, &bound)?;
    clock.step("fuse");
    let hits = render(parts, request, &plan, ranked, &bound, analyser)?;
    clock.step("render");

    let searched_chunks = match &plan.rows {
        Some(rows) => rows.iter().map(roaring::RoaringBitmap::len).sum(),
        None => parts.catalog.statistics.chunks,
    };
    let explanation = request
        .explain
        .then(|| explain(parts.catalog, &plan, &candidates, clock.steps));
    Ok(Response {
        hits,
        mode: plan.mode,
        searched_chunks,
        warnings,
        explanation,
    })
}

fn fuse(
    parts: &Parts<'_>,
    plan: &Plan<'_>,
    candidates: &Candidates,
    bound: &[BoundSegment<'_>],
) -> Result<Vec<Scored>> {
    let hits = candidates
        .list
        .iter()
        .filter(|scored| scored.score > 0.0)
        .copied()
        .collect();
    order::best(
        hits,
        plan.k,
        |scored: &Scored| order::score_key(scored.score),
        |scored| scored.chunk,
        |chunk| order::place(parts.snapshot, parts.catalog, bound, chunk),
    )
}

fn render(
    parts: &Parts<'_>,
    request: &Request,
    plan: &Plan<'_>,
    ranked: Vec<Scored>,
    bound: &[BoundSegment<'_>],
    analyser: &mut Analyser,
) -> Result<Vec<response::Hit>> {
    let mut terms: Vec<(String, f32)> = Vec::new();
    match &plan.words {
        Some(words) => {
            terms.extend(
                words
                    .terms()
                    .iter()
                    .map(|term| (term.term.clone(), term.idf)),
            );
        }
        // No keyword part, but the words of the query still show where a hit speaks of them.
        None => analyser.analyse(plan.query, |term, _| terms.push((term.to_owned(), 1.0))),
    }
    let mut renderer = Renderer::new(parts.snapshot, parts.catalog, bound, analyser, terms);
    let mut hits = Vec::with_capacity(ranked.len());
    for scored in &ranked {
        let terms = match (&plan.words, request.explain) {
            (Some(words), true) => term_scores(words, bound, scored.chunk)?,
            _ => Vec::new(),
        };
        hits.push(renderer.hit(scored, plan.mode, terms)?);
    }
    Ok(hits)
}

/// What each term gave to a hit, as shares of the keyword part.
fn term_scores(
    words: &Query<'_>,
    bound: &[BoundSegment<'_>],
    chunk: ChunkId,
) -> Result<Vec<TermScore>> {
    let position = bound
        .iter()
        .position(|bound| bound.segment.id == chunk.segment);
    let parts = words.explain(position.unwrap_or(usize::MAX), chunk.row)?;
    let scored = parts.into_iter().filter_map(|(term, frequency, score)| {
        let term = words.terms().get(term)?.term.clone();
        Some(TermScore {
            term,
            frequency,
            score: score / words.idf_sum(),
        })
    });
    Ok(scored.collect())
}

fn explain(
    catalog: &Catalog,
    plan: &Plan<'_>,
    candidates: &Candidates,
    steps: Vec<Step>,
) -> Explanation {
    let statistics = &catalog.statistics;
    Explanation {
        terms: plan
            .words
            .iter()
            .flat_map(Query::terms)
            .map(|term| TermStatistics {
                term: term.term.clone(),
                chunks: term.chunks,
                idf: term.idf,
            })
            .collect(),
        vector_weight: plan.vector_weight,
        model_words_known: plan.model_words.0,
        model_words: plan.model_words.1,
        model: catalog.meta.embedder.id.clone(),
        chunks: statistics.chunks,
        mean_length: statistics.mean_length(),
        keyword_candidates: candidates.from_keyword,
        vector_candidates: candidates.from_vector,
        steps,
    }
}

/// Times the steps of one request, for the explanation only: no answer depends on it.
struct Clock {
    last: Instant,
    steps: Vec<Step>,
}

impl Clock {
    fn start() -> Clock {
        Clock {
            last: Instant::now(),
            steps: Vec::new(),
        }
    }

    fn step(&mut self, name: &'static str) {
        let now = Instant::now();
        let micros = u64::try_from((now - self.last).as_micros()).unwrap_or(u64::MAX);
        self.steps.push(Step { name, micros });
        self.last = now;
    }
}
