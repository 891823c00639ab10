//! [`CommitView`]: the commit that a call reads.

use std::path::Path;

use kb_types::error::Result;
use kb_types::{DocumentId, Lines};

use crate::catalog::Catalog;
use crate::container::Snapshot;
use crate::resolve;
use crate::store::documents::DocumentRecord;

/// One commit of one file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommitView<'a> {
    /// The pages of the commit.
    pub(crate) snapshot: &'a Snapshot<'a>,
    /// Its records.
    pub(crate) catalog: &'a Catalog,
    /// Identity of the file.
    pub(crate) uuid: [u8; 16],
    /// Where the file was opened from; `None` for bytes in memory.
    pub(crate) path: Option<&'a Path>,
}

impl CommitView<'_> {
    /// The document of that name: path, end of a path, handle or address, with or without lines.
    ///
    /// # Errors
    /// [`Error::DocumentNotFound`](crate::Error::DocumentNotFound),
    /// [`Error::AmbiguousDocument`](crate::Error::AmbiguousDocument).
    pub(crate) fn resolve(&self, name: &str) -> Result<(DocumentId, DocumentRecord)> {
        let (id, record, _) = self.locate(name)?;
        Ok((id, record))
    }

    /// As [`CommitView::resolve`], with the lines that the name selects; the bytes of them that it skips are
    /// for [`CommitView::locate_text`].
    pub(crate) fn locate(&self, name: &str) -> Result<(DocumentId, DocumentRecord, Option<Lines>)> {
        let found = resolve::locate(self.snapshot, self.catalog, self.path, name)?;
        let record = self.catalog.documents.get(self.snapshot, found.id)?;
        Ok((found.id, record, found.lines))
    }

    /// The document, and the text of it that a name selects: lines, and how many bytes of them it skips.
    pub(crate) fn locate_text(
        &self,
        name: &str,
    ) -> Result<((DocumentId, DocumentRecord), Option<Lines>, u32)> {
        let found = resolve::locate(self.snapshot, self.catalog, self.path, name)?;
        let record = self.catalog.documents.get(self.snapshot, found.id)?;
        Ok(((found.id, record), found.lines, found.skip_bytes))
    }
}
