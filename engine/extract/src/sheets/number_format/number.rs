//! Numbers by a section of a format code.

use super::decimal::{Decimal, general};
use super::section::{Section, Token};

/// A number as a section writes it, without its sign.
pub(super) fn show(section: &Section, number: f64) -> String {
    let layout = Layout::of(section);
    let size = Decimal::of(number).shifted(layout.shift);
    if let Some(slash) = layout.slash {
        return fraction(section, slash, number.abs());
    }
    let (size, exponent) = match layout.exponent {
        Some(_) => scientific(size, &layout),
        None => (size.rounded(layout.decimals), 0),
    };
    let mut writer = Writer {
        text: String::new(),
        integer: size.integer(),
        decimals: size.decimals(layout.decimals),
        layout: &layout,
        integer_places: 0,
        decimal_places: 0,
    };
    let mut place = Place::Integer;
    for (at, token) in section.tokens.iter().enumerate() {
        match token {
            Token::Literal(character) => writer.text.push(*character),
            Token::Percent => writer.text.push('%'),
            Token::General => writer.text.push_str(&general(number.abs())),
            Token::Slash => writer.text.push('/'),
            Token::Comma if layout.first_digit.is_none_or(|first| at < first) => {
                writer.text.push(',');
            }
            Token::Comma | Token::Text | Token::Date(_) => {}
            Token::Point if place == Place::Integer => {
                writer.all_of_the_integer();
                writer.text.push('.');
                place = Place::Decimals;
            }
            Token::Point => writer.text.push('.'),
            Token::Exponent { shows_plus } if layout.exponent == Some(at) => {
                writer.all_of_the_integer();
                writer.text.push('E');
                writer.exponent(exponent, *shows_plus);
                place = Place::Exponent;
            }
            Token::Exponent { .. } => writer.text.push('E'),
            Token::Digit(sign) => match place {
                Place::Integer => writer.integer_digit(*sign),
                Place::Decimals => writer.decimal_digit(*sign),
                Place::Exponent => {}
            },
        }
    }
    writer.text
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Integer,
    Decimals,
    Exponent,
}

/// What the places of a section say together.
#[derive(Debug, Default)]
struct Layout {
    /// Places before the point.
    integer_places: usize,
    /// Places behind it.
    decimals: usize,
    exponent_places: usize,
    groups_thousands: bool,
    /// Powers of ten that the number is multiplied with: two for a percent sign, minus three for a comma
    /// behind the digits.
    shift: i32,
    first_digit: Option<usize>,
    /// Where the exponent begins.
    exponent: Option<usize>,
    /// The slash of a fraction.
    slash: Option<usize>,
}

impl Layout {
    fn of(section: &Section) -> Layout {
        let mut layout = Layout::default();
        let mut place = Place::Integer;
        let mut open_commas = 0;
        for (at, token) in section.tokens.iter().enumerate() {
            match token {
                Token::Digit(_) => {
                    layout.first_digit.get_or_insert(at);
                    match place {
                        Place::Integer => {
                            layout.integer_places += 1;
                            layout.groups_thousands |= open_commas > 0;
                            open_commas = 0;
                        }
                        Place::Decimals => layout.decimals += 1,
                        Place::Exponent => layout.exponent_places += 1,
                    }
                }
                Token::Comma if layout.first_digit.is_some() => open_commas += 1,
                Token::Percent => layout.shift += 2,
                Token::Point if place == Place::Integer => place = Place::Decimals,
                Token::Exponent { .. } if layout.exponent.is_none() => {
                    layout.exponent = Some(at);
                    place = Place::Exponent;
                }
                Token::Slash if layout.first_digit.is_some() => {
                    layout.slash.get_or_insert(at);
                }
                _ => {}
            }
        }
        layout.shift -= 3 * open_commas;
        layout
    }
}

/// The mantissa and the exponent: a multiple of the places before the point.
fn scientific(size: Decimal, layout: &Layout) -> (Decimal, i32) {
    let step = i32::try_from(layout.integer_places.max(1)).unwrap_or(1);
    let mut exponent = size.exponent().div_euclid(step) * step;
    let mut mantissa = size.clone().shifted(-exponent).rounded(layout.decimals);
    if mantissa.exponent() >= step {
        exponent += step;
        mantissa = size.shifted(-exponent).rounded(layout.decimals);
    }
    (mantissa, exponent)
}

#[derive(Debug)]
struct Writer<'l> {
    text: String,
    integer: Vec<u8>,
    decimals: Vec<u8>,
    layout: &'l Layout,
    /// Places written so far.
    integer_places: usize,
    decimal_places: usize,
}

impl Writer<'_> {
    /// The digit with so many places of the integer behind it.
    fn place(&mut self, behind: usize, sign: char) {
        let digit = self
            .integer
            .len()
            .checked_sub(behind + 1)
            .and_then(|at| self.integer.get(at))
            .copied();
        match (digit, sign) {
            (Some(digit), _) => self.text.push(char::from(b'0' + digit)),
            (None, '0') => self.text.push('0'),
            (None, '?') => return self.text.push(' '),
            (None, _) => return,
        }
        if self.layout.groups_thousands && behind > 0 && behind.is_multiple_of(3) {
            self.text.push(',');
        }
    }

    fn integer_digit(&mut self, sign: char) {
        if self.integer_places == 0 {
            // The first place takes all digits that are too many.
            for behind in (self.layout.integer_places..self.integer.len()).rev() {
                self.place(behind, sign);
            }
        }
        self.integer_places += 1;
        let behind = self
            .layout
            .integer_places
            .saturating_sub(self.integer_places);
        self.place(behind, sign);
    }

    /// `.00` has no place for the integer, and yet it is shown.
    fn all_of_the_integer(&mut self) {
        if self.layout.integer_places == 0 && self.integer_places == 0 {
            for behind in (0..self.integer.len()).rev() {
                self.place(behind, '#');
            }
            self.integer_places = 1;
        }
    }

    fn decimal_digit(&mut self, sign: char) {
        let left = self.decimals.get(self.decimal_places..).unwrap_or_default();
        let is_rest_zero = left.iter().all(|digit| *digit == 0);
        let digit = left.first().copied().unwrap_or(0);
        self.decimal_places += 1;
        match sign {
            '#' if is_rest_zero => {}
            '?' if is_rest_zero => self.text.push(' '),
            _ => self.text.push(char::from(b'0' + digit)),
        }
    }

    fn exponent(&mut self, exponent: i32, shows_plus: bool) {
        if exponent < 0 {
            self.text.push('-');
        } else if shows_plus {
            self.text.push('+');
        }
        let width = self.layout.exponent_places;
        self.text
            .push_str(&format!("{:0width$}", exponent.unsigned_abs()));
    }
}

/// `# ?/?`: the nearest fraction whose denominator has as many digits as there are places, or is the one that
/// the section names.
fn fraction(section: &Section, slash: usize, size: f64) -> String {
    let before = section.tokens.get(..slash).unwrap_or_default();
    let behind = section.tokens.get(slash + 1..).unwrap_or_default();
    let is_digit = |token: &&Token| matches!(token, Token::Digit(_));
    // Places of the whole number and of the numerator, if anything stands between them.
    let numerator_places = before.iter().rev().take_while(is_digit).count();
    let numerator_start = before.len() - numerator_places;
    let head = before.get(..numerator_start).unwrap_or_default();
    let has_whole = head.iter().any(|token| is_digit(&token));
    let named: String = behind
        .iter()
        .map_while(|token| match token {
            Token::Literal(digit) if digit.is_ascii_digit() => Some(*digit),
            Token::Digit('0') => Some('0'),
            _ => None,
        })
        .collect();
    let places = behind.iter().take_while(is_digit).count();
    let named_denominator = named.parse::<u32>().ok().filter(|number| *number > 0);
    let tail = match named_denominator {
        Some(_) => behind.get(named.len()..),
        None => behind.get(places..),
    };
    let (mut whole, part) = if has_whole {
        (size.floor(), size.fract())
    } else {
        (0.0, size)
    };
    let (mut numerator, denominator) = match named_denominator {
        Some(denominator) => ((part * f64::from(denominator)).round(), denominator),
        None => nearest(
            part,
            10u32.saturating_pow(u32::try_from(places.clamp(1, 6)).unwrap_or(1)) - 1,
        ),
    };
    if has_whole && numerator >= f64::from(denominator) {
        (whole, numerator) = (whole + 1.0, 0.0);
    }
    let mut text = String::new();
    let literals = |text: &mut String, tokens: &[Token]| {
        text.extend(tokens.iter().filter_map(|token| match token {
            Token::Literal(character) => Some(*character),
            Token::Percent => Some('%'),
            _ => None,
        }));
    };
    let first = head.iter().position(|token| is_digit(&token));
    let last = head.iter().rposition(|token| is_digit(&token));
    if let (Some(first), Some(last)) = (first, last) {
        literals(&mut text, head.get(..first).unwrap_or_default());
        if whole != 0.0 || numerator == 0.0 {
            text.push_str(&general(whole));
            if numerator != 0.0 {
                literals(&mut text, head.get(last + 1..).unwrap_or_default());
            }
        }
    } else {
        literals(&mut text, head);
    }
    if numerator != 0.0 || !has_whole {
        text.push_str(&format!("{numerator}/{denominator}"));
    }
    literals(&mut text, tail.unwrap_or_default());
    text
}

/// The fraction nearest to `number` with a denominator of at most `limit`, by its continued fraction.
fn nearest(number: f64, limit: u32) -> (f64, u32) {
    let (mut before, mut last) = ((0.0, 1.0), (1.0, 0.0));
    let mut rest = number;
    let limit = f64::from(limit.max(1));
    for _ in 0..24 {
        let whole = rest.floor();
        let next = (whole * last.0 + before.0, whole * last.1 + before.1);
        if next.1 > limit {
            // The best between the last two.
            let steps = ((limit - before.1) / last.1).floor();
            let between = (steps * last.0 + before.0, steps * last.1 + before.1);
            let distance = |it: (f64, f64)| (it.0 / it.1 - number).abs();
            if between.1 > 0.0 && distance(between) < distance(last) {
                last = between;
            }
            break;
        }
        (before, last) = (last, next);
        rest -= whole;
        if rest < 1e-9 {
            break;
        }
        rest = 1.0 / rest;
    }
    // Both are whole numbers of at most seven digits behind the first step.
    (last.0, last.1.max(1.0) as u32)
}
