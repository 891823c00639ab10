//! What vector search in two stages finds of what an exact one finds, measured when a file is written
//! whole, on questions drawn from the file itself.

use kb_types::error::Result;

use crate::catalog::{BoundSegment, Catalog};
use crate::container::{Container, ContainerWriter, Snapshot};
use crate::content::{model_of, sample_queries};
use crate::index::vector::query::Query;
use crate::index::vector::{
    Codec, Effort, KnnSegment, MIN_CANDIDATES, Method, Neighbor, Scan, WHOLE_REACH, knn_batch,
    knn_with_stats, uses_rescoring,
};
use crate::ingest::report::MissedRecall;
use crate::ingest::run::vector_index::due::wish;
use crate::ingest::run::vector_index::tries::{AIMED, EFFORTS, least_effort};
use crate::ingest::run::vector_index::truth::{NEAREST, Truth};
use crate::store::effort::{EffortRecord, MeasuredRecord};
use crate::store::meta::{Meta, RecallRecord};

/// Queries of a measurement.
// They have 1,280 nearest chunks together: if these were independent, the standard error of a recall of 0.97 would be
// 0.005, half of [`CHEAP`].
const QUESTIONS: usize = 128;

/// Of how many nearest rows, by the stored vectors, the unquantised ones are made again: the nearest
/// [`NEAREST`] by those are among them.
const RERANKED: usize = 32;

/// How far below what quantised rows allow a search may stay without a wish.
const CHEAP: f32 = 0.01;

/// How many of [`EFFORTS`] are tried without a wish: what the others find more is little, and it takes longer.
// On the Linux sources the aim alone led to 3,600 candidates, slower than a scan of all sign bits.
const CHEAP_EFFORTS: usize = 9;

/// Asks a file that was just committed, and notes in a commit of its own what was found and how much
/// searches are to read. Says nothing of a file so small that each chunk is looked at, unless a recall
/// is `wanted`, or whose model this program does not have. `wanted`: none is as the file has it, 0 takes that back.
///
/// Cost: about a millisecond for each 1000 chunks, one text block for each question, and with inverted
/// lists or a wish some thousand documents.
///
/// # Errors
/// [`crate::Error::Damaged`], [`crate::Error::Storage`].
pub(in crate::ingest::run) fn record_recall(
    writer: &mut ContainerWriter,
    base: &Container,
    wanted: Option<f32>,
) -> Result<Option<MissedRecall>> {
    base.map_growth()?;
    let (measured, had_effort, codec) = base.read(|snapshot| {
        let catalog = Catalog::load(snapshot)?;
        let before = catalog.effort.as_ref();
        let wanted = match wanted {
            Some(wanted) => wish(wanted),
            None => before.and_then(|record| record.wanted),
        };
        let measured = measure(snapshot, &catalog, wanted)?;
        let codec = Codec::of(catalog.meta.embedder.codec)?;
        Ok((measured, before.is_some(), codec))
    })?;
    let (meta, effort) = match measured {
        Measured::Unknown => return Ok(None),
        Measured::Nothing if !had_effort => return Ok(None),
        Measured::Nothing => (None, None),
        Measured::Recall(meta, effort) => (Some(meta), effort),
    };
    let mut transaction = writer.begin()?;
    if let Some(meta) = meta {
        meta.write(&mut transaction)?;
    }
    match &effort {
        Some(effort) => effort.write(&mut transaction)?,
        // Neither lists nor a wish: searches read what they read without the row.
        None if had_effort => EffortRecord::remove(&mut transaction)?,
        None => {}
    }
    transaction.commit()?;
    Ok(effort.and_then(|effort| missed(&effort, codec)))
}

fn missed(record: &EffortRecord, vectors: Codec) -> Option<MissedRecall> {
    let (wanted, measured) = (record.wanted?, record.measured.as_ref()?);
    (measured.recall < wanted).then_some(MissedRecall {
        wanted,
        reached: measured.recall,
        exact: measured.exact,
        vectors,
    })
}

/// What was measured.
enum Measured {
    /// This program does not have the model.
    Unknown,
    /// There is nothing to measure: every search compares every chunk, and nobody asked.
    Nothing,
    /// The facts of the file with what searches find, and how much they are to read where that is not what they read
    /// anyway.
    Recall(Box<Meta>, Option<EffortRecord>),
}

fn measure(snapshot: &Snapshot<'_>, catalog: &Catalog, wanted: Option<f32>) -> Result<Measured> {
    let meta = &catalog.meta;
    let Some(model) = model_of(catalog) else {
        return Ok(Measured::Unknown);
    };
    let is_rescored = uses_rescoring(meta.chunks, MIN_CANDIDATES);
    if !is_rescored && wanted.is_none() {
        return Ok(Measured::Nothing);
    }
    let texts = sample_queries(snapshot, catalog, QUESTIONS)?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut vectors = vec![0.0; texts.len() * model.dim()];
    model.embed_queries(&texts, &mut vectors)?;
    let range = meta.embedder.quantiser_range;
    let asked: Vec<(&[f32], Query)> = vectors
        .chunks_exact(model.dim().max(1))
        .filter_map(|vector| Some((vector, Query::new(vector, range)?)))
        .collect();
    let queries: Vec<Query> = asked.iter().map(|(_, query)| query.clone()).collect();
    let bound = catalog
        .segments
        .iter()
        .map(|segment| segment.bind(snapshot))
        .collect::<Result<Vec<BoundSegment<'_>>>>()?;
    let readers = bound.iter().map(BoundSegment::vectors);
    let readers = readers.collect::<Result<Vec<_>>>()?;
    let parts: Vec<KnnSegment<'_>> = readers
        .iter()
        .zip(&bound)
        .map(|(reader, bound)| KnnSegment {
            reader,
            filter: None,
            deleted: bound.segment.deleted_rows(),
        })
        .collect();
    let scan = if is_rescored {
        Scan::Rescored
    } else {
        Scan::Exact
    };
    // As a search for ten asks: the list that is fused is longer.
    let search = |effort| knn_batch(&parts, &queries, MIN_CANDIDATES, Method { scan, effort });
    let exact = knn_batch(&parts, &queries, RERANKED, Scan::Exact)?;
    let has_lists = catalog.has_lists();
    let (mut effort, mut record) = (Effort::default(), None);
    if has_lists || wanted.is_some() {
        let vectors: Vec<&[f32]> = asked.iter().map(|(vector, _)| *vector).collect();
        let truth = Truth::of(snapshot, catalog, model, &bound, &vectors, &exact)?;
        let best = truth.recall(&exact);
        let aimed = wanted.unwrap_or(AIMED.min(best - CHEAP));
        let tries = tries(wanted.is_some(), has_lists, is_rescored);
        // No effort finds more than comparing every row does.
        let (least, reached) = least_effort(&tries, aimed.min(best), |effort| {
            Ok(truth.recall(&search(effort)?))
        })?;
        effort = least;
        record = Some(EffortRecord {
            reach: effort.reach,
            candidates: effort.candidates,
            wanted,
            measured: Some(MeasuredRecord {
                queries: queries.len() as u32,
                k: NEAREST as u32,
                rows: meta.chunks,
                recall: reached,
                exact: best,
                next_segment: catalog.manifest.next_segment,
                listed: has_lists,
                read: 1.0,
            }),
        });
    }
    let recall = found_share(&exact, &search(effort)?).filter(|_| is_rescored);
    let candidates = match has_lists {
        true => {
            let (scored, read) = rows_read(&parts, &queries, Method { scan, effort })?;
            if let Some(measured) = record.as_mut().and_then(|it| it.measured.as_mut()) {
                measured.read = read;
            }
            scored
        }
        false => effort.candidates(MIN_CANDIDATES) as u32,
    };
    let meta = Meta {
        recall: recall.map(|recall| RecallRecord {
            queries: queries.len() as u32,
            k: NEAREST as u32,
            candidates,
            rows: meta.chunks,
            recall,
        }),
        ..meta.clone()
    };
    Ok(Measured::Recall(Box::new(meta), record))
}

/// What is tried, one after the other.
fn tries(is_wished: bool, has_lists: bool, is_rescored: bool) -> Vec<Effort> {
    let count = match (is_rescored, is_wished) {
        // Every row is compared whatever the effort.
        (false, _) => 1,
        (true, false) => CHEAP_EFFORTS,
        (true, true) => EFFORTS.len(),
    };
    let mut tries: Vec<Effort> = EFFORTS.into_iter().take(count).collect();
    if !has_lists {
        // Nothing is measured of lists that may come: all of them are read until that is done. Only candidates differ.
        tries.iter_mut().for_each(|tried| tried.reach = WHOLE_REACH);
        tries.dedup();
    }
    tries
}

/// Rows that a search rescores, and the share of the rows that it looks at, on average: of segments with lists neither
/// is what the effort allows.
pub(super) fn rows_read(
    parts: &[KnnSegment<'_>],
    queries: &[Query],
    how: Method,
) -> Result<(u32, f32)> {
    let (mut scored, mut read) = (0, 0.0);
    for query in queries {
        let stats = knn_with_stats(parts, query, MIN_CANDIDATES, how)?.1;
        scored += stats.scored;
        read += stats.share_read();
    }
    let count = queries.len().max(1);
    let scored = u32::try_from(scored.div_ceil(count as u64)).unwrap_or(u32::MAX);
    Ok((scored, (read / count as f64) as f32))
}

/// The share of the first [`NEAREST`] of each list in `exact` that `quick` has too; a row that ties
/// with the last of them is as good. `None` when there is none to find.
pub(super) fn found_share(exact: &[Vec<Neighbor>], quick: &[Vec<Neighbor>]) -> Option<f32> {
    let (mut wanted, mut found) = (0, 0);
    for (exact, quick) in exact.iter().zip(quick) {
        let exact = exact.get(..NEAREST).unwrap_or(exact);
        let least = exact.last().map_or(f32::INFINITY, |near| near.score);
        let reach = quick.iter().filter(|near| near.score >= least).count();
        wanted += exact.len();
        found += reach.min(exact.len());
    }
    (wanted > 0).then(|| found as f32 / wanted as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_ties_with_the_last_of_the_nearest_counts_as_found() {
        let list = |scores: &[f32]| -> Vec<Neighbor> {
            let rows = (0..).zip(scores);
            rows.map(|(row, score)| Neighbor {
                segment: 0,
                row,
                score: *score,
            })
            .collect()
        };
        let ties: Vec<f32> = [0.9].into_iter().chain([0.5; 12]).collect();
        let share = |exact: &[f32], quick: &[f32]| found_share(&[list(exact)], &[list(quick)]);
        assert_eq!(share(&ties, &ties), Some(1.0));
        assert_eq!(share(&ties, &[0.5; 10]), Some(1.0));
        assert_eq!(share(&ties, &[0.9, 0.5, 0.5, 0.4]), Some(0.3));
        assert_eq!(share(&[0.9, 0.8], &[0.8, 0.7]), Some(0.5));
        assert_eq!(share(&[], &[]), None);
    }

    #[test]
    fn only_a_file_of_many_chunks_states_what_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let (path, sources) = (folder.path().join("a.kb"), folder.path().join("sources"));
        std::fs::create_dir_all(&sources).unwrap();
        let write = |count: usize| {
            for file in 0..count / 100 {
                let sections = (0..100).map(|at| {
                    let word = (file * 100 + at) * 7919;
                    format!("# Part {word}\n\n{}\n\n", format!("sea {word} ").repeat(40))
                });
                let text: String = sections.collect();
                std::fs::write(sources.join(format!("{file}.md")), text).unwrap();
            }
        };
        let index = || {
            let options = crate::IndexOptions {
                rebuild: true,
                ..crate::IndexOptions::default()
            };
            let mut writer = crate::KbWriter::open_or_create(&path).unwrap();
            let paths = [sources.clone()];
            writer
                .index(&paths, &options, &mut crate::Progress::ignore)
                .unwrap();
            crate::Kb::open(&path).unwrap().info().unwrap()
        };
        write(100);
        let small = index();
        assert!(small.is_exact && small.recall.is_none());
        write(20_000);
        let large = index();
        let recall = large.recall.clone().unwrap();
        assert!(!large.is_exact && recall.chunks == large.chunks);
        assert!(recall.queries > 100 && recall.k == 10 && recall.candidates == 600);
        assert!((0.5..=1.0).contains(&recall.recall), "{recall:?}");
        assert_eq!(index().recall, large.recall);
        // What searches for the same questions find.
        let kb = crate::Kb::open(&path).unwrap();
        let nearest = |query: &str, scan| -> Vec<f32> {
            let request = crate::Request::new(query)
                .mode(crate::Mode::Semantic)
                .join(false)
                .scan(scan);
            let hits = kb.search(&request).unwrap().hits;
            hits.iter().filter_map(|hit| hit.vector_score).collect()
        };
        let (mut wanted, mut found) = (0, 0);
        for query in kb.sample_queries(QUESTIONS).unwrap() {
            let exact = nearest(&query, Scan::Exact);
            let least = exact.last().copied().unwrap_or(f32::INFINITY);
            let quick = nearest(&query, Scan::Auto);
            wanted += exact.len();
            found += quick.iter().filter(|score| **score >= least).count();
        }
        let share = found as f32 / wanted as f32;
        assert!(
            share < 0.99 && (share - recall.recall).abs() < 1e-6,
            "{share}"
        );
        let mut writer = crate::KbWriter::open_or_create(&path).unwrap();
        writer.add_bytes("more.md", b"more").unwrap();
        writer.commit().unwrap();
        drop(writer);
        let grown = crate::Kb::open(&path).unwrap().info().unwrap();
        assert_eq!(grown.recall, large.recall);
        assert_eq!(grown.chunks, large.chunks + 1);
    }
}
