//! Words that are divided at the end of a line, and hyphens that are there for that only.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use crate::pdf::line::Line;

/// A hyphen that divides a word at the end of a line and is not shown elsewhere.
const SOFT: char = '\u{ad}';
/// Bytes of a word that are looked at.
// A line may be one endless word; without a limit joining its pieces would be quadratic.
const MAX_WORD_BYTES: usize = 200;
/// Letters of a part of a word that is a word by itself.
// Shorter ones are known by chance: `re` and `in` are words and syllables.
const MIN_WORD: usize = 3;

/// The words of a document: what a divided word is.
#[derive(Debug, Default)]
pub(in crate::pdf) struct Words {
    /// Of words in small letters, with and without hyphens in them.
    // Hashes, not texts: a false match only joins or parts one word, and a million different words
    // take some 16 MB.
    known: FxHashSet<u64>,
    /// Whether soft hyphens stand where they divide nothing: then they are those of a font that has no others.
    has_plain_soft: bool,
}

/// How the parts of a divided word are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    Closed,
    Hyphen,
}

fn is_hyphen(one: char) -> bool {
    matches!(one, '-' | '\u{2010}' | SOFT)
}

fn is_in_word(one: char) -> bool {
    one.is_alphabetic() || one == '\'' || one == '\u{2019}'
}

fn key(parts: &[&str]) -> u64 {
    let mut hasher = FxHasher::default();
    for one in parts
        .iter()
        .flat_map(|part| part.chars())
        .flat_map(char::to_lowercase)
    {
        one.hash(&mut hasher);
    }
    hasher.finish()
}

/// Words with their hyphens, such as `mother-in-law`.
fn compounds(text: &str) -> impl Iterator<Item = &str> {
    text.split(|one: char| !is_in_word(one) && !is_hyphen(one))
        .filter(|word| !word.is_empty())
}

/// The word that a text ends with, hyphens included.
fn last_word(text: &str) -> &str {
    let tail = text.get(text.ceil_char_boundary(text.len().saturating_sub(MAX_WORD_BYTES))..);
    let tail = tail.unwrap_or_default();
    let start = tail.rfind(|one| !is_in_word(one) && !is_hyphen(one));
    tail.get(start.map_or(0, |at| tail.ceil_char_boundary(at + 1))..)
        .unwrap_or_default()
}

/// The word that a text begins with, up to a hyphen.
fn first_part(text: &str) -> &str {
    let head = text
        .get(..text.floor_char_boundary(MAX_WORD_BYTES))
        .unwrap_or_default();
    let end = head.find(|one| !is_in_word(one));
    head.get(..end.unwrap_or(head.len())).unwrap_or_default()
}

impl Words {
    /// Adds the words of a page, but for the parts of those that its lines divide.
    pub(in crate::pdf) fn add(&mut self, lines: &[Line]) {
        let mut is_divided = false;
        for line in lines {
            let text = line.text.as_str();
            let ends_divided = text.ends_with(is_hyphen);
            let mut words = compounds(text).peekable();
            if is_divided && text.starts_with(is_in_word) {
                words.next();
            }
            while let Some(word) = words.next() {
                if ends_divided && words.peek().is_none() {
                    break;
                }
                self.add_word(word);
            }
            self.has_plain_soft |= has_plain_soft(text);
            is_divided = ends_divided;
        }
    }

    fn add_word(&mut self, word: &str) {
        let word = word.trim_matches(|one: char| !one.is_alphabetic());
        if word.contains(SOFT) {
            // Says nothing of how the word is written.
        } else if word.contains(is_hyphen) {
            let parts: Vec<&str> = word.split(is_hyphen).collect();
            self.known.insert(key(&[&parts.join("-")]));
        } else {
            self.known.insert(key(&[word]));
        }
    }

    /// How a word goes on whose first part ends a line with a hyphen.
    fn joint(&self, stem: &str, rest: &str) -> Joint {
        let is_known = |parts: &[&str]| self.known.contains(&key(parts));
        let last = stem.rsplit(is_hyphen).next().unwrap_or_default();
        if is_known(&[stem, rest]) {
            return Joint::Closed;
        }
        let letters = |part: &str| part.chars().count();
        let are_words = letters(last) >= MIN_WORD
            && letters(rest) >= MIN_WORD
            && is_known(&[last])
            && is_known(&[rest]);
        // No word is divided behind its first letter, or again behind a hyphen.
        if is_known(&[stem, "-", rest]) || are_words || last.len() < stem.len() || letters(last) < 2
        {
            return Joint::Hyphen;
        }
        Joint::Closed
    }

    /// Puts words together that are divided at the end of a line: the rest of the word goes to the first line.
    pub(in crate::pdf) fn join(&self, lines: Vec<Line>) -> Vec<Line> {
        let mut joined: Vec<Line> = Vec::with_capacity(lines.len());
        for mut line in lines {
            if let Some(before) = joined.last_mut()
                && let Some(rest) = divided(&before.text, &line)
            {
                let is_soft = before.text.ends_with(SOFT);
                let (word, others) = line.text.split_at(rest);
                let stem = last_word(&before.text).trim_end_matches(is_hyphen);
                let is_closed = is_soft || self.joint(stem, first_part(word)) == Joint::Closed;
                before.text.pop();
                if !is_closed {
                    before.text.push('-');
                }
                before.text.push_str(word);
                let others = others.trim_start().to_owned();
                if others.is_empty() {
                    continue;
                }
                line.text = others;
            }
            joined.push(line);
        }
        for line in &mut joined {
            if line.text.contains(SOFT) {
                line.text = self.without_soft(&line.text);
            }
        }
        joined
    }

    /// A line in which soft hyphens are left out, or are hyphens where they are seen.
    fn without_soft(&self, text: &str) -> String {
        let mut kept = String::with_capacity(text.len());
        for (at, one) in text.char_indices() {
            if one != SOFT {
                kept.push(one);
                continue;
            }
            let rest = text.get(at + SOFT.len_utf8()..).unwrap_or_default();
            let is_inside =
                kept.ends_with(char::is_alphabetic) && rest.starts_with(char::is_alphabetic);
            let is_shown = || {
                let parts = [last_word(&kept), "-", first_part(rest)];
                self.known.contains(&key(&parts))
            };
            if !is_inside || self.has_plain_soft || is_shown() {
                kept.push('-');
            }
        }
        kept
    }
}

/// Whether a soft hyphen stands where it can divide no word.
fn has_plain_soft(text: &str) -> bool {
    let mut before = None;
    let mut characters = text.chars().peekable();
    while let Some(one) = characters.next() {
        if one == SOFT {
            let is_behind = before.is_some_and(char::is_alphabetic);
            let is_before = characters.peek().is_none_or(|next| next.is_alphabetic());
            if !is_behind || !is_before {
                return true;
            }
        }
        before = Some(one);
    }
    false
}

/// The bytes of `line` that end the word that `before` begins.
fn divided(before: &str, line: &Line) -> Option<usize> {
    let stem = before.strip_suffix(is_hyphen)?;
    // A capital letter or a digit behind the hyphen belongs to a name or a number that keeps it.
    let divides = stem.chars().next_back().is_some_and(char::is_alphabetic)
        && line.text.starts_with(char::is_lowercase)
        && !line.begins_block;
    let rest = line.text.find(char::is_whitespace);
    divides.then_some(rest.unwrap_or(line.text.len()))
}
