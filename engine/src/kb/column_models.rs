//! What [`Kb`] tells of the models of columns of vectors, and embeds by them.

use kb_types::error::{Error, Result};
use kb_types::{BUILT_IN_VECTORS, EmbedError, ModelCard};

use crate::content;
#[cfg(feature = "ingest")]
use crate::embed;
#[cfg(feature = "ingest")]
use crate::ingest::run::PackedModel;
use crate::kb::Kb;
use crate::kb::open_file::read_all;
use crate::progress::Reporter;
use crate::search;
use crate::store::meta::kept_model;

/// How far a model has embedded a file, and whether this program has the model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelCoverage {
    /// Name of the column of vectors.
    pub column: String,
    /// The model.
    pub card: ModelCard,
    /// Live chunks with a vector.
    pub rows: u64,
    /// Live chunks without one: those that wait, and those without any word that the model knows.
    pub waiting: u64,
    /// Why queries cannot be embedded by the model; `None` if they can.
    pub missing: Option<EmbedError>,
    /// Bytes of the model, if the file keeps it.
    pub kept_bytes: Option<u64>,
}

/// The vector of a text.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Embedded {
    /// Of length 1, or all zero if the model knows no word of the text.
    pub vector: Vec<f32>,
    /// The model: its id if it is built in, else `source:name`.
    pub model: String,
    /// The column of vectors that the vector is to be compared with.
    pub column: String,
}

/// Models of columns of vectors.
impl Kb {
    /// The models of the columns that know theirs, in the order of [`Kb::vector_columns`]. The first call may load
    /// them, and tests no vectors.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::SnapshotExpired`].
    pub fn models(&self) -> Result<Vec<ModelCoverage>> {
        read_all(&[&self.file], &Reporter::silent(), &mut |sources| {
            let mut models = Vec::new();
            for source in sources {
                let chunks = source.catalog.meta.chunks;
                for column in &source.catalog.vector_columns.list {
                    let Some(model) = &column.model else {
                        continue;
                    };
                    let mut kept = || kept_model::read(source.snapshot, column.number);
                    let found = source.models.at_hand(model, &mut kept)?;
                    let rows = content::live_rows(source.catalog, column.number);
                    models.push(ModelCoverage {
                        column: column.record.name.clone(),
                        card: model.card.clone(),
                        rows,
                        waiting: chunks.saturating_sub(rows),
                        missing: found.err(),
                        kept_bytes: kept_model::size(source.snapshot, column.number)?,
                    });
                }
            }
            Ok(models)
        })
    }

    /// The models of all columns that know theirs, with their files, as far as this program finds them or the file keeps
    /// them already: for [`SealOptions::models`](crate::SealOptions::models).
    ///
    /// # Errors
    /// [`Error::EmbeddingModelUnavailable`] for a model that is not there, was changed since, is more than 512 MiB, or
    /// has no files, as a service.
    #[cfg(feature = "ingest")]
    pub fn pack_models(&self) -> Result<Vec<PackedModel>> {
        read_all(&[&self.file], &Reporter::silent(), &mut |sources| {
            let mut packed = Vec::new();
            for source in sources {
                for column in &source.catalog.vector_columns.list {
                    let Some(model) = &column.model else {
                        continue;
                    };
                    let mut kept = || kept_model::read(source.snapshot, column.number);
                    let files = source.models.files(model, &mut kept)?;
                    let files = files.and_then(|files| match kept_model::fault(&files) {
                        None => Ok(files),
                        Some(reason) => Err(EmbedError::Unfit { reason }),
                    });
                    packed.push(PackedModel {
                        column: column.record.name.clone(),
                        card: model.card.clone(),
                        files: files.map_err(|error| embed::unavailable(&model.card, error))?,
                    });
                }
            }
            Ok(packed)
        })
    }

    /// The vector of a query by the model of a column of vectors. `None`: of the default column, if that knows its
    /// model, else of the built-in one.
    ///
    /// # Errors
    /// [`Error::EmbeddingModelUnavailable`] when this program does not have the model;
    /// [`Error::InvalidArgument`] for a column that is not there, or was imported from a model that is not known.
    pub fn embed_for(&self, column: Option<&str>, text: &str) -> Result<Embedded> {
        let of_column = read_all(&[&self.file], &Reporter::silent(), &mut |sources| {
            let Some(source) = sources.first() else {
                return Ok(None);
            };
            let columns = &source.catalog.vector_columns;
            let found = match column {
                Some(BUILT_IN_VECTORS) => return Ok(None),
                Some(name) => Some(columns.named(name).ok_or_else(|| {
                    let names = columns.names();
                    invalid(format!("the file has no column {name:?}; it has {names}"))
                })?),
                None => columns.numbered(columns.default),
            };
            let known = found.filter(|column| column.model.is_some());
            let Some(known) = known else {
                return match column {
                    Some(name) => Err(invalid(format!(
                        "the vectors of {name:?} were imported; only their own model embeds text for them"
                    ))),
                    None => Ok(None),
                };
            };
            let vector = search::embedded_for(source, known, text)?;
            let card = known.model.as_ref().map(|model| model.card.to_string());
            Ok(Some(Embedded {
                vector,
                model: card.unwrap_or_default(),
                column: known.record.name.clone(),
            }))
        })?;
        if let Some(embedded) = of_column {
            return Ok(embedded);
        }
        let (vector, model) = self.embed(text)?;
        Ok(Embedded {
            vector,
            model,
            column: BUILT_IN_VECTORS.to_owned(),
        })
    }
}

fn invalid(reason: String) -> Error {
    Error::InvalidArgument {
        argument: "vector_column",
        reason,
    }
}
