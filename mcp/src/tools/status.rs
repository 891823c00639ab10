//! `get_status`: whether documents are fully indexed.

use std::sync::Arc;

use serde_json::json;

use super::arguments::Arguments;
use super::{Call, choose};
use crate::answer::{Answer, Object, Text, ToolError, insert_warnings, object};
use crate::indexes::{Index, JobState};

/// Names of finished documents that are told.
const COMPLETED_LIMIT: usize = 50;

pub(super) fn call(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let indexes = match arguments.index_name() {
        Some(name) => vec![call.indexes.named(name)?],
        None => call.indexes.list(),
    };
    let warnings = arguments.warnings();
    let mut text = Text::new();
    text.warnings(&warnings);
    let mut structured = match arguments.text("document_id") {
        Some(name) => of_document(call, arguments, &indexes, name)?,
        None => of_all(&indexes)?,
    };
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
    Ok(Answer { structured, text })
}

/// A job of that path, else a document that is there.
fn of_document(
    call: &Call<'_>,
    arguments: &Arguments,
    indexes: &[Arc<Index>],
    name: &str,
) -> Result<Object, ToolError> {
    let job = indexes.iter().find_map(|index| index.jobs().get(name));
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
            choose::document(call, arguments, name)?;
            json!({"status": "ready", "progress": 100, "message": "DOCUMENT_READY"})
        }
    }))
}

/// What is under way, what went wrong, and what is there.
fn of_all(indexes: &[Arc<Index>]) -> Result<Object, ToolError> {
    let (mut processing, mut failed) = (Vec::new(), Vec::new());
    let (mut completed, mut count) = (Vec::new(), 0u64);
    for index in indexes {
        for job in index.jobs().list() {
            match job.state {
                JobState::Running(_) => processing.push(job.path),
                JobState::Failed(why) => failed.push(format!("{}: {why}", job.path)),
            }
        }
        count = count.saturating_add(index.kb().state()?.documents);
        let wanted = COMPLETED_LIMIT.saturating_sub(completed.len());
        let some = index.kb().documents_after(None, wanted)?;
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
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn what_is_there_is_ready() {
        let bench = Bench::guides();
        let answer = bench.answer("get_status", json!({"document_id": "sails.md"}));
        let expected = json!({"status": "ready", "progress": 100, "message": "DOCUMENT_READY"});
        assert_eq!(serde_json::Value::Object(answer.structured), expected);
        let error = bench.error("get_status", json!({"document_id": "none.md"}));
        assert_eq!(error.code, "DOCUMENT_NOT_FOUND");
        let answer = bench.answer("get_status", json!({}));
        assert_eq!(answer.structured["status"], "ready");
        assert_eq!(answer.structured["completed_count"], 9);
        assert_eq!(answer.structured["completed"].as_array().unwrap().len(), 9);
    }

    #[test]
    fn what_is_under_way_or_failed_is_told() {
        let bench = Bench::guides();
        let index = bench.index();
        index.jobs().set("big.md", JobState::Running(74));
        index
            .jobs()
            .set("bad.md", JobState::Failed("no text".to_owned()));
        let answer = bench.answer("get_status", json!({"document_id": "big.md"}));
        let expected =
            json!({"status": "processing", "progress": 74, "message": "DOCUMENT_PROCESSING"});
        assert_eq!(serde_json::Value::Object(answer.structured), expected);
        let answer = bench.answer("get_status", json!({"document_id": "bad.md"}));
        assert_eq!(answer.structured["status"], "failed");
        assert_eq!(answer.structured["detail"], "no text");
        let answer = bench.answer("get_status", json!({}));
        assert_eq!(answer.structured["processing"], json!(["big.md"]));
        assert_eq!(answer.structured["status"], "processing");
        assert!(answer.text.contains("bad.md: no text"));
    }
}
