//! Formats whose documents are more than text: how each is recognised and what reads it.

use crate::ingest::extract::extracted::Extracted;
use crate::ingest::extract::package::compound_file::{self, CompoundFile};
use crate::ingest::extract::package::ooxml;
use crate::ingest::extract::package::xml::{self, XmlEvent, XmlReader};
use crate::ingest::extract::package::zip_package::ZipPackage;
use crate::ingest::extract::skip_reason::SkipReason;
use crate::ingest::extract::{slides, word};

/// Bytes of a main part in which its outermost element begins.
const MAIN_PART_BYTES: u64 = 64 << 10;
/// Bytes before `{\rtf` in files that begin with white space or a mark.
const RTF_START_BYTES: usize = 64;

/// One format.
#[derive(Debug)]
pub(super) struct Format {
    /// The file type of its documents.
    pub(super) name: &'static str,
    mark: Mark,
    /// Reads it. Any bytes give a document or a reason, in time and memory that the limits of each reader bound.
    pub(super) extract: fn(&[u8]) -> Result<Extracted, SkipReason>,
}

/// What shows that a file is of a format, whatever its name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// The outermost element of the main part of an Office Open XML package.
    MainElement(&'static str),
    /// The end of the media type of an OpenDocument package.
    OpenDocument(&'static str),
    /// A stream of a compound file.
    Stream(&'static str),
    /// How the file begins, within its first 64 bytes.
    Start(&'static [u8]),
}

/// All of them.
#[rustfmt::skip]
static FORMATS: &[Format] = &[
    Format { name: "docx", mark: Mark::MainElement("document"), extract: word::docx::extract },
    Format { name: "doc", mark: Mark::Stream("WordDocument"), extract: word::doc::extract },
    Format { name: "rtf", mark: Mark::Start(b"{\\rtf"), extract: word::rtf::extract },
    Format { name: "odt", mark: Mark::OpenDocument("text"), extract: word::odt::extract },
    Format { name: "pptx", mark: Mark::MainElement("presentation"), extract: slides::pptx::extract },
    Format { name: "ppt", mark: Mark::Stream("PowerPoint Document"), extract: slides::ppt::extract },
    Format { name: "odp", mark: Mark::OpenDocument("presentation"), extract: slides::odp::extract },
];

/// The format of `bytes`, from their content alone; `None` for what is none of them. `label` names them in errors.
///
/// # Errors
/// One of them that is encrypted as a whole, or too damaged to tell.
pub(super) fn recognise(
    bytes: &[u8],
    label: Option<&'static str>,
) -> Result<Option<&'static Format>, SkipReason> {
    let of_mark = |mark: Mark| FORMATS.iter().find(|format| format.mark == mark);
    if bytes.starts_with(b"PK") {
        return of_zip(bytes, label);
    }
    if bytes.starts_with(compound_file::SIGNATURE) {
        let Some(file) = CompoundFile::open(bytes) else {
            return Err(SkipReason::Damaged {
                format: "Office 97-2003",
                what: "its directory is missing".into(),
            });
        };
        if file.has("EncryptedPackage") {
            return Err(SkipReason::Encrypted("Office document"));
        }
        let is_in = |format: &&Format| matches!(format.mark, Mark::Stream(name) if file.has(name));
        return Ok(FORMATS.iter().find(is_in));
    }
    let head = bytes.get(..RTF_START_BYTES).unwrap_or(bytes);
    let text = String::from_utf8_lossy(head);
    let begins = text.trim_start_matches(['\u{feff}', '\u{fffd}', '\0', ' ', '\t', '\r', '\n']);
    Ok(match begins.starts_with("{\\rtf") {
        true => of_mark(Mark::Start(b"{\\rtf")),
        false => None,
    })
}

fn of_zip(
    bytes: &[u8],
    label: Option<&'static str>,
) -> Result<Option<&'static Format>, SkipReason> {
    let label = label.unwrap_or("zip archive");
    let mut package = match ZipPackage::open(bytes, label) {
        Ok(package) => package,
        // A damaged archive of anything is an archive.
        Err(_) if matches!(label, "zip archive" | "Java archive" | "EPUB") => return Ok(None),
        Err(reason) => return Err(reason),
    };
    let media_type = package.read_up_to("mimetype", 256).ok().flatten();
    let media_type = String::from_utf8_lossy(&media_type.unwrap_or_default()).into_owned();
    let kind = media_type
        .trim()
        .strip_prefix("application/vnd.oasis.opendocument.");
    if let Some(kind) = kind {
        let kind = kind
            .trim_end_matches("-template")
            .trim_end_matches("-master");
        let mark = |format: &&Format| matches!(format.mark, Mark::OpenDocument(it) if it == kind);
        return Ok(FORMATS.iter().find(mark));
    }
    let is_office = package.has("[Content_Types].xml") || package.has("_rels/.rels");
    if is_office && let Ok(main) = ooxml::main_part(&mut package) {
        let head = package.read_up_to(&main, MAIN_PART_BYTES)?;
        let root = root_element(&head.unwrap_or_default(), package.format())?;
        let mark = |it: &&Format| matches!(it.mark, Mark::MainElement(name) if name == root);
        return Ok(FORMATS.iter().find(mark));
    }
    // OpenDocument without its media type says what it is in its content.
    if package.has("content.xml") && package.has("META-INF/manifest.xml") {
        let head = package.read_up_to("META-INF/manifest.xml", MAIN_PART_BYTES)?;
        let head = String::from_utf8_lossy(&head.unwrap_or_default()).into_owned();
        let states = |format: &&Format| {
            matches!(format.mark, Mark::OpenDocument(kind)
                if head.contains(&format!("application/vnd.oasis.opendocument.{kind}\"")))
        };
        return Ok(FORMATS.iter().find(states));
    }
    Ok(None)
}

/// The name of the outermost element of a part, from its start; empty for what is no XML.
fn root_element(head: &[u8], format: &'static str) -> Result<String, SkipReason> {
    let text = xml::decode(head, format)?;
    let mut reader = XmlReader::new(&text);
    while let Some(event) = reader.next()? {
        if let XmlEvent::Start(element) = event {
            return Ok(element.name().to_owned());
        }
    }
    Ok(String::new())
}

#[cfg(test)]
mod tests;
