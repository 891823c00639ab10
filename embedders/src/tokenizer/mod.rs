//! From text to the numbers of tokens, as a `tokenizer.json` of a model says.
//!
//! WordPiece with the rules of BERT, which all MiniLM, BGE, E5, GTE, MPNet, Arctic and Potion models for English have, is
//! one way through `words` and `wordpiece`. Byte pairs (RoBERTa, ModernBERT, Qwen, Llama) and Unigram (XLM-RoBERTa and
//! its kin for many languages) go through `pipeline`: a normal form, splits, and the pieces of words. What is not known
//! is refused by name.

mod byte_pairs;
mod charsmap;
mod gpt2;
mod normal_form;
mod parts;
mod pattern;
mod pipeline;
mod settings;
mod splits;
mod trie;
mod unigram;
mod wordpiece;
mod words;

use std::path::Path;

use kb_types::EmbedError;

use self::settings::{Rules, Settings, Words};
use self::words::Piece;

/// Most bytes of a `tokenizer.json`. Those of models for a hundred languages have 17 MB.
pub(crate) const FILE_LIMIT_BYTES: u64 = 64 << 20;

/// A tokenizer of a model.
#[derive(Debug)]
pub(crate) struct Tokenizer(Rules);

impl Tokenizer {
    /// Reads the bytes of a `tokenizer.json`.
    ///
    /// # Errors
    /// [`EmbedError::Unfit`] with what this program cannot do.
    pub(crate) fn new(path: &Path, bytes: &[u8]) -> Result<Tokenizer, EmbedError> {
        let settings: Settings = crate::files::from_json(path, bytes)?;
        settings
            .rules()
            .map(Tokenizer)
            .map_err(|reason| EmbedError::Unfit {
                reason: format!("{}: {reason}", path.display()),
            })
    }

    /// Makes all letters small, as a model whose settings say `do_lower_case` does.
    pub(crate) fn lower_case(&mut self) {
        self.0.make_small();
    }

    /// The token that fills rows of a batch.
    pub(crate) fn padding(&self) -> u32 {
        self.0.padding
    }

    /// Tokens of a text with those around it, if the file says how many count.
    pub(crate) fn truncation(&self) -> Option<usize> {
        self.0.truncation
    }

    /// The highest number of a token.
    pub(crate) fn highest(&self) -> u32 {
        self.0.highest
    }

    /// Tokens around each text.
    pub(crate) fn around(&self) -> usize {
        self.0.start.len() + self.0.end.len()
    }

    /// The tokens of a text, at most `limit` with those around it. Text behind them is not looked at.
    pub(crate) fn encode(&self, text: &str, limit: usize) -> Vec<u32> {
        let room = limit.saturating_sub(self.0.end.len());
        let mut tokens = self.0.start.clone();
        self.append(text, room, &mut tokens);
        tokens.truncate(room);
        tokens.extend_from_slice(&self.0.end);
        tokens
    }

    /// Appends the tokens of a second text to those of a first one, with those that end a text, up to `limit` together.
    pub(crate) fn encode_second(&self, text: &str, limit: usize, tokens: &mut Vec<u32>) {
        let room = limit.saturating_sub(self.0.end.len()).max(tokens.len());
        self.append(text, room, tokens);
        tokens.truncate(room);
        tokens.extend_from_slice(&self.0.end);
    }

    /// The tokens of a text alone, at most `limit`, without those that stand for unknown words.
    pub(crate) fn known(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut tokens = Vec::new();
        self.append(text, limit, &mut tokens);
        tokens.truncate(limit);
        tokens.retain(|token| Some(*token) != self.0.unknown);
        tokens
    }

    /// Appends tokens of a text until there are at least `limit`.
    fn append(&self, text: &str, limit: usize, tokens: &mut Vec<u32>) {
        let (normaliser, vocabulary) = match &self.0.words {
            Words::Pieces(normaliser, vocabulary) => (normaliser, vocabulary),
            Words::Pipeline(pipeline) => {
                pipeline.append(&self.0.literals, text, limit, tokens);
                return;
            }
        };
        words::split(normaliser, &self.0.literals, text, |piece| {
            match piece {
                Piece::Word(word) => vocabulary.append(word, tokens),
                Piece::Literal(token) => tokens.push(token),
            }
            tokens.len() < limit
        });
    }
}

#[cfg(test)]
mod tests;
