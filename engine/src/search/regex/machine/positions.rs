//! Which assertions hold at a position of a text.

use regex_automata::util::look::{Look, LookMatcher, LookSet};

/// Most kinds of positions that one scan distinguishes.
// A state has a row of transitions for each kind. Beyond the limit a scan goes on without keeping
// states. A number and one fit the bytes of `between_ascii`.
pub(super) const KINDS_LIMIT: usize = 64;

/// What a list of states needs to know of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PositionKind {
    /// The assertions of the automaton that hold there.
    pub(super) holds: LookSet,
    /// Whether a character begins there, so that a match may.
    pub(super) is_boundary: bool,
}

/// Numbers the kinds of positions that are met.
#[derive(Debug)]
pub(super) struct Positions {
    matcher: LookMatcher,
    /// The assertions of the automaton.
    looks: LookSet,
    /// Whether the automaton reads backward, where its assertions are mirrored.
    is_reverse: bool,
    /// By number. Only one where positions do not differ.
    kinds: Vec<PositionKind>,
    is_uniform: bool,
    /// Number and one of the kind between two ASCII bytes, once it is known.
    between_ascii: Vec<u8>,
}

impl Positions {
    /// For an automaton with such assertions; `has_empty` where it has empty matches.
    pub(super) fn new(
        matcher: LookMatcher,
        looks: LookSet,
        is_reverse: bool,
        has_empty: bool,
    ) -> Positions {
        // A match that is not empty begins with a character by itself.
        let is_uniform = looks.is_empty() && !has_empty;
        let any = PositionKind {
            holds: LookSet::empty(),
            is_boundary: true,
        };
        Positions {
            matcher,
            looks,
            is_reverse,
            kinds: if is_uniform { vec![any] } else { Vec::new() },
            is_uniform,
            // 128 * 128 pairs of neighbours. Most assertions (`\b`, `^`) depend on two ASCII bytes,
            // and deciding them for each byte anew would dominate the scan.
            between_ascii: vec![0; if is_uniform { 0 } else { 1 << 14 }],
        }
    }

    /// How many numbers there may be.
    pub(super) fn capacity(&self) -> usize {
        if self.is_uniform { 1 } else { KINDS_LIMIT }
    }

    /// Whether all positions are of one kind, number 0.
    pub(super) fn is_uniform(&self) -> bool {
        self.is_uniform
    }

    /// The kind of a number.
    pub(super) fn kind(&self, number: usize) -> PositionKind {
        let none = PositionKind {
            holds: LookSet::empty(),
            is_boundary: false,
        };
        self.kinds.get(number).copied().unwrap_or(none)
    }

    /// The number of the kind of a position; `None` when there would be too many.
    pub(super) fn number_at(&mut self, text: &str, at: usize) -> Option<usize> {
        if self.is_uniform {
            return Some(0);
        }
        let bytes = text.as_bytes();
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        let neighbours = match (before, bytes.get(at)) {
            (Some(before), Some(after)) if before.is_ascii() && after.is_ascii() => {
                Some(usize::from(*before) << 7 | usize::from(*after))
            }
            // Neighbours outside ASCII need their characters decoded.
            _ => None,
        };
        let known = neighbours.and_then(|pair| self.between_ascii.get(pair));
        if let Some(number) = known.and_then(|known| known.checked_sub(1)) {
            return Some(usize::from(number));
        }
        let kind = self.kind_at(text, at);
        let number = self.kinds.iter().position(|known| *known == kind);
        let number = match number {
            Some(number) => number,
            None if self.kinds.len() < KINDS_LIMIT => {
                self.kinds.push(kind);
                self.kinds.len() - 1
            }
            None => return None,
        };
        if let Some(slot) = neighbours.and_then(|pair| self.between_ascii.get_mut(pair)) {
            *slot = number as u8 + 1;
        }
        Some(number)
    }

    /// What holds at a position.
    pub(super) fn kind_at(&self, text: &str, at: usize) -> PositionKind {
        let is_boundary = text.is_char_boundary(at);
        let mut holds = LookSet::empty();
        // Nothing is asserted within a character.
        if is_boundary {
            for look in self.looks.iter() {
                let asked: Look = if self.is_reverse {
                    look.reversed()
                } else {
                    look
                };
                if self.matcher.matches(asked, text.as_bytes(), at) {
                    holds = holds.insert(look);
                }
            }
        }
        PositionKind { holds, is_boundary }
    }
}
