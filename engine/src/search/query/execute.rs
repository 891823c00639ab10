//! Executes the operators of a query over all files: fields and single words become bitmaps of rows,
//! phrases are left to be verified in text.

use roaring::RoaringBitmap;

use crate::error::Result;
use crate::index::keyword::{Form, Phrase, PhraseMatcher};
use crate::resolve::PathMatcher;
use crate::resolve::abbreviate;
use crate::search::filter::rows::{self, Rows};
use crate::search::query::parser::{Field, FieldTerm, Operand, ParsedQuery};
use crate::search::query::phrase::PhraseOperator;
use crate::search::sources::Sources;

/// Removes from `rows` those that fail a field or a word of the index. `None` stands for all rows, and
/// stays when there is no such operator. Returns the phrases, which need text.
///
/// Warns of operators that are ignored, shortened, or match no document.
///
/// # Errors
/// [`crate::Error::Damaged`] for what a file gets wrong.
pub(crate) fn apply(
    parsed: &ParsedQuery,
    sources: &Sources<'_>,
    rows: &mut Rows,
    warnings: &mut Vec<String>,
) -> Result<Vec<PhraseOperator>> {
    for term in &parsed.fields {
        let with = rows_with_field(term, sources, rows.as_deref(), warnings)?;
        keep(sources, rows, &with, term.excluded);
    }
    let mut phrases = Vec::new();
    let required = parsed.required.iter().map(|operand| (operand, false));
    let excluded = parsed.excluded.iter().map(|operand| (operand, true));
    for (operand, is_excluded) in required.chain(excluded) {
        let phrase = phrase_of(operand, warnings);
        if let (Some(term), false) = (phrase.only_term(), operand.is_quoted) {
            let with = sources
                .segments
                .iter()
                .map(|segment| segment.keyword_index()?.rows_with(term));
            let with: Vec<RoaringBitmap> = with.collect::<Result<_>>()?;
            keep(sources, rows, &with, is_excluded);
        } else if phrase.is_bare_word() || phrase.is_empty() {
            warnings.push(format!(
                "{:?} was ignored: the index has no very common words and no words of one character",
                abbreviate(&operand.text)
            ));
        } else {
            phrases.push(PhraseOperator {
                text: operand.text.clone(),
                phrase,
                is_excluded,
            });
        }
    }
    Ok(phrases)
}

fn phrase_of(operand: &Operand, warnings: &mut Vec<String>) -> Phrase {
    let phrase = Phrase::new(&operand.text);
    if phrase.is_cut() {
        warnings.push(format!(
            "only the first {} words of {:?} were matched as a phrase",
            phrase.len(),
            abbreviate(&operand.text)
        ));
    }
    phrase
}

/// Keeps the rows `with` something, or with `excluded` those without.
fn keep(sources: &Sources<'_>, rows: &mut Rows, with: &[RoaringBitmap], excluded: bool) {
    let rows = rows.get_or_insert_with(|| rows::live_rows_of(sources));
    for (rows, with) in rows.iter_mut().zip(with) {
        if excluded {
            *rows -= with;
        } else {
            *rows &= with;
        }
    }
}

/// The rows of all segments whose documents match a field.
fn rows_with_field(
    term: &FieldTerm,
    sources: &Sources<'_>,
    within: Option<&[RoaringBitmap]>,
    warnings: &mut Vec<String>,
) -> Result<Vec<RoaringBitmap>> {
    let words = &term.operand.text;
    let with = match term.field {
        Field::Tag => of_files(sources, |source| rows::rows_with_tag(source, words))?,
        Field::Path => {
            let path = PathMatcher::new(words, warnings);
            of_files(sources, |source| {
                rows::rows_of_documents(source, |document| path.is_match(document.path()))
            })?
        }
        Field::Title => rows_with_title(term, sources, within, warnings)?,
    };
    if with.iter().all(RoaringBitmap::is_empty) {
        let name = term.field.name();
        warnings.push(format!("no document has {name}:{:?}", abbreviate(words)));
    }
    Ok(with)
}

/// The rows of documents whose title matches: a single unquoted word by its term; anything else as
/// written, or by its terms when no title of the rows `within` matches as written.
fn rows_with_title(
    term: &FieldTerm,
    sources: &Sources<'_>,
    within: Option<&[RoaringBitmap]>,
    warnings: &mut Vec<String>,
) -> Result<Vec<RoaringBitmap>> {
    let phrase = phrase_of(&term.operand, warnings);
    let rows = |form| {
        let mut matcher = PhraseMatcher::new(&phrase, form);
        of_files(sources, |source| {
            rows::rows_of_documents(source, |document| matcher.matches(document.title()))
        })
    };
    if !term.operand.is_quoted && phrase.len() == 1 {
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
            "no title has an exact match for {:?}; other forms of its words, and identifiers that contain \
             them in sequence, match too",
            abbreviate(&term.operand.text)
        ));
    }
    Ok(stemmed)
}

/// The bitmaps that `find` gives for each file, as one list of segments.
fn of_files(
    sources: &Sources<'_>,
    mut find: impl FnMut(&crate::search::sources::Source<'_>) -> Result<Vec<RoaringBitmap>>,
) -> Result<Vec<RoaringBitmap>> {
    let mut all = Vec::with_capacity(sources.segments.len());
    for source in sources.files {
        all.extend(find(source)?);
    }
    Ok(all)
}
