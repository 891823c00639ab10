//! Values of expressions, and how those of fields compare with them.

use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};

use crate::store::fields::{DateRange, FieldValue, compare_numbers, quoted};

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

impl FieldValue {
    /// How the value compares with one of an expression: a time that a date stands for is equal to it. `None` where
    /// they have no order.
    pub(crate) fn compare(&self, literal: &Literal) -> Option<Ordering> {
        match (self, literal) {
            (FieldValue::Text(a), Literal::Text(b)) => {
                Some(a.to_lowercase().cmp(&b.to_lowercase()))
            }
            (FieldValue::Integer(a), Literal::Integer(b)) => Some(a.cmp(b)),
            (FieldValue::Float(a), Literal::Float(b)) => a.partial_cmp(b),
            (FieldValue::Integer(a), Literal::Float(b)) => compare_numbers(*a, *b),
            (FieldValue::Float(a), Literal::Integer(b)) => {
                compare_numbers(*b, *a).map(Ordering::reverse)
            }
            (FieldValue::Boolean(a), Literal::Boolean(b)) => Some(a.cmp(b)),
            (FieldValue::Time(at), Literal::Date(date)) => Some(if *at < date.start_ms {
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
