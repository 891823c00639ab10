//! The Gregorian calendar in UTC, for all years, without leap seconds. After H. Hinnant,
//! "chrono-Compatible Low-Level Date Algorithms".

use std::fmt;

/// Days from 0000-03-01 to 1970-01-01. Years are counted from March, so that the leap day is the last
/// of its year.
// The method is that of Hinnant's `days_from_civil` ("chrono-Compatible Low-Level Date
// Algorithms").
const DAYS_TO_1970: i64 = 719_468;

/// Days of 400 years.
const ERA_DAYS: i64 = 146_097;

const DAY_SECONDS: i64 = 86_400;

/// A day, shown as `2024-05-02`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Date {
    /// Year; 0 is 1 BC.
    pub year: i64,
    /// Month, 1 to 12.
    pub month: u8,
    /// Day of the month, from 1.
    pub day: u8,
}

impl Date {
    /// The day that is so many days after 1970-01-01.
    pub fn from_unix_days(days: i64) -> Date {
        let days = days.saturating_add(DAYS_TO_1970);
        let (era, of_era) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = (from_march + 2) % 12 + 1;
        Date {
            year: era * 400 + year_of_era + i64::from(month < 3),
            month: month as u8,
            day: day as u8,
        }
    }

    /// Days from 1970-01-01 to a day of the years 0 to 9999; `None` when there is no such day.
    pub fn unix_days_of(year: u32, month: u32, day: u32) -> Option<i64> {
        if year > 9999 || !(1..=12).contains(&month) || day == 0 {
            return None;
        }
        let from_march = i64::from((month + 9) % 12);
        let year = i64::from(year) - i64::from(month < 3);
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let of_year = (153 * from_march + 2) / 5 + i64::from(day) - 1;
        let days = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
        let days = era * ERA_DAYS + days - DAYS_TO_1970;
        // A day beyond the last of its month is one of the next.
        let is_day = u32::from(Date::from_unix_days(days).day) == day;
        is_day.then_some(days)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// A second in UTC, shown by RFC 3339: `2024-05-02T08:00:00Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct UtcTime {
    /// Its day in UTC.
    pub date: Date,
    /// Hour, 0 to 23.
    pub hour: u8,
    /// Minute, 0 to 59.
    pub minute: u8,
    /// Second, 0 to 59.
    pub second: u8,
}

impl UtcTime {
    /// The time that is so many seconds after 1970-01-01.
    pub fn from_unix_seconds(seconds: i64) -> UtcTime {
        let of_day = seconds.rem_euclid(DAY_SECONDS);
        UtcTime {
            date: Date::from_unix_days(seconds.div_euclid(DAY_SECONDS)),
            hour: (of_day / 3600) as u8,
            minute: (of_day / 60 % 60) as u8,
            second: (of_day % 60) as u8,
        }
    }

    /// The second that holds so many milliseconds after 1970-01-01.
    pub fn from_unix_ms(ms: i64) -> UtcTime {
        UtcTime::from_unix_seconds(ms.div_euclid(1000))
    }
}

impl fmt::Display for UtcTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hour, minute, second) = (self.hour, self.minute, self.second);
        write!(f, "{}T{hour:02}:{minute:02}:{second:02}Z", self.date)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_714_636_800, "2024-05-02T08:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            let time = UtcTime::from_unix_seconds(seconds);
            assert_eq!(time.to_string(), expected);
            assert_eq!(UtcTime::from_unix_ms(seconds * 1000 + 999), time);
        }
        for seconds in [i64::MIN, i64::MAX] {
            let time = UtcTime::from_unix_seconds(seconds).to_string();
            assert!(time.ends_with('Z'));
        }
    }

    #[test]
    fn every_day_leads_back_to_its_number() {
        for days in (-719_528..2_932_897).step_by(13) {
            let date = Date::from_unix_days(days);
            let (month, day) = (u32::from(date.month), u32::from(date.day));
            let year = u32::try_from(date.year).unwrap();
            assert_eq!(Date::unix_days_of(year, month, day), Some(days), "{date}");
        }
        for (year, month, day) in [
            (2026, 2, 29),
            (1900, 2, 29),
            (2026, 13, 1),
            (2026, 0, 1),
            (2026, 4, 31),
            (2026, 1, 0),
            (2026, 1, 32),
            (10_000, 1, 1),
        ] {
            assert_eq!(Date::unix_days_of(year, month, day), None);
        }
    }
}
