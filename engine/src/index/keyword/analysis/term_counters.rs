//! Counters by term number. They are not cleared between chunks and documents: stamps tell whether
//! a counter belongs to the current one.

/// For each term number of the analyser, its index in the current document and chunk.
#[derive(Debug, Default)]
pub(crate) struct TermCounters {
    /// By term number.
    slots: Vec<Slot>,
    /// Stamp of the current document; stamps start at 1.
    pub(super) document: u32,
    /// Stamp of the current chunk or field.
    pub(super) chunk: u32,
}

/// Where a term is in the document and the chunk that last had it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slot {
    /// Stamp of the last document that had the term.
    pub(super) document: u32,
    /// Index of the term among the terms of that document.
    pub(super) local: u32,
    /// Stamp of the last chunk that had the term.
    pub(super) chunk: u32,
    /// Index of its count in that chunk.
    pub(super) count: u32,
}

impl TermCounters {
    /// Forgets all terms.
    pub(crate) fn clear(&mut self) {
        *self = TermCounters::default();
    }

    pub(super) fn begin_document(&mut self) {
        // After 2^32 documents a stamp repeats, and old slots would look current: then all are
        // cleared.
        self.document = self.document.wrapping_add(1);
        if self.document == 0 {
            self.clear();
            self.document = 1;
        }
        self.begin_chunk();
    }

    pub(super) fn begin_chunk(&mut self) {
        self.chunk = self.chunk.wrapping_add(1);
        if self.chunk == 0 {
            self.slots.iter_mut().for_each(|slot| slot.chunk = 0);
            self.chunk = 1;
        }
    }

    #[inline]
    pub(super) fn slot(&mut self, term: u32) -> Option<&mut Slot> {
        let at = term as usize;
        if at >= self.slots.len() {
            self.slots.resize(at + 1, Slot::default());
        }
        self.slots.get_mut(at)
    }
}
