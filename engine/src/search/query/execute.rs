//! Executes the operators of a query over all files: fields and single words become bitmaps of rows,
//! phrases are left to be verified in text.

use kb_types::error::Result;
use roaring::RoaringBitmap;

use crate::index::keyword::{Form, Phrase, PhraseMatcher};
use crate::resolve::{self, Globs, PathOperand, abbreviate};
use crate::search::filter::rows::{self, Rows};
use crate::search::query::parsed::{Field, Operand, Operator, ParsedQuery};
use crate::search::query::phrase::PhraseOperator;
use crate::search::sources::{Source, Sources};

/// Most distinct phrases of a query that are verified in texts.
// Positions are not stored (docs/decisions/07-keyword-index.md), so each phrase may cost a pass
// over the texts with all its words.
pub(crate) const PHRASES_LIMIT: usize = 16;

/// Removes from `rows` those that fail a field or a word of the index. `None` stands for all rows, and
/// stays when there is no such operator. Returns the phrases, which need text.
///
/// An operator that would leave no row is not applied, which `parsed` notes. One that is there twice is applied
/// once. Of more than [`PHRASES_LIMIT`] phrases the others are plain text, or ignored if they exclude. Warns of
/// operators that are ignored or shortened.
///
/// # Errors
/// [`crate::Error::Damaged`] for what a file gets wrong.
pub(crate) fn apply(
    parsed: &mut ParsedQuery,
    sources: &Sources<'_>,
    rows: &mut Rows,
    warnings: &mut Vec<String>,
) -> Result<Vec<PhraseOperator>> {
    let mut operators: Vec<(usize, Operator)> = parsed
        .operators()
        .map(|(number, operator)| (number, operator.clone()))
        .collect();
    // Words match among the documents that the fields let pass.
    operators.sort_by_key(|(_, operator)| operator.field.is_none());
    let mut phrases = Vec::new();
    let mut applied: Vec<Operator> = Vec::new();
    let mut is_over_limit = false;
    for (number, operator) in operators {
        if applied.contains(&operator) {
            parsed.remove(number);
            continue;
        }
        applied.push(operator.clone());
        let (operand, excludes) = (&operator.operand, operator.excludes());
        let with = if let Some(field) = operator.field {
            rows_with_field(field, &operator, sources, rows.as_deref(), warnings)?
        } else {
            let phrase = phrase_of(operand, warnings);
            if let (Some(term), false) = (phrase.only_term(), operand.is_quoted) {
                let with = sources
                    .segments
                    .iter()
                    .map(|segment| segment.keyword_index()?.rows_with(term));
                with.collect::<Result<Vec<RoaringBitmap>>>()?
            } else if phrase.is_bare_word() || phrase.is_empty() {
                warnings.push(format!(
                    "{:?} was ignored: the index has no very common words and no words of one character",
                    abbreviate(&operand.text)
                ));
                continue;
            } else if phrases.len() >= PHRASES_LIMIT {
                is_over_limit = true;
                parsed.remove(number);
                continue;
            } else {
                phrases.push(PhraseOperator {
                    number,
                    text: operand.text.clone(),
                    phrase,
                    is_excluded: excludes,
                    is_strict: operator.is_strict(),
                });
                continue;
            }
        };
        let mut left = rows.clone().unwrap_or_else(|| rows::live_rows_of(sources));
        let had_any = left.iter().any(|rows| !rows.is_empty());
        keep(&mut left, &with, excludes);
        if had_any && left.iter().all(RoaringBitmap::is_empty) {
            parsed.leaves_nothing(number);
        } else {
            *rows = Some(left);
        }
    }
    if is_over_limit {
        warnings.push(format!(
            "only the first {PHRASES_LIMIT} phrases of the query were required or excluded"
        ));
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
fn keep(rows: &mut [RoaringBitmap], with: &[RoaringBitmap], excluded: bool) {
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
    field: Field,
    operator: &Operator,
    sources: &Sources<'_>,
    within: Option<&[RoaringBitmap]>,
    warnings: &mut Vec<String>,
) -> Result<Vec<RoaringBitmap>> {
    let words = &operator.operand.text;
    let with = match field {
        Field::Tag => of_files(sources, |source| rows::rows_with_tag(source, words))?,
        Field::Path if resolve::is_disk_path(words) => of_files(sources, |source| {
            let (snapshot, catalog) = (source.snapshot, source.catalog);
            match resolve::disk_glob(snapshot, catalog, words)? {
                Some(glob) => {
                    let globs = Globs::new(&[glob])?;
                    rows::rows_of_paths(source, &mut globs.matcher())
                }
                None => rows_of_path_operand(source, &mut PathOperand::new(words, &mut Vec::new())),
            }
        })?,
        Field::Path => {
            let mut operand = PathOperand::new(words, warnings);
            of_files(sources, |source| rows_of_path_operand(source, &mut operand))?
        }
        Field::Title => rows_with_title(operator, sources, within, warnings)?,
    };
    if operator.excludes() && with.iter().all(RoaringBitmap::is_empty) {
        let name = field.name();
        warnings.push(format!("no document has {name}:{:?}", abbreviate(words)));
    }
    Ok(with)
}

/// The rows of documents whose title matches: a single unquoted word by its term; anything else as
/// written, or by its terms when no title of the rows `within` matches as written.
fn rows_with_title(
    operator: &Operator,
    sources: &Sources<'_>,
    within: Option<&[RoaringBitmap]>,
    warnings: &mut Vec<String>,
) -> Result<Vec<RoaringBitmap>> {
    let phrase = phrase_of(&operator.operand, warnings);
    let rows = |form| {
        let mut matcher = PhraseMatcher::new(&phrase, form);
        of_files(sources, |source| {
            rows::rows_of_documents(source, |document| matcher.matches(document.title()))
        })
    };
    if !operator.operand.is_quoted && phrase.len() == 1 {
        return rows(Form::Stemmed);
    }
    let written = rows(Form::Written)?;
    let has_any = |with: &[RoaringBitmap]| match within {
        Some(within) => with.iter().zip(within).any(|(a, b)| !a.is_disjoint(b)),
        None => with.iter().any(|rows| !rows.is_empty()),
    };
    if operator.excludes() || has_any(&written) {
        return Ok(written);
    }
    let stemmed = rows(Form::Stemmed)?;
    if has_any(&stemmed) {
        warnings.push(format!(
            "no title has an exact match for {:?}; other forms of its words, and identifiers that contain \
             them in sequence, match too",
            abbreviate(&operator.operand.text)
        ));
    }
    Ok(stemmed)
}

/// The rows of the documents of a file whose paths the operand of `path:` matches.
fn rows_of_path_operand(
    source: &Source<'_>,
    operand: &mut PathOperand,
) -> Result<Vec<RoaringBitmap>> {
    match operand {
        PathOperand::Glob(globs) => rows::rows_of_paths(source, &mut globs.matcher()),
        PathOperand::Part(part) => {
            rows::rows_of_documents(source, |document| part.is_match(document.path()))
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kb::KbWriter;
    use crate::search::query::parser::parse;
    use crate::search::sources::with_sources;

    /// How many phrases of a query are looked up, what it ranks, and its warnings.
    fn applied(query: &str) -> (usize, String, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        writer
            .add_bytes("a.md", b"The moon pulls the sea.")
            .unwrap();
        writer.commit().unwrap();
        let mut parsed = parse(query);
        let (mut rows, mut warnings) = (None, Vec::new());
        let found = with_sources(&path, |sources| {
            apply(&mut parsed, sources, &mut rows, &mut warnings)
        });
        (found.unwrap().len(), parsed.ranked_text(), warnings)
    }

    #[test]
    fn an_operator_that_is_there_twice_is_applied_once() {
        let moon = "\"moon pulls\" ".repeat(60);
        let (phrases, ranked, warnings) = applied(&moon);
        assert_eq!((phrases, ranked.matches("moon").count()), (1, 60));
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(applied("path:a -\"x y\" sea path:a -\"x y\"").1, "sea");
    }

    #[test]
    fn more_phrases_than_the_limit_are_plain_text() {
        let phrases: Vec<String> = (0..40).map(|n| format!("\"moon x{n}\"")).collect();
        let (count, ranked, warnings) = applied(&phrases.join(" "));
        assert_eq!(count, PHRASES_LIMIT);
        assert!(ranked.contains("x39"), "{ranked}");
        let one = warnings
            .iter()
            .filter(|warning| warning.contains("first 16"));
        assert_eq!(one.count(), 1, "{warnings:?}");
    }
}
