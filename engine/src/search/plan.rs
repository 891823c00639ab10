//! Request -> plan: the analysed query, its vector, the rows that may answer, how many candidates.

use roaring::RoaringBitmap;

use crate::catalog::{BoundSegment, Catalog};
use crate::container::Snapshot;
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::index::text::{Analyser, Query as WordQuery, QuerySegment};
use crate::index::vector::quantise::Query as VectorQuery;
use crate::search::filter::{self, Rows};
use crate::search::fuse::vector_weight;
use crate::search::request::{Mode, QUERY_LIMIT_BYTES, Request};

/// Candidates that each index gives at least: deeper lists find what only both parts together rank
/// high.
pub const MIN_CANDIDATES: usize = 100;

/// What is going to be done.
#[derive(Debug)]
pub struct Plan<'b> {
    /// The part of the query that is searched.
    pub query: &'b str,
    /// The mode that answers; the request's, or keyword when there is no vector to ask with.
    pub mode: Mode,
    /// Hits wanted.
    pub k: usize,
    /// Candidates wanted from each index.
    pub candidates: usize,
    /// The query as words; none when the mode has no such part.
    pub words: Option<WordQuery<'b>>,
    /// The query as a vector; none when the mode or the model has none.
    pub vector: Option<VectorQuery>,
    /// Weight of the vector part.
    pub vector_weight: f32,
    /// Words of the query that the model knows, and all.
    pub model_words: (usize, usize),
    /// Rows that may answer.
    pub rows: Rows,
}

impl Plan<'_> {
    /// The rows of the segment at `position` that may answer; `None`: all.
    pub fn filter(&self, position: usize) -> Option<&RoaringBitmap> {
        self.rows.as_ref().and_then(|rows| rows.get(position))
    }
}

/// Makes the plan.
///
/// # Errors
/// [`Error::EmbeddingModelUnavailable`] for a semantic request to a file of an unknown model;
/// filter errors as in [`filter::apply`].
pub fn plan<'b>(
    request: &'b Request,
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    bound: &'b [BoundSegment<'_>],
    model: Option<&dyn Embedder>,
    analyser: &mut Analyser,
    warnings: &mut Vec<String>,
) -> Result<Plan<'b>> {
    let query = searched_part(&request.query, warnings);
    let rows = filter::apply(snapshot, catalog, &request.filters, warnings)?;
    let mut plan = Plan {
        query,
        mode: request.mode,
        k: request.k,
        // With one part alone its best k are the answer.
        candidates: match request.mode {
            Mode::Hybrid => request.k.max(MIN_CANDIDATES),
            Mode::Semantic | Mode::Keyword => request.k,
        },
        words: None,
        vector: None,
        vector_weight: 0.0,
        model_words: (0, 0),
        rows,
    };
    if request.mode != Mode::Semantic {
        let segments = bound
            .iter()
            .map(|segment| {
                Ok(QuerySegment {
                    reader: segment.words()?,
                    deleted: segment.segment.deleted_rows(),
                })
            })
            .collect::<Result<Vec<_>>>()?;
        plan.words = Some(WordQuery::new(
            analyser,
            query,
            &segments,
            catalog.statistics,
        )?);
    }
    if request.mode != Mode::Keyword {
        add_vector(&mut plan, query, catalog, model, warnings)?;
    }
    Ok(plan)
}

fn searched_part<'q>(query: &'q str, warnings: &mut Vec<String>) -> &'q str {
    if query.len() <= QUERY_LIMIT_BYTES {
        return query;
    }
    warnings.push(format!(
        "the query has {} bytes; only the first {QUERY_LIMIT_BYTES} were searched",
        query.len()
    ));
    query
        .get(..query.floor_char_boundary(QUERY_LIMIT_BYTES))
        .unwrap_or_default()
}

fn add_vector(
    plan: &mut Plan<'_>,
    query: &str,
    catalog: &Catalog,
    model: Option<&dyn Embedder>,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let record = &catalog.meta.embedder;
    let Some(model) = model else {
        if plan.mode == Mode::Semantic {
            return Err(Error::EmbeddingModelUnavailable {
                needs: record.id.clone(),
            });
        }
        warnings.push(format!(
            "this file needs the embedding model {}, which this program does not have: words only",
            record.id
        ));
        plan.mode = Mode::Keyword;
        return Ok(());
    };
    let mut vector = vec![0.0; model.dim()];
    model.embed_queries(&[query], &mut vector)?;
    let coverage = model.coverage(query);
    plan.model_words = (coverage.known_words, coverage.words);
    let stride = catalog
        .segments
        .first()
        .map_or(0, |segment| segment.records.vectors.stride as usize);
    plan.vector = VectorQuery::new(&vector, record.quantiser_range, stride);
    plan.vector_weight = match (plan.mode, &plan.vector) {
        (Mode::Semantic, _) => 1.0,
        (_, Some(_)) => vector_weight(coverage.known_share()),
        (_, None) => 0.0,
    };
    if plan.mode == Mode::Semantic && plan.vector.is_none() {
        warnings.push(format!(
            "the model {} knows no word of the query",
            record.id
        ));
    }
    Ok(())
}
