//! Decodes the frames of text blocks and of other rows, and keeps what that takes from one request to the next.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kb_types::error::Result;
use zstd::zstd_safe::{DCtx, get_error_name};

use crate::container::column::ColumnView;
use crate::store::dictionary;

/// Most memory for text that an idle decoder keeps, in bytes.
// Blocks have 4 to 16 KB; only a block with a very long chunk needs more, once.
const MAX_KEPT_TEXT_BYTES: usize = 256 << 10;

/// Idle decoders kept for a segment; further ones are dropped after use.
// Each has a copy of the dictionary, up to 1 MiB. More than four requests that read one segment at
// the same moment are rare, and a further decoder costs one copy.
const MAX_IDLE_DECODERS: usize = 4;

thread_local! {
    /// zstd's decompression context of this thread. It has 160 KB, which the system would have to provide again for
    /// each new one.
    static CONTEXT: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

/// The content of a frame of exactly `len_bytes`, which may refer to `dictionary`: raw content, no tables.
///
/// # Errors
/// What zstd says; where the frame holds another number of bytes.
pub fn decode_frame(
    dictionary: &[u8],
    frame: &[u8],
    len_bytes: usize,
) -> std::result::Result<Vec<u8>, &'static str> {
    let mut content = vec![0; len_bytes];
    if decompress(&mut content, frame, dictionary)? == len_bytes {
        Ok(content)
    } else {
        Err("it has another length than it says")
    }
}

/// Decodes a frame into `room` and says how long it is.
fn decompress(
    room: &mut [u8],
    frame: &[u8],
    dictionary: &[u8],
) -> std::result::Result<usize, &'static str> {
    CONTEXT.with_borrow_mut(|kept| {
        let context = match kept {
            Some(context) => context,
            None => kept.insert(DCtx::try_create().ok_or("out of memory")?),
        };
        let done = context.decompress_using_dict(room, frame, dictionary);
        done.map_err(get_error_name)
    })
}

/// Decodes one frame after the other, each into the memory of the one before.
///
/// The text is written right after a copy of the dictionary, so zstd takes the dictionary for the text
/// before and copies matches in it on its fast path. A dictionary that lies elsewhere costs a call of
/// `memmove` for every match in it.
#[derive(Default)]
pub struct Decoder {
    /// The dictionary, then room for the text of a block.
    memory: Vec<u8>,
    /// Bytes of the dictionary.
    dictionary_bytes: usize,
    /// Bytes of the text after it.
    text_bytes: usize,
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoder")
            .field("dictionary_bytes", &self.dictionary_bytes)
            .field("text_bytes", &self.text_bytes)
            .finish_non_exhaustive()
    }
}

impl Decoder {
    /// With what frames may refer to: raw content, no tables. Empty for nothing.
    pub fn new(dictionary: &[u8]) -> Decoder {
        Decoder {
            memory: dictionary.to_vec(),
            dictionary_bytes: dictionary.len(),
            text_bytes: 0,
        }
    }

    /// The text that was decoded last; empty before the first and after a failure.
    pub fn text(&self) -> &[u8] {
        let end = self.dictionary_bytes + self.text_bytes;
        let text = self.memory.get(self.dictionary_bytes..end);
        text.unwrap_or_default()
    }

    /// Decodes a frame of at most `limit_bytes` of text, for which memory is taken.
    ///
    /// # Errors
    /// What zstd says, also of a frame that holds more.
    pub fn decode(
        &mut self,
        frame: &[u8],
        limit_bytes: usize,
    ) -> std::result::Result<&[u8], &'static str> {
        // Until the decode succeeds there is no text.
        self.text_bytes = 0;
        let end = self.dictionary_bytes + limit_bytes;
        if self.memory.len() < end {
            let missing = end - self.memory.len();
            // Not doubled: the limit comes from a row of the file, and rows of one segment are of
            // similar length.
            self.memory.reserve_exact(missing);
            self.memory.resize(end, 0);
        }
        let (dictionary, room) = self.memory.split_at_mut(self.dictionary_bytes);
        let room = room.get_mut(..limit_bytes).unwrap_or_default();
        self.text_bytes = decompress(room, frame, dictionary)?;
        Ok(self.text())
    }

    /// Gives back the memory of a long text and forgets it; says whether it did.
    pub fn shrink_if_long(&mut self) -> bool {
        let keep = self.dictionary_bytes + MAX_KEPT_TEXT_BYTES;
        let is_long = self.memory.capacity() > keep;
        if is_long {
            self.text_bytes = 0;
            self.memory.truncate(self.dictionary_bytes);
            self.memory.shrink_to_fit();
        }
        is_long
    }
}

/// The decoders of one segment, kept from request to request: a new one copies the dictionary, which is up
/// to forty times what a block has. Of a segment without a dictionary none is kept. As many are made as
/// requests read the segment at once, so its dictionary is in memory up to [`MAX_IDLE_DECODERS`] times.
#[derive(Default)]
pub struct DecoderPool {
    /// Those that no reader uses now: at most [`MAX_IDLE_DECODERS`], each with the dictionary and
    /// [`MAX_KEPT_TEXT_BYTES`] for text.
    idle: Mutex<Vec<Decoder>>,
}

impl std::fmt::Debug for DecoderPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DecoderPool").finish_non_exhaustive()
    }
}

impl DecoderPool {
    /// A decoder for the dictionary that a column holds, that of the segment.
    ///
    /// # Errors
    /// As [`dictionary::read`].
    pub fn acquire(&self, column: ColumnView<'_>) -> Result<PooledDecoder<'_>> {
        let idle = self.idle().pop();
        let decoder = match idle {
            Some(decoder) => decoder,
            None => Decoder::new(dictionary::read(column)?),
        };
        Ok(PooledDecoder {
            decoder,
            pool: self,
        })
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Decoder>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A decoder that goes back to its [`DecoderPool`] when it is dropped.
pub struct PooledDecoder<'d> {
    decoder: Decoder,
    pool: &'d DecoderPool,
}

impl std::fmt::Debug for PooledDecoder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PooledDecoder").finish_non_exhaustive()
    }
}

impl Deref for PooledDecoder<'_> {
    type Target = Decoder;

    fn deref(&self) -> &Decoder {
        &self.decoder
    }
}

impl DerefMut for PooledDecoder<'_> {
    fn deref_mut(&mut self) -> &mut Decoder {
        &mut self.decoder
    }
}

impl Drop for PooledDecoder<'_> {
    fn drop(&mut self) {
        let mut decoder = std::mem::take(&mut self.decoder);
        if decoder.dictionary_bytes == 0 {
            return;
        }
        decoder.shrink_if_long();
        let mut idle = self.pool.idle();
        if idle.len() < MAX_IDLE_DECODERS {
            idle.push(decoder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DICTIONARY: &[u8] = b"the moon pulls the sea, and the sea pulls the moon back a little";

    fn frame(text: &[u8], dictionary: &[u8]) -> Vec<u8> {
        let mut compressor = zstd::bulk::Compressor::with_dictionary(3, dictionary).unwrap();
        compressor.include_checksum(true).unwrap();
        compressor.compress(text).unwrap()
    }

    #[test]
    fn frames_are_decoded_one_after_the_other() {
        let long = DICTIONARY.repeat(9000);
        for dictionary in [DICTIONARY, b"", b"moon"] {
            let mut decoder = Decoder::new(dictionary);
            assert_eq!(decoder.text(), b"");
            for text in [&b"and the sea pulls the moon"[..], b"", &long, b"x", &long] {
                let frame = frame(text, dictionary);
                assert_eq!(decoder.decode(&frame, text.len()).unwrap(), text);
                assert_eq!(decoder.text(), text);
                // More room than text is no error.
                assert_eq!(decoder.decode(&frame, text.len() + 9).unwrap(), text);
                assert_eq!(
                    decoder.shrink_if_long(),
                    decoder.text_bytes == 0 && text == long
                );
                assert!(decoder.memory.capacity() <= dictionary.len() + MAX_KEPT_TEXT_BYTES);
            }
        }
    }

    #[test]
    fn after_a_bad_frame_there_is_no_text_and_the_next_decodes() {
        let text = b"and the sea pulls the moon back";
        let good = frame(text, DICTIONARY);
        let mut decoder = Decoder::new(DICTIONARY);
        let mut flipped = good.clone();
        *flipped.last_mut().unwrap() ^= 1;
        let of_another = frame(text, b"and the sea pulls the moon back, as others say it");
        for (bad, limit_bytes) in [
            (&flipped[..], text.len()),
            (&good[..good.len() - 1], text.len()),
            (&good, text.len() - 1),
            (&of_another, text.len()),
            (b"no frame", text.len()),
        ] {
            assert!(decoder.decode(bad, limit_bytes).is_err());
            assert_eq!(decoder.text(), b"");
            assert_eq!(&decoder.memory[..DICTIONARY.len()], DICTIONARY);
            assert_eq!(decoder.decode(&good, text.len()).unwrap(), text);
        }
    }

    #[test]
    fn decoders_with_a_dictionary_are_kept_up_to_the_limit() {
        let extents = vec![DICTIONARY.to_vec()];
        let starts = [0, DICTIONARY.len() as u64];
        for (column, expected) in [
            (ColumnView::new(&starts, 0, &extents), MAX_IDLE_DECODERS),
            (ColumnView::new(&[0], 0, &extents), 0),
        ] {
            let decoders = DecoderPool::default();
            let acquired = (0..MAX_IDLE_DECODERS + 3).map(|_| decoders.acquire(column).unwrap());
            drop(acquired.collect::<Vec<_>>());
            assert_eq!(decoders.idle().len(), expected);
            drop(decoders.acquire(column).unwrap());
            assert_eq!(decoders.idle().len(), expected);
        }
    }
}
