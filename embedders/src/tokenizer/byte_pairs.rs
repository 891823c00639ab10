//! Byte pair encoding: each byte or character of a word is a token, and neighbours become one token in the order in
//! which the merges were learned (Sennrich et al. 2016). GPT-2 and its successors begin with bytes, Llama 2 with
//! characters, and with the bytes of those that have no token.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use rustc_hash::FxHashMap;

use super::unigram::{append_bytes, byte_tokens};

/// Most tokens of a vocabulary, and most merges.
const PIECE_LIMIT: usize = 1 << 20;

/// Most bytes of a piece that count for how much of a text is looked at.
const PIECE_LIMIT_BYTES: usize = 1024;

/// The tokens and merges of a model.
#[derive(Debug)]
pub(super) struct BytePairs {
    symbols: Symbols,
    /// Two tokens that become one: the rank of the merge, lower first, and the new token.
    merges: FxHashMap<(u32, u32), (u32, u32)>,
    /// Words that are a token whatever the merges say.
    whole: FxHashMap<Box<[u8]>, u32>,
    /// Bytes of the longest piece.
    pub(super) longest: usize,
}

/// What a word is before any merge.
#[derive(Debug)]
enum Symbols {
    /// The token of each byte.
    Bytes(Vec<u32>),
    Characters(Characters),
}

/// The tokens of characters.
#[derive(Debug)]
struct Characters {
    tokens: FxHashMap<char, u32>,
    /// Tokens of bytes, for other characters; empty if the model has none.
    bytes: Vec<Option<u32>>,
    /// Stands for a character that has no token.
    unknown: Option<u32>,
    /// Whether neighbours that are unknown are one.
    fuses: bool,
}

/// What a file says beside tokens and merges.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Manner {
    /// Words are bytes and not characters.
    pub(super) is_bytes: bool,
    /// Characters without a token become the tokens of their bytes.
    pub(super) falls_back: bool,
    pub(super) unknown: Option<u32>,
    pub(super) fuses: bool,
    /// A word that is a token is not put together by merges.
    pub(super) takes_whole: bool,
}

/// The characters that stand for bytes in the files: printable ones for themselves, and others from U+0100 on.
fn characters() -> Vec<char> {
    let is_shown = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let mut others = 0x100..;
    (0..=u8::MAX)
        .map(|byte| match is_shown(byte) {
            true => char::from(byte),
            false => others.next().and_then(char::from_u32).unwrap_or_default(),
        })
        .collect()
}

impl BytePairs {
    pub(super) fn new(
        pieces: &HashMap<String, u32>,
        merges: &[(String, String)],
        manner: Manner,
    ) -> Result<BytePairs, String> {
        if pieces.len().max(merges.len()) > PIECE_LIMIT {
            return Err(format!("a vocabulary of more than {PIECE_LIMIT} tokens"));
        }
        let token = |piece: &str| {
            let token = pieces.get(piece).copied();
            token.ok_or_else(|| format!("the token {piece:?} is not in the vocabulary"))
        };
        let symbols = if manner.is_bytes {
            let bytes = characters().into_iter();
            let bytes = bytes.map(|character| token(character.encode_utf8(&mut [0; 4])));
            Symbols::Bytes(bytes.collect::<Result<Vec<u32>, String>>()?)
        } else {
            Symbols::Characters(Characters {
                tokens: pieces.iter().filter_map(single).collect(),
                bytes: match manner.falls_back {
                    true => byte_tokens(|piece| pieces.get(piece).copied()),
                    false => Vec::new(),
                },
                unknown: manner.unknown,
                fuses: manner.fuses,
            })
        };
        let mut ranks = FxHashMap::default();
        for (rank, (one, other)) in (0..).zip(merges) {
            let both = token(&format!("{one}{other}"))?;
            ranks.insert((token(one)?, token(other)?), (rank, both));
        }
        let whole = match manner.takes_whole {
            true => whole(pieces, manner.is_bytes),
            false => FxHashMap::default(),
        };
        let longest = pieces.keys().map(String::len).max().unwrap_or(0);
        Ok(BytePairs {
            symbols,
            merges: ranks,
            whole,
            longest: longest.clamp(1, PIECE_LIMIT_BYTES),
        })
    }

    /// Appends the tokens of a word.
    pub(super) fn append(&self, word: &str, tokens: &mut Vec<u32>) {
        if let Some(token) = self.whole.get(word.as_bytes()) {
            tokens.push(*token);
            return;
        }
        let symbols = match &self.symbols {
            Symbols::Bytes(bytes) => {
                let byte = |byte: u8| bytes.get(usize::from(byte)).copied().unwrap_or(0);
                word.bytes().map(byte).collect()
            }
            Symbols::Characters(characters) => characters.symbols(word),
        };
        self.merge(&symbols, tokens);
    }

    /// Merges the tokens of a word: the pair of the lowest rank first, of equal ones the first.
    fn merge(&self, symbols: &[u32], tokens: &mut Vec<u32>) {
        let mut parts: Vec<Part> = (0..symbols.len())
            .zip(symbols)
            .map(|(place, token)| Part {
                token: *token,
                before: place.checked_sub(1),
                after: Some(place + 1).filter(|after| *after < symbols.len()),
                is_gone: false,
            })
            .collect();
        let mut waiting = BinaryHeap::new();
        for place in 0..parts.len() {
            self.push(&parts, place, &mut waiting);
        }
        // A pair that was changed since it was pushed has another token now.
        while let Some(Reverse((_, place, both))) = waiting.pop() {
            let Some(pair) = pair(&parts, place) else {
                continue;
            };
            if self.merges.get(&(pair.0, pair.1)).map(|it| it.1) != Some(both) {
                continue;
            }
            let Some(after) = parts.get_mut(pair.2) else {
                continue;
            };
            after.is_gone = true;
            let next = after.after;
            if let Some(part) = parts.get_mut(place) {
                (part.token, part.after) = (both, next);
            }
            if let Some(next) = next.and_then(|next| parts.get_mut(next)) {
                next.before = Some(place);
            }
            self.push(&parts, place, &mut waiting);
            if let Some(before) = parts.get(place).and_then(|part| part.before) {
                self.push(&parts, before, &mut waiting);
            }
        }
        let left = parts.iter().filter(|part| !part.is_gone);
        tokens.extend(left.map(|part| part.token));
    }

    fn push(
        &self,
        parts: &[Part],
        place: usize,
        waiting: &mut BinaryHeap<Reverse<(u32, usize, u32)>>,
    ) {
        let known = pair(parts, place).and_then(|pair| self.merges.get(&(pair.0, pair.1)));
        if let Some((rank, both)) = known {
            waiting.push(Reverse((*rank, place, *both)));
        }
    }
}

/// A part of a word that is being merged.
struct Part {
    token: u32,
    before: Option<usize>,
    after: Option<usize>,
    /// Whether it became a part of the one before it.
    is_gone: bool,
}

/// The tokens at a place and behind it, and where the second one is.
fn pair(parts: &[Part], place: usize) -> Option<(u32, u32, usize)> {
    let part = parts.get(place).filter(|part| !part.is_gone)?;
    let after = part.after?;
    Some((part.token, parts.get(after)?.token, after))
}

impl Characters {
    /// The tokens of the characters of a word.
    fn symbols(&self, word: &str) -> Vec<u32> {
        let mut symbols = Vec::with_capacity(word.len());
        // Stands behind the tokens of bytes that follow it, as in the library `tokenizers`.
        let mut waits = false;
        for character in word.chars() {
            if let Some(token) = self.tokens.get(&character) {
                if std::mem::take(&mut waits) {
                    symbols.extend(self.unknown);
                }
                symbols.push(*token);
                continue;
            }
            let mut buffer = [0; 4];
            let part = character.encode_utf8(&mut buffer).as_bytes();
            if append_bytes(&self.bytes, part, &mut symbols) {
                continue;
            }
            if waits && !self.fuses {
                symbols.extend(self.unknown);
            }
            waits = true;
        }
        if waits {
            symbols.extend(self.unknown);
        }
        symbols
    }
}

/// A piece that is one character.
fn single((piece, token): (&String, &u32)) -> Option<(char, u32)> {
    let mut characters = piece.chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) => Some((character, *token)),
        _ => None,
    }
}

/// All pieces by the bytes that they stand for.
fn whole(pieces: &HashMap<String, u32>, is_bytes: bool) -> FxHashMap<Box<[u8]>, u32> {
    let bytes: FxHashMap<char, u8> = characters().into_iter().zip(0..=u8::MAX).collect();
    let meaning = |piece: &String| match is_bytes {
        true => piece.chars().map(|it| bytes.get(&it).copied()).collect(),
        false => Some(piece.as_bytes().into()),
    };
    let known = pieces.iter();
    known
        .filter_map(|(piece, token)| Some((meaning(piece)?, *token)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All bytes, and the merges of `merges` in their order.
    fn pairs(merges: &[(&str, &str)], takes_whole: bool) -> Result<BytePairs, String> {
        let mut pieces: HashMap<String, u32> = HashMap::new();
        let bytes = characters().into_iter().map(String::from);
        let made = merges.iter().map(|(one, other)| format!("{one}{other}"));
        for (token, piece) in (0..).zip(bytes.chain(made)) {
            pieces.insert(piece, token);
        }
        let merges = merges.iter();
        let merges = merges.map(|(one, other)| ((*one).to_owned(), (*other).to_owned()));
        let manner = Manner {
            is_bytes: true,
            takes_whole,
            ..Manner::default()
        };
        BytePairs::new(&pieces, &merges.collect::<Vec<_>>(), manner)
    }

    fn tokens(model: &BytePairs, text: &str) -> Vec<u32> {
        let mut tokens = Vec::new();
        model.append(text, &mut tokens);
        tokens
    }

    #[test]
    fn merges_go_by_their_rank_and_not_by_their_place() {
        let model = pairs(&[("b", "c"), ("a", "b"), ("a", "bc")], false).unwrap();
        assert_eq!(tokens(&model, "abc"), [258]);
        assert_eq!(tokens(&model, "ab"), [257]);
        assert_eq!(tokens(&model, "bcbc"), [256, 256]);
        assert_eq!(tokens(&model, "\u{e9}"), [0xc3, 0xa9]);
        assert_eq!(tokens(&model, ""), [0; 0]);
    }

    #[test]
    fn a_word_that_is_a_token_needs_no_merges_where_the_file_says_so() {
        // "abcd" cannot be reached: "ab" is merged before "bc".
        let merges = [("a", "b"), ("b", "c"), ("a", "bc"), ("abc", "d")];
        assert_eq!(
            tokens(&pairs(&merges, false).unwrap(), "abcd"),
            [256, 99, 100]
        );
        assert_eq!(tokens(&pairs(&merges, true).unwrap(), "abcd"), [259]);
        assert_eq!(
            tokens(&pairs(&merges, true).unwrap(), "\u{e9}"),
            [0xc3, 0xa9]
        );
    }

    #[test]
    fn characters_without_a_token_are_unknown_or_bytes() {
        let mut pieces: HashMap<String, u32> = [("a", 0), ("b", 1), ("ab", 2), ("<unk>", 3)]
            .map(|(piece, token)| (piece.into(), token))
            .into();
        let merges = [("a".to_owned(), "b".to_owned())];
        let mut manner = Manner {
            unknown: Some(3),
            ..Manner::default()
        };
        let of = |pieces: &HashMap<String, u32>, manner: Manner, text: &str| {
            tokens(&BytePairs::new(pieces, &merges, manner).unwrap(), text)
        };
        assert_eq!(of(&pieces, manner, "ab\u{e9}xab"), [2, 3, 3, 2]);
        manner.fuses = true;
        assert_eq!(of(&pieces, manner, "ab\u{e9}xab"), [2, 3, 2]);
        manner.falls_back = true;
        pieces.insert("<0xC3>".to_owned(), 4);
        pieces.insert("<0xA9>".to_owned(), 5);
        assert_eq!(of(&pieces, manner, "ab\u{e9}xab"), [2, 4, 5, 3, 2]);
        manner.unknown = None;
        assert_eq!(of(&pieces, manner, "xax"), [0]);
    }

    #[test]
    fn long_words_and_wrong_merges_have_bounds() {
        let model = pairs(&[("a", "a"), ("aa", "aa")], false).unwrap();
        assert_eq!(tokens(&model, &"a".repeat(1 << 20)).len(), 1 << 18);
        let manner = Manner {
            is_bytes: true,
            ..Manner::default()
        };
        let mut pieces: HashMap<String, u32> = HashMap::new();
        assert!(BytePairs::new(&pieces, &[], manner).is_err());
        pieces.extend(characters().into_iter().map(String::from).zip(0..));
        let merge = [("a".to_owned(), "b".to_owned())];
        let error = BytePairs::new(&pieces, &merge, manner).unwrap_err();
        assert!(error.contains("\"ab\""), "{error}");
    }
}
