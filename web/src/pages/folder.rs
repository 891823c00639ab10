//! A folder: what is in it, and what was left out.

use axum::http::StatusCode;
use kb_engine::{Cursor, Entry, PageOptions};
use maud::{Markup, html};

use super::layout::{Layout, page as layout_page};
use crate::answer::{Answer, Problem};
use crate::site::{Shared, Visit};
use crate::text::numbers::{counted, day};

/// Tokens of names on one page: some 500 entries.
const PAGE_TOKENS: u32 = 20_000;

/// The folder of that name; the empty name is the top.
pub(crate) fn page(visit: &Visit, file: &str, folder: &str) -> Result<Answer, Problem> {
    let site = &visit.site;
    let open = site.file(file)?;
    let folder = folder.trim_end_matches('/');
    let mut options = PageOptions::default().max_tokens(PAGE_TOKENS);
    options.cursor = visit.parameters.first("cursor").map(Cursor::from);
    let named = (!folder.is_empty()).then_some(folder);
    let entries = open.kb().list(named, &options)?;
    let skipped = open
        .kb()
        .skipped(named, &PageOptions::default().max_tokens(2000))?;
    let body = html! {
        (crumbs(site, file, folder))
        @if visit.form_key.is_some() {
            p { a href=(site.links.upload(file, folder)) { "Upload" } }
        }
        table.listing {
            caption.hidden { "Contents" }
            thead { tr { th scope="col" { "Name" } th.number scope="col" { "Size" } th.date scope="col" { "Changed" } } }
            tbody {
                @for entry in &entries.items {
                    (row(site, file, folder, entry))
                }
            }
        }
        @if let Some(next) = &entries.next {
            p { a rel="next" href={ (site.links.folder(file, folder)) "?cursor=" (kb_engine::percent::encode(next.as_str(), false)) } { "More" } }
        }
        @if !skipped.items.is_empty() {
            details.skipped {
                summary { "Left out" }
                table.listing {
                    tbody {
                        @for file in &skipped.items {
                            tr { td { (file.path) } td { (file.reason) } }
                        }
                    }
                }
            }
        }
    };
    let title = if folder.is_empty() { file } else { folder };
    let layout = Layout {
        title,
        is_for_strangers: false,
        file: Some(file),
        search: None,
        body,
    };
    Ok(layout_page(site, StatusCode::OK, &layout))
}

fn row(site: &Shared, file: &str, folder: &str, entry: &Entry) -> Markup {
    match entry {
        Entry::Folder {
            path,
            documents,
            size_bytes,
            ..
        } => html! {
            tr {
                td { a.folder href=(site.links.folder(file, path)) { (last(path, folder)) "/" } " " span.quiet { (counted(*documents, "document")) } }
                td.number { (kb_json::bytes(*size_bytes)) }
                td.date {}
            }
        },
        Entry::Document(document) => html! {
            tr {
                td {
                    a href=(site.links.document(file, &document.path)) { (last(&document.path, folder)) }
                    @if !document.path.ends_with(&document.title) { " " span.quiet { (document.title) } }
                    @for tag in &document.tags { " " span.tag { (tag) } }
                }
                td.number { (kb_json::bytes(document.size_bytes)) }
                td.date { (day(document.modified_ms)) }
            }
        },
    }
}

/// A path without that of the folder that it is listed in.
fn last<'p>(path: &'p str, folder: &str) -> &'p str {
    let rest = path.strip_prefix(folder).unwrap_or(path);
    rest.trim_start_matches('/')
}

/// The way from the top to a path, each part a link but the last.
pub(super) fn crumbs(site: &Shared, file: &str, path: &str) -> Markup {
    let mut parts: Vec<(String, &str)> = Vec::new();
    let mut end = 0;
    for part in path.split('/').filter(|part| !part.is_empty()) {
        end = path
            .get(end..)
            .and_then(|rest| rest.find(part))
            .map_or(end, |at| end + at + part.len());
        parts.push((path.get(..end).unwrap_or_default().to_owned(), part));
    }
    let last = parts.pop();
    html! {
        nav.crumbs aria-label="Place" {
            @if last.is_none() {
                h1 { (file) }
            } @else {
                a href=(site.links.folder(file, "")) { (file) }
            }
            @for (path, part) in &parts {
                span { "/" } a href=(site.links.folder(file, path)) { (part) }
            }
            @if let Some((_, part)) = &last { span { "/" } h1 { (part) } }
        }
    }
}
