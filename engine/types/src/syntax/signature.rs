//! What stands before the body of a symbol, on one line.

/// Bytes of a signature.
// A signature is one line of a list; the text has the rest.
const MAX_SIGNATURE_BYTES: usize = 200;
/// Bytes that are read for it.
const MAX_READ_BYTES: usize = 2000;

/// The words of `head` with single spaces between them, without the sign that opens the body.
pub fn signature(head: &str) -> String {
    let head = head.get(..head.floor_char_boundary(MAX_READ_BYTES));
    let mut line = String::new();
    for word in head.unwrap_or_default().split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > MAX_SIGNATURE_BYTES {
            break;
        }
    }
    line.truncate(line.floor_char_boundary(MAX_SIGNATURE_BYTES));
    let kept = line
        .trim_end_matches(['{', ':', ';', ' '])
        .trim_end_matches("=>")
        .trim_end_matches([' ', '=']);
    line.truncate(kept.len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_one_line_without_its_body() {
        for (head, line) in [
            ("fn a(\n    b: u8,\n) -> u8 {", "fn a( b: u8, ) -> u8"),
            ("def a(b):", "def a(b)"),
            ("const a = (b) =>", "const a = (b)"),
            ("int operator==(A a) {", "int operator==(A a)"),
            ("", ""),
        ] {
            assert_eq!(signature(head), line);
        }
        let long = "\u{e9}".repeat(900);
        assert!(signature(&long).len() <= MAX_SIGNATURE_BYTES);
    }
}
