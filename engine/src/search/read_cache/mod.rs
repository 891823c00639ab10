//! What a request reads of documents, each thing once: their records, outlines and texts. Retrieving fills it, and
//! rendering goes on with it.

mod outlines;
mod records;
mod texts;

pub(crate) use outlines::DocumentOutlines;
pub(crate) use records::DocumentRecords;
pub(crate) use texts::{ChunkTexts, Occurrence};

use crate::search::sources::Sources;

/// The documents that a request has read so far.
#[derive(Debug)]
pub(crate) struct ReadCache<'r> {
    pub(crate) texts: ChunkTexts<'r>,
    pub(crate) records: DocumentRecords<'r>,
    pub(crate) outlines: DocumentOutlines,
}

impl<'r> ReadCache<'r> {
    pub(crate) fn new(sources: &'r Sources<'r>) -> ReadCache<'r> {
        ReadCache {
            texts: ChunkTexts::new(sources),
            records: DocumentRecords::new(sources),
            outlines: DocumentOutlines::default(),
        }
    }

    /// Bytes of text and outlines that were decoded so far.
    pub(crate) fn decoded_bytes(&self) -> u64 {
        let text = self.texts.decoded_bytes();
        self.outlines.read_bytes().saturating_add(text)
    }
}
