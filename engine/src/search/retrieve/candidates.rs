//! Plan -> candidates: the best chunks of both indexes, each with both scores.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::thread;

use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

use crate::catalog::BoundSegment;
use crate::index::vector::query::Query as VectorQuery;
use crate::index::vector::reader::Reader;
use crate::index::vector::{Effort, KnnSegment, Method, ScanStats, knn_with_stats};
use crate::search::given_vector::FileVector;
use crate::search::plan::Plan;
use crate::search::query::two_phase::{BATCH_GROWTH, TwoPhaseFilter};
use crate::search::rank::fusion::Scale;
use crate::search::rank::scored::{Scored, fused};
use crate::search::sources::{ChunkAddress, Sources};
use crate::search::timer::StepTimer;
use crate::search::top_k;
use crate::store::vector_columns::BUILT_IN;

/// The candidates of one request.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// Upper bound of the score of any chunk that is not in the list; 0 when all chunks are.
    pub(crate) bound: f32,
    /// The union of both lists with both scores, in no particular order.
    pub(crate) list: Vec<Scored>,
    /// How many came from the keyword index.
    pub(crate) from_keyword: usize,
    /// How many came from the vector index.
    pub(crate) from_vector: usize,
    /// What the vector index read to find them.
    pub(crate) vectors: ScanStats,
}

/// The best `wanted` verified rows of each index. A chunk in one list only is scored by the other index,
/// too: a score is never 0 because the chunk was not among the best there.
pub(crate) fn retrieve(
    plan: &Plan<'_>,
    sources: &Sources<'_>,
    filter: &mut TwoPhaseFilter<'_>,
    wanted: usize,
    timer: &mut StepTimer,
) -> Result<Candidates> {
    let mut vectors = ScanStats::default();
    let is_hybrid = plan.keyword_query.is_some() && plan.has_vectors();
    let (by_keyword, by_vector);
    // With phrases both lists verify rows through one filter, which keeps what it has read, so one
    // must follow the other.
    if plan.threads > 1 && is_hybrid && !filter.has_phrases() {
        (by_keyword, (by_vector, vectors)) = both(plan, sources, filter, wanted)?;
        timer.step("keyword and vector");
    } else {
        by_keyword = verified(filter, wanted, |filter, most| {
            self::by_keyword(plan, sources, filter, most)
        })?;
        timer.step("keyword");
        by_vector = verified(filter, wanted, |filter, most| {
            let found = self::by_vector(plan, sources, filter, most, &plan.vectors)?;
            vectors = found.1;
            Ok(found.0)
        })?;
        timer.step("vector");
    }
    let (from_keyword, from_vector) = (by_keyword.len(), by_vector.len());
    let mut by_contextual = List::new();
    let list = match (&plan.keyword_query, plan.has_vectors()) {
        _ if plan.has_contextual() => {
            by_contextual = verified(filter, wanted, |filter, most| {
                let found = self::by_vector(plan, sources, filter, most, &plan.contextual)?;
                vectors.add(&found.1);
                Ok(found.0)
            })?;
            timer.step("contextual");
            let lists = [&by_vector, &by_contextual];
            rescore_union(plan, sources, &by_keyword, lists)?
        }
        (Some(_), false) => alone(&by_keyword, |score| (plan.keyword_share(score), 0.0)),
        (None, _) => alone(&by_vector, |score| (0.0, score)),
        (Some(_), true) => rescore_union(plan, sources, &by_keyword, [&by_vector, &List::new()])?,
    };
    Ok(Candidates {
        bound: bound(
            plan,
            sources,
            wanted,
            &by_keyword,
            (&by_vector, &by_contextual),
        ),
        list,
        from_keyword,
        from_vector,
        vectors,
    })
}

/// Upper bound of the score of a chunk that is in neither list: each of its scores is at most the last of
/// that list if the list is full, else 0 (Fagin, Lotem and Naor 2001, threshold algorithm).
fn bound(
    plan: &Plan<'_>,
    sources: &Sources<'_>,
    wanted: usize,
    by_keyword: &List,
    (by_vector, by_contextual): (&List, &List),
) -> f32 {
    let last = |list: &List| match list.last() {
        Some((score, _)) if list.len() >= wanted => *score,
        _ => 0.0,
    };
    let (keyword, vector) = (plan.keyword_share(last(by_keyword)), last(by_vector));
    // Of a list that has ended, 0 as well, though a cosine of 0 becomes a score above it: whatever is left has no vector in
    // the column, or is found by none of the lists.
    let contextual = match plan.scale.get() {
        Some(scale) if by_contextual.len() >= wanted => scale.apply(last(by_contextual)),
        _ => 0.0,
    };
    let of_files = (0..sources.files.len()).map(|file| {
        let weight = plan.vector(file).weight;
        let share = plan.contextual(file).weight;
        let without = fused(keyword, vector, weight);
        without + weight * share * (contextual - vector).max(0.0)
    });
    of_files.fold(0.0, f32::max)
}

/// The best `wanted` verified rows: retrieves more and verifies them until there are enough, there are no
/// more, or the limit of text is reached.
fn verified(
    filter: &mut TwoPhaseFilter<'_>,
    wanted: usize,
    mut search: impl FnMut(&TwoPhaseFilter<'_>, usize) -> Result<List>,
) -> Result<List> {
    let mut most = wanted;
    loop {
        let mut found = search(filter, most)?;
        if !filter.has_phrases() {
            return Ok(found);
        }
        let is_all = found.len() < most;
        filter.verify(found.iter().map(|(_, address)| *address))?;
        found.retain(|(_, address)| filter.is_verified(*address));
        if found.len() >= wanted || is_all || filter.is_spent() {
            found.truncate(wanted);
            return Ok(found);
        }
        // Growing: where few rows have the phrase, small steps would search the index again and
        // again for the same head of its list.
        most = most.saturating_mul(BATCH_GROWTH);
    }
}

/// The candidates of a single list, where the mode has no other.
fn alone(list: &List, parts: impl Fn(f32) -> (f32, f32)) -> Vec<Scored> {
    let scored = list.iter().map(|(score, address)| {
        let (keyword, vector) = parts(*score);
        // One of both is 0 where the mode has no other list.
        Scored::new(*address, keyword, vector, keyword.max(vector))
    });
    scored.collect()
}

type List = Vec<(f32, ChunkAddress)>;

/// The union of both lists, with the score that a chunk lacks computed by the other index.
fn rescore_union(
    plan: &Plan<'_>,
    sources: &Sources<'_>,
    by_keyword: &List,
    [by_vector, by_contextual]: [&List; 2],
) -> Result<Vec<Scored>> {
    // In the order of addresses: rows of a segment are then scored together and ascending.
    let mut union: BTreeMap<ChunkAddress, PartialScores> = BTreeMap::new();
    for (score, address) in by_keyword {
        union.entry(*address).or_default().keyword = Some(*score);
    }
    for (score, address) in by_vector {
        union.entry(*address).or_default().vector = Some(*score);
    }
    for (_, address) in by_contextual {
        union.entry(*address).or_default();
    }
    rescore(plan, sources, union)
}

/// These chunks with both scores.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(crate) fn scored(
    plan: &Plan<'_>,
    sources: &Sources<'_>,
    chunks: Vec<ChunkAddress>,
) -> Result<Vec<Scored>> {
    let unscored = chunks
        .into_iter()
        .map(|address| (address, PartialScores::default()));
    rescore(plan, sources, unscored.collect())
}

/// Completes the scores of chunks.
fn rescore(
    plan: &Plan<'_>,
    sources: &Sources<'_>,
    union: BTreeMap<ChunkAddress, PartialScores>,
) -> Result<Vec<Scored>> {
    let union: Vec<(ChunkAddress, PartialScores)> = union.into_iter().collect();
    let mut list = Vec::with_capacity(union.len());
    for of_segment in union.chunk_by(|(a, _), (b, _)| a.segment == b.segment) {
        let Some(position) = of_segment.first().map(|(address, _)| address.segment) else {
            continue;
        };
        // Once a segment: the clock costs nothing beside scoring its rows, and thousands of
        // segments can be stopped.
        sources.tick()?;
        let rows_without = |has: fn(&PartialScores) -> Option<f32>| -> Vec<u32> {
            let without = of_segment.iter().filter(|(_, parts)| has(parts).is_none());
            without.map(|(address, _)| address.row).collect()
        };
        let rows = rows_without(|parts| parts.keyword);
        let keywords = match &plan.keyword_query {
            Some(query) => query.score_rows(position, &rows)?,
            None => vec![0.0; rows.len()],
        };
        let of_file = plan.vector(sources.file_of(position));
        let rows = rows_without(|parts| parts.vector);
        let vectors = match &of_file.query {
            Some(query) => {
                let segment = sources.segment(position)?;
                vector_scores(segment, of_file.column, query, &rows)?
            }
            None => vec![0.0; rows.len()],
        };
        let (mut keywords, mut vectors) = (keywords.into_iter(), vectors.into_iter());
        for (address, parts) in of_segment {
            let keyword = parts.keyword.or_else(|| keywords.next()).unwrap_or(0.0);
            let vector = parts.vector.or_else(|| vectors.next()).unwrap_or(0.0);
            let keyword = plan.keyword_share(keyword);
            let fused = fused(keyword, vector, of_file.weight);
            list.push(Scored::new(*address, keyword, vector, fused));
        }
    }
    if plan.has_contextual() {
        add_contextual(plan, sources, &mut list)?;
    }
    Ok(list)
}

/// Adds what the contextual model says to chunks that have a vector of it; they are in the order of their addresses.
fn add_contextual(plan: &Plan<'_>, sources: &Sources<'_>, list: &mut [Scored]) -> Result<()> {
    let mut known: Vec<(usize, f32)> = Vec::with_capacity(list.len());
    let mut first = 0;
    for of_segment in list.chunk_by(|a, b| a.address.segment == b.address.segment) {
        let position = of_segment.first().map_or(0, |one| one.address.segment);
        let of_file = plan.contextual(sources.file_of(position));
        let vectors = sources.segment(position)?.more_vectors(of_file.column);
        if let (Some(query), Some(vectors)) = (&of_file.query, vectors) {
            let present = &vectors.index.present;
            let with = of_segment.iter().enumerate();
            let with = with.filter(|(_, one)| present.contains(one.address.row));
            let (numbers, rows): (Vec<usize>, Vec<u32>) = with
                .map(|(number, one)| (first + number, one.address.row))
                .unzip();
            let scores = vectors.reader()?.scores(query, &rows)?;
            known.extend(numbers.into_iter().zip(scores));
        }
        first += of_segment.len();
    }
    let scale = plan.scale.get_or_init(|| {
        let pair = |(number, score): &(usize, f32)| Some((list.get(*number)?.vector, *score));
        Scale::of(&known.iter().filter_map(pair).collect::<Vec<_>>())
    });
    for (number, score) in known {
        if let Some(scored) = list.get_mut(number) {
            let file = sources.file_of(scored.address.segment);
            let (weight, share) = (plan.vector(file).weight, plan.contextual(file).weight);
            scored.add_contextual((score, scale.apply(score)), weight, share);
        }
    }
    Ok(())
}

/// The vector scores of some rows of a segment; 0 where a row has no vector in the column.
fn vector_scores(
    segment: &BoundSegment<'_>,
    column: u16,
    query: &VectorQuery,
    rows: &[u32],
) -> Result<Vec<f32>> {
    if column == BUILT_IN {
        return segment.vectors()?.scores(query, rows);
    }
    let Some(vectors) = segment.more_vectors(column) else {
        return Ok(vec![0.0; rows.len()]);
    };
    let has_one = |row: &u32| vectors.index.present.contains(*row);
    let present: Vec<u32> = rows.iter().copied().filter(has_one).collect();
    let mut scores = vectors.reader()?.scores(query, &present)?.into_iter();
    let of_row = |row| has_one(row).then(|| scores.next()).flatten();
    Ok(rows
        .iter()
        .map(of_row)
        .map(Option::unwrap_or_default)
        .collect())
}

/// The scores that a chunk has in the lists.
#[derive(Debug, Default)]
struct PartialScores {
    keyword: Option<f32>,
    vector: Option<f32>,
}

/// The best rows of all segments by keyword score. The worst of a full list is the least score worth
/// finding in the next segment.
fn by_keyword(
    plan: &Plan<'_>,
    sources: &Sources<'_>,
    filter: &TwoPhaseFilter<'_>,
    most: usize,
) -> Result<List> {
    let mut found: List = Vec::new();
    let Some(query) = &plan.keyword_query else {
        return Ok(found);
    };
    let mut floor = 0.0;
    for position in 0..sources.segments.len() {
        sources.tick()?;
        let top = query.top_k(position, most, filter.rows(position), floor)?;
        if let Some(last) = most.checked_sub(1).and_then(|last| top.get(last)) {
            // What scores less cannot be among the best of all segments, so the next index may skip
            // its blocks.
            floor = last.score.max(floor);
        }
        let address = |row| ChunkAddress {
            segment: position,
            row,
        };
        found.extend(top.into_iter().map(|hit| (hit.score, address(hit.row))));
    }
    best(sources, found, most)
}

/// The nearest rows of all segments, and what was read to find them.
fn by_vector(
    plan: &Plan<'_>,
    sources: &Sources<'_>,
    filter: &TwoPhaseFilter<'_>,
    most: usize,
    queries: &[FileVector],
) -> Result<(List, ScanStats)> {
    let mut near = Vec::new();
    for search in vector_searches(plan, sources, filter, queries)? {
        sources.tick()?;
        near.push(search.run(most)?);
    }
    nearest(sources, near, most)
}

/// Both lists, the one of vectors on a thread of its own.
fn both(
    plan: &Plan<'_>,
    sources: &Sources<'_>,
    filter: &TwoPhaseFilter<'_>,
    most: usize,
) -> Result<(List, (List, ScanStats))> {
    let searches = vector_searches(plan, sources, filter, &plan.vectors)?;
    // Without ticks: the reporter belongs to the thread of the caller.
    let run = || -> Result<Vec<Near>> { searches.iter().map(|search| search.run(most)).collect() };
    let (keyword, near) = thread::scope(|scope| {
        let vector = thread::Builder::new().spawn_scoped(scope, run);
        let keyword = by_keyword(plan, sources, filter, most);
        let near = match vector.map(thread::ScopedJoinHandle::join) {
            Ok(Ok(near)) => near,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            // The system has no thread to give.
            Err(_) => run(),
        };
        (keyword, near)
    });
    Ok((keyword?, nearest(sources, near?, most)?))
}

/// The search of the vectors of one file.
struct VectorSearch<'s> {
    query: &'s VectorQuery,
    searched: Vec<Searched<'s>>,
    how: Method,
}

/// What one of them found, and read. Segments are positions among those of all files.
type Near = (List, ScanStats);

impl VectorSearch<'_> {
    fn run(&self, most: usize) -> Result<Near> {
        let parts: Vec<KnnSegment<'_>> = self.searched.iter().map(Searched::part).collect();
        let (near, scanned) = knn_with_stats(&parts, self.query, most, self.how)?;
        let mut found = List::with_capacity(near.len());
        for near in near {
            let segment = self.searched.get(near.segment);
            let segment = segment.map(|searched| searched.position);
            let segment = segment.ok_or_else(|| Error::damaged("a chunk of no segment"))?;
            let row = near.row;
            found.push((near.score, ChunkAddress { segment, row }));
        }
        Ok((found, scanned))
    }
}

/// The searches of all files.
fn vector_searches<'s>(
    plan: &'s Plan<'_>,
    sources: &'s Sources<'_>,
    filter: &'s TwoPhaseFilter<'_>,
    queries: &'s [FileVector],
) -> Result<Vec<VectorSearch<'s>>> {
    let mut searches = Vec::new();
    for (file, of_file) in queries.iter().enumerate() {
        let Some(query) = &of_file.query else {
            continue;
        };
        searches.push(VectorSearch {
            query,
            searched: searched(sources, filter, file, of_file.column)?,
            how: Method {
                scan: plan.scan,
                effort: match sources.files.get(file) {
                    Some(source) => source.catalog.column_effort(of_file.column),
                    None => Effort::default(),
                },
            },
        });
    }
    Ok(searches)
}

/// The best of all files, and what was read in all.
fn nearest(sources: &Sources<'_>, near: Vec<Near>, most: usize) -> Result<(List, ScanStats)> {
    let (mut found, mut facts) = (List::new(), ScanStats::default());
    for (list, scanned) in near {
        found.extend(list);
        facts.add(&scanned);
    }
    Ok((best(sources, found, most)?, facts))
}

/// A segment whose vectors are searched.
struct Searched<'s> {
    /// Its position among those of all files.
    position: usize,
    reader: Reader<'s>,
    /// The rows that may answer; `None`: all.
    filter: Option<Cow<'s, RoaringBitmap>>,
    deleted: Option<&'s RoaringBitmap>,
}

impl Searched<'_> {
    fn part(&self) -> KnnSegment<'_> {
        KnnSegment {
            reader: &self.reader,
            filter: self.filter.as_deref(),
            deleted: self.deleted,
        }
    }
}

/// The segments of a file that have vectors of a column, with the rows that pass the filter and have one.
fn searched<'s>(
    sources: &'s Sources<'_>,
    filter: &'s TwoPhaseFilter<'_>,
    file: usize,
    column: u16,
) -> Result<Vec<Searched<'s>>> {
    let mut all = Vec::new();
    for (position, bound) in sources.positions(file).zip(sources.of_file(file)) {
        let mut rows = filter.rows(position).map(Cow::Borrowed);
        let reader = if column == BUILT_IN {
            bound.vectors()?
        } else {
            let Some(vectors) = bound.more_vectors(column) else {
                continue;
            };
            let present = &vectors.index.present;
            // Where every row has a vector no filter is needed, and a scan without one is faster.
            if present.len() < u64::from(bound.segment.rows()) {
                rows = Some(match rows {
                    Some(rows) => Cow::Owned(&*rows & present),
                    None => Cow::Borrowed(present),
                });
            }
            vectors.reader()?
        };
        all.push(Searched {
            position,
            reader,
            filter: rows,
            deleted: bound.segment.deleted_rows(),
        });
    }
    Ok(all)
}

fn best(sources: &Sources<'_>, found: List, most: usize) -> Result<List> {
    top_k::top_k(
        found,
        most,
        |(score, _)| *score,
        |(_, address)| *address,
        |address| sources.tie_break_key(address),
    )
}
