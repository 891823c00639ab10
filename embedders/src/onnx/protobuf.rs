//! Reads the wire format of Protocol Buffers, bounded by the bytes at hand.

/// A field of a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Field<'a> {
    /// A number in 1 to 10 bytes.
    Varint(u64),
    /// Eight bytes.
    Fixed64,
    /// Four bytes.
    Fixed32,
    /// Text, bytes, a message, or a list of numbers.
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    /// The bytes of the field; none if it has a number.
    pub(super) fn bytes(self) -> &'a [u8] {
        match self {
            Field::Bytes(bytes) => bytes,
            _ => &[],
        }
    }

    /// The number of the field; 0 if it has none.
    pub(super) fn number(self) -> u64 {
        match self {
            Field::Varint(number) => number,
            _ => 0,
        }
    }

    /// The text of the field.
    pub(super) fn text(self) -> Result<&'a str, &'static str> {
        std::str::from_utf8(self.bytes()).map_err(|_| "a name is not UTF-8")
    }
}

/// The fields of a message with their numbers, in order. It ends behind the first error.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(message: &'a [u8]) -> Fields<'a> {
        Fields { rest: message }
    }

    fn field(&mut self) -> Option<(u64, Field<'a>)> {
        let tag = varint(&mut self.rest)?;
        let field = match tag & 7 {
            0 => Field::Varint(varint(&mut self.rest)?),
            1 => {
                take(&mut self.rest, 8)?;
                Field::Fixed64
            }
            2 => {
                let len_bytes = usize::try_from(varint(&mut self.rest)?).ok()?;
                Field::Bytes(take(&mut self.rest, len_bytes)?)
            }
            5 => {
                take(&mut self.rest, 4)?;
                Field::Fixed32
            }
            _ => return None,
        };
        Some((tag >> 3, field))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Field<'a>), &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.rest = &[];
        }
        Some(field.ok_or("a message is cut off, or is none"))
    }
}

/// The numbers of a list in the packed form.
pub(super) fn packed(mut bytes: &[u8]) -> Option<Vec<u64>> {
    let mut numbers = Vec::new();
    while !bytes.is_empty() {
        numbers.push(varint(&mut bytes)?);
    }
    Some(numbers)
}

fn take<'a>(rest: &mut &'a [u8], len_bytes: usize) -> Option<&'a [u8]> {
    let (taken, others) = rest.split_at_checked(len_bytes)?;
    *rest = others;
    Some(taken)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, others) = rest.split_first()?;
        *rest = others;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_order() {
        let message = [0x08, 0x96, 0x01, 0x12, 2, b'a', b'b', 0x1d, 1, 2, 3, 4];
        let fields: Vec<_> = Fields::new(&message).map(Result::unwrap).collect();
        assert_eq!(
            fields,
            [
                (1, Field::Varint(150)),
                (2, Field::Bytes(b"ab")),
                (3, Field::Fixed32)
            ]
        );
        assert_eq!(packed(&[1, 0x96, 0x01]), Some(vec![1, 150]));
    }

    #[test]
    fn what_is_cut_off_is_an_error_once() {
        let long = [&[0x12][..], &[0xff; 9], &[1]].concat();
        let cut: [&[u8]; 6] = [
            &[0x08],
            &[0x12, 3, b'a'],
            &[0x0b],
            &[0x1d, 1],
            &[
                0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            ],
            &long,
        ];
        for message in cut {
            let fields: Vec<_> = Fields::new(message).collect();
            assert_eq!(fields.len(), 1, "{message:?}");
            assert!(fields[0].is_err());
        }
        assert_eq!(packed(&[0x80]), None);
    }
}
