//! Texts in records.

use encoding_rs::Encoding;

use crate::package::little_endian::utf_16;

/// How texts are stored.
pub(super) struct Text {
    /// Since Excel 97: characters of one or two bytes, which a byte before them says.
    pub(super) is_unicode: bool,
    /// Of earlier ones.
    pub(super) encoding: &'static Encoding,
}

impl Text {
    /// A text behind its length in one byte.
    pub(super) fn short(&self, data: &[u8]) -> String {
        let length = data.first().copied().map_or(0, usize::from);
        self.characters(length, data.get(1..).unwrap_or_default())
    }

    /// A text behind its length in two bytes.
    pub(super) fn long(&self, data: &[u8]) -> String {
        self.long_in(vec![data])
    }

    /// The same in a record and those that continue it.
    pub(super) fn long_in(&self, pieces: Vec<&[u8]>) -> String {
        let mut pieces = Pieces::new(pieces);
        let length = pieces.number(2);
        self.characters_in(length, pieces)
    }

    fn characters(&self, length: usize, data: &[u8]) -> String {
        self.characters_in(length, Pieces::new(vec![data]))
    }

    fn characters_in(&self, length: usize, mut pieces: Pieces<'_>) -> String {
        if !self.is_unicode {
            let bytes: Vec<u8> = std::iter::from_fn(|| pieces.byte()).take(length).collect();
            let (text, _) = self.encoding.decode_without_bom_handling(&bytes);
            return text.into_owned();
        }
        let flags = pieces.byte().unwrap_or(0);
        // Behind them: how parts of the text look, and how it is spoken.
        if flags & 8 != 0 {
            pieces.skip(2);
        }
        if flags & 4 != 0 {
            pieces.skip(4);
        }
        pieces.characters(length, flags)
    }
}

/// The texts that cells share.
#[derive(Default)]
pub(super) struct Strings {
    texts: Vec<String>,
}

impl Strings {
    /// Reads a record and those that continue it.
    pub(super) fn read(pieces: Vec<&[u8]>) -> Strings {
        let mut pieces = Pieces::new(pieces);
        let mut strings = Strings::default();
        // How often they are used, and how many they are: as many as there are bytes for.
        pieces.skip(8);
        while let (Some(low), Some(high), Some(flags)) =
            (pieces.byte(), pieces.byte(), pieces.byte())
        {
            let length = usize::from(u16::from_le_bytes([low, high]));
            let runs = if flags & 8 != 0 { pieces.number(2) } else { 0 };
            let spoken = if flags & 4 != 0 { pieces.number(4) } else { 0 };
            strings.texts.push(pieces.characters(length, flags));
            pieces.skip(runs.saturating_mul(4).saturating_add(spoken));
        }
        strings
    }

    pub(super) fn get(&self, index: usize) -> Option<&str> {
        self.texts.get(index).map(String::as_str)
    }
}

/// Bytes in several records.
struct Pieces<'s> {
    /// What is left of the first.
    current: &'s [u8],
    following: std::vec::IntoIter<&'s [u8]>,
}

impl<'s> Pieces<'s> {
    fn new(pieces: Vec<&'s [u8]>) -> Pieces<'s> {
        Pieces {
            current: &[],
            following: pieces.into_iter(),
        }
    }

    /// Goes on to the next record at the end of one; whether there is a byte.
    fn fill(&mut self) -> bool {
        while self.current.is_empty() {
            match self.following.next() {
                Some(next) => self.current = next,
                None => return false,
            }
        }
        true
    }

    fn byte(&mut self) -> Option<u8> {
        self.fill();
        let (first, rest) = self.current.split_first()?;
        self.current = rest;
        Some(*first)
    }

    /// A number of so many bytes.
    fn number(&mut self, bytes: u32) -> usize {
        let mut number = 0;
        for at in 0..bytes {
            number |= usize::from(self.byte().unwrap_or(0)) << (8 * at);
        }
        number
    }

    fn skip(&mut self, bytes: usize) {
        let mut left = bytes;
        while left > 0 && self.fill() {
            let passed = left.min(self.current.len());
            self.current = self.current.get(passed..).unwrap_or_default();
            left -= passed;
        }
    }

    /// Characters of one or two bytes by bit 0 of `flags`. A record that continues them says anew which, also where
    /// none of them stands in the record before it.
    fn characters(&mut self, length: usize, flags: u8) -> String {
        let mut text = String::new();
        let (mut left, mut flags) = (length, flags);
        while left > 0 {
            let width = if flags & 1 != 0 { 2 } else { 1 };
            let here = left.min(self.current.len() / width);
            if here == 0 {
                // Half a character at the end of a record is none.
                self.current = &[];
                match self.byte() {
                    Some(anew) => flags = anew,
                    None => break,
                }
                continue;
            }
            let (bytes, rest) = self.current.split_at(here * width);
            self.current = rest;
            match width {
                1 => text.extend(bytes.iter().copied().map(char::from)),
                _ => text.push_str(&utf_16(bytes)),
            }
            left -= here;
        }
        text
    }
}
