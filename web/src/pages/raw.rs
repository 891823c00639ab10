//! The text of a document as it is stored.

use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, HeaderValue};
use kb_engine::{file_types, percent};

use crate::answer::{Answer, Problem, answer as make_answer};
use crate::site::Visit;

/// The text, as plain text whatever the document is, to be saved under its name.
pub(crate) fn answer(visit: &Visit, file: &str, document: &str) -> Result<Answer, Problem> {
    let file = visit.site.file(file)?;
    let text = file.kb().text(document, None)?;
    let mut name = text
        .document
        .path
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_owned();
    let media_type = file_types::mime(&text.document.file_type);
    if !media_type.starts_with("text/") || text.document.has_own_lines {
        // The text that was read out of it is not the file.
        name.push_str(".txt");
    }
    let disposition = format!(
        "attachment; filename*=UTF-8''{}",
        percent::encode(&name, false)
    );
    let mut response = make_answer(StatusCode::OK, "text/plain; charset=utf-8", text.text);
    if let Ok(disposition) = HeaderValue::from_str(&disposition) {
        response
            .headers_mut()
            .insert(CONTENT_DISPOSITION, disposition);
    }
    Ok(response)
}
