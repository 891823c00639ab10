//! Orders the first passages of an answer by a model that reads them together with the query.

use std::sync::OnceLock;

use kb_types::EmbedError;
use kb_types::error::{Error, Result};

use crate::search::options::{Rerank, Sort};
use crate::search::plan::Plan;
use crate::search::query::parsed::has_words;
use crate::search::rank::passages::Passage;
use crate::search::read_cache::ReadCache;
use crate::search::request::Request;
use crate::search::sources::Sources;

/// What [`install_reranker`] was given.
static INSTALLED: OnceLock<Rerank> = OnceLock::new();

/// Most bytes of a passage that a model reads. Models take some hundred tokens.
const PASSAGE_LIMIT_BYTES: usize = 8 << 10;

/// Lets every search of this process be ordered by `rerank`, but those that have their own: for servers, whose clients
/// choose no models. The first call counts.
///
/// # Errors
/// [`Error::InvalidArgument`] for a number of passages that no [`Rerank`] may have.
pub fn install_reranker(rerank: Rerank) -> Result<()> {
    Request::new("any").rerank(rerank.clone()).validate()?;
    // Of two front ends in one process the first one has the model.
    let _ = INSTALLED.set(rerank);
    Ok(())
}

/// What orders the first passages of a request; `None` if nothing does.
pub(super) fn wanted(request: &Request) -> Result<Option<&Rerank>> {
    let is_ranked = request.sort == Sort::Score
        && request.group_by.is_none()
        && !request.is_of_symbols()
        && !request.lists_documents();
    match &request.rerank {
        Some(_) if !is_ranked => Err(Error::InvalidArgument {
            argument: "rerank",
            reason: "only passages in the order of their scores are ordered, not groups, symbols or lists"
                .to_owned(),
        }),
        own => Ok(own.as_ref().or(INSTALLED.get()).filter(|_| is_ranked)),
    }
}

/// Orders the first passages. Returns a warning where it could not.
///
/// # Errors
/// [`Error::Damaged`]; [`Error::Cancelled`] where the model was stopped.
pub(super) fn apply(
    rerank: &Rerank,
    plan: &Plan<'_>,
    sources: &Sources<'_>,
    passages: &mut [Passage],
    cache: &mut ReadCache<'_>,
) -> Result<Option<String>> {
    let top = passages.len().min(rerank.top);
    let Some(first) = passages.get_mut(..top).filter(|first| first.len() > 1) else {
        return Ok(None);
    };
    // The words of documents that are listed are not what is searched for.
    if plan.browses_documents() || !has_words(&plan.text) {
        return Ok(None);
    }
    let mut texts = Vec::with_capacity(first.len());
    for passage in &*first {
        sources.tick()?;
        texts.push(text_of(passage, sources, cache)?);
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let scores = rerank.model.scores(&plan.text, &texts);
    let scores = scores.and_then(|scores| match scores.iter().all(|it| it.is_finite()) {
        true if scores.len() == texts.len() => Ok(scores),
        true => Err(EmbedError::Count {
            expected: texts.len(),
            got: scores.len(),
        }),
        false => Err(EmbedError::NotFinite),
    });
    sources.tick()?;
    match scores {
        Ok(scores) => {
            for (passage, score) in first.iter_mut().zip(scores) {
                passage.reranked = Some(score);
            }
            // Passages of one number stay in their order.
            first.sort_by(|a, b| {
                let of = |passage: &Passage| passage.reranked.unwrap_or(f32::NEG_INFINITY);
                of(b).total_cmp(&of(a))
            });
            Ok(None)
        }
        Err(EmbedError::Stopped) => Err(Error::Cancelled),
        Err(error) => {
            let name = rerank.model.name();
            Ok(Some(format!(
                "the first hits are not ordered by {name}: {error}"
            )))
        }
    }
}

/// What a model reads of a passage: the title of its document, and its best chunk.
fn text_of(passage: &Passage, sources: &Sources<'_>, cache: &mut ReadCache<'_>) -> Result<String> {
    let address = passage.best.address;
    let file = sources.file_of(address.segment);
    let id = match passage.document {
        Some(id) => id,
        None => sources.document_of(address)?,
    };
    let mut text = cache.records.get(file, id)?.title.clone();
    text.push('\n');
    if !passage.rows.is_empty() {
        let rows = address.row..address.row.saturating_add(1);
        text.push_str(&cache.texts.rows(address.segment, rows)?);
    }
    text.truncate(text.floor_char_boundary(PASSAGE_LIMIT_BYTES));
    Ok(text)
}
