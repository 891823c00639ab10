//! Text -> trigrams.

/// Three bytes of text, the first the most significant.
pub(crate) type Trigram = u32;

/// How many trigrams there can be.
const TRIGRAMS: usize = 1 << 24;

/// A byte as trigrams have it.
pub(crate) fn fold(byte: u8) -> u8 {
    // One index serves both cases. A search that respects case checks the text, which it decodes
    // anyway. Letters outside ASCII have no fixed length in both cases, so they are not folded.
    byte.to_ascii_lowercase()
}

/// The trigram of three bytes, which are folded; `None` where one is a line end.
pub(crate) fn trigram(bytes: [u8; 3]) -> Option<Trigram> {
    let is_line_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let [a, b, c] = bytes.map(|byte| Trigram::from(fold(byte)));
    // Searches run line by line, and leaving out line ends makes LF and CR LF files equal.
    (!bytes.iter().any(is_line_end)).then_some(a << 16 | b << 8 | c)
}

/// The distinct trigrams of a unit. Takes 2 MiB, for a bit each that there can be.
pub(crate) struct TrigramSet {
    bits: Vec<u64>,
    list: Vec<Trigram>,
}

impl std::fmt::Debug for TrigramSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TrigramSet")
            .field("len", &self.list.len())
            .finish_non_exhaustive()
    }
}

impl Default for TrigramSet {
    fn default() -> TrigramSet {
        TrigramSet {
            bits: vec![0; TRIGRAMS / 64],
            list: Vec::new(),
        }
    }
}

impl TrigramSet {
    /// Adds the trigrams of a text.
    pub(crate) fn add(&mut self, text: &[u8]) {
        // Of the window, and how many of its bytes may be part of one.
        let (mut window, mut run) = (0, 0);
        for byte in text {
            if matches!(byte, b'\n' | b'\r') {
                run = 0;
                continue;
            }
            window = (window << 8 | Trigram::from(fold(*byte))) & (TRIGRAMS as Trigram - 1);
            run += 1;
            if run < 3 {
                continue;
            }
            if let Some(bits) = self.bits.get_mut(window as usize / 64)
                && *bits >> (window % 64) & 1 == 0
            {
                *bits |= 1 << (window % 64);
                self.list.push(window);
            }
        }
    }

    /// Calls `visit` with each trigram once, in no order, and empties the set.
    pub(crate) fn drain(&mut self, mut visit: impl FnMut(Trigram)) {
        for trigram in self.list.drain(..) {
            if let Some(bits) = self.bits.get_mut(trigram as usize / 64) {
                // Clears a word of bits, which may belong to other trigrams of the list too: all of
                // them are drained.
                *bits = 0;
            }
            visit(trigram);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigrams_are_folded_and_do_not_reach_over_lines() {
        let mut set = TrigramSet::default();
        set.add(b"aBcAbC\nab\r\ncd");
        let mut all = Vec::new();
        set.drain(|trigram| all.push(trigram));
        all.sort_unstable();
        let expected = [b"abc", b"bca", b"cab"].map(|bytes| trigram(*bytes).unwrap());
        assert_eq!(all, expected);
        assert_eq!(trigram(*b"ABC"), trigram(*b"abc"));
        assert_eq!(trigram(*b"a\nb"), None);
        set.add(b"xyz");
        let mut count = 0;
        set.drain(|_| count += 1);
        assert_eq!(count, 1, "it was emptied");
    }
}
