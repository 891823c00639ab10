//! Pages, sheets and slides of a document: what there are, the rows of a sheet, the texts of slides.

mod listing;
mod row_reader;
mod sheet;
mod slides;
mod stored;
#[cfg(test)]
#[cfg(feature = "ingest")]
mod tests;

pub(crate) use listing::parts;
pub use listing::{DocumentParts, PartInfo};
pub(crate) use sheet::sheet;
pub use sheet::{SheetData, SheetRow};
pub(crate) use slides::slides;
pub use slides::{DocumentSlides, SlideText};
pub(super) use stored::{kind_without_parts, number_of, part_rows, unsupported};
