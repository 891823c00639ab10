//! The dictionary of a large segment: text that every block of it may refer to.
//!
//! A block is small, so most of what repeats in it has its first place in another block. With a
//! dictionary blocks of half the size are a little smaller together than before, and a hit decodes
//! half as much. It is what zstd calls raw content: bytes as they stand in texts, no tables.
//!
//! Which bytes: those pieces of a sample whose runs of eight bytes are found most often in it, as
//! FASTCOVER of zstd's dictionary builder chooses them (after Liao, Petri, Moffat, Wirth: Effective
//! Construction of Relative Lempel-Ziv Dictionaries, WWW 2016). Only the sample decides.

use kb_types::error::{Error, Result};

use crate::container::column::ColumnView;

/// First bytes of a dictionary with entropy tables. The format has dictionaries of raw content only,
/// which do not begin so; zstd would load either.
// ZSTD_MAGIC_DICTIONARY of zstd's format. Tables are 0.5 to 2 % smaller, but a reader would have to
// load them from a hostile file (docs/decisions/05-text-blocks.md).
const TABLES_MAGIC: [u8; 4] = [0x37, 0xA4, 0x30, 0xEC];

/// Most bytes of a dictionary that is read.
// The largest item of a column is 1 MiB, and writers make 256 KB at most. A decoder copies the
// dictionary, so a hostile file cannot make it copy more.
pub(crate) const DICTIONARY_LIMIT_BYTES: usize = 1 << 20;

/// Bytes of a sample.
// With 4 MB the text is 0.5 % smaller, with 1 MB 0.5 % larger. Training takes 40 ns for each byte.
pub(crate) const SAMPLE_BYTES: usize = 2 << 20;

/// Bytes of a piece, which is chosen as a whole.
// The unit of the choice: larger pieces bring along text that does not repeat, smaller ones cut
// what does. Other values are not recorded.
const PIECE_BYTES: usize = 256;

/// Bytes of a run. Its repetitions are counted.
// One u64. FASTCOVER calls it `d` and offers 6 and 8.
const RUN_BYTES: usize = 8;

/// Binary logarithm of the number of counters.
// FASTCOVER's default for `f`. Two runs of one counter are taken for one, which makes the choice a
// little worse and never wrong. 2^20 counters of 6 bytes are the 6 MB of `train`.
const RUN_BITS: u32 = 20;

/// Chooses a dictionary of at most `limit_bytes` from a sample of the texts; a shorter one when not so
/// much of it repeats.
///
/// Cost: 40 ns a byte of the sample, and 6 MB of memory.
pub(crate) fn train(sample: &[u8], limit_bytes: usize) -> Vec<u8> {
    let mut runs = RunCounts::count(sample);
    let mut dictionary = Vec::with_capacity(limit_bytes);
    // One piece of each part of the sample, so that no place of it fills the dictionary alone.
    let window = (sample.len() / (limit_bytes / PIECE_BYTES).max(1)).max(PIECE_BYTES);
    loop {
        let before = dictionary.len();
        for window in sample.chunks(window) {
            let Some(piece) = runs.best_piece(window) else {
                continue;
            };
            if dictionary.len() + piece.len() > limit_bytes {
                return dictionary;
            }
            // What is in the dictionary already gains nothing.
            runs.clear(piece);
            dictionary.extend_from_slice(piece);
        }
        if dictionary.len() == before {
            return dictionary;
        }
    }
}

/// How often runs of bytes are found in a sample.
struct RunCounts {
    /// By hash: how often more than once.
    counts: Vec<u32>,
    /// By hash: how often within the current piece.
    inside: Vec<u16>,
}

/// The counter of the run that `bytes` are.
fn hash(bytes: &[u8]) -> usize {
    let run = bytes
        .first_chunk::<RUN_BYTES>()
        .map_or(0, |run| u64::from_le_bytes(*run));
    // Knuth's multiplicative hashing: the golden ratio of 64 bits.
    (run.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - RUN_BITS)) as usize
}

impl RunCounts {
    fn count(sample: &[u8]) -> RunCounts {
        let mut counts = vec![0u32; 1 << RUN_BITS];
        for run in sample.windows(RUN_BYTES) {
            if let Some(count) = counts.get_mut(hash(run)) {
                *count = count.saturating_add(1);
            }
        }
        // A run that is found once is of no use to another block.
        counts
            .iter_mut()
            .for_each(|count| *count = count.saturating_sub(1));
        RunCounts {
            counts,
            inside: vec![0; 1 << RUN_BITS],
        }
    }

    /// The piece of a text whose distinct runs are found most often, the first of equal ones,
    /// without what is of no use at its ends; `None` when none of its runs is found again.
    fn best_piece<'t>(&mut self, text: &'t [u8]) -> Option<&'t [u8]> {
        let (mut score, mut best) = (0u64, (0u64, 0));
        let runs_inside = PIECE_BYTES - RUN_BYTES + 1;
        for (at, run) in text.windows(RUN_BYTES).enumerate() {
            score += self.slide_in(run);
            if let Some(first) = at.checked_sub(runs_inside) {
                score -= self.slide_out(text.get(first..).unwrap_or_default());
            }
            if score > best.0 {
                best = (score, (at + 1).saturating_sub(runs_inside));
            }
        }
        // The last runs leave, so that the next text begins with none.
        let runs = (text.len() + 1).saturating_sub(RUN_BYTES);
        for first in runs.saturating_sub(runs_inside)..runs {
            self.slide_out(text.get(first..).unwrap_or_default());
        }
        let piece = text.get(best.1..text.len().min(best.1 + PIECE_BYTES))?;
        let is_useful = |run: &[u8]| self.counts.get(hash(run)).is_some_and(|count| *count > 0);
        let first = piece.windows(RUN_BYTES).position(is_useful)?;
        let last = piece.windows(RUN_BYTES).rposition(is_useful)?;
        piece.get(first..last + RUN_BYTES)
    }

    /// Adds a run to the current piece and returns what its score gains.
    fn slide_in(&mut self, run: &[u8]) -> u64 {
        let number = hash(run);
        let Some(inside) = self.inside.get_mut(number) else {
            return 0;
        };
        *inside += 1;
        match *inside {
            1 => self.counts.get(number).map_or(0, |count| u64::from(*count)),
            _ => 0,
        }
    }

    /// Removes a run from the current piece and returns what its score loses.
    fn slide_out(&mut self, run: &[u8]) -> u64 {
        let number = hash(run);
        let Some(inside) = self.inside.get_mut(number) else {
            return 0;
        };
        *inside -= 1;
        match *inside {
            0 => self.counts.get(number).map_or(0, |count| u64::from(*count)),
            _ => 0,
        }
    }

    /// Runs that the dictionary contains no longer count.
    fn clear(&mut self, piece: &[u8]) {
        for run in piece.windows(RUN_BYTES) {
            if let Some(count) = self.counts.get_mut(hash(run)) {
                *count = 0;
            }
        }
    }
}

/// The dictionary that a column holds; empty when there is none.
///
/// # Errors
/// [`Error::Damaged`] when it is too long, not in one extent, or has entropy tables.
pub(crate) fn read(column: ColumnView<'_>) -> Result<&[u8]> {
    match column.len_bytes() {
        0 => Ok(&[]),
        len if len > DICTIONARY_LIMIT_BYTES as u64 => {
            Err(Error::damaged("a text dictionary is too long"))
        }
        len => {
            let bytes = column.bytes(0, len as usize)?;
            check(bytes)?;
            Ok(bytes)
        }
    }
}

/// Refuses what is no dictionary of raw content.
///
/// # Errors
/// [`Error::Damaged`] when it is too long, or has entropy tables.
pub(crate) fn check(dictionary: &[u8]) -> Result<()> {
    if dictionary.len() > DICTIONARY_LIMIT_BYTES {
        return Err(Error::damaged("a dictionary is too long"));
    }
    if dictionary.starts_with(&TABLES_MAGIC) {
        return Err(Error::damaged("a dictionary has entropy tables"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 112 << 10;

    #[test]
    fn a_dictionary_holds_what_repeats_and_little_else() {
        let numbers: Vec<String> = (0..20_000u64)
            .map(|n| format!("{:x}\n", n.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
            .collect();
        let mut sample = String::new();
        for (n, number) in numbers.iter().enumerate() {
            sample.push_str(number);
            if n % 200 == 0 {
                sample.push_str("a sentence that is found at many places of this sample, again\n");
            }
        }
        let dictionary = train(sample.as_bytes(), LIMIT);
        let text = String::from_utf8_lossy(&dictionary);
        // A hundred times in the sample; what is there already is of no use again.
        let found = text.matches("a sentence that is found").count();
        assert!((1..10).contains(&found), "{found}");
        let again = train(sample.as_bytes(), LIMIT);
        assert_eq!(dictionary, again);
        assert!(train(b"", LIMIT).is_empty());
        assert!(train(b"short", LIMIT).is_empty());
    }

    #[test]
    fn a_dictionary_of_varied_text_is_full_and_no_longer() {
        let text: Vec<u8> = (0..SAMPLE_BYTES as u64 / 16)
            .flat_map(|n| format!("{:015x} ", n.wrapping_mul(n) % 50_021).into_bytes())
            .collect();
        for limit in [LIMIT, 256 << 10] {
            let len = train(&text, limit).len();
            assert!(len <= limit && len > limit - PIECE_BYTES, "{len}");
        }
    }

    #[test]
    fn a_column_that_is_no_dictionary_is_refused() {
        let extents = vec![vec![0u8; 64], b"\x37\xA4\x30\xEC and no tables".to_vec()];
        let len = DICTIONARY_LIMIT_BYTES + 1;
        let long = vec![vec![0u8; len]];
        let column = |len: &[u64; 2]| {
            let column = ColumnView::new(len, 0, &long);
            read(column).is_ok()
        };
        assert!(column(&[0, len as u64 - 1]) && !column(&[0, len as u64]));
        for starts in [&[0, 64, 96][..], &[0, 128]] {
            let column = ColumnView::new(starts, 0, &extents);
            let Err(error) = read(column) else {
                panic!("{starts:?} is taken");
            };
            assert_eq!(error.code(), "DAMAGED");
        }
        let with_magic = vec![extents[1].clone()];
        let starts = [0, with_magic[0].len() as u64];
        let column = ColumnView::new(&starts, 0, &with_magic);
        let Err(error) = read(column) else {
            panic!("a magic without tables is taken");
        };
        assert_eq!(error.code(), "DAMAGED");
        let none = ColumnView::new(&[0], 0, &extents);
        assert!(read(none).unwrap().is_empty());
    }

    #[test]
    fn a_dictionary_with_tables_is_refused() {
        // Made by `zstd --train`: magic, id, entropy tables, three offsets; then any content. zstd
        // itself loads it, and a reader that knows raw content only would decode other bytes.
        let tables = concat!(
            "37a430ecc2d9c15d1310e80ad30100000080714a49a6940040a03909930000383446",
            "60c81d01000004e0800aa5480e01149c190000010000000000000000000000000000",
            "000000441a000c890400805100000000000000000000010000000400000008000000",
        );
        let digit = |at: usize| u8::from_str_radix(&tables[at..at + 2], 16).unwrap();
        let mut bytes: Vec<u8> = (0..tables.len()).step_by(2).map(digit).collect();
        bytes.extend(b"any content of more than eight bytes");
        assert!(zstd::zstd_safe::DDict::try_create(&bytes).is_some());
        let (starts, extents) = ([0, bytes.len() as u64], vec![bytes]);
        let Err(error) = read(ColumnView::new(&starts, 0, &extents)) else {
            panic!("it is taken");
        };
        assert_eq!(error.code(), "DAMAGED");
    }
}
