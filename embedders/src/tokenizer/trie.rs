//! The pieces of a vocabulary by their bytes, so that all pieces that begin at a place are found in one walk.

/// Most pieces. Models for a hundred languages have 250,000.
const PIECES_LIMIT: usize = 1 << 20;
/// Most bytes of all pieces. Models for a hundred languages have 2 MB.
const BYTES_LIMIT: usize = 1 << 24;
/// Most bytes of a piece.
const PIECE_LIMIT_BYTES: usize = 1024;

/// Marks a node that ends no piece.
const NONE: u32 = u32::MAX;

/// The pieces, in nodes that are sorted by their distance from the root: children of a node are neighbours.
#[derive(Debug)]
pub(super) struct Trie {
    nodes: Vec<Node>,
    /// The last byte of each node.
    labels: Vec<u8>,
    /// Bytes of the longest piece.
    pub(super) longest: usize,
}

#[derive(Debug)]
struct Node {
    /// Its children are at this place and behind it.
    first: u32,
    children: u32,
    token: u32,
}

impl Trie {
    /// The token of a piece is its place; of equal pieces the last one counts.
    pub(super) fn new(pieces: &[&[u8]]) -> Result<Trie, String> {
        if pieces.len() > PIECES_LIMIT {
            return Err(format!("a vocabulary of more than {PIECES_LIMIT} tokens"));
        }
        if pieces.iter().map(|piece| piece.len()).sum::<usize>() > BYTES_LIMIT {
            return Err(format!("a vocabulary of more than {BYTES_LIMIT} bytes"));
        }
        let longest = pieces.iter().map(|piece| piece.len()).max().unwrap_or(0);
        if longest > PIECE_LIMIT_BYTES {
            return Err(format!("a token of more than {PIECE_LIMIT_BYTES} bytes"));
        }
        let mut sorted: Vec<(&[u8], u32)> = pieces.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        let mut trie = Trie {
            nodes: vec![Node::new()],
            labels: vec![0],
            longest,
        };
        let mut level = vec![(0, sorted.as_slice())];
        for depth in 0.. {
            let mut next = Vec::new();
            for (place, mut range) in level {
                // Equal pieces are neighbours, the last one last.
                while let Some(((piece, token), rest)) = range.split_first()
                    && piece.len() == depth
                {
                    trie.set(place, |node| node.token = *token);
                    range = rest;
                }
                let first = trie.nodes.len() as u32;
                let mut children = 0;
                let label = |item: &(&[u8], u32)| item.0.get(depth).copied();
                for group in range.chunk_by(|one, other| label(one) == label(other)) {
                    next.push((trie.nodes.len(), group));
                    trie.nodes.push(Node::new());
                    trie.labels
                        .push(group.first().and_then(label).unwrap_or_default());
                    children += 1;
                }
                trie.set(place, |node| {
                    (node.first, node.children) = (first, children)
                });
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
        Ok(trie)
    }

    fn set(&mut self, place: usize, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.nodes.get_mut(place) {
            change(node);
        }
    }

    /// Calls `on_piece` with the bytes and token of each piece that `text` begins with, the shortest first.
    pub(super) fn prefixes(&self, text: &[u8], mut on_piece: impl FnMut(usize, u32)) {
        let mut place = 0;
        for (depth, byte) in text.iter().enumerate() {
            let Some(child) = self.child(place, *byte) else {
                return;
            };
            place = child;
            match self.nodes.get(place) {
                Some(node) if node.token != NONE => on_piece(depth + 1, node.token),
                _ => {}
            }
        }
    }

    /// The token of a piece.
    pub(super) fn token(&self, piece: &[u8]) -> Option<u32> {
        let mut place = 0;
        for byte in piece {
            place = self.child(place, *byte)?;
        }
        let token = self.nodes.get(place)?.token;
        (token != NONE).then_some(token)
    }

    fn child(&self, place: usize, byte: u8) -> Option<usize> {
        let node = self.nodes.get(place)?;
        let first = node.first as usize;
        let labels = self.labels.get(first..first + node.children as usize)?;
        Some(first + labels.binary_search(&byte).ok()?)
    }
}

impl Node {
    fn new() -> Node {
        Node {
            first: 0,
            children: 0,
            token: NONE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pieces_that_begin_a_text_are_found() {
        let pieces: [&[u8]; 7] = [b"ab", b"a", b"b", b"abc", b"ab", b"\xffz", b""];
        let trie = Trie::new(&pieces).unwrap();
        let found = |text: &[u8]| {
            let mut found = Vec::new();
            trie.prefixes(text, |length, token| found.push((length, token)));
            found
        };
        assert_eq!(found(b"abcd"), [(1, 1), (2, 4), (3, 3)]);
        assert_eq!(found(b"\xff"), []);
        assert_eq!(found(b"c"), []);
        assert_eq!(found(b""), []);
        assert_eq!(trie.token(b"ab"), Some(4));
        assert_eq!(trie.token(b"\xff"), None);
        assert_eq!(trie.longest, 3);
    }

    #[test]
    fn a_vocabulary_has_bounds() {
        let long = vec![b'a'; PIECE_LIMIT_BYTES];
        assert!(Trie::new(&[&long]).is_ok());
        let longer = vec![b'a'; PIECE_LIMIT_BYTES + 1];
        assert!(Trie::new(&[&longer]).unwrap_err().contains("1024 bytes"));
        let all = vec![long.as_slice(); (BYTES_LIMIT >> 10) + 1];
        assert!(Trie::new(&all).unwrap_err().contains("16777216 bytes"));
    }
}
