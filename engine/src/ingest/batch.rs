//! Prepared documents -> segments of one commit, with the counts that the file states.

use crate::container::Transaction;
use crate::error::Result;
use crate::ingest::prepare::Prepared;
use crate::ingest::segment::SegmentWriter;
use crate::store::meta::{Manifest, Meta};
use crate::types::{DocumentId, SegmentId};

/// The documents of one commit on their way into segments.
#[derive(Debug)]
pub struct Batch {
    /// Counts so far; written by [`Batch::finish`].
    meta: Meta,
    /// Numbers so far; written by [`Batch::finish`].
    manifest: Manifest,
    /// The segment that takes the next document.
    open: Option<SegmentWriter>,
}

impl Batch {
    /// Continues the counts and numbers of a file.
    pub fn new(meta: Meta, manifest: Manifest) -> Batch {
        Batch {
            meta,
            manifest,
            open: None,
        }
    }

    /// Counts so far.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Writes a document. In ascending order of paths all go into one segment until it is full.
    pub fn add(&mut self, transaction: &mut Transaction<'_>, prepared: &Prepared) -> Result<()> {
        if self
            .open
            .as_ref()
            .is_some_and(|open| open.is_full_for(&prepared.document.path))
        {
            self.close(transaction)?;
        }
        let open = match &mut self.open {
            Some(open) => open,
            None => {
                let number = self.manifest.next_segment;
                self.manifest.next_segment += 1;
                self.manifest.segments.push(number);
                let embedder = &self.meta.embedder;
                self.open.insert(SegmentWriter::new(
                    SegmentId(number),
                    embedder.dim,
                    embedder.quantiser_range,
                )?)
            }
        };
        let id = DocumentId(self.manifest.next_document);
        self.manifest.next_document += 1;
        open.add(transaction, id, prepared)?;
        self.meta.documents += 1;
        self.meta.chunks += prepared.chunks.len() as u64;
        self.meta.text_bytes += prepared.document.text.len() as u64;
        Ok(())
    }

    fn close(&mut self, transaction: &mut Transaction<'_>) -> Result<()> {
        if let Some(open) = self.open.take() {
            open.finish(transaction)?;
        }
        Ok(())
    }

    /// Closes the last segment and writes the rows of table `kb`. The caller commits.
    pub fn finish(mut self, transaction: &mut Transaction<'_>, now_ms: i64) -> Result<Meta> {
        self.close(transaction)?;
        self.meta.updated_ms = now_ms;
        self.manifest.generation += 1;
        self.meta.write(transaction)?;
        self.manifest.write(transaction)?;
        Ok(self.meta)
    }
}
