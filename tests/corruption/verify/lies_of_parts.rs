//! Wrong values about pages, sheets and slides: `verify` names each, and the seal no longer matches.

use kb_engine::testing::container::Key;
use kb_engine::testing::store::parts;
use kb_engine::{
    DocumentId, Heading, Kb, KbWriter, Part, PartContent, Progress, Sheet, VerifyOptions,
};

use super::lies::{assert_all_named, named};
use super::{Sample, sample_bytes};
use crate::support::{Folder, parts as documents};

const LEDGER: &str = "ledger.xlsx";
const PILOT_BOOK: &str = "pilot-book.pdf";
const TALK: &str = "talk.pptx";

fn sheet(content: &mut PartContent) -> &mut Sheet {
    match content {
        PartContent::Sheet(sheet) => sheet,
        _ => panic!("no sheet"),
    }
}

fn notes(content: &mut PartContent) -> &mut u32 {
    match content {
        PartContent::Slide(slide) => slide.notes.as_mut().expect("notes"),
        _ => panic!("no slide"),
    }
}

#[test]
fn bookmarks_that_go_back_and_empty_last_sheets_are_sound() {
    let heading = |title: &str, start: usize, line| Heading {
        level: 1,
        title: title.to_owned(),
        start: u32::try_from(start).expect("a short text"),
        line,
        symbol: None,
    };
    let mut book = documents::pilot_book();
    let last = book.text.find("Anchorage").expect("the last page");
    book.outline = vec![heading("Anchorage", last, 5), heading("Pilot book", 0, 1)];
    let mut ledger = documents::ledger();
    let (end, line) = (ledger.text.len(), 6);
    ledger.parts.push(Part {
        start: u32::try_from(end).expect("a short text"),
        line,
        content: PartContent::Sheet(Sheet::default()),
    });
    ledger.outline = vec![heading("Dues", 0, 1), heading("Late", end, line)];
    let folder = Folder::empty();
    let path = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&path).expect("writer");
    writer.add(book).expect("added");
    writer.add(ledger).expect("added");
    writer.commit().expect("commit");
    let kb = Kb::open(&path).expect("it opens");
    let deep = VerifyOptions::new().deep(true);
    let report = kb.verify(&deep, &mut Progress::ignore).expect("a report");
    assert_eq!(report.problems, [""; 0]);
}

#[test]
fn lies_of_where_parts_begin_are_named() {
    assert_all_named(
        sample_bytes(),
        &[
            (
                "document \"pilot-book.pdf\": part 2 at byte",
                |stored, transaction| {
                    stored.parts(transaction, PILOT_BOOK, |parts| parts[1].start += 1);
                },
            ),
            (
                "document \"pilot-book.pdf\": part 4 at byte",
                |stored, transaction| {
                    stored.parts(transaction, PILOT_BOOK, |parts| parts[3].line += 1);
                },
            ),
            ("behind its text", |stored, transaction| {
                stored.parts(transaction, PILOT_BOOK, |parts| parts[3].start = 1 << 30);
            }),
            ("does not begin at the start", |stored, transaction| {
                stored.parts(transaction, TALK, |parts| {
                    parts.remove(0);
                });
            }),
            ("its parts are not in order", |stored, transaction| {
                stored.parts(transaction, TALK, |parts| parts.swap(1, 2));
            }),
            ("the notes of part 3 at byte", |stored, transaction| {
                stored.parts(transaction, TALK, |parts| {
                    *notes(&mut parts[2].content) += 1
                });
            }),
            ("contradicts itself", |stored, transaction| {
                stored.parts(transaction, TALK, |parts| {
                    *notes(&mut parts[0].content) = 1 << 20
                });
            }),
            ("its parts are of several kinds", |stored, transaction| {
                let page = stored.parts[PILOT_BOOK][0].clone();
                // The row has pages before slides.
                stored.parts(transaction, TALK, |parts| parts[0] = page);
            }),
        ],
    );
}

#[test]
fn lies_of_rows_of_sheets_are_named() {
    assert_all_named(
        sample_bytes(),
        &[
            ("has other rows than lines", |stored, transaction| {
                stored.parts(transaction, LEDGER, |parts| {
                    sheet(&mut parts[0].content).rows += 1;
                });
            }),
            ("has other rows than lines", |stored, transaction| {
                stored.parts(transaction, LEDGER, |parts| {
                    sheet(&mut parts[0].content).runs.clear();
                });
            }),
            ("has other rows than lines", |stored, transaction| {
                stored.parts(transaction, LEDGER, |parts| {
                    let sheet = sheet(&mut parts[1].content);
                    (sheet.rows, sheet.columns) = (1, 1);
                });
            }),
            ("contradicts itself", |stored, transaction| {
                stored.parts(transaction, LEDGER, |parts| {
                    sheet(&mut parts[0].content).columns = 16_385;
                });
            }),
            ("contradicts itself", |stored, transaction| {
                stored.parts(transaction, LEDGER, |parts| {
                    sheet(&mut parts[0].content).header_row = Some(0);
                });
            }),
        ],
    );
}

#[test]
fn parts_of_documents_without_them_are_named() {
    assert_all_named(
        sample_bytes(),
        &[
            (
                "table parts: parts of document 4000, which does not exist",
                |stored, transaction| {
                    let parts = &stored.parts[TALK];
                    parts::put(transaction, DocumentId(4000), parts).expect("put");
                },
            ),
            (
                "\"empty.txt\": one of its sheets has other rows than lines",
                |stored, transaction| {
                    let mut parts = stored.parts[LEDGER].clone();
                    parts.truncate(1);
                    parts::put(transaction, stored.id("empty.txt"), &parts).expect("put");
                },
            ),
            (
                "record of the parts of a document",
                |stored, transaction| {
                    let key = Key::U64(u64::from(stored.id(LEDGER).0));
                    transaction.put("parts", key, &[1, 2, 3]).expect("row");
                },
            ),
            (
                "document \"site/index.html\": it has parts, and its lines",
                |stored, transaction| {
                    let mut parts = stored.parts[PILOT_BOOK].clone();
                    parts.truncate(1);
                    parts::put(transaction, stored.id("site/index.html"), &parts).expect("put");
                },
            ),
        ],
    );
}

#[test]
fn a_sealed_file_notices_what_nothing_else_shows() {
    let sealed = std::fs::read(&Sample::sealed().path).expect("bytes");
    named(&sealed, "the content root is", |stored, transaction| {
        stored.parts(transaction, LEDGER, |parts| {
            sheet(&mut parts[0].content).uncalculated += 1;
        });
    });
}
