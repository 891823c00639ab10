//! Single flipped bits are detected, or have no effect.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use kb_engine::{Entry, Kb, Mode, Request};

use super::{sample_bytes, verify};

pub(super) const PAGE_BYTES: usize = 4096;

/// Flips of a normal test run; `KB_FLIPS` asks for another number.
const FLIPS: usize = 400;

/// A hash of everything that a file answers. Errors are answers of their own.
pub(super) fn answers(kb: &Kb) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut folders = vec![None];
    while let Some(folder) = folders.pop() {
        let listed: Option<&String> = Option::as_ref(&folder);
        let entries = kb.list(
            listed.map(String::as_str),
            &kb_engine::PageOptions::default(),
        );
        format!("{entries:?}").hash(&mut hasher);
        for entry in entries.unwrap_or_default() {
            match entry {
                Entry::Folder { path, .. } => folders.push(Some(path)),
                Entry::Document(document) => {
                    let name = &document.path;
                    format!("{:?}", kb.text(name, None)).hash(&mut hasher);
                    format!("{:?}", kb.chunk_spans(name)).hash(&mut hasher);
                    format!("{:?}", kb.outline(name)).hash(&mut hasher);
                }
            }
        }
    }
    for query in [
        "fog lamp keeper",
        "parse_header_3",
        "opening hours",
        "tag changed",
    ] {
        for mode in Mode::ALL {
            let request = Request::new(query).mode(mode).k(100);
            format!("{:?}", kb.search(&request)).hash(&mut hasher);
        }
    }
    let info = kb.info().map(|mut info| {
        // Sizes are no content.
        info.file_bytes = 0;
        info
    });
    format!("{info:?}").hash(&mut hasher);
    hasher.finish()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Opening or `verify` says so.
    Detected,
    /// Every answer is as before.
    Harmless,
    /// Something is different and `verify` does not say so.
    Missed,
}

fn outcome(bytes: Vec<u8>, right: u64) -> Outcome {
    let Ok(kb) = Kb::from_bytes(bytes) else {
        return Outcome::Detected;
    };
    if !verify(&kb, true).problems.is_empty() {
        return Outcome::Detected;
    }
    if answers(&kb) == right {
        Outcome::Harmless
    } else {
        Outcome::Missed
    }
}

/// The pages that anything depends on: another content of them is noticed, or changes an answer.
pub(super) fn live_pages(whole: &[u8], right: u64) -> Vec<usize> {
    let pages = 1..whole.len() / PAGE_BYTES;
    let is_live = |page: &usize| {
        let mut bytes = whole.to_vec();
        for byte in &mut bytes[page * PAGE_BYTES..][..PAGE_BYTES] {
            *byte ^= 0xa5;
        }
        outcome(bytes, right) != Outcome::Harmless
    };
    pages.filter(is_live).collect()
}

/// splitmix64
pub(super) fn next(state: &mut u64) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut x = *state;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) as usize
}

#[test]
fn no_flipped_bit_changes_an_answer_without_being_noticed() {
    let asked = std::env::var("KB_FLIPS").ok();
    let flips = asked
        .as_ref()
        .map_or(FLIPS, |flips| flips.parse().expect("a number"));
    let whole = sample_bytes();
    let right = answers(&Kb::from_bytes(whole).expect("it opens"));
    assert_eq!(outcome(whole.to_vec(), right), Outcome::Harmless);
    let live = live_pages(whole, right);
    assert!(live.len() > 30, "{live:?}");
    let mut state = 1;
    // One in eight hits what the first page holds: redb's header, signature block, holder record.
    let first: Vec<usize> = (0..320).chain(512..600).chain(1008..1088).collect();
    let mut counts = [[0usize; 3]; 2];
    let mut missed = Vec::new();
    for _ in 0..flips {
        let in_first = next(&mut state).is_multiple_of(8);
        let place = if in_first {
            first[next(&mut state) % first.len()]
        } else {
            live[next(&mut state) % live.len()] * PAGE_BYTES + next(&mut state) % PAGE_BYTES
        };
        let bit = next(&mut state) % 8;
        let mut bytes = whole.to_vec();
        bytes[place] ^= 1 << bit;
        let outcome = outcome(bytes, right);
        counts[usize::from(!in_first)][outcome as usize] += 1;
        if outcome == Outcome::Missed {
            missed.push((place, bit));
        }
    }
    if asked.is_some() {
        println!(
            "{flips} flips in {} live pages of {} bytes",
            live.len(),
            whole.len()
        );
        println!(
            "{:>12} {:>9} {:>9} {:>7}",
            "", "detected", "harmless", "missed"
        );
        for (where_, [detected, harmless, missed]) in
            ["first page", "other pages"].iter().zip(counts)
        {
            println!("{where_:>12} {detected:>9} {harmless:>9} {missed:>7}");
        }
    }
    assert_eq!(missed, [(0, 0); 0], "byte and bit: {counts:?}");
    // A page of a tree is not checked behind its last pair.
    let [_, [detected, harmless, _]] = counts;
    assert!(detected > 2 * harmless, "{counts:?}");
}
