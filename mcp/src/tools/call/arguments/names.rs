//! Argument names that every tool accepts in addition to the published ones: names of other tools, and of other systems,
//! for the same thing.

/// Spellings of a thing, in lower case with underscores, and the published names that it may have, first choice first.
const COMMON: &[(&[&str], &[&str])] = &[
    (
        &["path"],
        &[
            "document_id",
            "doc_handle",
            "folder",
            "fileName",
            "filters.path",
            "filters.folder",
        ],
    ),
    (
        &[
            "document_id",
            "doc_handle",
            "document",
            "doc_id",
            "doc",
            "handle",
            "uri",
            "id",
        ],
        &["document_id", "doc_handle", "fileName"],
    ),
    (
        &["file", "file_path", "filepath", "filename", "file_name"],
        &["document_id", "doc_handle", "fileName", "path"],
    ),
    (
        &[
            "documents",
            "document_ids",
            "doc_handles",
            "paths",
            "files",
            "file_paths",
        ],
        &["documents"],
    ),
    (
        &["folder", "directory", "dir", "folder_path"],
        &["folder", "filters.folder", "path"],
    ),
    (
        &["glob", "path_glob", "file_pattern", "include"],
        &["path", "filters.path"],
    ),
    (
        &[
            "limit",
            "top_k",
            "k",
            "n",
            "count",
            "max_results",
            "num_results",
            "head_limit",
        ],
        &["limit", "top_k"],
    ),
    (
        &["query", "q", "question", "search_query"],
        &["query", "pattern", "name", "text"],
    ),
    (&["pattern", "regex", "regexp"], &["pattern", "query"]),
    (&["symbol_name", "symbol", "name"], &["symbol_name", "name"]),
    (
        &[
            "kind",
            "kinds",
            "symbol_type",
            "symbol_types",
            "symbol_kind",
        ],
        &["symbol_type", "kind"],
    ),
    (&["language", "languages", "lang"], &["language"]),
    (
        &["file_type", "filetype", "type", "extension"],
        &["filters.fileType"],
    ),
    (&["tag", "tags"], &["tags", "tag", "filters.tag"]),
    (
        &["start_line", "line_start", "first_line", "from_line"],
        &["start_line"],
    ),
    (
        &["end_line", "line_end", "last_line", "to_line"],
        &["end_line"],
    ),
    (&["section", "heading"], &["section"]),
    (&["page_range", "pages", "page"], &["page_range"]),
    (&["slide_numbers", "slides", "slide"], &["slide_numbers"]),
    (&["sheet_name", "sheet"], &["sheet_name"]),
    (&["cell_range", "cells", "range"], &["cell_range"]),
    (
        &[
            "index_name",
            "index",
            "project",
            "project_id",
            "knowledge_base",
            "table_name",
        ],
        &["index_name"],
    ),
    (
        &["max_tokens", "token_limit", "token_budget"],
        &["max_tokens"],
    ),
    (
        &["continuation_token", "cursor", "next_token", "page_token"],
        &["continuation_token"],
    ),
    (&["content", "text"], &["content", "text"]),
    (&["mime_type"], &["mimeType"]),
];

/// The published name that a spelling stands for, if `is_published` has it: the same name in another case, or a
/// common name of the same thing.
pub(super) fn published(
    spelled: &str,
    is_published: impl Fn(&str) -> bool,
) -> Option<&'static str> {
    let spelled = snake_case(spelled)?;
    let groups = COMMON
        .iter()
        .filter(|(spellings, _)| spellings.contains(&&*spelled));
    let mut names = groups.flat_map(|(_, names)| names.iter().copied());
    names.find(|name| is_published(name))
}

/// Whether the spelling is that name, or a common one of the same thing.
pub(super) fn is(spelled: &str, name: &str) -> bool {
    published(spelled, |published| published == name).is_some()
}

/// `topK` as `top_k`; `None` for what is too long to be a name.
pub(super) fn snake_case(spelled: &str) -> Option<String> {
    const LONGEST: usize = 40;
    if spelled.len() > LONGEST {
        return None;
    }
    let mut name = String::new();
    for character in spelled.chars() {
        if character.is_ascii_uppercase() && !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
        name.push(match character {
            '-' => '_',
            other => other.to_ascii_lowercase(),
        });
    }
    Some(name)
}
