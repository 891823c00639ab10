//! [`kb_hits`]: the hits of a search.

use kb_engine::{Hit, PartAddress, Relevance, Response};

use crate::base::boundary::fallible;
use crate::base::error::kb_error;
use crate::base::handle::{self, Opaque};
use crate::base::options::{self, BySize};
use crate::base::panic::infallible;
use crate::base::status::kb_status;
use crate::base::str::{kb_str, pointers};
use crate::reader::items::no_item;
use crate::reader::kinds::{class_number, kind_bit};

/// The hits of a search. Any number of threads may read one at once. The caller owns it: `kb_hits_free`.
#[allow(non_camel_case_types)]
pub struct kb_hits {
    _private: [u8; 0],
}

/// A range of bytes; the end is exclusive.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_range {
    /// The first byte.
    pub start: usize,
    /// End in bytes, exclusive.
    pub end: usize,
}

/// A hit: a passage of a document and its location. Texts and arrays are valid until the hits are freed.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_hit {
    /// sizeof(kb_hit).
    pub struct_size: usize,
    /// Path of the document.
    pub document: kb_str,
    /// Its handle: a short name that stays the same if the document is renamed.
    pub handle: kb_str,
    /// Its title.
    pub title: kb_str,
    /// Titles of the sections around the passage, the outermost first, joined by " > ".
    pub section: kb_str,
    /// Number of the section: "2.1"; empty where there is none.
    pub section_number: kb_str,
    /// The passage.
    pub text: kb_str,
    /// The lines before it: see `context_before`.
    pub before: kb_str,
    /// The lines after it: see `context_after`.
    pub after: kb_str,
    /// Estimated probability that the hit answers the query, 0 to 1. Comparable between queries and files.
    pub score: f32,
    /// The score that orders the hits; it has no unit.
    pub fused_score: f32,
    /// Score in the keyword index; NaN if it was not found there.
    pub keyword_score: f32,
    /// Score in the vector index; NaN if it was not found there.
    pub vector_score: f32,
    /// First line in the original, from 1; 0 where the document has no text.
    pub first_line: u32,
    /// Last line, included.
    pub last_line: u32,
    /// First byte in the stored text.
    pub start_byte: u32,
    /// End in bytes, exclusive.
    pub end_byte: u32,
    /// Ranges of `text` that match terms of the query, ascending.
    pub highlights: *const kb_range,
    /// Number of items.
    pub highlights_len: usize,
    /// Range of `text`: its best whole lines, up to four.
    pub snippet: kb_range,
    /// Name of the symbol that the passage belongs to; empty where there is none.
    pub symbol: kb_str,
    /// One bit of `kb_symbol_kind`; 0 without a symbol.
    pub symbol_kind: u32,
    /// The text before the body of the symbol, on one line.
    pub signature: kb_str,
    /// The enclosing symbols and the symbol itself: `impl Foo > fn bar`.
    pub hierarchy: kb_str,
    /// A `kb_part_kind`; 0: the document has no parts.
    pub part_kind: i32,
    /// Number of the page, sheet or slide, from 1.
    pub part_number: u32,
    /// Name of the sheet, title of the slide, or number printed on the page.
    pub part_name: kb_str,
    /// File type of the document.
    pub file_type: kb_str,
    /// Its language; empty for prose.
    pub language: kb_str,
    /// A `kb_class`.
    pub document_class: i32,
    /// Tags of the document.
    pub tags: *const kb_str,
    /// Number of items.
    pub tags_len: usize,
    /// Modification time of the original, milliseconds since 1970; 0: unknown.
    pub modified_ms: i64,
    /// Size of the original in bytes.
    pub size_bytes: u64,
    /// Number of the best chunk in the document, from 0.
    pub chunk_index: u32,
    /// Number of chunks in the passage.
    pub chunks: u32,
    /// Position of the file among those that were searched.
    pub file: usize,
}

// SAFETY: `repr(C)`, it begins with its size, and all else is numbers and pointers.
unsafe impl BySize for kb_hit {
    const NAME: &str = "kb_hit";
}

/// Facts about a search as a whole.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_hits_summary {
    /// sizeof(kb_hits_summary).
    pub struct_size: usize,
    /// The `kb_mode` that was used: that of the request, or `KB_MODE_KEYWORD` if the model is missing.
    pub mode: i32,
    /// Not 0: the best hit is probably relevant, not a chance match.
    pub is_relevant: i32,
    /// Chunks that passed the filters.
    pub searched_chunks: u64,
    /// Pass it as `cursor` of the same request to get the next hits. Empty if there are none.
    pub next: kb_str,
    /// Warnings, one sentence each.
    pub warnings: *const kb_str,
    /// Number of items.
    pub warnings_len: usize,
}

// SAFETY: `repr(C)`, it begins with its size, and all else is numbers and pointers.
unsafe impl BySize for kb_hits_summary {
    const NAME: &str = "kb_hits_summary";
}

/// What is behind the pointer. Nothing in it changes once it is made: views point into the texts beside them.
#[derive(Debug)]
pub(crate) struct Hits {
    response: Response,
    /// By hit: what a view points to and a hit does not have as such.
    made: Vec<Made>,
    warnings: Vec<kb_str>,
}

#[derive(Debug)]
struct Made {
    section: String,
    highlights: Vec<kb_range>,
    tags: Vec<kb_str>,
}

impl Opaque for kb_hits {
    type Value = Hits;
    const TAG: u64 = u64::from_le_bytes(*b"kb.hits\0");
    const NAME: &str = "kb_hits";
}

impl Hits {
    pub(crate) fn new(response: Response) -> Hits {
        let made = response.hits.iter().map(|hit| Made {
            section: hit.section.join(" > "),
            highlights: hit
                .highlights
                .iter()
                .map(|range| kb_range {
                    start: range.start,
                    end: range.end,
                })
                .collect(),
            tags: hit.tags.iter().map(|tag| kb_str::of(tag)).collect(),
        });
        Hits {
            made: made.collect(),
            warnings: response.warnings.iter().map(|it| kb_str::of(it)).collect(),
            response,
        }
    }

    fn view(&self, index: usize) -> Option<kb_hit> {
        let (hit, made) = (self.response.hits.get(index)?, self.made.get(index)?);
        let text = |text: Option<&String>| text.map_or(kb_str::EMPTY, |text| kb_str::of(text));
        let symbol = hit.symbol.as_ref();
        let (part_kind, part_number, part_name) = part(hit);
        Some(kb_hit {
            struct_size: size_of::<kb_hit>(),
            document: kb_str::of(&hit.document),
            handle: kb_str::of(&hit.handle),
            title: kb_str::of(&hit.title),
            section: kb_str::of(&made.section),
            section_number: kb_str::of(&hit.section_number),
            text: kb_str::of(&hit.text),
            before: kb_str::of(&hit.before),
            after: kb_str::of(&hit.after),
            score: hit.score,
            fused_score: hit.fused_score,
            keyword_score: hit.keyword_score.unwrap_or(f32::NAN),
            vector_score: hit.vector_score.unwrap_or(f32::NAN),
            first_line: hit.lines.first,
            last_line: hit.lines.last,
            start_byte: hit.span.start,
            end_byte: hit.span.end,
            highlights: pointers(&made.highlights),
            highlights_len: made.highlights.len(),
            snippet: kb_range {
                start: hit.snippet.start,
                end: hit.snippet.end,
            },
            symbol: text(symbol.map(|symbol| &symbol.name)),
            symbol_kind: symbol.map_or(0, |symbol| kind_bit(symbol.kind)),
            signature: text(symbol.map(|symbol| &symbol.signature)),
            hierarchy: text(symbol.map(|symbol| &symbol.hierarchy)),
            part_kind,
            part_number,
            part_name,
            file_type: kb_str::of(&hit.file_type),
            language: kb_str::of(&hit.language),
            document_class: class_number(hit.class),
            tags: pointers(&made.tags),
            tags_len: made.tags.len(),
            modified_ms: hit.modified_ms,
            size_bytes: hit.size_bytes,
            chunk_index: hit.chunk_index,
            chunks: hit.chunks,
            file: hit.file,
        })
    }

    fn summary(&self) -> kb_hits_summary {
        let next = self.response.hits.next.as_ref();
        kb_hits_summary {
            struct_size: size_of::<kb_hits_summary>(),
            mode: kb_engine::Mode::ALL
                .iter()
                .position(|mode| *mode == self.response.mode)
                .and_then(|at| i32::try_from(at).ok())
                .unwrap_or_default(),
            is_relevant: i32::from(self.response.relevance == Relevance::Relevant),
            searched_chunks: self.response.searched_chunks,
            next: next.map_or(kb_str::EMPTY, |next| kb_str::of(next.as_str())),
            warnings: pointers(&self.warnings),
            warnings_len: self.warnings.len(),
        }
    }
}

fn part(hit: &Hit) -> (i32, u32, kb_str) {
    match &hit.part {
        None => (0, 0, kb_str::EMPTY),
        Some(part) => {
            let (kind, number) = match part {
                PartAddress::Page { number, .. } => (1, *number),
                PartAddress::Sheet { number, .. } => (2, *number),
                PartAddress::Slide { number, .. } => (3, *number),
            };
            (kind, number, kb_str::of(part.name()))
        }
    }
}

/// How many hits there are; 0 for NULL.
///
/// # Safety
/// `hits` is NULL or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_hits_len(hits: *const kb_hits) -> usize {
    infallible(0, || {
        // SAFETY: as the caller promises.
        unsafe { handle::peek(hits) }.map_or(0, |hits| hits.response.hits.len())
    })
}

/// Fills `out` with one hit. `out->struct_size` is set before: `kb_hit hit = KB_HIT_INIT;`
///
/// Errors: `KB_INVALID_ARGUMENT` for an index from `kb_hits_len` on.
///
/// # Safety
/// `hits` is live; `out` may be written as far as its size says; `err` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_hits_get(
    hits: *const kb_hits,
    index: usize,
    out: *mut kb_hit,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            let hits = handle::used(hits, "hits")?;
            let hit = hits.view(index);
            let hit = hit.ok_or_else(|| no_item(index, hits.response.hits.len()))?;
            options::fill(out, &hit, "out")
        })
    }
}

/// Fills `out` with facts about the search as a whole: `kb_hits_summary summary = KB_HITS_SUMMARY_INIT;`
///
/// # Safety
/// As for `kb_hits_get`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_hits_about(
    hits: *const kb_hits,
    out: *mut kb_hits_summary,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            let hits = handle::used(hits, "hits")?;
            options::fill(out, &hits.summary(), "out")
        })
    }
}

/// Frees hits and sets the pointer to NULL. Does nothing if either is NULL.
///
/// # Safety
/// `hits` is NULL or points to NULL or to live hits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_hits_free(hits: *mut *mut kb_hits) {
    // SAFETY: as the caller promises.
    infallible((), || unsafe { handle::free(hits) });
}
