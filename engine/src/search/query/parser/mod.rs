//! The query language: plain words, and a few operators that say which chunks may match.
//!
//! ```text
//! tide tables            plain words: ranked, none of them required
//! "state of the art"     these words in a row, as written
//! +moon                  this word in any form: moons, moonlit_night
//! -sun                   not this word in any form; before or after all other words
//! +"state of the art"    these words, whatever else the query says
//! -"high water"          not these words in a row, as written
//! title:tides            documents with this word in their title, in any form
//! title:"tide tables"    documents with these words in a row in their title, as written
//! path:src/search        documents with this text in their path, whatever its case
//! path:src/**/*.rs       documents whose path matches this glob
//! tag:draft              documents with this tag; also -tag:draft, -title:, -path:
//! ```
//!
//! All operators of a query must hold. An operator is recognised at the start of a word only. Anything
//! that is not an operator is plain text, so no query is a syntax error: `a-b`, `C++`, `--flag`, `-1`,
//! `-p`, `x"y`, `std::vec`, `path::Path`, `path:C:\dir`, `http://x`, `title:` without a word, `+` or `-`
//! before a space, and a quote that no other quote closes (a query that is still being typed has
//! results) are plain. Field names are lower case. Typographic double quotes work like `"`.
//! [`running_text`] says where `"..."`, `+word` and `-word` are plain, too; fields, `+"..."` and
//! `-"..."`, which nobody writes by chance, are operators everywhere.
//!
//! An operator that would leave no chunk is taken as plain text, or ignored if it excludes, with a warning;
//! but not `+"..."` and `-"..."`. As plain text is taken `-word`, too, where the best matches of the query write it so
//! ([`super::option_words`]).
//!
//! *As written* means the same words in any case; punctuation, markup and line ends between them are
//! ignored. `"page cache"` matches `Page-Cache`, but neither `page caches` nor `PagedCache`. When no
//! chunk that passes the filters has an exact match, other forms of the words and identifiers that
//! contain them in sequence match too, with a warning; an excluded phrase is always matched exactly. An
//! unquoted word that the analyser splits (`+std::vec`) is the phrase of its parts.
//!
//! A phrase is matched against the text of chunks; a single word also against title, headings and path,
//! as in ranking. An operator on a single word that the index does not have (a stop word, or a word of
//! one character, but not a character of a script without spaces) is ignored with a warning.
//!
//! Plain and required words are ranked and embedded; excluded words and fields are not. A query of
//! fields without any ranked word browses: it lists the documents that pass. A query that only excludes
//! finds nothing.

use crate::search::query::parsed::{
    Field, Operand, Operator, ParsedQuery, Piece, QUOTES, Sign, has_words,
};
use crate::search::query::running_text;

/// Most operators of a query; later ones are plain text. Each costs a pass over bitmaps or documents.
// A query of people has a few. A pasted text may have hundreds of signs.
const OPERATORS_LIMIT: usize = 64;

/// Parses a query, in time linear in its length. Every text is a query.
pub(crate) fn parse(query: &str) -> ParsedQuery {
    let mut pieces = Vec::new();
    let mut operators = 0;
    let mut rest = query.trim_start();
    // Once a quote finds no other, none after it does.
    let mut quotes_close = true;
    while !rest.is_empty() {
        if operators >= OPERATORS_LIMIT {
            pieces.push(Piece {
                raw: rest.trim_end().to_owned(),
                operator: None,
            });
            break;
        }
        let (operator, after) = match operator(rest, &mut quotes_close) {
            Some((operator, after)) => (Some(operator), after),
            None => (None, split_word(rest).1),
        };
        operators += usize::from(operator.is_some());
        let raw = rest.get(..rest.len() - after.len()).unwrap_or_default();
        pieces.push(Piece {
            raw: raw.to_owned(),
            operator,
        });
        rest = after.trim_start();
    }
    let signs_as_text = running_text::settle(&mut pieces);
    ParsedQuery {
        query: query.to_owned(),
        pieces,
        is_whole: true,
        signs_as_text,
        ..ParsedQuery::default()
    }
}

/// The operator at the start of `text`, and the rest.
fn operator<'q>(text: &'q str, quotes_close: &mut bool) -> Option<(Operator, &'q str)> {
    let (sign, body) = match text.strip_prefix('-') {
        Some(body) => (Some(Sign::Minus), body),
        None => match text.strip_prefix('+') {
            Some(body) => (Some(Sign::Plus), body),
            None => (None, text),
        },
    };
    let (field, operand, after) = if let Some((words, after)) = quoted(body, quotes_close) {
        (None, Operand::new(words, true), after)
    } else if let Some((field, operand, after)) = field(body, quotes_close) {
        (Some(field), operand, after)
    } else {
        let (word, after) = split_word(body);
        sign.filter(|_| is_word(word))?;
        (None, Operand::new(word, false), after)
    };
    let operator = Operator {
        field,
        operand,
        sign,
    };
    Some((operator, after))
}

/// Whether a sign before it makes an operator: neither `-1`, `-(a)`, `--flag` nor `-p`, an option of
/// one letter, nor `-std=c11`.
fn is_word(word: &str) -> bool {
    let first = word.chars().next();
    let letters = word.chars().filter(|c| c.is_alphanumeric()).count();
    let is_letter = word.is_ascii() && letters == 1;
    first.is_some_and(|first| first.is_alphabetic() || first == '_')
        && has_words(word)
        && !is_letter
        && !word.contains('=')
}

/// The quoted text at the start of `text`, and the rest; `None` when there are no quoted words.
fn quoted<'q>(text: &'q str, quotes_close: &mut bool) -> Option<(&'q str, &'q str)> {
    let inside = text.strip_prefix(QUOTES)?;
    if !*quotes_close {
        return None;
    }
    let Some((words, after)) = inside.split_once(QUOTES) else {
        *quotes_close = false;
        return None;
    };
    has_words(words).then_some((words, after))
}

/// The field and its operand at the start of `text`, and the rest.
fn field<'q>(text: &'q str, quotes_close: &mut bool) -> Option<(Field, Operand, &'q str)> {
    let (field, value) = Field::ALL.into_iter().find_map(|field| {
        let value = text.strip_prefix(field.name())?.strip_prefix(':')?;
        Some((field, value))
    })?;
    if let Some((words, after)) = quoted(value, quotes_close) {
        return Some((field, Operand::new(words, true), after));
    }
    let (word, after) = split_word(value);
    let usable = has_words(word)
        && !word.starts_with(':')
        && !word.starts_with(QUOTES)
        && !is_foreign_path(word);
    usable.then(|| (field, Operand::new(word, false), after))
}

/// Whether a text is an address or a path of another system: `C:\dir`, `//host/x`, `https://x`.
fn is_foreign_path(text: &str) -> bool {
    let after_drive = text.get(1..).and_then(|rest| rest.strip_prefix(':'));
    text.contains("//") || after_drive.is_some_and(|rest| rest.starts_with(['/', '\\']))
}

/// Splits a text at its first white space.
fn split_word(text: &str) -> (&str, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests;
