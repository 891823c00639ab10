//! Sets of bytes.

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Bytes([u64; 4]);

impl Bytes {
    /// Adds the bytes from `first` to `last`.
    pub(crate) fn add(&mut self, first: u8, last: u8) {
        for byte in first..=last {
            if let Some(word) = self.0.get_mut(usize::from(byte / 64)) {
                *word |= 1 << (byte % 64);
            }
        }
    }

    /// All bytes that are not in the set.
    pub(crate) fn negated(self) -> Bytes {
        Bytes(self.0.map(|word| !word))
    }

    /// The set without `/`.
    pub(crate) fn without_slash(mut self) -> Bytes {
        let [word, ..] = &mut self.0;
        *word &= !(1 << b'/');
        self
    }

    /// Whether a byte is in the set.
    pub(crate) fn has(&self, byte: u8) -> bool {
        let word = self.0.get(usize::from(byte / 64));
        word.is_some_and(|word| word >> (byte % 64) & 1 == 1)
    }
}
