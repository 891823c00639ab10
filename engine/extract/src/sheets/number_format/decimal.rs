//! A number as spreadsheets write it: by its first 15 decimal digits.

/// Digits that a spreadsheet calculates with.
// Excel shows 15 digits of a double; further ones are rounding.
const DIGITS: usize = 15;

/// A number of at most 15 digits: `0.d1d2d3...` times ten to the power of `point`.
#[derive(Debug, Clone, Default)]
pub(super) struct Decimal {
    digits: Vec<u8>,
    point: i32,
}

impl Decimal {
    /// The size of a finite number, without its sign.
    pub(super) fn of(number: f64) -> Decimal {
        let written = format!("{:.*e}", DIGITS - 1, number.abs());
        let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
        let digits = mantissa.bytes().filter(u8::is_ascii_digit);
        let mut decimal = Decimal {
            digits: digits.map(|digit| digit - b'0').collect(),
            point: exponent.parse().map_or(0, |exponent: i32| exponent + 1),
        };
        decimal.tidy();
        decimal
    }

    fn tidy(&mut self) {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        if self.digits.is_empty() {
            self.point = 0;
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// The power of ten of its first digit; 0 for zero.
    pub(super) fn exponent(&self) -> i32 {
        if self.is_zero() { 0 } else { self.point - 1 }
    }

    /// Times ten to the power of `places`.
    pub(super) fn shifted(mut self, places: i32) -> Decimal {
        if !self.is_zero() {
            self.point = self.point.saturating_add(places);
        }
        self
    }

    /// Rounded to so many decimals, halves away from zero.
    pub(super) fn rounded(mut self, decimals: usize) -> Decimal {
        let decimals = i32::try_from(decimals).unwrap_or(i32::MAX);
        let kept = self.point.saturating_add(decimals);
        let Ok(kept) = usize::try_from(kept) else {
            return Decimal::default();
        };
        let Some(next) = self.digits.get(kept).copied() else {
            return self;
        };
        self.digits.truncate(kept);
        if next >= 5 {
            let mut carries = true;
            for digit in self.digits.iter_mut().rev() {
                *digit += 1;
                carries = *digit == 10;
                if !carries {
                    break;
                }
                *digit = 0;
            }
            if carries {
                self.digits.insert(0, 1);
                self.point += 1;
            }
        }
        self.tidy();
        self
    }

    fn digit(&self, position: i32) -> u8 {
        let digit = usize::try_from(position).ok();
        digit
            .and_then(|at| self.digits.get(at))
            .copied()
            .unwrap_or(0)
    }

    /// Digits before the point, none for a number below 1.
    pub(super) fn integer(&self) -> Vec<u8> {
        (0..self.point).map(|at| self.digit(at)).collect()
    }

    /// The first digits behind the point.
    pub(super) fn decimals(&self, count: usize) -> Vec<u8> {
        let places = (self.point..).take(count);
        places.map(|at| self.digit(at)).collect()
    }

    /// Digits behind the point that are not trailing zeros.
    pub(super) fn decimal_places(&self) -> usize {
        let digits = i32::try_from(self.digits.len()).unwrap_or(i32::MAX);
        usize::try_from(digits.saturating_sub(self.point)).unwrap_or(0)
    }
}

/// How a number is shown where no format says otherwise: in at most 11 characters beside its sign.
pub(super) fn general(number: f64) -> String {
    let exact = Decimal::of(number);
    let exponent = exact.exponent();
    let text = match exponent {
        _ if exact.is_zero() => return "0".to_owned(),
        // Ten digits, the zeros behind the point of a small number aside.
        -4..=-1 => plain(&exact.rounded(usize::try_from(9 - exponent).unwrap_or(9))),
        0..=9 => plain(&exact.rounded(usize::try_from(9 - exponent).unwrap_or(0))),
        10 => plain(&exact.rounded(0)),
        _ => {
            let mut mantissa = exact.shifted(-exponent).rounded(5);
            let mut exponent = exponent;
            if mantissa.exponent() > 0 {
                mantissa = mantissa.shifted(-1);
                exponent += 1;
            }
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{}E{sign}{:02}", plain(&mantissa), exponent.abs())
        }
    };
    if number < 0.0 {
        format!("-{text}")
    } else {
        text
    }
}

fn plain(number: &Decimal) -> String {
    let character = |digit: u8| char::from(b'0' + digit);
    let mut text: String = number.integer().into_iter().map(character).collect();
    if text.is_empty() {
        text.push('0');
    }
    let places = number.decimal_places();
    if places > 0 {
        text.push('.');
        text.extend(number.decimals(places).into_iter().map(character));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_as_their_written_digits_do() {
        for (number, decimals, expected) in [
            (1.005, 2, "1.01"),
            (0.5, 0, "1"),
            (0.4999, 0, "0"),
            (9.995, 2, "10"),
            (0.1 + 0.2, 15, "0.3"),
            (1e20, 2, "100000000000000000000"),
            (1e-20, 2, "0"),
            (12.0, 3, "12"),
        ] {
            assert_eq!(plain(&Decimal::of(number).rounded(decimals)), expected);
        }
    }

    #[test]
    fn a_number_without_a_format_takes_eleven_characters() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.5, "1.5"),
            (-12345.6789, "-12345.6789"),
            (1.0 / 3.0, "0.3333333333"),
            (2000.0 / 3.0, "666.6666667"),
            (12345678901.0, "12345678901"),
            (123456789012.0, "1.23457E+11"),
            (1e100, "1E+100"),
            (0.000012345678, "1.23457E-05"),
            (999999.9999999999, "1000000"),
            (9.9999999e-7, "1E-06"),
        ] {
            assert_eq!(general(number), expected);
        }
    }
}
