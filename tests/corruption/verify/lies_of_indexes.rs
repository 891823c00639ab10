//! Wrong values behind valid checksums in outlines, facets, indexes and the seal, and orphaned rows.

use kb_engine::Kb;
use kb_engine::testing::container::column::ExtentSink;
use kb_engine::testing::container::{Key, Transaction};
use kb_engine::testing::index::keyword::LENGTHS;
use kb_engine::testing::index::vector::{CODES, ROWS};
use kb_engine::testing::store::documents;
use kb_engine::testing::store::facets::{self, Facet};
use kb_engine::testing::store::meta::SealRecord;
use kb_engine::testing::store::skipped::{self, SkippedRecord};
use kb_engine::testing::store::tables::CHUNK_BLOCKS;
use kb_engine::{Heading, SegmentId};

use super::lies::{LOG, NOTES, assert_all_named, named};
use super::{sample_bytes, sealed_bytes, verify};
use crate::corruption::forgery::{Stored, forge};

#[test]
fn lies_of_outlines_and_facets_are_named() {
    assert_all_named(
        sample_bytes(),
        &[
            ("\"log.md\": heading \"beyond\"", |stored, transaction| {
                stored.outline(transaction, LOG, |headings| {
                    let mut beyond = headings[0].clone();
                    (beyond.start, beyond.title) = (10_000_000, "beyond".to_owned());
                    headings.push(beyond);
                });
            }),
            (
                "is out of order or inside a character",
                |stored, transaction| {
                    stored.outline(transaction, LOG, |headings| headings.swap(2, 40));
                },
            ),
            // "## " and then a character of three bytes.
            (
                "at byte 4 is out of order or inside a character",
                |stored, transaction| {
                    stored.outline(transaction, LOG, |headings| headings[0].start = 4);
                },
            ),
            ("has level 7 and line", |stored, transaction| {
                stored.outline(transaction, LOG, |headings| headings[3].level = 7);
            }),
            (
                "facet 4 \"sea\" of segment 1: row",
                |stored, transaction| {
                    stored.facet(transaction, LOG, "sea", true);
                },
            ),
            (
                "facet 4 \"new\" of segment 1: 1 rows have it",
                |stored, transaction| {
                    stored.facet(transaction, NOTES, "new", false);
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
                "facet 10 \"x\" of segment 1: an unknown facet",
                |_, transaction| {
                    transaction
                        .put("facets", Key::Bytes(&[0, 0, 0, 1, 10, b'x']), &[])
                        .expect("row");
                },
            ),
            (
                "fields of segment 1: there are rows of fields and no column",
                |_, transaction| {
                    let key = [&[0, 0, 0, 1][..], b"year=\x02"].concat();
                    transaction
                        .put("fields", Key::Bytes(&key), &[1, 2, 3])
                        .expect("row");
                },
            ),
            (
                "fields of segment 1: a key of table fields",
                |_, transaction| {
                    let key = [&[0, 0, 0, 1][..], b"year=\x09"].concat();
                    transaction
                        .put("fields", Key::Bytes(&key), &[])
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
                |stored, transaction| {
                    stored.text(transaction, |record| record.total_length += 1);
                },
            ),
            ("keyword index of segment 1", |stored, transaction| {
                stored.text(transaction, |record| record.terms -= 1);
            }),
            ("keyword index of segment 1", |stored, transaction| {
                stored.column(transaction, LENGTHS, |bytes| bytes.swap(0, 2));
            }),
            (
                "column 16 is another one in the record",
                |stored, transaction| {
                    stored.text(transaction, |record| record.dictionary.payload_lens.push(1));
                },
            ),
            (
                "vectors of segment 1: the codes of rows from 0 are not their signs",
                |stored, transaction| {
                    stored.column(transaction, ROWS, |bytes| {
                        bytes[7] = if bytes[7].cast_signed() > 0 { 0xff } else { 1 };
                    });
                },
            ),
            (
                "vectors of segment 1: the codes of rows from 0 are not their signs",
                |stored, transaction| {
                    stored.column(transaction, CODES, |bytes| bytes[8] ^= 1);
                },
            ),
            (
                "vectors of segment 1: row 0 has a number below -127",
                |stored, transaction| {
                    stored.column(transaction, ROWS, |bytes| bytes[0] = 0x80);
                },
            ),
            (
                "segment 1: its vectors are not of the model",
                |stored, transaction| {
                    stored.vectors(transaction, |record| record.range *= 2.0);
                },
            ),
            (
                "segment 1: its columns do not ascend",
                |stored, transaction| {
                    stored.segment(transaction, |segment| segment.columns.reverse());
                },
            ),
            ("segment 1: column 34 has", |stored, transaction| {
                stored.segment(transaction, |segment| {
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
            (
                "table segs: segment 99 is not live",
                |stored, transaction| {
                    let (_, record) = stored.segments.first_key_value().expect("a segment");
                    record.write(transaction, SegmentId(99)).expect("segment");
                },
            ),
            (
                "table deleted: segment 99 is not live",
                |stored, transaction| {
                    let (_, deleted) = stored.deleted.first_key_value().expect("deleted");
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
                        .put_extent(SegmentId(99), CHUNK_BLOCKS, 0, 0, &[1; 16])
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
            ("row seal: the content root is", |stored, transaction| {
                stored.document(transaction, LOG, |record| record.title.push('!'));
            }),
            ("row seal: the content root is", |stored, transaction| {
                let heading = |headings: &mut Vec<Heading>| headings[1].title.push('!');
                stored.outline(transaction, LOG, heading);
            }),
            // Consistent in itself, and not what was sealed.
            ("row seal: the content root is", |stored, transaction| {
                stored.document(transaction, LOG, |record| {
                    record.tags = vec!["x".to_owned()]
                });
                let (_, record) = &stored.documents[LOG];
                let rows = record.first_row..record.first_row + record.rows;
                facets::change(transaction, record.segment(), Facet::Tag, "x", rows, true)
                    .expect("facet");
            }),
            (
                "row meta: sealed, and root 1 still says \"/home/",
                |stored, transaction| {
                    stored.meta(transaction, |meta| {
                        meta.roots[0].source = "/home/me/harbour".to_owned()
                    });
                },
            ),
            ("is not its place", |stored, transaction| {
                stored.document(transaction, "data/stations.csv", |record| {
                    record.first_row = 9
                });
            }),
        ],
    );
    // A file with a history that says it is sealed.
    let sealed = |_: &Stored, transaction: &mut Transaction<'_>| {
        let record = SealRecord {
            content_root: [1; 32],
            sealed_ms: 1,
        };
        record.write(transaction).expect("seal");
    };
    for expected in ["is not its place", "with deleted rows", "row seal"] {
        named(sample_bytes(), expected, sealed);
    }
    let kb = Kb::from_bytes(forge(sample_bytes(), sealed)).expect("it opens");
    assert_eq!(verify(&kb, false).content_root, Some("01".repeat(32)));
}

#[test]
fn no_more_than_a_hundred_problems_are_listed() {
    let bytes = forge(sample_bytes(), |stored, transaction| {
        for (id, record) in stored.documents.values() {
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
