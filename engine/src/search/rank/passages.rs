//! Ranked chunks -> passages: a chunk, neighbouring chunks, or the best chunk of a document.

use std::ops::Range;

use kb_types::DocumentId;
use kb_types::error::{Error, Result};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::search::options::Scope;
pub(crate) use crate::search::rank::passage::{Passage, SymbolPlace};
use crate::search::rank::scored::Scored;
use crate::search::rank::{copies, spread};
use crate::search::read_cache::ReadCache;
use crate::search::request::Request;
use crate::search::sources::{ChunkAddress, Sources};

/// Share of the score of the best chunk that a neighbour needs to join its passage.
// A lower share joins chunks that are only near a hit; a higher one shows neighbours as separate
// hits.
pub(super) const JOIN_SHARE: f32 = 0.75;

/// Longest joined passage, in bytes: about a thousand tokens.
// A longer passage would take the room of other hits in a token budget.
const JOIN_LIMIT_BYTES: u32 = 4096;

/// Documents that already have a passage, by file and id.
pub(crate) type SeenDocuments = FxHashSet<(usize, DocumentId)>;

/// Turns ranked chunks, best first, into passages in the order of the request, at least `wanted` if there
/// are as many; the first ones do not depend on `wanted`. `is_first`: no others come before them. In
/// [`Scope::Documents`] documents in `seen` have no further passage, and those that get one are added to it.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(crate) fn passages(
    ranked: &[Scored],
    request: &Request,
    sources: &Sources<'_>,
    (wanted, is_first): (usize, bool),
    seen: &mut SeenDocuments,
    cache: &mut ReadCache<'_>,
) -> Result<Vec<Passage>> {
    let of_chunks = |most: usize| -> Result<Vec<Passage>> {
        // Chunks become symbols, each by itself.
        if request.join && !request.is_of_symbols() {
            return joined(ranked, sources, most);
        }
        let chunks = ranked.iter().take(most);
        Ok(chunks.copied().map(Passage::of_chunk).collect())
    };
    let scope = request.scope;
    let is_flooded = |found: &[Passage]| {
        let may_be = scope == Scope::Chunks && !request.is_of_symbols();
        Ok::<bool, Error>(may_be && spread::is_flooded(found, sources)?)
    };
    let documents = match scope {
        Scope::Documents => documents(ranked, sources, seen)?,
        Scope::Chunks => Vec::new(),
    };
    // Which ones come first depends on all, and not on how many are wanted.
    let all = || match scope {
        Scope::Documents => Ok(documents.clone()),
        Scope::Chunks => of_chunks(usize::MAX),
    };
    let mut found = match scope {
        Scope::Documents => documents.clone(),
        Scope::Chunks if is_first => of_chunks(wanted.max(spread::FIRST))?,
        Scope::Chunks => of_chunks(wanted)?,
    };
    if is_first && is_flooded(&found)? {
        found = spread::spread(all()?, sources)?;
    }
    for limit in [wanted.max(copies::LEAST_GROUPS), usize::MAX] {
        let first = found.get(..spread::FIRST).unwrap_or(&found);
        if !is_first || !copies::has_any(first, scope, sources, cache)? {
            break;
        }
        found = copies::united(all()?, limit, scope, sources, cache)?;
        if is_flooded(&found)? {
            found = spread::spread(found, sources)?;
        }
    }
    Ok(found)
}

/// One passage a document: its best chunk, and how many of its chunks are candidates.
fn documents(
    ranked: &[Scored],
    sources: &Sources<'_>,
    seen: &mut SeenDocuments,
) -> Result<Vec<Passage>> {
    let mut found: Vec<Passage> = Vec::new();
    let mut places: FxHashMap<(usize, DocumentId), usize> = FxHashMap::default();
    for scored in ranked {
        let file = sources.file_of(scored.address.segment);
        let document = sources.document_of(scored.address)?;
        if seen.contains(&(file, document)) {
            continue;
        }
        let next = found.len();
        let address = *places.entry((file, document)).or_insert(next);
        match found.get_mut(address) {
            Some(passage) => passage.matches += 1,
            None => found.push(Passage::of_chunk(*scored)),
        }
    }
    seen.extend(places.into_keys());
    Ok(found)
}

/// Chunks with those neighbours that are nearly as good. A chunk belongs to the first passage that
/// takes it.
fn joined(ranked: &[Scored], sources: &Sources<'_>, wanted: usize) -> Result<Vec<Passage>> {
    let scores: FxHashMap<ChunkAddress, f32> = ranked
        .iter()
        .map(|scored| (scored.address, scored.score))
        .collect();
    let mut taken: FxHashSet<ChunkAddress> = FxHashSet::default();
    let mut borders = PartBorders::default();
    let mut found = Vec::new();
    for scored in ranked {
        if found.len() >= wanted {
            break;
        }
        if taken.contains(&scored.address) {
            continue;
        }
        let mut passage = Passage::of_chunk(*scored);
        let least = scored.score * JOIN_SHARE;
        let segment = scored.address.segment;
        let joins = |row: u32| {
            let address = ChunkAddress { segment, row };
            let score = scores.get(&address).filter(|score| **score >= least)?;
            (!taken.contains(&address)).then_some(*score)
        };
        loop {
            let before = passage.rows.start.checked_sub(1);
            let before = before.and_then(|row| Some((joins(row)?, row)));
            let after = joins(passage.rows.end).map(|score| (score, passage.rows.end));
            // The better neighbour first, the one after it of equal ones: a text is read on.
            let next = match (before, after) {
                (Some(before), Some(after)) if before.0 > after.0 => [Some(before), Some(after)],
                (before, after) => [after, before],
            };
            let mut rows = next.into_iter().flatten().map(|(_, row)| row);
            let mut fits =
                |row: u32| is_one_passage(sources, &mut borders, segment, &passage.rows, row);
            let mut chosen = None;
            for row in rows.by_ref() {
                if fits(row)? {
                    chosen = Some(row);
                    break;
                }
            }
            let Some(row) = chosen else {
                break;
            };
            passage.rows = passage.rows.start.min(row)..passage.rows.end.max(row + 1);
            passage.matches += 1;
        }
        taken.extend(
            passage
                .rows
                .clone()
                .map(|row| ChunkAddress { segment, row }),
        );
        found.push(passage);
    }
    Ok(found)
}

/// Where the parts of documents begin, by file and document, as far as they were asked for.
#[derive(Debug, Default)]
struct PartBorders {
    starts: FxHashMap<(usize, DocumentId), Vec<u32>>,
}

impl PartBorders {
    /// Whether a part of a document begins at a byte of its text. Reads the parts of each document once.
    fn is_border(
        &mut self,
        sources: &Sources<'_>,
        (file, id): (usize, DocumentId),
        byte: u32,
    ) -> Result<bool> {
        if let Some(starts) = self.starts.get(&(file, id)) {
            return Ok(starts.binary_search(&byte).is_ok());
        }
        let source = sources.source(file)?;
        let starts = source.catalog.parts.starts(source.snapshot, id)?;
        let is_border = starts.binary_search(&byte).is_ok();
        self.starts.insert((file, id), starts);
        Ok(is_border)
    }
}

/// Whether `rows` and its neighbour `row` are of one part of one document, and not too long together.
fn is_one_passage(
    sources: &Sources<'_>,
    borders: &mut PartBorders,
    segment: usize,
    rows: &Range<u32>,
    row: u32,
) -> Result<bool> {
    let chunks = sources.segment(segment)?.chunks();
    let first = chunks.get(rows.start.min(row))?;
    let last = chunks.get(rows.end.saturating_sub(1).max(row))?;
    let bytes = last.at.span.end.saturating_sub(first.at.span.start);
    if first.document != last.document || bytes > JOIN_LIMIT_BYTES {
        return Ok(false);
    }
    let second = chunks.get(if row < rows.start { rows.start } else { row })?;
    let document = (sources.file_of(segment), first.document);
    Ok(!borders.is_border(sources, document, second.at.span.start)?)
}
