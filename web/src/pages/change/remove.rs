//! Removing a document, once it was confirmed.

use std::sync::atomic::AtomicBool;

use axum::http::StatusCode;
use maud::html;

use super::{check_key, key};
use crate::answer::{Answer, Problem, redirect};
use crate::changes::Change;
use crate::pages::layout::{Layout, page as layout_page};
use crate::parameters::Parameters;
use crate::site::Visit;

/// Asks whether to remove it.
pub(crate) fn page(visit: &Visit, file: &str, document: &str) -> Result<Answer, Problem> {
    let site = &visit.site;
    let key = key(visit)?;
    let found = site.file(file)?.kb().document(document)?;
    let body = html! {
        section.narrow {
            h1 { "Remove this document?" }
            p { a href=(site.links.document(file, &found.path)) { (found.path) } " of " (file) }
            p { "It is removed from the .kb file for good. The file that it was made from stays where it is, and is read again if its folder is indexed again." }
            form.stacked method="post" action=(site.links.remove(file, &found.path)) {
                input type="hidden" name="key" value=(key);
                button.danger type="submit" { "Remove" }
            }
        }
    };
    let layout = Layout {
        title: "Remove",
        is_for_strangers: false,
        file: Some(file),
        search: None,
        body,
    };
    Ok(layout_page(site, StatusCode::OK, &layout))
}

/// Removes it, and shows its folder.
pub(crate) async fn taken(
    visit: &Visit,
    file: &str,
    document: &str,
    form: &Parameters,
) -> Result<Answer, Problem> {
    check_key(visit, form.first("key").unwrap_or_default())?;
    let removed = Change::of(visit, file)?.remove(document).await?;
    let folder = removed.rsplit_once('/').map_or("", |(folder, _)| folder);
    let links = &visit.site.links;
    // The folder may have had no other document.
    let is_left = folder.is_empty() || has_folder(visit, file, folder).await;
    Ok(redirect(
        &links.folder(file, if is_left { folder } else { "" }),
    ))
}

async fn has_folder(visit: &Visit, file: &str, folder: &str) -> bool {
    let (Ok(file), folder) = (visit.site.file(file), folder.to_owned()) else {
        return false;
    };
    let one = kb_engine::PageOptions::default().max_tokens(1);
    let listed =
        move |_: &kb_mcp::Files, _: &AtomicBool| file.kb().list(Some(&folder), &one).is_ok();
    let files = &visit.site.files;
    files.read(visit.access.as_ref(), listed).await == Ok(true)
}
