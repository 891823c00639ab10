//! A document on its page.

use kb_engine::{DocumentInfo, Lines};
use kb_mcp::OpenFile;

use crate::links::Links;
use crate::site::Visit;

/// A document of an open file, and what the address says of it.
pub(super) struct Shown<'v> {
    pub(super) visit: &'v Visit,
    pub(super) file: OpenFile,
    pub(super) document: DocumentInfo,
    /// The lines that are marked.
    pub(super) marked: Option<Lines>,
}

impl Shown<'_> {
    pub(super) fn links(&self) -> &Links {
        &self.visit.site.links
    }

    /// The address of this document with a query.
    pub(super) fn address(&self, query: &str) -> String {
        let address = self.links().document(self.file.name(), &self.document.path);
        if query.is_empty() {
            address
        } else {
            format!("{address}?{query}")
        }
    }
}
