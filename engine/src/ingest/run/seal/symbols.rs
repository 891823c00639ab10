//! The dictionary for the symbols of a sealed file.

use std::ops::ControlFlow;

use kb_types::error::Result;

use crate::catalog::Catalog;
use crate::container::Snapshot;
use crate::ingest::run::even_sample::EvenSample;
use crate::store::{dictionary, symbols};

/// Programs of which the dictionary is made at most.
const SAMPLE_PROGRAMS: usize = 1 << 11;

/// Bytes of the row of a program that count, so that the sample has 8 MB at most; most rows have fewer than 2 KB.
const PROGRAM_BYTES: usize = 4 << 10;

/// Bytes of a dictionary at most: with its key in a page of 32 KiB. One of half the size makes the rows of 25 MB of
/// Rust 5 % larger, and one of twice the size saves less than it is longer.
const MAX_DICTIONARY_BYTES: usize = (32 << 10) - 128;

/// A dictionary pays from so many bytes on, and has so many times fewer bytes than what it is for.
const MIN_DICTIONARY_BYTES: usize = 4 << 10;
const BYTES_PER_BYTE: usize = 32;

/// What the rows of symbols may refer to; empty where they are few. Made of programs at equal distances in the order
/// of paths, so that it follows from the documents alone.
pub(super) fn symbol_dictionary(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    check: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<u8>> {
    if !catalog.symbols.has_any(snapshot)? {
        return Ok(Vec::new());
    }
    let mut chosen = EvenSample::new(SAMPLE_PROGRAMS);
    catalog.documents.each_path(snapshot, "", |_, id| {
        if catalog.symbols.contains(snapshot, id)? {
            chosen.push(id);
        }
        check()?;
        Ok(ControlFlow::Continue(()))
    })?;
    let mut sample = Vec::new();
    for id in chosen.into_items() {
        let symbols = catalog.symbols.get(snapshot, id, u32::MAX)?;
        sample.extend(symbols::sample_of(&symbols, PROGRAM_BYTES));
    }
    check()?;
    let limit_bytes = (sample.len() / BYTES_PER_BYTE).min(MAX_DICTIONARY_BYTES);
    if limit_bytes < MIN_DICTIONARY_BYTES {
        return Ok(Vec::new());
    }
    Ok(dictionary::train(&sample, limit_bytes))
}
