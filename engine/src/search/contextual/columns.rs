//! The column of a file whose model embeds queries, and what it makes of one.

use kb_types::error::{Error, Result};

use crate::catalog::Catalog;
use crate::embed;
use crate::search::sources::{Source, Sources, file_name};
use crate::store::meta::kept_model;
use crate::store::vector_columns::NumberedColumn;

/// The column of a file whose model embeds queries: the default one if it knows its model, else the one that was made
/// last.
pub(crate) fn column_of(catalog: &Catalog) -> Option<&NumberedColumn> {
    let columns = &catalog.vector_columns;
    let default = columns.numbered(columns.default);
    let mut made = columns.list.iter().rev();
    default
        .filter(|column| column.model.is_some())
        .or_else(|| made.find(|column| column.model.is_some()))
}

/// The vector of a text by the model of a column, scaled as its metric wants it.
///
/// # Errors
/// [`Error::EmbeddingModelUnavailable`], [`Error::Cancelled`].
pub(crate) fn embedded(
    source: &Source<'_>,
    column: &NumberedColumn,
    text: &str,
) -> Result<Vec<f32>> {
    let Some(of_column) = &column.model else {
        return Err(Error::EmbeddingModelUnavailable {
            needs: column.record.model.clone(),
        });
    };
    let mut kept = || kept_model::read(source.snapshot, column.number);
    let model = source.models.of(of_column, &mut kept)?;
    let vector = model.and_then(|model| embed::query(&*model, text));
    let mut vector = vector.map_err(|error| embed::unavailable(&of_column.card, error))?;
    // A query without any token has a vector of zeros, which is near nothing.
    if let Ok(norm) = column.metric.check(&vector, column.record.dim) {
        column.metric.scale(&mut vector, norm);
    }
    Ok(vector)
}

/// Says that a column was not searched, and why.
pub(crate) fn unsearched(
    source: &Source<'_>,
    column: &NumberedColumn,
    sources: &Sources<'_>,
    error: &Error,
) -> String {
    let needs = match error {
        Error::EmbeddingModelUnavailable { needs } => needs.clone(),
        error => error.to_string(),
    };
    format!(
        "the vectors {:?} of {} were not searched, only keywords and the built-in model: {needs}; put the model \
         there, or remove the column",
        column.record.name,
        file_name(source, sources.files.len()),
    )
}
