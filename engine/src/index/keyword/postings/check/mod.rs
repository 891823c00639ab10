//! Checks a keyword index for contradictions, for `kb verify --deep`.

use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

use super::block::PART_BLOCKS;
use super::encoding::MAX_NUMBER;
use super::list::{Postings, PostingsKind};
use super::reader::Reader;
use crate::index::keyword::analysis::symbol_terms::{DefinitionSum, SymbolTerm};
use crate::index::keyword::bm25::impact;

/// Relative tolerance for a stored impact above the true one.
// Implementations of the format may round f32 operations in another order, which changes some 2^-24
// each. Score bounds have a margin of the same size (see `most_units`), so no hit is lost.
const ROUNDING: f32 = 1e-6;

/// Reads the whole keyword index of a segment and compares all redundant facts.
///
/// Terms ascend and are text; every list decodes, its rows ascend and are rows of the segment; no
/// block claims a higher impact than its postings have, which would make a search lose hits; the
/// frequencies of words of each row add up to its length or, with those of forms of words, to more;
/// lengths and terms add up to those of the record. Returns the sum of all definitions in rows that
/// are not `deleted`.
///
/// Reads every byte once. Takes 12 bytes of memory a row.
///
/// # Errors
/// [`Error::Damaged`] naming the first contradiction.
pub(crate) fn check(reader: &Reader<'_>, deleted: Option<&RoaringBitmap>) -> Result<DefinitionSum> {
    let lengths = reader.fieldnorms().all()?;
    let total: u64 = lengths.iter().map(|length| u64::from(*length)).sum();
    if total != reader.total_length() {
        return Err(Error::damaged(format!(
            "the chunk lengths add up to {total}, the record says {}",
            reader.total_length()
        )));
    }
    let mut rows = RowSums {
        mean_length: reader.written_mean_length(),
        // 8 bytes a row here and 4 for the length: the 12 bytes of the documentation.
        sums: vec![0; lengths.len()],
        lengths,
        cut: RoaringBitmap::new(),
    };
    let mut definitions = DefinitionSum::default();
    let mut terms = reader.terms();
    while let Some(info) = terms.advance()? {
        let name = |error: Error| match error {
            Error::Damaged { what } => Error::damaged(format!(
                "{what} (term {:?})",
                String::from_utf8_lossy(terms.term())
            )),
            other => other,
        };
        if std::str::from_utf8(terms.term()).is_err() {
            return Err(name(Error::damaged("a term is not text")));
        }
        let list = reader.open(info).map_err(name)?;
        let symbol = SymbolTerm::read(terms.term());
        rows.add_list(reader, &list, symbol.is_some())
            .map_err(name)?;
        if symbol.is_some() {
            reader.cursor(&list)?.for_each_block(|rows, _, _| {
                let live = rows
                    .iter()
                    .filter(|row| deleted.is_none_or(|it| !it.contains(**row)));
                live.for_each(|row| definitions.add(terms.term(), *row));
                Ok(())
            })?;
        }
    }
    rows.compare()?;
    Ok(definitions)
}

/// Most terms of one word: as it is written, without marks, with `ae` for an umlaut, and a stem. Only the first counts in
/// the length of a row. One term of the row says that it has stems.
const FORMS: u64 = 4;

/// Lengths and frequency sums of the rows of the segment.
struct RowSums {
    /// The mean length that impacts were computed with.
    mean_length: f32,
    /// Length of each row in terms.
    lengths: Vec<u32>,
    /// Sum of the frequencies of each row.
    sums: Vec<u64>,
    /// Rows with a frequency at the limit, whose true frequency may be higher.
    cut: RoaringBitmap,
}

impl RowSums {
    /// Adds the frequencies of a list; those of a symbol term are 1 and count in no length.
    fn add_list(
        &mut self,
        reader: &Reader<'_>,
        list: &Postings<'_>,
        is_symbol: bool,
    ) -> Result<()> {
        let directory = match list.kind {
            PostingsKind::Blocks { directory, .. } => directory,
            PostingsKind::Single { .. } | PostingsKind::Short(_) => &[],
        };
        let (mut blocks, mut last_row) = (0, 0);
        let part_ends_at = |part: usize, last_row: u32| match directory.get(part) {
            Some([a, b, c, d, ..]) if u32::from_le_bytes([*a, *b, *c, *d]) != last_row => Err(
                Error::damaged("a part of postings ends with another row than its entry"),
            ),
            _ => Ok(()),
        };
        reader
            .cursor(list)?
            .for_each_block(|rows, frequencies, claimed| {
                if blocks > 0 && blocks % PART_BLOCKS == 0 {
                    part_ends_at(blocks / PART_BLOCKS - 1, last_row)?;
                }
                let mut least = f32::INFINITY;
                for (row, frequency) in std::iter::zip(rows, frequencies) {
                    let length = self.lengths.get(*row as usize);
                    let length = length.ok_or_else(|| Error::damaged("a posting has no row"))?;
                    least = least.min(impact(*frequency, *length, self.mean_length));
                    if is_symbol && *frequency != 1 {
                        return Err(Error::damaged("a symbol term has a frequency"));
                    }
                    if let Some(sum) = self.sums.get_mut(*row as usize)
                        && !is_symbol
                    {
                        *sum += u64::from(*frequency);
                    }
                    if *frequency == MAX_NUMBER {
                        self.cut.insert(*row);
                    }
                    last_row = *row;
                }
                // A NaN fails as well.
                let holds = |claimed: f32| claimed <= least * (1.0 + ROUNDING);
                if !claimed.is_none_or(holds) {
                    return Err(Error::damaged(
                        "a block claims a higher impact than its postings have",
                    ));
                }
                blocks += 1;
                Ok(())
            })?;
        part_ends_at(blocks.div_ceil(PART_BLOCKS).saturating_sub(1), last_row)
    }

    fn compare(&self) -> Result<()> {
        for (row, (sum, length)) in (0..).zip(self.sums.iter().zip(&self.lengths)) {
            let length = u64::from(*length);
            // A form of a word without its marks has a frequency and no length. Frequencies stop at
            // 2^24 and lengths at 2^32 - 1.
            let sum = (*sum).min(u64::from(u32::MAX));
            let most = length * FORMS + 1;
            if sum > most || (sum < length && !self.cut.contains(row)) {
                return Err(Error::damaged(format!(
                    "the frequencies of row {row} add up to {sum}, its length is {length}"
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
