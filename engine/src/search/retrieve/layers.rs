//! Ranked results, as deep as a page needs them.
//!
//! The candidates of both indexes come in layers: the best 100 of each, then the
//! best 400, and so on. A layer has the chunks that no earlier layer had, ranked and joined to
//! passages among themselves. So the order of all hits does not depend on the page, the first page costs
//! one layer, and later pages reach every chunk that matches. Other orders than by
//! score are those of [`super::sorted`].

use kb_types::error::Result;
use rustc_hash::FxHashSet;

use crate::search::calibration::Calibration;
use crate::search::options::Scope;
use crate::search::plan::Plan;
use crate::search::query::two_phase::TwoPhaseFilter;
use crate::search::rank::Ranker;
use crate::search::rank::passages::{self, Passage, SeenDocuments};
use crate::search::rank::scored::Scored;
use crate::search::relevance::RelevanceSignals;
use crate::search::request::Request;
use crate::search::retrieve::candidates::{self, Candidates};
use crate::search::retrieve::signals;
use crate::search::sources::{ChunkAddress, Sources};
use crate::search::timer::StepTimer;
use crate::search::top_k;

/// Factor between the depths of two layers.
// Each layer searches again from the top. With a factor of 4 all earlier layers together cost a
// third of the last one.
pub(crate) const LAYER_GROWTH: usize = 4;

/// Most layers for one page; a page without any hit goes deeper.
const LAYERS_OF_PAGE: usize = 4;

/// The passages of a result, from the first on.
#[derive(Debug)]
pub(crate) struct Ranked {
    /// At least as many as wanted, unless the layers of this page have fewer.
    pub(crate) passages: Vec<Passage>,
    /// Whether deeper layers may have more passages.
    pub(crate) may_go_on: bool,
    /// Candidates behind these passages, of the layers that were read: each may be one.
    pub(crate) behind: u64,
    /// The candidates of the first layer.
    pub(crate) first: Candidates,
    /// Whether less relevant passages were left out of a sorted result.
    pub(crate) left_out: bool,
    /// Facts of `first`; `fused` is the best after ranking again, before `min_score`.
    pub(crate) signals: RelevanceSignals,
    /// The scores of hits by their fused scores.
    pub(crate) calibration: Calibration,
}

impl Ranked {
    /// Documents that are not ranked by their text.
    pub(crate) fn of_documents(passages: Vec<Passage>, calibration: Calibration) -> Ranked {
        Ranked {
            passages,
            may_go_on: false,
            behind: 0,
            left_out: false,
            first: Candidates::default(),
            signals: RelevanceSignals::default(),
            calibration,
        }
    }
}

/// The first `start` passages, and up to `wanted` more.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(crate) fn find(
    plan: &Plan<'_>,
    request: &Request,
    sources: &Sources<'_>,
    filter: &mut TwoPhaseFilter<'_>,
    (start, wanted): (usize, usize),
    ranker: &mut Ranker<'_, '_>,
    timer: &mut StepTimer,
) -> Result<Ranked> {
    let nothing = RelevanceSignals::default();
    let mut found = Ranked::of_documents(Vec::new(), Calibration::ranked(&nothing));
    let (mut seen, mut seen_documents) = (
        FxHashSet::<ChunkAddress>::default(),
        SeenDocuments::default(),
    );
    let mut depth = plan.candidates;
    for layer in 0.. {
        sources.tick()?;
        let mut candidates = candidates::retrieve(plan, sources, filter, depth, timer)?;
        if layer == 0 {
            found.signals = signals::signals(plan, &candidates, sources)?;
            found.calibration = Calibration::ranked(&found.signals);
        }
        if layer == 0 {
            let mut more = plan.definitions.chunks(filter)?;
            more.extend(ranker.titled_chunks(plan, filter)?);
            let known = &mut candidates.list;
            let is_new = |address: &ChunkAddress| !known.iter().any(|at| at.address == *address);
            let new: Vec<ChunkAddress> = more.into_iter().filter(is_new).collect();
            known.extend(candidates::scored(plan, sources, new)?);
        }
        found.may_go_on = found
            .calibration
            .passes(candidates.bound, request.min_score)
            && !filter.is_spent();
        let list = std::mem::take(&mut candidates.list);
        let new = list.iter().filter(|scored| !seen.contains(&scored.address));
        let mut ranked = fused(new.copied().collect(), sources)?;
        if layer == 0 {
            timer.step("fuse");
            ranked = ranker.rank(plan, ranked)?;
            timer.step("rank");
            found.signals.fused = ranked.first().map_or(0.0, |scored| scored.score);
            // Where an identifier is missing, scores depend on the best.
            found.calibration = Calibration::ranked(&found.signals);
        } else {
            ranked = ranker.rank_by_index(plan, ranked)?;
        }
        let calibration = found.calibration;
        let passes = |fused| calibration.passes(fused, request.min_score);
        ranked.retain(|scored| passes(scored.score));
        seen.extend(list.iter().map(|scored| scored.address));
        let left = start
            .saturating_add(wanted)
            .saturating_sub(found.passages.len());
        let more = passages::passages(
            &ranked,
            request,
            sources,
            (left, layer == 0),
            &mut seen_documents,
            ranker.cache(),
        )?;
        timer.step("fuse");
        if request.scope == Scope::Chunks {
            let taken: u64 = more.iter().map(|passage| u64::from(passage.matches)).sum();
            found.behind += (ranked.len() as u64).saturating_sub(taken);
        }
        found.passages.extend(more);
        if layer == 0 {
            candidates.list = list;
            found.first = candidates;
        }
        if request.scope == Scope::Documents && filter.is_none() {
            let all: u64 = sources
                .files
                .iter()
                .map(|source| source.catalog.meta.documents)
                .sum();
            found.may_go_on &= (seen_documents.len() as u64) < all;
        }
        let has_enough = found.passages.len() >= start.saturating_add(wanted);
        let is_page = found.passages.len() > start && layer + 1 >= LAYERS_OF_PAGE;
        if !found.may_go_on || has_enough || is_page {
            break;
        }
        depth = depth.saturating_mul(LAYER_GROWTH);
    }
    Ok(found)
}

/// The candidates with a fused score, best first.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(crate) fn fused(list: Vec<Scored>, sources: &Sources<'_>) -> Result<Vec<Scored>> {
    let hits = list
        .into_iter()
        .filter(|scored| scored.score > 0.0)
        .collect();
    top_k::top_k(
        hits,
        usize::MAX,
        |scored: &Scored| scored.score,
        |scored| scored.address,
        |address| sources.tie_break_key(address),
    )
}
