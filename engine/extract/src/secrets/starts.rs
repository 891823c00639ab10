//! Finds where any of some hundred short texts begins, in one pass.

/// Texts are told apart by a group number of one byte.
// 0 means that no text has the pair. A table of u16 would take twice the cache.
const MAX_GROUPS: usize = 255;

/// Pairs that are looked up together.
// Eight lookups are independent, so the processor overlaps them. One automaton over all prefixes
// reads 0.55 GB/s, this filter 2.0 to 2.6 GB/s (docs/decisions/18-secrets.md).
const CHUNK: usize = 8;

/// A filter by pairs of bytes: of each text the pair is chosen that is rarest in code and prose, and only where
/// such a pair stands, the texts that have it are compared. 1.5 to 3 GB/s, where an automaton for all of them
/// (Aho-Corasick, as a table of all states) reads 0.5 GB/s: each of its steps waits for the one before.
#[derive(Debug)]
pub(super) struct Starts {
    /// Of each pair, first byte high, the group that has it, from 1; 0: none.
    group_of: Box<[u8; 1 << 16]>,
    groups: Vec<Vec<Start>>,
}

/// One of the texts.
#[derive(Debug)]
struct Start {
    text: &'static [u8],
    /// Where its pair is in it.
    pair_at: usize,
    /// Its position in the list of all.
    number: usize,
}

impl Starts {
    /// A filter for `texts`, of at least two bytes each; `None` if they have too many different pairs.
    pub(super) fn new(texts: &[&'static str]) -> Option<Starts> {
        let mut starts = Starts {
            group_of: Box::new([0; 1 << 16]),
            groups: Vec::new(),
        };
        for (number, text) in texts.iter().enumerate() {
            let text = text.as_bytes();
            let pairs = text.windows(2).enumerate();
            // The rarer the pair, the fewer texts are compared.
            let (pair_at, pair) = pairs.min_by_key(|(_, pair)| commonness(pair))?;
            let group = starts.group_of.get_mut(usize::from(index(pair)))?;
            if *group == 0 {
                starts.groups.push(Vec::new());
                *group = u8::try_from(starts.groups.len()).ok()?;
            }
            starts.groups.get_mut(usize::from(*group) - 1)?.push(Start {
                text,
                pair_at,
                number,
            });
        }
        (starts.groups.len() <= MAX_GROUPS).then_some(starts)
    }

    /// Calls `visit` with the number of each text that is found, and where it begins, until it gives a value.
    /// Ordered by the pairs: what begins later by less than the length of a text may come first.
    pub(super) fn find<T>(
        &self,
        text: &[u8],
        mut visit: impl FnMut(usize, usize) -> Option<T>,
    ) -> Option<T> {
        let mut at = 0;
        while let Some(bytes) = text.get(at..) {
            // Most of a text has no such pair: eight are looked up for one branch.
            if bytes
                .first_chunk()
                .is_some_and(|chunk| !self.has_pair(chunk))
            {
                // A text that began in these bytes would have had its pair in the chunk.
                at += CHUNK;
                continue;
            }
            for at in at..at + CHUNK {
                let pair = *text.get(at..)?.first_chunk()?;
                let found = self.starts_of(pair).iter().find_map(|start| {
                    let begin = at.checked_sub(start.pair_at)?;
                    let is_there = text.get(begin..)?.starts_with(start.text);
                    is_there.then(|| visit(start.number, begin)).flatten()
                });
                if found.is_some() {
                    return found;
                }
            }
            at += CHUNK;
        }
        None
    }

    /// Whether any of the pairs that begin at the first [`CHUNK`] bytes belongs to a text.
    fn has_pair(&self, chunk: &[u8; CHUNK + 1]) -> bool {
        let groups = chunk.windows(2).map(|pair| match pair {
            [first, second] => self.group([*first, *second]),
            _ => 0,
        });
        groups.fold(0, |all, group| all | group) != 0
    }

    fn group(&self, pair: [u8; 2]) -> u8 {
        let index = usize::from(u16::from_be_bytes(pair));
        self.group_of.get(index).copied().unwrap_or(0)
    }

    fn starts_of(&self, pair: [u8; 2]) -> &[Start] {
        let group = usize::from(self.group(pair)).checked_sub(1);
        let starts = group.and_then(|group| self.groups.get(group));
        starts.map_or(&[], Vec::as_slice)
    }
}

fn index(pair: &[u8]) -> u16 {
    match pair {
        [first, second] => u16::from_be_bytes([*first, *second]),
        _ => 0,
    }
}

/// About how often a pair stands in code and prose, in steps of a factor of two: the shares of its bytes there,
/// and less where a capital follows what is none, or the reverse.
fn commonness(pair: &[u8]) -> u32 {
    let of = |byte: u8| match byte {
        b' ' | b'e' | b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' => 9,
        b'l' | b'd' | b'c' | b'u' | b'p' | b'm' | b'h' | b'f' => 8,
        b'_' | b'.' | b'-' | b'/' | b'=' | b'g' | b'y' | b'b' | b'w' | b'v' | b'k' | b'0'
        | b'1' => 7,
        b'x' | b'2'..=b'9' => 6,
        b'A'..=b'Z' => 5,
        _ => 4,
    };
    match pair {
        [first, second] if first == second => of(*first) + 8,
        [first, second] => {
            let changes = first.is_ascii_uppercase() != second.is_ascii_uppercase();
            of(*first) + of(*second) - u32::from(changes && first.is_ascii_alphabetic()) * 2
        }
        _ => u32::MAX,
    }
}
