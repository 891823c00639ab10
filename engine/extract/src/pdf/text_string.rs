//! Text and dates outside of the content of pages: titles, bookmarks, labels.

use encoding_rs::{UTF_16BE, UTF_16LE};
use hayro_syntax::object::DateTime;
use kb_types::calendar::{Date, UtcTime};

/// PDFDocEncoding from 0x18 to 0x1f and from 0x80 to 0xa0 (ISO 32000-2, D.3); elsewhere it is Latin-1.
const LOW: [char; 8] = [
    '\u{2d8}', '\u{2c7}', '\u{2c6}', '\u{2d9}', '\u{2dd}', '\u{2db}', '\u{2da}', '\u{2dc}',
];
const HIGH: [char; 33] = [
    '\u{2022}', '\u{2020}', '\u{2021}', '\u{2026}', '\u{2014}', '\u{2013}', '\u{192}', '\u{2044}',
    '\u{2039}', '\u{203a}', '\u{2212}', '\u{2030}', '\u{201e}', '\u{201c}', '\u{201d}', '\u{2018}',
    '\u{2019}', '\u{201a}', '\u{2122}', '\u{fb01}', '\u{fb02}', '\u{141}', '\u{152}', '\u{160}',
    '\u{178}', '\u{17d}', '\u{131}', '\u{142}', '\u{153}', '\u{161}', '\u{17e}', '\u{fffd}',
    '\u{20ac}',
];

/// The text in a string object: UTF-16 or UTF-8 by its byte order mark, else PDFDocEncoding.
pub(super) fn decode(bytes: &[u8]) -> String {
    let text = if let Some(units) = bytes.strip_prefix(&[0xfe, 0xff]) {
        UTF_16BE.decode_without_bom_handling(units).0.into_owned()
    } else if let Some(units) = bytes.strip_prefix(&[0xff, 0xfe]) {
        UTF_16LE.decode_without_bom_handling(units).0.into_owned()
    } else if let Some(utf_8) = bytes.strip_prefix(&[0xef, 0xbb, 0xbf]) {
        String::from_utf8_lossy(utf_8).into_owned()
    } else {
        return bytes.iter().map(|byte| of_byte(*byte)).collect();
    };
    without_languages(&text)
}

fn of_byte(byte: u8) -> char {
    let table = |first: u8, table: &[char]| table.get(usize::from(byte - first)).copied();
    let found = match byte {
        0x18..=0x1f => table(0x18, &LOW),
        0x80..=0xa0 => table(0x80, &HIGH),
        _ => None,
    };
    found.unwrap_or(char::from(byte))
}

/// Leaves out the names of languages, which stand between two escape characters.
fn without_languages(text: &str) -> String {
    let mut pieces = text.split('\u{1b}');
    let mut kept = pieces.next().unwrap_or_default().to_owned();
    while let Some(language) = pieces.next() {
        match pieces.next() {
            Some(piece) => kept.push_str(piece),
            None => kept.push_str(language),
        }
    }
    kept
}

/// A date by ISO 8601, in UTC; `None` for a day that does not exist. A time without a zone counts as UTC.
pub(super) fn date(stated: &DateTime) -> Option<String> {
    let day = Date::unix_days_of(
        u32::from(stated.year),
        u32::from(stated.month),
        u32::from(stated.day),
    )?;
    let minutes = i64::from(stated.hour) * 60 + i64::from(stated.minute);
    let hours_ahead = i64::from(stated.utc_offset_hour);
    let sign = if hours_ahead < 0 { -1 } else { 1 };
    let ahead = hours_ahead * 60 + sign * i64::from(stated.utc_offset_minute);
    let seconds = day * 86_400 + (minutes - ahead) * 60 + i64::from(stated.second);
    Some(UtcTime::from_unix_seconds(seconds).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_decoded_by_their_mark() {
        for (bytes, text) in [
            (
                &b"plain \x92 \xa0 \xe9"[..],
                "plain \u{2122} \u{20ac} \u{e9}",
            ),
            (b"\xfe\xff\0A\x04\x16\xd8\x3d\xde\0", "A\u{416}\u{1f600}"),
            (b"\xff\xfeA\0\x16\x04", "A\u{416}"),
            (b"\xef\xbb\xbf\xd0\x96", "\u{416}"),
            (b"\xfe\xff\0\x1b\0e\0n\0\x1b\0A", "A"),
            (b"\xfe\xff\0A\0\x1b\0B", "AB"),
            (b"\xfe\xff\0A\0", "A\u{fffd}"),
            (b"", ""),
        ] {
            assert_eq!(decode(bytes), text);
        }
    }

    #[test]
    fn dates_are_told_in_utc() {
        let mut stated = DateTime {
            year: 2024,
            month: 2,
            day: 29,
            hour: 23,
            minute: 30,
            second: 5,
            utc_offset_hour: -5,
            utc_offset_minute: 30,
        };
        assert_eq!(date(&stated).as_deref(), Some("2024-03-01T05:00:05Z"));
        stated.utc_offset_hour = 2;
        assert_eq!(date(&stated).as_deref(), Some("2024-02-29T21:00:05Z"));
        stated.day = 30;
        assert_eq!(date(&stated), None);
    }
}
