//! The filter language: `year > 2015 and author in ("Kim", "Lee") and not draft`.
//!
//! ```text
//! expression = all { "or" all } ;
//! all        = term { "and" term } ;
//! term       = "not" term | "(" expression ")" | "missing" "(" field ")" | test ;
//! test       = field [ operator value | [ "not" ] "in" "(" value { "," value } ")" | "has" value | "~" text ] ;
//! operator   = "=" | "==" | "!=" | "<" | "<=" | ">" | ">=" ;
//! field      = a letter or "_", then letters, digits, "_", "-", "." and "/" | "`" any characters "`" ;
//! value      = text | number | date | "true" | "false" ;
//! text       = '"' characters '"' | "'" characters "'" ;           (* \ before a quote or a \ *)
//! date       = year "-" month [ "-" day [ "T" hour ":" minute [ ":" second [ "." digits ] ] [ zone ] ] ] ;
//! zone       = "Z" | ( "+" | "-" ) hour [ ":" ] minute ;
//! ```
//!
//! Words of the language may be in any case. A field is one in any case, too.
//!
//! A test holds for a document if it holds for any value of the field. So none holds for a document without the field,
//! and `x != 1` is `not x = 1`, which holds for such a document. A field alone asks whether it is true. `has` is `=` for
//! fields with several values. `~` compares all of a text with a pattern of `*` (any characters) and `?` (one).
//! Text is compared in any case, and in the order of its characters. A number is compared with numbers, whether it has
//! a fraction or not, and a date with dates: `2024-05` is every time of that month, so `date = 2024-05` holds for
//! all of them and `date > 2024-05` for those after it. Values of different types are not equal and have no order.

mod ast;
mod lexer;
mod parser;
mod value;

#[cfg(test)]
mod tests;

#[cfg(test)]
use crate::store::fields::DateRange;
#[cfg(test)]
use crate::store::fields::FieldValue as Value;
pub(crate) use ast::{Expression, Operator, Test};
pub(crate) use lexer::field_error;
pub(crate) use parser::parse;
pub(crate) use value::Literal;
