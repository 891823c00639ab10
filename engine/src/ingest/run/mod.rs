//! Runs: everything that [`crate::KbWriter`] does to a file.
//!
//! `session` holds the file under change. `edit` and `commit` change single documents, `many` adds many on all cores, `many` adds them on all cores, `index`
//! brings a file up to date with folders, `merge` keeps segments few, `join` takes documents
//! of other files, `patch` writes and applies what changed between two files, `seal` and `clear` write the
//! file again, `vectors` imports those of other models and has models make them. This folder stands above the rest of `ingest`: it also uses search and check.

mod clear;
mod commit;
mod edit;
mod even_sample;
mod index;
mod join;
mod many;
mod merge;
mod new_file;
mod patch;
mod preserved;
mod relation;
mod samples;
mod seal;
mod session;
mod source_info;
mod vector_index;
pub(crate) mod vectors;
mod wait_for_writer;

pub(crate) use index::{check_sources, compare_sources};
pub use join::{MergeOptions, MergeReport, MergeSource, OnConflict};
pub(crate) use many::EachAdded;
pub use many::{AddOptions, Added, NewDocument};
pub use patch::{PatchOptions, PatchReport};
pub(crate) use patch::{apply_patch, make_patch};
pub(crate) use relation::{is_made_from, relation_of};
pub use seal::{PackedModel, SealOptions, SealReport};
pub(crate) use session::Session;
pub use source_info::{SourceInfo, document_of};
#[cfg(any(test, feature = "testing"))]
pub(crate) use vector_index::embedded::each_embedded;
#[cfg(any(test, feature = "testing"))]
pub(crate) use vector_index::lists::ListLimits;
pub use vectors::{
    ColumnUpdate, ImportReport, NewVectors, ReembedOptions, ReembedReport, VectorTarget,
    WaitingTexts,
};
pub use wait_for_writer::wait_for_writer;
