//! The summary of a compound file: title, author and times.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use kb_types::calendar::UtcTime;

use crate::extracted::Extracted;
use crate::package::code_pages::encoding_of;
use crate::package::compound_file::CompoundFile;
use crate::package::little_endian::{place_at, stretch, u16_at, u32_at, utf_16};

/// Properties of a set; a summary has about 18.
const MAX_PROPERTIES: usize = 256;
/// From the first day of 1601, in which Windows counts, to that of 1970, in seconds.
const UNIX_EPOCH: i64 = 11_644_473_600;

/// Takes what the stream of the summary says.
pub(crate) fn read_properties(file: &CompoundFile<'_>, extracted: &mut Extracted) {
    if let Some(stream) = file.read("\u{5}SummaryInformation") {
        read_set(&stream, extracted);
    }
}

fn read_set(stream: &[u8], extracted: &mut Extracted) -> Option<()> {
    let start = place_at(stream, 44)?;
    let set = stream.get(start..)?;
    let count = place_at(set, 4)?.min(MAX_PROPERTIES);
    let entries = (0..count).filter_map(|entry| {
        let at = 8 + 8 * entry;
        Some((u32_at(set, at)?, place_at(set, at + 4)?))
    });
    let entries: Vec<(u32, usize)> = entries.collect();
    let page = entries.iter().find(|(number, _)| *number == 1);
    let page = page.and_then(|(_, at)| u16_at(set, at.checked_add(4)?));
    let encoding = match page {
        Some(65001) => UTF_8,
        Some(page) => encoding_of(u32::from(page)).unwrap_or(WINDOWS_1252),
        None => WINDOWS_1252,
    };
    for (number, at) in entries {
        let key = match number {
            2 => "title",
            3 => "subject",
            4 => "author",
            5 => "keywords",
            6 => "description",
            12 => "created",
            13 => "modified",
            _ => continue,
        };
        if let Some(value) = value(set, at, encoding) {
            extracted.add_property(key, value.trim_end_matches('\0'));
        }
    }
    Some(())
}

fn value(set: &[u8], at: usize, encoding: &'static Encoding) -> Option<String> {
    let body = set.get(at.checked_add(4)?..)?;
    match u32_at(set, at)? {
        0x1E => {
            let bytes = stretch(body, 4, place_at(body, 0)?);
            let (text, _) = encoding.decode_without_bom_handling(bytes);
            Some(text.into_owned())
        }
        0x1F => Some(utf_16(stretch(
            body,
            4,
            place_at(body, 0)?.saturating_mul(2),
        ))),
        0x40 => {
            let ticks = u64::from(u32_at(body, 4)?) << 32 | u64::from(u32_at(body, 0)?);
            let seconds = i64::try_from(ticks / 10_000_000).ok()?;
            // Unset times, and times that are a length of editing.
            let seconds = (seconds > UNIX_EPOCH).then(|| seconds - UNIX_EPOCH)?;
            Some(UtcTime::from_unix_seconds(seconds).to_string())
        }
        _ => None,
    }
}
