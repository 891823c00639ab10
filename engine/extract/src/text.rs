//! Bytes to text: what is binary, and which encoding the rest has.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};
use memchr::memmem;

use crate::skip_reason::SkipReason;

/// Bytes at the start of a file that are looked at to tell binary from text.
// Binary formats have a zero byte or a signature near their start. Reading more would cost as much
// as reading the file.
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

/// Whether bytes are text beyond doubt: UTF-8, or UTF-16 or UTF-32 that shows it, without control bytes.
pub(super) fn is_unicode_text(bytes: &[u8]) -> bool {
    if utf_32_order(bytes).is_some() || unicode_encoding(bytes).is_some() {
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
pub(super) fn looks_binary(bytes: &[u8]) -> bool {
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

/// The text of a file, and how many bytes of it are not of its encoding.
pub(super) struct Decoded {
    pub(super) text: String,
    /// Each of them, or each run of them, is U+FFFD in the text. Only UTF-8 is certain enough to count them.
    pub(super) invalid: usize,
}

/// The text of a file: UTF-8, UTF-16 or UTF-32 by byte order mark or by form, ISO-2022-JP by its escapes, else what the
/// file names itself (HTML, XML), else the likeliest encoding. No byte order mark is left.
pub(super) fn decode(bytes: &[u8], is_html: bool) -> Result<String, SkipReason> {
    decode_counting(bytes, is_html).map(|decoded| decoded.text)
}

/// The same, with what was wrong in it.
pub(super) fn decode_counting(bytes: &[u8], is_html: bool) -> Result<Decoded, SkipReason> {
    if let Some(text) = utf_32(bytes).or_else(|| unicode_text(bytes)) {
        return checked(text, 0);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            let japanese = iso_2022_jp(bytes);
            return checked(japanese.unwrap_or_else(|| text.to_owned()), 0);
        }
        Err(_) => {
            if let Some(invalid) = invalid_in_utf_8(bytes) {
                return checked(String::from_utf8_lossy(bytes).into_owned(), invalid);
            }
        }
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
    checked(text.into_owned(), 0)
}

/// The bytes of a text, or of its start, as UTF-8 without a byte order mark, if they are UTF-8, UTF-16 or UTF-32.
/// Others stay as they are: in these encodings ASCII is ASCII.
pub fn as_utf_8(bytes: &[u8]) -> Cow<'_, [u8]> {
    if let Some(text) = utf_32(bytes) {
        return Cow::Owned(text.into_bytes());
    }
    match unicode_encoding(bytes) {
        None => Cow::Borrowed(bytes),
        Some((encoding, bytes)) if encoding == UTF_8 => Cow::Borrowed(bytes),
        Some((encoding, bytes)) => {
            let (text, _) = encoding.decode_without_bom_handling(bytes);
            Cow::Owned(text.into_owned().into_bytes())
        }
    }
}

/// The text of UTF-16, or of UTF-8 with a byte order mark.
pub(super) fn unicode_text(bytes: &[u8]) -> Option<String> {
    let (encoding, bytes) = unicode_encoding(bytes)?;
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    Some(text.into_owned())
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

/// The order of the bytes of UTF-32.
type Order = fn([u8; 4]) -> u32;

/// The text of UTF-32 by its byte order mark or its form.
fn utf_32(bytes: &[u8]) -> Option<String> {
    let order = utf_32_order(bytes)?;
    let units = bytes.chunks(4).map(|unit| {
        let unit: Option<[u8; 4]> = unit.try_into().ok();
        let character = unit.and_then(|unit| char::from_u32(order(unit)));
        character.unwrap_or(char::REPLACEMENT_CHARACTER)
    });
    let text: String = units.collect();
    Some(match text.strip_prefix('\u{feff}') {
        Some(text) => text.to_owned(),
        None => text,
    })
}

/// UTF-32 shows in every unit of four bytes: one of them is 0, another at most 16. Without a byte order mark two
/// letters of it are needed, and none that no text has; no other encoding looks like that. What has the mark of another
/// one is of that: a few line ends in UTF-16 could be letters of UTF-32, too.
fn utf_32_order(bytes: &[u8]) -> Option<Order> {
    let orders: [(Order, [u8; 4]); 2] = [
        (u32::from_le_bytes, [0xFF, 0xFE, 0, 0]),
        (u32::from_be_bytes, [0, 0, 0xFE, 0xFF]),
    ];
    let head = bytes
        .get(..bytes.len().min(SNIFFED_BYTES))
        .unwrap_or_default();
    let (units, rest) = head.as_chunks::<4>();
    let fits = |order: Order| {
        let mut units = units.iter().map(|unit| order(*unit));
        units.all(|unit| {
            let is_odd = u8::try_from(unit).is_ok_and(is_odd_control);
            char::from_u32(unit).is_some() && !is_odd
        })
    };
    let may_be_unmarked = units.len() >= 2 && rest.is_empty() && Encoding::for_bom(bytes).is_none();
    let mut orders = orders.into_iter();
    let found = orders.find(|(order, mark)| {
        let is_marked = bytes.starts_with(mark);
        (is_marked || may_be_unmarked) && fits(*order)
    });
    found.map(|(order, _)| order)
}

/// The text of ISO-2022-JP, which has only bytes of ASCII and says so by its escapes. What it is not stays as it is:
/// other programs write escapes, too.
pub(super) fn iso_2022_jp(bytes: &[u8]) -> Option<String> {
    let begins = |escape: &[u8]| memmem::find(bytes, escape).is_some();
    if !bytes.is_ascii() || !(begins(b"\x1B$B") || begins(b"\x1B$@")) {
        return None;
    }
    let text = ISO_2022_JP.decode_without_bom_handling_and_without_replacement(bytes)?;
    Some(text.into_owned())
}

/// Refuses what decodes without complaint and yet is no text.
fn checked(text: String, invalid: usize) -> Result<Decoded, SkipReason> {
    if looks_binary(text.as_bytes()) {
        Err(SkipReason::NotText)
    } else {
        Ok(Decoded { text, invalid })
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

/// How many bytes, or runs of them, are broken in a file that is UTF-8 but for these: a cut tail, one pasted name. None
/// for what is another encoding: in those, bytes that are a character of UTF-8 are rare, most of all within a word.
fn invalid_in_utf_8(bytes: &[u8]) -> Option<usize> {
    let (mut good, mut invalid) = (0usize, 0usize);
    for piece in bytes.utf8_chunks() {
        let text = piece.valid();
        for (at, character) in text.char_indices().filter(|(_, c)| !c.is_ascii()) {
            let before = text.as_bytes().get(at.wrapping_sub(1));
            let after = text.as_bytes().get(at + character.len_utf8());
            let is_in_word = before.is_some_and(u8::is_ascii_lowercase)
                || after.is_some_and(u8::is_ascii_alphabetic);
            // Letters of Europe: two bytes that another encoding reads as a capital and a mark.
            let is_letter = ('\u{a0}'..'\u{590}').contains(&character) && is_in_word;
            good += if is_letter || character.len_utf8() > 2 {
                3
            } else {
                1
            };
        }
        invalid += usize::from(!piece.invalid().is_empty());
    }
    (invalid * 3 <= good).then_some(invalid)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> String {
        decode(bytes, false).unwrap_or_else(|reason| format!("({reason})"))
    }

    #[test]
    fn utf_32_is_read_with_a_mark_and_without() {
        let text = "Seal \u{1f9ad}\n\u{4e2d}\u{6587}, two\n";
        let units = |order: fn(u32) -> [u8; 4], text: &str| -> Vec<u8> {
            text.chars().flat_map(|c| order(u32::from(c))).collect()
        };
        for order in [u32::to_le_bytes, u32::to_be_bytes] {
            for marked in [format!("\u{feff}{text}"), text.to_owned()] {
                let bytes = units(order, &marked);
                assert_eq!(read(&bytes), text);
                assert!(is_unicode_text(&bytes));
                assert_eq!(as_utf_8(&bytes), text.as_bytes());
            }
            // Cut within a character, and with a unit that is none.
            let mut cut = units(order, "\u{feff}ab");
            cut.extend([0, 0]);
            assert_eq!(read(&cut), "ab\u{fffd}");
        }
        // Numbers are no text, and UTF-16 is not UTF-32.
        let numbers: Vec<u8> = (1..200u32).flat_map(u32::to_le_bytes).collect();
        assert!(decode(&numbers, false).is_err());
        let utf_16: Vec<u8> = "\u{feff}ab cd"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(read(&utf_16), "ab cd");
        // U+DFEFF and U+A000D as UTF-32.
        assert_eq!(read(b"\xFF\xFE\r\0\r\0\n\0"), "\r\r\n");
        assert_eq!(read(b"abcdefgh"), "abcdefgh");
    }

    #[test]
    fn iso_2022_jp_is_read_by_its_escapes() {
        let (bytes, _, _) = ISO_2022_JP.encode("\u{6f6e}\u{306e} tide\n");
        assert!(bytes.is_ascii());
        assert_eq!(read(&bytes), "\u{6f6e}\u{306e} tide\n");
        for other in ["\u{1b}[1mbold\u{1b}[0m", "a \u{1b}$B\u{7f}", "\u{1b}$"] {
            assert_eq!(read(other.as_bytes()), other);
        }
    }

    #[test]
    fn one_broken_byte_makes_no_other_encoding() {
        for (bytes, text) in [
            // As it may be in a small file: three lines, one of them broken.
            (
                &b"caf\xc3\xa9\nna\xefve\nth\xc3\xa9\n"[..],
                "caf\u{e9}\nna\u{fffd}ve\nth\u{e9}\n",
            ),
            (b"gr\xc3\xbcn \xff\n", "gr\u{fc}n \u{fffd}\n"),
            (b"\xe6\xbd\xae \x80\n", "\u{6f6e} \u{fffd}\n"),
            (
                "\u{434}\u{430} \u{434}\u{430}\n".as_bytes(),
                "\u{434}\u{430} \u{434}\u{430}\n",
            ),
            // These are Latin letters of one byte.
            (b"caf\xe9\n", "caf\u{e9}\n"),
            (
                b"\xabCAF\xc9\xbb et \xabTH\xc9\xbb\n",
                "\u{ab}CAF\u{c9}\u{bb} et \u{ab}TH\u{c9}\u{bb}\n",
            ),
        ] {
            assert_eq!(read(bytes), text);
        }
        let decoded = decode_counting(b"th\xc3\xa9 th\xc3\xa9 th\xc3\xa9 \xff \xfe\xfd\n", false);
        assert_eq!(decoded.ok().map(|decoded| decoded.invalid), Some(3));
        let (cyrillic, _, _) = encoding_rs::WINDOWS_1251.encode(
            "\u{422}\u{438}\u{445}\u{438}\u{439} \u{43e}\u{43a}\u{435}\u{430}\u{43d}, \u{ab}\u{421}\u{421}\u{421}\u{420}\u{bb}\n",
        );
        assert!(read(&cyrillic).starts_with('\u{422}'));
    }
}
