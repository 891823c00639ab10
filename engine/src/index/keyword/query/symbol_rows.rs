//! The rows that define something of a name.

use std::ops::ControlFlow;

use kb_types::NamePattern;
use kb_types::error::Result;
use roaring::RoaringBitmap;

use crate::index::keyword::analysis::symbol_terms::SymbolTerm;
use crate::index::keyword::postings::dictionary::{TermInfo, for_each_from};
use crate::index::keyword::postings::reader::Reader;

impl Reader<'_> {
    /// The rows with a symbol term whose name matches, deleted rows included: those in which the name of such a symbol
    /// begins. Names match whole, or with the last of their parts.
    ///
    /// Cost: one look-up for a name; for a pattern one pass over the names that begin with its first letters, some tens
    /// of nanoseconds for each, all of them where it begins with `*` or `?`.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`] when the bytes that are read contradict the format.
    pub fn rows_of_symbols(
        &self,
        term: SymbolTerm,
        pattern: &NamePattern,
    ) -> Result<RoaringBitmap> {
        let mut rows = RoaringBitmap::new();
        self.each_symbol_term(term, pattern, |_, info| self.add_rows(info, &mut rows))?;
        Ok(rows)
    }

    /// Whether a symbol term has exactly that name. One look-up.
    ///
    /// # Errors
    /// As [`rows_of_symbols`](Reader::rows_of_symbols).
    pub fn has_symbol(&self, term: SymbolTerm, name: &str) -> Result<bool> {
        Ok(self.postings(&term.of(name))?.is_some())
    }

    fn add_rows(&self, info: TermInfo, rows: &mut RoaringBitmap) -> Result<()> {
        let list = self.open(info)?;
        self.cursor(&list)?.for_each_block(|block, _, _| {
            rows.extend(block);
            Ok(())
        })
    }

    /// Calls `visit` with each name of such terms that matches.
    fn each_symbol_term(
        &self,
        term: SymbolTerm,
        pattern: &NamePattern,
        mut visit: impl FnMut(&str, TermInfo) -> Result<()>,
    ) -> Result<()> {
        let from = term.of(pattern.prefix());
        for_each_from(
            self.parts(),
            &self.dictionary(),
            from.as_bytes(),
            |bytes, info| {
                if !bytes.starts_with(from.as_bytes()) {
                    return Ok(ControlFlow::Break(()));
                }
                let name = SymbolTerm::read(bytes).map(|(_, name)| name);
                if let Ok(name) = std::str::from_utf8(name.unwrap_or_default())
                    && pattern.matches_lower_case(name)
                {
                    visit(name, info)?;
                }
                // A name that is no pattern is the first term.
                Ok(if pattern.is_name() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            },
        )
    }
}
