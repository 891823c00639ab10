//! What formats of office programs are packed in: zip archives of XML parts, and compound files of streams. Forms of PDF
//! documents are XML, too.

#[cfg(any(feature = "office", feature = "sheets"))]
pub(super) mod chart;
#[cfg(any(feature = "office", feature = "sheets"))]
pub(super) mod code_pages;
#[cfg(any(feature = "office", feature = "sheets"))]
pub(super) mod compound_file;
#[cfg(any(feature = "office", feature = "sheets"))]
pub(super) mod diagram;
#[cfg(any(feature = "office", feature = "sheets"))]
pub(super) mod drawing_parts;
#[cfg(any(feature = "office", feature = "sheets"))]
pub(super) mod little_endian;
#[cfg(any(feature = "office", feature = "sheets"))]
pub(super) mod math;
#[cfg(any(feature = "office", feature = "sheets"))]
pub(super) mod odf;
#[cfg(any(feature = "office", feature = "sheets"))]
pub(super) mod ooxml;
#[cfg(any(feature = "office", feature = "sheets"))]
pub(super) mod property_set;
#[cfg(any(feature = "office", feature = "sheets"))]
pub(super) mod symbols;
#[cfg_attr(
    not(any(feature = "office", feature = "sheets")),
    allow(dead_code, reason = "forms need little of it")
)]
pub(super) mod xml;
#[cfg(any(feature = "office", feature = "sheets"))]
pub(super) mod zip_package;

#[cfg(test)]
#[cfg(any(feature = "office", feature = "sheets"))]
pub(super) mod test_files;
