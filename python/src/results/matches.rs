//! Matches of regular expressions.

use kb_engine::{PartAddress, RegexMatch, RegexResponse};
use pyo3::prelude::*;

use crate::results::ranges::in_characters;
use crate::results::sequence::{indexed, iterator};
use crate::results::table::{shown, table};

/// A line that matches a regular expression, or the lines of a match over several.
#[pyclass(module = "kbfile", frozen, get_all)]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Match {
    /// Path of the document.
    document: String,
    /// The text of the lines, without the last line end.
    text: String,
    /// First and last line, from 1.
    lines: (u32, u32),
    /// Ranges of characters of `text` that match: `text[a:b]`.
    ranges: Vec<(usize, usize)>,
    /// Number of the page, from 1; None in a document without pages.
    page: Option<u32>,
    /// Name of the sheet; None in a document without sheets.
    sheet: Option<String>,
    /// Number of the slide, from 1; None in a document without slides.
    slide: Option<u32>,
}

impl From<RegexMatch> for Match {
    fn from(found: RegexMatch) -> Match {
        let (mut page, mut sheet, mut slide) = (None, None, None);
        match found.part {
            Some(PartAddress::Page { number, .. }) => page = Some(number),
            Some(PartAddress::Sheet { name, .. }) => sheet = Some(name),
            Some(PartAddress::Slide { number, .. }) => slide = Some(number),
            _ => {}
        }
        let ranges = found.ranges.iter();
        let ranges = ranges.map(|range| in_characters(&found.text, (range.start, range.end)));
        Match {
            ranges: ranges.collect(),
            document: found.document,
            text: found.text,
            lines: (found.lines.first, found.lines.last),
            page,
            sheet,
            slide,
        }
    }
}

#[pymethods]
impl Match {
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<Match>()
            .is_ok_and(|other| *self == *other.get())
    }

    fn __repr__(&self) -> String {
        format!("Match({}:{}, {:?})", self.document, self.lines.0, self.text)
    }
}

/// The matches of a regular expression, by path and line.
#[pyclass(module = "kbfile", frozen, sequence)]
#[derive(Debug)]
pub(crate) struct Matches {
    matches: Vec<Match>,
    /// Whether all text was searched; False if a limit ended the search.
    #[pyo3(get)]
    is_complete: bool,
    /// Warnings about the result, one sentence each.
    #[pyo3(get)]
    warnings: Vec<String>,
    /// Pass it as `cursor` of the same request to get the next results; None if there are none.
    #[pyo3(get)]
    cursor: Option<String>,
}

impl From<RegexResponse> for Matches {
    fn from(response: RegexResponse) -> Matches {
        Matches {
            is_complete: response.is_complete,
            warnings: response.warnings,
            cursor: response
                .matches
                .next
                .map(|cursor| cursor.as_str().to_owned()),
            matches: response
                .matches
                .items
                .into_iter()
                .map(Match::from)
                .collect(),
        }
    }
}

fn object<'py>(py: Python<'py>, found: &Match) -> PyResult<Bound<'py, PyAny>> {
    Ok(Bound::new(py, found.clone())?.into_any())
}

#[pymethods]
impl Matches {
    fn __len__(&self) -> usize {
        self.matches.len()
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        indexed(&self.matches, index, |found| object(py, found))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let objects = self.matches.iter().map(|found| object(py, found));
        iterator(py, objects.collect::<PyResult<_>>()?)
    }

    fn __repr__(&self) -> String {
        let more = if self.cursor.is_some() {
            ", and more"
        } else {
            ""
        };
        match self.matches.len() {
            1 => format!("Matches(1 match{more})"),
            count => format!("Matches({count} matches{more})"),
        }
    }

    /// The matches as a pandas.DataFrame, a row each. Needs pandas.
    fn to_pandas<'py>(slf: &Bound<'py, Matches>) -> PyResult<Bound<'py, PyAny>> {
        table(slf, "match_columns", "columns_to_pandas")
    }

    /// The matches as a polars.DataFrame, a row each. Needs polars.
    fn to_polars<'py>(slf: &Bound<'py, Matches>) -> PyResult<Bound<'py, PyAny>> {
        table(slf, "match_columns", "columns_to_polars")
    }

    /// The matches as a pyarrow.Table, a row each. Needs pyarrow.
    fn to_arrow<'py>(slf: &Bound<'py, Matches>) -> PyResult<Bound<'py, PyAny>> {
        table(slf, "match_columns", "columns_to_arrow")
    }

    /// The table that a notebook shows.
    fn _repr_html_<'py>(slf: &Bound<'py, Matches>) -> PyResult<Bound<'py, PyAny>> {
        shown(slf, "matches_to_html")
    }
}
