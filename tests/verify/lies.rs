//! Lies behind true checksums: each is named, and nothing panics.

use kb_engine::Kb;
use kb_engine::container::column::ExtentSink;
use kb_engine::container::{Key, Transaction};
use kb_engine::index::keyword::LENGTHS;
use kb_engine::index::vector::{CODES, ROWS};
use kb_engine::store::documents::{self};
use kb_engine::store::facets::{self, Facet};
use kb_engine::store::meta::SealRecord;
use kb_engine::store::outline;
use kb_engine::store::skipped::{self, SkippedRecord};
use kb_engine::store::tables::{BLOCKS, CHUNKS, TEXT};
use kb_engine::types::{DocumentId, Heading, SegmentId};

use super::held::{Held, told};
use super::{sample_bytes, sealed_bytes, verify};

/// A problem that says `expected` is among those that a deep check names; the checksums are right.
#[track_caller]
fn named(bytes: &[u8], expected: &str, lie: impl FnOnce(&Held, &mut Transaction<'_>)) {
    let kb = Kb::from_bytes(told(bytes, lie)).expect("it opens");
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

type Lie = fn(&Held, &mut Transaction<'_>);

/// Each with a part of the problem that must be named.
fn assert_all_named(bytes: &[u8], lies: &[(&str, Lie)]) {
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

const LOG: &str = "log.md";
const NOTES: &str = "notes.txt";

#[test]
fn a_file_that_is_written_back_without_a_lie_passes() {
    let bytes = told(sample_bytes(), |held, transaction| {
        held.segment(transaction, |_| ());
        held.column(transaction, CHUNKS, |_| ());
        held.document(transaction, LOG, |_| ());
        held.outline(transaction, LOG, |_| ());
        held.deleted(transaction, |_| ());
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
                |held, transaction| {
                    let other = u64::from(held.id(NOTES).0).to_le_bytes();
                    transaction
                        .put("doc_by_path", Key::Str(LOG), &other)
                        .expect("row");
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
                |held, transaction| {
                    let suffix = &held.documents[LOG].1.suffix;
                    transaction
                        .remove("doc_by_suffix", Key::Str(suffix))
                        .expect("removed");
                },
            ),
            ("\"zzzzzz\" leads to no document", |held, transaction| {
                let number = u64::from(held.id(LOG).0).to_le_bytes();
                transaction
                    .put("doc_by_suffix", Key::Str("zzzzzz"), &number)
                    .expect("row");
            }),
            ("\"log.md\": \"AEIOU\" is no suffix", |held, transaction| {
                let (id, mut record) = held.documents[LOG].clone();
                transaction
                    .remove("doc_by_suffix", Key::Str(&record.suffix))
                    .expect("removed");
                record.suffix = "AEIOU".to_owned();
                documents::put(transaction, id, &record).expect("put");
            }),
            (
                "document \"log.md\": record of a document",
                |held, transaction| {
                    let key = Key::U64(u64::from(held.id(LOG).0));
                    transaction.put("docs", key, &[1, 2, 3]).expect("row");
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
            ("\"log.md\": segment 99 is not live", |held, transaction| {
                held.document(transaction, LOG, |record| record.segment = 99);
            }),
            ("name it, its record says", |held, transaction| {
                held.document(transaction, LOG, |record| record.first_row += 1);
            }),
            ("\"log.md\": 4294967295 rows from", |held, transaction| {
                held.document(transaction, LOG, |record| record.rows = u32::MAX);
            }),
            ("document \"log.md\": rows", |held, transaction| {
                let (segment, first_row) = {
                    let (_, other) = &held.documents[NOTES];
                    (other.segment, other.first_row)
                };
                held.document(transaction, LOG, |record| {
                    (record.segment, record.first_row) = (segment, first_row);
                });
            }),
            (
                "\"log.md\": its text has another hash",
                |held, transaction| {
                    held.document(transaction, LOG, |record| record.text_hash[9] ^= 1);
                },
            ),
            ("\"log.md\": its chunks end at byte", |held, transaction| {
                held.document(transaction, LOG, |record| record.text_bytes -= 1);
            }),
            (
                "\"empty.txt\": it has text and no chunks",
                |held, transaction| {
                    held.document(transaction, "empty.txt", |record| {
                        record.text_hash = [7; 32]
                    });
                },
            ),
            ("\"notes.txt\": tags", |held, transaction| {
                held.document(transaction, NOTES, |record| record.tags.reverse());
            }),
            (
                "facet 4 \"more\" of segment 1: 1 rows have it",
                |held, transaction| {
                    held.document(transaction, NOTES, |record| {
                        record.tags.insert(0, "more".to_owned());
                    });
                },
            ),
            ("\"log.md\" has class 9", |held, transaction| {
                held.document(transaction, LOG, |record| record.class = 9);
            }),
            (
                "\"log.md\": the file has no root 77",
                |held, transaction| {
                    held.document(transaction, LOG, |record| record.root = Some(77));
                },
            ),
            ("lines, its record says", |held, transaction| {
                held.document(transaction, LOG, |record| record.lines += 1);
            }),
            ("facet 1 \"prose\" of segment 1", |held, transaction| {
                held.document(transaction, LOG, |record| {
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
            ("and the next would be 2", |held, transaction| {
                held.manifest(transaction, |manifest| manifest.next_document = 2);
            }),
            (
                "segment 1: the next segment would be 1",
                |held, transaction| {
                    held.manifest(transaction, |manifest| manifest.next_segment = 1);
                },
            ),
            (
                "there is a root 1, and the next would be 1",
                |held, transaction| {
                    held.manifest(transaction, |manifest| manifest.next_root = 1);
                },
            ),
            ("two roots have the number 1", |held, transaction| {
                held.meta(transaction, |meta| meta.roots.push(meta.roots[0].clone()));
            }),
            ("row meta states 1000 documents", |held, transaction| {
                held.meta(transaction, |meta| meta.documents = 1000);
            }),
            ("row meta states 1000 chunks", |held, transaction| {
                held.meta(transaction, |meta| meta.chunks = 1000);
            }),
            ("row meta states 1 bytes of text", |held, transaction| {
                held.meta(transaction, |meta| meta.text_bytes = 1);
            }),
            (
                "segment 1: its record states 90 documents",
                |held, transaction| {
                    held.segment(transaction, |segment| segment.documents = 90);
                },
            ),
            (
                "segment 1: its record states 9 bytes of text",
                |held, transaction| {
                    held.segment(transaction, |segment| segment.text_bytes = 9);
                },
            ),
            ("deleted chunks of segment", |held, transaction| {
                held.deleted(transaction, |deleted| deleted.total_length += 1);
            }),
            ("bytes of text, there are", |held, transaction| {
                held.deleted(transaction, |deleted| deleted.text_bytes += 1);
            }),
            ("documents, there are", |held, transaction| {
                held.deleted(transaction, |deleted| deleted.documents += 1);
            }),
            ("which does not exist", |held, transaction| {
                held.outline(transaction, LOG, |_| ());
                let heading = held.outlines[LOG][0].clone();
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
            ("is named but missing", |held, transaction| {
                held.deleted(transaction, |deleted| {
                    let first = deleted.rows.min().expect("a row");
                    deleted.rows.remove(first);
                });
            }),
            // Deleted: a row of a document that is there.
            ("document \"log.md\": 1 of rows", |held, transaction| {
                let row = held.documents[LOG].1.first_row;
                held.deleted(transaction, |deleted| {
                    deleted.rows.insert(row);
                });
            }),
            ("its record says", |held, transaction| {
                let row = held.documents[LOG].1.first_row as usize;
                let other = held.id(NOTES).0;
                held.column(transaction, CHUNKS, |bytes| {
                    number(bytes, 16, row, 0, |_| other)
                });
            }),
            (
                "document 70000 is named but missing",
                |held, transaction| {
                    held.column(transaction, CHUNKS, |bytes| {
                        number(bytes, 16, 0, 0, |_| 70_000)
                    });
                },
            ),
            (
                "of segment 1: it ends before it starts",
                |held, transaction| {
                    let row = held.documents[LOG].1.first_row as usize + 1;
                    held.column(transaction, CHUNKS, |bytes| {
                        number(bytes, 16, row, 4, |_| 1)
                    });
                },
            ),
            ("and its block has", |held, transaction| {
                held.column(transaction, CHUNKS, |bytes| {
                    number(bytes, 16, 0, 4, |_| 9_000_000)
                });
            }),
            ("cannot have lines", |held, transaction| {
                held.column(transaction, CHUNKS, |bytes| {
                    number(bytes, 16, 0, 8, |line| line + 1)
                });
            }),
            ("cannot have lines", |held, transaction| {
                held.column(transaction, CHUNKS, |bytes| {
                    number(bytes, 16, 0, 12, |line| line + 1)
                });
            }),
            // In the middle of a character.
            ("is not UTF-8", |held, transaction| {
                let (_, record) = &held.documents[LOG];
                let row = record.first_row as usize;
                held.column(transaction, CHUNKS, |bytes| {
                    number(bytes, 16, row, 4, |_| 4)
                });
            }),
            ("block 0 lies at 1", |held, transaction| {
                held.column(transaction, BLOCKS, |bytes| number(bytes, 24, 0, 0, |_| 1));
            }),
            ("segment 1: block 0", |held, transaction| {
                held.column(transaction, BLOCKS, |bytes| {
                    number(bytes, 24, 0, 12, |len| len + 1)
                });
            }),
            ("begins with row 1, at row 0", |held, transaction| {
                held.column(transaction, BLOCKS, |bytes| number(bytes, 24, 0, 16, |_| 1));
            }),
            ("segment 1: block 0", |held, transaction| {
                held.column(transaction, TEXT, |bytes| bytes[40] ^= 1);
            }),
        ],
    );
}

#[test]
fn lies_of_outlines_and_facets_are_named() {
    assert_all_named(
        sample_bytes(),
        &[
            ("\"log.md\": heading \"beyond\"", |held, transaction| {
                held.outline(transaction, LOG, |headings| {
                    let mut beyond = headings[0].clone();
                    (beyond.start, beyond.title) = (10_000_000, "beyond".to_owned());
                    headings.push(beyond);
                });
            }),
            (
                "is out of order or inside a character",
                |held, transaction| {
                    held.outline(transaction, LOG, |headings| headings.swap(2, 40));
                },
            ),
            // "## " and then a character of three bytes.
            (
                "at byte 4 is out of order or inside a character",
                |held, transaction| {
                    held.outline(transaction, LOG, |headings| headings[0].start = 4);
                },
            ),
            ("has level 7 and line", |held, transaction| {
                held.outline(transaction, LOG, |headings| headings[3].level = 7);
            }),
            ("facet 4 \"sea\" of segment 1: row", |held, transaction| {
                held.facet(transaction, LOG, "sea", true);
            }),
            (
                "facet 4 \"new\" of segment 1: 1 rows have it",
                |held, transaction| {
                    held.facet(transaction, NOTES, "new", false);
                },
            ),
            (
                "its bitmap names row 100000, the segment has",
                |_, transaction| {
                    let (segment, rows) = (SegmentId(1), 100_000..100_001);
                    facets::change(transaction, segment, Facet::Tag, "sea", rows, true)
                        .expect("facet");
                },
            ),
            (
                "facet 9 \"x\" of segment 1: an unknown facet",
                |_, transaction| {
                    transaction
                        .put("facets", Key::Bytes(&[0, 0, 0, 1, 9, b'x']), &[])
                        .expect("row");
                },
            ),
            (
                "facet 4 \"sea\" of segment 1: its bitmap",
                |_, transaction| {
                    let key = [&[0, 0, 0, 1, 4][..], b"sea"].concat();
                    transaction
                        .put("facets", Key::Bytes(&key), &[1, 2, 3])
                        .expect("row");
                },
            ),
        ],
    );
}

#[test]
fn lies_of_indexes_and_columns_are_named() {
    assert_all_named(
        sample_bytes(),
        &[
            (
                "keyword index of segment 1: the chunk lengths add up to",
                |held, transaction| {
                    held.text(transaction, |record| record.total_length += 1);
                },
            ),
            ("keyword index of segment 1", |held, transaction| {
                held.text(transaction, |record| record.terms -= 1);
            }),
            ("keyword index of segment 1", |held, transaction| {
                held.column(transaction, LENGTHS, |bytes| bytes.swap(0, 2));
            }),
            (
                "column 16 is another one in the record",
                |held, transaction| {
                    held.text(transaction, |record| record.dictionary.payload_lens.push(1));
                },
            ),
            (
                "vectors of segment 1: the codes of rows from 0 are not their signs",
                |held, transaction| {
                    held.column(transaction, ROWS, |bytes| {
                        bytes[7] = if bytes[7].cast_signed() > 0 { 0xff } else { 1 };
                    });
                },
            ),
            (
                "vectors of segment 1: the codes of rows from 0 are not their signs",
                |held, transaction| {
                    held.column(transaction, CODES, |bytes| bytes[8] ^= 1);
                },
            ),
            (
                "vectors of segment 1: row 0 has a number below -127",
                |held, transaction| {
                    held.column(transaction, ROWS, |bytes| bytes[0] = 0x80);
                },
            ),
            (
                "segment 1: its vectors are not of the model",
                |held, transaction| {
                    held.vectors(transaction, |record| record.range *= 2.0);
                },
            ),
            (
                "segment 1: its columns do not ascend",
                |held, transaction| {
                    held.segment(transaction, |segment| segment.columns.reverse());
                },
            ),
            ("segment 1: column 34 has", |held, transaction| {
                held.segment(transaction, |segment| {
                    let codes = segment.columns.last_mut().expect("columns");
                    codes.width = 2;
                });
            }),
        ],
    );
}

#[test]
fn leftovers_are_named() {
    assert_all_named(
        sample_bytes(),
        &[
            ("table segs: segment 99 is not live", |held, transaction| {
                let (_, record) = held.segments.first_key_value().expect("a segment");
                record.write(transaction, SegmentId(99)).expect("segment");
            }),
            (
                "table deleted: segment 99 is not live",
                |held, transaction| {
                    let (_, deleted) = held.deleted.first_key_value().expect("deleted");
                    deleted.write(transaction, SegmentId(99)).expect("deleted");
                },
            ),
            ("table facets: segment 99 is not live", |_, transaction| {
                let segment = SegmentId(99);
                facets::change(transaction, segment, Facet::Tag, "sea", 0..1, true).expect("facet");
            }),
            (
                "table \"seg/0000000000000063\" belongs to no live segment",
                |_, transaction| {
                    transaction
                        .put_extent(SegmentId(99), CHUNKS, 0, 0, &[1; 16])
                        .expect("extent");
                },
            ),
            (
                "table skipped: \"x.png\" is of no root 5",
                |_, transaction| {
                    skip(transaction, "x.png", 5);
                },
            ),
            (
                "table skipped: \"log.md\" is a document too",
                |_, transaction| {
                    skip(transaction, LOG, 1);
                },
            ),
        ],
    );
}

fn skip(transaction: &mut Transaction<'_>, path: &str, root: u32) {
    let record = SkippedRecord {
        root,
        size_bytes: 1,
        modified_ms: 1,
        reason: "binary".to_owned(),
        hash: [0; 32],
    };
    skipped::put(transaction, path, &record).expect("skipped");
}

#[test]
fn lies_of_sealed_files_are_named() {
    assert_all_named(
        sealed_bytes(),
        &[
            ("row seal: the content root is", |held, transaction| {
                held.document(transaction, LOG, |record| record.title.push('!'));
            }),
            ("row seal: the content root is", |held, transaction| {
                let heading = |headings: &mut Vec<Heading>| headings[1].title.push('!');
                held.outline(transaction, LOG, heading);
            }),
            // Consistent in itself, and not what was sealed.
            ("row seal: the content root is", |held, transaction| {
                held.document(transaction, LOG, |record| {
                    record.tags = vec!["x".to_owned()]
                });
                let (_, record) = &held.documents[LOG];
                let rows = record.first_row..record.first_row + record.rows;
                facets::change(transaction, record.segment(), Facet::Tag, "x", rows, true)
                    .expect("facet");
            }),
            (
                "row meta: sealed, and root 1 still says \"/home/",
                |held, transaction| {
                    held.meta(transaction, |meta| {
                        meta.roots[0].source = "/home/me/harbour".to_owned()
                    });
                },
            ),
            ("is not its place", |held, transaction| {
                held.document(transaction, "data/stations.csv", |record| {
                    record.first_row = 9
                });
            }),
        ],
    );
    // A file with a history that says it is sealed.
    let sealed = |_: &Held, transaction: &mut Transaction<'_>| {
        let record = SealRecord {
            content_root: [1; 32],
            sealed_ms: 1,
        };
        record.write(transaction).expect("seal");
    };
    for expected in ["is not its place", "with deleted rows", "row seal"] {
        named(sample_bytes(), expected, sealed);
    }
    let kb = Kb::from_bytes(told(sample_bytes(), sealed)).expect("it opens");
    assert_eq!(verify(&kb, false).content_root, Some("01".repeat(32)));
}

#[test]
fn no_more_than_a_hundred_problems_are_listed() {
    let bytes = told(sample_bytes(), |held, transaction| {
        for (id, record) in held.documents.values() {
            let mut record = record.clone();
            (record.tags, record.class) = (vec!["b".to_owned(), "a".to_owned()], 9);
            (record.root, record.text_hash, record.lines) = (Some(9), [0; 32], 12_345);
            (record.file_type, record.language) = (record.path.clone(), record.path.clone());
            documents::put_record(transaction, *id, &record).expect("record");
        }
    });
    let kb = Kb::from_bytes(bytes).expect("it opens");
    assert_eq!(verify(&kb, true).problems.len(), 100);
}
