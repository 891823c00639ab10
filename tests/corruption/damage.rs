//! Flipped bits, changed bytes and cut ends: checksums notice what matters.

use super::ask::{Answers, Numbers, ask, right_answers};
use crate::format::golden::golden_bytes;

/// Random places of a normal test run, beside every byte of the first page that means something; `KB_FLIPS` asks for
/// another number.
const RANDOM_PLACES: usize = 400;

const PAGE_BYTES: usize = 4096;

/// Counts that show that damage was done at all.
#[derive(Debug, Default)]
struct Noticed {
    refused: usize,
    partly: usize,
    harmless: usize,
}

/// Every answer that was given must be right.
#[track_caller]
fn check(bytes: Vec<u8>, what: &str, right: &Answers, noticed: &mut Noticed) {
    let bytes_len = bytes.len();
    let Ok(answers) = ask(bytes, what) else {
        noticed.refused += 1;
        return;
    };
    let mut errors = 0;
    for ((question, answer), (_, right)) in answers.iter().zip(right) {
        match (answer, right) {
            // The length of the file is what it is.
            (Ok(_), Ok(_)) if bytes_counted(question) && bytes_len != golden_bytes().len() => {}
            (Ok(answer), Ok(right)) => assert_eq!(answer, right, "{what}: {question}"),
            (Err(error), _) => {
                let code = error.code();
                let honest = ["DAMAGED", "FORMAT_UNSUPPORTED"].contains(&code);
                assert!(honest, "{what}: {question}: {error:?}");
                errors += 1;
            }
            (Ok(_), Err(_)) => unreachable!("right answers are answers"),
        }
    }
    if errors > 0 {
        noticed.partly += 1;
    } else {
        noticed.harmless += 1;
    }
}

fn bytes_counted(question: &str) -> bool {
    ["info", "sizes"].contains(&question)
}

#[test]
fn a_flipped_bit_gives_an_error_or_changes_no_answer() {
    let golden = golden_bytes();
    let right = right_answers();
    let mut numbers = Numbers(1);
    let used: Vec<usize> = (0..golden.len() / PAGE_BYTES)
        .filter(|page| {
            let page = &golden[page * PAGE_BYTES..][..PAGE_BYTES];
            page.iter().any(|byte| *byte != 0)
        })
        .collect();
    let asked = std::env::var("KB_FLIPS").ok();
    let random_places = asked.map_or(RANDOM_PLACES, |flips| flips.parse().expect("a number"));
    let mut places: Vec<usize> = (0..320).chain(512..600).chain(1008..1088).collect();
    places.extend((0..random_places).map(|_| {
        let page = used[numbers.below(used.len())];
        page * PAGE_BYTES + numbers.below(PAGE_BYTES)
    }));
    let mut noticed = Noticed::default();
    for (number, place) in places.iter().enumerate() {
        let mut bytes = golden.to_vec();
        let flip = match number % 3 {
            0 => 0xff,
            _ => 1u8 << numbers.below(8),
        };
        bytes[*place] ^= flip;
        let what = format!("byte {place} changed by {flip:#04x}");
        check(bytes, &what, &right, &mut noticed);
    }
    // Half of the bytes of the first page, and a part of the others.
    assert!(noticed.refused > 200, "{noticed:?}");
    // Many pages are not read by any of the questions.
    assert!(noticed.partly > random_places / 6, "{noticed:?}");
}

#[test]
fn a_cut_file_gives_an_error_or_right_answers() {
    let golden = golden_bytes();
    let right = right_answers();
    let mut numbers = Numbers(2);
    let mut lengths: Vec<usize> = (0..=golden.len() / 512).map(|part| part * 512).collect();
    lengths.extend((0..100).map(|_| numbers.below(golden.len())));
    lengths.extend([1, 9, 63, 511, 513, golden.len() - 1]);
    let mut noticed = Noticed::default();
    for length in lengths {
        let bytes = golden[..length].to_vec();
        check(
            bytes,
            &format!("cut to {length} bytes"),
            &right,
            &mut noticed,
        );
    }
    // The records lie near the end of the golden file, so hardly any cut leaves them whole.
    assert!(noticed.refused > 400, "{noticed:?}");
}

#[test]
fn pages_of_zeros_or_of_another_place_are_noticed() {
    let golden = golden_bytes();
    let right = right_answers();
    let pages = golden.len() / PAGE_BYTES;
    let mut noticed = Noticed::default();
    for page in 1..pages {
        let range = page * PAGE_BYTES..(page + 1) * PAGE_BYTES;
        let mut zeros = golden.to_vec();
        zeros[range.clone()].fill(0);
        check(
            zeros,
            &format!("page {page} of zeros"),
            &right,
            &mut noticed,
        );
        let mut moved = golden.to_vec();
        let other = 1 + page % (pages - 1);
        moved.copy_within(other * PAGE_BYTES..(other + 1) * PAGE_BYTES, range.start);
        check(
            moved,
            &format!("page {page} is {other}"),
            &right,
            &mut noticed,
        );
    }
    assert!(noticed.refused + noticed.partly > pages / 2, "{noticed:?}");
}
