//! The vector that a request has, checked against the column of each file that it is compared with.

use kb_types::BUILT_IN_VECTORS;
use kb_types::error::{Error, Result};

use crate::index::vector::query::Query as VectorQuery;
use crate::metric::Metric;
use crate::search::contextual::columns as contextual;
use crate::search::options::Mode;
use crate::search::request::Request;
use crate::search::sources::{Source, Sources, file_name};
use crate::store::vector_columns::BUILT_IN;

/// The query of the vector index of one file.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileVector {
    /// `None` when the mode does not use vectors, this program does not have the model, or the model knows
    /// no word of the query.
    pub(crate) query: Option<VectorQuery>,
    /// Weight of the vector score, 0..1.
    pub(crate) weight: f32,
    /// Number of the column that is searched.
    pub(crate) column: u16,
}

/// The column of one file that a request names.
#[derive(Debug, Clone, Copy)]
struct Column<'s> {
    number: u16,
    name: &'s str,
    model: &'s str,
    dim: u32,
    metric: Metric,
    range: f32,
}

/// The query of each file, with that weight.
///
/// # Errors
/// [`Error::InvalidArgument`] when a file has no such column, the columns of several files differ, or no vector of the
/// column can be as the one that is given.
pub(crate) fn queries(
    vector: &[f32],
    request: &Request,
    sources: &Sources<'_>,
    weight: f32,
) -> Result<Vec<FileVector>> {
    let columns = columns(request.vector_column.as_deref(), sources)?;
    let mut queries = Vec::with_capacity(columns.len());
    for column in columns {
        let mut vector = vector.to_vec();
        let norm = column.metric.check(&vector, column.dim).map_err(|fault| {
            let mut of = format!("column {:?}", column.name);
            if !column.model.is_empty() {
                of.push_str(&format!(" by {:?}", column.model));
            }
            invalid("vector", format!("{fault}; it is searched in {of}"))
        })?;
        column.metric.scale(&mut vector, norm);
        queries.push(FileVector {
            query: VectorQuery::by(column.metric, &vector, column.range),
            weight,
            column: column.number,
        });
    }
    Ok(queries)
}

/// The vector of the words of a request that names a column but gives no vector, by the model of that column; `None`
/// where the column is that of the built-in model, or none is named.
///
/// # Errors
/// [`Error::InvalidArgument`] for a column that does not know its model; [`Error::EmbeddingModelUnavailable`].
pub(crate) fn embedded(
    request: &Request,
    text: &str,
    sources: &Sources<'_>,
) -> Result<Option<Vec<f32>>> {
    let named = request.vector_column.as_deref();
    let Some(name) = named.filter(|name| *name != BUILT_IN_VECTORS) else {
        return Ok(None);
    };
    let columns = columns(Some(name), sources)?;
    let first = sources.files.first();
    let of_model = first.and_then(|source| {
        let column = source.catalog.vector_columns.named(name)?;
        column.model.as_ref()?;
        Some((source, column))
    });
    if let Some((source, column)) = of_model {
        let is_asked = request.mode != Mode::Keyword;
        let embed = || contextual::embedded(source, column, text);
        return is_asked.then(embed).transpose();
    }
    let model = columns.first().map_or("", |column| column.model);
    let model = match model {
        "" => "the model of that column".to_owned(),
        model => format!("{model:?}"),
    };
    Err(invalid(
        "vector_column",
        format!(
            "this program cannot embed text with {model}; give the vector of the query by that model, or search \
             {BUILT_IN_VECTORS:?}"
        ),
    ))
}

/// The column of each file; that of the first decides what those of the others must be.
fn columns<'s>(name: Option<&str>, sources: &Sources<'s>) -> Result<Vec<Column<'s>>> {
    let count = sources.files.len();
    let mut columns: Vec<Column<'s>> = Vec::with_capacity(count);
    for source in sources.files {
        let file = file_name(source, count);
        let default = source.catalog.vector_columns.default_name();
        let Some(column) = column_of(source, name.unwrap_or(default)) else {
            let reason = format!(
                "{file} has no column of vectors {:?}; it has {}",
                name.unwrap_or(default),
                source.catalog.vector_columns.names()
            );
            return Err(invalid("vector_column", reason));
        };
        if let Some(first) = columns.first() {
            let fault = difference(first, &column);
            if let Some(fault) = fault {
                let reason = format!("{file} {fault}, unlike the first file; search it alone");
                return Err(invalid("vector_column", reason));
            }
        }
        columns.push(column);
    }
    Ok(columns)
}

/// What keeps a column from being searched together with another one.
fn difference(first: &Column<'_>, column: &Column<'_>) -> Option<String> {
    if column.name != first.name {
        Some(format!("has {:?} as its default column", column.name))
    } else if column.dim != first.dim {
        Some(format!("has vectors of {} numbers there", column.dim))
    } else if column.metric != first.metric {
        Some(format!("compares them by {}", column.metric.name()))
    } else if column.number == BUILT_IN && column.model != first.model {
        Some(format!("has vectors by {:?}", column.model))
    } else {
        None
    }
}

fn column_of<'s>(source: &Source<'s>, name: &str) -> Option<Column<'s>> {
    let catalog = source.catalog;
    if name == BUILT_IN_VECTORS {
        let embedder = &catalog.meta.embedder;
        return Some(Column {
            number: BUILT_IN,
            name: BUILT_IN_VECTORS,
            model: &embedder.id,
            dim: embedder.dim,
            metric: Metric::Cosine,
            range: embedder.quantiser_range,
        });
    }
    let column = catalog.vector_columns.named(name)?;
    Some(Column {
        number: column.number,
        name: &column.record.name,
        model: &column.record.model,
        dim: column.record.dim,
        metric: column.metric,
        range: column.record.range,
    })
}

fn invalid(argument: &'static str, reason: String) -> Error {
    Error::InvalidArgument { argument, reason }
}

#[cfg(feature = "ingest")]
#[cfg(test)]
mod tests;
