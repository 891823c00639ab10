//! What bytes without a name are.

use crate::text;

/// What bytes show of themselves, whatever they are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sniffed {
    /// Text in UTF-8 or UTF-16; also no bytes at all.
    Text,
    /// A format that is no text; the words name it: `PDF`, `Word document`, `PNG image`.
    Binary(&'static str),
    /// Neither: a format without a signature, or a text in an older encoding.
    Unknown,
}

/// What `bytes` are, by the signatures of well-known formats, then by whether they read as text. Zip
/// archives of office programs are told apart by the names in their first 64 KB. Linear.
pub fn sniff(bytes: &[u8]) -> Sniffed {
    match text::binary_format(bytes) {
        Some(format) => Sniffed::Binary(format),
        None if text::is_unicode_text(bytes) => Sniffed::Text,
        None => Sniffed::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_apart_by_what_they_begin_with_and_hold() {
        let zip = |names: &str| format!("PK\u{3}\u{4}\u{14}\0{names}").into_bytes();
        for (bytes, name) in [
            (b"%PDF-1.7\n1 0 obj".to_vec(), "PDF"),
            (
                zip("[Content_Types].xml word/document.xml"),
                "Word document",
            ),
            (zip("[Content_Types].xml xl/workbook.xml"), "Excel workbook"),
            (zip("ppt/presentation.xml"), "PowerPoint presentation"),
            (
                zip("mimetypeapplication/vnd.oasis.opendocument.text"),
                "OpenDocument text",
            ),
            (
                zip("mimetypeapplication/vnd.oasis.opendocument.spreadsheet"),
                "OpenDocument spreadsheet",
            ),
            (
                zip("mimetypeapplication/vnd.oasis.opendocument.presentation"),
                "OpenDocument presentation",
            ),
            (
                zip("mimetypeapplication/epub+zip container:opendocument"),
                "EPUB",
            ),
            (zip("notes.txt"), "zip archive"),
            ([&b"\x89PNG\r\n\x1a\n"[..], &[0; 20]].concat(), "PNG image"),
            (
                [&[0; 257][..], b"ustar\0", &[0; 249]].concat(),
                "tar archive",
            ),
            ([&b"\0\0\0\x20ftypisom"[..], &[0; 40]].concat(), "MP4 media"),
        ] {
            assert_eq!(sniff(&bytes), Sniffed::Binary(name));
        }
        let utf_16: Vec<u8> = "the moon and the sea"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let marked = [&[0xff, 0xfe][..], &utf_16].concat();
        // The letters of a tar archive, where it has them.
        let mustard = [&[b'm'; 257][..], b"ustard with cheese\n"].concat();
        for text in [
            &b""[..],
            b"# Tides\n",
            "\u{706f}\u{53f0}".as_bytes(),
            &utf_16,
            &marked,
            b"BZh is no archive",
            b"The ftyp box comes first.",
            &mustard,
        ] {
            assert_eq!(sniff(text), Sniffed::Text, "{text:?}");
        }
        let old = b"caf\xe9 au lait";
        for strange in [&old[..], &[0, 1, 2, 3, 4, 5, 6, 7], &[0xff; 40]] {
            assert_eq!(sniff(strange), Sniffed::Unknown, "{strange:?}");
        }
    }
}
