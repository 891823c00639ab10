//! Unigram: a word becomes the pieces whose probabilities have the greatest product (Kudo 2018), as SentencePiece has it.

use super::trie::Trie;

/// How much less probable than the rarest piece a character is that no piece is. SentencePiece has the same number.
const UNKNOWN_PENALTY: f64 = 10.0;

/// The pieces with the logarithms of their probabilities.
#[derive(Debug)]
pub(super) struct Unigram {
    trie: Trie,
    scores: Vec<f64>,
    unknown: Option<u32>,
    /// The score of a character that no piece is.
    unknown_score: f64,
    /// Tokens of bytes, for characters that no piece is; empty if the model has none.
    bytes: Vec<Option<u32>>,
}

/// The best way to the place behind a piece.
#[derive(Clone, Copy)]
struct Step {
    score: f64,
    /// Where its last piece begins; `None`: no way is known.
    start: Option<usize>,
    token: u32,
}

impl Unigram {
    pub(super) fn new(
        pieces: &[(String, f64)],
        unknown: Option<u32>,
        falls_back: bool,
    ) -> Result<Unigram, String> {
        let names: Vec<&[u8]> = pieces.iter().map(|(piece, _)| piece.as_bytes()).collect();
        let trie = Trie::new(&names)?;
        if unknown.is_some_and(|unknown| unknown as usize >= pieces.len()) {
            return Err("the token for unknown words is not in the vocabulary".to_owned());
        }
        let scores: Vec<f64> = pieces.iter().map(|(_, score)| *score).collect();
        let lowest = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let bytes = match falls_back {
            true => byte_tokens(|piece| trie.token(piece.as_bytes())),
            false => Vec::new(),
        };
        Ok(Unigram {
            trie,
            scores,
            unknown,
            unknown_score: lowest - UNKNOWN_PENALTY,
            bytes,
        })
    }

    /// Bytes of the longest piece.
    pub(super) fn longest(&self) -> usize {
        self.trie.longest
    }

    /// Appends the tokens of a word.
    pub(super) fn append(&self, word: &str, tokens: &mut Vec<u32>) {
        let unset = Step {
            score: 0.0,
            start: None,
            token: 0,
        };
        let mut ways = vec![unset; word.len() + 1];
        for (start, character) in word.char_indices() {
            let score = ways.get(start).map_or(0.0, |way| way.score);
            let rest = word.as_bytes().get(start..).unwrap_or_default();
            let width = character.len_utf8();
            let mut is_known = false;
            self.trie.prefixes(rest, |length, token| {
                let piece = self.scores.get(token as usize).copied();
                improve(
                    &mut ways,
                    start,
                    length,
                    score + piece.unwrap_or(f64::MIN),
                    token,
                );
                is_known |= length == width;
            });
            if let Some(unknown) = self.unknown.filter(|_| !is_known) {
                let score = score + self.unknown_score;
                improve(&mut ways, start, width, score, unknown);
            }
        }
        self.follow(word, &ways, tokens);
    }

    /// Appends the tokens of the best way. Neighbours that are unknown are one.
    fn follow(&self, word: &str, ways: &[Step], tokens: &mut Vec<u32>) {
        let mut parts = Vec::new();
        let mut end = word.len();
        while end > 0 {
            let Some((start, token)) = ways.get(end).and_then(|way| Some((way.start?, way.token)))
            else {
                // A model without a token for what it does not know.
                return;
            };
            match parts.last_mut() {
                Some((begin, _, last)) if Some(token) == self.unknown && *last == token => {
                    *begin = start;
                }
                _ => parts.push((start, end, token)),
            }
            end = start;
        }
        for (start, end, token) in parts.into_iter().rev() {
            if Some(token) != self.unknown {
                tokens.push(token);
                continue;
            }
            let part = word.as_bytes().get(start..end).unwrap_or_default();
            match self.trie.token(part) {
                Some(token) => tokens.push(token),
                None if append_bytes(&self.bytes, part, tokens) => {}
                None => tokens.push(token),
            }
        }
    }
}

/// Takes a way that is better than the one that is known; of equal ways the first stays.
fn improve(ways: &mut [Step], start: usize, length: usize, score: f64, token: u32) {
    if let Some(way) = ways.get_mut(start + length)
        && (way.start.is_none() || score > way.score)
    {
        *way = Step {
            score,
            start: Some(start),
            token,
        };
    }
}

/// The tokens of all bytes, which are called `<0x00>` to `<0xFF>`.
pub(super) fn byte_tokens(token: impl Fn(&str) -> Option<u32>) -> Vec<Option<u32>> {
    let tokens = (0..=u8::MAX).map(|byte| token(&format!("<0x{byte:02X}>")));
    tokens.collect()
}

/// Appends the tokens of bytes if the model has all of them.
pub(super) fn append_bytes(tokens: &[Option<u32>], part: &[u8], all: &mut Vec<u32>) -> bool {
    let token = |byte: &u8| tokens.get(usize::from(*byte)).copied().flatten();
    let of_part: Option<Vec<u32>> = part.iter().map(token).collect();
    match of_part {
        Some(of_part) => all.extend(of_part),
        None => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(falls_back: bool) -> Unigram {
        let mut pieces = vec![
            ("<unk>".to_owned(), 0.0),
            ("a".to_owned(), -1.0),
            ("b".to_owned(), -1.5),
            ("ab".to_owned(), -2.0),
            ("abc".to_owned(), -9.0),
            ("bc".to_owned(), -7.0),
        ];
        pieces.extend((0..=u8::MAX).map(|byte| (format!("<0x{byte:02X}>"), -20.0)));
        Unigram::new(&pieces, Some(0), falls_back).unwrap()
    }

    fn tokens(model: &Unigram, word: &str) -> Vec<u32> {
        let mut tokens = Vec::new();
        model.append(word, &mut tokens);
        tokens
    }

    #[test]
    fn the_most_probable_pieces_win_and_not_the_longest() {
        let model = model(false);
        assert_eq!(tokens(&model, "ab"), [3]);
        assert_eq!(tokens(&model, "abc"), [1, 5]);
        assert_eq!(tokens(&model, "ba"), [2, 1]);
        assert_eq!(tokens(&model, ""), [0; 0]);
    }

    #[test]
    fn what_no_piece_is_becomes_one_unknown_token_or_its_bytes() {
        assert_eq!(tokens(&model(false), "a\u{e9}\u{e9}b"), [1, 0, 2]);
        let bytes = [1, 6 + 0xc3, 6 + 0xa9, 2];
        assert_eq!(tokens(&model(true), "a\u{e9}b"), bytes);
        let without = Unigram::new(&[("a".to_owned(), 0.0)], None, false).unwrap();
        assert_eq!(tokens(&without, "ab"), [0; 0]);
        assert!(Unigram::new(&[], Some(0), false).is_err());
    }

    #[test]
    fn a_long_word_takes_time_in_its_length() {
        assert_eq!(tokens(&model(false), &"ab".repeat(1 << 19)).len(), 1 << 19);
    }
}
