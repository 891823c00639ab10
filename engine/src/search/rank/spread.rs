//! Keeps the first passages from being all of one document.

use std::collections::VecDeque;

use kb_types::DocumentId;
use kb_types::error::Result;
use rustc_hash::FxHashMap;

use crate::search::rank::passage::Passage;
use crate::search::sources::Sources;

/// How many passages count as the first ones: as many as a request has by default.
pub(crate) const FIRST: usize = 10;

/// Most passages of one document among them.
pub(super) const OF_DOCUMENT: u32 = 3;

/// A passage goes before one of another document, however many of its document do, when its score is so many times
/// as high.
const MUCH_BETTER: f32 = 1.25;

/// A document of one of the files.
type Document = (usize, DocumentId);

/// Whether there are more passages of one document among the first than there should be.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(crate) fn is_flooded(found: &[Passage], sources: &Sources<'_>) -> Result<bool> {
    let mut counts: FxHashMap<Document, u32> = FxHashMap::default();
    for passage in found.iter().take(FIRST) {
        let count = counts.entry(document_of(passage, sources)?).or_default();
        *count += 1;
        if *count > OF_DOCUMENT {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Moves those passages of a document behind the first ones of all that are too many of it, unless they are much
/// better than what takes their places. The scores stay in order: a passage that is moved gets that of the one before
/// it. The last passage of a document before these says how many they are.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(crate) fn spread(found: Vec<Passage>, sources: &Sources<'_>) -> Result<Vec<Passage>> {
    let mut documents = Vec::with_capacity(found.len());
    for passage in &found {
        documents.push(document_of(passage, sources)?);
    }
    Ok(spread_by(found.into_iter().zip(documents)))
}

fn document_of(passage: &Passage, sources: &Sources<'_>) -> Result<Document> {
    let address = passage.best.address;
    let id = match passage.document {
        Some(id) => id,
        None => sources.document_of(address)?,
    };
    Ok((sources.file_of(address.segment), id))
}

fn spread_by(found: impl Iterator<Item = (Passage, Document)>) -> Vec<Passage> {
    let mut found = found.peekable();
    let mut first: Vec<(Passage, Document)> = Vec::new();
    let mut moved: VecDeque<(Passage, Document)> = VecDeque::new();
    let mut counts: FxHashMap<Document, u32> = FxHashMap::default();
    while first.len() < FIRST
        && let Some((passage, document)) = found.peek()
    {
        let is_much_better =
            |other: &(Passage, Document)| other.0.best.score > passage.best.score * MUCH_BETTER;
        if counts
            .get(document)
            .is_some_and(|count| *count >= OF_DOCUMENT)
        {
            moved.extend(found.next());
        } else if moved.front().is_some_and(is_much_better) {
            let least = first.last().map(|(last, _)| last.best.score);
            first.extend(moved.pop_front().map(|(mut passage, document)| {
                lower(&mut passage, least.unwrap_or(f32::INFINITY));
                (passage, document)
            }));
        } else {
            *counts.entry(*document).or_default() += 1;
            first.extend(found.next());
        }
    }
    let least = first.last().map_or(0.0, |(last, _)| last.best.score);
    for (passage, _) in &mut moved {
        lower(passage, least);
    }
    // Without enough of other documents nothing is gained by leaving places free.
    let free = FIRST.saturating_sub(first.len()).min(moved.len());
    first.extend(moved.drain(..free));
    // Where they took the free places, the others follow as usual.
    let counted = if free == 0 { moved.len() } else { 0 };
    for (_, document) in moved.iter().take(counted) {
        let mut of_document = first.iter_mut().rev().filter(|(_, of)| of == document);
        if let Some((last, _)) = of_document.next() {
            last.more_in_document += 1;
        }
    }
    let all = first.into_iter().chain(moved).chain(found);
    all.map(|(passage, _)| passage).collect()
}

/// Gives a passage that comes later than its score says the score `most`, if it has more.
fn lower(passage: &mut Passage, most: f32) {
    let best = &mut passage.best;
    let score = most.min(best.score);
    best.features.repeats += score - best.score;
    best.score = score;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::rank::scored::Scored;
    use crate::search::sources::ChunkAddress;

    /// The documents and scores of passages in their order, and how many more there are of a document.
    fn spread_of(passages: &[(u32, f32)]) -> Vec<(u32, f32, u32)> {
        let found = passages.iter().zip(0..).map(|((document, score), row)| {
            let address = ChunkAddress { segment: 0, row };
            let passage = Passage::of_chunk(Scored::new(address, 0.0, 0.0, *score));
            (
                Passage {
                    document: Some(DocumentId(*document)),
                    ..passage
                },
                (0, DocumentId(*document)),
            )
        });
        let shown = spread_by(found).into_iter();
        shown
            .map(|it| (it.document.unwrap().0, it.best.score, it.more_in_document))
            .collect()
    }

    #[test]
    fn the_first_passages_have_three_of_a_document() {
        let mut passages = vec![(1, 0.9), (1, 0.89), (1, 0.88), (1, 0.87), (1, 0.86)];
        passages.extend((2..=9).map(|document| (document, 0.8)));
        passages.push((1, 0.7));
        let shown = spread_of(&passages);
        let documents: Vec<u32> = shown.iter().map(|it| it.0).collect();
        assert_eq!(documents, [1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 9, 1]);
        assert!(
            shown.windows(2).all(|two| two[0].1 >= two[1].1),
            "{shown:?}"
        );
        assert_eq!(shown[2].2, 2);
        assert_eq!(shown.iter().map(|it| it.2).sum::<u32>(), 2);
    }

    #[test]
    fn much_better_passages_stay() {
        let mut passages = vec![(1, 0.9); 6];
        passages.extend((2..=12).map(|document| (document, 0.5)));
        let documents: Vec<u32> = spread_of(&passages).iter().map(|it| it.0).collect();
        assert_eq!(documents[..7], [1, 1, 1, 1, 1, 1, 2]);
    }

    #[test]
    fn a_passage_that_comes_back_has_no_more_than_the_one_before_it() {
        let mut passages = vec![(1, 0.9), (1, 0.9), (1, 0.9), (1, 0.88), (2, 0.8)];
        passages.extend((3..=12).map(|document| (document, 0.5)));
        let shown = spread_of(&passages);
        assert_eq!((shown[4].0, shown[4].1), (1, 0.8));
        assert!(shown.windows(2).all(|two| two[0].1 >= two[1].1));
    }

    #[test]
    fn a_document_alone_keeps_its_order_and_its_scores() {
        let passages: Vec<(u32, f32)> = (0..14).map(|at| (1, 0.9 - at as f32 / 100.0)).collect();
        let shown = spread_of(&passages);
        let kept: Vec<(u32, f32)> = shown.iter().map(|it| (it.0, it.1)).collect();
        assert_eq!(kept, passages);
        assert!(shown.iter().all(|it| it.2 == 0));
    }
}
