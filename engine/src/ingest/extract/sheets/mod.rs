//! Sheets: workbooks of spreadsheet programs, and tables as text.
//!
//! Each sheet is a part, each row that has cells one line of text ([`crate::cell_text`]). What is recognised
//! goes by content, not by name.

mod csv;
mod number_format;
mod ods;
mod package;
mod workbook;
mod xls;
mod xlsx;
mod xml;

use self::package::Package;
use crate::ingest::extract::extracted::Extracted;
use crate::ingest::extract::skip_reason::SkipReason;
use crate::ingest::extract::text;

pub(super) use self::csv::extract as extract_table;

/// A format of workbooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Xlsx,
    Xls,
    Ods,
    /// Excel's binary workbook, and others that are told apart only to be refused.
    Refused(&'static str),
    /// A workbook in an encrypted package.
    Encrypted,
}

const COMPOUND_FILE: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

/// The format of workbooks that the bytes are of; `None` for all else. What only the name says decides
/// between encrypted packages, which look alike.
pub(super) fn recognise(bytes: &[u8], name: &str) -> Option<Format> {
    if bytes.starts_with(b"PK") {
        let Ok(mut package) = Package::open(bytes, "zip archive") else {
            // The names of its parts may stand there still: the reader says what is wrong.
            return match text::binary_format(bytes)? {
                "Excel workbook" => Some(Format::Xlsx),
                "OpenDocument spreadsheet" => Some(Format::Ods),
                _ => None,
            };
        };
        let kind = package.read("mimetype").ok().flatten();
        if kind.is_some_and(|kind| {
            kind.trim_ascii()
                .starts_with(b"application/vnd.oasis.opendocument.spreadsheet")
        }) {
            return Some(Format::Ods);
        }
        let main = xlsx::main_part(&mut package).unwrap_or_default();
        return match main.rsplit('/').next().unwrap_or_default() {
            "workbook.bin" => Some(Format::Refused("Excel binary workbook")),
            _ if package.holds(&main) && xlsx::is_workbook(&mut package, &main) => {
                Some(Format::Xlsx)
            }
            _ => None,
        };
    }
    if bytes.starts_with(COMPOUND_FILE) {
        let holds = |stream: &str| {
            let name: Vec<u8> = stream.encode_utf16().flat_map(u16::to_le_bytes).collect();
            memchr::memmem::find(bytes, &name).is_some()
        };
        let lower = name.to_ascii_lowercase();
        if holds("EncryptedPackage") {
            let is_named = lower.ends_with(".xlsx") || lower.ends_with(".xlsm");
            return is_named.then_some(Format::Encrypted);
        }
        let is_sheet = holds("Workbook") || holds("WORKBOOK") || holds("Book\0");
        let is_other = holds("WordDocument") || holds("PowerPoint Document");
        return (is_sheet && (!is_other || lower.ends_with(".xls"))).then_some(Format::Xls);
    }
    // BIFF without a compound file: Excel 2 to 5.
    matches!(bytes, [9, 0 | 2 | 4 | 8, 4..=8, 0, ..])
        .then_some(Format::Refused("Excel workbook of before 1997"))
}

/// The document in the bytes of a workbook.
///
/// # Errors
/// Why there is none.
pub(super) fn extract(format: Format, bytes: &[u8]) -> Result<Extracted, SkipReason> {
    match format {
        Format::Xlsx => xlsx::extract(bytes),
        Format::Xls => xls::extract(bytes),
        Format::Ods => ods::extract(bytes),
        Format::Refused(name) => Err(SkipReason::Unsupported(name)),
        Format::Encrypted => Err(SkipReason::Encrypted(xlsx::FORMAT)),
    }
}

impl Format {
    /// The name of its file type.
    pub(super) fn file_type(self) -> &'static str {
        match self {
            Format::Xlsx | Format::Encrypted | Format::Refused(_) => "xlsx",
            Format::Xls => "xls",
            Format::Ods => "ods",
        }
    }
}

#[cfg(test)]
mod tests;
