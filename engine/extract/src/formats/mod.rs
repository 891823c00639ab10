//! The table of the formats of documents: how each is recognised, what reads it, and within which limits.
//!
//! A format is decided by content; the name of the file decides between what looks alike (a text may be Markdown,
//! a table or a program). How files of a format are called and their media types stand in [`kb_types::file_types`],
//! under the same name, because search needs them without any reader.

use crate::extracted::Extracted;
#[cfg(feature = "office")]
use crate::markup::epub;
use crate::markup::{asciidoc, html, markdown, message, notebook, rst, xml};
#[cfg(feature = "office")]
use crate::outlook;
#[cfg(feature = "pdf")]
use crate::pdf;
#[cfg(feature = "sheets")]
use crate::sheets::{csv, ods, xls, xlsx};
use crate::skip_reason::SkipReason;
#[cfg(feature = "office")]
use crate::slides::{odp, ppt, pptx};
#[cfg(feature = "office")]
use crate::word::{doc, docx, odt, rtf};

/// Bytes of a file that is packed or binary. Larger than any of the 4,220 files that the readers were measured on;
/// with the limits of [`super::package`] it bounds the memory of a reader to about 1 GiB.
const MAX_PACKED_BYTES: usize = 256 << 20;
/// Bytes of a file that is text. A document holds 64 MiB of it; other encodings take up to twice that.
// UTF-16 takes two bytes for a character that UTF-8 has in one.
const MAX_PLAIN_BYTES: usize = 128 << 20;

/// One format.
#[derive(Debug)]
pub(super) struct Format {
    /// The file type of its documents, by which [`kb_types::file_types`] has its extensions and media types.
    pub(super) name: &'static str,
    /// What errors call it.
    pub(super) label: &'static str,
    pub(super) mark: Mark,
    pub(super) reader: Reader,
    /// Whether its files are read in the worker process: all but plain text and tables as text.
    pub(super) needs_worker: bool,
    /// Bytes of a file; a longer one is refused before it is read.
    pub(super) max_bytes: usize,
}

/// What shows that a file is of a format, whatever its name is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mark {
    /// The outermost element of the main part of an Office Open XML package.
    MainElement(&'static str),
    /// How the main part of such a package ends, which is no XML.
    MainPart(&'static str),
    /// The media type in the first part of a package, without `-template` and `-master`.
    MediaType(&'static str),
    /// One of these streams of a compound file.
    Streams(&'static [&'static str]),
    /// How the file begins.
    Start(fn(&[u8]) -> bool),
    /// How the file begins; it must be certain of a file whose name does not say that it is one.
    Header(fn(&[u8], bool) -> bool),
    /// How a decoded text begins that has no name which says what it is.
    TextStart(fn(&str) -> bool),
    /// Nothing but the name.
    Name,
}

/// What reads a file. Any bytes give a document or a reason, in time and memory that the limits of each reader bound.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reader {
    /// From its bytes.
    Bytes(fn(&[u8]) -> Result<Extracted, SkipReason>),
    /// From its decoded text, which is the text of the document where the reader gives no other.
    Text(fn(&str) -> Result<Extracted, SkipReason>),
    /// Nothing: it is known only to be refused by its name.
    None,
}

/// All of them; the first whose mark fits counts. What is in none of these rows and is text is stored as it is.
///
/// Beside the bytes of a file, every document is limited to 64 MiB of text, 65,535 headings and 65,535 pages, sheets
/// or slides; messages to 50 parts inside each other; packages to 128 MiB a part and 512 MiB of parts; XML to 2,000 elements inside each other; workbooks to
/// 10,000 sheets and 2,000,000 cells; RTF to 4,000 groups inside each other.
#[rustfmt::skip]
pub(super) static FORMATS: &[Format] = &[
    // Word processors.
    #[cfg(feature = "office")]
    packed("docx", docx::FORMAT, Mark::MainElement("document"), docx::extract),
    #[cfg(feature = "office")]
    packed("doc", doc::FORMAT, Mark::Streams(&["WordDocument"]), doc::extract),
    #[cfg(feature = "office")]
    refused("doc", "WordPerfect document", Mark::Start(|bytes| bytes.starts_with(b"\xFFWPC"))),
    #[cfg(feature = "office")]
    packed("rtf", rtf::FORMAT, Mark::Start(rtf::is_rtf), rtf::extract),
    #[cfg(feature = "office")]
    packed("odt", odt::FORMAT, Mark::MediaType("application/vnd.oasis.opendocument.text"), odt::extract),
    // Presentations.
    #[cfg(feature = "office")]
    packed("pptx", pptx::FORMAT, Mark::MainElement("presentation"), pptx::extract),
    #[cfg(feature = "office")]
    packed("ppt", ppt::FORMAT, Mark::Streams(&["PowerPoint Document"]), ppt::extract),
    #[cfg(feature = "office")]
    packed("odp", odp::FORMAT, Mark::MediaType("application/vnd.oasis.opendocument.presentation"), odp::extract),
    // Workbooks, and tables as text.
    #[cfg(feature = "sheets")]
    packed("xlsx", xlsx::FORMAT, Mark::MainElement("workbook"), xlsx::extract),
    #[cfg(feature = "sheets")]
    refused("xlsx", "Excel binary workbook", Mark::MainPart("workbook.bin")),
    #[cfg(feature = "sheets")]
    packed("xls", xls::FORMAT, Mark::Streams(&["Workbook", "Book"]), xls::extract),
    #[cfg(feature = "sheets")]
    refused("xls", "Excel workbook of before 1993", Mark::Start(xls::is_bare)),
    #[cfg(feature = "sheets")]
    packed("ods", ods::FORMAT, Mark::MediaType("application/vnd.oasis.opendocument.spreadsheet"), ods::extract),
    // What is too large for a table, or is none in spite of its name, is kept as the text that it is.
    #[cfg(feature = "sheets")]
    Format { needs_worker: false, ..plain("csv", "CSV", Mark::Name, |text| Ok(csv::extract(text, false).unwrap_or_default())) },
    #[cfg(feature = "sheets")]
    Format { needs_worker: false, ..plain("tsv", "TSV", Mark::Name, |text| Ok(csv::extract(text, true).unwrap_or_default())) },
    // PDF. A document has at most 1,000,000 characters and as many drawings inside drawings on a page.
    #[cfg(feature = "pdf")]
    packed("pdf", pdf::FORMAT, Mark::Start(pdf::is_pdf), pdf::extract),
    // Markup, mail and books. All of it is read in the worker, where a reader that is slow on a hostile text has a limit.
    plain("html", "HTML", Mark::TextStart(html::is_page), |text| Ok(html::extract(text))),
    plain("markdown", "Markdown", Mark::Name, |text| Ok(markdown::extract(text))),
    plain("rst", "reStructuredText", Mark::Name, |text| Ok(rst::extract(text))),
    plain("asciidoc", "AsciiDoc", Mark::Name, |text| Ok(asciidoc::extract(text))),
    // Read by the scanner of HTML where it is a document. Most is configuration, and stored as it is.
    plain("xml", "XML", Mark::Name, |text| Ok(xml::extract(text))),
    plain("ipynb", "Jupyter notebook", Mark::Name, notebook::extract),
    packed("eml", message::FORMAT, Mark::Header(message::is_message), message::extract),
    #[cfg(feature = "office")]
    packed("msg", outlook::FORMAT, Mark::Streams(&[outlook::PROPERTIES]), outlook::extract),
    #[cfg(feature = "office")]
    packed("epub", epub::FORMAT, Mark::MediaType(epub::MEDIA_TYPE), epub::extract),
];

/// A format that is no text.
const fn packed(
    name: &'static str,
    label: &'static str,
    mark: Mark,
    extract: fn(&[u8]) -> Result<Extracted, SkipReason>,
) -> Format {
    Format {
        name,
        label,
        mark,
        reader: Reader::Bytes(extract),
        needs_worker: true,
        max_bytes: MAX_PACKED_BYTES,
    }
}

/// A format that is known, and not read.
const fn refused(name: &'static str, label: &'static str, mark: Mark) -> Format {
    Format {
        name,
        label,
        mark,
        reader: Reader::None,
        needs_worker: false,
        max_bytes: usize::MAX,
    }
}

/// A format of text.
const fn plain(
    name: &'static str,
    label: &'static str,
    mark: Mark,
    extract: fn(&str) -> Result<Extracted, SkipReason>,
) -> Format {
    Format {
        name,
        label,
        mark,
        reader: Reader::Text(extract),
        needs_worker: true,
        max_bytes: MAX_PLAIN_BYTES,
    }
}

impl Format {
    /// Whether its files are text.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.reader, Reader::Text(_))
    }

    /// Refuses a file that is too large to be read.
    ///
    /// # Errors
    /// [`SkipReason::Limit`].
    pub(super) fn check_size(&self, bytes: usize) -> Result<(), SkipReason> {
        if bytes <= self.max_bytes {
            return Ok(());
        }
        Err(SkipReason::Limit {
            what: "bytes in the file",
            limit: self.max_bytes as u64,
        })
    }
}

/// The format of text whose documents have that file type; `None` for text that is stored as it is.
pub(super) fn of_text(file_type: &str) -> Option<&'static Format> {
    let mut rows = FORMATS.iter();
    rows.find(|row| row.is_text() && row.name == file_type)
}

#[cfg(test)]
mod tests;
