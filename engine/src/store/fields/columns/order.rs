//! Values of fields as numbers of 64 bits that have the order of the values.

use crate::store::fields::FieldValue;

/// Which values a column has. Numbers are in the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ValueKind {
    /// Texts: their places among all texts of the column, from 0.
    Text = 1,
    /// Integers.
    Integer = 2,
    /// Other numbers.
    Float = 3,
    /// Times, in milliseconds.
    Time = 4,
}

impl ValueKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [ValueKind; 4] = [
        ValueKind::Text,
        ValueKind::Integer,
        ValueKind::Float,
        ValueKind::Time,
    ];

    /// The name in the registry.
    #[cfg(feature = "testing")]
    pub fn name(self) -> &'static str {
        match self {
            ValueKind::Text => "text",
            ValueKind::Integer => "integer",
            ValueKind::Float => "float",
            ValueKind::Time => "time",
        }
    }

    /// The kind with a number.
    pub(crate) fn numbered(number: u8) -> Option<ValueKind> {
        let mut all = ValueKind::ALL.into_iter();
        all.find(|kind| *kind as u8 == number)
    }

    /// The kind of a value; `None` for one of two, which bitmaps hold as well.
    pub(crate) fn of(value: &FieldValue) -> Option<ValueKind> {
        match value {
            FieldValue::Text(_) => Some(ValueKind::Text),
            FieldValue::Integer(_) => Some(ValueKind::Integer),
            FieldValue::Float(_) => Some(ValueKind::Float),
            FieldValue::Time(_) => Some(ValueKind::Time),
            FieldValue::Boolean(_) => None,
        }
    }

    /// The least and the largest key of a value that is no text.
    pub(crate) fn keys(self) -> (u64, u64) {
        match self {
            ValueKind::Float => (key_of_float(f64::MIN), key_of_float(f64::MAX)),
            _ => (0, u64::MAX),
        }
    }

    /// The value of a key; `None` of texts, and where no value has it.
    pub(crate) fn value(self, key: u64) -> Option<FieldValue> {
        let signed = || (key ^ SIGN).cast_signed();
        match self {
            ValueKind::Text => None,
            ValueKind::Integer => Some(FieldValue::Integer(signed())),
            ValueKind::Time => Some(FieldValue::Time(signed())),
            ValueKind::Float => {
                let bits = if key & SIGN == 0 { !key } else { key ^ SIGN };
                let number = f64::from_bits(bits);
                number.is_finite().then_some(FieldValue::Float(number))
            }
        }
    }
}

const SIGN: u64 = 1 << 63;

/// The key of a value; `None` of texts and booleans.
pub(crate) fn key_of(value: &FieldValue) -> Option<u64> {
    match value {
        FieldValue::Integer(number) | FieldValue::Time(number) => {
            Some(number.cast_unsigned() ^ SIGN)
        }
        FieldValue::Float(number) => Some(key_of_float(*number)),
        FieldValue::Text(_) | FieldValue::Boolean(_) => None,
    }
}

fn key_of_float(number: f64) -> u64 {
    // The zeros are equal to each other.
    let bits = (number + 0.0).to_bits();
    if bits & SIGN == 0 { bits ^ SIGN } else { !bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_order_of_their_values() {
        let integers = [i64::MIN, -5, -1, 0, 1, i64::MAX].map(FieldValue::Integer);
        let times = [-62_167_219_200_000, -1, 0, 253_402_300_799_999].map(FieldValue::Time);
        let floats = [
            f64::MIN,
            -2.5,
            -f64::MIN_POSITIVE,
            0.0,
            1e-300,
            2.5,
            f64::MAX,
        ];
        for values in [&integers[..], &times, &floats.map(FieldValue::Float)] {
            let keys: Vec<u64> = values.iter().map(|it| key_of(it).unwrap()).collect();
            assert!(keys.is_sorted_by(|a, b| a < b), "{values:?}");
            for (value, key) in values.iter().zip(keys) {
                let kind = ValueKind::of(value).unwrap();
                assert_eq!(kind.value(key).as_ref(), Some(value));
                let (least, largest) = kind.keys();
                assert!((least..=largest).contains(&key));
            }
        }
        let zero = |number: f64| key_of(&FieldValue::Float(number));
        assert_eq!(zero(-0.0), zero(0.0));
        for key in [0, u64::MAX] {
            assert_eq!(ValueKind::Float.value(key), None);
        }
    }
}
