//! Settings in text: `key = value` and `key: value` by lines, and the text fields of JSON.

/// Longest value that is looked at, in bytes.
// Certificates and key stores in base64 are shorter. A longer value is data.
const MAX_VALUE: usize = 64 << 10;

/// Each line with the byte where it begins.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim_end_matches(['\n', '\r']))
    })
}

/// Each line that sets a key: where it begins, key and value without quotes, white space and comments.
/// `separators`: what may stand between key and value; the first that does.
pub(super) fn settings<'t>(
    text: &'t str,
    separators: &'t [u8],
) -> impl Iterator<Item = (usize, &'t str, &'t str)> {
    lines(text).filter_map(move |(start, line)| {
        let at = line.bytes().position(|byte| separators.contains(&byte))?;
        let (key, value) = (line.get(..at)?, line.get(at + 1..)?);
        let key = key.trim().trim_start_matches("- ");
        if key.starts_with(['#', ';']) {
            return None;
        }
        // A `#` without a space before it may be part of a password.
        let value = value.split(" #").next().unwrap_or(value);
        Some((
            start,
            unquoted(key),
            unquoted(value.trim().trim_end_matches(',')),
        ))
    })
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

/// Each field of JSON whose value is a text: where it begins, key and value as they are written, with escapes.
/// Longer values than 64 KiB are passed over. Linear, and correct for any nesting; of what is no JSON it gives
/// some pairs.
pub(super) fn json_pairs(json: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    let mut at = 0;
    // The last string and where it begins, when it may be a key.
    let mut key: Option<(usize, &str)> = None;
    std::iter::from_fn(move || {
        loop {
            let rest = json.get(at..)?;
            let next = rest.find(|c: char| !matches!(c, ' ' | '\t' | '\n' | '\r'))?;
            let start = at + next;
            match json.as_bytes().get(start)? {
                b'"' => {
                    let length = string_length(json.as_bytes().get(start + 1..)?)?;
                    let string = json.get(start + 1..start + 1 + length)?;
                    at = start + length + 2;
                    let is_key = json.get(at..)?.trim_ascii_start().starts_with(':');
                    match key.take() {
                        _ if is_key => key = Some((start, string)),
                        Some((start, key)) if string.len() <= MAX_VALUE => {
                            return Some((start, key, string));
                        }
                        _ => {}
                    }
                }
                b':' => at = start + 1,
                _ => {
                    key = None;
                    let c = json.get(start..)?.chars().next()?;
                    at = start + c.len_utf8();
                }
            }
        }
    })
}

/// Bytes up to the quote that ends a string.
fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        match bytes.get(at)? {
            b'"' => return Some(at),
            // The character after it is escaped.
            _ => at += 2,
        }
    }
}
