//! Records that lie: counts, numbers, lengths.

use kb_engine::index::keyword::KeywordRecord;
use kb_engine::index::vector::VectorRecord;
use kb_engine::store::meta::{ProbeRecord, RecallRecord};
use kb_engine::types::SegmentId;

use super::ask;
use super::rewrite::{Content, RawKey};

/// Numbers at which readers stumble.
const NUMBERS: [u32; 9] = [0, 1, 2, 7, 100, 65_536, 1 << 24, u32::MAX - 1, u32::MAX];

/// Applies a lie to the golden file and asks everything. Returns whether something was refused.
#[track_caller]
fn tell(what: &str, lie: impl FnOnce(&mut Content)) -> bool {
    let mut content = Content::of_golden();
    lie(&mut content);
    match ask(content.into_bytes(), what) {
        Err(_) => true,
        Ok(answers) => answers.iter().any(|(_, answer)| answer.is_err()),
    }
}

fn text_record(content: &mut Content, change: impl FnOnce(&mut KeywordRecord)) {
    let segment = content.segment();
    let mut record = KeywordRecord::decode(&segment.text_index).expect("a record");
    change(&mut record);
    segment.text_index = record.encode().expect("bytes");
}

fn vector_record(content: &mut Content, change: impl FnOnce(&mut VectorRecord)) {
    let segment = content.segment();
    let mut record = VectorRecord::decode(&segment.vector_index).expect("a record");
    change(&mut record);
    segment.vector_index = record.encode().expect("bytes");
}

#[test]
fn a_lying_manifest_is_refused_or_harmless() {
    assert!(tell("a segment twice", |content| {
        content.manifest.segments = vec![1, 1];
    }));
    assert!(tell("a segment very often", |content| {
        content.manifest.segments = vec![1; 1_000_000];
    }));
    assert!(tell("segments backwards", |content| content
        .manifest
        .segments
        .reverse()));
    assert!(tell("an unknown segment", |content| {
        content.manifest.segments.push(u32::MAX);
    }));
    assert!(tell("no segment", |content| content
        .manifest
        .segments
        .clear()));
    tell("numbers given twice", |content| {
        content.manifest.next_segment = 0;
        content.manifest.next_document = 0;
        content.manifest.generation = u64::MAX;
    });
}

#[test]
fn a_lying_meta_is_refused_or_harmless() {
    for number in [0, u64::MAX] {
        tell("counts", |content| {
            content.meta.documents = number;
            content.meta.chunks = number;
            content.meta.text_bytes = number;
        });
    }
    for time in [i64::MIN, -1, i64::MAX] {
        tell("times", |content| {
            content.meta.created_ms = time;
            content.meta.updated_ms = time;
        });
    }
    for dim in NUMBERS {
        assert!(
            tell("dim", |content| content.meta.embedder.dim = dim),
            "{dim}"
        );
    }
    for range in [
        0.0,
        -1.0,
        f32::NAN,
        f32::INFINITY,
        f32::MAX,
        f32::MIN_POSITIVE,
    ] {
        tell("range", |content| {
            content.meta.embedder.quantiser_range = range
        });
    }
    for len in [0, 1, 191, 193, 100_000] {
        let lie = |content: &mut Content| {
            content.meta.embedder.probes = vec![ProbeRecord {
                text: "fog ".repeat(len),
                vector: vec![f32::NAN; len],
            }];
        };
        assert!(tell("a probe", lie), "{len}");
    }
    for (number, share, refused) in [
        (0, 0.0, false),
        (u32::MAX, 1.0, false),
        (1, -0.1, true),
        (1, 1.1, true),
        (1, f32::NAN, true),
    ] {
        let lie = |content: &mut Content| {
            content.meta.recall = Some(RecallRecord {
                queries: number,
                k: number,
                candidates: number,
                rows: u64::from(number) << 32,
                recall: share,
            });
        };
        assert_eq!(tell("recall", lie), refused, "{share}");
    }
    tell("many probes", |content| {
        let probes = content.meta.embedder.probes.clone();
        content.meta.embedder.probes = probes.into_iter().cycle().take(20_000).collect();
    });
    tell("many roots", |content| {
        let root = content.meta.roots[0].clone();
        content.meta.roots = vec![root; 100_000];
    });
}

#[test]
fn a_segment_that_lies_about_its_rows_is_refused() {
    for rows in NUMBERS {
        let lie = |content: &mut Content| {
            content.segment().rows = rows;
            text_record(content, |record| record.rows = rows);
            vector_record(content, |record| record.rows = rows);
        };
        assert!(tell("rows of all", lie), "{rows}");
        let lie = |content: &mut Content| content.segment().rows = rows;
        assert!(tell("rows of the segment", lie), "{rows}");
    }
}

#[test]
fn a_lying_text_index_record_is_refused_or_harmless() {
    for length in [0, 1, u64::from(u32::MAX), u64::MAX / 2, u64::MAX] {
        tell("total length", |content| {
            for segment in content.segments.values_mut() {
                let mut record = KeywordRecord::decode(&segment.text_index).expect("a record");
                record.total_length = length;
                segment.text_index = record.encode().expect("bytes");
            }
        });
    }
    assert!(tell("version", |content| text_record(content, |record| {
        record.version = 2
    })));
    for width in [0, 1, 3, 4, u32::MAX] {
        let lie =
            |content: &mut Content| text_record(content, |record| record.lengths.width = width);
        assert!(tell("width of lengths", lie), "{width}");
    }
    for number in NUMBERS {
        tell("a part of the dictionary", |content| {
            text_record(content, |record| {
                record.dictionary_parts[0].len_bytes = number
            });
        });
        tell("place of a part", |content| {
            text_record(content, |record| {
                record.dictionary_parts[0].position = number.into()
            });
        });
    }
    tell("place of a part", |content| {
        text_record(content, |record| {
            record.dictionary_parts[0].position = u64::MAX
        });
    });
    tell("no parts", |content| {
        text_record(content, |record| record.dictionary_parts.clear())
    });
    tell("many parts", |content| {
        text_record(content, |record| {
            let part = record.dictionary_parts[0].clone();
            record.dictionary_parts = vec![part; 100_000];
        });
    });
}

#[test]
fn a_lying_vector_index_record_is_refused_or_harmless() {
    assert!(tell("codec", |content| vector_record(content, |record| {
        record.codec = 9
    })));
    for number in NUMBERS {
        let lie = |content: &mut Content| vector_record(content, |record| record.dim = number);
        assert!(tell("dim", lie), "{number}");
        let lie = |content: &mut Content| vector_record(content, |record| record.stride = number);
        assert!(tell("stride", lie), "{number}");
        tell("both", |content| {
            vector_record(content, |record| {
                record.dim = number;
                record.stride = number.checked_next_multiple_of(64).unwrap_or(0);
            });
        });
    }
    for range in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let lie = |content: &mut Content| vector_record(content, |record| record.range = range);
        assert!(tell("range", lie), "{range}");
    }
}

#[test]
fn a_column_record_that_lies_is_refused() {
    let mut golden = Content::of_golden();
    let columns = golden.segment().columns.clone();
    for (position, column) in columns.iter().enumerate() {
        for width in NUMBERS {
            tell("width", |content| {
                content.segment().columns[position].width = width
            });
        }
        for number in [0, 1, 3, 34, u16::MAX] {
            tell("number", |content| {
                content.segment().columns[position].column = number
            });
        }
        let lies: [(&str, Vec<u32>); 5] = [
            ("no extents", vec![]),
            ("an empty extent", vec![0]),
            ("a long extent", vec![u32::MAX]),
            ("many extents", vec![u32::MAX; 100_000]),
            ("one byte less", vec![1]),
        ];
        for (what, lens) in lies {
            // A small file has no text dictionary.
            if lens == column.payload_lens {
                continue;
            }
            let lie = |content: &mut Content| {
                content.segment().columns[position].payload_lens = lens;
            };
            assert!(tell(what, lie), "{what} of column {position}");
        }
        assert!(tell("no column", |content| {
            content.segment().columns.remove(position);
        }));
        assert!(tell("a column twice", |content| {
            let record = content.segment().columns[position].clone();
            content.segment().columns.push(record);
        }));
    }
}

#[test]
fn a_lying_document_record_is_refused_or_harmless() {
    for number in NUMBERS {
        let all =
            |what: &str, change: fn(&mut kb_engine::store::documents::DocumentRecord, u32)| {
                tell(&format!("{what} {number}"), |content| {
                    for record in content.documents.values_mut() {
                        change(record, number);
                    }
                })
            };
        all("first row", |record, number| record.first_row = number);
        all("rows", |record, number| record.rows = number);
        all("both", |record, number| {
            record.first_row = number;
            record.rows = u32::MAX;
        });
        all("text bytes", |record, number| record.text_bytes = number);
        all("lines", |record, number| record.lines = number);
        all("lines without a map", |record, number| {
            record.lines = number;
            record.line_map = !record.line_map;
        });
        all("root", |record, number| record.root = Some(number));
        all("segment", |record, number| record.segment = number);
        all("size", |record, number| {
            record.size_bytes = u64::MAX - u64::from(number)
        });
    }
    assert!(tell("class", |content| {
        for record in content.documents.values_mut() {
            record.class = 0;
        }
    }));
    tell("path and times", |content| {
        for record in content.documents.values_mut() {
            record.path = String::new();
            record.modified_ms = i64::MIN;
        }
    });
}

#[test]
fn records_of_lying_lengths_and_other_versions_are_refused() {
    // Version 1, then lengths that no file has: 2^64 - 1, 2^32 - 1, 16 Mi.
    let lengths: [&[u8]; 4] = [
        &[1, 253, 255, 255, 255, 255, 255, 255, 255, 255],
        &[1, 252, 255, 255, 255, 255],
        &[1, 252, 0, 0, 0, 1],
        &[1, 251, 255, 255],
    ];
    let others: [&[u8]; 4] = [&[], &[0], &[2, 0, 0, 0, 0, 0, 0, 0], &[255; 40]];
    for record in lengths.into_iter().chain(others) {
        let rows = [
            ("kb", RawKey::Str("meta")),
            ("kb", RawKey::Str("manifest")),
            ("segs", RawKey::U64(1)),
            ("docs", RawKey::U64(1)),
            ("outline", RawKey::U64(2)),
        ];
        for (table, key) in rows {
            let what = format!("{table} {key:?} is {record:?}");
            let lie = |content: &mut Content| content.raw.push((table, key, record.to_vec()));
            let refused = tell(&what, lie);
            assert!(refused || table == "outline" || table == "docs", "{what}");
        }
        tell("index records", |content| {
            content.segment().text_index = record.to_vec();
        });
        tell("index records", |content| {
            content.segment().vector_index = record.to_vec();
        });
    }
}

#[test]
fn rows_of_paths_outlines_and_facets_may_hold_anything() {
    let mut values: Vec<Vec<u8>> = vec![vec![], vec![0; 3], vec![255; 8], vec![9; 8], vec![1; 40]];
    // The head of a roaring bitmap of 65,536 containers, of 12,346 run containers.
    values.push([0x3a, 0x30, 0, 0, 0, 0, 1, 0].to_vec());
    values.push([[0x3b, 0x30, 0xff, 0xff].as_slice(), &[255; 9000]].concat());
    for value in values {
        for name in ["notes.txt", "docs/log.md", "no/such.md"] {
            tell("a path", |content| {
                content
                    .raw
                    .push(("doc_by_path", RawKey::Str(name), value.clone()));
            });
        }
        for facet in 0..5u8 {
            let mut key = SegmentId(1).0.to_be_bytes().to_vec();
            key.push(facet);
            key.extend_from_slice(if facet == 3 { b"doc" } else { b"markdown" });
            tell("a facet", |content| {
                content
                    .raw
                    .push(("facets", RawKey::Bytes(key), value.clone()));
            });
        }
    }
    // Headings before, behind and beside the text, at levels that there are not.
    for (level, start) in [(0u8, 0u8), (255, 250), (1, 1)] {
        let mut record = vec![1, 251, 0x10, 0x27];
        for _ in 0..10_000 {
            record.extend([level, 1, b'x', start, 250]);
        }
        for document in 1..9 {
            tell("headings", |content| {
                content
                    .raw
                    .push(("outline", RawKey::U64(document), record.clone()));
            });
        }
    }
}
