use std::ops::ControlFlow;

use super::*;
use crate::catalog::Catalog;
use crate::index::keyword::MAX_ROWS;
use crate::kb::{Kb, KbWriter};
use crate::search::{Mode, Request};

const WORDS: [&str; 7] = ["lamp", "lens", "fog", "horn", "tide", "buoy", "harbour"];

/// A file of forty documents, some without text, in commits of `each`.
fn file(path: &Path, each: usize) {
    let mut writer = KbWriter::open_or_create(path).unwrap();
    for number in 0..40usize {
        let sentence = |at: usize| format!("{} {} {at}. ", WORDS[at % 7], WORDS[at * 3 % 5]);
        let text: String = (number..number * (number % 9) * 9).map(sentence).collect();
        // Not in the order of paths.
        let path = format!("{:02}.txt", number * 17 % 40);
        writer.add_bytes(&path, text.as_bytes()).unwrap();
        if number % each == 0 {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
}

fn seal(path: &Path, max_rows: u32) -> SealReport {
    let mut session = Session::open_or_create(path).unwrap();
    let report = session.seal(None, &SealOptions::default(), max_rows, &Reporter::silent());
    report.unwrap()
}

/// What a file answers, with scores to the bit.
fn answers(path: &Path) -> Vec<String> {
    let kb = Kb::open(path).unwrap();
    let mut answers = Vec::new();
    for mode in Mode::RANKED {
        for query in ["fog horn", "the lens of a lamp", "tide 12"] {
            let request = Request::new(query).mode(mode).k(200);
            for hit in kb.search(&request).unwrap().hits {
                let score = hit.score.to_bits();
                answers.push(format!(
                    "{} {:?} {score} {}",
                    hit.document, hit.span, hit.text
                ));
            }
        }
    }
    answers
}

/// First row and segment of each document with chunks, in the order of paths.
fn places(path: &Path) -> Vec<(u32, u32, u32)> {
    let read = Container::open(path).unwrap().read(|snapshot| {
        let mut places = Vec::new();
        Catalog::load(snapshot)?
            .documents
            .each(snapshot, |_, record| {
                if record.rows > 0 {
                    places.push((record.segment, record.first_row, record.rows));
                }
                Ok(ControlFlow::Continue(()))
            })?;
        Ok(places)
    });
    read.unwrap()
}

/// A segment holds 2^24 chunks; a file of more could not be sealed, which was told after hours.
#[test]
fn a_sealed_file_of_many_segments_answers_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    file(&place("one.kb"), 100);
    file(&place("many.kb"), 3);
    let whole = seal(&place("one.kb"), MAX_ROWS);
    let right = answers(&place("one.kb"));
    assert!(right.len() > 100);
    let max_rows = 12;
    for name in ["one.kb", "many.kb"] {
        let path = place(name);
        let report = seal(&path, max_rows);
        assert_eq!(report.content_root, whole.content_root);
        let kb = Kb::open(&path).unwrap();
        let info = kb.info().unwrap();
        assert!(info.segments > 3, "{}", info.segments);
        assert_eq!(info.content_root.as_ref(), Some(&whole.content_root));
        let problems = kb
            .verify(
                &crate::VerifyOptions::new().deep(true),
                &mut crate::Progress::ignore,
            )
            .unwrap()
            .problems;
        assert_eq!(problems, [""; 0]);
        assert!(answers(&path) == right);
    }
    let of_many = places(&place("many.kb"));
    assert_eq!(
        of_many,
        places(&place("one.kb")),
        "the documents decide alone"
    );
    // Each segment is filled until the next document does not fit.
    for pair in of_many.windows(2) {
        let [(segment, first, rows), (next, next_first, next_rows)] = pair else {
            continue;
        };
        let is_full = first + rows + next_rows > max_rows;
        let expected = if is_full {
            (segment + 1, 0)
        } else {
            (*segment, first + rows)
        };
        assert_eq!((*next, *next_first), expected);
    }
    // It changes and is sealed again.
    let mut writer = KbWriter::open_or_create(place("many.kb")).unwrap();
    writer.add_bytes("00a.txt", b"a guest").unwrap();
    writer.commit().unwrap();
    writer.remove("00a.txt").unwrap();
    writer.commit().unwrap();
    drop(writer);
    assert_eq!(seal(&place("many.kb"), 20).content_root, whole.content_root);
}

#[test]
fn verify_notices_documents_in_the_wrong_segment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.kb");
    file(&path, 100);
    seal(&path, 12);
    let identity = Session::open_or_create(&path).unwrap().identity();
    let base = Container::open(&path).unwrap();
    let mut writer = ContainerWriter::open(&path, &identity).unwrap();
    let mut manifest = base.read(Catalog::load).unwrap().manifest.clone();
    // A whole segment and its documents are lost.
    manifest.segments.remove(1);
    let mut transaction = writer.begin().unwrap();
    manifest.write(&mut transaction).unwrap();
    transaction.commit().unwrap();
    writer.finish().unwrap();
    let report = Kb::open(&path).unwrap().verify(
        &crate::VerifyOptions::new().deep(true),
        &mut crate::Progress::ignore,
    );
    assert!(!report.unwrap().problems.is_empty());
}
