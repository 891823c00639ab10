//! What a caller gets: hits with their scores and positions, and warnings.

use std::borrow::Cow;
use std::ops::Range;

use kb_types::{ChunkId, Class, Lines, PartAddress, SegmentId, SourceState, Span, SymbolKind};

use crate::paging::Paged;
use crate::search::explanation::{Bonus, Explanation, TermScore};
use crate::search::options::Mode;
use crate::search::relevance::Relevance;
use crate::search::render::whole_lines::CUT;
use crate::store::fields::{self, FieldValue, Lists};

/// The answer to one request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Response {
    /// At most [`k`](crate::Request::k) hits in the order of the request; empty when nothing matches.
    pub hits: Paged<Hit>,
    /// The mode that answered; [`Mode::Keyword`] for a hybrid request when this program does not have
    /// the embedding model of any file.
    pub mode: Mode,
    /// Whether the files contain anything relevant to the query: whether the best hit of all pages,
    /// whatever `min_score`, scores [`RELEVANT_SCORE`](crate::RELEVANT_SCORE) or more. [`Mode::Title`] and a query
    /// of operators alone: whether there are hits.
    pub relevance: Relevance,
    /// How many results were found, on this page, before and behind it, as far as was searched for this page; at least
    /// as many as are shown.
    pub found: u64,
    /// How many live chunks pass the filters and operators.
    pub searched_chunks: u64,
    /// Words of the query that no document has, each with the word that was searched in its place, in the order of the
    /// query. [`exact`](crate::Request::exact) searches them as they are written, and so do quotes.
    pub corrections: Vec<Correction>,
    /// How many documents have each value of the fields of [`facets`](crate::Request::facets), in their order. Counted are
    /// the documents of all pages with a hit that is relevant as in [`Sort::Recency`](crate::Sort::Recency), whatever
    /// `min_score` and `group_by`; those that a query without words lists.
    pub facets: Vec<FacetCounts>,
    /// Identifiers of the query that no document has. Where the query asks for little else, hits score below .5.
    pub missing: Vec<String>,
    /// What the caller should know, one sentence each, without a full stop.
    pub warnings: Vec<String>,
    /// How the answer came about; `None` unless requested.
    pub explanation: Option<Explanation>,
}

/// The values of a field among the documents of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FacetCounts {
    /// Name of the field.
    pub field: String,
    /// Values with the documents that have each, most frequent first, then by value; at most 1,000, in lower case.
    pub values: Vec<(String, u64)>,
    /// How many more values there are.
    pub more_values: u64,
}

/// A word of a query that was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Correction {
    /// The word as it was typed.
    pub from: String,
    /// The word that was searched.
    pub to: String,
    /// Where the word is in the query, in bytes.
    pub span: Range<usize>,
}

/// One result: a passage or a document, with its scores and where it is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// Position of its file in the searched files; 0 where one file is searched.
    pub file: usize,
    /// Path of the document inside the .kb.
    pub document: String,
    /// Handle of the document.
    pub handle: String,
    /// Title of the document.
    pub title: String,
    /// Titles of the section that holds the snippet, and of those around it, outermost first; empty
    /// before the first heading. `text` is within this section when it was cut to a number
    /// of [lines](crate::Show::Lines) or characters; a whole passage may reach beyond it.
    pub section: Vec<String>,
    /// Number of that section, as `2.1`; empty before the first heading.
    pub section_number: String,
    /// A name that [`Kb::section_text`](crate::Kb::section_text) finds it by: the titles with ` > `
    /// between, after the number where other sections have the same titles.
    pub section_name: String,
    /// The symbol that the passage is: with filters of symbols one that passes them, with
    /// [`smart_context`](crate::Request::smart_context) the one that was shown whole. Else the symbol whose
    /// section holds the snippet. `None` outside of symbols.
    pub symbol: Option<HitSymbol>,
    /// The page, sheet or slide that `text` lies in; `None` in a document without them.
    pub part: Option<PartAddress>,
    /// Score of the best chunk, 0..1, comparable between requests, modes and files: the probability that it answers,
    /// among right hits, the best hits of questions that the file has no answer to (a quarter as many), and other hits.
    /// [`Mode::Title`]: .5 or more; a query of operators alone: 1; a request with a [vector](crate::Request::vector): the
    /// fused score.
    pub score: f32,
    /// What the hits are ranked by: the weighted mean of both parts, or the one part that the mode has,
    /// 0..1, and the [`bonuses`](Hit::bonuses), which may take it above 1; in [`Mode::Title`] how well
    /// the names match.
    pub fused_score: f32,
    /// Keyword score, 0..1; `None` when the mode has none.
    pub keyword_score: Option<f32>,
    /// Vector score, 0..1; `None` when the mode has none.
    pub vector_score: Option<f32>,
    /// First and last line of the passage in the original file, from 1; both 0 for a document
    /// without text.
    pub lines: Lines,
    /// Byte range of `text` in the stored text of the document.
    pub span: Span,
    /// File type of the document.
    pub file_type: String,
    /// Language of the document; empty for prose.
    pub language: String,
    /// Class of the document.
    pub class: Class,
    /// Tags that were given to the document.
    pub tags: Vec<String>,
    /// Modification time of the original, in milliseconds since 1970; 0 when unknown.
    pub modified_ms: i64,
    /// Size of the original file in bytes.
    pub size_bytes: u64,
    /// Whether the original is as it was when it was indexed; set by `check_hits`.
    pub source_state: SourceState,
    /// Key and value pairs that the document states about itself: author, date.
    pub metadata: Vec<(String, String)>,
    /// The values of keys that have several.
    pub(crate) lists: Lists,
    /// Text of the passage, cut to a number of [characters](crate::Show::Chars) if requested.
    /// At most about 1 MB.
    pub text: String,
    /// Whether `text` begins within a line, so that less than the line is shown: where a line of more than 2 KB
    /// is divided, or was cut to a number of [lines](crate::Show::Lines).
    pub begins_within_line: bool,
    /// Whether it ends within a line.
    pub ends_within_line: bool,
    /// The requested context before `text`, at most some 256 KB. Of a line of more than 4096 bytes it
    /// has only the end, after `[...]`.
    pub before: String,
    /// Whether a line of `before` was cut.
    pub before_is_cut: bool,
    /// The requested context after `text`, at most some 256 KB. Of a line of more than 4096 bytes it
    /// has only the beginning, before `[...]`.
    pub after: String,
    /// Whether a line of `after` was cut.
    pub after_is_cut: bool,
    /// Byte ranges of `text` that match terms of the query, ascending, without overlaps; at most
    /// 4096.
    pub highlights: Vec<Range<usize>>,
    /// Byte range of `text`: up to four whole lines of one section with the most and rarest terms of the
    /// query.
    pub snippet: Range<usize>,
    /// Number of the first line of the snippet in the original file, from 1; `None` where lines of
    /// the text are not lines of the original (HTML) and only `lines` is known.
    pub snippet_first_line: Option<u32>,
    /// The best chunk; valid for this commit of the file.
    pub chunk: ChunkId,
    /// Number of that chunk in its document, from 0.
    pub chunk_index: u32,
    /// Number of chunks in the passage; 0 for a document without text.
    pub chunks: u32,
    /// Number of candidate chunks that the hit stands for: those of the passage, or with
    /// [`Scope::Documents`](crate::Scope::Documents) those of the document.
    pub matches: u32,
    /// Further passages of the document that were moved behind the first ten hits, because this one is the third or a
    /// later one of it there; 0 otherwise.
    pub more_in_document: u32,
    /// How many other documents have the same text, or nearly the same: of the best chunk, or with
    /// [`Scope::Documents`](crate::Scope::Documents) of the document. They are no hits.
    pub copies: u32,
    /// Paths of these documents.
    pub copy_paths: Vec<String>,
    /// What the document and the text add to the fused score; empty unless [`explain`](crate::Request::explain)
    /// is set. `fused_score` is `(1 - w) x keyword_score + w x vector_score` and these, with `w` the
    /// [`vector_weight`](crate::Explanation::vector_weight), less for words that the model does not know.
    pub bonuses: Vec<Bonus>,
    /// The keyword score by term; empty unless [`explain`](crate::Request::explain) is set.
    pub terms: Vec<TermScore>,
}

/// The symbol that a hit belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HitSymbol {
    /// What it is.
    pub kind: SymbolKind,
    /// Its name.
    pub name: String,
    /// Labels of the symbols that hold it and its own: `impl Foo > fn bar`.
    pub hierarchy: String,
    /// What stands before its body, on one line, at most 200 bytes: `pub fn bar(&self) -> usize`.
    pub signature: String,
    /// Lines of its definition in the original file, from 1.
    pub lines: Lines,
}

impl HitSymbol {
    fn texts(&self) -> [&String; 3] {
        [&self.name, &self.hierarchy, &self.signature]
    }
}

/// What the numbers and the names of the fields of a hit count in a token budget, in bytes.
// An estimate of the JSON around the texts of a hit. A token budget is approximate anyway.
pub(super) const HIT_OVERHEAD_BYTES: u64 = 160;

impl Hit {
    /// A hit with a document and a text, and nothing else: no score, no context, no highlights. For
    /// tests of programs that show hits; set the other fields as needed.
    pub fn of_text(document: impl Into<String>, text: impl Into<String>) -> Hit {
        Hit {
            file: 0,
            document: document.into(),
            handle: String::new(),
            title: String::new(),
            section: Vec::new(),
            section_number: String::new(),
            section_name: String::new(),
            symbol: None,
            part: None,
            score: 0.0,
            fused_score: 0.0,
            keyword_score: None,
            vector_score: None,
            lines: Lines { first: 0, last: 0 },
            span: Span { start: 0, end: 0 },
            file_type: String::new(),
            language: String::new(),
            class: Class::Doc,
            tags: Vec::new(),
            modified_ms: 0,
            size_bytes: 0,
            source_state: SourceState::Unknown,
            metadata: Vec::new(),
            lists: Vec::new(),
            text: text.into(),
            begins_within_line: false,
            ends_within_line: false,
            before: String::new(),
            before_is_cut: false,
            after: String::new(),
            after_is_cut: false,
            highlights: Vec::new(),
            snippet: 0..0,
            snippet_first_line: None,
            chunk: ChunkId {
                segment: SegmentId(0),
                row: 0,
            },
            chunk_index: 0,
            chunks: 0,
            matches: 0,
            more_in_document: 0,
            copies: 0,
            copy_paths: Vec::new(),
            bonuses: Vec::new(),
            terms: Vec::new(),
        }
    }

    /// What the copies are, in a line that names at most `named`: `4 more copies: a.md, b.md, c.md, ...`. `None` without
    /// any.
    pub fn copies_note(&self, named: usize) -> Option<String> {
        let noun = match self.copies {
            0 => return None,
            1 => "copy",
            _ => "copies",
        };
        let named = self.copy_paths.iter().take(named);
        let mut names: Vec<&str> = named.map(String::as_str).collect();
        if self.copies as usize > names.len() {
            names.push("...");
        }
        Some(format!("{} more {noun}: {}", self.copies, names.join(", ")))
    }

    /// `[...]` where the text begins within a line of which `before` does not have the rest, else nothing.
    pub fn cut_before(&self) -> &'static str {
        if self.begins_within_line && self.before.is_empty() {
            CUT
        } else {
            ""
        }
    }

    /// `[...]` where the text ends within a line of which `after` does not have the rest, else nothing.
    pub fn cut_after(&self) -> &'static str {
        if self.ends_within_line && self.after.is_empty() {
            CUT
        } else {
            ""
        }
    }

    /// The text as it is shown: with `[...]` in place of the rest of a line that it begins or ends within.
    pub fn shown_text(&self) -> Cow<'_, str> {
        match (self.cut_before(), self.cut_after()) {
            ("", "") => Cow::Borrowed(&self.text),
            (before, after) => Cow::Owned(format!("{before}{}{after}", self.text)),
        }
    }

    /// The metadata by name, each value with its type. A text that the document states is one value, also a list with
    /// commas.
    pub fn fields(&self) -> Vec<(String, Vec<FieldValue>)> {
        fields::typed(&self.metadata, &self.lists)
    }

    /// Bytes that the hit counts in a token budget: its texts, names and metadata, and
    /// `HIT_OVERHEAD_BYTES`. Its symbol counts as the section that it is.
    pub fn cost_bytes(&self) -> u64 {
        let texts = [&self.text, &self.before, &self.after];
        let bytes: usize = texts.into_iter().map(String::len).sum();
        let names = HitNames {
            names: [&self.document, &self.handle, &self.title],
            section: &self.section,
            part: self.part.as_ref(),
            metadata: &self.metadata,
        };
        let copies: usize = self.copy_paths.iter().map(String::len).sum();
        (bytes + copies) as u64 + names.cost_bytes()
    }

    /// Approximate heap and inline size of the hit in memory, in bytes.
    pub(crate) fn held_bytes(&self) -> u64 {
        let names = [&self.file_type, &self.language];
        let names = names
            .into_iter()
            .chain([&self.section_number, &self.section_name]);
        let symbol = self.symbol.iter().flat_map(HitSymbol::texts);
        let strings = names
            .chain(&self.tags)
            .chain(&self.copy_paths)
            .chain(symbol);
        let others: usize = strings.map(String::len).sum();
        let terms: usize = self.terms.iter().map(|term| term.term.len()).sum();
        let lists = self.highlights.len() * size_of::<Range<usize>>()
            + self.terms.len() * size_of::<TermScore>()
            + (self.tags.len() + self.section.len() + 2 * self.metadata.len())
                * size_of::<String>();
        self.cost_bytes() + (others + terms + lists + size_of::<Hit>()) as u64
    }
}

/// What a hit has beside its texts that counts in a token budget.
pub(crate) struct HitNames<'h> {
    /// Path, handle and title of the document.
    pub(crate) names: [&'h str; 3],
    pub(crate) section: &'h [String],
    pub(crate) part: Option<&'h PartAddress>,
    pub(crate) metadata: &'h [(String, String)],
}

impl HitNames<'_> {
    /// Bytes that a hit without text counts.
    pub(crate) fn cost_bytes(&self) -> u64 {
        let pairs = self.metadata.iter().flat_map(|(key, value)| [key, value]);
        let others: usize = self.section.iter().chain(pairs).map(String::len).sum();
        let names: usize = self.names.iter().map(|name| name.len()).sum();
        let part = self.part.map_or(0, |part| part.name().len());
        (names + others + part) as u64 + HIT_OVERHEAD_BYTES
    }
}
