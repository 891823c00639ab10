//! The operators of a query over all files: which rows pass those that bitmaps answer, and which phrases
//! are left to be looked for in texts.

use roaring::RoaringBitmap;

use crate::error::Result;
use crate::index::keyword::{Form, Phrase, PhraseMatcher};
use crate::search::files::Files;
use crate::search::filter::{self, Rows};
use crate::search::glob::PathMatcher;
use crate::search::language::{Field, FieldTerm, Parsed, Words};
use crate::search::phrase::PhraseOperator;
use crate::search::request::shown;

/// Keeps of `rows` those that pass what bitmaps answer: fields, and words that the index has. `None`
/// stands for all rows, and stays when there is no such operator. Returns the phrases.
///
/// Pushes a sentence to `warnings` for what could not be taken as asked.
///
/// # Errors
/// [`crate::Error::Damaged`] for what a file gets wrong.
pub(super) fn apply(
    parsed: &Parsed,
    files: &Files<'_>,
    rows: &mut Rows,
    warnings: &mut Vec<String>,
) -> Result<Vec<PhraseOperator>> {
    for term in &parsed.fields {
        let with = rows_with_field(term, files, rows.as_deref(), warnings)?;
        keep(files, rows, &with, term.excluded);
    }
    let mut phrases = Vec::new();
    let required = parsed.required.iter().map(|words| (words, false));
    let excluded = parsed.excluded.iter().map(|words| (words, true));
    for (words, is_excluded) in required.chain(excluded) {
        let phrase = phrase_of(words, warnings);
        if let (Some(term), false) = (phrase.only_term(), words.is_quoted) {
            let with = files
                .segments
                .iter()
                .map(|segment| segment.keyword_index()?.rows_with(term));
            let with: Vec<RoaringBitmap> = with.collect::<Result<_>>()?;
            keep(files, rows, &with, is_excluded);
        } else if phrase.is_bare_word() || phrase.is_empty() {
            warnings.push(format!(
                "{:?} was ignored: the index leaves out very common words and those of one character",
                shown(&words.text)
            ));
        } else {
            phrases.push(PhraseOperator {
                text: words.text.clone(),
                phrase,
                is_excluded,
            });
        }
    }
    Ok(phrases)
}

fn phrase_of(words: &Words, warnings: &mut Vec<String>) -> Phrase {
    let phrase = Phrase::new(&words.text);
    if phrase.is_cut() {
        warnings.push(format!(
            "only the first {} words of {:?} were looked for in a row",
            phrase.len(),
            shown(&words.text)
        ));
    }
    phrase
}

/// Keeps the rows `with` something, or those without.
fn keep(files: &Files<'_>, rows: &mut Rows, with: &[RoaringBitmap], excluded: bool) {
    let rows = rows.get_or_insert_with(|| filter::live_rows_of(files));
    for (rows, with) in rows.iter_mut().zip(with) {
        if excluded {
            *rows -= with;
        } else {
            *rows &= with;
        }
    }
}

/// The rows of all segments whose documents have what a field asks for.
fn rows_with_field(
    term: &FieldTerm,
    files: &Files<'_>,
    within: Option<&[RoaringBitmap]>,
    warnings: &mut Vec<String>,
) -> Result<Vec<RoaringBitmap>> {
    let words = &term.words.text;
    let with = match term.field {
        Field::Tag => of_files(files, |part| {
            filter::rows_with_tag(part.snapshot, part.catalog, words)
        })?,
        Field::Path => {
            let path = PathMatcher::new(words, warnings);
            of_files(files, |part| {
                filter::rows_of_documents(part.snapshot, part.catalog, |document| {
                    path.is_match(document.path())
                })
            })?
        }
        Field::Title => rows_with_title(term, files, within, warnings)?,
    };
    if with.iter().all(RoaringBitmap::is_empty) {
        let name = term.field.name();
        warnings.push(format!("no document has {name}:{:?}", shown(words)));
    }
    Ok(with)
}

/// The rows of documents with words in their title: as written where they are quoted or several, by their
/// terms where no title among `within` has them so.
fn rows_with_title(
    term: &FieldTerm,
    files: &Files<'_>,
    within: Option<&[RoaringBitmap]>,
    warnings: &mut Vec<String>,
) -> Result<Vec<RoaringBitmap>> {
    let phrase = phrase_of(&term.words, warnings);
    let rows = |form| {
        let mut matcher = PhraseMatcher::new(&phrase, form);
        of_files(files, |part| {
            filter::rows_of_documents(part.snapshot, part.catalog, |document| {
                matcher.stands_in(document.title())
            })
        })
    };
    if !term.words.is_quoted && phrase.len() == 1 {
        return rows(Form::Stemmed);
    }
    let written = rows(Form::Written)?;
    let has_any = |with: &[RoaringBitmap]| match within {
        Some(within) => with.iter().zip(within).any(|(a, b)| !a.is_disjoint(b)),
        None => with.iter().any(|rows| !rows.is_empty()),
    };
    if term.excluded || has_any(&written) {
        return Ok(written);
    }
    let stemmed = rows(Form::Stemmed)?;
    if has_any(&stemmed) {
        warnings.push(format!(
            "no title has {:?} as it is written; other forms of its words, and names that hold them in a \
             row, count as well",
            shown(&term.words.text)
        ));
    }
    Ok(stemmed)
}

/// What is found in each file, segment by segment.
fn of_files(
    files: &Files<'_>,
    mut find: impl FnMut(&crate::search::files::Parts<'_>) -> Result<Vec<RoaringBitmap>>,
) -> Result<Vec<RoaringBitmap>> {
    let mut all = Vec::with_capacity(files.segments.len());
    for part in files.parts {
        all.extend(find(part)?);
    }
    Ok(all)
}
