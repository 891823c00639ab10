//! Numbers, sizes and times for people.

use kb_engine::calendar::UtcTime;

/// `1,234,567`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 2);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 document`, `2 documents`.
pub(crate) fn counted(number: u64, one: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{}\u{a0}{one}{end}", count(number))
}

/// `2026-11-28`, in UTC; nothing for an unknown time.
pub(crate) fn day(ms: i64) -> String {
    if ms <= 0 {
        return String::new();
    }
    UtcTime::from_unix_ms(ms).date.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_groups_of_three() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1000), "1,000");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "page"), "1\u{a0}page");
        assert_eq!(counted(2, "page"), "2\u{a0}pages");
    }

    #[test]
    fn a_day_is_of_the_calendar() {
        assert_eq!(day(1_700_000_000_000), "2023-11-14");
        assert_eq!(day(0), "");
    }
}
