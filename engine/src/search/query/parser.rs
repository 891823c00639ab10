//! The query language: words, and a few signs that say which chunks may answer.
//!
//! ```text
//! tide tables            plain words: ranked, none of them required
//! "state of the art"     these words in a row, as written
//! +moon                  this word, in any form: moons, moonlit_night
//! -sun                   not this word, in no form
//! -"high water"          not these words in a row, as written
//! title:tides            documents with this word in their title, in any form
//! title:"tide tables"    documents with these words in a row in their title, as written
//! path:src/search        documents with this text in their path, whatever its case
//! path:src/**/*.rs       documents whose path matches this glob
//! tag:draft              documents with this tag; also -tag:draft, -title:, -path:
//! ```
//!
//! All signs of a query must hold. They count at the start of a word only, and any text is a query:
//! what is no sign is a plain word. So are `a-b`, `C++`, `--flag`, `-1`, `x"y`, `std::vec`,
//! `path::Path`, `http://x`, `title:` without a word, a sign before a space, and a quote that no
//! other quote closes: who types a question sees answers before the phrase is complete. `+` and `-`
//! need a letter, `_` or a quote after them. Names of fields are in lower case. The typographic quotes
//! of any language quote as `"` does.
//!
//! *As written* means the same words whatever their case; punctuation, markup and ends of lines between
//! them do not count. `"page cache"` finds `Page-Cache`, and neither `page caches` nor `PagedCache`. When
//! nothing that the filters let through has the words as written, other forms of them and identifiers
//! that hold them in a row count as well, and a warning says so; what is excluded is excluded as written
//! only. An unquoted word that the analyser takes apart (`+std::vec`) means its parts in quotes.
//!
//! Words in a row are looked for in the text of chunks; a single word also counts where it stands in
//! title, headings or path, as in ranking. What the index leaves out (stop words, words of one
//! character, but not single characters of scripts without spaces) is ignored with a warning when it is
//! asked for alone.
//!
//! Plain words and asked words are ranked and embedded; excluded words and fields are not. A query
//! without any ranked word lists what passes.

/// What opens and closes a phrase.
const QUOTES: [char; 5] = ['"', '\u{201c}', '\u{201d}', '\u{201e}', '\u{201f}'];

/// Signs that count; those after them are plain words. Each costs a pass over bitmaps or documents.
const OPERATORS_LIMIT: usize = 64;

/// A query taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ParsedQuery {
    /// What is ranked and embedded: plain words and asked words, in the order of the query; the query
    /// itself when it has no signs.
    pub(crate) plain: String,
    /// Words that must stand in a row: `"a b"`, `+a`.
    pub(crate) required: Vec<Operand>,
    /// Words that must not stand in a row: `-a`, `-"a b"`.
    pub(crate) excluded: Vec<Operand>,
    /// What documents must have, or not.
    pub(crate) fields: Vec<FieldTerm>,
}

/// The text that an operator applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operand {
    /// As given, without quotes.
    pub(crate) text: String,
    /// Whether they stand in quotes: they must match as written.
    pub(crate) is_quoted: bool,
}

/// A field that a query can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    /// Words of the title in a row.
    Title,
    /// A part of the path, or a glob over it.
    Path,
    /// A tag.
    Tag,
}

impl Field {
    /// All fields.
    pub(crate) const ALL: [Field; 3] = [Field::Title, Field::Path, Field::Tag];

    /// The word before the colon.
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
    /// Where.
    pub(crate) field: Field,
    /// What.
    pub(crate) operand: Operand,
    /// Whether documents that have it are the ones that do not pass.
    pub(crate) excluded: bool,
}

impl ParsedQuery {
    /// All of a query as plain words.
    pub(crate) fn plain(query: &str) -> ParsedQuery {
        ParsedQuery {
            plain: query.to_owned(),
            ..ParsedQuery::default()
        }
    }

    fn operators(&self) -> usize {
        self.required.len() + self.excluded.len() + self.fields.len()
    }

    /// Whether the query has no signs: every chunk may answer.
    pub(crate) fn is_plain(&self) -> bool {
        self.operators() == 0
    }

    /// Whether the query only says which documents pass: there is nothing to rank by, and the answer
    /// is the list of these documents in the order of their paths, each with score 0.
    pub(crate) fn is_browse(&self) -> bool {
        !self.is_plain() && !self.plain.contains(char::is_alphanumeric)
    }
}

/// Takes a query apart. Every text is a query; the time is linear in its length.
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
            parsed.ask(words, true, excluded);
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
            let asked = sign.is_some()
                && begins.is_some_and(|first| first.is_alphabetic() || first == '_')
                && has_words(word);
            if asked {
                parsed.ask(word, false, excluded);
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
    fn ask(&mut self, words: &str, is_quoted: bool, excluded: bool) {
        if !excluded {
            self.add_plain(words);
        }
        let list = match excluded {
            true => &mut self.excluded,
            false => &mut self.required,
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

/// What stands in quotes at the start of a text, and what follows; `None` when no words are quoted
/// there.
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

/// The field at the start of a text with its words, and what follows.
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

/// A text up to its first white space, and the rest.
fn split_word(text: &str) -> (&str, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn has_words(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        fn every_text_is_a_query_and_loses_no_word_that_is_not_refused(
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
