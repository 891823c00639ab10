//! Formats numbers, sizes and times for people, and words for a shell.

use std::time::Duration;

use kb_engine::PartKind;
use kb_engine::calendar::UtcTime;

pub(crate) use kb_engine::escape::shell_word;
pub(crate) use kb_json::{bytes, count};

/// Returns a count with its noun: `1 document`, `12 documents`.
pub(crate) fn plural(number: u64, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{} {noun}s", count(number)),
    }
}

/// Returns the note about an empty presentation or workbook: `deck.pptx has no slides: the presentation is empty`.
pub(crate) fn no_parts(path: &str, kind: PartKind) -> String {
    let what = match kind {
        PartKind::Sheet => "workbook",
        PartKind::Slide => "presentation",
        PartKind::Page => "document",
    };
    format!("{path} has no {}: the {what} is empty", kind.plural())
}

/// Formats a duration: `8 ms`, `2.31 s`, `3 min 20 s`.
pub(crate) fn duration(duration: Duration) -> String {
    match duration.as_secs() {
        0 => format!("{} ms", duration.as_millis()),
        1..=99 => format!("{:.2} s", duration.as_secs_f64()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// Formats a share of a whole: `12.3 %`; `-` if the whole is 0.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => format!("{:.1} %", 100.0 * part as f64 / whole as f64),
    }
}

/// Formats milliseconds since 1970 as `2026-11-21 20:34 UTC`; 0 means unknown and gives `unknown`.
pub(crate) fn time(milliseconds: i64) -> String {
    if milliseconds == 0 {
        return "unknown".to_owned();
    }
    let UtcTime {
        date, hour, minute, ..
    } = UtcTime::from_unix_ms(milliseconds);
    format!("{date} {hour:02}:{minute:02} UTC")
}

/// Formats the UTC time of day of milliseconds since 1970: `20:34:07Z`.
pub(crate) fn clock(milliseconds: i64) -> String {
    let UtcTime {
        hour,
        minute,
        second,
        ..
    } = UtcTime::from_unix_ms(milliseconds);
    format!("{hour:02}:{minute:02}:{second:02}Z")
}

/// Parses a size: `4096`, `500K`, `16M`, `2G` (binary), `16MB` (decimal), `16MiB` (binary).
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    let complaint = || format!("{text:?} is not a size; examples: 4096, 500K, 16M, 1G");
    let digits = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| complaint())?;
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "kb" => 1000,
        "m" | "mib" => 1 << 20,
        "mb" => 1_000_000,
        "g" | "gib" => 1 << 30,
        "gb" => 1_000_000_000,
        _ => return Err(complaint()),
    };
    number.checked_mul(factor).ok_or_else(complaint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_agree_with_their_noun() {
        assert_eq!(plural(1, "chunk"), "1 chunk");
        assert_eq!(plural(0, "chunk"), "0 chunks");
        assert_eq!(plural(4096, "chunk"), "4,096 chunks");
    }

    #[test]
    fn durations_and_shares_read_well() {
        assert_eq!(duration(Duration::from_micros(8400)), "8 ms");
        assert_eq!(duration(Duration::from_millis(2310)), "2.31 s");
        assert_eq!(duration(Duration::from_secs(200)), "3 min 20 s");
        assert_eq!(percent(1, 8), "12.5 %");
        assert_eq!(percent(1, 0), "-");
    }

    #[test]
    fn times_are_right_around_leap_days_and_before_1970() {
        assert_eq!(time(0), "unknown");
        assert_eq!(time(60_000), "1970-01-01 00:01 UTC");
        assert_eq!(time(-60_000), "1969-12-31 23:59 UTC");
        assert_eq!(time(951_782_400_000), "2000-02-29 00:00 UTC");
        assert_eq!(time(951_868_800_000), "2000-03-01 00:00 UTC");
        assert_eq!(time(1_795_293_240_000), "2026-11-21 20:34 UTC");
        assert_eq!(clock(1_795_293_247_500), "20:34:07Z");
        assert_eq!(clock(-1000), "23:59:59Z");
    }

    #[test]
    fn sizes_are_read_with_binary_and_decimal_units() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert_eq!(parse_bytes("16M"), Ok(16 << 20));
        assert_eq!(parse_bytes("16 MiB"), Ok(16 << 20));
        assert_eq!(parse_bytes("16MB"), Ok(16_000_000));
        for wrong in [
            "",
            "M",
            "-1",
            "1.5M",
            "16X",
            "99999999999999999999",
            "99999999999G",
        ] {
            assert!(parse_bytes(wrong).is_err(), "{wrong:?}");
        }
    }
}
