//! Candidates -> the signals that their scores and the verdict rest on.

use kb_types::error::Result;

use crate::index::keyword::QueryTerm;
use crate::search::plan::Plan;
use crate::search::relevance::RelevanceSignals;
use crate::search::retrieve::candidates::Candidates;
use crate::search::sources::{ChunkAddress, Sources};

/// The signals of the best candidates, but the best fused score, which ranking them again decides.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(crate) fn signals(
    plan: &Plan<'_>,
    candidates: &Candidates,
    sources: &Sources<'_>,
) -> Result<RelevanceSignals> {
    let list = &candidates.list;
    let mut signals = RelevanceSignals {
        coverage: plan.coverage,
        chunks: sources.statistics().chunks,
        has_given_vector: plan.has_given_vector,
        asks_for_missing: plan.asks_for_missing,
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
    let terms = query.terms().iter();
    signals.query_idf = terms.map(QueryTerm::weighted_idf).sum();
    let best = list.iter().map(|scored| scored.keyword).fold(0.0, f32::max);
    signals.keyword = Some(best);
    if best > 0.0 {
        // Of several best chunks the one with the most idf, so that the order of segments is irrelevant.
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

/// Most chunks with the same largest keyword score that are compared.
// More ties at the top are copies of one text.
const MOST_TIED: usize = 10;
