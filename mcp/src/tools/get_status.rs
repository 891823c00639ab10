//! `get_status`: whether documents are fully indexed.

use std::sync::Arc;

use kb_engine::DocumentInfo;
use serde_json::json;

use super::call::arguments::Arguments;
use super::call::{Call, resolve};
use crate::indexes::{Index, Job, JobState, each};
use crate::response::{Object, Text, ToolError, ToolResponse, insert_warnings, object, uri};

/// Names of finished documents that are told.
const COMPLETED_LIMIT: usize = 50;

pub(super) fn call(call: &Call<'_>, arguments: &Arguments) -> Result<ToolResponse, ToolError> {
    // An index that is being made has a name already.
    let made = arguments.index_name();
    let making = call.indexes.making().list().into_iter();
    let mut making: Vec<Job> = making
        .filter(|job| made.is_none_or(|name| name == job.path))
        // It was made in the end.
        .filter(|job| is_running(job) || call.indexes.named(&job.path).is_err())
        .collect();
    let indexes = match made {
        Some(name) => match call.indexes.named(name) {
            Ok(index) => {
                making.clear();
                vec![index]
            }
            Err(_) if !making.is_empty() => Vec::new(),
            Err(error) => return Err(error),
        },
        None => call.indexes.list(),
    };
    let mut warnings = arguments.warnings();
    let mut structured = match arguments.text("document_id") {
        Some(name) => of_document(call, arguments, &indexes, name)?,
        None => of_all(&indexes, making, &mut warnings)?,
    };
    let mut text = Text::new();
    text.warnings(&warnings);
    for (name, value) in &structured {
        let words = value.as_array().map(|list| {
            let words = list.iter().filter_map(|word| word.as_str());
            words.collect::<Vec<_>>().join(", ")
        });
        let words = words.or_else(|| value.as_str().map(str::to_owned));
        text.line(format!(
            "{name}: {}",
            words.unwrap_or_else(|| value.to_string())
        ));
    }
    insert_warnings(&mut structured, &warnings);
    let text = text.end();
    Ok(ToolResponse { structured, text })
}

/// A job of that path, else a document that is there.
fn of_document(
    call: &Call<'_>,
    arguments: &Arguments,
    indexes: &[Arc<Index>],
    name: &str,
) -> Result<Object, ToolError> {
    // The jobs of a document are known by its path in its index.
    let uri = uri::parse(name);
    let (path, of) = match &uri {
        Some(uri) => (uri.path.as_str(), Some(call.indexes.named(&uri.index)?)),
        None => (name, None),
    };
    let indexes = of.as_ref().map_or(indexes, std::slice::from_ref);
    let job = indexes.iter().find_map(|index| {
        let job = index.jobs().get(path)?;
        (!is_past(index, &job)).then_some(job.state)
    });
    Ok(object(match job {
        Some(JobState::Running(progress)) => json!({
            "status": "processing",
            "progress": progress.min(100),
            "message": "DOCUMENT_PROCESSING",
        }),
        Some(JobState::Failed(why)) => json!({
            "status": "failed",
            "message": "DOCUMENT_FAILED",
            "detail": why,
        }),
        None => {
            resolve::document(call, arguments, name)?;
            json!({"status": "ready", "progress": 100, "message": "DOCUMENT_READY"})
        }
    }))
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

/// What is under way, what went wrong, and what is there.
fn of_all(
    indexes: &[Arc<Index>],
    making: Vec<Job>,
    warnings: &mut Vec<String>,
) -> Result<Object, ToolError> {
    let mut jobs = making;
    for index in indexes {
        let some = index.jobs().list().into_iter();
        jobs.extend(some.filter(|job| !is_past(index, job)));
    }
    let (mut processing, mut failed) = (Vec::new(), Vec::new());
    for job in jobs {
        match job.state {
            JobState::Running(_) => processing.push(job.path),
            JobState::Failed(why) => failed.push(format!("{}: {why}", job.path)),
        }
    }
    let (mut completed, mut count) = (Vec::new(), 0u64);
    let states = each(indexes, warnings, |index| index.kb().state())?;
    for (index, state) in states {
        count = count.saturating_add(state.documents);
        let wanted = COMPLETED_LIMIT.saturating_sub(completed.len());
        let some = index.kb().documents_after(None, wanted);
        let some = some.map_err(|error| index.failure(error))?;
        completed.extend(some.into_iter().map(|document| document.path));
    }
    processing.truncate(COMPLETED_LIMIT);
    failed.truncate(COMPLETED_LIMIT);
    let (status, message) = match processing.is_empty() {
        true => ("ready", "READY"),
        false => ("processing", "PROCESSING"),
    };
    let failed = (!failed.is_empty()).then(|| format!("failed: {}", failed.join("; ")));
    Ok(object(json!({
        "status": status,
        "message": message,
        "detail": failed,
        "processing": processing,
        "completed": completed,
        "completed_count": count,
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::Fixture;

    #[test]
    fn what_is_there_is_ready() {
        let fixture = Fixture::guides();
        let answer = fixture.answer("get_status", json!({"document_id": "sails.md"}));
        let expected = json!({"status": "ready", "progress": 100, "message": "DOCUMENT_READY"});
        assert_eq!(serde_json::Value::Object(answer.structured), expected);
        let error = fixture.error("get_status", json!({"document_id": "none.md"}));
        assert_eq!(error.code, "DOCUMENT_NOT_FOUND");
        let answer = fixture.answer("get_status", json!({}));
        assert_eq!(answer.structured["status"], "ready");
        assert_eq!(answer.structured["completed_count"], 9);
        assert_eq!(answer.structured["completed"].as_array().unwrap().len(), 9);
    }

    #[test]
    fn what_is_under_way_or_failed_is_told() {
        let fixture = Fixture::guides();
        let index = fixture.index();
        let big = index.jobs().begin("big.md", None).unwrap();
        big.progress(74);
        let bad = index.jobs().begin("bad.md", None).unwrap();
        bad.failed("no text".to_owned());
        let answer = fixture.answer("get_status", json!({"document_id": "big.md"}));
        let expected =
            json!({"status": "processing", "progress": 74, "message": "DOCUMENT_PROCESSING"});
        assert_eq!(serde_json::Value::Object(answer.structured), expected);
        let answer = fixture.answer("get_status", json!({"document_id": "bad.md"}));
        assert_eq!(answer.structured["status"], "failed");
        assert_eq!(answer.structured["detail"], "no text");
        let answer = fixture.answer("get_status", json!({}));
        assert_eq!(answer.structured["processing"], json!(["big.md"]));
        assert_eq!(answer.structured["status"], "processing");
        assert!(answer.text.contains("bad.md: no text"));
    }
    #[test]
    fn a_job_is_found_by_the_address_of_its_document() {
        let fixture = Fixture::guides();
        let bad = fixture.index().jobs().begin("bad.md", None).unwrap();
        bad.failed("no text".to_owned());
        let given = json!({"document_id": uri::of_document("guides", "bad.md")});
        assert_eq!(
            fixture.answer("get_status", given).structured["status"],
            "failed"
        );
    }

    #[test]
    fn a_failure_is_past_when_the_document_came_another_way() {
        let fixture = Fixture::guides();
        let bad = fixture.index().jobs().begin("bad.md", None).unwrap();
        bad.failed("no text".to_owned());
        fixture.add("bad.md", "text");
        let status = fixture.answer("get_status", json!({"document_id": "bad.md"}));
        assert_eq!(status.structured["status"], "ready");
        let all = fixture.answer("get_status", json!({}));
        assert!(all.structured.get("detail").is_none());
    }

    #[test]
    fn an_index_that_could_not_be_made_is_told_of_until_it_is_there() {
        let fixture = Fixture::guides();
        let told = || {
            let answer = fixture.answer("get_status", json!({}));
            answer.structured.get("detail").cloned()
        };
        drop(fixture.indexes.making().begin("new", None).unwrap());
        assert_eq!(told(), Some(json!("failed: new: it stopped unexpectedly")));
        let place = fixture.indexes.reserve("new").unwrap();
        let path = fixture.path().join("guides.kb");
        place.open(&path, |_| Ok(true)).unwrap().unwrap();
        assert_eq!(told(), None);
    }
}
