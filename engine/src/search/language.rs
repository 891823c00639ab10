//! The query language: words, and a few signs that say which chunks may answer.
//!
//! ```text
//! tide tables            plain words: ranked, none of them required
//! "state of the art"     these words in a row
//! +moon                  this word
//! -sun                   not this word
//! -"high water"          not these words in a row
//! title:tides            documents with this word in their title; title:"tide tables" in a row
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
//! A word after a sign that the analyser takes apart (`+std::vec`) asks for its words in a row, and a
//! quoted single word for that word. Words in a row are looked for in the text of chunks; a single
//! word also counts where it stands in title or path, as in ranking. What the index leaves out (stop
//! words, words of one character) is ignored with a warning when it is asked for alone.
//!
//! Plain words and asked words are ranked and embedded; excluded words and fields are not. A query
//! without any ranked word lists what passes.

use roaring::RoaringBitmap;

use crate::catalog::{BoundSegment, Catalog};
use crate::container::Snapshot;
use crate::error::Result;
use crate::index::text::{Analyser, Matcher, Phrase, Query, QuerySegment};
use crate::search::filter;
use crate::search::glob::PathMatcher;
use crate::search::phrase::PhraseFinder;

/// What opens and closes a phrase.
const QUOTES: [char; 5] = ['"', '\u{201c}', '\u{201d}', '\u{201e}', '\u{201f}'];

/// Signs that count; those after them are plain words. Each costs a pass over bitmaps or documents.
const SIGNS_LIMIT: usize = 64;

/// Characters of an asked word that a warning shows.
const SHOWN_CHARS: usize = 60;

/// A query taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parsed {
    /// What is ranked and embedded: plain words and asked words, in the order of the query; the query
    /// itself when it has no signs.
    pub plain: String,
    /// Words that must stand in a row, each as written: `"a b"`, `+a`.
    pub required: Vec<String>,
    /// Words that must not stand in a row: `-a`, `-"a b"`.
    pub excluded: Vec<String>,
    /// What documents must have, or not.
    pub fields: Vec<FieldTerm>,
}

/// A field that a query can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Words of the title in a row.
    Title,
    /// A part of the path, or a glob over it.
    Path,
    /// A tag.
    Tag,
}

impl Field {
    /// All fields.
    pub const ALL: [Field; 3] = [Field::Title, Field::Path, Field::Tag];

    /// The word before the colon.
    pub fn name(self) -> &'static str {
        match self {
            Field::Title => "title",
            Field::Path => "path",
            Field::Tag => "tag",
        }
    }
}

/// `title:words`, `path:part`, `tag:word`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldTerm {
    /// Where.
    pub field: Field,
    /// What, as written.
    pub words: String,
    /// Whether documents that have it are the ones that do not pass.
    pub excluded: bool,
}

impl Parsed {
    /// All of a query as plain words.
    pub fn words(query: &str) -> Parsed {
        Parsed {
            plain: query.to_owned(),
            ..Parsed::default()
        }
    }

    fn signs(&self) -> usize {
        self.required.len() + self.excluded.len() + self.fields.len()
    }

    /// Whether the query has no signs: every chunk may answer.
    pub fn is_plain(&self) -> bool {
        self.signs() == 0
    }

    /// Whether the query only says which documents pass: there is nothing to rank by, and the answer
    /// is the list of these documents in the order of their paths, each with score 0.
    pub fn is_list(&self) -> bool {
        !self.is_plain() && !self.plain.contains(char::is_alphanumeric)
    }
}

/// Takes a query apart. Every text is a query; the time is linear in its length.
pub fn parse(query: &str) -> Parsed {
    let mut parsed = Parsed::default();
    let mut rest = query.trim_start();
    // Once a quote finds no other, none after it does.
    let mut quotes_close = true;
    while !rest.is_empty() {
        if parsed.signs() >= SIGNS_LIMIT {
            parsed.add_plain(rest);
            break;
        }
        let (sign, body) = match rest.strip_prefix(['+', '-']) {
            Some(body) => (rest.chars().next(), body),
            None => (None, rest),
        };
        let excluded = sign == Some('-');
        let after = if let Some((words, after)) = quoted(body, &mut quotes_close) {
            parsed.ask(words, excluded);
            after
        } else if let Some((field, words, after)) = field(body, &mut quotes_close) {
            parsed.fields.push(FieldTerm {
                field,
                words: words.to_owned(),
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
                parsed.ask(word, excluded);
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

impl Parsed {
    fn ask(&mut self, words: &str, excluded: bool) {
        if excluded {
            self.excluded.push(words.to_owned());
        } else {
            self.add_plain(words);
            self.required.push(words.to_owned());
        }
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
fn field<'q>(text: &'q str, quotes_close: &mut bool) -> Option<(Field, &'q str, &'q str)> {
    let (field, value) = Field::ALL.into_iter().find_map(|field| {
        let value = text.strip_prefix(field.name())?.strip_prefix(':')?;
        Some((field, value))
    })?;
    if let Some((words, after)) = quoted(value, quotes_close) {
        return Some((field, words, after));
    }
    let (word, after) = split_word(value);
    let usable = has_words(word) && !word.starts_with(':') && !word.starts_with(QUOTES);
    usable.then_some((field, word, after))
}

/// A text up to its first white space, and the rest.
fn split_word(text: &str) -> (&str, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn has_words(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// The rows that may answer a query, one bitmap a segment and live rows only, among `within` if that
/// is given; `None`: all rows may.
///
/// Pushes a sentence to `warnings` for what could not be taken as asked.
///
/// # Errors
/// [`crate::Error::Damaged`] for what the file gets wrong.
pub fn rows(
    parsed: &Parsed,
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    bound: &[BoundSegment<'_>],
    analyser: &mut Analyser,
    within: Option<&[RoaringBitmap]>,
    warnings: &mut Vec<String>,
) -> Result<Option<Vec<RoaringBitmap>>> {
    if parsed.is_plain() {
        return Ok(within.map(<[RoaringBitmap]>::to_vec));
    }
    let mut rows = within.map_or_else(|| filter::live_rows(catalog), <[RoaringBitmap]>::to_vec);
    for term in &parsed.fields {
        keep_field(term, snapshot, catalog, &mut rows, warnings)?;
    }
    // Words first: they leave fewer rows to read for the phrases.
    let mut phrases = Vec::new();
    let asked = parsed.required.iter().map(|words| (words, false));
    let refused = parsed.excluded.iter().map(|words| (words, true));
    for (words, excluded) in asked.chain(refused) {
        let phrase = Phrase::new(words);
        if phrase.is_cut() {
            warnings.push(format!(
                "only the first {} words of {:?} were looked for in a row",
                phrase.len(),
                shown(words)
            ));
        }
        if let Some(term) = phrase.only_term() {
            let mut with = Vec::with_capacity(bound.len());
            for segment in bound {
                with.push(segment.words()?.rows_with(term)?);
            }
            keep(&mut rows, &with, excluded);
        } else if phrase.is_bare_word() || phrase.is_empty() {
            warnings.push(format!(
                "{:?} was ignored: the index leaves out very common words and those of one character",
                shown(words)
            ));
        } else {
            phrases.push((words, phrase, excluded));
        }
    }
    if !phrases.is_empty() {
        keep_phrases(
            parsed, &phrases, catalog, bound, analyser, &mut rows, warnings,
        )?;
    }
    Ok(Some(rows))
}

fn keep_phrases(
    parsed: &Parsed,
    phrases: &[(&String, Phrase, bool)],
    catalog: &Catalog,
    bound: &[BoundSegment<'_>],
    analyser: &mut Analyser,
    rows: &mut [RoaringBitmap],
    warnings: &mut Vec<String>,
) -> Result<()> {
    let segments = bound
        .iter()
        .map(|segment| {
            Ok(QuerySegment {
                reader: segment.words()?,
                deleted: segment.segment.deleted_rows(),
            })
        })
        .collect::<Result<Vec<_>>>()?;
    let ranking = Query::new(analyser, &parsed.plain, &segments, catalog.statistics)?;
    let mut finder = PhraseFinder::new(bound, &ranking);
    for (words, phrase, excluded) in phrases {
        let found = finder.rows(phrase, rows)?;
        if found.read < found.candidates {
            warnings.push(format!(
                "{:?} was looked for in {} of the {} chunks that may have it, those with the best words",
                shown(words),
                found.read,
                found.candidates
            ));
        }
        keep(rows, &found.rows, *excluded);
    }
    Ok(())
}

/// Keeps the rows `with` something, or those without.
fn keep(rows: &mut [RoaringBitmap], with: &[RoaringBitmap], excluded: bool) {
    for (rows, with) in rows.iter_mut().zip(with) {
        if excluded {
            *rows -= with;
        } else {
            *rows &= with;
        }
    }
}

fn keep_field(
    term: &FieldTerm,
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    rows: &mut [RoaringBitmap],
    warnings: &mut Vec<String>,
) -> Result<()> {
    let with = match term.field {
        Field::Tag => filter::rows_with_tag(snapshot, catalog, &term.words)?,
        Field::Path => {
            let path = PathMatcher::new(&term.words, warnings);
            filter::rows_of_documents(snapshot, catalog, |document| path.is_match(document.path()))?
        }
        Field::Title => {
            let mut title = Matcher::new(&Phrase::new(&term.words));
            filter::rows_of_documents(snapshot, catalog, |document| {
                title.stands_in(document.title())
            })?
        }
    };
    if with.iter().all(RoaringBitmap::is_empty) {
        let name = term.field.name();
        warnings.push(format!("no document has {name}:{:?}", shown(&term.words)));
    }
    keep(rows, &with, term.excluded);
    Ok(())
}

/// The start of some words, for a message.
fn shown(words: &str) -> String {
    let mut shown: String = words.chars().take(SHOWN_CHARS).collect();
    if shown.len() < words.len() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::Container;
    use crate::kb::KbWriter;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_sign_is_a_plain_word() {
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
    fn signs_ask_and_refuse() {
        let parsed = parse(
            "rust \"state of  the art\" +std::vec -java -\"high water\" +\"a b\" \u{201c}q r\u{201d} end",
        );
        assert_eq!(
            parsed.required,
            ["state of  the art", "std::vec", "a b", "q r"]
        );
        assert_eq!(parsed.excluded, ["java", "high water"]);
        assert_eq!(parsed.plain, "rust state of  the art std::vec a b q r end");
        assert!(!parsed.is_list());
    }

    #[test]
    fn fields_are_neither_ranked_nor_embedded() {
        let parsed = parse("-title:\"a b\" path:src/*.rs +tag:x moon");
        let fields: Vec<_> = parsed
            .fields
            .iter()
            .map(|term| (term.field.name(), term.words.as_str(), term.excluded))
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
        assert!(parse("-a tag:x").is_list() && parse("tag:x !").is_list());
    }

    #[test]
    fn long_queries_of_signs_are_taken_apart_in_one_go() {
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
            let asked: usize = parsed.excluded.iter().map(|words_of| words(words_of)).sum();
            let fields: usize = parsed
                .fields
                .iter()
                .map(|term| words(&term.words) + term.field.name().len())
                .sum();
            prop_assert_eq!(words(&parsed.plain) + asked + fields, words(&query));
        }
    }

    /// Names of the documents whose rows pass, and the warnings.
    fn passing(query: &str) -> (Vec<String>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("language.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap().without_merges();
        writer
            .add_bytes(
                "docs/tides.md",
                b"# Tide tables\n\nState of the art: readFile at noon",
            )
            .unwrap();
        writer
            .add_bytes("gone.md", b"state of the art moon")
            .unwrap();
        writer.commit().unwrap();
        writer
            .add_bytes("src/moon.rs", b"// the moon\nfn read_file() { state(art) }")
            .unwrap();
        writer.tag("docs/tides.md", &["Draft"], &[]).unwrap();
        writer.remove("gone.md").unwrap();
        writer.commit().unwrap();
        Container::open(&path)
            .unwrap()
            .read(|snapshot| {
                let catalog = Catalog::load(snapshot)?;
                let bound: Vec<_> = catalog
                    .segments
                    .iter()
                    .map(|of| of.bind(snapshot).unwrap())
                    .collect();
                let mut warnings = Vec::new();
                let parsed = parse(query);
                let rows = rows(
                    &parsed,
                    snapshot,
                    &catalog,
                    &bound,
                    &mut Analyser::new(),
                    None,
                    &mut warnings,
                )?;
                let mut paths = Vec::new();
                for (segment, rows) in bound
                    .iter()
                    .zip(rows.unwrap_or_else(|| filter::live_rows(&catalog)))
                {
                    for row in rows {
                        let document = segment.chunks().document(row)?;
                        paths.push(catalog.documents.get(snapshot, document)?.path);
                    }
                }
                paths.sort();
                Ok((paths, warnings))
            })
            .unwrap()
    }

    #[test]
    fn rows_pass_for_which_all_signs_hold() {
        let (tides, moon) = ("docs/tides.md", "src/moon.rs");
        for (query, expected) in [
            ("anything", vec![tides, moon]),
            ("\"state of the art\"", vec![tides]),
            ("\"read file\"", vec![tides, moon]),
            ("+readFile", vec![tides]),
            ("-readFile", vec![moon]),
            ("+state -\"of the\"", vec![moon]),
            ("+moon", vec![moon]),
            ("+state::art", vec![moon]),
            ("title:table", vec![tides]),
            ("-title:\"tide tables\"", vec![moon]),
            ("path:SRC/", vec![moon]),
            ("path:*.md", vec![tides]),
            ("tag:DRAFT", vec![tides]),
            ("tag:draft path:src", vec![]),
            ("+state +absent", vec![]),
        ] {
            assert_eq!(passing(query).0, expected, "{query}");
        }
    }

    #[test]
    fn what_cannot_be_asked_is_ignored_with_a_warning() {
        for query in ["+the", "-\"a\"", "tag:none"] {
            let (paths, warnings) = passing(query);
            assert_eq!(warnings.len(), 1, "{query}");
            assert_eq!(paths.len(), if query == "tag:none" { 0 } else { 2 });
        }
    }
}
