//! Records of documents, each read once for a request.

use kb_types::error::{Error, Result};
use kb_types::{DocumentId, Part};
use rustc_hash::FxHashMap;

use crate::search::sources::{ChunkAddress, Sources};
use crate::store::documents::DocumentRecord;

/// Reads records of documents, and their parts, and keeps them.
#[derive(Debug)]
pub(crate) struct DocumentRecords<'r> {
    sources: &'r Sources<'r>,
    /// Those read so far, by file and id.
    kept: FxHashMap<(usize, DocumentId), DocumentRecord>,
    /// Pages, sheets or slides of those whose hits were rendered.
    parts: FxHashMap<(usize, DocumentId), Vec<Part>>,
}

impl<'r> DocumentRecords<'r> {
    pub(crate) fn new(sources: &'r Sources<'r>) -> DocumentRecords<'r> {
        DocumentRecords {
            sources,
            kept: FxHashMap::default(),
            parts: FxHashMap::default(),
        }
    }

    /// Reads the records of the documents of several chunks in the order of their numbers: every page is
    /// copied and checked, and neighbours share one.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn read_of(&mut self, chunks: impl IntoIterator<Item = ChunkAddress>) -> Result<()> {
        let mut wanted = Vec::new();
        for chunk in chunks {
            let id = self.sources.document_of(chunk)?;
            wanted.push((self.sources.file_of(chunk.segment), id));
        }
        wanted.sort_unstable();
        wanted.dedup();
        wanted.retain(|key| !self.kept.contains_key(key));
        for of_file in wanted.chunk_by(|a, b| a.0 == b.0) {
            let Some((file, _)) = of_file.first() else {
                continue;
            };
            let source = self.sources.source(*file)?;
            let ids: Vec<DocumentId> = of_file.iter().map(|(_, id)| *id).collect();
            let documents = &source.catalog.documents;
            documents.each_of(source.snapshot, &ids, |id, record| {
                self.kept.insert((*file, id), record);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The pages, sheets or slides of a document of a file; empty when it has none.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn parts(&mut self, file: usize, id: DocumentId) -> Result<&[Part]> {
        let key = (file, id);
        if !self.parts.contains_key(&key) {
            let text_bytes = self.get(file, id)?.text_bytes;
            let source = self.sources.source(file)?;
            let parts = source.catalog.parts.get(source.snapshot, id, text_bytes)?;
            self.parts.insert(key, parts);
        }
        Ok(self.parts.get(&key).map_or(&[], Vec::as_slice))
    }

    /// The record of a document of a file.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn get(&mut self, file: usize, id: DocumentId) -> Result<&DocumentRecord> {
        let key = (file, id);
        if !self.kept.contains_key(&key) {
            let record = self.sources.document(file, id)?;
            self.kept.insert(key, record);
        }
        let kept = self.kept.get(&key);
        kept.ok_or_else(|| Error::damaged("a document vanished"))
    }
}
