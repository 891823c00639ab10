//! From text to tokens in the steps that the library `tokenizers` has: a normal form, words, and pieces of words.

use super::byte_pairs::BytePairs;
use super::normal_form::{NormalForm, start};
use super::splits::Splits;
use super::unigram::Unigram;
use super::words::{self, Literal, Piece};

/// So many bytes of a text are looked at, however few tokens are wanted: steps may drop most of them.
const LOOKED_AT_BYTES: usize = 64 << 10;

/// The steps from a text to words, in the order in which they are done.
#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) form: NormalForm,
    /// Tokens that stand for themselves in a text in the normal form.
    pub(super) literals: Vec<Literal>,
    pub(super) splits: Splits,
    pub(super) model: Model,
    /// Makes letters small before any step.
    pub(super) lowers: bool,
}

/// How a word becomes tokens.
#[derive(Debug)]
pub(super) enum Model {
    Pairs(BytePairs),
    Unigram(Unigram),
}

impl Pipeline {
    /// Appends tokens of a text until there are at least `limit`. `literals` stand for themselves in the text as it is.
    pub(super) fn append(
        &self,
        literals: &[Literal],
        text: &str,
        limit: usize,
        tokens: &mut Vec<u32>,
    ) {
        let longest = match &self.model {
            Model::Pairs(pairs) => pairs.longest,
            Model::Unigram(unigram) => unigram.longest(),
        };
        // Tokens behind the wanted ones are dropped, so text behind them need not be read.
        let limit_bytes = limit.saturating_mul(longest).max(LOOKED_AT_BYTES);
        let small;
        let mut text = start(text, limit_bytes);
        if self.lowers {
            small = text.to_lowercase();
            text = &small;
        }
        let mut is_first = true;
        words::around(literals, text, |part| {
            match part {
                Piece::Literal(token) => tokens.push(token),
                Piece::Word(part) => {
                    let form = self.form.apply(part, limit_bytes);
                    words::around(&self.literals, &form, |part| {
                        match part {
                            Piece::Literal(token) => tokens.push(token),
                            Piece::Word(part) => self.words(part, is_first, limit, tokens),
                        }
                        is_first = false;
                        tokens.len() < limit
                    });
                }
            }
            is_first = false;
            tokens.len() < limit
        });
    }

    fn words(&self, text: &str, is_first: bool, limit: usize, tokens: &mut Vec<u32>) {
        self.splits.words(text, is_first, &mut |word| {
            match &self.model {
                Model::Pairs(pairs) => pairs.append(word, tokens),
                Model::Unigram(unigram) => unigram.append(word, tokens),
            }
            tokens.len() < limit
        });
    }
}
