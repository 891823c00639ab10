//! Text whose characters, or whose spaces, the page does not say plainly.

use super::{FONT, at, document, mapped_font, stream, text, with_objects};

/// A page whose font is of two bytes a character, with these further entries.
fn composite(entries: &str, system: &str, content: &str) -> Vec<u8> {
    let font = format!(
        "<< /Type /Font /Subtype /Type0 /BaseFont /Some /DescendantFonts [4 0 R] {entries} >>"
    );
    let descendant = format!(
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Some /DW 600 /CIDSystemInfo << {system} >> >>"
    );
    let bytes = with_objects("", &[("", content)], &[descendant], "");
    String::from_utf8_lossy(&bytes)
        .replace(FONT, &font)
        .into_bytes()
}

/// A line in hexadecimal codes.
fn coded(y: u32, line: &str) -> String {
    let codes: String = line
        .encode_utf16()
        .map(|unit| format!("{unit:04x}"))
        .collect();
    format!("BT /F 10 Tf 50 {y} Td <{codes}> Tj ET\n")
}

const NO_COLLECTION: &str = "/Registry (Adobe) /Ordering (Identity) /Supplement 0";

#[test]
fn a_font_whose_map_is_a_name_has_characters_for_codes() {
    let line =
        "p\u{159}\u{ed}li\u{161} \u{17e}lu\u{165} \u{43a}\u{43e}\u{43d}\u{44c} \u{6771}\u{4eac}";
    for name in ["Identity-H", "Identity-V", "Identity"] {
        let entries = format!("/Encoding /Identity-H /ToUnicode /{name}");
        let bytes = composite(&entries, NO_COLLECTION, &coded(700, line));
        assert_eq!(text(&bytes), format!("{line}\n\n"), "{name}");
    }
    // An encoding of characters, said twice, with and without a collection of its own.
    for system in [
        NO_COLLECTION,
        "/Registry (Adobe) /Ordering (Japan1) /Supplement 2",
    ] {
        let entries = "/Encoding /UniJIS-UTF16-H /ToUnicode /UniJIS-UTF16-H";
        let bytes = composite(entries, system, &coded(700, "\u{6771}\u{4eac}\u{90fd}"));
        assert_eq!(text(&bytes), "\u{6771}\u{4eac}\u{90fd}\n\n", "{system}");
    }
}

#[test]
fn words_whose_letters_are_spaced_out_are_words() {
    for (content, expected) in [
        // By the space of characters, with spaces and without.
        (
            "BT /F 10 Tf 4 Tc 50 700 Td (QUARTERLY REVIEW OF TRADE) Tj ET",
            "QUARTERLY REVIEW OF TRADE",
        ),
        ("BT /F 10 Tf 4 Tc 50 700 Td (HARVEST) Tj ET", "HARVEST"),
        // Further apart than columns are.
        (
            "BT /F 10 Tf 8 Tc 50 700 Td (NORTH WIND) Tj ET",
            "NORTH WIND",
        ),
        // By steps between the letters.
        (
            "BT /F 10 Tf 50 700 Td [(S)-300(T)-300(O)-300(R)-300(M)-900(A)-300(T)-900(S)-300(E)-300(A)] TJ ET",
            "STORM AT SEA",
        ),
        // By typed spaces, where there are more of them between words.
        (
            "BT /F 10 Tf 50 700 Td (I N D E X   O F   M A P S) Tj ET",
            "INDEX OF MAPS",
        ),
        // A word among others, as German once stressed it.
        (
            "BT /F 10 Tf 50 700 Td (das war ) Tj 2 Tc (niemals) Tj 0 Tc ( so gemeint) Tj ET",
            "das war niemals so gemeint",
        ),
    ] {
        assert_eq!(
            text(&document(content)),
            format!("{expected}\n\n"),
            "{content}"
        );
    }
}

#[test]
fn single_letters_stay_single() {
    for (content, expected) in [
        ("BT /F 10 Tf 50 700 Td (A B C D E F) Tj ET", "A B C D E F"),
        (
            "BT /F 10 Tf 50 700 Td [(1)-300(2)-300(3)-300(4)-300(5)] TJ ET",
            "1 2 3 4 5",
        ),
        (
            "BT /F 10 Tf 50 700 Td [(C)-300(C)-300(L)-300(C)-300(L)] TJ ET",
            "C C L C L",
        ),
        (
            "BT /F 10 Tf 50 700 Td [(plan)-300(B)-300(or)-300(C)] TJ ET",
            "plan B or C",
        ),
    ] {
        assert_eq!(
            text(&document(content)),
            format!("{expected}\n\n"),
            "{content}"
        );
    }
}

/// A page whose codes stand for the characters of a map.
fn mapped(map: &str, content: &str) -> Vec<u8> {
    let [font, map] = &mapped_font(map)[..] else {
        panic!("a font and its map");
    };
    let bytes = with_objects("", &[("", content)], &[stream("", ""), map.clone()], "");
    String::from_utf8_lossy(&bytes)
        .replace(FONT, font)
        .into_bytes()
}

/// Codes a to e are dalet, he, vav and two vowels.
const HEBREW: &str =
    "5 beginbfchar <61> <05d3> <62> <05d4> <63> <05d5> <64> <05b8> <65> <05b9> endbfchar";

#[test]
fn marks_stay_behind_the_letters_that_they_are_drawn_at() {
    // The vowel is drawn before its letter, after it, and on its own after the whole word. Letters are 5.56 or 5 wide.
    for content in [
        "BT /F 10 Tf 1 0 0 1 51 698 Tm (d) Tj 1 0 0 1 50 700 Tm (a) Tj 1 0 0 1 55.56 700 Tm (b) Tj ET",
        "BT /F 10 Tf 1 0 0 1 50 700 Tm (a) Tj 1 0 0 1 50.5 698 Tm (d) Tj 1 0 0 1 55.56 700 Tm (b) Tj ET",
        "BT /F 10 Tf 1 0 0 1 50 700 Tm (ab) Tj 1 0 0 1 50.2 698 Tm (d) Tj ET",
        // Letter by letter from the right.
        "BT /F 10 Tf 1 0 0 1 55.56 700 Tm (b) Tj 1 0 0 1 50 700 Tm (a) Tj 1 0 0 1 50.2 698 Tm (d) Tj ET",
    ] {
        assert_eq!(
            text(&mapped(HEBREW, content)),
            "\u{5d4}\u{5d3}\u{5b8}\n\n",
            "{content}"
        );
    }
}

#[test]
fn lines_from_right_to_left_keep_latin_words_and_numbers() {
    // On paper: a word, a name, a number in brackets, a word. The rest of the page is from right to left.
    let mixed = at(50, 700, "ZYX example.net Y \\(1970\\) XY");
    let content = format!(
        "{mixed}{}{}",
        at(50, 680, "XY ZX YX XYZ"),
        at(50, 660, "ZXY XZY XYZ")
    );
    let map = "3 beginbfchar <58> <05d3> <59> <05d4> <5a> <05d5> endbfchar";
    let read = text(&mapped(map, &content));
    let first = read.lines().next();
    let expected = "\u{5d4}\u{5d3} (1970) \u{5d4} example.net \u{5d3}\u{5d4}\u{5d5}";
    assert_eq!(first, Some(expected));
}

#[test]
fn a_font_of_a_drawing_is_read_by_its_collection() {
    let font = "<< /Type /Font /Subtype /Type0 /BaseFont /Some /Encoding /Identity-H /DescendantFonts [5 0 R] >>";
    let descendant = "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Some \
        /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 5 >> >>";
    let entries = format!(
        "/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /Font << /F {font} >> >>"
    );
    // Numbers 843 and 845 of the collection.
    let drawing = stream(&entries, "BT /F 10 Tf 50 700 Td <034b034d> Tj ET");
    let bytes = with_objects("", &[("", "/X Do")], &[drawing, descendant.to_owned()], "");
    assert_eq!(text(&bytes), "\u{3042}\u{3044}\n\n");
}

#[test]
fn codes_of_a_composite_font_that_is_not_there_are_characters() {
    let line = "Lod\u{11b} v p\u{159}\u{ed}stavu";
    let entries = "/Encoding /Identity-H";
    let read = |content: &str| text(&composite(entries, NO_COLLECTION, content));
    assert_eq!(read(&coded(700, line)), format!("{line}\n\n"));
    // The same in a drawing of an annotation, as signatures are.
    let font = format!(
        "<< /Type /Font /Subtype /Type0 /BaseFont /Some /Encoding /Identity-H /DescendantFonts [<< /Type /Font \
         /Subtype /CIDFontType2 /BaseFont /Some /DW 600 /CIDSystemInfo << {NO_COLLECTION} >> >>] >>"
    );
    let form = format!(
        "/Type /XObject /Subtype /Form /BBox [0 0 300 800] /Resources << /Font << /F {font} >> >>"
    );
    let drawing = stream(&form, &coded(700, line));
    let page = "/Annots [<< /Subtype /Widget /Rect [0 0 300 800] /F 4 /AP << /N 4 0 R >> >>]";
    let bytes = with_objects("", &[(page, "")], &[drawing], "");
    assert_eq!(text(&bytes), format!("{line}\n\n"));
}
