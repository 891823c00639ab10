//! Numbers of code pages and character sets of Windows.

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, IBM866, ISO_2022_JP, ISO_8859_2, ISO_8859_5,
    ISO_8859_7, ISO_8859_15, KOI8_R, KOI8_U, MACINTOSH, SHIFT_JIS, UTF_8, UTF_16LE, WINDOWS_874,
    WINDOWS_1250, WINDOWS_1251, WINDOWS_1252, WINDOWS_1253, WINDOWS_1254, WINDOWS_1255,
    WINDOWS_1256, WINDOWS_1257, WINDOWS_1258, X_MAC_CYRILLIC,
};

/// The encoding of a code page.
pub(crate) fn encoding_of(page: u32) -> Option<&'static Encoding> {
    Some(match page {
        866 => IBM866,
        874 => WINDOWS_874,
        932 => SHIFT_JIS,
        936 => GBK,
        949 | 1361 => EUC_KR,
        950 => BIG5,
        1200 => UTF_16LE,
        1250 => WINDOWS_1250,
        1251 => WINDOWS_1251,
        1252 => WINDOWS_1252,
        1253 => WINDOWS_1253,
        1254 => WINDOWS_1254,
        1255 => WINDOWS_1255,
        1256 => WINDOWS_1256,
        1257 => WINDOWS_1257,
        1258 => WINDOWS_1258,
        10000 => MACINTOSH,
        10007 => X_MAC_CYRILLIC,
        20127 | 28591 => WINDOWS_1252,
        20866 => KOI8_R,
        20932 | 51932 => EUC_JP,
        21866 => KOI8_U,
        28592 => ISO_8859_2,
        28595 => ISO_8859_5,
        28597 => ISO_8859_7,
        28599 => WINDOWS_1254,
        28605 => ISO_8859_15,
        50220..=50222 => ISO_2022_JP,
        51949 => EUC_KR,
        54936 => GB18030,
        65001 => UTF_8,
        _ => return None,
    })
}

/// The encoding of a character set of a font, as RTF and Windows number them; `None` for that of the document.
pub(crate) fn encoding_of_charset(charset: i32) -> Option<&'static Encoding> {
    Some(match charset {
        77 => MACINTOSH,
        128 => SHIFT_JIS,
        129 | 130 => EUC_KR,
        134 => GBK,
        136 => BIG5,
        161 => WINDOWS_1253,
        162 => WINDOWS_1254,
        163 => WINDOWS_1258,
        177 => WINDOWS_1255,
        178 => WINDOWS_1256,
        186 => WINDOWS_1257,
        204 => WINDOWS_1251,
        222 => WINDOWS_874,
        238 => WINDOWS_1250,
        _ => return None,
    })
}

/// The encoding that Windows uses for a language, by the language's number.
pub(crate) fn encoding_of_language(language: u16) -> &'static Encoding {
    match language & 0x3FF {
        0x02 | 0x19 | 0x22 | 0x23 | 0x2F => WINDOWS_1251,
        0x05 | 0x0E | 0x15 | 0x18 | 0x1A | 0x1B | 0x1C | 0x24 => WINDOWS_1250,
        0x08 => WINDOWS_1253,
        0x0D => WINDOWS_1255,
        0x01 | 0x20 | 0x29 => WINDOWS_1256,
        0x11 => SHIFT_JIS,
        0x12 => EUC_KR,
        0x1E => WINDOWS_874,
        0x1F => WINDOWS_1254,
        0x25..=0x27 => WINDOWS_1257,
        0x2A => WINDOWS_1258,
        0x04 if matches!(language, 0x404 | 0xC04 | 0x1404) => BIG5,
        0x04 => GBK,
        _ => WINDOWS_1252,
    }
}
