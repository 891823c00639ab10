//! A parsed query: what [`super::parser`] makes, and how operators are taken out of it again.

use crate::index::keyword::is_picture;
use crate::resolve::abbreviate;

/// Each of these opens or closes a phrase.
pub(crate) const QUOTES: [char; 5] = ['"', '\u{201c}', '\u{201d}', '\u{201e}', '\u{201f}'];

/// A parsed query: pieces of plain text and operators, in the order of the query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ParsedQuery {
    /// As typed.
    pub(crate) query: String,
    /// Its words and phrases.
    pub(crate) pieces: Vec<Piece>,
    /// Whether no operator is ignored.
    pub(crate) is_whole: bool,
    /// Words with a sign that are plain text because the query is a sentence, as typed.
    pub(crate) signs_as_text: Vec<String>,
    /// Operators that are not applied because nothing passes them, as typed.
    pub(crate) not_applied: Vec<String>,
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
            is_whole: true,
            ..ParsedQuery::default()
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

    /// The phrases that it looks for: quoted words, also where they are plain text, and words with a `+` that the
    /// analyser splits.
    pub(crate) fn quoted(&self) -> impl Iterator<Item = &str> {
        self.pieces
            .iter()
            .filter_map(|piece| match &piece.operator {
                Some(operator) => operator
                    .is_ranked()
                    .then_some(operator.operand.text.as_str()),
                None => Some(piece.raw.strip_prefix(QUOTES)?.split_once(QUOTES)?.0),
            })
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

    /// Does not apply an operator, and ranks its words only if they were before.
    pub(crate) fn remove(&mut self, number: usize) {
        let operator = self.pieces.get(number).map(|piece| &piece.operator);
        if matches!(operator, Some(Some(it)) if it.is_ranked()) {
            self.take_as_text(number);
        } else {
            self.ignore(number);
        }
    }

    /// Does not apply an operator that nothing passes: its words are plain text, or ignored if it excludes.
    pub(crate) fn leaves_nothing(&mut self, number: usize) {
        let operator = self.pieces.get(number).map(|piece| &piece.operator);
        let excludes = matches!(operator, Some(Some(it)) if it.excludes());
        self.not_applied.push(self.raw(number).to_owned());
        if excludes {
            self.ignore(number);
        } else {
            self.take_as_text(number);
        }
    }

    /// The warning of all operators that are not applied.
    pub(crate) fn not_applied_warning(&self) -> Option<String> {
        let nothing = nothing_passes(&self.not_applied);
        (!self.not_applied.is_empty()).then(|| format!("{nothing}, so it was not applied"))
    }

    /// The warning of all words with a sign that are plain text because the query is a sentence.
    pub(crate) fn signs_warning(&self) -> Option<String> {
        searched_as_text(&self.signs_as_text, "the query is a sentence")
    }

    /// Applies no operators but the strict ones; what is ranked stays. Returns the others as typed.
    pub(crate) fn drop_lenient(&mut self) -> Vec<String> {
        let is_lenient = |operator: &Operator| !operator.is_strict();
        let lenient = self.operators().filter(|(_, it)| is_lenient(it));
        let lenient: Vec<usize> = lenient.map(|(number, _)| number).collect();
        let dropped = lenient.into_iter().map(|number| {
            let raw = self.raw(number).to_owned();
            self.remove(number);
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

/// That nothing passes these operators.
pub(crate) fn nothing_passes(raw: &[String]) -> String {
    let raw = abbreviate(&raw.join(" "));
    format!("nothing that is searched passes {raw}")
}

/// The warning of words with a sign that are plain text, and how the first of them is an operator.
pub(crate) fn searched_as_text(signed: &[String], reason: &str) -> Option<String> {
    let first = signed.first()?;
    let (sign, word) = first.split_at_checked(1)?;
    let effect = if sign == "-" { "excludes" } else { "requires" };
    let (all, word) = (signed.join(" "), abbreviate(word));
    Some(format!(
        "\"{}\" was searched as text, because {reason}; {sign}\"{word}\" {effect} it",
        abbreviate(&all)
    ))
}

impl Operand {
    /// An operand as typed, without quotes.
    pub(crate) fn new(words: &str, is_quoted: bool) -> Operand {
        Operand {
            text: words.to_owned(),
            is_quoted,
        }
    }
}

/// Whether a text has a letter, a digit, or a picture that is a word.
pub(crate) fn has_words(text: &str) -> bool {
    text.contains(|c: char| c.is_alphanumeric() || is_picture(c))
}
