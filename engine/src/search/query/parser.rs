//! The query language: plain words, and a few operators that say which chunks may match.
//!
//! ```text
//! tide tables            plain words: ranked, none of them required
//! "state of the art"     these words in a row, as written
//! +moon                  this word in any form: moons, moonlit_night
//! -sun                   not this word in any form
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
//! `x"y`, `std::vec`, `path::Path`, `http://x`, `title:` without a word, `+` or `-` before a space, and
//! a quote that no other quote closes (a query that is still being typed has results) are plain. `+` and
//! `-` need a letter, `_` or a quote after them. Field names are lower case. Typographic double quotes
//! work like `"`.
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
//! Plain and required words are ranked and embedded; excluded words and fields are not. A query without
//! any ranked word browses: it lists the documents that pass.

/// Each of these opens or closes a phrase.
const QUOTES: [char; 5] = ['"', '\u{201c}', '\u{201d}', '\u{201e}', '\u{201f}'];

/// Most operators of a query; later ones are plain text. Each costs a pass over bitmaps or documents.
const OPERATORS_LIMIT: usize = 64;

/// A parsed query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ParsedQuery {
    /// The text that is ranked and embedded: plain and required words, in the order of the query; the
    /// query itself when it has no operators.
    pub(crate) plain: String,
    /// Phrases and words that must match: `"a b"`, `+a`.
    pub(crate) required: Vec<Operand>,
    /// Phrases and words that must not match: `-a`, `-"a b"`.
    pub(crate) excluded: Vec<Operand>,
    /// Conditions on title, path and tags.
    pub(crate) fields: Vec<FieldTerm>,
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

/// `title:words`, `path:part`, `tag:word`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldTerm {
    /// The field that is matched.
    pub(crate) field: Field,
    /// The text to match.
    pub(crate) operand: Operand,
    /// Whether documents that match are excluded.
    pub(crate) excluded: bool,
}

impl ParsedQuery {
    /// A query taken as plain text, operators and all.
    pub(crate) fn plain(query: &str) -> ParsedQuery {
        ParsedQuery {
            plain: query.to_owned(),
            ..ParsedQuery::default()
        }
    }

    fn operators(&self) -> usize {
        self.required.len() + self.excluded.len() + self.fields.len()
    }

    /// Whether the query has no operators, so that every chunk may match.
    pub(crate) fn is_plain(&self) -> bool {
        self.operators() == 0
    }

    /// Whether there is nothing to rank by: the result is the list of the documents that pass, in the
    /// order of their paths, each with score 0.
    pub(crate) fn is_browse(&self) -> bool {
        !self.is_plain() && !self.plain.contains(char::is_alphanumeric)
    }
}

/// Parses a query, in time linear in its length. Every text is a query.
pub(crate) fn parse(query: &str) -> ParsedQuery {
    let mut parsed = ParsedQuery::default();
    let mut rest = query.trim_start();
    // Once a quote finds no other, none after it does.
    let mut quotes_close = true;
    while !rest.is_empty() {
        if parsed.operators() >= OPERATORS_LIMIT {
            parsed.add_plain(rest);
            break;
        }
        let (sign, body) = match rest.strip_prefix(['+', '-']) {
            Some(body) => (rest.chars().next(), body),
            None => (None, rest),
        };
        let excluded = sign == Some('-');
        let after = if let Some((words, after)) = quoted(body, &mut quotes_close) {
            parsed.add_operand(words, true, excluded);
            after
        } else if let Some((field, operand, after)) = field(body, &mut quotes_close) {
            parsed.fields.push(FieldTerm {
                field,
                operand,
                excluded,
            });
            after
        } else {
            let (word, _) = split_word(body);
            let begins = word.chars().next();
            let is_operator = sign.is_some()
                && begins.is_some_and(|first| first.is_alphabetic() || first == '_')
                && has_words(word);
            if is_operator {
                parsed.add_operand(word, false, excluded);
            } else {
                let (word, _) = split_word(rest);
                parsed.add_plain(word);
            }
            split_word(rest).1
        };
        rest = after.trim_start();
    }
    if parsed.is_plain() {
        query.clone_into(&mut parsed.plain);
    }
    parsed
}

impl ParsedQuery {
    fn add_operand(&mut self, words: &str, is_quoted: bool, excluded: bool) {
        if !excluded {
            self.add_plain(words);
        }
        let list = if excluded {
            &mut self.excluded
        } else {
            &mut self.required
        };
        list.push(Operand {
            text: words.to_owned(),
            is_quoted,
        });
    }

    fn add_plain(&mut self, words: &str) {
        if !self.plain.is_empty() {
            self.plain.push(' ');
        }
        self.plain.push_str(words);
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
        let operand = Operand {
            text: words.to_owned(),
            is_quoted: true,
        };
        return Some((field, operand, after));
    }
    let (word, after) = split_word(value);
    let usable = has_words(word) && !word.starts_with(':') && !word.starts_with(QUOTES);
    usable.then(|| {
        let operand = Operand {
            text: word.to_owned(),
            is_quoted: false,
        };
        (field, operand, after)
    })
}

/// Splits a text at its first white space.
fn split_word(text: &str) -> (&str, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn has_words(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_that_is_not_an_operator_is_plain() {
        for query in [
            "",
            "tide",
            "a-b",
            "C++",
            "++i",
            "--flag",
            "-",
            "+",
            "- a",
            "-1",
            "+49",
            "\"",
            "a \"b c",
            "x\"y z\"",
            "std::vec",
            "path::Path",
            "http://x",
            "title:",
            "title: x",
            "C:\\dir",
            "-\"",
            "\"\"",
            "\" \" -",
            "tag:\"",
            "Title:x",
            "-(a)",
            "title:\"a b",
        ] {
            let parsed = parse(query);
            assert!(parsed.is_plain(), "{query:?} {parsed:?}");
            assert_eq!(parsed.plain, query);
        }
    }

    #[test]
    fn operators_require_and_exclude() {
        let parsed = parse(
            "rust \"state of  the art\" +std::vec -java -\"high water\" +\"a b\" \u{201c}q r\u{201d} end",
        );
        let told = |list: &[Operand]| -> Vec<(String, bool)> {
            let told = list
                .iter()
                .map(|operand| (operand.text.clone(), operand.is_quoted));
            told.collect()
        };
        let expected = [
            ("state of  the art", true),
            ("std::vec", false),
            ("a b", true),
            ("q r", true),
        ];
        assert_eq!(
            told(&parsed.required),
            expected.map(|(text, quoted)| (text.to_owned(), quoted))
        );
        let expected = [("java", false), ("high water", true)];
        assert_eq!(
            told(&parsed.excluded),
            expected.map(|(text, quoted)| (text.to_owned(), quoted))
        );
        assert_eq!(parsed.plain, "rust state of  the art std::vec a b q r end");
        assert!(!parsed.is_browse());
    }

    #[test]
    fn fields_are_neither_ranked_nor_embedded() {
        let parsed = parse("-title:\"a b\" path:src/*.rs +tag:x moon");
        let fields: Vec<_> = parsed
            .fields
            .iter()
            .map(|term| (term.field.name(), term.operand.text.as_str(), term.excluded))
            .collect();
        assert_eq!(
            fields,
            [
                ("title", "a b", true),
                ("path", "src/*.rs", false),
                ("tag", "x", false)
            ]
        );
        assert_eq!(parsed.plain, "moon");
        assert!(parse("-a tag:x").is_browse() && parse("tag:x !").is_browse());
    }

    #[test]
    fn long_queries_of_operators_parse_in_linear_time() {
        for part in [
            "\"",
            "-",
            "\"a",
            "-\"",
            "title:\"",
            "\" ",
            "\u{201c}\u{0} ",
            "+a ",
            "\"a\" -b ",
        ] {
            let query = part.repeat((1 << 20) / part.len());
            let parsed = parse(&query);
            assert!(parsed.plain.len() <= query.len() + 1, "{part:?}");
        }
    }

    proptest! {
        #[test]
        fn only_excluded_words_and_fields_are_not_ranked(
            query in "([ab]|[ \"+-]|title:|tag:|\u{201c}|\u{4e2d}|\\PC){0,20}"
        ) {
            let parsed = parse(&query);
            let words = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
            let asked: usize = parsed.excluded.iter().map(|asked| words(&asked.text)).sum();
            let fields: usize = parsed
                .fields
                .iter()
                .map(|term| words(&term.operand.text) + term.field.name().len())
                .sum();
            prop_assert_eq!(words(&parsed.plain) + asked + fields, words(&query));
        }
    }
}
