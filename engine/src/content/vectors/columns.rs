//! Which columns of vectors a file has, and which chunks there are to have vectors of.

use std::ops::ControlFlow;

use kb_types::error::Result;
use kb_types::{BUILT_IN_VECTORS, ModelCard};

use crate::catalog::Catalog;
use crate::content::CommitView;
use crate::index::vector::Codec;
use crate::metric::Metric;
use crate::store::meta::kept_model;
use crate::store::vector_columns::{BUILT_IN, NumberedColumn};

/// A column of vectors: at most one for each chunk, all by one model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct VectorColumn {
    /// Its name; [`BUILT_IN_VECTORS`] for those that the built-in model makes.
    pub name: String,
    /// The model that made them, as the importer said; may be empty. Of the built-in column the id of the model.
    pub model: String,
    /// The model, where [`KbWriter::reembed`](crate::KbWriter::reembed) made the column: `kb` embeds later chunks and
    /// queries by it.
    pub card: Option<ModelCard>,
    /// Dimensions, 1 to 4096.
    pub dim: u32,
    /// How they are compared.
    pub metric: Metric,
    /// How they are stored.
    pub codec: Codec,
    /// Live chunks with a vector.
    pub rows: u64,
    /// Whether a request with a vector that names no column searches this one.
    pub is_default: bool,
    /// Bytes of its model, if the file keeps that.
    pub model_bytes: Option<u64>,
    /// What searches find of it; `None` where nothing was measured, and of the built-in column, of which
    /// [`Info`](crate::Info) tells.
    pub recall: Option<ColumnRecall>,
}

/// Recall of a column of another model against its imported numbers: what quantising leaves, measured at the import,
/// times what searches of inverted lists find of that, where there are lists. Of columns of fewer than 200 vectors, and
/// those that older versions imported, the latter alone. Questions are vectors of the column, each without itself; those
/// that a model makes of questions may find less.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ColumnRecall {
    /// Vectors that were asked for.
    pub queries: u32,
    /// Nearest vectors wanted of each.
    pub k: u32,
    /// Live chunks with a vector then.
    pub chunks: u64,
    /// Share of the nearest that were found, 0 to 1.
    pub recall: f32,
    /// Share of the vectors that searches looked at, on average: those of the inverted lists that they read.
    pub lists: f32,
}

impl ColumnRecall {
    fn of(column: &NumberedColumn) -> Option<ColumnRecall> {
        let found = column.effort.as_ref().map(|effort| ColumnRecall {
            queries: effort.queries,
            k: effort.k,
            chunks: effort.rows,
            recall: effort.recall,
            lists: effort.read,
        });
        let Some(left) = &column.quantised else {
            return found;
        };
        let found = found.unwrap_or(ColumnRecall {
            queries: left.queries,
            k: left.k,
            chunks: left.rows,
            recall: 1.0,
            lists: 1.0,
        });
        Some(ColumnRecall {
            // As if both losses were independent: neither was measured together with the other.
            recall: found.recall * left.recall,
            ..found
        })
    }
}

/// A chunk in the order of the file; see [`crate::Kb::chunks_in_order`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkPlace {
    /// Path of its document.
    pub document: String,
    /// Number of the chunk in its document, from 0.
    pub index: u32,
}

/// See [`crate::Kb::vector_columns`].
pub(crate) fn vector_columns(commit: CommitView<'_>) -> Result<Vec<VectorColumn>> {
    let (meta, columns) = (&commit.catalog.meta, &commit.catalog.vector_columns);
    let mut all = vec![VectorColumn {
        name: BUILT_IN_VECTORS.to_owned(),
        model: meta.embedder.id.clone(),
        card: None,
        dim: meta.embedder.dim,
        metric: Metric::Cosine,
        codec: Codec::of(meta.embedder.codec)?,
        rows: meta.chunks,
        is_default: columns.default == BUILT_IN,
        model_bytes: None,
        recall: None,
    }];
    for column in &columns.list {
        all.push(VectorColumn {
            name: column.record.name.clone(),
            model: column.record.model.clone(),
            card: column.model.as_ref().map(|model| model.card.clone()),
            dim: column.record.dim,
            metric: column.metric,
            codec: Codec::of(column.record.codec)?,
            rows: live_rows(commit.catalog, column.number),
            is_default: columns.default == column.number,
            model_bytes: kept_model::size(commit.snapshot, column.number)?,
            recall: ColumnRecall::of(column),
        });
    }
    Ok(all)
}

/// Live chunks with a vector in a column of another model.
pub(crate) fn live_rows(catalog: &Catalog, column: u16) -> u64 {
    let rows = catalog.segments.iter().map(|segment| {
        let mut more = segment.records.more_vectors.iter();
        let index = more.find(|index| index.number == column);
        index.map_or(0, |index| index.live_rows(segment.deleted_rows()))
    });
    rows.sum()
}

/// See [`crate::Kb::chunks_in_order`].
pub(crate) fn chunks_in_order(
    commit: CommitView<'_>,
    first: u64,
    count: usize,
) -> Result<Vec<ChunkPlace>> {
    let mut found = Vec::new();
    let mut before = 0u64;
    let documents = &commit.catalog.documents;
    documents.each_path(commit.snapshot, "", |path, id| {
        let rows = documents.get(commit.snapshot, id)?.rows;
        let skipped = u32::try_from(first.saturating_sub(before)).unwrap_or(u32::MAX);
        let left = count - found.len();
        found.extend((skipped..rows).take(left).map(|index| ChunkPlace {
            document: path.to_owned(),
            index,
        }));
        before = before.saturating_add(u64::from(rows));
        Ok(if found.len() == count {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    Ok(found)
}
