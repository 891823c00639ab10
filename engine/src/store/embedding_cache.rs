//! Table `cache`: vectors by the text that was embedded and the model, so that no text is embedded twice.
//!
//! A document that goes and comes back, or gets another name, finds its vectors here, and so does a column whose model
//! was another one for a while.

use std::ops::ControlFlow;

use kb_types::ModelCard;
use kb_types::error::{Error, Result};

use crate::container::{Key, Snapshot, Transaction};
use crate::store::tables;

/// Bytes of the part of a key that stands for the model, and of the one for the text.
const HALF: usize = 16;
/// Bytes of the scale before the numbers of a row.
const SCALE_BYTES: usize = 4;

/// The key of a text by a model.
pub(crate) type CacheKey = [u8; 2 * HALF];

/// Keys of the texts that a model embeds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CacheKeys([u8; HALF]);

impl CacheKeys {
    /// Of a model; `None` if its weights are not known: it might make other vectors today.
    pub(crate) fn of(card: &ModelCard) -> Option<CacheKeys> {
        let weights = card.weights?;
        let mut hash = blake3::Hasher::new();
        hash.update(&weights);
        for number in [card.dimension, card.max_tokens, card.pooling as u32] {
            hash.update(&number.to_le_bytes());
        }
        hash.update(&[u8::from(card.normalised)]);
        for prefix in [&card.query_prefix, &card.passage_prefix] {
            hash.update(&(prefix.len() as u64).to_le_bytes());
            hash.update(prefix.as_bytes());
        }
        Some(CacheKeys(half(&hash)))
    }

    /// The key of the text of a chunk; prefixes of the model are in its half of the key.
    pub(crate) fn key(&self, text: &str) -> CacheKey {
        let mut hash = blake3::Hasher::new();
        hash.update(text.as_bytes());
        let mut key = [0; 2 * HALF];
        let (model, of_text) = key.split_at_mut(HALF);
        model.copy_from_slice(&self.0);
        of_text.copy_from_slice(&half(&hash));
        key
    }
}

fn half(hash: &blake3::Hasher) -> [u8; HALF] {
    let mut half = [0; HALF];
    hash.finalize_xof().fill(&mut half);
    half
}

/// The vector of a key, if the table has one of that many numbers.
///
/// # Errors
/// [`Error::Damaged`].
pub(crate) fn get(
    snapshot: &Snapshot<'_>,
    key: &CacheKey,
    dimension: u32,
) -> Result<Option<Vec<f32>>> {
    let Some(table) = snapshot.table(tables::CACHE)? else {
        return Ok(None);
    };
    let Some(row) = snapshot.get(&table, Key::Bytes(key))? else {
        return Ok(None);
    };
    let (scale, numbers) = row.split_first_chunk::<SCALE_BYTES>().ok_or_else(damaged)?;
    let scale = f32::from_le_bytes(*scale);
    if numbers.len() != dimension as usize || !scale.is_finite() {
        return Err(damaged());
    }
    let numbers = numbers.iter();
    let vector = numbers.map(|number| f32::from(number.cast_signed()) * scale);
    Ok(Some(vector.collect()))
}

/// Keeps a vector with a byte a number: each is within half of 1/127 of the largest.
///
/// # Errors
/// Those of the transaction.
pub(crate) fn put(transaction: &mut Transaction<'_>, key: &CacheKey, vector: &[f32]) -> Result<()> {
    let largest = vector
        .iter()
        .fold(0f32, |most, number| most.max(number.abs()));
    let scale = largest / f32::from(i8::MAX);
    let mut row = scale.to_le_bytes().to_vec();
    row.extend(vector.iter().map(|number| {
        let steps = if scale > 0.0 {
            (number / scale).round()
        } else {
            0.0
        };
        (steps as i8).cast_unsigned()
    }));
    transaction.put(tables::CACHE, Key::Bytes(key), &row)
}

/// Copies all rows into another file.
///
/// # Errors
/// [`Error::Damaged`]; those of the transaction.
pub(crate) fn copy(snapshot: &Snapshot<'_>, transaction: &mut Transaction<'_>) -> Result<()> {
    let Some(table) = snapshot.table(tables::CACHE)? else {
        return Ok(());
    };
    snapshot.range(&table, Key::Bytes(&[]), |key, row| {
        transaction.put(tables::CACHE, Key::Bytes(key), row)?;
        Ok(ControlFlow::Continue(()))
    })
}

fn damaged() -> Error {
    Error::damaged(format!(
        "table {} has a row that is no vector",
        tables::CACHE
    ))
}
