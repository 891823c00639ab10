//! Bytes to text: what is binary, and which encoding the rest has.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::ingest::extract::skip_reason::SkipReason;

/// Bytes at the start of a file that are looked at to tell binary from text.
const SNIFFED_BYTES: usize = 64 << 10;
/// Bytes that the encoding detector sees. What it says hardly changes after so many.
const DETECTED_BYTES: usize = 1 << 20;

/// First bytes of formats that are no text.
static SIGNATURES: &[(&[u8], &str)] = &[
    (b"%PDF-", "PDF"),
    (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "Office 97-2003"),
    (b"{\\rtf", "RTF"),
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xFF\xD8\xFF", "JPEG image"),
    (b"GIF87a", "GIF image"),
    (b"GIF89a", "GIF image"),
    (b"II*\0", "TIFF image"),
    (b"MM\0*", "TIFF image"),
    (b"8BPS", "Photoshop image"),
    (b"\0\0\x01\0", "icon"),
    (b"\x7FELF", "executable"),
    (b"\xCE\xFA\xED\xFE", "executable"),
    (b"\xCF\xFA\xED\xFE", "executable"),
    (b"\xCA\xFE\xBA\xBE", "executable or Java class"),
    (b"\0asm", "WebAssembly"),
    (b"!<arch>\n", "library archive"),
    (b"\x1F\x8B", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xFD7zXZ\0", "xz"),
    (b"\x28\xB5\x2F\xFD", "zstd"),
    (b"7z\xBC\xAF\x27\x1C", "7-Zip"),
    (b"Rar!\x1A\x07", "RAR"),
    (b"ID3", "MP3 audio"),
    (b"OggS", "Ogg media"),
    (b"fLaC", "FLAC audio"),
    (b"\x1A\x45\xDF\xA3", "Matroska video"),
    (b"wOFF", "web font"),
    (b"wOF2", "web font"),
    (b"\0\x01\0\0\0", "font"),
    (b"OTTO", "font"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"redb\x1A\x0A\xA9\x0D\x0A", "redb database"),
];

/// Name of the binary format that the first bytes show; `None` when they may be text.
pub(super) fn binary_format(bytes: &[u8]) -> Option<&'static str> {
    let (_, format) = match SIGNATURES
        .iter()
        .find(|(start, _)| bytes.starts_with(start))
    {
        Some(found) => *found,
        None if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") => {
            return Some(zip_format(bytes));
        }
        None if bytes.starts_with(b"MZ") && looks_binary(bytes) => return Some("executable"),
        None if bytes.starts_with(b"RIFF") && looks_binary(bytes) => return Some("RIFF media"),
        // A text may have these letters there: "The ftyp box", or "mustard".
        None if bytes.get(4..8) == Some(b"ftyp") && looks_binary(bytes) => {
            return Some("MP4 media");
        }
        None if bytes.get(257..262) == Some(b"ustar") && looks_binary(bytes) => {
            return Some("tar archive");
        }
        None => return None,
    };
    // Letters alone may also begin a text: `BZh`, `ID3`, `OTTO`. RTF and PDF may be all letters.
    let is_certain = matches!(format, "PDF" | "RTF");
    (is_certain || looks_binary(bytes)).then_some(format)
}

/// Whether bytes are text beyond doubt: UTF-8, or UTF-16 that shows it, without control bytes.
pub(super) fn is_unicode_text(bytes: &[u8]) -> bool {
    if unicode_encoding(bytes).is_some() {
        return decode(bytes, false).is_ok();
    }
    std::str::from_utf8(bytes).is_ok() && !looks_binary(bytes)
}

/// Office files are zip archives whose first entries have well-known names.
fn zip_format(bytes: &[u8]) -> &'static str {
    let head = bytes
        .get(..bytes.len().min(SNIFFED_BYTES))
        .unwrap_or_default();
    let holds = |name: &[u8]| head.windows(name.len()).any(|window| window == name);
    // Its list of parts has the name of OpenDocument in it.
    if holds(b"application/epub") {
        "EPUB"
    } else if holds(b"opendocument.text") {
        "OpenDocument text"
    } else if holds(b"opendocument.spreadsheet") {
        "OpenDocument spreadsheet"
    } else if holds(b"opendocument.presentation") {
        "OpenDocument presentation"
    } else if holds(b"opendocument") {
        "OpenDocument"
    } else if holds(b"word/") {
        "Word document"
    } else if holds(b"xl/") {
        "Excel workbook"
    } else if holds(b"ppt/") {
        "PowerPoint presentation"
    } else if holds(b"META-INF/") {
        "Java archive"
    } else {
        "zip archive"
    }
}

/// Whether control bytes that no text uses are frequent.
fn looks_binary(bytes: &[u8]) -> bool {
    let head = bytes
        .get(..bytes.len().min(SNIFFED_BYTES))
        .unwrap_or_default();
    let odd = head.iter().filter(|&&byte| is_odd_control(byte)).count();
    // A bell or two make no binary of a short text.
    odd * 200 > head.len().max(400)
}

/// C0 controls but for white space, backspace, form feed and escape, and DEL.
fn is_odd_control(byte: u8) -> bool {
    matches!(byte, 0..=7 | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F)
}

/// The text of a file: UTF-8 or UTF-16 by byte order mark or by form, else what the file names
/// itself (HTML, XML), else the likeliest encoding. No byte order mark is left.
pub(super) fn decode(bytes: &[u8], is_html: bool) -> Result<String, SkipReason> {
    if let Some((encoding, bytes)) = unicode_encoding(bytes) {
        let (text, _) = encoding.decode_without_bom_handling(bytes);
        return checked(text.into_owned());
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => return checked(text.to_owned()),
        Err(_) if is_mostly_utf_8(bytes) => {
            return checked(String::from_utf8_lossy(bytes).into_owned());
        }
        Err(_) => {}
    }
    if looks_binary(bytes) {
        return Err(SkipReason::NotText);
    }
    let encoding = named_encoding(bytes, is_html).unwrap_or_else(|| detect(bytes));
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    let replaced = text
        .chars()
        .filter(|&c| c == char::REPLACEMENT_CHARACTER)
        .count();
    if replaced * 50 > text.len() {
        return Err(SkipReason::NotText);
    }
    checked(text.into_owned())
}

/// The bytes of a text, or of its start, as UTF-8 without a byte order mark, if they are UTF-8 or UTF-16.
/// Others stay as they are: in these encodings ASCII is ASCII.
pub(in crate::ingest) fn as_utf_8(bytes: &[u8]) -> Cow<'_, [u8]> {
    match unicode_encoding(bytes) {
        None => Cow::Borrowed(bytes),
        Some((encoding, bytes)) if encoding == UTF_8 => Cow::Borrowed(bytes),
        Some((encoding, bytes)) => {
            let (text, _) = encoding.decode_without_bom_handling(bytes);
            Cow::Owned(text.into_owned().into_bytes())
        }
    }
}

/// The encoding that a byte order mark states, or that UTF-16 without one shows, and the bytes after the mark.
fn unicode_encoding(bytes: &[u8]) -> Option<(&'static Encoding, &[u8])> {
    match Encoding::for_bom(bytes) {
        Some((encoding, mark_bytes)) => {
            Some((encoding, bytes.get(mark_bytes..).unwrap_or_default()))
        }
        None => Some((utf_16_by_form(bytes)?, bytes)),
    }
}

/// Refuses what decodes without complaint and yet is no text.
fn checked(text: String) -> Result<String, SkipReason> {
    if looks_binary(text.as_bytes()) {
        Err(SkipReason::NotText)
    } else {
        Ok(text)
    }
}

/// UTF-16 without a mark shows in Latin text: every second byte is 0.
fn utf_16_by_form(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes
        .get(..bytes.len().min(SNIFFED_BYTES) & !1)
        .unwrap_or_default();
    if head.len() < 8 || !bytes.len().is_multiple_of(2) {
        return None;
    }
    let zeros = |odd: usize| {
        head.iter()
            .skip(odd)
            .step_by(2)
            .filter(|&&byte| byte == 0)
            .count()
    };
    let (even, odd, pairs) = (zeros(0), zeros(1), head.len() / 2);
    match (even * 100 < pairs, odd * 100 < pairs) {
        (true, false) if odd * 2 > pairs => Some(UTF_16LE),
        (false, true) if even * 2 > pairs => Some(UTF_16BE),
        _ => None,
    }
}

/// Whether a file is UTF-8 with a few broken bytes: a cut tail, one pasted name.
fn is_mostly_utf_8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0usize, 0usize);
    for piece in bytes.utf8_chunks() {
        good += piece.valid().chars().filter(|c| !c.is_ascii()).count();
        bad += usize::from(!piece.invalid().is_empty());
    }
    bad * 20 <= good
}

/// The encoding that the first kilobyte names: `<meta charset=...>`, `<?xml encoding="..."?>`.
fn named_encoding(bytes: &[u8], is_html: bool) -> Option<&'static Encoding> {
    let head = bytes.get(..bytes.len().min(1024)).unwrap_or_default();
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let key = match head.starts_with("<?xml") {
        true => "encoding=",
        false if is_html => "charset=",
        false => return None,
    };
    let (_, label) = head.split_once(key)?;
    let label = label.trim_start_matches(['"', '\'', ' ']);
    let end = label
        .find(['"', '\'', ' ', ';', '>', '/'])
        .unwrap_or(label.len());
    let encoding = Encoding::for_label(label.get(..end)?.as_bytes())?;
    // The bytes are known not to be UTF-8, and UTF-16 cannot hold a readable label.
    (encoding != UTF_8 && encoding != UTF_16LE && encoding != UTF_16BE).then_some(encoding)
}

fn detect(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(
        bytes
            .get(..bytes.len().min(DETECTED_BYTES))
            .unwrap_or_default(),
        true,
    );
    detector.guess(None, Utf8Detection::Deny)
}
