//! Values of fields, those of expressions, and how the two compare.

use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter, Write as _};

use super::date::DateRange;

/// A value of a field of a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    /// Finite.
    Float(f64),
    Boolean(bool),
    /// Milliseconds since 1970.
    Time(i64),
}

/// A value of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    Text(String),
    Integer(i64),
    /// Finite.
    Float(f64),
    Boolean(bool),
    Date(DateRange),
}

impl Value {
    /// A value that is only known as a text: what looks like a number, a date, `true` or `false` is one.
    pub(crate) fn of_text(text: &str) -> Value {
        if let Some(number) = text.parse::<i64>().ok().filter(|n| n.to_string() == text) {
            return Value::Integer(number);
        }
        if let Some(date) = DateRange::parse(text) {
            return Value::Time(date.start_ms);
        }
        let is_number =
            text.contains(['.', 'e', 'E']) && text.ends_with(|c: char| c.is_ascii_digit());
        match text.parse::<f64>() {
            Ok(number) if is_number && number.is_finite() => Value::Float(number),
            _ if text.eq_ignore_ascii_case("true") => Value::Boolean(true),
            _ if text.eq_ignore_ascii_case("false") => Value::Boolean(false),
            _ => Value::Text(text.to_owned()),
        }
    }

    /// How the value compares with one of an expression: a time that a date stands for is equal to it. `None` where
    /// they have no order.
    pub(crate) fn compare(&self, literal: &Literal) -> Option<Ordering> {
        match (self, literal) {
            (Value::Text(a), Literal::Text(b)) => Some(a.to_lowercase().cmp(&b.to_lowercase())),
            (Value::Integer(a), Literal::Integer(b)) => Some(a.cmp(b)),
            (Value::Float(a), Literal::Float(b)) => a.partial_cmp(b),
            (Value::Integer(a), Literal::Float(b)) => compare_numbers(*a, *b),
            (Value::Float(a), Literal::Integer(b)) => {
                compare_numbers(*b, *a).map(Ordering::reverse)
            }
            (Value::Boolean(a), Literal::Boolean(b)) => Some(a.cmp(b)),
            (Value::Time(at), Literal::Date(date)) => Some(if *at < date.start_ms {
                Ordering::Less
            } else if *at < date.end_ms {
                Ordering::Equal
            } else {
                Ordering::Greater
            }),
            _ => None,
        }
    }
}

/// Exactly, where a conversion of the integer would lose its last digits.
fn compare_numbers(integer: i64, float: f64) -> Option<Ordering> {
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

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Text(text) => quoted(f, text),
            Literal::Integer(number) => write!(f, "{number}"),
            // With a point or an exponent, so that it is read as what it is.
            Literal::Float(number) => write!(f, "{number:?}"),
            Literal::Boolean(is) => write!(f, "{is}"),
            Literal::Date(date) => write!(f, "{date}"),
        }
    }
}

/// Writes a text as it is written in an expression.
fn quoted(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            f.write_char('\\')?;
        }
        f.write_char(c)?;
    }
    f.write_char('"')
}
