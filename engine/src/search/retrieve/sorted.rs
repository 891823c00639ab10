//! Results in another order than that of their scores: what is relevant, sorted.
//!
//! Sorting by time or path may put any hit first, so which hits there are must neither be junk nor depend
//! on how many candidates were read. A hit counts when its fused score, before texts have a say, is at
//! least [`RELEVANT_SHARE`] of the best one, or when its chunk has every term of the query but question words.
//! All hits that count are found, sorted, and divided into pages; the others are left out.

use std::collections::{BTreeMap, BTreeSet};

use kb_types::error::Result;

use crate::index::keyword::QueryTerm;
use crate::search::calibration::Calibration;
use crate::search::filter::rows;
use crate::search::plan::Plan;
use crate::search::query::two_phase::TwoPhaseFilter;
use crate::search::rank::Ranker;
use crate::search::rank::passages::{self, SeenDocuments};
use crate::search::rank::scored::Scored;
use crate::search::request::Request;
use crate::search::retrieve::candidates::{self, Candidates};
use crate::search::retrieve::layers::{LAYER_GROWTH, Ranked, fused};
use crate::search::retrieve::{order, signals};
use crate::search::sources::{ChunkAddress, Sources};
use crate::search::timer::StepTimer;

/// Least share of the best fused score. With times given to documents at random, over questions of eight
/// development sets, the newest relevant document is among the first ten of .39 of the questions at .5,
/// .47 at .6, .49 at .7, .47 at .8, .38 at .9, and of .25 when the best hundred are sorted.
pub(crate) const RELEVANT_SHARE: f32 = 0.7;

/// Most candidates of each index that are read, and most chunks with every term. Queries of one frequent
/// word have more hits that count; the best of them are sorted.
const MAX_DEPTH: usize = 6400;

/// All passages that count, in the order of the request.
///
/// # Errors
/// [`crate::Error::Damaged`], [`crate::Error::Cancelled`].
pub(crate) fn find(
    plan: &Plan<'_>,
    request: &Request,
    sources: &Sources<'_>,
    filter: &mut TwoPhaseFilter<'_>,
    ranker: &mut Ranker<'_, '_>,
    timer: &mut StepTimer,
) -> Result<Ranked> {
    let Relevant {
        first,
        mut scored,
        left_out,
    } = relevant(plan, sources, filter, timer)?;
    let signals = signals::signals(plan, &first, sources)?;
    let mut found = Ranked::of_documents(Vec::new(), Calibration::ranked(&signals));
    (found.first, found.signals, found.left_out) = (first, signals, left_out);
    // The scores that are shown are those of other orders.
    let first = fused(found.first.list.clone(), sources)?;
    let reranked = ranker.rank(plan, first)?;
    found.signals.fused = reranked.first().map_or(0.0, |best| best.score);
    found.calibration = Calibration::ranked(&found.signals);
    for one in reranked {
        if let Some(slot) = scored.get_mut(&one.address) {
            *slot = one;
        }
    }
    timer.step("rank");
    scored.retain(|_, one| found.calibration.passes(one.score, request.min_score));
    let ranked = fused(scored.into_values().collect(), sources)?;
    let mut seen = SeenDocuments::default();
    let wanted = (usize::MAX, false);
    let cache = ranker.cache();
    found.passages = passages::passages(&ranked, request, sources, wanted, &mut seen, cache)?;
    order::sort(&mut found.passages, &request.sort, sources)?;
    order::group(&mut found.passages, request, sources)?;
    timer.step("fuse");
    Ok(found)
}

/// The documents of the chunks that count.
///
/// # Errors
/// [`crate::Error::Damaged`], [`crate::Error::Cancelled`].
pub(crate) fn documents(
    plan: &Plan<'_>,
    sources: &Sources<'_>,
    filter: &mut TwoPhaseFilter<'_>,
    timer: &mut StepTimer,
) -> Result<SeenDocuments> {
    let scored = relevant(plan, sources, filter, timer)?.scored;
    let of = |address: ChunkAddress| {
        let file = sources.file_of(address.segment);
        Ok((file, sources.document_of(address)?))
    };
    scored.into_keys().map(of).collect()
}

/// The chunks that count.
struct Relevant {
    /// The candidates that were read first.
    first: Candidates,
    scored: BTreeMap<ChunkAddress, Scored>,
    /// Whether there are others.
    left_out: bool,
}

fn relevant(
    plan: &Plan<'_>,
    sources: &Sources<'_>,
    filter: &mut TwoPhaseFilter<'_>,
    timer: &mut StepTimer,
) -> Result<Relevant> {
    let mut depth = plan.candidates;
    let first = candidates::retrieve(plan, sources, filter, depth, timer)?;
    let best = first.list.iter().map(|one| one.score).fold(0.0, f32::max);
    let least = best * RELEVANT_SHARE;
    let mut scored: BTreeMap<ChunkAddress, Scored> = BTreeMap::new();
    let mut bound = first.bound;
    while bound >= least && bound > 0.0 && depth < MAX_DEPTH && !filter.is_spent() {
        sources.tick()?;
        depth = depth.saturating_mul(LAYER_GROWTH).min(MAX_DEPTH);
        let deeper = candidates::retrieve(plan, sources, filter, depth, timer)?;
        scored.extend(deeper.list.iter().map(|one| (one.address, *one)));
        bound = deeper.bound;
    }
    let with_all = with_every_term(plan, sources, filter)?;
    let unscored = with_all
        .iter()
        .filter(|address| !scored.contains_key(address));
    let unscored: Vec<ChunkAddress> = unscored.copied().collect();
    for one in candidates::scored(plan, sources, unscored)? {
        scored.insert(one.address, one);
    }
    scored.extend(first.list.iter().map(|one| (one.address, *one)));
    let found_count = scored.len();
    scored.retain(|address, one| one.score >= least || with_all.contains(address));
    let left_out = scored.len() < found_count || bound > 0.0;
    timer.step("fuse");
    Ok(Relevant {
        first,
        scored,
        left_out,
    })
}

/// The verified rows that have every term of the query; none without a keyword query, or when they are
/// more than [`MAX_DEPTH`]: then the best of them are among the candidates.
fn with_every_term(
    plan: &Plan<'_>,
    sources: &Sources<'_>,
    filter: &mut TwoPhaseFilter<'_>,
) -> Result<BTreeSet<ChunkAddress>> {
    let mut found = Vec::new();
    let query = plan.keyword_query.as_ref();
    let Some(query) = query.filter(|query| !query.terms().is_empty()) else {
        return Ok(BTreeSet::new());
    };
    let mut terms: Vec<&QueryTerm> = query.terms().iter().collect();
    // Question words say nothing of what is meant, unless there are no others.
    if terms.iter().any(|term| term.is_content()) {
        terms.retain(|term| term.is_content());
    }
    for (segment, bound) in sources.segments.iter().enumerate() {
        sources.tick()?;
        let mut rows = match filter.rows(segment) {
            Some(rows) => rows.clone(),
            None => rows::live(bound.segment),
        };
        let reader = bound.keyword_index()?;
        for term in &terms {
            if rows.is_empty() {
                break;
            }
            rows &= reader.rows_with(&term.term)?;
        }
        if found.len() as u64 + rows.len() > MAX_DEPTH as u64 {
            return Ok(BTreeSet::new());
        }
        found.extend(rows.iter().map(|row| ChunkAddress { segment, row }));
    }
    filter.verify(found.iter().copied())?;
    found.retain(|address| filter.is_verified(*address));
    Ok(found.into_iter().collect())
}
