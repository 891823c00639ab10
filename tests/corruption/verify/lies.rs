//! Wrong values behind valid checksums: `verify` names each, and nothing panics.

use kb_engine::DocumentId;
use kb_engine::Kb;
use kb_engine::testing::container::{Key, Transaction};
use kb_engine::testing::store::documents;
use kb_engine::testing::store::outline;
use kb_engine::testing::store::tables::{BLOCKS, CHUNK_HEADS, TEXT};

use super::{sample_bytes, verify};
use crate::corruption::forgery::{Stored, forge};

/// A problem that says `expected` is among those that a deep check names; the checksums are right.
#[track_caller]
pub(super) fn named(bytes: &[u8], expected: &str, lie: impl FnOnce(&Stored, &mut Transaction<'_>)) {
    let kb = Kb::from_bytes(forge(bytes, lie)).expect("it opens");
    assert_eq!(
        verify(&kb, false).problems,
        [""; 0],
        "{expected}: by checksums"
    );
    let problems = verify(&kb, true).problems;
    assert!(
        problems.iter().any(|problem| problem.contains(expected)),
        "{expected}: {problems:#?}"
    );
    assert!(problems.len() <= 100);
}

pub(super) type Lie = fn(&Stored, &mut Transaction<'_>);

/// Each with a part of the problem that must be named.
pub(super) fn assert_all_named(bytes: &[u8], lies: &[(&str, Lie)]) {
    for (expected, lie) in lies {
        named(bytes, expected, lie);
    }
}

/// Field `field` of row `row` of rows of `width` bytes.
fn number(bytes: &mut [u8], width: usize, row: usize, field: usize, change: impl Fn(u32) -> u32) {
    let field = &mut bytes[row * width + field..][..4];
    let old = u32::from_le_bytes(field.try_into().expect("four bytes"));
    field.copy_from_slice(&change(old).to_le_bytes());
}

/// Other bytes of the same rows.
const NOT_CANONICAL: &str = "its rows of chunks are not the bytes that they make";

/// Metadata of a document.
const GIVEN: [(&str, &str); 2] = [("By", "Kim"), ("year", "2024")];

fn pair((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

pub(super) const LOG: &str = "log.md";
pub(super) const NOTES: &str = "notes.txt";

#[test]
fn a_file_that_is_written_back_without_a_lie_passes() {
    let bytes = forge(sample_bytes(), |stored, transaction| {
        stored.segment(transaction, |_| ());
        stored.chunks(transaction, |_| ());
        stored.column(transaction, CHUNK_HEADS, |_| ());
        stored.document(transaction, LOG, |_| ());
        stored.outline(transaction, LOG, |_| ());
        stored.parts(transaction, "ledger.xlsx", |_| ());
        stored.deleted(transaction, |_| ());
    });
    let kb = Kb::from_bytes(bytes).expect("it opens");
    assert_eq!(verify(&kb, true).problems, [""; 0]);
}

#[test]
fn lies_of_tables_of_documents_are_named() {
    assert_all_named(
        sample_bytes(),
        &[
            (
                "\"log.md\": table doc_by_path does not have it",
                |_, transaction| {
                    transaction
                        .remove("doc_by_path", Key::Str(LOG))
                        .expect("removed");
                },
            ),
            (
                "document \"log.md\": table doc_by_path names document",
                |stored, transaction| {
                    let other = u64::from(stored.id(NOTES).0).to_le_bytes();
                    transaction
                        .put("doc_by_path", Key::Str(LOG), &other)
                        .expect("row");
                },
            ),
            ("given fields [\"year\"] are not", |stored, transaction| {
                stored.document(transaction, LOG, |record| {
                    record.given = vec!["year".to_owned()];
                });
            }),
            (
                "given fields [\"year\", \"by\"] are not",
                |stored, transaction| {
                    stored.document(transaction, LOG, |record| {
                        record.metadata = GIVEN.map(pair).to_vec();
                        record.given = vec!["year".to_owned(), "by".to_owned()];
                    });
                },
            ),
            (
                "given fields [\"by\", \"by\"] are not",
                |stored, transaction| {
                    stored.document(transaction, LOG, |record| {
                        record.metadata = GIVEN.map(pair).to_vec();
                        record.given = vec!["by".to_owned(), "by".to_owned()];
                    });
                },
            ),
            ("given fields [\"By\"] are not", |stored, transaction| {
                stored.document(transaction, LOG, |record| {
                    record.metadata = GIVEN.map(pair).to_vec();
                    record.given = vec!["By".to_owned()];
                });
            }),
            (
                "201 given values, at most 200 are possible",
                |stored, transaction| {
                    stored.document(transaction, LOG, |record| {
                        record.metadata = vec![pair(("by", "Kim")); 201];
                        record.given = vec!["by".to_owned()];
                    });
                },
            ),
            (
                "document \"other.md\": document 4000 is named but missing",
                |_, transaction| {
                    let key = Key::Str("other.md");
                    transaction
                        .put("doc_by_path", key, &4000u64.to_le_bytes())
                        .expect("row");
                },
            ),
            (
                "document \"log.md\": table doc_by_suffix does not lead",
                |stored, transaction| {
                    let suffix = &stored.documents[LOG].1.suffix;
                    transaction
                        .remove("doc_by_suffix", Key::Str(suffix))
                        .expect("removed");
                },
            ),
            ("\"zzzzzz\" leads to no document", |stored, transaction| {
                let number = u64::from(stored.id(LOG).0).to_le_bytes();
                transaction
                    .put("doc_by_suffix", Key::Str("zzzzzz"), &number)
                    .expect("row");
            }),
            (
                "\"log.md\": \"AEIOU\" is no suffix",
                |stored, transaction| {
                    let (id, mut record) = stored.documents[LOG].clone();
                    transaction
                        .remove("doc_by_suffix", Key::Str(&record.suffix))
                        .expect("removed");
                    record.suffix = "AEIOU".to_owned();
                    documents::put(transaction, id, &record).expect("put");
                },
            ),
            (
                "document \"log.md\": record of a document",
                |stored, transaction| {
                    let key = Key::U64(u64::from(stored.id(LOG).0));
                    transaction.put("docs", key, &[2, 2, 3]).expect("row");
                },
            ),
        ],
    );
}

#[test]
fn lies_of_records_of_documents_are_named() {
    assert_all_named(
        sample_bytes(),
        &[
            (
                "\"log.md\": segment 99 is not live",
                |stored, transaction| {
                    stored.document(transaction, LOG, |record| record.segment = 99);
                },
            ),
            ("name it, its record says", |stored, transaction| {
                stored.document(transaction, LOG, |record| record.first_row += 1);
            }),
            ("\"log.md\": 4294967295 rows from", |stored, transaction| {
                stored.document(transaction, LOG, |record| record.rows = u32::MAX);
            }),
            ("document \"log.md\": rows", |stored, transaction| {
                let (segment, first_row) = {
                    let (_, other) = &stored.documents[NOTES];
                    (other.segment, other.first_row)
                };
                stored.document(transaction, LOG, |record| {
                    (record.segment, record.first_row) = (segment, first_row);
                });
            }),
            (
                "\"log.md\": its text has another hash",
                |stored, transaction| {
                    stored.document(transaction, LOG, |record| record.text_hash[9] ^= 1);
                },
            ),
            (
                "\"log.md\": its chunks end at byte",
                |stored, transaction| {
                    stored.document(transaction, LOG, |record| record.text_bytes -= 1);
                },
            ),
            (
                "\"empty.txt\": it has text and no chunks",
                |stored, transaction| {
                    stored.document(transaction, "empty.txt", |record| {
                        record.text_hash = [7; 32]
                    });
                },
            ),
            ("\"notes.txt\": tags", |stored, transaction| {
                stored.document(transaction, NOTES, |record| record.tags.reverse());
            }),
            (
                "facet 4 \"more\" of segment 1: 1 rows have it",
                |stored, transaction| {
                    stored.document(transaction, NOTES, |record| {
                        record.tags.insert(0, "more".to_owned());
                    });
                },
            ),
            ("\"log.md\" has class 9", |stored, transaction| {
                stored.document(transaction, LOG, |record| record.class = 9);
            }),
            (
                "\"log.md\": the file has no root 77",
                |stored, transaction| {
                    stored.document(transaction, LOG, |record| record.root = Some(77));
                },
            ),
            ("lines, its record says", |stored, transaction| {
                stored.document(transaction, LOG, |record| record.lines += 1);
            }),
            ("facet 1 \"prose\" of segment 1", |stored, transaction| {
                stored.document(transaction, LOG, |record| {
                    record.file_type = "prose".to_owned()
                });
            }),
        ],
    );
}

#[test]
fn lies_of_counts_and_numbers_are_named() {
    assert_all_named(
        sample_bytes(),
        &[
            ("and the next would be 2", |stored, transaction| {
                stored.manifest(transaction, |manifest| manifest.next_document = 2);
            }),
            (
                "segment 1: the next segment would be 1",
                |stored, transaction| {
                    stored.manifest(transaction, |manifest| manifest.next_segment = 1);
                },
            ),
            (
                "there is a root 1, and the next would be 1",
                |stored, transaction| {
                    stored.manifest(transaction, |manifest| manifest.next_root = 1);
                },
            ),
            ("two roots have the number 1", |stored, transaction| {
                stored.meta(transaction, |meta| meta.roots.push(meta.roots[0].clone()));
            }),
            ("row meta states 1000 documents", |stored, transaction| {
                stored.meta(transaction, |meta| meta.documents = 1000);
            }),
            ("row meta states 1000 chunks", |stored, transaction| {
                stored.meta(transaction, |meta| meta.chunks = 1000);
            }),
            ("row meta states 1 bytes of text", |stored, transaction| {
                stored.meta(transaction, |meta| meta.text_bytes = 1);
            }),
            (
                "segment 1: its record states 90 documents",
                |stored, transaction| {
                    stored.segment(transaction, |segment| segment.documents = 90);
                },
            ),
            (
                "segment 1: its record states 9 bytes of text",
                |stored, transaction| {
                    stored.segment(transaction, |segment| segment.text_bytes = 9);
                },
            ),
            ("deleted chunks of segment", |stored, transaction| {
                stored.deleted(transaction, |deleted| deleted.total_length += 1);
            }),
            ("bytes of text, there are", |stored, transaction| {
                stored.deleted(transaction, |deleted| deleted.text_bytes += 1);
            }),
            ("documents, there are", |stored, transaction| {
                stored.deleted(transaction, |deleted| deleted.documents += 1);
            }),
            ("which does not exist", |stored, transaction| {
                stored.outline(transaction, LOG, |_| ());
                let heading = stored.outlines[LOG][0].clone();
                outline::put(transaction, DocumentId(900), &[heading]).expect("outline");
            }),
        ],
    );
}

#[test]
fn lies_of_rows_and_blocks_are_named() {
    assert_all_named(
        sample_bytes(),
        &[
            // Undeleted: a row that no document has.
            ("is named but missing", |stored, transaction| {
                stored.deleted(transaction, |deleted| {
                    let first = deleted.rows.min().expect("a row");
                    deleted.rows.remove(first);
                });
            }),
            // Deleted: a row of a document that is there.
            ("document \"log.md\": 1 of rows", |stored, transaction| {
                let row = stored.documents[LOG].1.first_row;
                stored.deleted(transaction, |deleted| {
                    deleted.rows.insert(row);
                });
            }),
            ("its record says", |stored, transaction| {
                let row = stored.documents[LOG].1.first_row as usize;
                let other = stored.id(NOTES).0;
                stored.chunks(transaction, |rows| rows[row][0] = other);
            }),
            (
                "document 70000 is named but missing",
                |stored, transaction| {
                    stored.chunks(transaction, |rows| rows[0][0] = 70_000);
                },
            ),
            (
                "of segment 1: it ends before it starts",
                |stored, transaction| {
                    let row = stored.documents[LOG].1.first_row as usize + 1;
                    stored.chunks(transaction, |rows| rows[row][1] = 1);
                },
            ),
            ("and its block has", |stored, transaction| {
                stored.chunks(transaction, |rows| rows[0][1] = 9_000_000);
            }),
            ("cannot have lines", |stored, transaction| {
                stored.chunks(transaction, |rows| rows[0][2] += 1);
            }),
            ("cannot have lines", |stored, transaction| {
                stored.chunks(transaction, |rows| rows[0][3] += 1);
            }),
            // In the middle of a character.
            ("is not UTF-8", |stored, transaction| {
                let (_, record) = &stored.documents[LOG];
                let row = record.first_row as usize;
                stored.chunks(transaction, |rows| rows[row][1] = 4);
            }),
            // A block elsewhere, a first row beyond the last, an end before the first row.
            ("segment 1", |stored, transaction| {
                stored.column(transaction, CHUNK_HEADS, |bytes| bytes[0] += 1);
            }),
            (NOT_CANONICAL, |stored, transaction| {
                stored.column(transaction, CHUNK_HEADS, |bytes| {
                    let head = bytes.len() - 28;
                    bytes[head + 11] |= 0x80;
                });
            }),
            (NOT_CANONICAL, |stored, transaction| {
                stored.column(transaction, CHUNK_HEADS, |bytes| bytes[16] = 1);
            }),
            (
                "a block of chunk rows has too wide numbers",
                |stored, transaction| {
                    stored.column(transaction, CHUNK_HEADS, |bytes| bytes[25] = 33);
                },
            ),
            ("block 0 lies at 1", |stored, transaction| {
                stored.column(transaction, BLOCKS, |bytes| number(bytes, 24, 0, 0, |_| 1));
            }),
            ("segment 1: block 0", |stored, transaction| {
                stored.column(transaction, BLOCKS, |bytes| {
                    number(bytes, 24, 0, 12, |len| len + 1)
                });
            }),
            ("begins with row 1, at row 0", |stored, transaction| {
                stored.column(transaction, BLOCKS, |bytes| number(bytes, 24, 0, 16, |_| 1));
            }),
            ("segment 1: block 0", |stored, transaction| {
                stored.column(transaction, TEXT, |bytes| bytes[40] ^= 1);
            }),
        ],
    );
}
