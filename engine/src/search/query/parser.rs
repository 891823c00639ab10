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

use crate::search::query::running_text;

/// Each of these opens or closes a phrase.
pub(crate) const QUOTES: [char; 5] = ['"', '\u{201c}', '\u{201d}', '\u{201e}', '\u{201f}'];

/// Most operators of a query; later ones are plain text. Each costs a pass over bitmaps or documents.
const OPERATORS_LIMIT: usize = 64;

/// A parsed query: pieces of plain text and operators, in the order of the query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ParsedQuery {
    query: String,
    pieces: Vec<Piece>,
    /// Whether no operator is ignored.
    is_whole: bool,
}

/// A word or a phrase of a query, with what stands before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// As typed.
    pub(crate) raw: String,
    /// `None`: plain text.
    pub(crate) operator: Option<Operator>,
}

/// What a document or a chunk must have, or must not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operator {
    /// The field of documents that is matched; `None`: the words of a chunk.
    pub(crate) field: Option<Field>,
    /// The text to match.
    pub(crate) operand: Operand,
    /// `+` or `-`, if it has one.
    pub(crate) sign: Option<Sign>,
}

/// The character before an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// `+`
    Plus,
    /// `-`
    Minus,
}

/// The text that an operator applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operand {
    /// As typed, without quotes.
    pub(crate) text: String,
    /// Whether it was in quotes, so that it must match as written.
    pub(crate) is_quoted: bool,
}

/// A field of documents that a query can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    /// Words of the title, in sequence.
    Title,
    /// A substring of the path, or a glob over it.
    Path,
    /// A tag.
    Tag,
}

impl Field {
    /// All fields.
    pub(crate) const ALL: [Field; 3] = [Field::Title, Field::Path, Field::Tag];

    /// The name before the colon.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Field::Title => "title",
            Field::Path => "path",
            Field::Tag => "tag",
        }
    }
}

impl Operator {
    /// Whether what matches is left out.
    pub(crate) fn excludes(&self) -> bool {
        self.sign == Some(Sign::Minus)
    }

    /// Whether its words are ranked and embedded.
    pub(crate) fn is_ranked(&self) -> bool {
        self.field.is_none() && !self.excludes()
    }

    /// Whether it holds even where it leaves nothing: a sign before quotes is never chance.
    pub(crate) fn is_strict(&self) -> bool {
        self.field.is_none() && self.sign.is_some() && self.operand.is_quoted
    }
}

impl ParsedQuery {
    /// A query taken as plain text, operators and all.
    pub(crate) fn plain(query: &str) -> ParsedQuery {
        ParsedQuery {
            query: query.to_owned(),
            pieces: Vec::new(),
            is_whole: true,
        }
    }

    /// The operators with their numbers, in the order of the query.
    pub(crate) fn operators(&self) -> impl Iterator<Item = (usize, &Operator)> {
        let numbered = self.pieces.iter().enumerate();
        numbered.filter_map(|(number, piece)| Some((number, piece.operator.as_ref()?)))
    }

    /// A piece as it was typed.
    pub(crate) fn raw(&self, number: usize) -> &str {
        self.pieces
            .get(number)
            .map_or("", |piece| piece.raw.as_str())
    }

    /// Takes an operator as plain text.
    pub(crate) fn take_as_text(&mut self, number: usize) {
        if let Some(piece) = self.pieces.get_mut(number) {
            piece.operator = None;
        }
    }

    /// Ignores an operator: it is neither applied nor ranked.
    pub(crate) fn ignore(&mut self, number: usize) {
        if let Some(piece) = self.pieces.get_mut(number) {
            piece.operator = None;
            piece.raw.clear();
            self.is_whole = false;
        }
    }

    /// Applies no operators but the strict ones; what is ranked stays. Returns the others as typed.
    pub(crate) fn drop_lenient(&mut self) -> Vec<String> {
        let is_lenient = |operator: &Operator| !operator.is_strict();
        let lenient = self.operators().filter(|(_, it)| is_lenient(it));
        let lenient: Vec<(usize, bool)> = lenient
            .map(|(number, it)| (number, it.is_ranked()))
            .collect();
        let dropped = lenient.into_iter().map(|(number, is_ranked)| {
            let raw = self.raw(number).to_owned();
            if is_ranked {
                self.take_as_text(number);
            } else {
                self.ignore(number);
            }
            raw
        });
        dropped.collect()
    }

    /// Whether the query has no operators, so that every chunk may match.
    pub(crate) fn is_plain(&self) -> bool {
        self.operators().next().is_none()
    }

    /// The text that is ranked and embedded: plain and required words, in the order of the query; the
    /// query itself when it has no operators.
    pub(crate) fn ranked_text(&self) -> String {
        if self.is_plain() && self.is_whole {
            return self.query.clone();
        }
        let ranked = self
            .pieces
            .iter()
            .filter_map(|piece| match &piece.operator {
                None => Some(piece.raw.as_str()).filter(|raw| !raw.is_empty()),
                Some(operator) => operator
                    .is_ranked()
                    .then_some(operator.operand.text.as_str()),
            });
        ranked.collect::<Vec<_>>().join(" ")
    }

    /// Whether there is nothing to rank by: the result is the list of the documents that pass, in the
    /// order of their paths, each with score 0.
    pub(crate) fn is_browse(&self) -> bool {
        !self.is_plain() && !has_words(&self.ranked_text())
    }

    /// Whether it says what to leave out and nothing else.
    pub(crate) fn only_excludes(&self) -> bool {
        self.is_browse() && self.operators().all(|(_, operator)| operator.excludes())
    }
}

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
    running_text::settle(&mut pieces);
    ParsedQuery {
        query: query.to_owned(),
        pieces,
        is_whole: true,
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
    let mut characters = word.chars();
    let first = characters.next();
    let is_letter = word.is_ascii() && characters.next().is_none();
    first.is_some_and(|first| first.is_alphabetic() || first == '_')
        && has_words(word)
        && !is_letter
        && !word.contains('=')
}

impl Operand {
    fn new(words: &str, is_quoted: bool) -> Operand {
        Operand {
            text: words.to_owned(),
            is_quoted,
        }
    }
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

pub(crate) fn has_words(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

#[cfg(test)]
mod tests;
