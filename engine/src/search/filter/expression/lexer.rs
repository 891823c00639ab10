//! Expressions as tokens.

use kb_types::error::{Error, Result};

use super::value::Literal;
use crate::store::fields::DateRange;

/// A piece of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A name of a field, or a word of the language.
    Word(String),
    /// A name of a field between backquotes.
    Field(String),
    Literal(Literal),
    /// `(`, `)`, `,`, `~`, or an operator.
    Sign(&'static str),
}

/// Words that are no names of fields.
const KEYWORDS: [&str; 8] = ["and", "or", "not", "in", "has", "missing", "true", "false"];

/// Signs, longer ones first.
const SIGNS: [&str; 11] = ["==", "!=", "<=", ">=", "=", "<", ">", "(", ")", ",", "~"];

/// The error of an expression, at a byte of it.
pub(super) fn error(given: &str, at: usize, what: &str) -> Error {
    let reason = format!("{what} at character {}", position(given, at));
    invalid(reason)
}

/// The error about a field of an expression, where it stands first, and what to do.
pub(crate) fn field_error(given: &str, field: &str, what: &str, hint: &str) -> Error {
    let is_it = |token: &Token| match token {
        Token::Word(name) | Token::Field(name) => name.trim().to_lowercase() == field,
        _ => false,
    };
    let tokens = tokens(given).unwrap_or_default();
    let at = tokens.iter().find(|(_, token)| is_it(token));
    let position = position(given, at.map_or(0, |(at, _)| *at));
    invalid(format!("{what} at character {position}; {hint}"))
}

/// The number of the character at a byte, from 1.
fn position(given: &str, at: usize) -> usize {
    let before = given.get(..at).unwrap_or(given);
    before.chars().count() + 1
}

fn invalid(reason: String) -> Error {
    Error::InvalidArgument {
        argument: "where",
        reason,
    }
}

/// The tokens of an expression, each with the byte where it begins.
///
/// # Errors
/// [`Error::InvalidArgument`] with the position.
pub(super) fn tokens(given: &str) -> Result<Vec<(usize, Token)>> {
    let mut tokens = Vec::new();
    let mut rest = given.trim_start();
    while let Some(first) = rest.chars().next() {
        let at = given.len() - rest.len();
        let (token, length) = match first {
            '"' | '\'' => {
                let (text, length) = closed(given, at, rest, first, "a text")?;
                (Token::Literal(Literal::Text(text)), length)
            }
            '`' => {
                let (name, length) = closed(given, at, rest, first, "a name")?;
                (Token::Field(name), length)
            }
            _ if is_number_start(rest) => number(given, at, rest)?,
            _ if first.is_alphabetic() || first == '_' => {
                let end = rest.find(|c: char| !is_in_name(c)).unwrap_or(rest.len());
                let word = rest.get(..end).unwrap_or(rest);
                let token = match word.to_lowercase().as_str() {
                    "true" => Token::Literal(Literal::Boolean(true)),
                    "false" => Token::Literal(Literal::Boolean(false)),
                    _ => Token::Word(word.to_owned()),
                };
                (token, end)
            }
            _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => (Token::Sign(sign), sign.len()),
                None => return Err(error(given, at, &format!("unexpected {first:?}"))),
            },
        };
        tokens.push((at, token));
        rest = rest.get(length..).unwrap_or_default().trim_start();
    }
    Ok(tokens)
}

pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS
        .iter()
        .any(|keyword| word.eq_ignore_ascii_case(keyword))
}

pub(super) fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')
}

fn is_number_start(rest: &str) -> bool {
    let digits = rest.strip_prefix(['-', '+']).unwrap_or(rest);
    let digits = digits.strip_prefix('.').unwrap_or(digits);
    digits.starts_with(|c: char| c.is_ascii_digit())
}

/// What stands between two quotes, and how many bytes it takes with them. A backslash takes the next one as it is.
fn closed(given: &str, at: usize, rest: &str, quote: char, what: &str) -> Result<(String, usize)> {
    let mut text = String::new();
    let mut is_taken = false;
    for (position, c) in rest.char_indices().skip(1) {
        if is_taken || (c != quote && c != '\\') {
            text.push(c);
            is_taken = false;
        } else if c == '\\' {
            is_taken = true;
        } else {
            return Ok((text, position + c.len_utf8()));
        }
    }
    Err(error(given, at, &format!("{what} that nothing closes")))
}

/// A number or a date.
fn number(given: &str, at: usize, rest: &str) -> Result<(Token, usize)> {
    let is_outside =
        |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-' | '+' | ':' | '_');
    let end = rest.find(is_outside).unwrap_or(rest.len());
    let written = rest.get(..end).unwrap_or(rest);
    let literal = match DateRange::parse(written) {
        Some(date) => Literal::Date(date),
        None => match (written.parse::<i64>(), written.parse::<f64>()) {
            (Ok(number), _) => Literal::Integer(number),
            (Err(_), Ok(number)) if is_float(written) && number.is_finite() => {
                Literal::Float(number)
            }
            (Err(_), Ok(_)) => {
                return Err(error(given, at, "a number that 64 bits do not hold"));
            }
            _ => return Err(error(given, at, "neither a number nor a date")),
        },
    };
    Ok((Token::Literal(literal), end))
}

/// Whether a number is written with a fraction or an exponent.
fn is_float(written: &str) -> bool {
    written.contains(['.', 'e', 'E'])
}
