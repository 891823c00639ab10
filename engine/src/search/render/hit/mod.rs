//! Passages -> hits: text with highlights and snippet, document, section, position, context.

use std::ops::Range;
use std::rc::Rc;

use kb_types::error::Result;

use crate::index::keyword::{Analyser, TermSet};
use crate::search::calibration::Calibration;
use crate::search::filter::symbols::WantedSymbols;
use crate::search::options::{Mode, Scope};
use crate::search::read_cache::ReadCache;
use crate::search::render::phrases::QuotedPhrases;
use crate::search::request::Request;
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
    /// What one hit stands for.
    scope: Scope,
    /// The symbols that filters ask for.
    wanted: Option<Rc<WantedSymbols>>,
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
    /// Reads records, outlines and texts, and has those that were read before.
    cache: ReadCache<'r>,
    /// Hits that were cut to [`HIT_TEXT_LIMIT_BYTES`].
    cut_hits: usize,
}

impl std::fmt::Debug for Renderer<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Renderer")
            .field("cache", &self.cache)
            .finish_non_exhaustive()
    }
}

impl<'r, 'a> Renderer<'r, 'a> {
    /// `terms`: the distinct terms of the query, each with its idf times its weight; its quoted phrases, and the
    /// name whose definition it asks for.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](kb_types::error::Error::InvalidArgument) for a filter that no symbol can pass.
    pub(crate) fn new(
        sources: &'r Sources<'r>,
        (request, show): (&Request, Show),
        mode: Mode,
        calibration: Calibration,
        (analyser, cache): (&'a mut Analyser, ReadCache<'r>),
        (terms, phrases, definition): (&[(String, f32)], QuotedPhrases, Option<WantedSymbols>),
    ) -> Result<Renderer<'r, 'a>> {
        Ok(Renderer {
            sources,
            scope: request.scope,
            wanted: WantedSymbols::of(&request.filters)?.map(Rc::new),
            show,
            mode,
            calibration,
            analyser,
            terms: TermSet::new(terms.iter().map(|(term, _)| term.as_str())),
            weights: terms.iter().map(|(_, weight)| *weight).collect(),
            phrases,
            definition,
            cache,
            cut_hits: 0,
        })
    }

    /// What was read for it.
    pub(crate) fn into_cache(self) -> ReadCache<'r> {
        self.cache
    }

    /// Bytes of text and outlines that were decoded for the request so far.
    pub(crate) fn work_bytes(&self) -> u64 {
        self.cache.decoded_bytes()
    }

    /// How many hits had more text than [`HIT_TEXT_LIMIT_BYTES`].
    pub(crate) fn cut_hits(&self) -> usize {
        self.cut_hits
    }

    /// Text of consecutive rows.
    fn text(&mut self, segment: usize, rows: Range<u32>) -> Result<String> {
        self.cache.texts.rows(segment, rows)
    }
}
