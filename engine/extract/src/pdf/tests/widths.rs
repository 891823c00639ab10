//! Letters of fonts that are not in the document.

use super::{FONT, document, text};

/// Letters with their widths in Helvetica.
const LETTERS: [(char, u32); 8] = [
    (' ', 278),
    ('a', 556),
    ('h', 556),
    ('i', 222),
    ('m', 833),
    ('n', 556),
    ('o', 556),
    ('r', 333),
];

/// A page whose font is a narrow one, all letters of which have 82 hundredths of the width of those that stand in for them.
fn narrow(content: &str) -> Vec<u8> {
    let width = |code: u8| {
        let known = LETTERS
            .iter()
            .find(|(letter, _)| *letter == char::from(code));
        known
            .map_or(0, |(_, width)| (width * 82 + 50) / 100)
            .to_string()
    };
    let widths: Vec<String> = (32..=122).map(width).collect();
    let font = format!(
        "<< /Type /Font /Subtype /TrueType /BaseFont /HarbourNarrow /Encoding /WinAnsiEncoding /FirstChar 32 /LastChar 122 \
         /Widths [{}] >>",
        widths.join(" ")
    );
    String::from_utf8_lossy(&document(content))
        .replace(FONT, &font)
        .into_bytes()
}

#[test]
fn a_letter_of_a_narrow_font_that_is_drawn_alone_stays_with_its_word() {
    // What a program writes that places a capital by itself.
    let content =
        "BT /F 10 Tf 50 700 Td (in a iron moon) Tj 0 -20 Td (m) Tj (oon) Tj ( m) Tj (iro) Tj ET";
    assert_eq!(text(&narrow(content)), "in a iron moon\n\nmoon miro\n\n");
}

#[test]
fn letters_that_are_written_narrow_keep_their_words_apart() {
    let content = "BT /F 10 Tf 82 Tz 50 700 Td (iron moon a ham) Tj 0 -20 Td (m) Tj (oon) Tj ET\n\
                   BT /F 10 Tf 82 Tz 1 0 0 1 50 660 Tm (m) Tj 1 0 0 1 58.33 660 Tm (oon) Tj ET";
    assert_eq!(
        text(&document(content)),
        "iron moon a ham\n\nmoon\n\nm oon\n\n"
    );
}
