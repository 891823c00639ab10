//! Warnings about sources that changed after they were indexed: the documents of a result, whole indexes, and a program
//! that is writing one.

use std::sync::Arc;

use kb_engine::{DocumentInfo, Hit, Response, SourceState};

use crate::indexes::{Changes, Index, Indexes, Stale};
use crate::response::ToolError;

/// Names of changed documents in one sentence.
const NAMES_SHOWN: usize = 3;

/// Errors that say that something is not there; it may be in a file that changed since. That of a document
/// counts new files itself.
const NOT_THERE: [&str; 5] = [
    "FOLDER_NOT_FOUND",
    "SECTION_NOT_FOUND",
    "SHEET_NOT_FOUND",
    "DOCS_INDEX_NOT_FOUND",
    "CODE_INDEX_NOT_FOUND",
];

/// Indexes that an error names as stale.
const INDEXES_SHOWN: usize = 3;

/// The warnings about the sources of `indexes` and of the hits, which were looked at. `is_none`: nothing
/// relevant was found.
pub(in crate::tools) fn warnings(
    indexes: &[Arc<Index>],
    response: &Response,
    is_none: bool,
) -> Vec<String> {
    let mut warnings: Vec<String> = of_hits(&response.hits).into_iter().collect();
    warnings.extend(of_indexes(indexes, is_none));
    warnings
}

/// The warnings about the sources of `indexes`. `is_none`: nothing was found, so that a file which was just
/// written counts too.
pub(in crate::tools) fn of_indexes(indexes: &[Arc<Index>], is_none: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    for index in indexes {
        warnings.extend(file_gone(index));
        let stale = if is_none {
            index.staleness_of_none()
        } else {
            index.staleness()
        };
        if stale.is_stale() {
            warnings.push(format!("STALE: {}", out_of_date(index.name(), &stale)));
        }
    }
    warnings
}

/// The error, which says that indexes are stale where that may be its reason.
pub(in crate::tools) fn explain(indexes: &Indexes, mut error: ToolError) -> ToolError {
    if !NOT_THERE.contains(&error.code) {
        return error;
    }
    let mut hints: Vec<String> = error.hint.take().into_iter().collect();
    let of_indexes = of_indexes(&indexes.list(), true);
    let stale = of_indexes.iter().take(INDEXES_SHOWN);
    hints.extend(stale.map(|warning| warning.trim_end_matches('.').to_owned()));
    error.hint = (!hints.is_empty()).then(|| hints.join(". "));
    error
}

/// The warning about an index whose file is no longer there.
pub(in crate::tools) fn file_gone(index: &Index) -> Option<String> {
    index.kb().is_file_gone().then(|| {
        format!(
            "FILE_GONE: the file of index {} was moved or deleted; answers are of the copy that the server still \
             has open, which ends with the server.",
            index.name()
        )
    })
}

/// Which documents of a result have other content than their files now.
fn of_hits(hits: &[Hit]) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for hit in hits {
        if let Some(state) = hit.source_state.stale() {
            let name = format!("{} ({state})", hit.document);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let shown = listed(&names, names.len())?;
    Some(format!(
        "STALE: since they were indexed, these results changed or were deleted: {shown}. Read the files \
         themselves, or bring the index up to date (kb index)."
    ))
}

/// The warning about a document whose file is not what was indexed, or whose index is gone.
pub(in crate::tools) fn of_document(index: &Index, document: &DocumentInfo) -> Option<String> {
    if let Some(gone) = file_gone(index) {
        return Some(gone);
    }
    let path = &document.path;
    match index.source_state(document) {
        SourceState::Changed => Some(format!(
            "STALE: the file of {path} changed after it was indexed; text and lines here are those of the old version."
        )),
        SourceState::Deleted => Some(format!(
            "STALE: the file of {path} was deleted after it was indexed; this is its last indexed text."
        )),
        _ => None,
    }
}

/// How old an index is and what has changed, in a sentence.
pub(in crate::tools) fn out_of_date(name: &str, stale: &Stale) -> String {
    let days = stale.age_days.floor();
    let age = match days {
        days if days < 1.0 => "today".to_owned(),
        days if days < 2.0 => "1 day ago".to_owned(),
        days => format!("{days} days ago"),
    };
    let changed = match &stale.changes {
        None => "it is unknown whether its sources changed since then".to_owned(),
        Some(changes) => changed(changes),
    };
    format!("{name} was indexed {age}; {changed}.")
}

/// `2 files changed or were deleted since (a.md, b.md), and 1 file is new`.
pub(in crate::tools) fn changed(changes: &Changes) -> String {
    let files = |count: u64| match count {
        1 => "1 file".to_owned(),
        many => format!("{many} files"),
    };
    let known = changes.updated + changes.removed;
    let names = listed(&changes.names, usize::try_from(known).unwrap_or(usize::MAX));
    let is_new = if changes.added == 1 { "is" } else { "are" };
    let new = format!("{} {is_new} new", files(changes.added));
    match (names, changes.added) {
        (None, 0) => "its sources have not changed since then".to_owned(),
        (None, _) => new,
        (Some(names), 0) => format!("{} changed or deleted since then: {names}", files(known)),
        (Some(names), _) => {
            format!(
                "{} changed or deleted since then ({names}), and {new}",
                files(known)
            )
        }
    }
}

/// The first names, and how many more there are of `total`; `None` without any.
fn listed(names: &[String], total: usize) -> Option<String> {
    if names.is_empty() {
        return None;
    }
    let shown: Vec<&str> = names.iter().take(NAMES_SHOWN).map(String::as_str).collect();
    let more = total.saturating_sub(shown.len());
    let shown = shown.join(", ");
    Some(match more {
        0 => shown,
        more => format!("{shown} and {more} more"),
    })
}

#[cfg(test)]
mod tests;
