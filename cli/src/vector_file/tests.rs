use std::path::{Path, PathBuf};

use kb_engine::VectorTarget;

use super::file::lacks_reader;
use super::row::Row;
use super::*;

/// Files that NumPy and PyArrow wrote.
fn fixture(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/vectors");
    folder.join(name)
}

fn read(path: &Path) -> Result<Vec<Row>, VectorFileError> {
    VectorFile::open(path, None, 1000)?.collect()
}

/// Of a file with a row for each of five chunks.
fn in_order(path: &Path) -> Result<Vec<Row>, VectorFileError> {
    VectorFile::open(path, None, 5)?.collect()
}

fn error_of(path: &Path) -> VectorFileError {
    read(path).expect_err(&path.display().to_string())
}

/// The vectors of all fixtures.
fn vectors() -> Vec<Vec<f32>> {
    let row = |row: u8| vec![1.0, -0.5, 0.25, f32::from(row) + 0.125];
    (0..5).map(row).collect()
}

fn chunk(index: u32) -> VectorTarget {
    VectorTarget::Chunk {
        document: "a.md".to_owned(),
        index,
    }
}

/// A file in a folder that goes with the guard.
fn written(name: &str, bytes: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn npy(kind: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = u16::try_from(header.len()).unwrap();
    let start = [b"\x93NUMPY\x01\0".as_slice(), &length.to_le_bytes()].concat();
    [start, header.into_bytes(), data.to_vec()].concat()
}

#[test]
fn arrays_of_all_kinds_are_read_in_order() {
    for name in ["f4", "f4-big", "f8", "f2", "version-2", "version-3"] {
        let rows = in_order(&fixture(&format!("{name}.npy"))).unwrap();
        let found: Vec<Vec<f32>> = rows.iter().map(|(_, vector)| vector.clone()).collect();
        assert_eq!(found, vectors(), "{name}");
        let targets = rows.into_iter().map(|(target, _)| target);
        let positions: Vec<VectorTarget> = (0..5).map(VectorTarget::Position).collect();
        assert!(targets.eq(positions), "{name}");
    }
    let bytes = in_order(&fixture("i1.npy")).unwrap();
    assert_eq!(bytes[4].1, [8.0, -4.0, 2.0, 33.0]);
}

#[test]
fn arrays_that_lie_are_refused_with_a_remedy() {
    for (name, reason, hint) in [
        ("fortran.npy", "Fortran order", "ascontiguousarray"),
        ("flat.npy", "one axis with 4", "reshape"),
        ("objects.npy", "Python objects", "astype"),
    ] {
        let error = error_of(&fixture(name));
        assert!(error.message.contains(reason), "{error:?}");
        assert!(error.message.contains(name), "{error:?}");
        assert!(error.hint.as_ref().unwrap().contains(hint), "{error:?}");
    }
    for (kind, shape, bytes, reason) in [
        ("<f4", "(2, 3)", 23, "need 24 bytes, but 23 bytes follow"),
        ("<f4", "(2, 3)", 25, "need 24 bytes, but 25 bytes follow"),
        ("<f8", "(4611686018427387904, 4096)", 8, "more than 2^64"),
        ("<f8", "(1, 4097)", 8, "4097 numbers"),
        ("<f4", "(3, 0)", 0, "0 numbers"),
        ("<f4", "(1, 1, 1)", 4, "3 axes"),
        (
            "<f4",
            "(5000, 1)",
            20_000,
            "5000 rows, but the .kb file has 1000",
        ),
        (
            "<f4",
            "(999, 1)",
            3996,
            "999 rows, but the .kb file has 1000",
        ),
    ] {
        let (_folder, path) = written("a.npy", npy(kind, shape, &vec![0; bytes]));
        let error = error_of(&path);
        assert!(error.message.contains(reason), "{shape}: {error:?}");
    }
    for bytes in [&b""[..], b"\x93NUMPY\x01\0\xff\xff{", b"PK\x03\x04"] {
        let (_folder, path) = written("a.npy", bytes);
        error_of(&path);
    }
}

#[test]
fn lines_name_chunks_in_each_way_that_kb_prints() {
    let text = "\u{feff}{\"document\": \"a.md\", \"chunk\": 3, \"vector\": [1, 2.5]}\n\n\
        {\"document\": \"a.md\", \"chunk\": \"a.md#4\", \"lines\": null, \"text\": \"x\", \"vector\": [1, 2]}\r\n\
        {\"document\": \"a.md\", \"span\": [0, 10], \"vector\": [1, 2]}\n\
        {\"document\": \"a.md\", \"lines\": [1, 2], \"vector\": [1, 2]}\n\
        {\"document\": \"b.md\", \"vector\": [1e300, -2]}";
    let (_folder, path) = written("a.jsonl", text);
    let rows = read(&path).unwrap();
    let document = || "a.md".to_owned();
    let expected = [
        chunk(3),
        chunk(4),
        VectorTarget::Span {
            document: document(),
            start: 0,
            end: 10,
        },
        VectorTarget::Lines {
            document: document(),
            first: 1,
            last: 2,
        },
        VectorTarget::Document("b.md".to_owned()),
    ];
    assert!(rows.iter().map(|(target, _)| target).eq(&expected));
    assert_eq!(rows[0].1, [1.0, 2.5]);
    // The engine refuses it by its row.
    assert_eq!(rows[4].1, [f32::INFINITY, -2.0]);
}

#[test]
fn a_wrong_line_is_named_by_line_and_row() {
    let right = "{\"document\": \"a\", \"vector\": [1, 2]}";
    for (line, reason) in [
        ("{", "not valid JSON"),
        ("[1, 2]", "not a JSON object"),
        ("{\"vector\": [1, 2]}", "no `document`"),
        ("{\"document\": 1, \"vector\": [1, 2]}", "not a text"),
        ("{\"document\": \"a\"}", "no `vector`"),
        ("{\"document\": \"a\", \"vector\": \"x\"}", "not a list"),
        ("{\"document\": \"a\", \"vector\": []}", "0 numbers"),
        (
            "{\"document\": \"a\", \"vector\": [1, null]}",
            "null at position 1",
        ),
        (
            "{\"document\": \"a\", \"vector\": [1, NaN]}",
            "not valid JSON",
        ),
        (
            "{\"document\": \"a\", \"chunk\": -1, \"vector\": [1, 2]}",
            "`chunk`",
        ),
        (
            "{\"document\": \"a\", \"chunk\": 4294967296, \"vector\": [1, 2]}",
            "`chunk`",
        ),
        (
            "{\"document\": \"a\", \"chunk\": \"b#0\", \"vector\": [1, 2]}",
            "`chunk` belongs to \"b\", but `document` is \"a\"",
        ),
        (
            "{\"document\": \"a\", \"chunk\": 0, \"span\": [0, 1], \"vector\": [1, 2]}",
            "only one of",
        ),
        (
            "{\"document\": \"a\", \"lines\": [1, 1], \"span\": [0, 1], \"vector\": [1, 2]}",
            "only one of",
        ),
        (
            "{\"document\": \"a\", \"span\": [1], \"vector\": [1, 2]}",
            "`span`",
        ),
        (
            "{\"document\": \"a\", \"lines\": \"1-2\", \"vector\": [1, 2]}",
            "`lines`",
        ),
    ] {
        let (_folder, path) = written("a.jsonl", format!("{right}\n\n{line}\n{right}\n"));
        let error = error_of(&path);
        assert!(error.message.contains(reason), "{line}: {error:?}");
        assert!(
            error.message.contains("a.jsonl, line 3 (row 1)"),
            "{error:?}"
        );
    }
    let (_folder, path) = written(
        "a.jsonl",
        format!("{right}\n{{\"document\": \"a\", \"vector\": [1]}}\n"),
    );
    let message = error_of(&path).message;
    assert!(
        message.ends_with(
            "a.jsonl, row 1: the vector has 1 numbers, but the vectors before it have 2"
        ),
        "{message}"
    );
    let long = format!("{{\"document\": \"{}\"}}", "x".repeat(2 << 20));
    let (_folder, path) = written("a.jsonl", long);
    assert!(error_of(&path).message.contains("more than 1048576 bytes"));
}

#[test]
fn names_of_rows_are_as_many_as_the_rows() {
    let lines = |count: u32| {
        let line = |row| format!("{{\"document\": \"a.md\", \"chunk\": {row}}}\n");
        (0..count).map(line).collect::<String>()
    };
    let named = |count: u32| {
        let (_folder, names) = written("names.jsonl", lines(count));
        VectorFile::open(&fixture("f4.npy"), Some(&names), 10)
            .unwrap()
            .collect::<Result<Vec<Row>, _>>()
    };
    let targets: Vec<VectorTarget> = named(5).unwrap().into_iter().map(|row| row.0).collect();
    assert_eq!(targets, (0..5).map(chunk).collect::<Vec<_>>());
    assert!(named(4).unwrap_err().message.contains("names 4 rows"));
    assert!(
        named(6)
            .unwrap_err()
            .message
            .contains("more rows than the 5")
    );
    let (_folder, names) = written("names.jsonl", lines(5));
    let refused = VectorFile::open(&names, Some(&names), 10).err().unwrap();
    assert!(refused.hint.unwrap().contains("--rows"));
}

#[test]
fn files_of_other_kinds_are_refused_by_their_name() {
    for (name, hint) in [("a.npz", "numpy.save"), ("a.csv", ".npy"), ("a", ".npy")] {
        let (_folder, path) = written(name, "");
        assert!(error_of(&path).hint.unwrap().contains(hint), "{name}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    assert!(error_of(&path).message.contains("cannot read"));
    std::fs::create_dir(&path).unwrap();
    assert!(error_of(&path).message.contains("not a regular file"));
}

#[test]
fn tables_that_the_build_does_not_read_are_refused_with_their_conversion() {
    for (name, reader) in [
        ("a/v.Parquet", "read_parquet(\"a/v.Parquet\")"),
        ("v.arrow", "read_ipc(\"v.arrow\")"),
        ("v.feather", "read_ipc(\"v.feather\")"),
    ] {
        let error = lacks_reader(Path::new(name));
        assert!(error.message.contains("does not read"), "{error:?}");
        let hint = error.hint.unwrap();
        assert!(hint.contains(reader) && hint.contains("v.jsonl"), "{hint}");
        assert!(hint.contains("--features parquet"), "{hint}");
    }
}

#[test]
fn one_vector_is_read_from_text_and_files() {
    assert_eq!(one_vector(" [1, -2.5e-1]").unwrap(), [1.0, -0.25]);
    let flat = fixture("flat.npy");
    assert_eq!(one_vector(flat.to_str().unwrap()).unwrap(), vectors()[0]);
    let (_folder, path) = written("q.npy", npy("<f4", "(1, 1)", &1f32.to_le_bytes()));
    assert_eq!(one_vector(path.to_str().unwrap()).unwrap(), [1.0]);
    let (_folder, path) = written("q.json", "[1, 2]\n");
    assert_eq!(one_vector(path.to_str().unwrap()).unwrap(), [1.0, 2.0]);
    for wrong in ["[]", "[1, \"2\"]", "[1", "[[1]]", "0.5", "q.txt"] {
        let error = one_vector(wrong).unwrap_err();
        assert!(error.message.contains("--vector"), "{error:?}");
    }
    let many = one_vector(fixture("f4.npy").to_str().unwrap()).unwrap_err();
    assert!(many.message.contains("5 rows"), "{many:?}");
    let (_folder, path) = written("q.json", "{\"vector\": [1]}");
    assert!(one_vector(path.to_str().unwrap()).is_err());
}

#[cfg(feature = "parquet")]
mod tables {
    use super::*;

    const TABLES: [&str; 8] = [
        "snappy.parquet",
        "zstd-f8.parquet",
        "lz4-f2.parquet",
        "plain.parquet",
        "plain.arrow",
        "stream.arrow",
        "zstd.arrow",
        "lz4.feather",
    ];

    #[test]
    fn tables_of_all_kinds_are_read() {
        for name in TABLES {
            let rows = read(&fixture(name)).unwrap();
            let span = |row| VectorTarget::Span {
                document: "a.md".to_owned(),
                start: row * 10,
                end: row * 10 + 10,
            };
            let by_span = ["zstd-f8.parquet", "stream.arrow"].contains(&name);
            let target = |row| if by_span { span(row) } else { chunk(row) };
            let expected: Vec<Row> = (0..).map(target).zip(vectors()).collect();
            assert_eq!(rows, expected, "{name}");
        }
        let total = |name| VectorFile::open(&fixture(name), None, 10).unwrap().total;
        assert_eq!(total("snappy.parquet"), Some(5));
        assert_eq!(total("plain.arrow"), None);
    }

    #[test]
    fn rows_that_are_no_vectors_are_named() {
        let ragged = error_of(&fixture("ragged.parquet")).message;
        assert!(
            ragged.ends_with("row 1: the vector has 1 numbers, but the vectors before it have 2"),
            "{ragged}"
        );
        let null = error_of(&fixture("nulls.parquet")).message;
        assert!(
            null.ends_with("nulls.parquet, row 1: its vector is null"),
            "{null}"
        );
        let many = VectorFile::open(&fixture("snappy.parquet"), None, 4)
            .err()
            .unwrap();
        assert!(
            many.message
                .contains("5 rows, but the .kb file has 4 chunks"),
            "{many:?}"
        );
    }

    /// `lies.py` beside the files tells what is in them.
    #[test]
    fn parquet_that_lies_or_is_not_read_is_refused() {
        for (name, reason, hint) in [
            ("long-row", "has more than 4096 numbers", "1 to 4096"),
            (
                "dictionary",
                "of 4 bytes claims 2147483647 values",
                "write the file again",
            ),
            (
                "hadoop",
                "document\" is compressed with LZ4 in frames of Hadoop",
                "zstd",
            ),
            ("gzip", "with gzip; only snappy, zstd, LZ4_RAW", "zstd"),
            ("brotli", "element\" is compressed with brotli", "zstd"),
            ("foreign", "`chunk` belongs to \"b.md\"", "columns"),
            ("both", "both `chunk` and `start` or `end`", "columns"),
            (
                "delta",
                "document\" is encoded as DELTA_BYTE_ARRAY",
                "dictionaries",
            ),
        ] {
            let path = fixture(&format!("{name}.parquet"));
            let rows = VectorFile::open(&path, None, 1 << 20);
            let error = rows.and_then(Iterator::collect::<Result<Vec<Row>, _>>);
            let error = error.expect_err(name);
            assert!(error.message.contains(reason), "{error:?}");
            assert!(error.hint.as_ref().unwrap().contains(hint), "{error:?}");
        }
    }

    #[test]
    fn files_of_another_format_are_refused() {
        let feather_1 = [b"FEA1\0\0\0\0".as_slice(), &[0; 20], b"FEA1"].concat();
        let encrypted = [b"PARE".as_slice(), &[0; 20], b"PARE"].concat();
        for (name, bytes, reason) in [
            ("a.feather", feather_1, "version 1"),
            ("a.parquet", encrypted, "encrypted"),
            ("a.parquet", Vec::new(), "Parquet file"),
            (
                "a.parquet",
                b"PAR1\xff\xff\xff\x7fPAR1".to_vec(),
                "bytes of metadata",
            ),
            ("a.arrow", Vec::new(), "Arrow file"),
            ("a.arrow", b"ARROW1\0\0".to_vec(), "does not end"),
            (
                "a.arrow",
                b"ARROW1\0\0\xff\xff\xff\x7fARROW1".to_vec(),
                "claims a table",
            ),
        ] {
            let (_folder, path) = written(name, bytes);
            let error = error_of(&path);
            assert!(error.message.contains(reason), "{name}: {error:?}");
        }
    }

    /// Every file with single bytes changed and with its end cut off: read, or refused, without a panic that is
    /// seen and without memory for what it claims.
    #[test]
    fn damaged_tables_are_read_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        let mut next = |limit: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as usize % limit
        };
        let rounds: usize =
            std::env::var("KB_VECTOR_ROUNDS").map_or(150, |rounds| rounds.parse().unwrap());
        for name in TABLES {
            let bytes = std::fs::read(fixture(name)).unwrap();
            let path = folder.path().join(name);
            for round in 0..rounds {
                let mut damaged = bytes.clone();
                if round % 10 == 0 {
                    damaged.truncate(next(bytes.len()));
                } else {
                    for _ in 0..=next(3) {
                        let at = next(bytes.len());
                        damaged[at] = [0, 0xFF, 0x7F, 0x80, next(256) as u8][next(5)];
                    }
                }
                std::fs::write(&path, &damaged).unwrap();
                let _ = read(&path);
            }
        }
    }
}
