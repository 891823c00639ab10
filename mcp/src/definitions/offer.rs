//! Which tools a server offers, and under which names.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::response::{ToolError, ToolResponse};
use crate::tools;

/// Characters of a prefix: hosts put the name of the server before that, and the longest names that models are sent have 64.
const PREFIX_LIMIT: usize = 20;

/// The tools for source code, and for documents: what both need is in both.
const CODE: &[&str] = &[
    "search_code",
    "search_regex",
    "find_symbols",
    "get_document",
    "get_documents",
    "get_document_outline",
    "list_documents",
    "index_codebase",
    "get_status",
];
const DOCS: &[&str] = &[
    "search",
    "search_docs",
    "get_document",
    "get_document_outline",
    "get_document_data",
    "get_pages",
    "get_sheet_data",
    "get_slides",
    "list_documents",
    "list_folders",
    "upload_document",
];

/// The tools that a server offers, and what stands before their names. The default: all, and nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Offer {
    prefix: String,
    /// `None`: all.
    only: Option<BTreeSet<&'static str>>,
}

impl Offer {
    /// Reads what a person gives: `tools` is `all`, `code`, `docs`, names of tools, or several of these with commas
    /// between; `prefix` comes before each name, with `_` between.
    ///
    /// # Errors
    /// What is wrong, in a sentence.
    pub(crate) fn parse(tools: Option<&str>, prefix: Option<&str>) -> Result<Offer, String> {
        let prefix = match prefix {
            None => String::new(),
            Some(prefix) => checked_prefix(prefix)?,
        };
        let mut only = BTreeSet::new();
        for word in tools.unwrap_or("all").split(',').map(str::trim) {
            match word {
                "all" => only.extend(names()),
                "code" => only.extend(CODE),
                "docs" => only.extend(DOCS),
                name => {
                    let known = names().find(|known| *known == name);
                    let unknown = || {
                        let all: Vec<&str> = names().collect();
                        format!(
                            "no tool is called {name:?}: there are all, code, docs, {}",
                            all.join(", ")
                        )
                    };
                    only.insert(known.ok_or_else(unknown)?);
                }
            }
        }
        let is_all = names().all(|name| only.contains(name));
        Ok(Offer {
            prefix,
            only: (!is_all).then_some(only),
        })
    }

    /// Whether the tool of that name, without prefix, is offered.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(name))
    }

    /// The name that clients see.
    pub(crate) fn shown(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// The name of an offered tool that clients see as `shown`.
    pub(crate) fn name_of<'n>(&self, shown: &'n str) -> Option<&'n str> {
        let name = shown.strip_prefix(&self.prefix)?;
        self.has(name).then_some(name)
    }

    /// A text of this server with the names of tools as clients see them.
    pub(crate) fn rename<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.prefix.is_empty() {
            return Cow::Borrowed(text);
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        let mut renamed = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(is_part) {
            let (before, word) = rest.split_at(start);
            let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
            let (word, after) = word.split_at(end);
            renamed.push_str(before);
            // `search` is an ordinary word too; a full stop ends a sentence.
            let name = word.trim_end_matches('.');
            if name.contains('_') && names().any(|known| known == name) {
                renamed.push_str(&self.prefix);
            }
            renamed.push_str(word);
            rest = after;
        }
        renamed.push_str(rest);
        Cow::Owned(renamed)
    }

    /// A result with the names of tools as clients see them: those in warnings, which are the first lines of the text.
    pub(crate) fn rename_response(&self, mut response: ToolResponse) -> ToolResponse {
        if self.prefix.is_empty() {
            return response;
        }
        if let Some(warnings) = response.structured.get_mut("warnings") {
            self.rename_all(warnings);
        }
        let head: usize = response
            .text
            .split_inclusive('\n')
            .take_while(|line| line.starts_with("Warning: "))
            .map(str::len)
            .sum();
        let (warnings, rest) = response.text.split_at_checked(head).unwrap_or_default();
        response.text = format!("{}{rest}", self.rename(warnings));
        response
    }

    /// The same for an error.
    pub(crate) fn rename_error(&self, mut error: ToolError) -> ToolError {
        error.sentence = self.rename(&error.sentence).into_owned();
        error.hint = error.hint.map(|hint| self.rename(&hint).into_owned());
        error
    }

    /// The same for all texts of a definition.
    pub(super) fn rename_all(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(renamed) = self.rename(text) {
                    *text = renamed;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.rename_all(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.rename_all(field)),
            _ => {}
        }
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    tools::published().filter_map(|(tool, _)| tool.get("name").and_then(Value::as_str))
}

fn checked_prefix(prefix: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if prefix.is_empty() || prefix.len() > PREFIX_LIMIT || !prefix.chars().all(is_plain) {
        return Err(format!(
            "{prefix:?} cannot begin the name of a tool: 1 to {PREFIX_LIMIT} letters, digits, _ and -"
        ));
    }
    let separator = if prefix.ends_with(['_', '-']) {
        ""
    } else {
        "_"
    };
    Ok(format!("{prefix}{separator}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_texts_of_the_server_get_the_prefix() {
        let offer = Offer::parse(None, Some("notes")).unwrap();
        assert_eq!(
            offer.rename("search_docs searches; see list_documents. Not a/search_docs.md, search or search_docs_x"),
            "notes_search_docs searches; see notes_list_documents. Not a/search_docs.md, search or search_docs_x"
        );
        assert_eq!(offer.name_of("notes_search"), Some("search"));
        assert_eq!(offer.name_of("search"), None);
        assert_eq!(Offer::default().rename("search_docs"), "search_docs");
    }

    #[test]
    fn a_set_is_named_or_listed() {
        let has = |tools: &str, name: &str| Offer::parse(Some(tools), None).unwrap().has(name);
        assert!(has("code", "find_symbols") && !has("code", "search_docs"));
        assert!(has("docs", "search_docs") && !has("docs", "find_symbols"));
        assert!(has("docs, find_symbols", "find_symbols"));
        assert!(has("search", "search") && !has("search", "search_docs"));
        assert_eq!(
            Offer::parse(Some("code,all"), None).unwrap(),
            Offer::default()
        );
        for (tools, prefix) in [
            ("", None),
            ("find", None),
            ("all", Some("")),
            ("all", Some("a b")),
        ] {
            Offer::parse(Some(tools), prefix).unwrap_err();
        }
        let wrong = CODE
            .iter()
            .chain(DOCS)
            .find(|name| !names().any(|known| known == **name));
        assert_eq!(wrong, None);
    }
}
