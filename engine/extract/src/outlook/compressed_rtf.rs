//! Compressed RTF, as messages of Outlook hold it (MS-OXRTFCP): runs of letters, and references to what was written
//! before, in a window of 4 KiB that begins with words of every RTF.

use crate::package::little_endian::{place_at, u32_at};

/// What the window holds at first.
const PRESET: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \
    \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \
    \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";
const WINDOW_BYTES: usize = 4096;
const HEADER_BYTES: usize = 16;
/// The marks of what is compressed, and of what is not.
const COMPRESSED: u32 = 0x7546_5A4C;
const PLAIN: u32 = 0x414C_454D;
/// Bytes of RTF that are read.
const MAX_BYTES: usize = 64 << 20;

/// The RTF in it; `None` for what is none.
pub(super) fn decompressed(bytes: &[u8]) -> Option<Vec<u8>> {
    let length = place_at(bytes, 4)?.min(MAX_BYTES);
    let content = bytes.get(HEADER_BYTES..)?;
    match u32_at(bytes, 8)? {
        PLAIN => Some(content.get(..length).unwrap_or(content).to_vec()),
        COMPRESSED => Some(unpacked(content, length)),
        _ => None,
    }
}

fn unpacked(content: &[u8], length: usize) -> Vec<u8> {
    let mut window = [b' '; WINDOW_BYTES];
    if let Some(start) = window.get_mut(..PRESET.len()) {
        start.copy_from_slice(PRESET);
    }
    let mut at = PRESET.len();
    let mut read = Vec::new();
    let mut bytes = content.iter().copied();
    let mut put = |byte: u8, window: &mut [u8; WINDOW_BYTES], at: &mut usize| {
        if let Some(place) = window.get_mut(*at) {
            *place = byte;
        }
        *at = (*at + 1) % WINDOW_BYTES;
        read.push(byte);
        read.len() < length
    };
    'content: while let Some(kinds) = bytes.next() {
        for kind in 0..8 {
            if kinds & (1 << kind) == 0 {
                match bytes.next() {
                    Some(byte) if put(byte, &mut window, &mut at) => continue,
                    _ => break 'content,
                }
            }
            let (Some(high), Some(low)) = (bytes.next(), bytes.next()) else {
                break 'content;
            };
            let from = usize::from(high) << 4 | usize::from(low) >> 4;
            if from == at {
                break 'content;
            }
            for step in 0..usize::from(low & 0xF) + 2 {
                let byte = window.get((from + step) % WINDOW_BYTES).copied();
                if !put(byte.unwrap_or_default(), &mut window, &mut at) {
                    break 'content;
                }
            }
        }
    }
    read
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The same text, not compressed.
    pub(in crate::outlook) fn stored(rtf: &[u8]) -> Vec<u8> {
        let length = (rtf.len() as u32).to_le_bytes();
        [&length[..], &length, &PLAIN.to_le_bytes(), &[0; 4], rtf].concat()
    }

    #[test]
    fn references_go_to_what_was_written_before() {
        // The second example of the specification: a run that refers to itself.
        let packed = [
            0x1a, 0x00, 0x00, 0x00, 0x1c, 0x00, 0x00, 0x00, 0x4c, 0x5a, 0x46, 0x75, 0xe2, 0xd4,
            0x4b, 0x51, 0x41, 0x00, 0x04, 0x20, 0x57, 0x58, 0x59, 0x5a, 0x0d, 0x6e, 0x7d, 0x01,
            0x0e, 0xb0,
        ];
        assert_eq!(PRESET.len(), 207);
        assert_eq!(
            decompressed(&packed).unwrap(),
            b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}"
        );
        assert_eq!(decompressed(&stored(b"{\\rtf1 a}")).unwrap(), b"{\\rtf1 a}");
        for length in 0..packed.len() {
            let _ = decompressed(&packed[..length]);
        }
        assert_eq!(decompressed(b"no RTF at all, but long"), None);
    }
}
