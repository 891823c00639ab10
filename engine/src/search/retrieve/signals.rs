//! Candidates -> the signals that their scores and the verdict rest on.

use kb_types::error::Result;

use crate::index::keyword::QueryTerm;
use crate::search::plan::Plan;
use crate::search::rank::scored::Scored;
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
        signals.near = near(list, largest);
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

/// Which of the nearest chunks says how near the file is to the query.
// With the fifth or the fiftieth the repositories that are left out are told from others less well.
const NEAR_RANK: usize = 10;

/// The least share of the largest vector score that it counts as.
// Of right answers 3 in 4 are above it; with .7 right answers and foreign ones are told apart less well.
const NEAR_SHARE: f32 = 0.6;

/// See [`RelevanceSignals::near`].
fn near(list: &[Scored], largest: f32) -> f32 {
    let mut scores: Vec<f32> = list.iter().map(|scored| scored.vector).collect();
    let tenth = if scores.len() < NEAR_RANK {
        0.0
    } else {
        let (_, tenth, _) = scores.select_nth_unstable_by(NEAR_RANK - 1, |a, b| b.total_cmp(a));
        *tenth
    };
    tenth.max(NEAR_SHARE * largest)
}

/// Most chunks with the same largest keyword score that are compared.
// More ties at the top are copies of one text.
const MOST_TIED: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn near_of(scores: &[f32]) -> f32 {
        let address = ChunkAddress { segment: 0, row: 0 };
        let list: Vec<Scored> = scores
            .iter()
            .map(|score| Scored::new(address, 0.0, *score, *score))
            .collect();
        near(&list, scores.iter().copied().fold(0.0, f32::max))
    }

    #[test]
    fn the_tenth_nearest_chunk_says_how_near_the_file_is() {
        let falling: Vec<f32> = (0..12).map(|at| 0.8 - at as f32 / 50.0).collect();
        assert_eq!(near_of(&falling), 0.8 - 9.0 / 50.0);
        let mut alone = vec![0.1; 20];
        alone.push(0.5);
        assert_eq!(near_of(&alone), 0.5 * NEAR_SHARE);
        assert_eq!(near_of(&[0.5, 0.5]), 0.5 * NEAR_SHARE, "few chunks");
        assert_eq!(near_of(&[]), 0.0);
    }
}
