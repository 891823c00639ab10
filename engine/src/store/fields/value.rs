//! Values of fields.

use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter, Write as _};

use kb_types::calendar::UtcTime;

use super::date::DateRange;

/// The first and the last millisecond of the years 0 to 9999.
const TIMES: std::ops::RangeInclusive<i64> = -62_167_219_200_000..=253_402_300_799_999;

/// A value of a field of a document.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FieldValue {
    /// A text. Letter case does not matter in comparisons.
    Text(String),
    /// An integer.
    Integer(i64),
    /// Another number; it is finite.
    Float(f64),
    /// True or false.
    Boolean(bool),
    /// A time of the years 0 to 9999, in milliseconds since 1970, UTC.
    Time(i64),
}

impl FieldValue {
    /// The value that a text looks like: `2016` is an integer, `2.5` another number, `true` a boolean, and
    /// `2024-05-06`, or a time of that day, a time. Anything else, and what stands in double quotes, is a text.
    pub fn of_text(text: &str) -> FieldValue {
        if let Some(quoted) = unquoted(text) {
            return FieldValue::Text(quoted);
        }
        // `007` and `+1` are names, not numbers.
        if let Some(number) = text.parse::<i64>().ok().filter(|n| n.to_string() == text) {
            return FieldValue::Integer(number);
        }
        if let Some(date) = DateRange::parse(text) {
            return FieldValue::Time(date.start_ms);
        }
        let is_number =
            text.contains(['.', 'e', 'E']) && text.ends_with(|c: char| c.is_ascii_digit());
        match text.parse::<f64>() {
            Ok(number) if is_number && number.is_finite() => FieldValue::Float(number),
            _ if text.eq_ignore_ascii_case("true") => FieldValue::Boolean(true),
            _ if text.eq_ignore_ascii_case("false") => FieldValue::Boolean(false),
            _ => FieldValue::Text(text.to_owned()),
        }
    }

    /// The value of a text that is a date or a time of one, as JSON has them; another text is one, whatever it looks
    /// like.
    pub fn of_json_text(text: &str) -> FieldValue {
        match DateRange::parse(text) {
            Some(date) if text.len() >= "2024-05-06".len() => FieldValue::Time(date.start_ms),
            _ => FieldValue::Text(text.to_owned()),
        }
    }

    /// The type: `text`, `integer`, `float`, `boolean` or `time`.
    pub fn kind(&self) -> &'static str {
        match self {
            FieldValue::Text(_) => "text",
            FieldValue::Integer(_) => "integer",
            FieldValue::Float(_) => "float",
            FieldValue::Boolean(_) => "boolean",
            FieldValue::Time(_) => "time",
        }
    }

    /// The order of values of all types: numbers, then times, booleans and texts. It is total: a sort may rely on it.
    pub(crate) fn order(&self, other: &FieldValue) -> Ordering {
        let place = |value: &FieldValue| match value {
            FieldValue::Integer(_) | FieldValue::Float(_) => 0,
            FieldValue::Time(_) => 1,
            FieldValue::Boolean(_) => 2,
            FieldValue::Text(_) => 3,
        };
        match (self, other) {
            (FieldValue::Integer(a), FieldValue::Integer(b)) => a.cmp(b),
            // Not `total_cmp`: the zeros are equal to each other, as they are to the integer.
            (FieldValue::Float(a), FieldValue::Float(b)) => {
                a.partial_cmp(b).unwrap_or(Ordering::Equal)
            }
            (FieldValue::Integer(a), FieldValue::Float(b)) => {
                compare_numbers(*a, *b).unwrap_or(Ordering::Equal)
            }
            (FieldValue::Float(_), FieldValue::Integer(_)) => other.order(self).reverse(),
            (FieldValue::Time(a), FieldValue::Time(b)) => a.cmp(b),
            (FieldValue::Boolean(a), FieldValue::Boolean(b)) => a.cmp(b),
            (FieldValue::Text(a), FieldValue::Text(b)) => a.cmp(b),
            _ => place(self).cmp(&place(other)),
        }
    }

    /// Whether there is such a value: a number is finite, a time in the years 0 to 9999.
    pub(super) fn is_valid(&self) -> bool {
        match self {
            FieldValue::Float(number) => number.is_finite(),
            FieldValue::Time(ms) => TIMES.contains(ms),
            _ => true,
        }
    }
}

/// The value as it is stored, which [`FieldValue::of_text`] reads as the same. A text that looks like something else,
/// or like a list, stands in quotes.
impl Display for FieldValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            FieldValue::Text(text) => {
                let is_plain = FieldValue::of_text(text) == *self
                    && text.trim() == text
                    && !text.contains(", ")
                    && !text.starts_with('"');
                if is_plain {
                    return f.write_str(text);
                }
                quoted(f, text)
            }
            FieldValue::Integer(number) => write!(f, "{number}"),
            // With a point or an exponent.
            FieldValue::Float(number) => write!(f, "{number:?}"),
            FieldValue::Boolean(is) => write!(f, "{is}"),
            FieldValue::Time(ms) if ms.rem_euclid(1000) == 0 => {
                write!(f, "{}", UtcTime::from_unix_ms(*ms))
            }
            FieldValue::Time(ms) => {
                let end_ms = ms.saturating_add(1);
                let start_ms = *ms;
                write!(f, "{}", DateRange { start_ms, end_ms })
            }
        }
    }
}

/// How an integer compares with another number: exactly, where a conversion of the integer would lose its last digits.
pub(crate) fn compare_numbers(integer: i64, float: f64) -> Option<Ordering> {
    // 2^63, the first number beyond all integers; the least of them is -2^63.
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if float.is_nan() {
        return None;
    }
    if float >= BEYOND {
        return Some(Ordering::Less);
    }
    if float < -BEYOND {
        return Some(Ordering::Greater);
    }
    // In range, so that nothing but the fraction is lost.
    let whole = float.trunc();
    let order = integer.cmp(&(whole as i64));
    Some(order.then_with(|| 0.0.partial_cmp(&(float - whole)).unwrap_or(Ordering::Equal)))
}

/// Writes a text between double quotes, with a backslash before a quote or a backslash of its own.
pub(crate) fn quoted(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            f.write_char('\\')?;
        }
        f.write_char(c)?;
    }
    f.write_char('"')
}

/// What stands between the double quotes of a text; `None` if it has other quotes, or none around it.
pub(super) fn unquoted(text: &str) -> Option<String> {
    let mut inner = text.strip_prefix('"')?.strip_suffix('"')?.chars();
    let mut read = String::new();
    while let Some(c) = inner.next() {
        match c {
            '\\' => match inner.next()? {
                c @ ('"' | '\\') => read.push(c),
                _ => return None,
            },
            '"' => return None,
            c => read.push(c),
        }
    }
    Some(read)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_what_they_look_like() {
        let time = |text: &str| FieldValue::Time(DateRange::parse(text).unwrap().start_ms);
        let text = |text: &str| FieldValue::Text(text.to_owned());
        for (given, expected) in [
            ("2016", FieldValue::Integer(2016)),
            ("-3", FieldValue::Integer(-3)),
            ("007", text("007")),
            ("+1", text("+1")),
            ("9223372036854775808", text("9223372036854775808")),
            ("2.5", FieldValue::Float(2.5)),
            ("-1e3", FieldValue::Float(-1000.0)),
            ("1e999", text("1e999")),
            ("nan", text("nan")),
            ("1.", text("1.")),
            ("True", FieldValue::Boolean(true)),
            ("2024-05-06", time("2024-05-06")),
            ("2024-05-06 10:20", time("2024-05-06T10:20")),
            ("2024-13-06", text("2024-13-06")),
            ("\"2016\"", text("2016")),
            ("\"a \\\"b\\\\\"", text("a \"b\\")),
            ("\"a\" and \"b\"", text("\"a\" and \"b\"")),
            ("\"a\\b\"", text("\"a\\b\"")),
            ("\"", text("\"")),
            ("Kim", text("Kim")),
        ] {
            assert_eq!(FieldValue::of_text(given), expected, "{given}");
        }
        assert_eq!(FieldValue::of_json_text("2016"), text("2016"));
        assert_eq!(FieldValue::of_json_text("2024-05"), text("2024-05"));
        assert_eq!(FieldValue::of_json_text("2024-05-06"), time("2024-05-06"));
    }

    /// Numbers at which conversions lose digits, and some of the other types.
    fn edges() -> Vec<FieldValue> {
        let integers = [0, -1, i64::MIN, i64::MAX, 1 << 53, (1 << 53) + 1];
        let floats = [0.0, -0.0, 0.5, 9_007_199_254_740_992.0, 9.3e18, -1e300];
        let mut edges = vec![FieldValue::Boolean(true), FieldValue::Time(0)];
        edges.extend(["a", "b"].map(|text| FieldValue::Text(text.to_owned())));
        edges.extend(integers.map(FieldValue::Integer));
        edges.extend(floats.map(FieldValue::Float));
        edges
    }

    #[test]
    fn the_order_of_values_is_total() {
        let edges = edges();
        for a in &edges {
            for b in &edges {
                assert_eq!(a.order(b), b.order(a).reverse(), "{a} {b}");
                for c in &edges {
                    if a.order(b).is_le() && b.order(c).is_le() {
                        assert!(a.order(c).is_le(), "{a} {b} {c}");
                    }
                    if a.order(b).is_eq() {
                        assert_eq!(a.order(c), b.order(c), "{a} {b} {c}");
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn values_are_read_as_they_were_written(
            value in prop_oneof![
                ".{0,12}".prop_map(FieldValue::Text),
                "[0-9.e\", \\\\-]{0,8}".prop_map(FieldValue::Text),
                any::<i64>().prop_map(FieldValue::Integer),
                any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(FieldValue::Float),
                any::<bool>().prop_map(FieldValue::Boolean),
                TIMES.prop_map(FieldValue::Time),
            ]
        ) {
            prop_assert!(value.is_valid());
            prop_assert_eq!(FieldValue::of_text(&value.to_string()), value);
        }
    }
}
