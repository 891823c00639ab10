//! WordPiece: a word becomes the longest pieces of the vocabulary, from its start on (Devlin et al. 2019).

use std::collections::HashMap;

use rustc_hash::FxHashMap;

/// Most pieces of a vocabulary. Models for a hundred languages have 250,000.
const PIECE_LIMIT: usize = 1 << 20;
/// Most bytes of a piece. A longer one could not be a part of any word.
const PIECE_LIMIT_BYTES: usize = 1024;

/// The pieces of words.
#[derive(Debug)]
pub(super) struct Pieces {
    /// Pieces that begin a word.
    starts: FxHashMap<Box<str>, u32>,
    /// Pieces that go on, without their prefix.
    rests: FxHashMap<Box<str>, u32>,
    /// Stands for a word that the pieces do not make.
    pub(super) unknown: u32,
    /// Longer words are unknown, in characters.
    longest_word: usize,
    /// Bytes of the longest piece.
    longest_piece: usize,
}

impl Pieces {
    pub(super) fn new(
        pieces: HashMap<String, u32>,
        prefix: &str,
        unknown: u32,
        longest_word: usize,
    ) -> Result<Pieces, String> {
        if pieces.len() > PIECE_LIMIT {
            return Err(format!("a vocabulary of more than {PIECE_LIMIT} tokens"));
        }
        let mut vocabulary = Pieces {
            starts: FxHashMap::default(),
            rests: FxHashMap::default(),
            unknown,
            // A word is looked up in the square of its length.
            longest_word: longest_word.min(PIECE_LIMIT_BYTES),
            longest_piece: 0,
        };
        for (piece, token) in pieces {
            if piece.len() > PIECE_LIMIT_BYTES {
                return Err(format!("a token of more than {PIECE_LIMIT_BYTES} bytes"));
            }
            vocabulary.longest_piece = vocabulary.longest_piece.max(piece.len());
            match piece.strip_prefix(prefix) {
                Some(rest) if !prefix.is_empty() => vocabulary.rests.insert(rest.into(), token),
                _ => vocabulary.starts.insert(piece.into_boxed_str(), token),
            };
        }
        Ok(vocabulary)
    }

    /// Appends the tokens of a word.
    pub(super) fn append(&self, word: &str, tokens: &mut Vec<u32>) {
        let before = tokens.len();
        if word.chars().nth(self.longest_word).is_some() {
            tokens.push(self.unknown);
            return;
        }
        let (mut pieces, mut rest) = (&self.starts, word);
        while !rest.is_empty() {
            let Some((token, len_bytes)) = self.longest(pieces, rest) else {
                tokens.truncate(before);
                tokens.push(self.unknown);
                return;
            };
            tokens.push(token);
            rest = rest.get(len_bytes..).unwrap_or_default();
            pieces = &self.rests;
        }
    }

    /// The longest piece that `word` begins with, and its bytes.
    fn longest(&self, pieces: &FxHashMap<Box<str>, u32>, word: &str) -> Option<(u32, usize)> {
        let longest = word.len().min(self.longest_piece);
        (1..=longest).rev().find_map(|len_bytes| {
            let token = pieces.get(word.get(..len_bytes)?)?;
            Some((*token, len_bytes))
        })
    }
}
