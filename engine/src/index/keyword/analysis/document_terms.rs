//! The terms of one document, counted by chunk. Workers build these; the writer takes them.

use super::interner::Interner;
use super::language::{Language, MARKER};
use super::symbol_terms::SymbolTerm;
use super::term_counters::{Slot, TermCounters};
use super::tokenizer::Analyser;

/// The distinct terms of a document and their frequency in each chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentTerms {
    /// All distinct terms, one after the other.
    term_bytes: Vec<u8>,
    /// End of each term in `term_bytes`.
    term_ends: Vec<u32>,
    /// Counts of all chunks, chunk after chunk.
    counts: Vec<TermCount>,
    /// The end and length of each chunk.
    chunks: Vec<ChunkEnd>,
}

/// The frequency of a term in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermCount {
    /// Index among [`DocumentTerms::terms`].
    pub term: u32,
    /// Occurrences, each multiplied by the weight of its field.
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

/// The counts of a text that several chunks share: title, headings or path.
#[derive(Debug, Clone, Default)]
pub struct Field {
    /// Counts by term number of the analyser.
    counts: Vec<TermCount>,
    /// Its length in terms.
    length: u32,
}

impl DocumentTerms {
    /// Bytes of its lists.
    pub fn held_bytes(&self) -> usize {
        self.term_bytes.len()
            + self.term_ends.len() * size_of::<u32>()
            + self.counts.len() * size_of::<TermCount>()
            + self.chunks.len() * size_of::<ChunkEnd>()
    }

    /// Distinct terms in the order of their first occurrence.
    pub fn terms(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.term_ends.iter().map(move |end| {
            let term = self.term_bytes.get(start..*end as usize);
            start = *end as usize;
            term.unwrap_or_default()
        })
    }

    /// The counts and the length in terms of each chunk, in order.
    pub fn chunks(&self) -> impl Iterator<Item = (&[TermCount], u32)> {
        let mut start = 0;
        self.chunks.iter().map(move |chunk| {
            let counts = self.counts.get(start..chunk.counts as usize);
            start = chunk.counts as usize;
            (counts.unwrap_or_default(), chunk.length)
        })
    }
}

/// Counts the terms of one document, chunk after chunk.
///
/// A chunk is what is added between two calls of [`DocumentTermsBuilder::end_chunk`]: its text and
/// the fields it shares with other chunks.
#[derive(Debug)]
pub struct DocumentTermsBuilder<'a> {
    /// Finds the terms and holds the counters.
    analyser: &'a mut Analyser,
    /// The counts so far.
    document: DocumentTerms,
    /// Length of the open chunk so far.
    length: u32,
    /// Whether words have stems of another language than English.
    has_language: bool,
}

/// Adds a term to the document unless it has it already, and returns its slot.
#[inline]
fn enter<'c>(
    counters: &'c mut TermCounters,
    terms: &Interner,
    document: &mut DocumentTerms,
    term: u32,
) -> Option<&'c mut Slot> {
    // Comparing a stamp replaces clearing a counter for each term of the dictionary between
    // documents.
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

/// Adds `times` to the count of `term` in the chunk with that stamp.
#[inline]
fn add_count(counts: &mut Vec<TermCount>, slot: &mut Slot, chunk: u32, term: u32, times: u32) {
    if slot.chunk == chunk {
        if let Some(count) = counts.get_mut(slot.count as usize) {
            // Saturates: a hostile text may repeat one word more than 2^32 times across fields and
            // weights.
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
        // Only between documents: term numbers must stay valid within one.
        analyser.forget_if_full();
        analyser.set_language(None);
        analyser.counters.begin_document();
        DocumentTermsBuilder {
            analyser,
            document: DocumentTerms::default(),
            length: 0,
            has_language: false,
        }
    }

    /// Sets the language of the texts that follow: their words have its stems, too.
    pub fn set_language(&mut self, language: Option<Language>) {
        self.analyser.set_language(language);
        self.has_language = language.is_some();
    }

    /// Adds text to the open chunk; each occurrence counts `weight` times.
    pub fn add_text(&mut self, text: &str, weight: u32) {
        if weight == 0 {
            return;
        }
        let document = &mut self.document;
        let length = &mut self.length;
        self.analyser.numbers(text, |terms, counters, found| {
            let chunk = counters.chunk;
            if let Some(slot) = enter(counters, terms, document, found.term) {
                let local = slot.local;
                add_count(&mut document.counts, slot, chunk, local, weight);
                // Another form of a word does not make the text longer.
                if !found.is_folded() {
                    *length = length.saturating_add(weight);
                }
            }
        });
    }

    /// Counts a text that several chunks share. Call it between chunks: it starts a new stamp,
    /// after which terms of the open chunk would get a second count.
    pub fn field(&mut self, text: &str) -> Field {
        debug_assert_eq!(self.length, 0, "a field is counted between chunks");
        let (mut counts, mut length) = (Vec::new(), 0u32);
        // A stamp of its own: counts of the field must not land in the chunk before it.
        self.analyser.counters.begin_chunk();
        let document = &mut self.document;
        self.analyser.numbers(text, |terms, counters, found| {
            let chunk = counters.chunk;
            if let Some(slot) = enter(counters, terms, document, found.term) {
                add_count(&mut counts, slot, chunk, found.term, 1);
                if !found.is_folded() {
                    length = length.saturating_add(1);
                }
            }
        });
        self.analyser.counters.begin_chunk();
        Field { counts, length }
    }

    /// Adds a field of this document to the open chunk, `weight` times.
    pub fn add_field(&mut self, field: &Field, weight: u32) {
        if weight == 0 {
            return;
        }
        self.length = self
            .length
            .saturating_add(field.length.saturating_mul(weight));
        let (terms, counters) = self.analyser.counting();
        for count in &field.counts {
            let chunk = counters.chunk;
            let times = count.frequency.saturating_mul(weight);
            if let Some(slot) = enter(counters, terms, &mut self.document, count.term) {
                let local = slot.local;
                add_count(&mut self.document.counts, slot, chunk, local, times);
            }
        }
    }

    /// Says that the open chunk defines something of that name. Its length stays as it is.
    pub fn add_symbol(&mut self, kind: SymbolTerm, name: &str) {
        self.add_mark(&kind.of(name));
    }

    /// Adds a term that is no word to the open chunk, once.
    fn add_mark(&mut self, mark: &str) {
        let (terms, counters) = self.analyser.counting();
        let (term, _) = terms.number(mark.as_bytes());
        let chunk = counters.chunk;
        if let Some(slot) = enter(counters, terms, &mut self.document, term)
            // A word of the text may have entered the same term; symbol terms differ from words by
            // their first byte, so only a second symbol of this name is left out here.
            && slot.chunk != chunk
        {
            let local = slot.local;
            add_count(&mut self.document.counts, slot, chunk, local, 1);
        }
    }

    /// Ends the chunk, which may be empty, and starts the next.
    pub fn end_chunk(&mut self) {
        if self.has_language && self.length > 0 {
            self.add_mark(MARKER);
        }
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
        // Counts after the last end belong to no row.
        let counts = self.document.chunks.last().map_or(0, |chunk| chunk.counts);
        self.document.counts.truncate(counts as usize);
        self.document
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

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
    fn forms_without_marks_count_and_add_no_length() {
        let mut analyser = Analyser::new();
        let mut builder = DocumentTermsBuilder::new(&mut analyser);
        let title = builder.field("\u{e9}t\u{e9}");
        builder.add_text("K\u{f6}ln", 1);
        builder.add_field(&title, 2);
        builder.end_chunk();
        let forms = [
            ("k\u{f6}ln", 1),
            ("koln", 1),
            ("koeln", 1),
            ("\u{e9}t\u{e9}", 2),
            ("ete", 2),
        ];
        assert_eq!(counted(&builder.finish()), [(map(&forms), 3)]);
    }

    #[test]
    fn counts_do_not_depend_on_earlier_documents() {
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
