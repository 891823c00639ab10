//! The handles people hold: [`Kb`] reads and searches, [`KbWriter`] makes and changes.
//!
//! Everything a front offers is a method here; fronts translate words and formats, no more.

#[cfg(feature = "ingest")]
mod carry;
mod facts;
mod read;
mod sizes;
#[cfg(feature = "ingest")]
mod write;

pub use facts::{DocumentInfo, DocumentText, Entry, Info, Outline, RootInfo, Sizes};
pub use read::Kb;
#[cfg(feature = "ingest")]
pub use write::KbWriter;
