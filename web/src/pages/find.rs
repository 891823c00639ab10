//! Finding a document by a part of its name.

use std::sync::atomic::AtomicBool;

use axum::http::StatusCode;
use maud::html;

use super::layout::{Layout, page as layout_page};
use crate::answer::{Answer, Problem, html as answer_html};
use crate::finder::find;
use crate::site::Visit;
use crate::text::numbers::counted;

/// Most names that are listed.
const NAMES: usize = 50;

/// The documents whose paths have what was typed, or whose titles have its words. With `part=list` only the list, for the
/// script.
pub(crate) fn page(visit: &Visit, cancel: &AtomicBool) -> Result<Answer, Problem> {
    let typed = visit.parameters.first("q").unwrap_or_default();
    let found = find(&visit.site, typed, NAMES, cancel)?;
    let several = visit.site.files.list().len() > 1;
    let list = html! {
        ol.names {
            @for (file, path) in &found {
                li { a href=(visit.site.links.document(file, path)) {
                    @if several { span.quiet { (file) " / " } }
                    (path)
                } }
            }
        }
    };
    if visit.parameters.has("part", "list") {
        return Ok(answer_html(StatusCode::OK, list));
    }
    let body = html! {
        section.narrow {
            h1 { "Find a document" }
            form.stacked action=(visit.site.links.page("find")) {
                label for="name" { "A part of its path or title" }
                input id="name" name="q" type="search" value=(typed) autocomplete="off";
                button type="submit" { "Find" }
            }
            @if !typed.is_empty() {
                p role="status" { (counted(found.len() as u64, "document")) }
            }
            (list)
        }
    };
    let layout = Layout {
        title: "Find a document",
        is_for_strangers: false,
        file: None,
        search: None,
        body,
    };
    Ok(layout_page(&visit.site, StatusCode::OK, &layout))
}
