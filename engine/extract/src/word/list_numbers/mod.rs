//! Numbers of list items as they are printed: `3`, `c`, `IV`, `Third`.

mod words;

/// Roman numbers are not written above this.
// There is no numeral for 5,000, and 4,000 would be four M.
const MAX_ROMAN: u32 = 3999;
/// Letters repeat up to so many times: `aaa`.
// Longer runs of one letter tell nobody a number.
const MAX_LETTERS: u32 = 20;

/// How the items of a list are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberFormat {
    Decimal,
    /// Decimal, with a 0 before a single digit.
    DecimalZero,
    Lower,
    Upper,
    LowerRoman,
    UpperRoman,
    /// Decimal, with zeros before it up to so many digits.
    Padded(usize),
    Ordinal,
    CardinalText,
    OrdinalText,
    /// One of 20 signs, of which this is the first.
    Signs(char),
    Dashes,
    NoteMarks,
    Chinese,
    /// Nothing, only what is around it.
    Nothing,
}

impl NumberFormat {
    /// A number in the format.
    pub(crate) fn write(self, number: u32) -> String {
        match self {
            NumberFormat::Decimal => number.to_string(),
            NumberFormat::DecimalZero => format!("{number:02}"),
            NumberFormat::Lower => letters(number),
            NumberFormat::Upper => letters(number).to_ascii_uppercase(),
            NumberFormat::LowerRoman => roman(number).to_ascii_lowercase(),
            NumberFormat::UpperRoman => roman(number),
            NumberFormat::Padded(digits) => format!("{number:0digits$}"),
            NumberFormat::Ordinal => words::ordinal(number),
            NumberFormat::CardinalText => words::cardinal_text(number),
            NumberFormat::OrdinalText => words::ordinal_text(number),
            NumberFormat::Signs(first) => words::sign(first, number),
            NumberFormat::Dashes => format!("- {number} -"),
            NumberFormat::NoteMarks => words::note_mark(number),
            NumberFormat::Chinese => words::chinese(number),
            NumberFormat::Nothing => String::new(),
        }
    }
}

/// `a` to `z`, then `aa`, `bb`.
fn letters(number: u32) -> String {
    let Some(number) = number.checked_sub(1) else {
        return "0".to_owned();
    };
    let times = (number / 26 + 1).min(MAX_LETTERS);
    let letter = char::from_u32(u32::from('a') + number % 26).unwrap_or('a');
    (0..times).map(|_| letter).collect()
}

fn roman(number: u32) -> String {
    if number == 0 || number > MAX_ROMAN {
        return number.to_string();
    }
    let mut left = number;
    let mut written = String::new();
    for (value, digits) in [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ] {
        while left >= value {
            written.push_str(digits);
            left -= value;
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::NumberFormat::{Decimal, DecimalZero, Lower, LowerRoman, Upper, UpperRoman};

    #[test]
    fn numbers_are_written_as_word_prints_them() {
        for (format, number, expected) in [
            (Decimal, 12, "12"),
            (DecimalZero, 7, "07"),
            (Lower, 1, "a"),
            (Lower, 28, "bb"),
            (Upper, 26, "Z"),
            (LowerRoman, 14, "xiv"),
            (UpperRoman, 1999, "MCMXCIX"),
            (UpperRoman, 4000, "4000"),
            (Lower, 0, "0"),
        ] {
            assert_eq!(format.write(number), expected);
        }
    }
}
