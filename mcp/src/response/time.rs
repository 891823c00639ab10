//! Formats times and sizes.

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// A UTC time by RFC 3339, such as `2024-05-02T08:00:00Z`. `ms` is in milliseconds since 1970.
pub(crate) fn rfc3339(ms: i64) -> String {
    let seconds = ms.rem_euclid(DAY_MS) / 1000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{}T{hour:02}:{minute:02}:{second:02}Z", day(ms))
}

/// The day of a UTC time, such as `2024-05-02`.
pub(crate) fn day(ms: i64) -> String {
    // Hinnant's `civil_from_days` (2013): years start in March, so that the leap day is the last of its
    // year. There are 719 468 days from 0000-03-01 to 1970-01-01, and 146 097 in 400 years.
    let days = ms.div_euclid(DAY_MS) + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month < 3);
    format!("{year:04}-{month:02}-{day:02}")
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
    fn times_match_the_calendar() {
        for (ms, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (1_714_636_800_000, "2024-05-02T08:00:00Z"),
            (951_782_399_999, "2000-02-28T23:59:59Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (1_709_251_199_000, "2024-02-29T23:59:59Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
            (1_735_689_599_000, "2024-12-31T23:59:59Z"),
            (-1, "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(rfc3339(ms), expected);
        }
        assert_eq!(day(1_714_636_800_000), "2024-05-02");
    }

    #[test]
    fn any_number_can_be_formatted() {
        for ms in [i64::MIN, i64::MAX] {
            assert!(rfc3339(ms).ends_with('Z'));
        }
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
