//! Decides which rows may match in two phases, like Lucene's `TwoPhaseIterator`: an approximation by
//! bitmaps of filters and postings, then verification of phrases in the text of the rows that a result
//! needs. No hit has a row that was not verified.

use kb_types::error::Result;
use roaring::RoaringBitmap;

use crate::index::keyword::{Analyser, Form, Query};
use crate::resolve::abbreviate;
use crate::search::filter::rows::{self, Rows};
use crate::search::query::parsed::ParsedQuery;
use crate::search::query::phrase::{PhraseOperator, PhraseRows, RowText};
use crate::search::sources::{ChunkAddress, Sources};

/// Most bytes of text that one request decodes to verify phrases.
// About a second of decoding. A scattered row costs a block of up to 16 KB, rows in sequence what
// they hold: 500,000 chunks of 1 KB, or 30,000 that are far apart.
const READ_LIMIT_BYTES: u64 = 512 << 20;

/// The limit divided by this is the share for choosing the form of each phrase. The rest is for hits.
// A phrase of frequent words would otherwise use up the limit before a hit is verified.
const CHOICE_SHARE: u64 = 2;

/// Rows of the first batch, which shows whether a phrase has an exact match.
// A match in the first batch decides with little reading.
const FIRST_BATCH: usize = 16;

/// Growth of batches: few rows are read in vain, and large batches are read in sequence.
pub(crate) const BATCH_GROWTH: usize = 4;

/// The rows that may match one request.
#[derive(Debug)]
pub(crate) struct TwoPhaseFilter<'f> {
    /// The segments that rows are of.
    sources: &'f Sources<'f>,
    /// Rows that pass the bitmaps and that no phrase has excluded yet; `None`: all rows.
    rows: Rows,
    /// Those of them that a phrase may still exclude.
    unverified: Vec<RoaringBitmap>,
    /// The phrases to verify.
    phrases: Vec<PhraseRows>,
    /// Reads the text of rows.
    text: RowText<'f>,
    /// Most bytes of text that may be decoded.
    limit_bytes: u64,
}

impl<'f> TwoPhaseFilter<'f> {
    /// The rows of `rows` for which all phrases hold. A required phrase without an exact match among
    /// them is matched by its terms instead, with a warning; one without any match is not applied, which
    /// `parsed` notes, but for a strict one, which no row passes.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub(crate) fn new(
        sources: &'f Sources<'f>,
        rows: Rows,
        phrases: Vec<PhraseOperator>,
        parsed: &mut ParsedQuery,
        analyser: &mut Analyser,
        warnings: &mut Vec<String>,
    ) -> Result<TwoPhaseFilter<'f>> {
        let limit = READ_LIMIT_BYTES;
        TwoPhaseFilter::with_limit(sources, rows, phrases, parsed, analyser, warnings, limit)
    }

    fn with_limit(
        sources: &'f Sources<'f>,
        rows: Rows,
        phrases: Vec<PhraseOperator>,
        parsed: &mut ParsedQuery,
        analyser: &mut Analyser,
        warnings: &mut Vec<String>,
        limit_bytes: u64,
    ) -> Result<TwoPhaseFilter<'f>> {
        let mut filter = TwoPhaseFilter {
            sources,
            rows,
            unverified: Vec::new(),
            phrases: Vec::new(),
            text: RowText::new(sources),
            limit_bytes,
        };
        if phrases.is_empty() {
            return Ok(filter);
        }
        let had_rows = filter.rows.is_some();
        let mut rows = filter
            .rows
            .take()
            .unwrap_or_else(|| rows::live_rows_of(sources));
        let has_rows = rows.iter().any(|rows| !rows.is_empty());
        for operator in phrases {
            let mut phrase = PhraseRows::new(operator, sources, &rows)?;
            let operator = &phrase.operator;
            let (number, is_strict) = (operator.number, operator.is_strict);
            let occurs = operator.is_excluded
                || choose_form(
                    &mut phrase,
                    sources,
                    &rows,
                    &mut filter.text,
                    limit_bytes / CHOICE_SHARE,
                    analyser,
                    warnings,
                )?;
            if !occurs && is_strict && has_rows {
                let raw = abbreviate(parsed.raw(number));
                warnings.push(format!("nothing that is searched has {raw}"));
            }
            if occurs || is_strict {
                filter.phrases.push(phrase);
            } else if has_rows {
                parsed.leaves_nothing(number);
            } else {
                parsed.take_as_text(number);
            }
        }
        if filter.phrases.is_empty() {
            filter.rows = had_rows.then_some(rows);
            return Ok(filter);
        }
        filter.unverified = rows.iter().map(|_| RoaringBitmap::new()).collect();
        for phrase in &filter.phrases {
            let segments = rows.iter_mut().zip(&mut filter.unverified).enumerate();
            for (position, (rows, unverified)) in segments {
                let may_have = phrase.may_have(position);
                if !phrase.operator.is_excluded {
                    *rows &= &may_have;
                }
                *unverified |= may_have;
            }
        }
        for (unverified, rows) in filter.unverified.iter_mut().zip(&rows) {
            *unverified &= rows;
        }
        filter.rows = Some(rows);
        Ok(filter)
    }

    /// The rows of the segment at `position` that may match; `None`: all.
    pub(crate) fn rows(&self, position: usize) -> Option<&RoaringBitmap> {
        self.rows.as_ref().and_then(|rows| rows.get(position))
    }

    /// The rows of several segments that may match; `None`: all.
    pub(crate) fn rows_of(&self, positions: std::ops::Range<usize>) -> Option<&[RoaringBitmap]> {
        self.rows.as_ref().and_then(|rows| rows.get(positions))
    }

    /// How many rows may match, unverified ones included.
    pub(crate) fn count(&self) -> u64 {
        match &self.rows {
            Some(rows) => rows.iter().map(RoaringBitmap::len).sum(),
            None => self.sources.statistics().chunks,
        }
    }

    /// Whether every row matches.
    pub(crate) fn is_none(&self) -> bool {
        self.rows.is_none()
    }

    /// Whether there are phrases to verify.
    pub(crate) fn has_phrases(&self) -> bool {
        !self.phrases.is_empty()
    }

    /// Whether a row matches for certain.
    pub(crate) fn is_verified(&self, address: ChunkAddress) -> bool {
        let is_in =
            |rows: Option<&RoaringBitmap>| rows.is_some_and(|rows| rows.contains(address.row));
        self.rows(address.segment)
            .is_none_or(|rows| rows.contains(address.row))
            && !is_in(self.unverified.get(address.segment))
    }

    /// Reads the text of those rows that are not verified, up to the limit, and drops those for which a
    /// phrase does not hold.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub(crate) fn verify(&mut self, rows: impl IntoIterator<Item = ChunkAddress>) -> Result<()> {
        if self.phrases.is_empty() {
            return Ok(());
        }
        let is_unverified = |address: &ChunkAddress| {
            let rows = self.unverified.get(address.segment);
            rows.is_some_and(|rows| rows.contains(address.row))
        };
        let mut rows: Vec<ChunkAddress> = rows.into_iter().filter(is_unverified).collect();
        // In this order each block is decoded once.
        rows.sort_unstable();
        rows.dedup();
        for address in rows {
            if self.is_spent() {
                return Ok(());
            }
            self.sources.tick()?;
            let mut passes = true;
            for phrase in &mut self.phrases {
                passes = phrase.has(address, &mut self.text)? != phrase.operator.is_excluded;
                if !passes {
                    break;
                }
            }
            if let Some(unverified) = self.unverified.get_mut(address.segment) {
                unverified.remove(address.row);
            }
            if let (false, Some(rows)) = (passes, &mut self.rows)
                && let Some(rows) = rows.get_mut(address.segment)
            {
                rows.remove(address.row);
            }
        }
        Ok(())
    }

    /// Whether the limit of text is reached. Rows that are not verified by then are left out.
    pub(crate) fn is_spent(&self) -> bool {
        self.text.decoded_bytes() > self.limit_bytes
    }

    /// A warning when rows are left out because the limit was reached.
    pub(crate) fn unread_warning(&self) -> Option<String> {
        let unread: u64 = self.unverified.iter().map(RoaringBitmap::len).sum();
        (self.is_spent() && unread > 0).then(|| {
            let phrases: Vec<String> = self
                .phrases
                .iter()
                .map(|phrase| format!("{:?}", abbreviate(&phrase.operator.text)))
                .collect();
            format!(
                "{unread} chunks were not searched for {}: one request reads at most {} MB of text; a filter \
                 narrows the search",
                phrases.join(", "),
                self.limit_bytes >> 20
            )
        })
    }
}

/// Looks for an exact match among the rows `within`, best-ranked rows first. When there is none the phrase
/// is matched by its terms. Returns whether it may match a row.
fn choose_form(
    phrase: &mut PhraseRows,
    sources: &Sources<'_>,
    within: &[RoaringBitmap],
    text: &mut RowText<'_>,
    limit_bytes: u64,
    analyser: &mut Analyser,
    warnings: &mut Vec<String>,
) -> Result<bool> {
    let mut unread: Vec<RoaringBitmap> = within
        .iter()
        .enumerate()
        .map(|(position, rows)| phrase.may_have(position) & rows)
        .collect();
    let candidates: u64 = unread.iter().map(RoaringBitmap::len).sum();
    let segments = sources.keyword_segments()?;
    let words = &phrase.operator.text;
    let ranking = Query::new(analyser, words, &segments, sources.statistics())?;
    let (mut batch, mut read) = (FIRST_BATCH, 0u64);
    while read < candidates && text.decoded_bytes() <= limit_bytes {
        let mut rows = likeliest(&ranking, &unread, batch)?;
        rows.sort_unstable();
        for address in rows {
            sources.tick()?;
            phrase.has(address, text)?;
            read += 1;
            if phrase.was_found(Form::Written) {
                return Ok(true);
            }
            if let Some(unread) = unread.get_mut(address.segment) {
                unread.remove(address.row);
            }
            if text.decoded_bytes() > limit_bytes {
                break;
            }
        }
        batch = batch.saturating_mul(BATCH_GROWTH);
    }
    let may_match = read < candidates || phrase.was_found(Form::Stemmed);
    if may_match {
        phrase.form = Form::Stemmed;
        let extent = if read < candidates {
            format!(" in the {read} of {candidates} chunks that were read")
        } else {
            String::new()
        };
        warnings.push(format!(
            "no exact match for {:?}{extent}; other forms of its words, and identifiers that contain them \
             in sequence, match too",
            abbreviate(&phrase.operator.text)
        ));
    }
    Ok(may_match)
}

/// The `most` rows with the best score; the first ones when no row has a score.
fn likeliest(
    ranking: &Query<'_>,
    rows: &[RoaringBitmap],
    most: usize,
) -> Result<Vec<ChunkAddress>> {
    let mut ranked: Vec<(f32, ChunkAddress)> = Vec::new();
    for (segment, rows) in rows.iter().enumerate() {
        if rows.is_empty() {
            continue;
        }
        let top = ranking.top_k(segment, most, Some(rows), 0.0)?;
        let address = |row| ChunkAddress { segment, row };
        ranked.extend(top.into_iter().map(|hit| (hit.score, address(hit.row))));
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    ranked.truncate(most);
    let mut found: Vec<ChunkAddress> = ranked.into_iter().map(|(_, address)| address).collect();
    if found.is_empty() {
        let all = rows.iter().enumerate();
        let all = all
            .flat_map(|(segment, rows)| rows.iter().map(move |row| ChunkAddress { segment, row }));
        found.extend(all.take(most));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::keyword::Phrase;
    use crate::kb::KbWriter;
    use crate::search::sources::with_sources;

    #[test]
    fn rows_beyond_the_read_limit_are_left_out_with_a_warning() {
        const DOCUMENTS: usize = 400;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("limit.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        for number in 0..DOCUMENTS {
            let words = ["the page cache. ", "the cache page. "][number % 2];
            let text = words.repeat(60);
            let name = format!("{number:03}.txt");
            writer.add_bytes(&name, text.as_bytes()).unwrap();
        }
        writer.commit().unwrap();
        let told = with_sources(&path, |sources| {
            for is_excluded in [true, false] {
                let phrase = PhraseOperator {
                    number: 0,
                    is_strict: false,
                    text: "page cache".to_owned(),
                    phrase: Phrase::new("page cache"),
                    is_excluded,
                };
                let (mut analyser, mut warnings) = (Analyser::new(), Vec::new());
                let phrases = vec![phrase];
                let limit = 100 << 10;
                let mut filter = TwoPhaseFilter::with_limit(
                    sources,
                    None,
                    phrases,
                    &mut ParsedQuery::default(),
                    &mut analyser,
                    &mut warnings,
                    limit,
                )?;
                assert_eq!(warnings, Vec::<String>::new());
                let all = (0..DOCUMENTS as u32).map(|row| ChunkAddress { segment: 0, row });
                filter.verify(all.clone())?;
                assert!(filter.is_spent());
                assert!(filter.text.decoded_bytes() < 2 * limit);
                let shown: Vec<ChunkAddress> =
                    all.filter(|address| filter.is_verified(*address)).collect();
                assert!(!shown.is_empty() && shown.len() < DOCUMENTS / 2);
                let mut blocks = sources.segment(0)?.blocks()?;
                for address in shown {
                    let has = blocks.chunk(address.row)?.contains("page cache");
                    assert_ne!(has, is_excluded);
                }
                let warning = filter.unread_warning().unwrap();
                assert!(warning.contains("were not searched"), "{warning}");
            }
            Ok(())
        });
        told.unwrap();
    }
}
