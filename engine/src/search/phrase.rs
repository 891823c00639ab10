//! Words in a row -> the rows that have them.
//!
//! Positions are not stored. The postings name the rows that have all terms of a phrase, and the
//! pairs of neighbouring rows that have them together; then the text of these rows is read. A row has
//! a phrase when the phrase stands in its text, or begins in the row before and ends in this one, or
//! begins in this one and ends in the row after, if both are of the same document. No phrase goes
//! through more than two rows. What a phrase is to a text is said in [`crate::index::text::Phrase`].
//!
//! Reading a row costs about 30 microseconds, so a question reads at most [`MOST_ROWS`] rows for all
//! its phrases: if more could have one, those with the best keyword score.

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use crate::catalog::BoundSegment;
use crate::error::Result;
use crate::index::text::{Matcher, Phrase, PhraseTerm, Query, Reader};

/// Most rows whose text one question reads for its phrases.
pub const MOST_ROWS: u64 = 20_000;

/// What finds the rows of phrases for one question.
#[derive(Debug)]
pub struct PhraseFinder<'f> {
    /// The segments.
    bound: &'f [BoundSegment<'f>],
    /// The words of the question: says which rows to read when there are too many.
    ranking: &'f Query<'f>,
    /// Rows that may still be read.
    rows_left: u64,
}

/// The rows of a phrase.
#[derive(Debug)]
pub struct Found {
    /// One bitmap a segment.
    pub rows: Vec<RoaringBitmap>,
    /// Rows that could have it.
    pub candidates: u64,
    /// How many of them were read; the others are not in `rows`.
    pub read: u64,
}

/// The rows of one segment whose text must be read.
#[derive(Debug, Default)]
struct Candidates {
    /// Rows that may have the phrase.
    inside: RoaringBitmap,
    /// Rows that may have its end, with its beginning in the row before.
    heads: RoaringBitmap,
}

impl Candidates {
    fn all(&self) -> RoaringBitmap {
        &self.inside | &self.heads
    }

    fn keep(&mut self, rows: &RoaringBitmap) {
        self.inside &= rows;
        self.heads &= rows;
    }
}

impl<'f> PhraseFinder<'f> {
    /// For one question.
    pub fn new(bound: &'f [BoundSegment<'f>], ranking: &'f Query<'f>) -> PhraseFinder<'f> {
        PhraseFinder {
            bound,
            ranking,
            rows_left: MOST_ROWS,
        }
    }

    /// The rows among `within`, one bitmap a segment and live rows only, that have the phrase.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`] for what the file gets wrong.
    pub fn rows(&mut self, phrase: &Phrase, within: &[RoaringBitmap]) -> Result<Found> {
        let mut candidates = Vec::with_capacity(self.bound.len());
        for (segment, within) in self.bound.iter().zip(within) {
            candidates.push(candidates_of(phrase, segment.words()?, within)?);
        }
        let all: u64 = candidates.iter().map(|of| of.all().len()).sum();
        let read = all.min(self.rows_left);
        if all > read {
            self.keep_best(&mut candidates, read)?;
        }
        self.rows_left -= read;
        let mut matcher = Matcher::new(phrase);
        let mut rows = Vec::with_capacity(self.bound.len());
        for ((segment, candidates), within) in self.bound.iter().zip(&candidates).zip(within) {
            rows.push(checked(&mut matcher, segment, candidates)? & within);
        }
        Ok(Found {
            rows,
            candidates: all,
            read,
        })
    }

    /// Keeps the `most` candidates with the best keyword score, equal ones in the order of rows.
    fn keep_best(&self, candidates: &mut [Candidates], most: u64) -> Result<()> {
        let wanted = usize::try_from(most).unwrap_or(usize::MAX);
        let mut ranked: Vec<(f32, usize, u32)> = Vec::new();
        if wanted > 0 {
            for (position, of) in candidates.iter().enumerate() {
                let top = self.ranking.top_k(position, wanted, Some(&of.all()), 0.0)?;
                ranked.extend(top.iter().map(|row| (row.score, position, row.row)));
            }
        }
        ranked.sort_by(|a, b| {
            b.0.total_cmp(&a.0)
                .then_with(|| (a.1, a.2).cmp(&(b.1, b.2)))
        });
        ranked.truncate(wanted);
        let mut left = wanted - ranked.len();
        for (position, of) in candidates.iter_mut().enumerate() {
            let ranked = ranked.iter().filter(|(_, at, _)| *at == position);
            let mut kept: RoaringBitmap = ranked.map(|(_, _, row)| *row).collect();
            // Rows without any ranked word fill what is left.
            let rest = of.all() - &kept;
            let more: RoaringBitmap = rest.iter().take(left).collect();
            left -= usize::try_from(more.len()).unwrap_or(left);
            kept |= more;
            of.keep(&kept);
        }
        Ok(())
    }
}

/// The rows of one segment whose text must be read to find the phrase in the rows `within`.
fn candidates_of(
    phrase: &Phrase,
    reader: Reader<'_>,
    within: &RoaringBitmap,
) -> Result<Candidates> {
    if within.is_empty() || phrase.is_empty() {
        return Ok(Candidates::default());
    }
    // A row has a phrase also when the row after it has the end.
    let mut read = within | shifted(within);
    read.remove_range(reader.rows()..);
    let terms = phrase.terms();
    let mut rows: FxHashMap<&str, RoaringBitmap> = FxHashMap::default();
    for PhraseTerm { term, .. } in &terms {
        if !rows.contains_key(term.as_str()) {
            rows.insert(term, reader.rows_with(term)?);
        }
    }
    let mut heads = RoaringBitmap::new();
    let mut last_split = None;
    for split in 1..phrase.len() {
        let before = terms.iter().filter(|term| term.last < split);
        let after = terms.iter().filter(|term| term.first >= split);
        // Words without a term move the border but ask nothing of the rows.
        let shape = (before.clone().count(), after.clone().count());
        if last_split.replace(shape) == Some(shape) {
            continue;
        }
        let begins = with_all(before, &rows);
        let ends = with_all(after, &rows);
        heads |= match (begins, ends) {
            (Some(begins), Some(ends)) => shifted(&begins) & ends,
            (Some(begins), None) => shifted(&begins),
            (None, Some(ends)) => ends,
            (None, None) => read.clone(),
        };
    }
    heads &= &read;
    if let Some(with_all) = with_all(terms.iter(), &rows) {
        read = with_all;
    }
    Ok(Candidates {
        inside: read & within,
        heads,
    })
}

/// The rows that have all terms; `None` when there are no terms.
fn with_all<'t>(
    terms: impl Iterator<Item = &'t PhraseTerm>,
    rows: &FxHashMap<&str, RoaringBitmap>,
) -> Option<RoaringBitmap> {
    let mut all: Option<RoaringBitmap> = None;
    for term in terms {
        let with = rows.get(term.term.as_str())?;
        match &mut all {
            Some(all) => *all &= with,
            None => all = Some(with.clone()),
        }
    }
    all
}

/// The rows after those given. A row beyond the segment is no row of any other set.
fn shifted(rows: &RoaringBitmap) -> RoaringBitmap {
    let after = rows.iter().filter_map(|row| row.checked_add(1));
    RoaringBitmap::from_sorted_iter(after).unwrap_or_default()
}

/// Reads the text of the candidates of one segment; the rows that have the phrase.
fn checked(
    matcher: &mut Matcher,
    segment: &BoundSegment<'_>,
    candidates: &Candidates,
) -> Result<RoaringBitmap> {
    let mut found = RoaringBitmap::new();
    let all = candidates.all();
    if all.is_empty() {
        return Ok(found);
    }
    let chunks = segment.chunks();
    let mut blocks = segment.blocks()?;
    let (mut text, mut before) = (String::new(), String::new());
    for row in &all {
        text.clear();
        blocks.append(row, 1, &mut text)?;
        if candidates.inside.contains(row) && matcher.stands_in(&text) {
            found.insert(row);
        }
        let Some(row_before) = row.checked_sub(1) else {
            continue;
        };
        if candidates.heads.contains(row)
            && chunks.document(row_before)? == chunks.document(row)?
            && matcher.may_end_in(&text)
        {
            before.clear();
            blocks.append(row_before, 1, &mut before)?;
            if matcher.crosses(&before, &text) {
                found.insert(row_before);
                found.insert(row);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::container::Container;
    use crate::index::text::{Analyser, QuerySegment};
    use crate::kb::KbWriter;
    use crate::search::filter::live_rows;
    use proptest::prelude::*;

    /// Words that meet often in a row, with stop words, identifiers and characters.
    const WORDS: [&str; 12] = [
        "the",
        "value",
        "of",
        "readFile",
        "read",
        "file",
        "a",
        "Values",
        "\u{4e2d}\u{6587}",
        "\u{6587}",
        "to_be",
        "be",
    ];

    /// A text of several chunks from a seed.
    fn text(seed: u64, words: usize) -> String {
        let mut state = seed | 1;
        let mut text = String::new();
        for n in 0..words {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(WORDS[(state >> 33) as usize % WORDS.len()]);
            text.push_str(if n % 9 == 8 { ".\n" } else { " " });
        }
        text
    }

    /// Rows that the finder names, and those that reading every pair of rows names.
    fn both(documents: &[(u64, usize)], phrase: &str, most: u64) -> (Found, Vec<RoaringBitmap>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("phrase.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap().without_merges();
        for (n, (seed, words)) in documents.iter().enumerate() {
            writer
                .add_bytes(&format!("{n}.txt"), text(*seed, *words).as_bytes())
                .unwrap();
            if n % 2 == 1 {
                writer.commit().unwrap();
            }
        }
        writer.commit().unwrap();
        writer.remove("0.txt").unwrap();
        writer.commit().unwrap();
        let phrase_of = Phrase::new(phrase);
        Container::open(&path)
            .unwrap()
            .read(|snapshot| {
                let catalog = Catalog::load(snapshot)?;
                let bound: Vec<_> = catalog
                    .segments
                    .iter()
                    .map(|of| of.bind(snapshot).unwrap())
                    .collect();
                let segments: Vec<_> = bound
                    .iter()
                    .map(|of| QuerySegment {
                        reader: of.words().unwrap(),
                        deleted: of.segment.deleted_rows(),
                    })
                    .collect();
                let query =
                    Query::new(&mut Analyser::new(), phrase, &segments, catalog.statistics)?;
                let live = live_rows(&catalog);
                let mut finder = PhraseFinder::new(&bound, &query);
                finder.rows_left = most;
                let found = finder.rows(&phrase_of, &live)?;
                let mut expected = Vec::new();
                for (segment, live) in bound.iter().zip(&live) {
                    let mut matcher = Matcher::new(&phrase_of);
                    let mut blocks = segment.blocks()?;
                    let mut rows = RoaringBitmap::new();
                    for row in live {
                        let text = blocks.chunk(row)?;
                        if matcher.stands_in(&text) {
                            rows.insert(row);
                        }
                        let chunks = segment.chunks();
                        if row > 0 && chunks.document(row - 1)? == chunks.document(row)? {
                            let before = blocks.chunk(row - 1)?;
                            if matcher.crosses(&before, &text) {
                                rows.extend([row - 1, row]);
                            }
                        }
                    }
                    expected.push(rows);
                }
                Ok((found, expected))
            })
            .unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn the_rows_of_a_phrase_are_those_that_reading_everything_finds(
            documents in prop::collection::vec((any::<u64>(), 1usize..900), 1..6),
            phrase in prop::collection::vec(0..WORDS.len(), 2..5),
        ) {
            let phrase: Vec<&str> = phrase.into_iter().map(|word| WORDS[word]).collect();
            let (found, expected) = both(&documents, &phrase.join(" "), MOST_ROWS);
            prop_assert_eq!(found.rows, expected);
            prop_assert_eq!(found.read, found.candidates);
        }
    }

    #[test]
    fn with_too_many_candidates_the_best_are_read() {
        let documents = [(7, 10), (1, 800), (2, 800), (3, 800)];
        let (all, expected) = both(&documents, "value of", MOST_ROWS);
        assert!(all.candidates > 3 && all.rows == expected);
        let most = all.candidates - 1;
        let (some, _) = both(&documents, "value of", most);
        assert_eq!((some.read, some.candidates), (most, all.candidates));
        for (some, all) in some.rows.iter().zip(&all.rows) {
            assert!(some.is_subset(all));
        }
        assert!(some.rows.iter().any(|rows| !rows.is_empty()));
    }
}
