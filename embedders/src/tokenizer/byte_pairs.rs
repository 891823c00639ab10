//! Byte pair encoding over bytes, as GPT-2 and RoBERTa have it: text is split into words, each byte of a word is a
//! token, and neighbours become one token in the order in which the merges were learned (Sennrich et al. 2016).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use rustc_hash::FxHashMap;
use unicode_general_category::{GeneralCategory, get_general_category};

/// Most tokens of a vocabulary, and most merges.
const PIECE_LIMIT: usize = 1 << 20;

/// Endings of English that are words of their own.
const ENDINGS: [&str; 7] = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"];

/// The tokens and merges of a model.
#[derive(Debug)]
pub(super) struct BytePairs {
    /// The token of each byte.
    bytes: Vec<u32>,
    /// Two tokens that become one: the rank of the merge, lower first, and the new token.
    merges: FxHashMap<(u32, u32), (u32, u32)>,
    /// Puts a space in front of a text that does not begin with one.
    adds_space: bool,
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
        adds_space: bool,
    ) -> Result<BytePairs, String> {
        if pieces.len().max(merges.len()) > PIECE_LIMIT {
            return Err(format!("a vocabulary of more than {PIECE_LIMIT} tokens"));
        }
        let token = |piece: &str| {
            let token = pieces.get(piece).copied();
            token.ok_or_else(|| format!("the token {piece:?} is not in the vocabulary"))
        };
        let bytes = characters()
            .into_iter()
            .map(|character| token(character.encode_utf8(&mut [0; 4])))
            .collect::<Result<Vec<u32>, String>>()?;
        let mut ranks = FxHashMap::default();
        for (rank, (one, other)) in (0..).zip(merges) {
            let both = token(&format!("{one}{other}"))?;
            ranks.insert((token(one)?, token(other)?), (rank, both));
        }
        Ok(BytePairs {
            bytes,
            merges: ranks,
            adds_space,
        })
    }

    /// Appends tokens of a part of a text until there are at least `limit`.
    pub(super) fn append(&self, text: &str, limit: usize, tokens: &mut Vec<u32>) {
        let spaced;
        let mut rest = text;
        if self.adds_space && !text.is_empty() && !text.starts_with(' ') {
            spaced = format!(" {text}");
            rest = &spaced;
        }
        while !rest.is_empty() && tokens.len() < limit {
            let (word, others) = rest.split_at(first_word(rest));
            self.append_word(word, tokens);
            rest = others;
        }
    }

    /// Merges the tokens of a word: the pair of the lowest rank first, of equal ones the first.
    fn append_word(&self, word: &str, tokens: &mut Vec<u32>) {
        let byte = |byte: u8| self.bytes.get(usize::from(byte)).copied().unwrap_or(0);
        let mut parts: Vec<Part> = (0..word.len())
            .zip(word.bytes())
            .map(|(place, it)| Part {
                token: byte(it),
                before: place.checked_sub(1),
                after: Some(place + 1).filter(|after| *after < word.len()),
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

/// What a character is to the split.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    Letter,
    Number,
    Other,
}

fn kind(character: char) -> Kind {
    use GeneralCategory as Category;
    if character.is_whitespace() {
        return Kind::Space;
    }
    match get_general_category(character) {
        Category::UppercaseLetter
        | Category::LowercaseLetter
        | Category::TitlecaseLetter
        | Category::ModifierLetter
        | Category::OtherLetter => Kind::Letter,
        Category::DecimalNumber | Category::LetterNumber | Category::OtherNumber => Kind::Number,
        _ => Kind::Other,
    }
}

/// Bytes of the first word of a text: an ending, a run of one kind with a space before it, or white space without its last
/// character, which belongs to what follows.
fn first_word(text: &str) -> usize {
    if let Some(ending) = ENDINGS.iter().find(|ending| text.starts_with(**ending)) {
        return ending.len();
    }
    let space = usize::from(text.starts_with(' '));
    let run = text.get(space..).unwrap_or_default();
    let first = run.chars().next().map(kind);
    if let Some(first) = first.filter(|first| *first != Kind::Space) {
        let end = run.find(|character| kind(character) != first);
        return space + end.unwrap_or(run.len());
    }
    let Some(end) = text.find(|character: char| !character.is_whitespace()) else {
        return text.len();
    };
    let spaces = text.get(..end).unwrap_or_default();
    let last = spaces.chars().next_back().map_or(0, char::len_utf8);
    match end - last {
        0 => end,
        without => without,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All bytes, and the merges of `merges` in their order.
    fn pairs(merges: &[(&str, &str)], adds_space: bool) -> Result<BytePairs, String> {
        let mut pieces: HashMap<String, u32> = HashMap::new();
        let bytes = characters().into_iter().map(String::from);
        let made = merges.iter().map(|(one, other)| format!("{one}{other}"));
        for (token, piece) in (0..).zip(bytes.chain(made)) {
            pieces.insert(piece, token);
        }
        let merges = merges.iter();
        let merges = merges.map(|(one, other)| ((*one).to_owned(), (*other).to_owned()));
        BytePairs::new(&pieces, &merges.collect::<Vec<_>>(), adds_space)
    }

    fn words(mut text: &str) -> Vec<&str> {
        let mut words = Vec::new();
        while !text.is_empty() {
            let (word, rest) = text.split_at(first_word(text));
            words.push(word);
            text = rest;
        }
        words
    }

    #[test]
    fn text_is_split_as_gpt_2_does() {
        assert_eq!(
            words("it's  a9\u{bd}!?"),
            ["it", "'s", " ", " a", "9\u{bd}", "!?"]
        );
        assert_eq!(words("a\n\n b \t"), ["a", "\n\n", " b", " \t"]);
        assert_eq!(
            words("'S \u{e9}\u{301} x"),
            ["'", "S", " \u{e9}", "\u{301}", " x"]
        );
        assert_eq!(words("\u{3000}a"), ["\u{3000}", "a"]);
    }

    #[test]
    fn merges_go_by_their_rank_and_not_by_their_place() {
        let model = pairs(&[("b", "c"), ("a", "b"), ("a", "bc")], false).unwrap();
        let tokens = |text: &str| {
            let mut tokens = Vec::new();
            model.append(text, usize::MAX, &mut tokens);
            tokens
        };
        assert_eq!(tokens("abc"), [258]);
        assert_eq!(tokens("ab"), [257]);
        assert_eq!(tokens("bcbc"), [256, 256]);
        assert_eq!(tokens("\u{e9}"), [0xc3, 0xa9]);
        assert_eq!(tokens(""), [0; 0]);
        let spaced = pairs(&[], true).unwrap();
        let mut with = Vec::new();
        spaced.append("a", usize::MAX, &mut with);
        assert_eq!(with, [0x20, 0x61]);
    }

    #[test]
    fn long_words_and_wrong_merges_have_bounds() {
        let model = pairs(&[("a", "a"), ("aa", "aa")], false).unwrap();
        let mut tokens = Vec::new();
        model.append(&"a".repeat(1 << 20), usize::MAX, &mut tokens);
        assert_eq!(tokens.len(), 1 << 18);
        tokens.clear();
        model.append(&"a ".repeat(1 << 20), 8, &mut tokens);
        assert_eq!(tokens.len(), 9);
        let mut pieces: HashMap<String, u32> = HashMap::new();
        assert!(BytePairs::new(&pieces, &[], false).is_err());
        pieces.extend(characters().into_iter().map(String::from).zip(0..));
        let merge = [("a".to_owned(), "b".to_owned())];
        let error = BytePairs::new(&pieces, &merge, false).unwrap_err();
        assert!(error.contains("\"ab\""), "{error}");
    }
}
