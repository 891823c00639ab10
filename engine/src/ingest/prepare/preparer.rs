//! Document -> chunks, terms and vectors: all the work that needs no order, on any thread.

use std::borrow::Cow;
use std::collections::BTreeSet;

use kb_extract::{links, tags};
use kb_types::cell_text::ShownRows;
use kb_types::error::Result;
use kb_types::link::Link;
use kb_types::part::{part_lines, part_span};
use kb_types::syntax::by_chunk::SymbolsByChunk;
use kb_types::syntax::pending;
use kb_types::{ChunkSpan, Class, Document, Lines, PartKind, Span};

use crate::embed::Embedder;
use crate::index::keyword::{
    Analyser, DocumentTerms, DocumentTermsBuilder, Language, PATH_WEIGHT, SymbolTerm, TITLE_WEIGHT,
    searched_names,
};
use crate::index::vector::{self, quantise};
use crate::ingest::prepare::limits;
use crate::store::outline::SectionPath;

/// Where a document came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Source {
    /// Position of its root; none for a document that is no file of a root.
    pub root: Option<u32>,
    /// Bytes of the original.
    pub size_bytes: u64,
    /// Modification time, milliseconds since 1970; 0 when unknown.
    pub modified_ms: i64,
    /// blake3 of the original bytes.
    pub hash: [u8; 32],
}

/// How a document is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Chunking {
    /// At headings, paragraphs and blank lines, as [`crate::ingest::chunk`] does.
    Auto,
    /// Not at all: one chunk, and its path is not searched. To measure ranking alone.
    Whole,
    /// Where it was cut before, when the lines of its original were still known.
    Existing {
        /// Chunks as they were cut.
        chunks: Vec<ChunkSpan>,
        /// Lines of the original.
        lines: u32,
        /// Whether its text has other lines than the original.
        line_map: bool,
    },
}

/// A document ready to be written.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Text, outline and metadata.
    pub document: Document,
    /// Where it came from.
    pub source: Source,
    /// Its chunks, contiguous, covering the text.
    pub chunks: Vec<ChunkSpan>,
    /// Lines of the original.
    pub lines: u32,
    /// Whether the text has other lines than the original.
    pub line_map: bool,
    /// Terms of each chunk, counted.
    pub terms: DocumentTerms,
    /// The documents that it links to, as it names them.
    pub links: BTreeSet<Link>,
    /// Vectors of the chunks as signed bytes: `[chunks, stride]`, row-major.
    pub vectors: Vec<i8>,
    /// Bytes of a vector row.
    pub stride: usize,
}

impl Prepared {
    /// About the bytes that it holds: a package of 1 MB may be 50 MB of text.
    pub(crate) fn held_bytes(&self) -> u64 {
        let chunks = self.chunks.len() * size_of::<ChunkSpan>();
        let held = self.document.text.len() + self.vectors.len() + self.terms.held_bytes() + chunks;
        held as u64
    }

    /// Whether it is a program that is not parsed yet.
    pub(crate) fn is_pending(&self) -> bool {
        pending::is_marked(&self.document.metadata)
    }

    /// The tags that the document states.
    pub(crate) fn stated_tags(&self) -> Vec<String> {
        tags::stated(&self.document.file_type, &self.document.metadata)
    }
}

/// Prepares documents on one thread; keeps buffers and the analyser's caches between them.
#[derive(Debug)]
pub(crate) struct Preparer<'m> {
    /// Text -> terms.
    analyser: Analyser,
    /// Text -> vectors.
    model: &'m dyn Embedder,
    /// The quantiser of the file.
    range: f32,
    /// The text that is embedded for a chunk.
    context: String,
    /// The vector of `context`.
    vector: Vec<f32>,
}

impl<'m> Preparer<'m> {
    /// For files whose vectors come from `model`, quantised with `range`.
    pub(crate) fn new(model: &'m dyn Embedder, range: f32) -> Preparer<'m> {
        Preparer {
            analyser: Analyser::new(),
            model,
            range,
            context: String::new(),
            vector: vec![0.0; model.dim()],
        }
    }

    /// Cuts, analyses and embeds a document.
    ///
    /// # Errors
    /// [`crate::Error::TooLarge`] and [`crate::Error::TooMany`] for a document that no .kb can hold:
    /// what is prepared can be written.
    pub(crate) fn prepare(
        &mut self,
        document: Document,
        source: Source,
        chunking: Chunking,
    ) -> Result<Prepared> {
        // What was in a file fits again.
        let is_new = !matches!(chunking, Chunking::Existing { .. });
        if is_new {
            limits::check(&document)?;
        }
        let mut lines = lines_of(&document);
        let mut line_map = !document.line_numbers.is_empty();
        let whole = chunking == Chunking::Whole;
        let chunks = match chunking {
            Chunking::Auto => crate::ingest::chunk::chunker::chunk(&document),
            Chunking::Existing {
                chunks,
                lines: known,
                line_map: known_map,
            } => {
                (lines, line_map) = (known, known_map);
                chunks
            }
            Chunking::Whole => whole_chunks(&document, lines),
        };
        if is_new {
            limits::check_chunks(&document.text, &chunks)?;
        }
        let path = if whole { "" } else { document.path.as_str() };
        let stride = vector::stride(self.model.dim() as u32) as usize;
        let mut vectors = vec![0; stride * chunks.len()];
        let mut terms = DocumentTermsBuilder::new(&mut self.analyser);
        let path = terms.field(path);
        // Programs and data are English or nothing.
        if document.class == Class::Doc {
            terms.set_language(Language::of_document(&document.text));
        }
        let document_title = terms.field(&document.title);
        let mut texts = ChunkTexts::new(&document);
        let mut symbols = SymbolsByChunk::new(&document.syntax.symbols);
        for (chunk, row) in chunks.iter().zip(vectors.chunks_exact_mut(stride)) {
            let (headings, text) = texts.at(chunk.span);
            let text = text.as_ref();
            // To every chunk: a search ranks chunks, and each must be found by the name of its
            // file.
            terms.add_field(&path, PATH_WEIGHT);
            terms.add_field(&document_title, TITLE_WEIGHT);
            terms.add_text(&headings, TITLE_WEIGHT);
            terms.add_text(text, 1);
            for symbol in symbols.named_in(chunk.span) {
                for name in searched_names(&symbol.name) {
                    terms.add_symbol(SymbolTerm::for_kind(symbol.kind), name);
                }
            }
            terms.end_chunk();

            texts.embedded(&headings, text, &mut self.context);
            self.model
                .embed_documents(&[&self.context], &mut self.vector)?;
            quantise::quantise(&self.vector, self.range, row);
        }
        let terms = terms.finish();
        Ok(Prepared {
            links: links::of_text(&document.file_type, &document.text),
            document,
            source,
            chunks,
            lines,
            line_map,
            terms,
            vectors,
            stride,
        })
    }
}

/// What is searched and embedded of the chunks of a document, which are asked for in ascending order.
pub(in crate::ingest) struct ChunkTexts<'d> {
    document: &'d Document,
    sections: SectionPath<'d>,
}

impl<'d> ChunkTexts<'d> {
    pub(in crate::ingest) fn new(document: &'d Document) -> ChunkTexts<'d> {
        ChunkTexts {
            document,
            sections: SectionPath::new(&document.outline),
        }
    }

    /// The headings of a chunk, and its text.
    pub(in crate::ingest) fn at(&mut self, span: Span) -> (String, Cow<'d, str>) {
        let document = self.document;
        let (start, end) = (span.start as usize, span.end as usize);
        let stored = document.text.get(start..end).unwrap_or_default();
        let above = self.sections.at(span.start);
        // The first heading of a document is often its title, which counts already.
        let above = above.filter(|title| *title != document.title);
        let headings: Vec<&str> = above.chain(symbols_within(document, span)).collect();
        (headings.join("\n"), searched(document, stored))
    }

    /// Writes what is embedded for a chunk with these headings and this text.
    pub(in crate::ingest) fn embedded(&self, headings: &str, text: &str, context: &mut String) {
        context.clear();
        for part in [self.document.title.as_str(), "\n", headings, "\n", text] {
            context.push_str(part);
        }
    }
}

/// What a chunk of a program defines behind its first byte, by the outline: small functions share a chunk, which is
/// found by the name of each. Their titles are no longer than their text.
fn symbols_within(document: &Document, span: Span) -> impl Iterator<Item = &str> {
    let outline = match document.class {
        Class::Code => document.outline.as_slice(),
        Class::Doc | Class::Data => &[],
    };
    let first = outline.partition_point(|heading| heading.start <= span.start);
    let behind = outline.get(first..).unwrap_or_default().iter();
    let within = behind.take_while(move |heading| heading.start < span.end);
    within.map(|heading| heading.title.as_str())
}

/// What of a stored text is searched: of sheets, what their cells show.
fn searched<'t>(document: &Document, stored: &'t str) -> Cow<'t, str> {
    let first = document.parts.first();
    match first.map(|part| part.content.kind()) {
        Some(PartKind::Sheet) => Cow::Owned(ShownRows::of(stored).text),
        _ => Cow::Borrowed(stored),
    }
}

/// The text of a document as one chunk, or one for each part that has text.
fn whole_chunks(document: &Document, lines: u32) -> Vec<ChunkSpan> {
    let text_bytes = document.text.len() as u32;
    if document.parts.is_empty() {
        let lines = Lines {
            first: 1,
            last: lines.max(1),
        };
        let span = Span {
            start: 0,
            end: text_bytes,
        };
        return vec![ChunkSpan { span, lines }];
    }
    let chunk_of = |position: usize| {
        let span = part_span(&document.parts, position, text_bytes);
        let (first, count) = part_lines(&document.parts, position, lines);
        let last = first.saturating_add(count.saturating_sub(1));
        let lines = Lines { first, last };
        (!span.is_empty()).then_some(ChunkSpan { span, lines })
    };
    (0..document.parts.len()).filter_map(chunk_of).collect()
}

fn lines_of(document: &Document) -> u32 {
    match document.line_numbers.last() {
        Some(last) => *last,
        None => {
            let text = document.text.as_bytes();
            let ends = text.iter().filter(|byte| **byte == b'\n').count();
            let open = text.last().is_some_and(|byte| *byte != b'\n');
            u32::try_from(ends + usize::from(open)).unwrap_or(u32::MAX)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::built_in;
    use kb_extract::extract;

    #[test]
    fn a_prepared_document_holds_more_than_its_source() {
        let text = "the tide turns at noon\n".repeat(500);
        let document = extract("tide.txt", text.as_bytes()).unwrap();
        // As of a package: its text is much longer.
        let source = Source {
            size_bytes: 10,
            ..Source::default()
        };
        let model = built_in();
        let mut preparer = Preparer::new(model, model.quantiser_range());
        let prepared = preparer.prepare(document, source, Chunking::Auto).unwrap();
        let least = text.len() + prepared.vectors.len() + 8 * prepared.chunks.len();
        assert!(prepared.held_bytes() > least as u64);
    }
}
