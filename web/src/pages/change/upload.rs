//! Uploading files.

use axum::body::Bytes;
use axum::http::StatusCode;
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::{check_key, key};
use crate::answer::{Answer, Problem};
use crate::changes::{Change, Form, Stored};
use crate::pages::layout::{Layout, page as layout_page};
use crate::site::Visit;
use crate::text::numbers::counted;

/// The form.
pub(crate) fn page(visit: &Visit, file: &str) -> Result<Answer, Problem> {
    visit.site.file(file)?;
    let folder = visit.parameters.first("folder").unwrap_or_default();
    made(visit, file, folder, "", &[])
}

/// Takes the form: the same page, with what became of each file.
pub(crate) async fn taken(
    visit: &Visit,
    file: &str,
    content_type: &str,
    body: &Bytes,
) -> Result<Answer, Problem> {
    let change = Change::of(visit, file)?;
    let form = Form::read(content_type, body)?;
    check_key(visit, &form.text("key"))?;
    let stored = change.store_all(&form).await?;
    made(
        visit,
        file,
        &form.text("folder"),
        &form.text("tags"),
        &stored,
    )
}

fn made(
    visit: &Visit,
    file: &str,
    folder: &str,
    tags: &str,
    stored: &[Stored],
) -> Result<Answer, Problem> {
    let site = &visit.site;
    let body = html! {
        section.narrow {
            h1 { "Upload to " (file) }
            form.stacked.upload id="upload" method="post" enctype="multipart/form-data" action=(site.links.upload(file, ""))
                data-documents=(site.links.page(&format!("api/v1/document/{}/", kb_engine::percent::encode(file, false))))
                data-pages=(site.links.document(file, "")) {
                input type="hidden" name="key" value=(key(visit)?);
                label for="files" { "Files" }
                input id="files" type="file" name="file" multiple required;
                label for="folder" { "Folder" }
                input id="folder" name="folder" value=(folder) autocomplete="off";
                label for="tags" { "Tags, with commas between" }
                input id="tags" name="tags" value=(tags) autocomplete="off";
                button type="submit" { "Upload" }
            }
            p.quiet { "Text, Markdown, programs, PDF and office files of at most 10 MB each. A document of the same path is replaced." }
            div role="status" aria-label="Uploads" {
                ul.uploads id="uploads" {
                    @for (path, result) in stored { (row(visit, file, path, result)) }
                }
            }
        }
    };
    let layout = Layout {
        title: "Upload",
        is_for_strangers: false,
        file: Some(file),
        search: None,
        body,
    };
    let has_failed = stored.iter().any(|(_, result)| result.is_err());
    let status = if has_failed && stored.iter().all(|(_, result)| result.is_err()) {
        StatusCode::BAD_REQUEST
    } else {
        StatusCode::OK
    };
    Ok(layout_page(site, status, &layout))
}

fn row(
    visit: &Visit,
    file: &str,
    path: &str,
    result: &Result<Map<String, Value>, Problem>,
) -> Markup {
    html! {
        li {
            @match result {
                Ok(stored) => {
                    a href=(visit.site.links.document(file, path)) { (path) } " "
                    span.quiet {
                        @match stored.get("chunkCount").and_then(Value::as_u64) {
                            Some(chunks) => (counted(chunks, "chunk")),
                            None => "is stored once the file can be written",
                        }
                    }
                }
                Err(problem) => { (path) " " span.wrong { (problem.message) } }
            }
        }
    }
}
