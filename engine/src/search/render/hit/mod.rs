//! Passages -> hits: text with highlights and snippet, document, section, position, context.

use std::ops::Range;

use kb_types::error::Result;

use crate::index::keyword::{Analyser, TermSet};
use crate::search::calibration::Calibration;
use crate::search::filter::symbols::WantedSymbols;
use crate::search::options::Mode;
use crate::search::records::DocumentRecords;
use crate::search::render::outlines::DocumentOutlines;
use crate::search::render::phrases::QuotedPhrases;
use crate::search::request::Request;
use crate::search::rerank::ChunkTexts;
use crate::search::show::Show;
use crate::search::sources::Sources;

mod best_lines;
mod build;
mod read;
mod shown;
mod surroundings;
mod symbol;
mod symbol_passages;

/// Most bytes of the text of a hit. Passages are of some KB; only a document that was added as one chunk
/// can have a longer one, which is cut around its snippet.
pub(crate) const HIT_TEXT_LIMIT_BYTES: usize = 1_000_000;

/// Turns passages into hits. Keeps the documents and decoded blocks that several hits share.
pub(crate) struct Renderer<'r, 'a> {
    /// The files that hits are of.
    sources: &'r Sources<'r>,
    /// What is asked for.
    request: &'r Request,
    /// What is shown of each hit.
    show: Show,
    /// Which scores the hits have.
    mode: Mode,
    /// The scores of hits by their fused scores.
    calibration: Calibration,
    /// Finds the terms of the query in text.
    analyser: &'a mut Analyser,
    /// The distinct terms of the query.
    terms: TermSet,
    /// Weight of a highlight of each term: its idf times the weight of its word.
    weights: Vec<f32>,
    /// Finds the quoted phrases of the query in text.
    phrases: QuotedPhrases,
    /// The name whose definition the query asks for.
    definition: Option<WantedSymbols>,
    /// Reads the records of documents, and has those that were read before.
    records: DocumentRecords<'r>,
    /// Reads the texts, and has those that were read before.
    texts: ChunkTexts<'r>,
    /// Has the outlines that were read before.
    outlines: DocumentOutlines,
    /// Hits that were cut to [`HIT_TEXT_LIMIT_BYTES`].
    cut_hits: usize,
}

impl std::fmt::Debug for Renderer<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Renderer")
            .field("records", &self.records)
            .finish_non_exhaustive()
    }
}

impl<'r, 'a> Renderer<'r, 'a> {
    /// `terms`: the distinct terms of the query, each with its idf times its weight; its quoted phrases, and the
    /// name whose definition it asks for.
    pub(crate) fn new(
        sources: &'r Sources<'r>,
        (request, show): (&'r Request, Show),
        mode: Mode,
        calibration: Calibration,
        (analyser, texts, records): (&'a mut Analyser, ChunkTexts<'r>, DocumentRecords<'r>),
        (terms, phrases, definition): (&[(String, f32)], QuotedPhrases, Option<WantedSymbols>),
    ) -> Renderer<'r, 'a> {
        Renderer {
            sources,
            request,
            show,
            mode,
            calibration,
            analyser,
            terms: TermSet::new(terms.iter().map(|(term, _)| term.as_str())),
            weights: terms.iter().map(|(_, weight)| *weight).collect(),
            phrases,
            definition,
            records,
            texts,
            outlines: DocumentOutlines::default(),
            cut_hits: 0,
        }
    }

    /// What was read for it.
    pub(crate) fn into_read(self) -> (ChunkTexts<'r>, DocumentRecords<'r>) {
        (self.texts, self.records)
    }

    /// Bytes of text and outlines that were decoded so far.
    pub(crate) fn work_bytes(&self) -> u64 {
        let text = self.texts.decoded_bytes();
        self.outlines.read_bytes().saturating_add(text)
    }

    /// How many hits had more text than [`HIT_TEXT_LIMIT_BYTES`].
    pub(crate) fn cut_hits(&self) -> usize {
        self.cut_hits
    }

    /// Text of consecutive rows.
    fn text(&mut self, segment: usize, rows: Range<u32>) -> Result<String> {
        self.texts.rows(segment, rows)
    }
}
