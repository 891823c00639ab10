//! Files that are made to take long or to lead astray.

use std::time::{Duration, Instant};

use super::{FONT, at, document, file, stream, text, with_objects};
use crate::extracted::Extracted;
use crate::pdf::extract;
use crate::skip_reason::SkipReason;

/// What a hostile file gives, and that it ends.
fn within(seconds: u64, bytes: &[u8]) -> Result<Extracted, SkipReason> {
    let start = Instant::now();
    let result = extract(bytes);
    assert!(
        start.elapsed() < Duration::from_secs(seconds),
        "{:?}",
        start.elapsed()
    );
    result
}

#[test]
fn forms_that_draw_forms_that_draw_forms_are_stopped() {
    // Four calls each, 25 deep: 10^15 drawings.
    let forms: Vec<String> = (0..25)
        .map(|level| {
            let next = 5 + level;
            let entries = format!(
                "/Type /XObject /Subtype /Form /BBox [0 0 1 1] /Resources << /XObject << /X {next} 0 R >> >>"
            );
            stream(&entries, "/X Do /X Do /X Do /X Do")
        })
        .chain([stream("/Type /XObject /Subtype /Form /BBox [0 0 1 1]", "")])
        .collect();
    let error = within(120, &with_objects("", &[("", "/X Do")], &forms, "")).unwrap_err();
    assert!(matches!(error, SkipReason::Limit { .. }), "{error}");
}

#[test]
fn words_of_any_length_are_read_in_linear_time() {
    let word = "x".repeat(400_000);
    let long = format!("BT /F 1 Tf 1 700 Td ({word}) Tj ET");
    assert!(within(60, &document(&long)).unwrap().parts.len() == 1);
    let note = "BT /F 6 Tf 50 704 Td (12) Tj /F 10 Tf 6.7 -4 Td (Note) Tj ET";
    assert_eq!(text(&document(note)), "12 Note\n\n");
}

#[test]
fn structures_that_go_round_or_down_end() {
    let nested = format!("/Deep {}{}", "[".repeat(300_000), "]".repeat(300_000));
    let words = at(50, 700, "words");
    let pages = [(nested.as_str(), words.as_str())];
    // Either is fine, but it ends.
    let _ = within(60, &with_objects("", &pages, &[], ""));

    let saves = format!("{}{words}", "q ".repeat(1_000_000));
    assert_eq!(
        within(60, &document(&saves)).unwrap().text.as_deref(),
        Some("words\n\n")
    );

    // Squared, it is no number of single precision.
    let large = "9".repeat(30);
    let numbers = format!(
        "BT /F 10 Tf {large} {large} {large} {large} {large} {large} Tm (lost) Tj ET\n\
         q {large} 0 0 0 0 0 cm {large} 0 0 0 0 0 cm BT /F 10 Tf (lost) Tj ET Q\n"
    );
    let lost = format!("{numbers}{words}");
    assert_eq!(
        within(60, &document(&lost)).unwrap().text.as_deref(),
        Some("words\n\n")
    );

    let tree = |pages: &str| {
        let objects = [
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            format!("<< /Type /Pages {pages} >>"),
            FONT.to_owned(),
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>".to_owned(),
        ];
        within(60, &file(&objects, ""))
    };
    assert_eq!(
        tree("/Count 1 /Kids [2 0 R 4 0 R 4 0 R]")
            .unwrap()
            .parts
            .len(),
        1
    );
    assert_eq!(
        tree("/Count 2147483648 /Kids [4 0 R]").unwrap().parts.len(),
        1
    );
    assert!(tree("/Count 9 /Kids [2 0 R]").is_err());
}

#[test]
fn damaged_bytes_give_a_document_or_a_reason() {
    let columns: String = (0..40)
        .map(|line| {
            at(
                50 + 300 * (line % 2),
                700 - 12 * (line / 2),
                "some words of a line",
            )
        })
        .collect();
    let real = with_objects(
        "/Outlines 4 0 R",
        &[("", &columns)],
        &["<< /First 4 0 R /Title (x) >>".to_owned()],
        "",
    );
    let mut state = 88_172_645_463_325_252u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for _ in 0..300 {
        let mut bytes = real.clone();
        for _ in 0..1 + next(8) {
            let place = next(bytes.len());
            bytes[place] = next(256) as u8;
        }
        bytes.truncate(bytes.len() - next(2) * next(200));
        if let Ok(found) = extract(&bytes) {
            assert!(!found.parts.is_empty());
        }
    }
}
