//! Ranked chunks -> hits: text, title, place, marked words.

use std::collections::HashMap;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::catalog::{BoundSegment, Catalog};
use crate::container::Snapshot;
use crate::error::{Error, Result};
use crate::index::text::Analyser;
use crate::search::fuse::Scored;
use crate::search::request::Mode;
use crate::search::response::{Hit, TermScore};
use crate::store::blocks::BlockReader;
use crate::store::chunks::Chunk;
use crate::store::documents::DocumentRecord;
use crate::store::outline;
use crate::types::{DocumentId, Heading, SegmentId};

/// How many lines a hit shows first.
const BEST_LINES: usize = 4;

/// Turns ranked chunks into hits; keeps documents and blocks that several hits share.
pub struct Renderer<'r> {
    /// The commit.
    snapshot: &'r Snapshot<'r>,
    /// Its records.
    catalog: &'r Catalog,
    /// Its columns.
    bound: &'r [BoundSegment<'r>],
    /// Finds the words of the query in text.
    analyser: &'r mut Analyser,
    /// Terms of the query: number and weight of a mark.
    terms: FxHashMap<String, (u32, f32)>,
    /// Documents seen, with their headings.
    documents: HashMap<DocumentId, (DocumentRecord, Vec<Heading>)>,
    /// A reader of text for each segment seen.
    blocks: HashMap<SegmentId, BlockReader<'r>>,
}

impl std::fmt::Debug for Renderer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Renderer")
            .field("documents", &self.documents.len())
            .finish_non_exhaustive()
    }
}

impl<'r> Renderer<'r> {
    /// `terms`: the distinct analysed words of the query, each with its idf.
    pub fn new(
        snapshot: &'r Snapshot<'r>,
        catalog: &'r Catalog,
        bound: &'r [BoundSegment<'r>],
        analyser: &'r mut Analyser,
        terms: impl IntoIterator<Item = (String, f32)>,
    ) -> Renderer<'r> {
        let numbered = terms
            .into_iter()
            .zip(0..)
            .map(|((term, idf), n)| (term, (n, idf)));
        Renderer {
            snapshot,
            catalog,
            bound,
            analyser,
            terms: numbered.collect(),
            documents: HashMap::new(),
            blocks: HashMap::new(),
        }
    }

    /// The chunk row of a ranked chunk.
    pub fn chunk(&self, scored: &Scored) -> Result<Chunk> {
        self.bound(scored.chunk.segment)?
            .chunks()
            .get(scored.chunk.row)
    }

    /// The hit of a ranked chunk; parts that `mode` does not have are left out.
    pub fn hit(&mut self, scored: &Scored, mode: Mode, terms: Vec<TermScore>) -> Result<Hit> {
        let chunk = self.chunk(scored)?;
        let text = self.text(scored)?;
        if text.len() as u64 != u64::from(chunk.at.span.len()) {
            return Err(Error::damaged("a chunk and its text differ in length"));
        }
        let marks = self.marks(&text);
        let best_lines = best_lines(&text, &marks);
        let before = text.get(..best_lines.start).unwrap_or_default();
        let best_first_line = chunk
            .at
            .lines
            .first
            .saturating_add(before.bytes().filter(|byte| *byte == b'\n').count() as u32)
            .min(chunk.at.lines.last);
        let marks = marks.into_iter().map(|mark| mark.range).collect();
        let (document, headings) = self.document(chunk.document)?;
        Ok(Hit {
            document: document.path.clone(),
            title: document.title.clone(),
            section: outline::section_at(headings, chunk.at.span.start)
                .into_iter()
                .map(str::to_owned)
                .collect(),
            score: scored.score,
            keyword_score: (mode != Mode::Semantic).then_some(scored.keyword),
            vector_score: (mode != Mode::Keyword).then_some(scored.vector),
            lines: chunk.at.lines,
            span: chunk.at.span,
            file_type: document.file_type.clone(),
            language: document.language.clone(),
            class: document.class()?,
            text,
            marks,
            best_lines,
            best_first_line: (!document.line_map).then_some(best_first_line),
            chunk: scored.chunk,
            terms,
        })
    }

    fn bound(&self, segment: SegmentId) -> Result<&'r BoundSegment<'r>> {
        self.bound
            .iter()
            .find(|bound| bound.segment.id == segment)
            .ok_or_else(|| Error::damaged(format!("segment {} is not live", segment.0)))
    }

    fn text(&mut self, scored: &Scored) -> Result<String> {
        let segment = scored.chunk.segment;
        if !self.blocks.contains_key(&segment) {
            let reader = self.bound(segment)?.blocks()?;
            self.blocks.insert(segment, reader);
        }
        match self.blocks.get_mut(&segment) {
            Some(reader) => reader.chunk(scored.chunk.row),
            None => Err(Error::damaged("a segment without text")),
        }
    }

    fn document(&mut self, id: DocumentId) -> Result<&(DocumentRecord, Vec<Heading>)> {
        if !self.documents.contains_key(&id) {
            let record = self.catalog.documents.get(self.snapshot, id)?;
            let headings = outline::get(self.snapshot, id)?;
            self.documents.insert(id, (record, headings));
        }
        self.documents
            .get(&id)
            .ok_or_else(|| Error::damaged("a document vanished"))
    }

    /// Places where words of the query stand, in order, not overlapping. A part of an identifier
    /// marks only itself.
    fn marks(&mut self, text: &str) -> Vec<Mark> {
        let mut marks: Vec<Mark> = Vec::new();
        let terms = &self.terms;
        if terms.is_empty() {
            return marks;
        }
        self.analyser.analyse(text, |term, range| {
            if let Some((term, weight)) = terms.get(term) {
                marks.push(Mark {
                    range,
                    weight: *weight,
                    term: *term,
                });
            }
        });
        // A whole identifier and its parts mark the same bytes: the widest range wins.
        marks.sort_by_key(|mark| (mark.range.start, std::cmp::Reverse(mark.range.end)));
        let mut end = 0;
        marks.retain(|mark| {
            let keep = mark.range.start >= end;
            if keep {
                end = mark.range.end;
            }
            keep
        });
        marks
    }
}

/// A word of the query in the text of a hit.
#[derive(Debug, Clone, PartialEq)]
struct Mark {
    range: Range<usize>,
    weight: f32,
    term: u32,
}

/// The run of [`BEST_LINES`] whole lines whose distinct marked terms weigh most, the first of equal
/// ones; without marks the first lines with text.
fn best_lines(text: &str, marks: &[Mark]) -> Range<usize> {
    let lines: Vec<Range<usize>> = lines(text);
    let blank = |line: &Range<usize>| text.get(line.clone()).is_none_or(|l| l.trim().is_empty());
    let first_text = lines.iter().position(|line| !blank(line)).unwrap_or(0);
    let mut best = (0.0f32, first_text);
    let mut seen: Vec<u32> = Vec::new();
    for first in 0..lines.len() {
        let window = lines
            .get(first..lines.len().min(first + BEST_LINES))
            .unwrap_or_default();
        let (Some(from), Some(to)) = (window.first(), window.last()) else {
            break;
        };
        if blank(from) {
            continue;
        }
        // Marks are in order and lie within lines, so those of a window are neighbours.
        let first_mark = marks.partition_point(|mark| mark.range.start < from.start);
        let inside = marks.get(first_mark..).unwrap_or_default();
        seen.clear();
        let mut weight = 0.0;
        for mark in inside.iter().take_while(|mark| mark.range.start < to.end) {
            if !seen.contains(&mark.term) {
                seen.push(mark.term);
                weight += mark.weight;
            }
        }
        if weight > best.0 {
            best = (weight, first);
        }
    }
    let window = lines
        .get(best.1..lines.len().min(best.1 + BEST_LINES))
        .unwrap_or_default();
    let last = window
        .iter()
        .rev()
        .find(|line| !blank(line))
        .or(window.first());
    match (window.first(), last) {
        (Some(from), Some(to)) => from.start..to.end,
        _ => 0..0,
    }
}

/// Byte ranges of the lines of a text, line ends included.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    text.split_inclusive('\n')
        .map(|line| {
            let range = start..start + line.len();
            start = range.end;
            range
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(text: &str, word: &str, weight: f32) -> Mark {
        let start = text.find(word).unwrap();
        Mark {
            range: start..start + word.len(),
            weight,
            term: start as u32,
        }
    }

    #[test]
    fn the_best_lines_hold_the_heaviest_distinct_words() {
        let text = "one\ntwo\nthree\nfour\nfive six\nseven\neight\nnine\n";
        let marks = [
            mark(text, "one", 1.0),
            mark(text, "six", 1.5),
            mark(text, "seven", 1.0),
        ];
        let range = best_lines(text, &marks);
        assert!(text[range.clone()].contains("six") && text[range].contains("seven"));
    }

    #[test]
    fn without_marks_the_first_lines_with_text_are_best() {
        let text = "\n\n  \nfirst\nsecond\n\n\n\n";
        assert_eq!(&text[best_lines(text, &[])], "first\nsecond\n");
        assert_eq!(best_lines("", &[]), 0..0);
    }
}
