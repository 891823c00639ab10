//! Sorting by time or path applies to relevant results, and is the same on every page.

use kb_engine::{Kb, KbWriter, Mode, Request, Scope, Sort, SourceInfo, document_of};
use tempfile::TempDir;

use super::ask;

/// Documents that say a word of the query in passing, half of them older than all others.
const JUNK: usize = 400;

/// Documents about the query.
const RIGHT: usize = 7;

fn tree() -> (TempDir, Kb) {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("tree.kb");
    let mut writer = KbWriter::open_or_create(&path).expect("writer");
    let mut add = |path: String, text: String, modified_ms: i64| {
        let original = SourceInfo {
            modified_ms,
            ..SourceInfo::of(text.as_bytes())
        };
        let document = document_of(&path, text.as_bytes()).expect("a document");
        writer.add_from(document, original, false).expect("added");
    };
    for number in 0..JUNK {
        let time = if number % 2 == 0 { 1_000 } else { 9_000_000 } + number as i64;
        let text = format!(
            "Entry {number}: the cook bought bread and salt at the harbour, mended two nets, and slept \
             through the {number}th watch while rain fell on the deck and on all the ropes."
        );
        add(format!("log/{number:03}.txt"), text, time);
    }
    for number in 0..RIGHT {
        let text = format!(
            "# Harbour tide tables {number}\n\nTide tables of the harbour: hours of high tide, part {number}."
        );
        add(
            format!("tables/{number}.md"),
            text,
            1_000_000 + number as i64,
        );
    }
    writer.commit().expect("committed");
    (folder, Kb::open(&path).expect("it opens"))
}

fn pages(kb: &Kb, mut request: Request) -> (Vec<String>, Vec<String>) {
    let (mut found, mut warnings) = (Vec::new(), Vec::new());
    loop {
        let told = ask(kb, &request);
        found.extend(told.hits.iter().map(|hit| hit.document.clone()));
        warnings.extend(told.warnings);
        request.page.cursor = told.hits.next;
        if request.page.cursor.is_none() {
            return (found, warnings);
        }
    }
}

fn newest_tables() -> Vec<String> {
    (0..RIGHT)
        .rev()
        .map(|number| format!("tables/{number}.md"))
        .collect()
}

#[test]
fn what_only_mentions_a_word_is_not_sorted() {
    let (_folder, kb) = tree();
    for mode in Mode::RANKED {
        for scope in Scope::ALL {
            let request = Request::new("harbour tide tables").mode(mode).scope(scope);
            let (found, _) = pages(&kb, request.clone().sort(Sort::Recency));
            assert_eq!(found, newest_tables(), "{mode:?} {scope:?}");
            let (mut found, _) = pages(&kb, request.sort(Sort::Path));
            found.reverse();
            assert_eq!(found, newest_tables(), "{mode:?} {scope:?}");
        }
    }
}

#[test]
fn pages_of_a_sorted_result_are_one_sorted_list() {
    let (_folder, kb) = tree();
    for k in [1, 2, 3, 50, 300] {
        let request = Request::new("harbour tide tables").sort(Sort::Recency).k(k);
        assert_eq!(pages(&kb, request).0, newest_tables(), "{k}");
    }
}

#[test]
fn all_with_every_word_are_sorted_however_many() {
    let (_folder, kb) = tree();
    let request = Request::new("bread")
        .mode(Mode::Keyword)
        .sort(Sort::Recency);
    let (found, _) = pages(&kb, request.k(30));
    assert_eq!(found.len(), JUNK);
    let number = |name: &String| name[4..7].parse::<usize>().expect("a number");
    let numbers: Vec<usize> = found.iter().map(number).collect();
    let time = |number: usize| (number % 2, number);
    assert!(
        numbers.is_sorted_by(|a, b| time(*a) > time(*b)),
        "{numbers:?}"
    );
}

#[test]
fn scores_are_those_of_other_orders() {
    let (_folder, kb) = tree();
    let request = Request::new("harbour tide tables").k(RIGHT);
    let by_score = ask(&kb, &request).hits;
    for hit in ask(&kb, &request.clone().sort(Sort::Recency)).hits {
        let same = by_score.iter().find(|other| other.document == hit.document);
        assert_eq!(same.map(|other| other.score), Some(hit.score));
    }
    let floor = by_score[3].score;
    let kept = by_score.iter().filter(|hit| hit.score >= floor).count();
    let request = request.sort(Sort::Recency).min_score(floor);
    assert_eq!(pages(&kb, request).0.len(), kept);
}

#[test]
fn what_is_left_out_of_a_short_result_is_told() {
    let (_folder, kb) = tree();
    let request = Request::new("harbour tide tables").sort(Sort::Recency);
    let told = ask(&kb, &request);
    assert_eq!(told.warnings.len(), 1);
    assert!(told.warnings[0].starts_with("less relevant passages were left out"));
    assert_eq!(ask(&kb, &request.k(RIGHT)).warnings, Vec::<String>::new());
}

#[test]
fn a_question_word_need_not_be_in_what_is_sorted() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("notes.kb");
    let mut writer = KbWriter::open_or_create(&path).expect("writer");
    let mut add = |name: &str, text: &str, modified_ms: i64| {
        let original = SourceInfo {
            modified_ms,
            ..SourceInfo::of(text.as_bytes())
        };
        let document = document_of(name, text.as_bytes()).expect("a document");
        writer.add_from(document, original, false).expect("added");
    };
    for number in 1..=30 {
        let text = format!("# Note {number}\n\nNotes about the log rotation of server {number}.\n");
        add(&format!("n{number:02}.md"), &text, 1_000_000 + number);
    }
    let old = "# Old\n\nHow logs were rotated at first: the log is rotated by hand.\n";
    add("old.md", old, 1_000);
    writer.commit().expect("committed");
    let kb = Kb::open(&path).expect("it opens");
    let request = Request::new("how is the log rotated").sort(Sort::Recency);
    let (found, _) = pages(&kb, request);
    assert_eq!(found.len(), 31, "{found:?}");
    assert_eq!(found[0], "n30.md");
}
