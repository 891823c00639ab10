//! Formats and rounds numbers for objects and sentences.

use kb_engine::shown_score;
use serde_json::{Value, json};

/// A number with six decimals: an `f32` has no more, and its widening would show noise. A score as it
/// is shown passes as the least score of a request.
#[must_use]
pub fn score(value: f32) -> Value {
    json!(shown_score(value, 6))
}

/// A score, or null.
pub(crate) fn optional_score(value: Option<f32>) -> Value {
    value.map_or(Value::Null, score)
}

/// Bytes with a decimal unit, as `file_size` has them: `873 B`, `12.3 KB`, `1.2 GB`.
#[must_use]
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if count < 1000 {
        return format!("{count} B");
    }
    let mut value = count as f64 / 1000.0;
    let mut unit = "KB";
    for next in UNITS.iter().skip(1) {
        // 999.95 would round to 1000.0.
        if value < 999.95 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    format!("{value:.1} {unit}")
}

/// Returns a count with a comma before each group of three digits: `12,345`.
#[must_use]
pub fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_shows_no_noise_of_its_width() {
        assert_eq!(score(0.61).to_string(), "0.61");
        assert_eq!(score(0.0).to_string(), "0.0");
        let below = f32::from_bits(0.5f32.to_bits() - 1);
        assert_eq!(score(below).to_string(), "0.499999");
        assert_eq!(optional_score(None), Value::Null);
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(1), "1");
        assert_eq!(count(123), "123");
        assert_eq!(count(1_234_567), "1,234,567");
    }

    #[test]
    fn sizes_take_the_unit_that_fits() {
        let shown: Vec<String> = [
            0,
            999,
            1000,
            12_345,
            999_949,
            999_950,
            1_234_567_890,
            u64::MAX,
        ]
        .into_iter()
        .map(bytes)
        .collect();
        let expected = [
            "0 B",
            "999 B",
            "1.0 KB",
            "12.3 KB",
            "999.9 KB",
            "1.0 MB",
            "1.2 GB",
            "18446744.1 TB",
        ];
        assert_eq!(shown, expected);
    }
}
