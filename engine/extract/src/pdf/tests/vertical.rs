//! Lines that run down, from the right edge of the page to the left.

use super::{FONT, text, with_objects};

/// A page whose font is for vertical lines.
fn vertical(content: &str) -> Vec<u8> {
    let font = "<< /Type /Font /Subtype /Type0 /BaseFont /Some /Encoding /UniJIS-UTF16-V /DescendantFonts [4 0 R] >>";
    let descendant = "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Some /DW 1000 \
        /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 5 >> >>";
    let bytes = with_objects("", &[("", content)], &[descendant.to_owned()], "");
    String::from_utf8_lossy(&bytes)
        .replace(FONT, font)
        .into_bytes()
}

fn column(x: f64, y: f64, size: f64, words: &str) -> String {
    let codes: String = words
        .encode_utf16()
        .map(|unit| format!("{unit:04x}"))
        .collect();
    format!("BT /F {size} Tf 1 0 0 1 {x} {y} Tm <{codes}> Tj ET\n")
}

const LINES: [&str; 4] = [
    "\u{6e2f}\u{306b}\u{306f}\u{8239}\u{304c}\u{591a}\u{3044}\u{3002}",
    "\u{6d77}\u{306f}\u{5e83}\u{304f}\u{9752}\u{304b}\u{3063}\u{305f}",
    "\u{9ce5}\u{304c}\u{7a7a}\u{3092}\u{98db}\u{3073}\u{3001}\u{98a8}",
    "\u{304c}\u{5439}\u{3044}\u{3066}\u{3044}\u{305f}\u{3002}",
];

#[test]
fn columns_are_read_from_right_to_left() {
    // Drawn in another order than they are read in.
    let places = [2, 0, 3, 1];
    let content = places.map(|at| column(400.0 - 20.0 * at as f64, 700.0, 12.0, LINES[at]));
    let read = text(&vertical(&content.concat()));
    assert_eq!(
        read,
        format!("{}\n{}\n{}\n{}\n\n", LINES[0], LINES[1], LINES[2], LINES[3])
    );
}

#[test]
fn readings_beside_the_letters_stay_apart_from_them() {
    let mut content: String = (0..4)
        .map(|at| column(400.0 - 24.0 * at as f64, 700.0, 12.0, LINES[at]))
        .collect();
    // Small letters to the right of the first and the third column, in two places of the first.
    content += &column(409.0, 700.0, 6.0, "\u{307f}\u{306a}\u{3068}");
    content += &column(409.0, 664.0, 6.0, "\u{3075}\u{306d}");
    content += &column(361.0, 700.0, 6.0, "\u{3068}\u{308a}");
    let read = text(&vertical(&content));
    for line in LINES {
        assert!(read.contains(&format!("{line}\n")), "{line} in {read}");
    }
    // What is read without them is the text.
    let main: Vec<&str> = read.lines().filter(|line| LINES.contains(line)).collect();
    assert_eq!(main, LINES);
}
