//! Dates and times, by the day, the minute or the millisecond.

use std::fmt::{self, Display, Formatter};

use kb_types::calendar::{Date, UtcTime};

const DAY_MS: i64 = 86_400_000;
const MINUTE_MS: i64 = 60_000;

/// The times that a date stands for: all of a month, a day, a minute or a second, or one millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DateRange {
    /// The first millisecond, since 1970.
    pub(crate) start_ms: i64,
    /// One past the last.
    pub(crate) end_ms: i64,
}

impl DateRange {
    /// Reads `2024-05`, `2024-05-06`, `2024-05-06T10:20`, `...:30`, `...:30.250`, a time also with `Z` or `+02:00`
    /// behind it and with a space for the `T`; without a zone it is in UTC. `None` for anything else.
    pub(crate) fn parse(text: &str) -> Option<DateRange> {
        let mut rest = text;
        let year = digits(&mut rest, 4)?;
        sign(&mut rest, &['-'])?;
        let month = digits(&mut rest, 2)?;
        if rest.is_empty() {
            let (next_year, next_month) = if month == 12 {
                (year + 1, 1)
            } else {
                (year, month + 1)
            };
            return DateRange::of(day(year, month, 1)?, day(next_year, next_month, 1)?);
        }
        sign(&mut rest, &['-'])?;
        let start = day(year, month, digits(&mut rest, 2)?)?;
        if rest.is_empty() {
            return DateRange::of(start, start + DAY_MS);
        }
        sign(&mut rest, &['T', 't', ' '])?;
        let (at, length) = time(&mut rest)?;
        let start = start + at - zone(rest)?;
        DateRange::of(start, start + length)
    }

    fn of(start_ms: i64, end_ms: i64) -> Option<DateRange> {
        Some(DateRange { start_ms, end_ms })
    }
}

/// A time of the day and how long it is, in milliseconds.
fn time(rest: &mut &str) -> Option<(i64, i64)> {
    let hour = digits(rest, 2).filter(|hour| *hour < 24)?;
    sign(rest, &[':'])?;
    let minute = digits(rest, 2).filter(|minute| *minute < 60)?;
    let start = (i64::from(hour) * 60 + i64::from(minute)) * MINUTE_MS;
    if sign(rest, &[':']).is_none() {
        return Some((start, MINUTE_MS));
    }
    // A leap second counts as the last one of its minute.
    let second = digits(rest, 2).filter(|second| *second <= 60)?.min(59);
    let start = start + i64::from(second) * 1000;
    if sign(rest, &['.']).is_none() {
        return Some((start, 1000));
    }
    let fraction = rest.find(|c: char| !c.is_ascii_digit());
    let (fraction, behind) = rest.split_at(fraction.unwrap_or(rest.len()));
    if fraction.is_empty() {
        return None;
    }
    *rest = behind;
    let weights = [100, 10, 1];
    let parts = fraction.bytes().zip(weights);
    let ms: i64 = parts.map(|(digit, of)| i64::from(digit - b'0') * of).sum();
    Some((start + ms, 1))
}

/// What a zone is ahead of UTC, in milliseconds.
fn zone(text: &str) -> Option<i64> {
    let mut rest = text;
    if rest.is_empty() || rest.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let is_ahead = sign(&mut rest, &['+', '-'])? == '+';
    let hour = digits(&mut rest, 2).filter(|hour| *hour < 24)?;
    sign(&mut rest, &[':']);
    let minute = digits(&mut rest, 2).filter(|minute| *minute < 60)?;
    let ahead = (i64::from(hour) * 60 + i64::from(minute)) * MINUTE_MS;
    rest.is_empty()
        .then_some(if is_ahead { ahead } else { -ahead })
}

/// The first millisecond of a day.
fn day(year: u32, month: u32, day: u32) -> Option<i64> {
    // The month after December 9999 has none.
    if year == 10_000 {
        return day_of_next_month();
    }
    Some(Date::unix_days_of(year, month, day)? * DAY_MS)
}

fn day_of_next_month() -> Option<i64> {
    Some((Date::unix_days_of(9999, 12, 31)? + 1) * DAY_MS)
}

/// Takes a number of exactly so many digits.
fn digits(rest: &mut &str, count: usize) -> Option<u32> {
    let (number, behind) = rest.split_at_checked(count)?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    *rest = behind;
    is_number.then(|| number.parse().ok()).flatten()
}

/// Takes one of some characters.
fn sign(rest: &mut &str, of: &[char]) -> Option<char> {
    let first = rest.chars().next().filter(|c| of.contains(c))?;
    *rest = rest.get(first.len_utf8()..)?;
    Some(first)
}

impl Display for DateRange {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let start = UtcTime::from_unix_ms(self.start_ms);
        let date = start.date;
        match self.end_ms.saturating_sub(self.start_ms) {
            1 => {
                let ms = self.start_ms.rem_euclid(1000);
                let (hour, minute, second) = (start.hour, start.minute, start.second);
                write!(f, "{date}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
            }
            1000 => write!(f, "{start}"),
            MINUTE_MS => write!(f, "{date}T{:02}:{:02}Z", start.hour, start.minute),
            DAY_MS => write!(f, "{date}"),
            _ => write!(f, "{:04}-{:02}", date.year, date.month),
        }
    }
}
