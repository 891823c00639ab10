//! Pages and slides with their texts.

use pyo3::prelude::*;

/// A page of a document.
#[pyclass(module = "kbfile", frozen, get_all)]
#[derive(Debug, Clone)]
pub(crate) struct Page {
    /// Its number, from 1.
    number: u32,
    /// The page number printed on the page, if it differs; else empty.
    label: String,
    /// Its text.
    text: String,
    /// First and last line, from 1.
    lines: (u32, u32),
    /// Where the page break comes from: "physical", "rendered", "explicit" or "estimated". None if the document has no pages
    /// and was divided by this library.
    source: Option<&'static str>,
}

impl From<kb_engine::DocumentPage> for Page {
    fn from(page: kb_engine::DocumentPage) -> Page {
        Page {
            number: page.number,
            label: page.label,
            text: page.text,
            lines: (page.lines.first, page.lines.last),
            source: page.source.map(|source| source.name()),
        }
    }
}

#[pymethods]
impl Page {
    fn __repr__(&self) -> String {
        format!(
            "Page({}, {} characters)",
            self.number,
            self.text.chars().count()
        )
    }
}

/// A slide of a presentation.
#[pyclass(module = "kbfile", frozen, get_all)]
#[derive(Debug, Clone)]
pub(crate) struct Slide {
    /// Its number, from 1.
    number: u32,
    /// Its title; empty when it has none.
    title: String,
    /// Its text.
    text: String,
    /// The notes of the speaker.
    notes: String,
    /// Whether it is hidden in a show.
    is_hidden: bool,
    /// First and last line, from 1.
    lines: (u32, u32),
}

impl From<kb_engine::SlideText> for Slide {
    fn from(slide: kb_engine::SlideText) -> Slide {
        Slide {
            number: slide.number,
            title: slide.title,
            text: slide.text,
            notes: slide.notes,
            is_hidden: slide.is_hidden,
            lines: (slide.lines.first, slide.lines.last),
        }
    }
}

#[pymethods]
impl Slide {
    fn __repr__(&self) -> String {
        format!("Slide({}, {:?})", self.number, self.title)
    }
}
