//! What a caller gets: hits, warnings and, on request, the explanation.

use std::ops::Range;

use crate::paging::Paged;
use crate::search::explanation::{Explanation, TermScore};
use crate::search::relevance::Relevance;
use crate::search::request::Mode;
use crate::types::{ChunkId, Class, Lines, Span};

/// The answer to one request, best hit first.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// At most `k` hits, in the order asked for.
    pub hits: Paged<Hit>,
    /// The mode that answered; keyword when a semantic part was impossible.
    pub mode: Mode,
    /// Whether the files contain anything relevant to the query.
    pub relevance: Relevance,
    /// How many chunks the filters let through.
    pub searched_chunks: u64,
    /// What the caller should know, one sentence each.
    pub warnings: Vec<String>,
    /// How the answer came about, when asked for.
    pub explanation: Option<Explanation>,
}

/// A passage with its scores and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Position of its file in the request; 0 where one file was asked.
    pub file: usize,
    /// Path of the document inside the .kb.
    pub document: String,
    /// Handle of the document.
    pub handle: String,
    /// Title of the document.
    pub title: String,
    /// Headings above the best chunk, outermost first.
    pub section: Vec<String>,
    /// Score of the best chunk, 0..1, comparable between requests.
    pub score: f32,
    /// Keyword part, 0..1; `None` when the mode has no such part.
    pub keyword_score: Option<f32>,
    /// Vector part, 0..1; `None` when the mode has no such part.
    pub vector_score: Option<f32>,
    /// Lines of the original file.
    pub lines: Lines,
    /// Bytes of the stored text.
    pub span: Span,
    /// File type of the document.
    pub file_type: String,
    /// Language of the document; empty for prose.
    pub language: String,
    /// Class of the document.
    pub class: Class,
    /// Tags that people gave the document.
    pub tags: Vec<String>,
    /// Modification time of the original, milliseconds since 1970; 0 when unknown.
    pub modified_ms: i64,
    /// Size of the original file in bytes.
    pub size_bytes: u64,
    /// Key and value pairs that the document states about itself: author, date.
    pub metadata: Vec<(String, String)>,
    /// Text of the passage, or the preview of it that was asked for.
    pub text: String,
    /// The lines asked for before the passage, or the characters before the preview. Of a line of more
    /// than 4096 bytes the end, behind `[...]`; at most some 256 KB.
    pub before: String,
    /// Whether a line of `before` was cut.
    pub before_is_cut: bool,
    /// The lines or characters asked for after it. Of a line of more than 4096 bytes the beginning, and
    /// then `[...]`; at most some 256 KB.
    pub after: String,
    /// Whether a line of `after` was cut.
    pub after_is_cut: bool,
    /// Byte ranges of `text` that match words of the query, in order, not overlapping.
    pub highlights: Vec<Range<usize>>,
    /// Byte range of `text`: the few whole lines that show best why it was found.
    pub snippet: Range<usize>,
    /// Original line number of the first of the best lines; `None` where the text has other lines
    /// than the original (HTML), so that only `lines` says where the chunk stands.
    pub snippet_first_line: Option<u32>,
    /// The best chunk of it; valid for this state of the file.
    pub chunk: ChunkId,
    /// Number of that chunk in its document, from 0.
    pub chunk_index: u32,
    /// How many chunks the passage has; 0 for a document without text.
    pub chunks: u32,
    /// How many candidates it stands for: chunks of the passage, or of the document when documents
    /// were asked for.
    pub matches: u32,
    /// The parts of the keyword score by term, when asked for.
    pub terms: Vec<TermScore>,
}

impl Hit {
    /// Bytes that the hit counts as in a token budget: its texts, names and metadata, and
    /// [`HIT_OVERHEAD_BYTES`] for its numbers.
    pub fn cost_bytes(&self) -> u64 {
        let names = [&self.document, &self.handle, &self.title];
        let texts = [&self.text, &self.before, &self.after];
        let strings = names.into_iter().chain(texts).chain(&self.section);
        let pairs = self.metadata.iter().flat_map(|(key, value)| [key, value]);
        let bytes: usize = strings.chain(pairs).map(String::len).sum();
        bytes as u64 + HIT_OVERHEAD_BYTES
    }

    /// Bytes of memory that the hit takes, about.
    pub(crate) fn held_bytes(&self) -> u64 {
        let names = [&self.file_type, &self.language];
        let strings = names.into_iter().chain(&self.tags);
        let others: usize = strings.map(String::len).sum();
        let terms: usize = self.terms.iter().map(|term| term.term.len()).sum();
        let lists = self.highlights.len() * size_of::<Range<usize>>()
            + self.terms.len() * size_of::<TermScore>()
            + (self.tags.len() + self.section.len() + 2 * self.metadata.len())
                * size_of::<String>();
        self.cost_bytes() + (others + terms + lists + size_of::<Hit>()) as u64
    }
}

/// What scores, lines and the names of fields take in an answer, in bytes.
pub const HIT_OVERHEAD_BYTES: u64 = 160;
