//! The metrics of a document, and their values.

use kb_engine::Document;

/// Misses that are kept of one file.
const MAX_MISSES: usize = 40;

/// What is scored of a document, each from 0 to 1: a share, or whether it is so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Metric {
    /// F1 of the words against the first oracle; LibreOffice for word processors.
    Text,
    /// F1 against the oracle that is nearest.
    BestText,
    /// The same, where the pages that LibreOffice lays out are an oracle as well: they hold the text boxes,
    /// footnotes and equations that the other oracles of word processors leave out.
    LaidOutText,
    /// Share of the words of the oracle, for text that is stored as its source.
    Recall,
    /// Ratio of the longest common subsequence of words.
    Sequence,
    /// Share of the headings of the oracle.
    HeadingRecall,
    /// Whether all headings are the same, in order.
    Headings,
    /// Whether the bookmarks are the same, with their levels.
    Outline,
    /// Share of bookmarks that lead to the page that the oracle says.
    OutlinePages,
    /// Whether there are as many pages as the document says.
    Pages,
    /// Whether there are as many pages as LibreOffice lays out.
    OfficePages,
    /// The same, of documents whose page breaks are written in them.
    BrokenPages,
    Slides,
    Titles,
    Notes,
    SheetNames,
    /// Share of cells that are right at their position, of all that either has.
    Cells,
    /// Share of numbers, dates and booleans that are shown as the program shows them that wrote the sheet.
    Shown,
}

impl Metric {
    pub(super) const ALL: [Metric; 18] = [
        Metric::Text,
        Metric::BestText,
        Metric::LaidOutText,
        Metric::Recall,
        Metric::Sequence,
        Metric::HeadingRecall,
        Metric::Headings,
        Metric::Outline,
        Metric::OutlinePages,
        Metric::Pages,
        Metric::OfficePages,
        Metric::BrokenPages,
        Metric::Slides,
        Metric::Titles,
        Metric::Notes,
        Metric::SheetNames,
        Metric::Cells,
        Metric::Shown,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Metric::Text => "text F1",
            Metric::BestText => "text F1 (best oracle)",
            Metric::LaidOutText => "text F1 (or laid out)",
            Metric::Recall => "words of the oracle",
            Metric::Sequence => "seq",
            Metric::HeadingRecall => "heading recall",
            Metric::Headings => "headings==",
            Metric::Outline => "outline==",
            Metric::OutlinePages => "pages of the outline",
            Metric::Pages => "pages==",
            Metric::OfficePages => "page count == LibreOffice",
            Metric::BrokenPages => "the same, with breaks",
            Metric::Slides => "slides==",
            Metric::Titles => "titles",
            Metric::Notes => "notes",
            Metric::SheetNames => "sheet names==",
            Metric::Cells => "cells right at position",
            Metric::Shown => "shown as in the program",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.name() == name)
    }
}

/// The scores of one file.
#[derive(Debug, Clone, Default)]
pub(super) struct FileScore {
    pub(super) metrics: Vec<(Metric, f64)>,
    /// What is not as the oracle says, one line each.
    pub(super) misses: Vec<String>,
    /// How many of those there are.
    pub(super) missed: usize,
}

impl FileScore {
    pub(super) fn add(&mut self, metric: Metric, value: f64) {
        self.metrics.push((metric, value));
    }

    pub(super) fn miss(&mut self, line: String) {
        self.missed += 1;
        if self.misses.len() < MAX_MISSES {
            self.misses.push(line);
        }
    }
}

/// The text of one part.
pub(super) fn part_text(document: &Document, position: usize) -> &str {
    let end = document.text.len();
    let start_of = |position: usize| {
        let part = document.parts.get(position);
        part.map_or(end, |part| part.start as usize)
    };
    let span = start_of(position)..start_of(position + 1);
    document.text.get(span).unwrap_or_default()
}
