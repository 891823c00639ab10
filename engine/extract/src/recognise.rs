//! What a file is, by its content.

use kb_types::file_types;

use crate::formats::{FORMATS, Format, Mark, of_text};
#[cfg(any(feature = "office", feature = "sheets"))]
use crate::package::{
    compound_file::{self, CompoundFile},
    ooxml,
    xml::{self, XmlEvent, XmlReader},
    zip_package::{self, ZipPackage},
};
use crate::skip_reason::SkipReason;
use crate::{code, text};

/// Bytes of a main part in which its outermost element begins.
#[cfg(any(feature = "office", feature = "sheets"))]
// The outermost element comes first, behind comments and namespaces.
const MAIN_PART_BYTES: u64 = 64 << 10;
/// Bytes of a text in which it shows what it is.
const TEXT_START_BYTES: usize = 1024;
/// How files begin whose extraction misbehaves as they say: see `ingest/worker/trial.rs`.
#[cfg(feature = "testing")]
pub const TRIAL_SIGNATURE: &[u8] = b"%KB-TRIAL ";

/// The format of a file that is no text; `None` for text, and for what is none of the table. Of a file that fits
/// several, as a compound file with a workbook and a document in it may, the one of its name.
///
/// # Errors
/// A file of one of them that is encrypted as a whole, or too damaged to tell.
pub(super) fn recognise(
    document_path: &str,
    bytes: &[u8],
) -> Result<Option<&'static Format>, SkipReason> {
    #[cfg(any(feature = "office", feature = "sheets"))]
    {
        if bytes.starts_with(zip_package::SIGNATURE) {
            return of_zip(bytes);
        }
        if bytes.starts_with(compound_file::SIGNATURE) {
            return of_compound_file(document_path, bytes);
        }
    }
    Ok(of_start(document_path, bytes))
}

/// The format of a text: of its file type, by name, else the one that its start shows.
pub(super) fn of_text_start(source: &str) -> Option<&'static Format> {
    let mut rows = FORMATS.iter();
    rows.find(|row| matches!(row.mark, Mark::TextStart(is_it) if is_it(source)))
}

/// Where a file may be extracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// In the process that has it.
    InProcess,
    /// In a worker where the host has one: a text with markup.
    WorkerIfAny,
    /// The same for a program, which is parsed there. One that a worker dies on is read without being parsed.
    WorkerToParse,
    /// In a worker: packed and binary formats.
    Worker,
}

/// Where a file may be extracted. Decided from its first bytes and its name, so that nothing of what it holds is
/// read before; a package or a compound file always needs a worker.
pub fn isolation_of(document_path: &str, bytes: &[u8]) -> Isolation {
    #[cfg(feature = "testing")]
    if bytes.starts_with(TRIAL_SIGNATURE) {
        let named = file_types::from_name(document_path);
        let is_parsed = named.is_some_and(|named| code::is_parsed(named.language));
        return if is_parsed {
            Isolation::WorkerToParse
        } else {
            Isolation::Worker
        };
    }
    #[cfg(any(feature = "office", feature = "sheets"))]
    if bytes.starts_with(zip_package::SIGNATURE) || bytes.starts_with(compound_file::SIGNATURE) {
        return Isolation::Worker;
    }
    if let Some(format) = of_start(document_path, bytes) {
        return if format.needs_worker {
            Isolation::Worker
        } else {
            Isolation::InProcess
        };
    }
    if text::binary_format(bytes).is_some() {
        return Isolation::InProcess;
    }
    let named = file_types::from_name(document_path);
    let format = match named.filter(|named| !file_types::is_packed(named.name)) {
        Some(named) => of_text(named.name),
        None => {
            let head = bytes.get(..TEXT_START_BYTES).unwrap_or(bytes);
            of_text_start(&String::from_utf8_lossy(&text::as_utf_8(head)))
        }
    };
    let language = || {
        let first_line = || {
            bytes
                .split(|byte| *byte == b'\n')
                .next()
                .unwrap_or_default()
        };
        let by_line = || file_types::from_first_line(&String::from_utf8_lossy(first_line()));
        named.or_else(by_line).map_or("", |found| found.language)
    };
    if format.is_some_and(|format| format.needs_worker) {
        Isolation::WorkerIfAny
    } else if format.is_none() && code::is_parsed(language()) {
        Isolation::WorkerToParse
    } else {
        Isolation::InProcess
    }
}

/// Whether a file of this name is parsed as a program, as far as its name tells.
pub fn is_program_by_name(document_path: &str) -> bool {
    file_types::from_name(document_path).is_some_and(code::has_syntax)
}

/// Whether the first 64 KiB of a file show that it is not read: it is binary, and of no format that is. What is not
/// refused here may be refused by the rest of it.
pub fn is_refused_by_start(document_path: &str, head: &[u8]) -> bool {
    if of_start(document_path, head).is_some_and(|format| format.needs_worker) {
        return false;
    }
    match text::binary_format(head) {
        // Which one it is stands further inside.
        Some("Office 97-2003") => false,
        Some(label) => FORMATS.iter().all(|row| row.label != label),
        None => !text::is_unicode_text(head) && text::looks_binary(head),
    }
}

fn of_start(document_path: &str, bytes: &[u8]) -> Option<&'static Format> {
    let named = file_types::from_name(document_path).map(|named| named.name);
    let begins = |row: &&Format| match row.mark {
        Mark::Start(is_it) => is_it(bytes),
        Mark::Header(is_it) => match named {
            Some(named) => named == row.name && is_it(bytes, true),
            None => is_it(bytes, false),
        },
        _ => false,
    };
    FORMATS.iter().find(begins)
}

#[cfg(any(feature = "office", feature = "sheets"))]
fn of_compound_file(
    document_path: &str,
    bytes: &[u8],
) -> Result<Option<&'static Format>, SkipReason> {
    let file = CompoundFile::open(bytes)
        .ok_or_else(|| SkipReason::damaged("Office 97-2003", "its directory is missing"))?;
    if file.has("EncryptedPackage") {
        return Err(SkipReason::Encrypted("Office document"));
    }
    let outermost = file.outermost_streams();
    let holds = |row: &&Format, is_there: &dyn Fn(&str) -> bool| match row.mark {
        Mark::Streams(names) => names.iter().any(|name| is_there(name)),
        _ => false,
    };
    // A document may hold others in storages of their own.
    let in_root = |name: &str| outermost.iter().any(|it| it.eq_ignore_ascii_case(name));
    let found: Vec<&Format> = FORMATS.iter().filter(|row| holds(row, &in_root)).collect();
    let named = file_types::from_name(document_path).map(|named| named.name);
    let by_name = found.iter().find(|row| named == Some(row.name));
    let anywhere = || {
        FORMATS
            .iter()
            .find(|row| holds(row, &|name| file.has(name)))
    };
    Ok(by_name.or(found.first()).copied().or_else(anywhere))
}

#[cfg(any(feature = "office", feature = "sheets"))]
fn of_zip(bytes: &[u8]) -> Result<Option<&'static Format>, SkipReason> {
    let label = text::binary_format(bytes).unwrap_or_default();
    let mut package = match ZipPackage::open(bytes, label) {
        Ok(package) => package,
        // The names of its first parts stand there still. A damaged archive of anything else is an archive.
        Err(reason) if FORMATS.iter().any(|row| row.label == label) => return Err(reason),
        Err(_) => return Ok(None),
    };
    let media_type = match package.read_up_to("mimetype", 256) {
        Err(reason @ SkipReason::Encrypted(_)) => return Err(reason),
        media_type => media_type.ok().flatten(),
    };
    if let Some(media_type) = media_type {
        let stated = String::from_utf8_lossy(&media_type).into_owned();
        let stated = stated
            .trim()
            .trim_end_matches("-template")
            .trim_end_matches("-master");
        let is_it = |row: &&Format| matches!(row.mark, Mark::MediaType(known) if known == stated);
        let found = FORMATS.iter().find(is_it);
        if found.is_some() {
            return Ok(found);
        }
    }
    // A book without its first part still says where its package document is.
    let container = package.read_up_to("META-INF/container.xml", MAIN_PART_BYTES);
    let container = container.ok().flatten().unwrap_or_default();
    if String::from_utf8_lossy(&container).contains("application/oebps-package+xml") {
        return Ok(FORMATS.iter().find(|row| row.name == "epub"));
    }
    let is_office = package.has("[Content_Types].xml")
        || package.has("_rels/.rels")
        || starts_with_name(bytes, b"[Content_Types].xml");
    let main = match is_office.then(|| ooxml::main_part(&mut package)) {
        Some(Err(reason @ SkipReason::Encrypted(_))) => return Err(reason),
        main => main.and_then(Result::ok),
    };
    if let Some(main) = main {
        let is_part =
            |row: &&Format| matches!(row.mark, Mark::MainPart(end) if main.ends_with(end));
        if let Some(found) = FORMATS.iter().find(is_part) {
            return Ok(Some(found));
        }
        let head = package.read_up_to(&main, MAIN_PART_BYTES)?;
        let root = root_element(&head.unwrap_or_default(), package.format())?;
        let is_main = |row: &&Format| matches!(row.mark, Mark::MainElement(name) if name == root);
        return Ok(FORMATS.iter().find(is_main));
    }
    // A package of OpenDocument without its first part says what it is in its list of parts.
    if package.has("content.xml") && package.has("META-INF/manifest.xml") {
        let head = package.read_up_to("META-INF/manifest.xml", MAIN_PART_BYTES)?;
        let head = String::from_utf8_lossy(&head.unwrap_or_default()).into_owned();
        let states = |row: &&Format| matches!(row.mark, Mark::MediaType(kind) if head.contains(&format!("{kind}\"")));
        return Ok(FORMATS.iter().find(states));
    }
    // One of whose parts the list has lost most.
    match is_office && FORMATS.iter().any(|row| row.label == label) {
        true => Err(SkipReason::damaged(label, "its main part is missing")),
        false => Ok(None),
    }
}

/// Whether that is the name of the first part of an archive, whatever its list of parts says.
#[cfg(any(feature = "office", feature = "sheets"))]
fn starts_with_name(archive: &[u8], name: &[u8]) -> bool {
    let behind_header = archive.get(30..).unwrap_or_default();
    behind_header.starts_with(name)
}

/// The name of the outermost element of a part, from its start; empty for what is no XML.
#[cfg(any(feature = "office", feature = "sheets"))]
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
