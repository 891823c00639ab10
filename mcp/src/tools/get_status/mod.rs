//! `get_status`: whether documents are fully indexed.

mod models;

use std::fmt::Display;
use std::sync::Arc;

use kb_engine::{DocumentInfo, ListScope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::models::{ModelStatus, models, tokens};
use super::call::budget::{self, Attempt};
use super::call::context::Context;
use super::call::params::{ContinuationToken, DocumentName, IndexName, MaxTokens};
use super::call::tool::Tool;
use super::call::{hits, stale};
use crate::indexes::{Index, Job, JobState, each};
use crate::response::envelope::Continuation;
use crate::response::{Text, ToolError, ToolResponse, Warnings, cut, time, uri};

/// Most names of finished documents in a result.
const COMPLETED_LIMIT: usize = 50;

/// Tokens of an index beside its names.
const FACTS_TOKENS: u64 = 60;

pub(super) struct GetStatus;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetStatusParams {
    document_id: Option<DocumentName>,
    index_name: Option<IndexName>,
    #[serde(default)]
    max_tokens: MaxTokens,
    continuation_token: Option<ContinuationToken>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Status {
    /// State
    status: State,
    /// Percent.
    #[schemars(range(min = 0, max = 100))]
    progress: Option<u32>,
    /// Code such as READY, DOCUMENT_READY, DOCUMENT_PROCESSING, DOCUMENT_FAILED.
    message: &'static str,
    detail: Option<String>,
    /// Documents being processed.
    processing: Option<Vec<String>>,
    /// Most recently finished documents.
    completed: Option<Vec<String>>,
    completed_count: Option<u64>,
    /// Each index on its own.
    indexes: Option<Vec<IndexStatus>>,
    continuation: Option<Continuation>,
    warnings: Option<Warnings>,
}

#[derive(Clone, Serialize, JsonSchema)]
struct IndexStatus {
    index_name: String,
    /// processing while this server or another program writes it.
    status: State,
    documents: u64,
    /// Source files whose symbols are not indexed yet; their text is.
    symbols_pending: Option<u64>,
    /// Files that were not read; list_documents with skipped=true names them.
    skipped: u64,
    /// ISO 8601.
    updated: String,
    /// Documents whose files changed or were deleted since; absent if not known.
    stale_count: Option<u64>,
    /// The first of them.
    stale: Option<Vec<String>>,
    /// Files that are not indexed yet; absent if not known.
    new_files: Option<u64>,
    /// Another program that writes it now.
    writer: Option<String>,
    /// Since when it writes. ISO 8601.
    writing_since: Option<String>,
    /// Models beside the built-in one.
    models: Option<Vec<ModelStatus>>,
}

impl IndexStatus {
    fn of(index: &Index, state: &kb_engine::State) -> Result<IndexStatus, ToolError> {
        let skipped = index.kb().skipped_reasons();
        let skipped = skipped.map_err(|error| index.failure(error))?;
        let changes = index.staleness().changes;
        let writer = index.other_writer();
        let is_busy = writer.is_some() || index.jobs().list().iter().any(is_running);
        let (writer, since) = writer.unzip();
        Ok(IndexStatus {
            index_name: index.name().to_owned(),
            status: if is_busy {
                State::Processing
            } else {
                State::Ready
            },
            documents: state.documents,
            symbols_pending: index.kb().symbols_pending().ok().filter(|count| *count > 0),
            skipped: skipped.iter().map(|(_, files)| files).sum(),
            updated: time::rfc3339(state.updated_ms),
            stale_count: changes
                .as_ref()
                .map(|changes| changes.updated + changes.removed),
            new_files: changes.as_ref().map(|changes| changes.added),
            stale: changes
                .map(|changes| changes.names)
                .filter(|names| !names.is_empty()),
            writer,
            writing_since: since,
            models: models(index)?,
        })
    }

    /// With as many of its names as fit.
    fn within(&self, budget: u32) -> IndexStatus {
        IndexStatus {
            stale: self.stale.as_ref().map(|names| names_within(names, budget)),
            ..self.clone()
        }
    }

    /// The same as text.
    fn show(&self, text: &mut Text) {
        let state = match self.status {
            State::Processing => "processing",
            _ => "ready",
        };
        text.line(format!("index {}: {state}", self.index_name));
        let number = |number: Option<u64>| number.map_or_else(String::new, |it| it.to_string());
        text.facts(&[
            ("documents", Some(&self.documents)),
            ("symbols pending", Some(&number(self.symbols_pending))),
            ("skipped files", Some(&self.skipped)),
            ("updated", Some(&self.updated)),
            ("stale documents", Some(&number(self.stale_count))),
            ("new files", Some(&number(self.new_files))),
            (
                "written by",
                self.writer.as_ref().map(|it| it as &dyn Display),
            ),
            (
                "since",
                self.writing_since.as_ref().map(|it| it as &dyn Display),
            ),
        ]);
        for model in self.models.iter().flatten() {
            model.show(text);
        }
        for name in self.stale.iter().flatten() {
            text.line(format!("stale: {name}"));
        }
    }

    /// Tokens of what has no fixed length.
    fn tokens(&self) -> u64 {
        let models = self.models.iter().flatten();
        FACTS_TOKENS + tokens_of(self.stale.as_ref()) + models.map(ModelStatus::tokens).sum::<u64>()
    }
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum State {
    Ready,
    Processing,
    Failed,
    #[expect(dead_code, reason = "published; what nobody knows is an error so far")]
    Unknown,
}

impl Status {
    fn new(status: State, message: &'static str) -> Status {
        Status {
            status,
            progress: None,
            message,
            detail: None,
            processing: None,
            completed: None,
            completed_count: None,
            indexes: None,
            continuation: None,
            warnings: None,
        }
    }
}

impl Status {
    /// With as many of its names as fit, each list in a third.
    fn within(&self, budget: u32) -> Status {
        let within = |names: &Option<Vec<String>>| {
            names.as_ref().map(|names| names_within(names, budget / 3))
        };
        let most = usize::try_from(budget)
            .unwrap_or(usize::MAX)
            .saturating_mul(4)
            / 3;
        Status {
            detail: self.detail.as_ref().map(|it| cut(it, most).into_owned()),
            processing: within(&self.processing),
            completed: within(&self.completed),
            completed_count: self.completed_count,
            ..Status::new(self.status, self.message)
        }
    }
}

impl Tool for GetStatus {
    const NAME: &'static str = "get_status";
    const TITLE: &'static str = "Ingestion status";
    const DESCRIPTION: &'static str = "Whether a document is indexed, else jobs and, per index, skipped files, \
        changed sources, models, writers.";

    type Params = GetStatusParams;
    type Output = Status;

    fn run(cx: &Context<'_>, params: &GetStatusParams) -> Result<ToolResponse, ToolError> {
        let (indexes, making) = scope(cx, params.index_name.as_deref())?;
        let mut warnings = cx.warnings.clone();
        if let Some(name) = &params.document_id {
            let status = of_document(cx, params, &indexes, name, &mut warnings)?;
            return Ok(respond(status, warnings));
        }
        let (status, of_indexes) = of_all(&indexes, making, &mut warnings)?;
        let uuids: Vec<String> = indexes
            .iter()
            .map(|index| {
                index
                    .kb()
                    .state()
                    .map_or_else(|_| String::new(), |it| it.uuid)
            })
            .collect();
        let files: Vec<(&str, u64)> = uuids.iter().map(|uuid| (&**uuid, 0)).collect();
        let list = ListScope::new("status", &files);
        let token = params.continuation_token.as_deref();
        let start = cx.list_start(&list, of_indexes.len(), token)?;
        let left = of_indexes.get(start..).unwrap_or_default();
        budget::fit(params.max_tokens.get(), |budget| {
            // The jobs of all indexes are on the first page.
            let (mut page, for_jobs) = if start == 0 {
                (status.within(budget / 2), budget / 2)
            } else {
                (Status::new(status.status, status.message), 0)
            };
            let shown = left.iter().map(|index| index.within(budget / 4));
            let shown: Vec<IndexStatus> = shown.collect();
            let tokens = shown.iter().map(IndexStatus::tokens);
            let count = budget::count_that_fits(tokens, budget - for_jobs);
            let shown = shown.into_iter().take(count).collect::<Vec<_>>();
            let next = cx.list_next(&list, of_indexes.len(), start + count);
            page.continuation = next.map(|token| Continuation::of(Some(token.as_str())));
            page.indexes = Some(shown);
            Ok(Attempt {
                can_shrink: budget > 1,
                tokens: budget.into(),
                response: respond(page, warnings.clone()),
            })
        })
    }
}

fn respond(mut status: Status, warnings: Vec<String>) -> ToolResponse {
    let mut text = Text::new();
    text.warnings(&warnings);
    let fields = ToolResponse::new(&status, String::new()).structured;
    let is_shown_below = |name: &str| name == "indexes" || name == "continuation";
    for (name, value) in fields.iter().filter(|(name, _)| !is_shown_below(name)) {
        text.field(name, value);
    }
    for index in status.indexes.iter().flatten() {
        index.show(&mut text);
    }
    status.warnings = Warnings::of(warnings);
    let continuation = status.continuation.as_ref();
    let token = continuation
        .and_then(Continuation::token)
        .map(str::to_owned);
    ToolResponse::new(&status, text.continued(hits::lead(true), token.as_deref()))
}

/// The first names that fit, and at least one.
fn names_within(names: &[String], budget: u32) -> Vec<String> {
    let count = budget::count_that_fits(names.iter().map(|name| tokens(name)), budget);
    names.iter().take(count).cloned().collect()
}

fn tokens_of(names: Option<&Vec<String>>) -> u64 {
    names.into_iter().flatten().map(|name| tokens(name)).sum()
}

/// The indexes of that name, or all, and the jobs that make new ones: an index that is being made has a
/// name already.
fn scope(cx: &Context<'_>, name: Option<&str>) -> Result<(Vec<Arc<Index>>, Vec<Job>), ToolError> {
    let making = cx.indexes.making().list().into_iter();
    let mut making: Vec<Job> = making
        .filter(|job| name.is_none_or(|name| name == job.path))
        // A failed one may have been made by a later call.
        .filter(|job| is_running(job) || cx.indexes.named(&job.path).is_err())
        .collect();
    let Some(name) = name else {
        return Ok((cx.indexes.list(), making));
    };
    match cx.indexes.named(name) {
        Ok(index) => {
            making.clear();
            Ok((vec![index], making))
        }
        Err(_) if !making.is_empty() => Ok((Vec::new(), making)),
        Err(error) => Err(error),
    }
}

/// The state of a job of that path, else of a document that is there.
fn of_document(
    cx: &Context<'_>,
    params: &GetStatusParams,
    indexes: &[Arc<Index>],
    name: &str,
    warnings: &mut Vec<String>,
) -> Result<Status, ToolError> {
    // The jobs of a document are found by its path in its index.
    let uri = uri::parse(name);
    let (path, of) = match &uri {
        Some(uri) => (uri.path.as_str(), Some(cx.indexes.named(&uri.index)?)),
        None => (name, None),
    };
    let indexes = of.as_ref().map_or(indexes, std::slice::from_ref);
    let job = indexes.iter().find_map(|index| {
        let job = index.jobs().get(path)?;
        (!is_past(index, &job)).then_some(job.state)
    });
    Ok(match job {
        Some(JobState::Running(progress)) => Status {
            progress: Some(progress.min(100).into()),
            ..Status::new(State::Processing, "DOCUMENT_PROCESSING")
        },
        Some(JobState::Failed(why)) => Status {
            detail: Some(why),
            ..Status::new(State::Failed, "DOCUMENT_FAILED")
        },
        None => {
            let name_of_index = params.index_name.as_deref();
            let located = cx.indexes.document(name_of_index, name)?;
            warnings.extend(stale::of_document(&located.index, &located.document));
            Status {
                progress: Some(100),
                ..Status::new(State::Ready, "DOCUMENT_READY")
            }
        }
    })
}

fn is_running(job: &Job) -> bool {
    matches!(job.state, JobState::Running(_))
}

/// Whether a job failed whose document came another way since.
fn is_past(index: &Index, job: &Job) -> bool {
    let is_other = |document: DocumentInfo| job.before.as_ref() != Some(&document.revision);
    let now = || index.kb().document_at(&job.path).ok().flatten();
    !is_running(job) && now().is_some_and(is_other)
}

/// What is processing, what failed, and what is done.
fn of_all(
    indexes: &[Arc<Index>],
    making: Vec<Job>,
    warnings: &mut Vec<String>,
) -> Result<(Status, Vec<IndexStatus>), ToolError> {
    let mut jobs = making;
    for index in indexes {
        let of_index = index.jobs().list().into_iter();
        jobs.extend(of_index.filter(|job| !is_past(index, job)));
    }
    let (mut processing, mut failed) = (Vec::new(), Vec::new());
    for job in jobs {
        match job.state {
            JobState::Running(_) => processing.push(job.path),
            JobState::Failed(why) => failed.push(format!("{}: {why}", job.path)),
        }
    }
    let (mut completed, mut count) = (Vec::new(), 0u64);
    let mut of_indexes = Vec::new();
    let states = each(indexes, warnings, |index| index.kb().state())?;
    for (index, state) in states {
        warnings.extend(stale::file_gone(&index));
        count = count.saturating_add(state.documents);
        of_indexes.push(IndexStatus::of(&index, &state)?);
        let wanted = COMPLETED_LIMIT.saturating_sub(completed.len());
        let documents = index.kb().documents_after(None, wanted);
        let documents = documents.map_err(|error| index.failure(error))?;
        completed.extend(documents.into_iter().map(|document| document.path));
    }
    processing.truncate(COMPLETED_LIMIT);
    failed.truncate(COMPLETED_LIMIT);
    let is_busy = of_indexes.iter().any(|index| index.writer.is_some());
    let (state, message) = if processing.is_empty() && !is_busy {
        (State::Ready, "READY")
    } else {
        (State::Processing, "PROCESSING")
    };
    let status = Status {
        detail: (!failed.is_empty()).then(|| format!("failed: {}", failed.join("; "))),
        processing: Some(processing),
        completed: Some(completed),
        completed_count: Some(count),
        ..Status::new(state, message)
    };
    Ok((status, of_indexes))
}

#[cfg(test)]
mod tests;
