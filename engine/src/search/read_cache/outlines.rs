//! Outlines of the documents that passages are of, each read once for several passages.

use std::rc::Rc;

use kb_types::error::Result;
use kb_types::{DocumentId, Span};
use rustc_hash::FxHashMap;

use crate::store::outline::StoredOutline;

/// Most bytes of outlines that are kept during a request. With more, all earlier ones are dropped.
// The outline of a program of 100,000 symbols has some 10 MB, and most requests have no hit in one.
const KEPT_LIMIT_BYTES: usize = 64 << 20;

/// The outlines that were read for a request, by file and id of their documents.
#[derive(Debug, Default)]
pub(crate) struct DocumentOutlines {
    kept: FxHashMap<(usize, DocumentId), Rc<StoredOutline>>,
    /// Bytes of `kept`.
    kept_bytes: usize,
    /// Bytes of all that were read.
    read_bytes: u64,
}

impl DocumentOutlines {
    /// The outline of a document around `span`; `read` where it is not kept.
    ///
    /// # Errors
    /// Those of `read`.
    pub(crate) fn get(
        &mut self,
        document: (usize, DocumentId),
        span: Span,
        read: impl FnOnce() -> Result<StoredOutline>,
    ) -> Result<Rc<StoredOutline>> {
        if let Some(outline) = self.kept.get(&document).filter(|it| it.covers(span)) {
            return Ok(Rc::clone(outline));
        }
        let outline = Rc::new(read()?);
        let bytes = outline.len_bytes();
        self.read_bytes = self.read_bytes.saturating_add(bytes as u64);
        self.kept_bytes = self.kept_bytes.saturating_add(bytes);
        if self.kept_bytes > KEPT_LIMIT_BYTES {
            // All at once, not the oldest: the limit is hardly ever reached, and the order of use
            // would cost every other request.
            self.kept.clear();
            self.kept_bytes = bytes;
        }
        if let Some(replaced) = self.kept.insert(document, Rc::clone(&outline)) {
            self.kept_bytes = self.kept_bytes.saturating_sub(replaced.len_bytes());
        }
        Ok(outline)
    }

    /// Bytes of the outlines that were read, one that is kept once.
    pub(crate) fn read_bytes(&self) -> u64 {
        self.read_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Span = Span { start: 0, end: 1 };

    fn outline() -> Result<StoredOutline> {
        let heading = (1, "Tides", 0);
        Ok(StoredOutline::of_titles([heading]))
    }

    #[test]
    fn hits_of_one_document_share_an_outline() {
        let mut outlines = DocumentOutlines::default();
        let first = outlines.get((0, DocumentId(1)), SPAN, outline).unwrap();
        let bytes = first.len_bytes() as u64;
        assert!(bytes > 0);
        assert_eq!(outlines.read_bytes(), bytes);
        let again = outlines.get((0, DocumentId(1)), SPAN, || panic!("it is kept"));
        assert!(Rc::ptr_eq(&first, &again.unwrap()));
        assert_eq!(outlines.read_bytes(), bytes);
        // Another one of the file, and one of the same number in another file.
        for (number, document) in [(2, (0, 2)), (3, (1, 1))] {
            let (file, id) = document;
            outlines.get((file, DocumentId(id)), SPAN, outline).unwrap();
            assert_eq!(outlines.read_bytes(), number * bytes);
        }
    }
}
