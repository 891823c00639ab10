//! Hyphens at the ends of lines and within them.

use super::{FONT, at, document, mapped_font, stream, text, with_objects};

fn page(lines: &[&str]) -> Vec<u8> {
    let placed = (0..)
        .zip(lines)
        .map(|(line, text)| at(50, 700 - 12 * line, text));
    document(&placed.collect::<String>())
}

#[test]
fn a_divided_word_is_put_together_as_the_document_has_it() {
    for (lines, expected) in [
        // Known without a hyphen, and with one.
        (
            vec!["The harbour and the har-", "bour wall"],
            "The harbour and the harbour\nwall",
        ),
        (
            vec!["A well-known inn, as well-", "known as the pier"],
            "A well-known inn, as well-known\nas the pier",
        ),
        // Two words of the document.
        (
            vec![
                "The lake has water and the shore lights; a shore-",
                "water line",
            ],
            "The lake has water and the shore lights; a shore-water\nline",
        ),
        // Only its parts before and behind the hyphen say what it is.
        (
            vec!["One e-", "mail of state-of-the-", "art boats"],
            "One e-mail\nof state-of-the-art\nboats",
        ),
        (
            vec!["It is seldom men-", "tioned"],
            "It is seldom mentioned",
        ),
    ] {
        assert_eq!(text(&page(&lines)), format!("{expected}\n\n"));
    }
}

#[test]
fn soft_hyphens_join_at_the_end_of_a_line_and_vanish_within() {
    // The code of a tilde is a soft hyphen.
    let soft = |lines: &[&str]| {
        let [font, map] = &mapped_font("1 beginbfchar <7e> <00ad> endbfchar")[..] else {
            panic!("a font and its map");
        };
        let content = (0..)
            .zip(lines)
            .map(|(line, text)| at(50, 700 - 12 * line, text));
        let content: String = content.collect();
        let bytes = with_objects("", &[("", &content)], &[stream("", ""), map.clone()], "");
        text(
            String::from_utf8_lossy(&bytes)
                .replace(FONT, font)
                .as_bytes(),
        )
    };
    assert_eq!(
        soft(&["Steam~ships of the com~", "pany sail"]),
        "Steamships of the company\nsail\n\n"
    );
    // A font that has no other hyphen.
    assert_eq!(soft(&["2019~2021 well~known"]), "2019-2021 well-known\n\n");
    assert_eq!(
        soft(&["well-known and well~known"]),
        "well-known and well-known\n\n"
    );
}

#[test]
fn lines_of_hyphens_are_read_in_linear_time() {
    let long = format!("BT /F 1 Tf 1 700 Td ({}) Tj ET", "a-".repeat(200_000));
    let many: String = (0..20_000)
        .map(|line| {
            format!(
                "BT /F 0.01 Tf 1 0 0 1 1 {} Tm (ab-) Tj ET\n",
                790.0 - 0.012 * f64::from(line)
            )
        })
        .collect();
    let start = std::time::Instant::now();
    assert!(text(&document(&long)).contains("a-a-a"));
    assert!(text(&document(&many)).len() > 30_000);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
