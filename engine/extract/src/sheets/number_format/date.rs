//! Days and times as numbers: days since the end of 1899, or since 1904.

use std::fmt::Write as _;

use kb_types::calendar::Date;

/// Days from 1899-12-30 to 1970-01-01.
// Excel's day 1 is 1900-01-01, and it counts 1900-02-29, which did not exist. Counting from
// 1899-12-30 is right from 1900-03-01 on.
const DAYS_FROM_1900: i64 = 25_569;
/// Days from 1904-01-01 to 1970-01-01.
const DAYS_FROM_1904: i64 = 24_107;
/// 0001-01-01, counted from 1904, which begins later.
// Spreadsheets show no days outside of these two; a number beyond is a number, and arithmetic on it
// would overflow.
const START: f64 = -693_593.0;
/// The day after 9999-12-31, counted from 1900.
const END: f64 = 2_958_466.0;
const DAY_MS: i64 = 86_400_000;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// A piece of a date or a time; the number says how many letters the format code has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DatePart {
    Year(usize),
    Month(usize),
    Day(usize),
    Hour(usize),
    Minute(usize),
    Second(usize),
    /// Decimals of the second.
    Fraction(usize),
    ElapsedHours(usize),
    ElapsedMinutes(usize),
    ElapsedSeconds(usize),
    /// `AM/PM`, or `A/P`.
    HalfDay {
        is_short: bool,
    },
}

/// A moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    unix_days: i64,
    /// Milliseconds of the day.
    ms: i64,
    /// Days that the number counts, for elapsed time.
    days: i64,
    has_date: bool,
}

impl Moment {
    /// The moment of a number, to the millisecond; `None` when it is no day of the years 1 to 9999. Days before
    /// the first one count from 1899-12-30, as in LibreOffice; Excel shows none.
    pub(super) fn of(number: f64, is_1904: bool) -> Option<Moment> {
        if !(START..END).contains(&number) {
            return None;
        }
        // Below 2^53: exact.
        let all = (number * DAY_MS as f64).round() as i64;
        Some(Moment::at(all, is_1904, !(0.0..1.0).contains(&number)))
    }

    fn at(all_ms: i64, is_1904: bool, has_date: bool) -> Moment {
        let days = all_ms.div_euclid(DAY_MS);
        let unix_days = match (is_1904, days) {
            (true, _) => days - DAYS_FROM_1904,
            // 1900 is taken for a leap year: up to its 28th of February days count from 1899-12-31.
            (false, 0..60) => days - DAYS_FROM_1900 + 1,
            (false, _) => days - DAYS_FROM_1900,
        };
        Moment {
            unix_days,
            ms: all_ms.rem_euclid(DAY_MS),
            days,
            has_date,
        }
    }

    /// Rounded to so many decimals of the second.
    pub(super) fn rounded(self, decimals: usize, is_1904: bool) -> Moment {
        let unit = match decimals {
            0 => 1000,
            1 => 100,
            2 => 10,
            _ => 1,
        };
        let all = self.days * DAY_MS + self.ms;
        Moment::at(
            (all + unit / 2).div_euclid(unit) * unit,
            is_1904,
            self.has_date,
        )
    }

    /// As in ISO 8601: the time alone for less than a day, the date alone for whole days.
    pub(super) fn iso(self) -> String {
        let date = Date::from_unix_days(self.unix_days);
        let seconds = self.ms / 1000;
        let mut time = format!(
            "{:02}:{:02}:{:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        );
        if self.ms % 1000 != 0 {
            let _ = write!(time, ".{:03}", self.ms % 1000);
        }
        match (self.has_date, self.ms) {
            (false, _) => time,
            (true, 0) => date.to_string(),
            (true, _) => format!("{date}T{time}"),
        }
    }

    /// Adds a part of it to `text`.
    pub(super) fn show(self, part: DatePart, has_half_days: bool, text: &mut String) {
        let date = Date::from_unix_days(self.unix_days);
        let seconds = self.ms / 1000;
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let padded = |text: &mut String, number: i64, width: usize| {
            let _ = write!(text, "{number:0width$}");
        };
        match part {
            DatePart::Year(1 | 2) => padded(text, date.year.rem_euclid(100), 2),
            DatePart::Year(_) => padded(text, date.year, 4),
            DatePart::Month(letters @ (1 | 2)) => padded(text, i64::from(date.month), letters),
            DatePart::Month(letters) => {
                let name = MONTHS.get(usize::from(date.month).saturating_sub(1));
                let name = name.copied().unwrap_or_default();
                let shown = match letters {
                    3 => name.get(..3),
                    5 => name.get(..1),
                    _ => Some(name),
                };
                text.push_str(shown.unwrap_or(name));
            }
            DatePart::Day(letters @ (1 | 2)) => padded(text, i64::from(date.day), letters),
            DatePart::Day(letters) => {
                // 1970-01-01 was a Thursday.
                let weekday = usize::try_from((self.unix_days + 4).rem_euclid(7)).unwrap_or(0);
                let name = WEEKDAYS.get(weekday).copied().unwrap_or_default();
                let shown = if letters == 3 {
                    name.get(..3)
                } else {
                    Some(name)
                };
                text.push_str(shown.unwrap_or(name));
            }
            DatePart::Hour(letters) => {
                let shown = if has_half_days {
                    (hour + 11) % 12 + 1
                } else {
                    hour
                };
                padded(text, shown, letters.min(2));
            }
            DatePart::Minute(letters) => padded(text, minute, letters.min(2)),
            DatePart::Second(letters) => padded(text, second, letters.min(2)),
            DatePart::Fraction(digits) => {
                let ms = format!("{:03}", self.ms % 1000);
                text.push('.');
                text.push_str(ms.get(..digits.min(3)).unwrap_or(&ms));
            }
            DatePart::ElapsedHours(letters) => padded(text, self.days * 24 + hour, letters),
            DatePart::ElapsedMinutes(letters) => {
                padded(text, self.days * 1440 + seconds / 60, letters);
            }
            DatePart::ElapsedSeconds(letters) => {
                padded(text, self.days * 86_400 + seconds, letters);
            }
            DatePart::HalfDay { is_short } => {
                let name = if hour < 12 { "AM" } else { "PM" };
                let shown = if is_short { name.get(..1) } else { Some(name) };
                text.push_str(shown.unwrap_or(name));
            }
        }
    }
}
