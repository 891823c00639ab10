//! Symbols of source code.

use kb_engine::{FoundSymbol, HitSymbol, SymbolKind, SymbolsResponse};
use pyo3::prelude::*;

use crate::results::sequence::{indexed, iterator};
use crate::results::table::{shown, table};

/// A symbol: a definition in source code.
#[pyclass(module = "kbfile", frozen, get_all)]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Symbol {
    /// Path of the document.
    document: String,
    /// What it is: "function", "class", "method".
    kind: String,
    /// Its name.
    pub(crate) name: String,
    /// Labels of the enclosing symbols and of this one: "impl Foo > fn bar".
    hierarchy: String,
    /// The text before its body, on one line.
    signature: String,
    /// Programming language.
    language: String,
    /// First and last line of the definition, from 1.
    lines: (u32, u32),
    /// Lines inside the symbol that use the name given as `uses`.
    uses: Vec<u32>,
    /// The lines of `uses` that call the name.
    calls: Vec<u32>,
}

/// All that a pickle has of a symbol.
type State = (
    (String, String, String, String, String, String),
    (u32, u32),
    (Vec<u32>, Vec<u32>),
);

impl Symbol {
    pub(crate) fn of_hit(symbol: HitSymbol, document: &str, language: &str) -> Symbol {
        Symbol {
            document: document.to_owned(),
            kind: symbol.kind.name().to_owned(),
            name: symbol.name,
            hierarchy: symbol.hierarchy,
            signature: symbol.signature,
            language: language.to_owned(),
            lines: (symbol.lines.first, symbol.lines.last),
            uses: Vec::new(),
            calls: Vec::new(),
        }
    }
}

impl From<FoundSymbol> for Symbol {
    fn from(symbol: FoundSymbol) -> Symbol {
        Symbol {
            document: symbol.document,
            kind: SymbolKind::name(symbol.kind).to_owned(),
            name: symbol.name,
            hierarchy: symbol.hierarchy,
            signature: symbol.signature,
            language: symbol.language,
            lines: (symbol.lines.first, symbol.lines.last),
            uses: symbol.uses,
            calls: symbol.calls,
        }
    }
}

#[pymethods]
impl Symbol {
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<Symbol>()
            .is_ok_and(|other| *self == *other.get())
    }

    fn __repr__(&self) -> String {
        let Symbol {
            kind,
            hierarchy,
            document,
            lines: (first, last),
            ..
        } = self;
        format!("Symbol({kind} {hierarchy:?}, {document}:{first}-{last})")
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (State,))> {
        let restore = py.import("kbfile._kbfile")?.getattr("restore_symbol")?;
        let it = self.clone();
        let names = (
            it.document,
            it.kind,
            it.name,
            it.hierarchy,
            it.signature,
            it.language,
        );
        Ok((restore, ((names, it.lines, (it.uses, it.calls)),)))
    }
}

/// The symbol of a pickle.
#[pyfunction]
pub(crate) fn restore_symbol(state: State) -> Symbol {
    let ((document, kind, name, hierarchy, signature, language), lines, (uses, calls)) = state;
    Symbol {
        document,
        kind,
        name,
        hierarchy,
        signature,
        language,
        lines,
        uses,
        calls,
    }
}

/// The symbols that a request found, by path and line.
#[pyclass(module = "kbfile", frozen, sequence)]
#[derive(Debug)]
pub(crate) struct Symbols {
    symbols: Vec<Symbol>,
    /// Total number of symbols, including those of later pages.
    #[pyo3(get)]
    total: u64,
    /// Warnings about the result, one sentence each.
    #[pyo3(get)]
    warnings: Vec<String>,
    /// Pass it as `cursor` of the same request to get the next results; None if there are none.
    #[pyo3(get)]
    cursor: Option<String>,
}

impl From<SymbolsResponse> for Symbols {
    fn from(response: SymbolsResponse) -> Symbols {
        Symbols {
            total: response.total,
            warnings: response.warnings,
            cursor: response
                .symbols
                .next
                .map(|cursor| cursor.as_str().to_owned()),
            symbols: response
                .symbols
                .items
                .into_iter()
                .map(Symbol::from)
                .collect(),
        }
    }
}

fn object<'py>(py: Python<'py>, symbol: &Symbol) -> PyResult<Bound<'py, PyAny>> {
    Ok(Bound::new(py, symbol.clone())?.into_any())
}

#[pymethods]
impl Symbols {
    fn __len__(&self) -> usize {
        self.symbols.len()
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        indexed(&self.symbols, index, |symbol| object(py, symbol))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let objects = self.symbols.iter().map(|symbol| object(py, symbol));
        iterator(py, objects.collect::<PyResult<_>>()?)
    }

    fn __repr__(&self) -> String {
        format!("Symbols({} of {})", self.symbols.len(), self.total)
    }

    /// The symbols as a pandas.DataFrame, a row each. Needs pandas.
    fn to_pandas<'py>(slf: &Bound<'py, Symbols>) -> PyResult<Bound<'py, PyAny>> {
        table(slf, "symbol_columns", "columns_to_pandas")
    }

    /// The symbols as a polars.DataFrame, a row each. Needs polars.
    fn to_polars<'py>(slf: &Bound<'py, Symbols>) -> PyResult<Bound<'py, PyAny>> {
        table(slf, "symbol_columns", "columns_to_polars")
    }

    /// The symbols as a pyarrow.Table, a row each. Needs pyarrow.
    fn to_arrow<'py>(slf: &Bound<'py, Symbols>) -> PyResult<Bound<'py, PyAny>> {
        table(slf, "symbol_columns", "columns_to_arrow")
    }

    /// The table that a notebook shows.
    fn _repr_html_<'py>(slf: &Bound<'py, Symbols>) -> PyResult<Bound<'py, PyAny>> {
        shown(slf, "symbols_to_html")
    }
}
