//! Character references: `&amp;`, `&#38;`, `&copy` (HTML standard, 13.2.5.72 and later).

use html5ever::data::{C1_REPLACEMENTS, NAMED_ENTITIES};

/// Characters of the longest entity name.
// `CounterClockwiseContourIntegral` has 31 letters. A longer run of letters behind `&` is not
// looked up.
const LONGEST_ENTITY: usize = 32;
/// The longest name that counts without `;`, as in `&copy`.
const LONGEST_BARE_ENTITY: usize = 6;

/// Appends `text` with its character references resolved.
pub(in crate::markup) fn decode_into(out: &mut String, text: &str) {
    let mut pieces = text.split('&');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let used = match piece.strip_prefix('#') {
            Some(number) => decode_number(out, number).map(|used| used + 1),
            None => decode_name(out, piece),
        };
        if used.is_none() {
            out.push('&');
        }
        out.push_str(piece.get(used.unwrap_or(0)..).unwrap_or_default());
    }
}

/// `38;`, `x26;`: appends the character, returns the bytes used.
fn decode_number(out: &mut String, text: &str) -> Option<usize> {
    let hex = text.strip_prefix(['x', 'X']);
    let (digits, radix, prefix) = hex.map_or((text, 10, 0), |digits| (digits, 16, 1));
    let len = digits
        .find(|c: char| !c.is_digit(radix))
        .unwrap_or(digits.len());
    if len == 0 {
        return None;
    }
    let value = u32::from_str_radix(digits.get(..len)?, radix).unwrap_or(u32::MAX);
    let character = match value {
        0 => None,
        0x80..=0x9f => {
            let replaced = C1_REPLACEMENTS
                .get(value as usize - 0x80)
                .copied()
                .flatten();
            replaced.or(char::from_u32(value))
        }
        _ => char::from_u32(value),
    };
    out.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
    let semicolon = usize::from(digits.as_bytes().get(len) == Some(&b';'));
    Some(prefix + len + semicolon)
}

/// `amp;`, `copy`: appends the characters, returns the bytes used.
fn decode_name(out: &mut String, text: &str) -> Option<usize> {
    let len = text
        .bytes()
        .take(LONGEST_ENTITY)
        .take_while(u8::is_ascii_alphanumeric)
        .count();
    if text.as_bytes().get(len) == Some(&b';') && push_entity(out, text.get(..=len)?) {
        return Some(len + 1);
    }
    let bare = (2..=len.min(LONGEST_BARE_ENTITY)).rev();
    bare.into_iter()
        .find(|&len| text.get(..len).is_some_and(|name| push_entity(out, name)))
}

fn push_entity(out: &mut String, name: &str) -> bool {
    // The table also holds the beginnings of names, with 0 for their characters.
    let Some(&(first, second)) = NAMED_ENTITIES.get(name).filter(|(first, _)| *first != 0) else {
        return false;
    };
    out.extend(char::from_u32(first));
    out.extend(char::from_u32(second).filter(|&c| c != '\0'));
    true
}
