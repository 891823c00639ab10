//! Pages for people and an HTTP API for programs over the open files of a server: what `kb serve` answers beside MCP.
//!
//! Imports point down. `router` assigns addresses to the handlers of `pages` and `api`; `asked` says what an address
//! asks to be searched, `finder` looks for names, `changes` is what forms and programs change; `site` is what handlers
//! share; `text` turns documents into HTML; `links` has the form of every address, `parameters` reads what comes behind
//! `?`, `multipart` reads forms with files, `export` writes the pages as files, `answer` makes responses with their headers, `fresh` their tags. Searching
//! and reading are calls of the engine, which run on the threads of [`kb_mcp`].
//!
//! Nothing of a document reaches a page as HTML: text is escaped, Markdown is rendered without its raw HTML, and
//! addresses in it may be of few schemes. The content security policy forbids script and requests to other hosts all
//! the same.
#![deny(missing_docs)]

mod answer;
mod api;
mod asked;
mod assets;
mod changes;
mod export;
mod finder;
mod fresh;
mod links;
mod multipart;
mod pages;
mod parameters;
mod router;
mod site;
mod text;

use std::sync::Arc;

use kb_mcp::{Files, Site};

pub use export::{ExportError, Exported, export, report};

/// What a site is made with.
#[derive(Debug, Clone, Default)]
pub struct SiteOptions {
    /// What comes before every address, such as `/kb` behind a proxy that serves other things too; empty for nothing.
    pub base_path: String,
}

/// The site over the files of a server.
#[must_use]
pub fn site(files: Files, options: &SiteOptions) -> Arc<dyn Site> {
    Arc::new(router::Routes::new(
        files,
        links::Links::new(&options.base_path),
        site::Kind::Live,
    ))
}
