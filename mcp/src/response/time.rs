//! Formats times and sizes.

use kb_engine::calendar::UtcTime;

/// A UTC time by RFC 3339, such as `2024-05-02T08:00:00Z`. `ms` is in milliseconds since 1970.
pub(crate) fn rfc3339(ms: i64) -> String {
    UtcTime::from_unix_ms(ms).to_string()
}

/// The day of a UTC time, such as `2024-05-02`.
pub(crate) fn day(ms: i64) -> String {
    UtcTime::from_unix_ms(ms).date.to_string()
}

/// A number of bytes in units of 1024, such as `512B`, `1.5KB`, `2.4MB`.
pub(crate) fn size(bytes: u64) -> String {
    let mut unit = 1u64;
    for name in ["B", "KB", "MB", "GB"] {
        // 1023.95 would be shown as 1024.0.
        if bytes < unit.saturating_mul(1024) - unit / 20 || name == "GB" {
            return match name {
                "B" => format!("{bytes}B"),
                _ => format!("{:.1}{name}", bytes as f64 / unit as f64),
            };
        }
        unit = unit.saturating_mul(1024);
    }
    format!("{bytes}B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_seconds_and_a_day_has_none() {
        assert_eq!(rfc3339(1_714_636_800_999), "2024-05-02T08:00:00Z");
        assert_eq!(day(1_714_636_800_000), "2024-05-02");
    }

    #[test]
    fn sizes_are_short() {
        for (bytes, expected) in [
            (0, "0B"),
            (1023, "1023B"),
            (1024, "1.0KB"),
            (1_048_575, "1.0MB"),
            (2_516_582, "2.4MB"),
            (5 << 30, "5.0GB"),
            (u64::MAX, "17179869184.0GB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }
}
