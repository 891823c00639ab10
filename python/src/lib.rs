//! The extension module `kbfile._kbfile`: the engine for Python. The package `kbfile` beside it is what users import.
//!
//! This crate translates: arguments become requests of the engine, answers become objects. It decides nothing about
//! documents or ranking. Every call that reads or computes runs without the GIL; `interrupt.rs` lets signals in.
//! Objects are frozen and may be used by any thread.

mod arrow;
mod call;
mod command;
mod documents;
mod embedding;
mod error;
mod fields;
mod handle;
mod imported;
mod kb;
mod numbers;
mod options;
mod results;
mod source;
mod time;
mod vectors;
mod writer;

use pyo3::prelude::*;

/// The module. Objects hold no state of one interpreter, and share what they have behind locks.
#[pymodule(gil_used = false)]
mod _kbfile {
    use kb_engine::{BUILT_IN_MODEL, FORMAT_VERSION};
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::call::Progress;
    #[pymodule_export]
    use super::command::{run_command, run_extraction_worker};
    #[pymodule_export]
    use super::documents::Sheet;
    #[pymodule_export]
    use super::documents::document::{Chunk, Document, Section, restore_document};
    #[pymodule_export]
    use super::documents::iterator::DocumentIterator;
    #[pymodule_export]
    use super::documents::{Page, Slide};
    #[pymodule_export]
    use super::embedding::add_model;
    #[pymodule_export]
    use super::kb::{Kb, open_reader, search_files};
    #[pymodule_export]
    use super::results::columns::{ImportReport, ReembedReport, VectorColumn};
    #[pymodule_export]
    use super::results::field_info::FieldInfo;
    #[pymodule_export]
    use super::results::hit::{Hit, restore_hit};
    #[pymodule_export]
    use super::results::hits::{Hits, restore_hits};
    #[pymodule_export]
    use super::results::matches::{Match, Matches};
    #[pymodule_export]
    use super::results::report::{IndexReport, MergeReport, SealReport, VerifyReport};
    #[pymodule_export]
    use super::results::symbols::{Symbol, Symbols, restore_symbol};
    #[pymodule_export]
    use super::vectors::{Array, VectorBlock, Vectors, embed};
    #[pymodule_export]
    use super::writer::Writer;
    #[pymodule_export]
    use super::writer::open::open_writer;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // Files whose columns have models of this machine are searched by them, as `kb search` does.
        kb_engine::install_models(super::embedding::models_of_machine());
        let (major, minor) = FORMAT_VERSION;
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("format_version", format!("{major}.{minor}"))?;
        module.add("built_in_model", BUILT_IN_MODEL)
    }
}
