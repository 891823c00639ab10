//! Records with wrong counts, numbers and lengths.

use kb_engine::testing::container::Key;
use kb_engine::testing::index::keyword::KeywordRecord;
use kb_engine::testing::index::vector::VectorRecord;
use kb_engine::testing::store::meta::{ProbeRecord, RecallRecord};
use kb_engine::{
    Filters, Kb, Progress, Request, SegmentId, Show, SymbolKind, SymbolRelation, SymbolsRequest,
    VerifyOptions,
};

use super::ask::ask;
use super::forgery::{RawKey, Stored};

/// Numbers at which readers stumble.
const NUMBERS: [u32; 9] = [0, 1, 2, 7, 100, 65_536, 1 << 24, u32::MAX - 1, u32::MAX];

/// Applies a lie to the golden file and asks everything. Returns whether something was refused.
#[track_caller]
fn tell(what: &str, lie: impl FnOnce(&mut Stored)) -> bool {
    let mut stored = Stored::of_golden();
    lie(&mut stored);
    match ask(stored.into_bytes(), what) {
        Err(_) => true,
        Ok(answers) => answers.iter().any(|(_, answer)| answer.is_err()),
    }
}

fn text_record(stored: &mut Stored, change: impl FnOnce(&mut KeywordRecord)) {
    let segment = stored.first_segment();
    let mut record = KeywordRecord::decode(&segment.text_index).expect("a record");
    change(&mut record);
    segment.text_index = record.encode().expect("bytes");
}

fn vector_record(stored: &mut Stored, change: impl FnOnce(&mut VectorRecord)) {
    let segment = stored.first_segment();
    let mut record = VectorRecord::decode(&segment.vector_index).expect("a record");
    change(&mut record);
    segment.vector_index = record.encode().expect("bytes");
}

#[test]
fn a_lying_manifest_is_refused_or_harmless() {
    assert!(tell("a segment twice", |stored| {
        stored.manifest.segments = vec![1, 1];
    }));
    assert!(tell("a segment very often", |stored| {
        stored.manifest.segments = vec![1; 1_000_000];
    }));
    assert!(tell("segments backwards", |stored| stored
        .manifest
        .segments
        .reverse()));
    assert!(tell("an unknown segment", |stored| {
        stored.manifest.segments.push(u32::MAX);
    }));
    assert!(tell("no segment", |stored| stored
        .manifest
        .segments
        .clear()));
    tell("numbers given twice", |stored| {
        stored.manifest.next_segment = 0;
        stored.manifest.next_document = 0;
        stored.manifest.generation = u64::MAX;
    });
}

#[test]
fn a_lying_meta_is_refused_or_harmless() {
    for number in [0, u64::MAX] {
        tell("counts", |stored| {
            stored.meta.documents = number;
            stored.meta.chunks = number;
            stored.meta.text_bytes = number;
        });
    }
    for time in [i64::MIN, -1, i64::MAX] {
        tell("times", |stored| {
            stored.meta.created_ms = time;
            stored.meta.updated_ms = time;
        });
    }
    for dim in NUMBERS {
        assert!(
            tell("dim", |stored| stored.meta.embedder.dim = dim),
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
        tell("range", |stored| {
            stored.meta.embedder.quantiser_range = range
        });
    }
    for len in [0, 1, 191, 193, 100_000] {
        let lie = |stored: &mut Stored| {
            stored.meta.embedder.probes = vec![ProbeRecord {
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
        let lie = |stored: &mut Stored| {
            stored.meta.recall = Some(RecallRecord {
                queries: number,
                k: number,
                candidates: number,
                rows: u64::from(number) << 32,
                recall: share,
            });
        };
        assert_eq!(tell("recall", lie), refused, "{share}");
    }
    tell("many probes", |stored| {
        let probes = stored.meta.embedder.probes.clone();
        stored.meta.embedder.probes = probes.into_iter().cycle().take(20_000).collect();
    });
    tell("many roots", |stored| {
        let root = stored.meta.roots[0].clone();
        stored.meta.roots = vec![root; 100_000];
    });
}

#[test]
fn a_segment_that_lies_about_its_rows_is_refused() {
    for rows in NUMBERS {
        let lie = |stored: &mut Stored| {
            stored.first_segment().rows = rows;
            text_record(stored, |record| record.rows = rows);
            vector_record(stored, |record| record.rows = rows);
        };
        assert!(tell("rows of all", lie), "{rows}");
        let lie = |stored: &mut Stored| stored.first_segment().rows = rows;
        assert!(tell("rows of the segment", lie), "{rows}");
    }
}

#[test]
fn a_lying_text_index_record_is_refused_or_harmless() {
    for length in [0, 1, u64::from(u32::MAX), u64::MAX / 2, u64::MAX] {
        tell("total length", |stored| {
            for segment in stored.segments.values_mut() {
                let mut record = KeywordRecord::decode(&segment.text_index).expect("a record");
                record.total_length = length;
                segment.text_index = record.encode().expect("bytes");
            }
        });
    }
    assert!(tell("version", |stored| text_record(stored, |record| {
        record.version = 2
    })));
    for width in [0, 1, 3, 4, u32::MAX] {
        let lie = |stored: &mut Stored| text_record(stored, |record| record.lengths.width = width);
        assert!(tell("width of lengths", lie), "{width}");
    }
    for number in NUMBERS {
        tell("a part of the dictionary", |stored| {
            text_record(stored, |record| {
                record.dictionary_parts[0].len_bytes = number
            });
        });
        tell("place of a part", |stored| {
            text_record(stored, |record| {
                record.dictionary_parts[0].position = number.into()
            });
        });
    }
    tell("place of a part", |stored| {
        text_record(stored, |record| {
            record.dictionary_parts[0].position = u64::MAX
        });
    });
    tell("no parts", |stored| {
        text_record(stored, |record| record.dictionary_parts.clear())
    });
    tell("many parts", |stored| {
        text_record(stored, |record| {
            let part = record.dictionary_parts[0].clone();
            record.dictionary_parts = vec![part; 100_000];
        });
    });
}

#[test]
fn a_lying_vector_index_record_is_refused_or_harmless() {
    assert!(tell("codec", |stored| vector_record(stored, |record| {
        record.codec = 9
    })));
    for number in NUMBERS {
        let lie = |stored: &mut Stored| vector_record(stored, |record| record.dim = number);
        assert!(tell("dim", lie), "{number}");
        let lie = |stored: &mut Stored| vector_record(stored, |record| record.stride = number);
        assert!(tell("stride", lie), "{number}");
        tell("both", |stored| {
            vector_record(stored, |record| {
                record.dim = number;
                record.stride = number.checked_next_multiple_of(64).unwrap_or(0);
            });
        });
    }
    for range in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let lie = |stored: &mut Stored| vector_record(stored, |record| record.range = range);
        assert!(tell("range", lie), "{range}");
    }
}

#[test]
fn a_column_record_that_lies_is_refused() {
    let mut golden = Stored::of_golden();
    let columns = golden.first_segment().columns.clone();
    for (position, column) in columns.iter().enumerate() {
        for width in NUMBERS {
            tell("width", |stored| {
                stored.first_segment().columns[position].width = width
            });
        }
        for number in [0, 1, 3, 34, u16::MAX] {
            tell("number", |stored| {
                stored.first_segment().columns[position].column = number
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
            let lie = |stored: &mut Stored| {
                stored.first_segment().columns[position].payload_lens = lens;
            };
            assert!(tell(what, lie), "{what} of column {position}");
        }
        assert!(tell("no column", |stored| {
            stored.first_segment().columns.remove(position);
        }));
        assert!(tell("a column twice", |stored| {
            let record = stored.first_segment().columns[position].clone();
            stored.first_segment().columns.push(record);
        }));
    }
}

#[test]
fn a_lying_document_record_is_refused_or_harmless() {
    for number in NUMBERS {
        let all =
            |what: &str, change: fn(&mut kb_engine::testing::store::documents::DocumentRecord, u32)| {
                tell(&format!("{what} {number}"), |stored| {
                    for (_, record) in stored.documents.values_mut() {
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
    assert!(tell("class", |stored| {
        for (_, record) in stored.documents.values_mut() {
            record.class = 0;
        }
    }));
    tell("path and times", |stored| {
        for (_, record) in stored.documents.values_mut() {
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
            let lie = |stored: &mut Stored| stored.raw.push((table, key, record.to_vec()));
            let refused = tell(&what, lie);
            assert!(refused || table == "outline" || table == "docs", "{what}");
        }
        tell("index records", |stored| {
            stored.first_segment().text_index = record.to_vec();
        });
        tell("index records", |stored| {
            stored.first_segment().vector_index = record.to_vec();
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
            tell("a path", |stored| {
                stored
                    .raw
                    .push(("doc_by_path", RawKey::Str(name), value.clone()));
            });
        }
        for facet in 0..5u8 {
            let mut key = SegmentId(1).0.to_be_bytes().to_vec();
            key.push(facet);
            key.extend_from_slice(if facet == 3 { b"doc" } else { b"markdown" });
            tell("a facet", |stored| {
                stored
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
            tell("headings", |stored| {
                stored
                    .raw
                    .push(("outline", RawKey::U64(document), record.clone()));
            });
        }
    }
}

/// A program and its file, so that there is a row of symbols.
fn program() -> (tempfile::TempDir, Vec<u8>) {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.kb");
    let mut writer = kb_engine::KbWriter::open_or_create(&path).expect("writer");
    let text = "class Reader:\n    def load(self, path):\n        return parse(path)\n\n\ndef parse(path):\n    return path\n";
    writer.add_bytes("a.py", text.as_bytes()).expect("document");
    writer.commit().expect("commit");
    drop(writer);
    let bytes = std::fs::read(&path).expect("bytes");
    (folder, bytes)
}

#[test]
fn a_row_of_symbols_may_hold_anything() {
    let (_folder, bytes) = program();
    // Count, labels, one label without a keyword, then columns that lie: far, backwards, endless, nameless.
    let body = |columns: [u32; 12]| {
        let mut body = vec![1, 1, SymbolKind::Function as u8, 0];
        for number in columns {
            let mut rest = number;
            while rest >= 0x80 {
                body.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            body.push(rest as u8);
        }
        [&[1, 0, body.len() as u8 + 4], &body[..], b"name"].concat()
    };
    let true_one = [0, 0, 0, 40, 0, 2, 4, 0, 9, 0, 0, 4];
    let mut rows: Vec<Vec<u8>> = vec![vec![], vec![1], vec![9; 40], vec![1, 0, 200], vec![1; 300]];
    rows.push(body(true_one));
    for place in 0..12 {
        for number in NUMBERS {
            let mut columns = true_one;
            columns[place] = number;
            rows.push(body(columns));
        }
    }
    // The same of version 2: label, closed, gap, comment, head, name, head length, tail, line, further lines.
    let nested = |columns: [u32; 10]| {
        let flat: [u32; 12] = std::array::from_fn(|at| columns.get(at).copied().unwrap_or(0));
        let mut row = body(flat);
        // Without the two columns more that version 1 has.
        let names = row.len() - 4;
        row.drain(names - 2..names);
        (row[0], row[2]) = (2, row[2] - 2);
        row
    };
    let true_one = [0, 0, 0, 0, 0, 8, 2, 62, 0, 4];
    rows.push(nested(true_one));
    for place in 0..10 {
        for number in NUMBERS {
            let mut columns = true_one;
            columns[place] = number;
            rows.push(nested(columns));
        }
    }
    // A frame that refers to a dictionary, and there is none.
    rows.push([&[2, 2, 40][..], &[0x28, 0xb5, 0x2f, 0xfd, 0, 0, 1, 0, 0]].concat());
    // A frame that says it is much longer than it is.
    rows.push(
        [
            &[1, 1, 0xff, 0xff, 0xff, 0x7f][..],
            &[0x28, 0xb5, 0x2f, 0xfd, 0xe0],
            &[255; 12],
        ]
        .concat(),
    );
    for row in rows {
        let what = format!("{row:?}");
        let forged = super::forgery::forge(&bytes, |stored, transaction| {
            let (id, _) = &stored.documents["a.py"];
            let key = Key::U64(id.0.into());
            transaction.put("symbols", key, &row).expect("a row");
        });
        let started = std::time::Instant::now();
        let kb = Kb::from_bytes(forged).expect("it opens");
        let relation = |name: &str| SymbolRelation::Uses(name.to_owned());
        let by = |name: &str| SymbolRelation::UsedBy(name.to_owned());
        let mut requests = vec![SymbolsRequest::new(), SymbolsRequest::new().name("p*")];
        requests.push(SymbolsRequest::new().kinds([SymbolKind::Function]));
        requests.push(SymbolsRequest::new().relation(relation("parse")));
        requests.push(SymbolsRequest::new().relation(by("load")));
        for request in requests {
            blames_the_file(kb.symbols(&request), &what);
        }
        let search = Request::new("where is parse defined")
            .smart_context(true)
            .show(Show::lines(2));
        blames_the_file(kb.search(&search), &what);
        let named = Filters::new()
            .symbol_names(["load"])
            .symbol_kinds([SymbolKind::Method]);
        blames_the_file(kb.search(&search.filters(named)), &what);
        blames_the_file(kb.outline("a.py"), &what);
        assert!(started.elapsed() < crate::support::PATIENCE, "{what}");
        let report = kb.verify(&VerifyOptions::new().deep(true), &mut Progress::ignore);
        let report = report.expect("a report");
        assert!(
            !report.problems.is_empty(),
            "{what}: a deep check finds nothing"
        );
    }
}

/// An answer, or an error that says the file is damaged or from another program.
#[track_caller]
pub(super) fn blames_the_file<T>(answer: kb_engine::Result<T>, what: &str) {
    if let Err(error) = answer {
        let code = error.code();
        assert!(
            ["DAMAGED", "FORMAT_UNSUPPORTED"].contains(&code),
            "{what}: {code} {error}"
        );
    }
}
