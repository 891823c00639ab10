//! The table of replacements that SentencePiece makes of a normalisation form: a double array over the bytes of what is
//! replaced (as the library Darts-clone lays it out), and the replacements, each with a zero behind it.

use unicode_segmentation::UnicodeSegmentation;

/// Most bytes of a replacement: that of the longest one of NFKC is shorter.
const REPLACEMENT_LIMIT_BYTES: usize = 256;
/// Clusters of so many bytes are not looked up as a whole, as in the library `tokenizers`.
const CLUSTER_BYTES: usize = 6;

/// The table: a trie of the clusters that are replaced, and the texts that take their place, each ended by a 0 byte.
#[derive(Debug)]
pub(super) struct Charsmap {
    units: Vec<u32>,
    replacements: String,
}

impl Charsmap {
    /// Reads the table: the bytes of the array, the array, and the replacements.
    pub(super) fn new(bytes: &[u8]) -> Result<Charsmap, String> {
        let short = || "precompiled_charsmap: it ends too early".to_owned();
        let (length, rest) = bytes.split_first_chunk().ok_or_else(short)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (array, replacements) = rest.split_at_checked(length).ok_or_else(short)?;
        let (units, rest) = array.as_chunks();
        if units.is_empty() || !rest.is_empty() {
            return Err(short());
        }
        let replacements = String::from_utf8(replacements.to_vec());
        Ok(Charsmap {
            units: units.iter().map(|unit| u32::from_le_bytes(*unit)).collect(),
            replacements: replacements
                .map_err(|_| "precompiled_charsmap: its replacements are no text".to_owned())?,
        })
    }

    /// The text with its replacements, up to about `limit_bytes`.
    pub(super) fn apply(&self, text: &str, limit_bytes: usize) -> String {
        let mut out = String::with_capacity(text.len());
        for cluster in text.graphemes(true) {
            if out.len() > limit_bytes {
                break;
            }
            if cluster.len() < CLUSTER_BYTES
                && let Some(replacement) = self.replacement(cluster)
            {
                out.push_str(replacement);
                continue;
            }
            for character in cluster.chars() {
                if out.len() > limit_bytes {
                    break;
                }
                match self.replacement(character.encode_utf8(&mut [0; 4])) {
                    Some(replacement) => out.push_str(replacement),
                    None => out.push(character),
                }
            }
        }
        out
    }

    /// What replaces a part of a text: the shortest key that it begins with decides, as in the library `tokenizers`.
    fn replacement(&self, part: &str) -> Option<&str> {
        let unit = |place: u32| self.units.get(place as usize).copied();
        let mut place = offset(unit(0)?);
        for byte in part.bytes().take_while(|byte| *byte != 0) {
            place ^= u32::from(byte);
            let here = unit(place)?;
            if here & (1 << 31 | 0xff) != u32::from(byte) {
                return None;
            }
            place ^= offset(here);
            if here >> 8 & 1 == 1 {
                return self.text(unit(place)? & !(1 << 31));
            }
        }
        None
    }

    /// The replacement that begins at a place.
    fn text(&self, start: u32) -> Option<&str> {
        let start = start as usize;
        let rest = self.replacements.as_bytes().get(start..)?;
        let mut near = rest.iter().take(REPLACEMENT_LIMIT_BYTES);
        let length = near.position(|byte| *byte == 0);
        // The last one may have no zero.
        let length = length.or((rest.len() <= REPLACEMENT_LIMIT_BYTES).then_some(rest.len()))?;
        self.replacements.get(start..start + length)
    }
}

/// Where the children of a unit are, from its own place.
fn offset(unit: u32) -> u32 {
    (unit >> 10) << ((unit & 1 << 9) >> 6)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table that replaces "a" by the text behind it.
    fn table(replacements: &[u8]) -> Vec<u8> {
        let mut units = vec![0u32; 256];
        // The root's children begin at 1 ^ byte, those of "a" at 2 ^ (1 ^ 'a').
        units[0] = 1 << 10;
        let a = usize::from(b'a') ^ 1;
        units[a] = 2 << 10 | 1 << 8 | u32::from(b'a');
        units[a ^ 2] = 1 << 31;
        let array: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let length = (array.len() as u32).to_le_bytes();
        [&length[..], &array, replacements].concat()
    }

    #[test]
    fn the_shortest_key_is_replaced() {
        let map = Charsmap::new(&table(b"xy\0z")).unwrap();
        assert_eq!(map.apply("bab", 100), "bxyb");
        // A cluster as a whole, where a key begins it; not one of six bytes.
        assert_eq!(map.apply("a\u{301}", 100), "xy");
        assert_eq!(
            map.apply("a\u{301}\u{301}\u{301}", 100),
            "xy\u{301}\u{301}\u{301}"
        );
        assert_eq!(Charsmap::new(&table(b"z")).unwrap().apply("a", 100), "z");
        assert!(map.apply(&"a".repeat(1000), 100).len() < 110);
    }

    #[test]
    fn tables_without_sense_are_refused_or_replace_nothing() {
        let whole = table(b"xy\0");
        for cut in [0, 3, 4, 100, 1027] {
            Charsmap::new(&whole[..cut]).unwrap_err();
        }
        Charsmap::new(&[0, 0, 0, 0, b'a']).unwrap_err();
        Charsmap::new(&table(b"\xff")).unwrap_err();
        let long = Charsmap::new(&table(&[b'x'; 300])).unwrap();
        assert_eq!(long.apply("a", 100), "a");
        // Any unit may point anywhere.
        for byte in 4..whole.len() {
            let mut bytes = whole.clone();
            bytes[byte] ^= 0xff;
            if let Ok(map) = Charsmap::new(&bytes) {
                map.apply("bab a\u{301}", 100);
            }
        }
    }
}
