//! What a server looks at often: which commit answers and what it holds, without reading documents.

use crate::error::Result;
use crate::kb::Kb;
use crate::kb::facts::RootInfo;
use crate::store::facets::{self, Facet};
use crate::types::{Class, hex};

/// The commit that answers. Cost does not grow with the number of documents.
#[derive(Debug, Clone, PartialEq, Eq)]
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

impl Kb {
    /// The commit that answers now.
    ///
    /// # Errors
    /// [`Error::Damaged`](crate::Error::Damaged), [`Error::SnapshotExpired`](crate::Error::SnapshotExpired).
    pub fn state(&self) -> Result<State> {
        let uuid = hex(&self.container().signature().uuid);
        self.read(|snapshot, catalog| {
            let meta = &catalog.meta;
            Ok(State {
                uuid: uuid.clone(),
                commit: snapshot.commit(),
                generation: catalog.manifest.generation,
                documents: meta.documents,
                chunks: meta.chunks,
                updated_ms: meta.updated_ms,
                model: meta.embedder.id.clone(),
                dim: meta.embedder.dim,
            })
        })
    }

    /// The folders that the file was made from.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn roots(&self) -> Result<Vec<RootInfo>> {
        self.read(|_, catalog| {
            let roots = catalog.meta.roots.iter();
            Ok(roots.map(RootInfo::from_record).collect())
        })
    }

    /// Whether any document of one of these classes has a chunk. Reads a bitmap for each segment.
    ///
    /// # Errors
    /// As [`Kb::state`].
    pub fn has_class(&self, classes: &[Class]) -> Result<bool> {
        self.read(|snapshot, catalog| {
            for segment in &catalog.segments {
                for class in classes {
                    let rows = facets::rows_with(
                        snapshot,
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
        })
    }
}
