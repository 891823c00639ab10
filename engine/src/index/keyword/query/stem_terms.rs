//! The stems of a language that a dictionary has.

use std::ops::ControlFlow;

use kb_types::error::Result;

use crate::index::keyword::analysis::language::Language;
use crate::index::keyword::postings::dictionary::for_each_term_from;
use crate::index::keyword::postings::reader::Reader;

impl Reader<'_> {
    /// Whether words of a language have stems here. One look at the dictionary.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`] when the bytes that are read contradict the format.
    pub(crate) fn has_stems(&self, language: Language) -> Result<bool> {
        let mut has = false;
        self.each_stem(language, |_| {
            has = true;
            ControlFlow::Break(())
        })?;
        Ok(has)
    }

    /// Calls `visit` with the stems of a language, ascending, until it breaks. Some 0.05 us each.
    ///
    /// # Errors
    /// As [`has_stems`](Reader::has_stems).
    pub(crate) fn each_stem(
        &self,
        language: Language,
        mut visit: impl FnMut(&str) -> ControlFlow<()>,
    ) -> Result<()> {
        let marker = language.marker();
        let dictionary = self.dictionary();
        for_each_term_from(self.parts(), &dictionary, marker.as_bytes(), |term| {
            let stem = std::str::from_utf8(term).ok();
            match stem.and_then(|term| term.strip_prefix(marker.as_str())) {
                Some(stem) => visit(stem),
                None => ControlFlow::Break(()),
            }
        })
    }
}
