//! Title mode: documents whose names have every word of a query.
//!
//! A token is a run of letters and digits, composed (NFC) and in lower case. Every token of the query
//! must be in the title, the slug or a tag of a document: as a word, as a prefix of a word, or inside one. The title
//! of a document that states none is its file name.

use std::cmp::Reverse;
use std::ops::Range;

use kb_types::DocumentId;
use kb_types::error::Result;
use roaring::RoaringBitmap;
use unicode_normalization::UnicodeNormalization;

use crate::catalog::DirectoryEntry;
use crate::search::filter::rows::DOCUMENTS_PER_TICK;
use crate::search::sources::Source;
use crate::store::handles;

/// Grades of a token that is a word, a prefix of one, or inside one. They are so far apart that a word
/// in the least field outweighs a prefix in the best, and so on.
const GRADES: [f32; 3] = [1.0, 0.6, 0.3];

/// Weight of a token in the title.
// How these weights were chosen is not recorded. They order fields: 0.8 of a word in a tag is above
// 0.6 of a prefix in the title.
const TITLE_WEIGHT: f32 = 1.0;
/// In the slug.
const SLUG_WEIGHT: f32 = 0.95;
/// In a tag.
const TAG_WEIGHT: f32 = 0.8;

/// Share of the score from single tokens; the rest is for titles that equal the query, or begin with
/// it.
const TOKENS_SHARE: f32 = 0.8;

/// A document that matches in title mode.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TitleHit {
    /// The document.
    pub(crate) document: DocumentId,
    /// 0..1, of this document and query alone: `0.8 * t + 0.2 * w`. `t` is the mean over the tokens
    /// of the highest weight times grade: weights title 1, slug 0.95, tag 0.8; grades
    /// word 1, prefix of a word 0.6, inside a word 0.3. `w` is 1 when the words of title or slug are
    /// the tokens, 0.5 when they begin with them, else 0.
    pub(crate) score: f32,
    /// Modification time of the original, milliseconds since 1970; 0 when unknown.
    pub(crate) modified_ms: i64,
    /// Its handle.
    pub(crate) handle: String,
    /// Position of its segment in the catalog.
    pub(crate) segment: usize,
    /// Its rows there; empty for a document without text.
    pub(crate) rows: Range<u32>,
}

/// All documents that have every token of the query, best first; equal scores newest first, then by
/// handle. `rows`, one bitmap a segment: only documents with one of these rows. A query without
/// letters and digits finds nothing. Cost grows with the number of documents.
///
/// # Errors
/// [`crate::Error::Damaged`] when the documents cannot be read.
pub(crate) fn find(
    source: &Source<'_>,
    query: &str,
    rows: Option<&[RoaringBitmap]>,
) -> Result<Vec<TitleHit>> {
    let tokens = tokenize(query);
    let mut hits = Vec::new();
    if tokens.is_empty() {
        return Ok(hits);
    }
    let directory = source.catalog.directory(source.snapshot)?;
    for (number, document) in directory.iter().enumerate() {
        if number % DOCUMENTS_PER_TICK == 0 {
            source.reporter.tick()?;
        }
        let passes = |rows: &[RoaringBitmap]| {
            let of_segment = rows.get(document.segment());
            of_segment.is_some_and(|rows| rows.range_cardinality(document.rows()) > 0)
        };
        if rows.is_none_or(passes)
            && let Some((score, slug)) = Names::new(&document).score(&tokens)
        {
            hits.push(TitleHit {
                document: document.id(),
                score,
                modified_ms: document.modified_ms(),
                handle: format!("{slug}-{}", document.suffix()),
                segment: document.segment(),
                rows: document.rows(),
            });
        }
    }
    sort(&mut hits);
    Ok(hits)
}

fn sort(hits: &mut [TitleHit]) {
    hits.sort_by(|a, b| {
        let newer = Reverse(a.modified_ms).cmp(&Reverse(b.modified_ms));
        let by_score = b.score.total_cmp(&a.score);
        by_score.then(newer).then_with(|| a.handle.cmp(&b.handle))
    });
}

/// The names of a document.
struct Names<'d> {
    title: &'d str,
    path: &'d str,
    /// Title in lower case.
    title_lower: String,
    tags: Vec<&'d str>,
}

impl<'d> Names<'d> {
    fn new(document: &DirectoryEntry<'d>) -> Names<'d> {
        Names::of(document.title(), document.path(), document.tags().collect())
    }

    fn of(title: &'d str, path: &'d str, tags: Vec<&'d str>) -> Names<'d> {
        Names {
            title,
            path,
            title_lower: lower(title),
            tags,
        }
    }

    /// Score and slug; `None` when a token is missing.
    fn score(&self, tokens: &[String]) -> Option<(f32, String)> {
        // The slug of such a title is made of its words: it has no token that the title has not.
        // Making a slug costs an allocation for each document, so most are refused before.
        let slug_is_title = self.title.is_ascii() && self.title.contains(char::is_alphanumeric);
        let missing = |token: &String| {
            !self.title_lower.contains(token) && !self.tags.iter().any(|tag| tag.contains(token))
        };
        if slug_is_title && tokens.iter().any(missing) {
            return None;
        }
        let slug = handles::slug(self.title, self.path);
        let mut sum = 0.0;
        for token in tokens {
            let tags = self.tags.iter().map(|tag| grade(tag, token) * TAG_WEIGHT);
            let best = tags
                .chain([
                    grade(&self.title_lower, token) * TITLE_WEIGHT,
                    grade(&slug, token) * SLUG_WEIGHT,
                ])
                .fold(0.0, f32::max);
            if best == 0.0 {
                return None;
            }
            sum += best;
        }
        let whole = whole(&self.title_lower, tokens).max(whole(&slug, tokens));
        let mean = sum / tokens.len() as f32;
        let score = TOKENS_SHARE * mean + (1.0 - TOKENS_SHARE) * whole;
        Some((score.clamp(0.0, 1.0), slug))
    }
}

fn lower(text: &str) -> String {
    if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        // Composed again, because lower case may decompose: U+0130 becomes `i` and a combining dot.
        text.nfc().flat_map(char::to_lowercase).nfc().collect()
    }
}

/// The tokens of a text.
fn tokenize(text: &str) -> Vec<String> {
    split(&lower(text)).map(str::to_owned).collect()
}

fn split(lower: &str) -> impl Iterator<Item = &str> {
    lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

/// The best of [`GRADES`] of a token in a lower-case field; 0 when the field does not contain it.
fn grade(field: &str, token: &str) -> f32 {
    let [word, beginning, within] = GRADES;
    if !field.contains(token) {
        return 0.0;
    }
    let mut best = within;
    for other in split(field) {
        if other == token {
            return word;
        }
        if other.starts_with(token) {
            best = beginning;
        }
    }
    best
}

/// 1 when the words of a field are the tokens, 0.5 when they begin with them, else 0.
fn whole(field: &str, tokens: &[String]) -> f32 {
    let mut words = split(field);
    let begins = tokens.iter().all(|token| words.next() == Some(token));
    match (begins, words.next()) {
        (true, None) => 1.0,
        (true, Some(_)) => 0.5,
        (false, _) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn score(title: &str, path: &str, tags: &[&str], query: &str) -> Option<f32> {
        let names = Names::of(title, path, tags.to_vec());
        names.score(&tokenize(query)).map(|(score, _)| score)
    }

    #[test]
    fn whole_words_beat_prefixes_and_prefixes_beat_infixes() {
        let of = |title, path, tags: &[&str]| score(title, path, tags, "tide").unwrap();
        let words = [
            of("Tide", "x", &[]),
            of("A tide", "x", &[]),
            of("x", "y", &["tide"]),
        ];
        let beginnings = [
            of("Tides", "x", &[]),
            of("", "tides.md", &[]),
            of("x", "y", &["tides"]),
        ];
        let parts = [
            of("Riptide", "x", &[]),
            of("", "riptide.md", &[]),
            of("x", "y", &["riptide"]),
        ];
        for list in [words, beginnings, parts] {
            assert!(list[0] > list[1] && list[1] > list[2], "{list:?}");
        }
        assert!(words[2] > beginnings[0] && beginnings[2] > parts[0]);
        assert_eq!(words[0], 1.0);
    }

    #[test]
    fn every_word_must_be_found_somewhere() {
        let found =
            |query| score("Q1 R\u{e9}sum\u{e9}", "zoo/report.pdf", &["draft"], query).is_some();
        assert!(found("q1 resume draft"));
        // S1-14
        assert!(!found("q1 report") && !found("pdf"));
        assert!(found("RE\u{301}SUME\u{301}") && found("q1-resume"));
        assert!(!found("q1 missing") && !found("zoo/report"));
    }

    #[test]
    fn equal_scores_are_newest_first_then_by_handle() {
        let hit = |score, modified_ms, handle: &str| TitleHit {
            document: DocumentId(0),
            score,
            modified_ms,
            handle: handle.to_owned(),
            segment: 0,
            rows: 0..0,
        };
        let mut hits = vec![
            hit(0.5, 9, "z"),
            hit(0.7, 1, "y"),
            hit(0.7, 5, "b"),
            hit(0.7, 5, "a"),
        ];
        sort(&mut hits);
        let handles: Vec<_> = hits.iter().map(|hit| hit.handle.as_str()).collect();
        assert_eq!(handles, ["a", "b", "y", "z"]);
    }

    proptest! {
        #[test]
        fn a_document_matches_exactly_when_it_has_every_token(
            title in "([Tt]ide|rip|[\u{e9}\u{c9}]t|8|-|_| |\u{4e2d}){0,8}",
            name in "([Tt]ide|rip|md|\\.|-){0,4}",
            tags in prop::collection::vec("(tide|rip|x){1,2}", 0..3),
            query in "(TIDE|ip|\u{e9}|et|8|md|x| |-){0,5}",
        ) {
            let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
            let path = format!("f/{name}");
            let tokens = tokenize(&query);
            prop_assume!(!tokens.is_empty());
            let slug = handles::slug(&title, &path);
            let fields = [lower(&title), slug];
            let all = tokens.iter().all(|token| {
                let mut fields = fields.iter().map(String::as_str).chain(tags.iter().copied());
                fields.any(|field| field.contains(token.as_str()))
            });
            let found = score(&title, &path, &tags, &query);
            prop_assert_eq!(found.is_some(), all);
            if let Some(found) = found {
                prop_assert!(found > 0.0 && found <= 1.0);
            }
        }
    }
}
