//! The header of a NumPy array: the type of its numbers and its shape.
//!
//! It is the text of a Python dictionary, `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.

/// The first bytes of an array.
const MAGIC: &[u8] = b"\x93NUMPY";

/// Maximum bytes of a header. NumPy itself refuses one of more than 10,000 characters.
const MAX_HEADER: usize = 1 << 16;

/// Maximum number of axes; NumPy has at most 64.
const MAX_AXES: usize = 64;

/// The numbers of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    F16,
    F32,
    F64,
    I8,
}

impl Numbers {
    pub(super) fn bytes(self) -> usize {
        match self {
            Numbers::I8 => 1,
            Numbers::F16 => 2,
            Numbers::F32 => 4,
            Numbers::F64 => 8,
        }
    }
}

/// What a header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) numbers: Numbers,
    pub(super) is_big_endian: bool,
    pub(super) shape: Vec<u64>,
}

/// What is wrong with a header, and what to do about it.
pub(super) type Wrong = (String, &'static str);

const NO_ARRAY: &str = "write it with `numpy.save(\"vectors.npy\", array)`";

/// How many bytes stand before the text of the header, and how long that is. `start`: the first 12 bytes of the
/// file, or all of a shorter one.
pub(super) fn header_place(start: &[u8]) -> Result<(u64, usize), Wrong> {
    let cut = || ("it ends within its header".to_owned(), NO_ARRAY);
    let Some(rest) = start.strip_prefix(MAGIC) else {
        let reason = "it does not begin like a NumPy array".to_owned();
        return Err((reason, NO_ARRAY));
    };
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
    let (place, length) = match version {
        [1, 0] => {
            let (length, _) = rest.split_first_chunk().ok_or_else(cut)?;
            (10, u32::from(u16::from_le_bytes(*length)))
        }
        [2 | 3, 0] => {
            let (length, _) = rest.split_first_chunk().ok_or_else(cut)?;
            (12, u32::from_le_bytes(*length))
        }
        [major, minor] => {
            let reason = format!(
                "it has version {major}.{minor} of the format; 1.0, 2.0 and 3.0 are supported"
            );
            return Err((reason, NO_ARRAY));
        }
    };
    match usize::try_from(length) {
        Ok(length) if length <= MAX_HEADER => Ok((place, length)),
        _ => Err((
            format!("its header has {length} bytes, more than {MAX_HEADER}"),
            NO_ARRAY,
        )),
    }
}

/// Reads the text of a header.
pub(super) fn parse(text: &[u8]) -> Result<Header, Wrong> {
    let unclear = || {
        let reason = "its header is not that of a NumPy array".to_owned();
        (reason, NO_ARRAY)
    };
    let text = std::str::from_utf8(text).map_err(|_| unclear())?;
    let mut parser = Parser { rest: text.trim() };
    let (mut kind, mut is_fortran, mut shape) = (None, None, None);
    parser.take('{').ok_or_else(unclear)?;
    while parser.take('}').is_none() {
        let key = parser.string().ok_or_else(unclear)?;
        parser.take(':').ok_or_else(unclear)?;
        match key {
            "descr" if parser.peek() == Some('[') => {
                return Err((
                    "it has records with several fields".to_owned(),
                    "save the field with the vectors: `numpy.save(\"vectors.npy\", array[\"vector\"])`",
                ));
            }
            "descr" => kind = Some(parser.string().ok_or_else(unclear)?),
            "fortran_order" => is_fortran = Some(parser.truth().ok_or_else(unclear)?),
            "shape" => shape = Some(parser.tuple().ok_or_else(unclear)?),
            _ => return Err(unclear()),
        }
        if parser.take(',').is_none() && parser.peek() != Some('}') {
            return Err(unclear());
        }
    }
    let (Some(kind), Some(is_fortran), Some(shape), "") = (kind, is_fortran, shape, parser.rest)
    else {
        return Err(unclear());
    };
    let (numbers, is_big_endian) = numbers(kind)?;
    // One row or one number a row has the same bytes in both orders.
    if is_fortran && shape.iter().filter(|axis| **axis > 1).count() > 1 {
        return Err((
            "its numbers are in Fortran order, column after column".to_owned(),
            "save `numpy.ascontiguousarray(array)`",
        ));
    }
    Ok(Header {
        numbers,
        is_big_endian,
        shape,
    })
}

/// `<f4`: the order of the bytes, then the kind and how many bytes it has.
fn numbers(kind: &str) -> Result<(Numbers, bool), Wrong> {
    let (order, name) = match kind.strip_prefix(['<', '>', '|', '=']) {
        Some(name) => (kind.chars().next(), name),
        None => (None, kind),
    };
    let numbers = match name {
        "f2" => Numbers::F16,
        "f4" => Numbers::F32,
        "f8" => Numbers::F64,
        "i1" => Numbers::I8,
        _ if name.starts_with('O') => {
            return Err((
                "it holds Python objects, which only Python can load".to_owned(),
                "save `numpy.stack(array).astype(\"float32\")`",
            ));
        }
        _ => {
            let shown: String = kind.chars().take(20).collect();
            return Err((
                format!("its numbers have the type {shown:?}; f2, f4, f8 and i1 are supported"),
                "save `array.astype(\"float32\")`",
            ));
        }
    };
    Ok((numbers, order == Some('>')))
}

/// Reads the values of Python that a header has.
struct Parser<'t> {
    rest: &'t str,
}

impl<'t> Parser<'t> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, wanted: char) -> Option<()> {
        self.peek();
        self.rest = self.rest.strip_prefix(wanted)?;
        Some(())
    }

    /// A string without escapes, which no header has.
    fn string(&mut self) -> Option<&'t str> {
        let quote = self.peek().filter(|quote| "'\"".contains(*quote))?;
        let (text, rest) = self.rest.strip_prefix(quote)?.split_once(quote)?;
        self.rest = rest;
        (!text.contains('\\')).then_some(text)
    }

    fn truth(&mut self) -> Option<bool> {
        self.peek();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Some(value);
            }
        }
        None
    }

    /// `(3, 4)`, `(3,)` or `()`; Python 2 wrote `3L`.
    fn tuple(&mut self) -> Option<Vec<u64>> {
        self.take('(')?;
        let mut numbers = Vec::new();
        while self.take(')').is_none() {
            self.peek();
            let end = self.rest.find(|letter: char| !letter.is_ascii_digit())?;
            let (digits, rest) = self.rest.split_at_checked(end)?;
            self.rest = rest.strip_prefix('L').unwrap_or(rest);
            numbers.push(digits.parse().ok()?);
            if numbers.len() > MAX_AXES || (self.take(',').is_none() && self.peek() != Some(')')) {
                return None;
            }
        }
        Some(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Header {
        parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn headers_of_all_writers_are_read() {
        let expected = Header {
            numbers: Numbers::F32,
            is_big_endian: false,
            shape: vec![3, 4],
        };
        for text in [
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }      \n",
            "{\"shape\": (3L, 4L), \"descr\": \"<f4\", \"fortran_order\": False}",
            "{'descr':'<f4','fortran_order':False,'shape':(3,4,)}",
        ] {
            assert_eq!(header(text), expected, "{text}");
        }
        let big = header("{'descr': '>f8', 'fortran_order': False, 'shape': (5,), }");
        assert_eq!((big.numbers, big.is_big_endian), (Numbers::F64, true));
        // A column in either order has the same bytes.
        header("{'descr': '|i1', 'fortran_order': True, 'shape': (1, 7), }");
    }

    #[test]
    fn headers_that_lie_or_are_none_are_refused() {
        for (text, reason) in [
            (
                "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 4), }",
                "Fortran",
            ),
            (
                "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
                "objects",
            ),
            (
                "{'descr': '<c8', 'fortran_order': False, 'shape': (3, 4), }",
                "<c8",
            ),
            (
                "{'descr': [('id', '<i4'), ('v', '<f4', (3,))], 'fortran_order': False, 'shape': (3,)}",
                "fields",
            ),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 4), }",
                "its header",
            ),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 4), }",
                "its header",
            ),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (3 4), }",
                "its header",
            ),
            ("{'descr': '<f4', 'shape': (3, 4), }", "its header"),
            ("{'descr': '<f4", "its header"),
            ("{", "its header"),
            ("", "its header"),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } x",
                "its header",
            ),
        ] {
            let (found, _) = parse(text.as_bytes()).unwrap_err();
            assert!(found.contains(reason), "{text}: {found}");
        }
        let many = format!(
            "{{'descr': '<f4', 'fortran_order': False, 'shape': ({})}}",
            "1,".repeat(100)
        );
        assert!(parse(many.as_bytes()).is_err());
        assert!(parse(b"{'descr': '\xff'}").is_err());
    }

    #[test]
    fn the_place_of_a_header_is_not_believed() {
        assert_eq!(header_place(b"\x93NUMPY\x01\0\x76\0{'"), Ok((10, 118)));
        assert_eq!(
            header_place(b"\x93NUMPY\x02\0\x76\0\0\0").unwrap(),
            (12, 118)
        );
        assert_eq!(
            header_place(b"\x93NUMPY\x03\0\x76\0\0\0").unwrap(),
            (12, 118)
        );
        for wrong in [
            &b""[..],
            b"\x93NUMP",
            b"PK\x03\x04",
            b"\x93NUMPY",
            b"\x93NUMPY\x01\0\x01",
            b"\x93NUMPY\x04\0\x76\0\0\0",
            b"\x93NUMPY\x02\0\xff\xff\xff\xff",
        ] {
            assert!(header_place(wrong).is_err(), "{wrong:?}");
        }
    }
}
