//! What formats of office programs are packed in: zip archives of XML parts, and compound files of streams.

pub(super) mod chart;
pub(super) mod code_pages;
pub(super) mod compound_file;
pub(super) mod diagram;
pub(super) mod drawing_parts;
pub(super) mod little_endian;
pub(super) mod math;
pub(super) mod odf;
pub(super) mod ooxml;
pub(super) mod property_set;
pub(super) mod symbols;
pub(super) mod xml;
pub(super) mod zip_package;

#[cfg(test)]
pub(super) mod test_files;
