//! The terms of one document, counted by chunk: what a worker hands to the writer.

use super::interner::Interner;
use super::term_counters::{Slot, TermCounters};
use super::tokenizer::Analyser;

/// Distinct terms of a document and how often each stands in each chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentTerms {
    /// All distinct terms, one after the other.
    term_bytes: Vec<u8>,
    /// End of each term in `term_bytes`.
    term_ends: Vec<u32>,
    /// Counts of all chunks, chunk after chunk.
    counts: Vec<TermCount>,
    /// Where each chunk ends, and its length.
    chunks: Vec<ChunkEnd>,
}

/// How often a term stands in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermCount {
    /// Index among [`DocumentTerms::terms`].
    pub term: u32,
    /// Occurrences, each times the weight of its field.
    pub frequency: u32,
}

/// End of a chunk in the list of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ChunkEnd {
    /// One past its last count.
    counts: u32,
    /// Its length in terms.
    length: u32,
}

/// A text counted once, to be added to several chunks: title, headings, path.
#[derive(Debug, Clone, Default)]
pub struct Field {
    /// Counts by term number of the analyser.
    counts: Vec<TermCount>,
}

impl DocumentTerms {
    /// Distinct terms in the order they were first met.
    pub fn terms(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.term_ends.iter().map(move |end| {
            let term = self.term_bytes.get(start..*end as usize);
            start = *end as usize;
            term.unwrap_or_default()
        })
    }

    /// Chunks in order: counts of their terms, and their length in terms.
    pub fn chunks(&self) -> impl Iterator<Item = (&[TermCount], u32)> {
        let mut start = 0;
        self.chunks.iter().map(move |chunk| {
            let counts = self.counts.get(start..chunk.counts as usize);
            start = chunk.counts as usize;
            (counts.unwrap_or_default(), chunk.length)
        })
    }

    /// Bytes of memory it holds.
    pub fn memory_bytes(&self) -> usize {
        self.term_bytes.capacity()
            + self.term_ends.capacity() * 4
            + self.counts.capacity() * size_of::<TermCount>()
            + self.chunks.capacity() * size_of::<ChunkEnd>()
    }
}

/// Counts the terms of one document, chunk after chunk.
///
/// A chunk is what was added between two calls of [`DocumentTermsBuilder::end_chunk`]: its own
/// text, and the fields that are counted jointly with it.
#[derive(Debug)]
pub struct DocumentTermsBuilder<'a> {
    /// Finds the terms, and holds the counters.
    analyser: &'a mut Analyser,
    /// What has been counted.
    document: DocumentTerms,
    /// Length so far of the open chunk.
    length: u32,
}

/// The slot of a term, which is one of the document's terms from now on.
#[inline]
fn enter<'c>(
    counters: &'c mut TermCounters,
    terms: &Interner,
    document: &mut DocumentTerms,
    term: u32,
) -> Option<&'c mut Slot> {
    let stamp = counters.document;
    let slot = counters.slot(term)?;
    if slot.document != stamp {
        slot.document = stamp;
        slot.local = document.term_ends.len() as u32;
        document.term_bytes.extend_from_slice(terms.get(term));
        document.term_ends.push(document.term_bytes.len() as u32);
    }
    Some(slot)
}

/// Adds `times` to the count of `term`, which has that slot, in the chunk of that stamp.
#[inline]
fn add_count(counts: &mut Vec<TermCount>, slot: &mut Slot, chunk: u32, term: u32, times: u32) {
    if slot.chunk == chunk {
        if let Some(count) = counts.get_mut(slot.count as usize) {
            count.frequency = count.frequency.saturating_add(times);
        }
    } else {
        slot.chunk = chunk;
        slot.count = counts.len() as u32;
        counts.push(TermCount {
            term,
            frequency: times,
        });
    }
}

impl<'a> DocumentTermsBuilder<'a> {
    /// Starts a document.
    pub fn new(analyser: &'a mut Analyser) -> DocumentTermsBuilder<'a> {
        analyser.forget_if_full();
        analyser.counters.begin_document();
        DocumentTermsBuilder {
            analyser,
            document: DocumentTerms::default(),
            length: 0,
        }
    }

    /// Adds text to the open chunk; every occurrence counts `weight` times.
    pub fn add_text(&mut self, text: &str, weight: u32) {
        if weight == 0 {
            return;
        }
        let document = &mut self.document;
        let length = &mut self.length;
        self.analyser.numbers(text, |terms, counters, term| {
            let chunk = counters.chunk;
            if let Some(slot) = enter(counters, terms, document, term) {
                let local = slot.local;
                add_count(&mut document.counts, slot, chunk, local, weight);
                *length = length.saturating_add(weight);
            }
        });
    }

    /// Counts a text that several chunks share. To be called between chunks: text already in the
    /// open chunk would be counted apart from what follows.
    pub fn field(&mut self, text: &str) -> Field {
        debug_assert_eq!(self.length, 0, "a field is counted between chunks");
        let mut counts = Vec::new();
        self.analyser.counters.begin_chunk();
        let document = &mut self.document;
        self.analyser.numbers(text, |terms, counters, term| {
            let chunk = counters.chunk;
            if let Some(slot) = enter(counters, terms, document, term) {
                add_count(&mut counts, slot, chunk, term, 1);
            }
        });
        self.analyser.counters.begin_chunk();
        Field { counts }
    }

    /// Adds a counted text of this document to the open chunk, `weight` times.
    pub fn add_field(&mut self, field: &Field, weight: u32) {
        if weight == 0 {
            return;
        }
        let (terms, counters) = self.analyser.counting();
        for count in &field.counts {
            let chunk = counters.chunk;
            let times = count.frequency.saturating_mul(weight);
            if let Some(slot) = enter(counters, terms, &mut self.document, count.term) {
                let local = slot.local;
                add_count(&mut self.document.counts, slot, chunk, local, times);
                self.length = self.length.saturating_add(times);
            }
        }
    }

    /// Closes the chunk, which may be empty; the next one starts.
    pub fn end_chunk(&mut self) {
        self.document.chunks.push(ChunkEnd {
            counts: self.document.counts.len() as u32,
            length: self.length,
        });
        self.length = 0;
        self.analyser.counters.begin_chunk();
    }

    /// The counted document. Text added after the last [`DocumentTermsBuilder::end_chunk`] is
    /// dropped.
    pub fn finish(mut self) -> DocumentTerms {
        let counts = self.document.chunks.last().map_or(0, |chunk| chunk.counts);
        self.document.counts.truncate(counts as usize);
        self.document
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn counted(document: &DocumentTerms) -> Vec<(BTreeMap<String, u32>, u32)> {
        let terms: Vec<&[u8]> = document.terms().collect();
        document
            .chunks()
            .map(|(counts, length)| {
                let named = counts.iter().map(|count| {
                    let term = String::from_utf8(terms[count.term as usize].to_vec()).unwrap();
                    (term, count.frequency)
                });
                (named.collect(), length)
            })
            .collect()
    }

    fn map(pairs: &[(&str, u32)]) -> BTreeMap<String, u32> {
        pairs.iter().map(|(t, n)| ((*t).to_owned(), *n)).collect()
    }

    #[test]
    fn each_chunk_counts_its_text_and_the_shared_fields() {
        let mut analyser = Analyser::new();
        for _ in 0..2 {
            let mut builder = DocumentTermsBuilder::new(&mut analyser);
            let title = builder.field("Reader of pages pages");
            builder.add_field(&title, 2);
            builder.add_text("pages and readLine", 1);
            builder.end_chunk();
            builder.end_chunk();
            builder.add_text("line", 3);
            builder.add_field(&title, 1);
            builder.end_chunk();
            builder.add_text("never closed", 1);
            let document = builder.finish();
            assert_eq!(
                counted(&document),
                [
                    (
                        map(&[
                            ("reader", 2),
                            ("page", 5),
                            ("readlin", 1),
                            ("read", 1),
                            ("line", 1)
                        ]),
                        10
                    ),
                    (map(&[]), 0),
                    (map(&[("line", 3), ("reader", 1), ("page", 2)]), 6),
                ]
            );
        }
    }

    #[test]
    fn the_counts_do_not_depend_on_what_the_analyser_saw_before() {
        let count = |analyser: &mut Analyser| {
            let mut builder = DocumentTermsBuilder::new(analyser);
            for text in ["one two three two", "three four", "one"] {
                builder.add_text(text, 1);
                builder.end_chunk();
            }
            builder.finish()
        };
        let mut used = Analyser::new();
        used.analyse("four three two one zero", |_, _| {});
        for _ in 0..3 {
            assert_eq!(count(&mut used), count(&mut Analyser::new()));
        }
    }
}
