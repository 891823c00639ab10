//! Facts about a file: identity, format, counts, roots, model.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use kb_types::error::Result;
use kb_types::syntax::pending;
use kb_types::{Class, DocumentId, hex};

use crate::catalog::{Catalog, Segment};
use crate::content::vectors::{VectorColumn, vector_columns};
use crate::content::{CommitView, model_of};
use crate::index::vector::{Codec, MIN_CANDIDATES, uses_rescoring};
use crate::store::facets::{self, Facet};
use crate::store::meta::{RecallRecord, RootRecord, SealRecord};

/// Facts about an open file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Info {
    /// Where it was opened from; `None` for bytes in memory.
    pub path: Option<PathBuf>,
    /// Identity of the file: 32 hexadecimal digits.
    pub uuid: String,
    /// Format version: `major.minor`.
    pub format: String,
    /// When the file was created, milliseconds since 1970.
    pub created_ms: i64,
    /// When its content changed last, milliseconds since 1970.
    pub updated_ms: i64,
    /// Number of the commit that was read.
    pub commit: u64,
    /// The folders that were indexed.
    pub roots: Vec<RootInfo>,
    /// Live documents.
    pub documents: u64,
    /// Live chunks.
    pub chunks: u64,
    /// Segments.
    pub segments: u64,
    /// Bytes of stored text, before compression.
    pub text_bytes: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Id of the embedding model.
    pub model: String,
    /// Dimensions of its vectors.
    pub dim: u32,
    /// How vectors are stored.
    pub vectors: Codec,
    /// The columns of vectors, the built-in one first, the others by number.
    pub vector_columns: Vec<VectorColumn>,
    /// Whether the file is so small that every vector search compares every chunk.
    pub is_exact: bool,
    /// Recall of vector search; `None` where it was not measured.
    pub recall: Option<Recall>,
    /// Recall against vectors that are not quantised; `None` where it was not measured.
    pub unquantised_recall: Option<UnquantisedRecall>,
    /// Segments whose vectors are in inverted lists.
    pub listed_segments: u64,
    /// Whether this program can reproduce the model.
    pub model_available: bool,
    /// Id of the analyser.
    pub analyser: String,
    /// Deleted chunks that a later merge or seal removes from the file.
    pub deleted_chunks: u64,
    /// Content root of a sealed file: 64 hexadecimal digits, the same for the same documents.
    pub content_root: Option<String>,
    /// Programs that are indexed as text and not parsed yet: their symbols and outlines are missing.
    pub symbols_pending: u64,
    /// Documents by file type, most first.
    pub types: Vec<(String, u64)>,
    /// Documents by language, most first.
    pub languages: Vec<(String, u64)>,
    /// Documents by class, most first.
    pub classes: Vec<(String, u64)>,
}

/// The commit that a call would read. Getting it costs the same whatever the number of documents.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct State {
    /// Identity of the file: 32 hexadecimal digits.
    pub uuid: String,
    /// Number of the commit.
    pub commit: u64,
    /// Counts the commits that changed content.
    pub generation: u64,
    /// Live documents.
    pub documents: u64,
    /// Live chunks.
    pub chunks: u64,
    /// When the content changed last, milliseconds since 1970.
    pub updated_ms: i64,
    /// Id of the embedding model.
    pub model: String,
    /// Dimensions of its vectors.
    pub dim: u32,
}

/// A folder that was indexed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RootInfo {
    /// Where it was on the machine that indexed it.
    pub source: String,
    /// First component of the paths of its documents; empty when they have none in common.
    pub prefix: String,
    /// The files of that folder that were selected; empty: the whole folder.
    pub files: Vec<String>,
    /// Git commit of that folder when it was indexed, if it lies in a work tree.
    pub git_commit: Option<String>,
    /// Git branch, likewise.
    pub git_branch: Option<String>,
}

/// Recall of vector search against an exact scan, measured when the file was rebuilt or sealed, or with
/// [`UnquantisedRecall`]: what it says of a file that changed since is of the file as it was.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Recall {
    /// Queries, drawn from the file.
    pub queries: u32,
    /// Nearest chunks wanted for each query.
    pub k: u32,
    /// Chunks rescored for each query, on average.
    pub candidates: u32,
    /// Live chunks at that time.
    pub chunks: u64,
    /// Share of the nearest chunks that were returned, 0 to 1.
    pub recall: f32,
}

/// Recall of the built-in vectors against vectors that are not quantised, and what searches read to reach it. Only of
/// files with inverted lists, or with a recall that was asked for. An index run measures again when half of the chunks
/// are new.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct UnquantisedRecall {
    /// Queries, drawn from the file.
    pub queries: u32,
    /// Nearest chunks wanted for each query.
    pub k: u32,
    /// Live chunks at that time.
    pub chunks: u64,
    /// Share of the nearest chunks that are among the first `k` answered, 0 to 1.
    pub recall: f32,
    /// The same when every row is compared.
    pub exact: f32,
    /// The share that was asked for.
    pub wanted: Option<f32>,
    /// Share of the chunks that searches looked at, on average: those of the inverted lists that they read. 1 without
    /// lists.
    pub lists: f32,
    /// Live chunks of now that came since, or were merged with such.
    pub new_chunks: u64,
}

impl UnquantisedRecall {
    fn of(catalog: &Catalog) -> Option<UnquantisedRecall> {
        let record = catalog.effort.as_ref()?;
        let measured = record.measured.as_ref()?;
        let known = catalog.live_rows_before(measured.next_segment);
        Some(UnquantisedRecall {
            queries: measured.queries,
            k: measured.k,
            chunks: measured.rows,
            recall: measured.recall,
            exact: measured.exact,
            wanted: record.wanted,
            lists: measured.read,
            new_chunks: catalog.meta.chunks.saturating_sub(known),
        })
    }
}

impl Recall {
    fn from_record(record: &RecallRecord) -> Recall {
        Recall {
            queries: record.queries,
            k: record.k,
            candidates: record.candidates,
            chunks: record.rows,
            recall: record.recall,
        }
    }
}

impl RootInfo {
    fn from_record(record: &RootRecord) -> RootInfo {
        RootInfo {
            source: record.source.clone(),
            prefix: record.prefix.clone(),
            files: record.files.clone(),
            git_commit: record.git_commit.clone(),
            git_branch: record.git_branch.clone(),
        }
    }
}

/// See [`crate::Kb::info`]. `format` and `file_bytes` are those of the open file.
pub(crate) fn info(commit: CommitView<'_>, format: String, file_bytes: u64) -> Result<Info> {
    let CommitView {
        snapshot, catalog, ..
    } = commit;
    let meta = &catalog.meta;
    let mut types: BTreeMap<String, u64> = BTreeMap::new();
    let mut languages = BTreeMap::new();
    let mut classes = BTreeMap::new();
    let mut symbols_pending = 0;
    catalog.documents.each_path(snapshot, "", |_, id| {
        let record = catalog.documents.get(snapshot, id)?;
        *classes
            .entry(record.class()?.name().to_owned())
            .or_default() += 1;
        symbols_pending += u64::from(pending::is_marked(&record.metadata));
        *types.entry(record.file_type).or_default() += 1;
        if !record.language.is_empty() {
            *languages.entry(record.language).or_default() += 1;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(Info {
        path: commit.path.map(Path::to_path_buf),
        uuid: hex(&commit.uuid),
        format,
        created_ms: meta.created_ms,
        updated_ms: meta.updated_ms,
        commit: snapshot.commit(),
        roots: roots(commit),
        documents: meta.documents,
        chunks: meta.chunks,
        segments: catalog.segments.len() as u64,
        text_bytes: meta.text_bytes,
        file_bytes,
        model: meta.embedder.id.clone(),
        dim: meta.embedder.dim,
        vectors: Codec::of(meta.embedder.codec)?,
        vector_columns: vector_columns(commit)?,
        is_exact: !uses_rescoring(meta.chunks, MIN_CANDIDATES),
        recall: meta.recall.as_ref().map(Recall::from_record),
        unquantised_recall: UnquantisedRecall::of(catalog),
        listed_segments: catalog
            .segments
            .iter()
            .filter(|segment| segment.records.vectors.lists > 0)
            .count() as u64,
        model_available: model_of(catalog).is_some(),
        analyser: meta.analyser.clone(),
        deleted_chunks: catalog
            .segments
            .iter()
            .filter_map(Segment::deleted_rows)
            .map(roaring::RoaringBitmap::len)
            .sum(),
        content_root: SealRecord::read(snapshot)?.map(|seal| hex(&seal.content_root)),
        symbols_pending,
        types: most_first(types),
        languages: most_first(languages),
        classes: most_first(classes),
    })
}

fn most_first(counts: BTreeMap<String, u64>) -> Vec<(String, u64)> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts
}

/// See [`crate::Kb::state`].
pub(crate) fn state(commit: CommitView<'_>) -> State {
    let meta = &commit.catalog.meta;
    State {
        uuid: hex(&commit.uuid),
        commit: commit.snapshot.commit(),
        generation: commit.catalog.manifest.generation,
        documents: meta.documents,
        chunks: meta.chunks,
        updated_ms: meta.updated_ms,
        model: meta.embedder.id.clone(),
        dim: meta.embedder.dim,
    }
}

/// See [`crate::Kb::roots`].
pub(crate) fn roots(commit: CommitView<'_>) -> Vec<RootInfo> {
    let roots = commit.catalog.meta.roots.iter();
    roots.map(RootInfo::from_record).collect()
}

/// See [`crate::Kb::symbols_pending`].
pub(crate) fn symbols_pending(commit: CommitView<'_>) -> Result<u64> {
    let mark = format!("{}={}", pending::NAME, pending::VALUE);
    let mut documents = 0;
    for segment in &commit.catalog.segments {
        let (id, count) = (segment.id, segment.rows());
        let rows = facets::rows_with(commit.snapshot, id, count, Facet::Field, &mark)?;
        let Some(mut rows) = rows else {
            continue;
        };
        if let Some(deleted) = segment.deleted_rows() {
            rows -= deleted;
        }
        if rows.is_empty() {
            continue;
        }
        let bound = segment.bind(commit.snapshot)?;
        let chunks = bound.chunks();
        let mut last: Option<DocumentId> = None;
        for row in rows {
            let document = chunks.document(row)?;
            // The rows of a document follow each other.
            documents += u64::from(last.replace(document) != Some(document));
        }
    }
    Ok(documents)
}

/// See [`crate::Kb::has_class`].
pub(crate) fn has_class(commit: CommitView<'_>, classes: &[Class]) -> Result<bool> {
    for segment in &commit.catalog.segments {
        for class in classes {
            let rows = facets::rows_with(
                commit.snapshot,
                segment.id,
                segment.rows(),
                Facet::Class,
                class.name(),
            )?;
            let is_live = rows.is_some_and(|rows| match segment.deleted_rows() {
                Some(deleted) => !rows.is_subset(deleted),
                None => !rows.is_empty(),
            });
            if is_live {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
