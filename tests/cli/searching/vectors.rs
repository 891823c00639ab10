//! Vectors of other models: imported from files, listed, searched by, removed.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Folder, documents};

/// Dimensions of the vectors of these tests.
const DIM: usize = 8;

/// `harbour.kb`, and the names of its chunks in order.
fn with_chunks() -> (Folder, Vec<Value>) {
    let folder = Folder::indexed();
    let told = folder.kb("get * --format chunks --json");
    let chunks = told.expect(0).json_lines();
    assert!(chunks.len() >= 7, "{chunks:#?}");
    (folder, chunks)
}

/// The vector of a chunk: far from those of all others.
fn vector(number: usize) -> Vec<f32> {
    let component = |at: usize| match at == number % DIM {
        true => 1.0,
        false if at == number / DIM => 0.5,
        false => 0.0,
    };
    (0..DIM).map(component).collect()
}

/// A file of NumPy with these rows.
pub(super) fn npy(rows: &[Vec<f32>]) -> Vec<u8> {
    let shape = format!("({}, {})", rows.len(), rows.first().map_or(DIM, Vec::len));
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    let mut bytes = [b"\x93NUMPY\x01\0".as_slice(), &length, header.as_bytes()].concat();
    for number in rows.iter().flatten() {
        bytes.extend(number.to_le_bytes());
    }
    bytes
}

/// The rows of all chunks, in order.
fn all(chunks: &[Value]) -> Vec<u8> {
    npy(&(0..chunks.len()).map(vector).collect::<Vec<_>>())
}

/// Lines that name chunks as `kb get` does, with their vectors.
fn lines(chunks: &[Value], of: impl Fn(usize) -> Vec<f32>) -> String {
    let mut lines = String::new();
    for (number, chunk) in chunks.iter().enumerate() {
        let mut line = chunk.clone();
        line["vector"] = json!(of(number));
        lines.push_str(&format!("{line}\n"));
    }
    lines
}

fn number_of(chunks: &[Value], document: &str) -> usize {
    let found = chunks
        .iter()
        .position(|chunk| chunk["document"] == document);
    found.unwrap()
}

fn columns(folder: &Folder) -> Vec<Value> {
    folder.kb("vectors --json").expect(0).json_lines()
}

#[test]
fn rows_of_an_array_are_the_chunks_in_order() {
    let (folder, chunks) = with_chunks();
    folder.write("minilm.npy", all(&chunks));
    let told = folder
        .kb("import vectors harbour.kb minilm.npy --model MiniLM --json")
        .expect(0);
    let count = chunks.len();
    let expected = json!({"name": "minilm", "rows": count, "chunks": count, "dim": DIM, "replaced": 0, "cut_numbers": 0, "recall": null});
    assert_eq!(told.json_lines(), [expected]);
    for document in ["src/buoy.py", "docs/guide.md", "site/index.html"] {
        let query = json!(vector(number_of(&chunks, document))).to_string();
        let found = folder
            .kb([
                "search",
                "--vector",
                &query,
                "--vector-column",
                "minilm",
                "--no-join",
                "--json",
            ])
            .expect(0)
            .json_lines();
        assert_eq!(documents(&found)[0], document, "{found:#?}");
        assert!(
            found[0]["vector_score"].as_f64().unwrap() > 0.95,
            "{found:#?}"
        );
        assert!(found[0]["keyword_score"].is_null());
    }
}

#[test]
fn lines_that_kb_printed_are_imported_with_vectors() {
    let (folder, chunks) = with_chunks();
    let some: Vec<Value> = chunks.iter().skip(1).cloned().collect();
    folder.write("some.jsonl", lines(&some, |number| vector(number + 1)));
    let told = folder
        .kb("import vectors harbour.kb some.jsonl --name own --default")
        .expect(0);
    let count = chunks.len();
    assert_eq!(
        told.stdout,
        format!(
            "own  {} vectors of {DIM} dimensions for {count} chunks\n",
            count - 1
        )
    );
    let columns = columns(&folder);
    assert_eq!(columns.len(), 2);
    assert_eq!(
        (&columns[0]["name"], &columns[0]["default"]),
        (&json!("built-in"), &json!(false))
    );
    let expected = json!({"name": "own", "model": "", "dim": DIM, "metric": "cosine", "codec": "i8", "rows": count - 1, "default": true, "recall": null});
    assert_eq!(columns[1], expected);
    // The default column needs no name.
    let document = "src/tide.rs";
    folder.write("query.npy", npy(&[vector(number_of(&chunks, document))]));
    let found = folder
        .kb("search --vector query.npy --json")
        .expect(0)
        .json_lines();
    assert_eq!(documents(&found)[0], document, "{found:#?}");
}

#[test]
fn words_rank_beside_a_vector() {
    let (folder, chunks) = with_chunks();
    folder.write("own.npy", all(&chunks));
    folder.kb("import vectors harbour.kb own.npy").expect(0);
    let query = json!(vector(number_of(&chunks, "notes.txt"))).to_string();
    let found = folder
        .kb([
            "search",
            "solar",
            "panel",
            "--vector",
            &query,
            "--vector-column",
            "own",
            "--json",
        ])
        .expect(0)
        .json_lines();
    let mut best = documents(&found);
    best.truncate(2);
    best.sort_unstable();
    assert_eq!(best, ["docs/install.rst", "notes.txt"], "{found:#?}");
    assert!(
        found
            .iter()
            .any(|hit| hit["keyword_score"].as_f64() > Some(0.0))
    );
}

#[test]
fn rows_may_be_named_by_another_file() {
    let (folder, chunks) = with_chunks();
    let reversed: Vec<Value> = chunks.iter().rev().cloned().collect();
    folder.write("names.jsonl", lines(&reversed, |_| Vec::new()));
    let rows: Vec<Vec<f32>> = (0..chunks.len()).rev().map(vector).collect();
    folder.write("own.npy", npy(&rows));
    folder
        .kb("import vectors harbour.kb own.npy --rows names.jsonl --metric l2")
        .expect(0);
    let query = json!(vector(number_of(&chunks, "notes.txt"))).to_string();
    let found = folder
        .kb([
            "search",
            "--vector",
            &query,
            "--vector-column",
            "own",
            "--json",
        ])
        .expect(0)
        .json_lines();
    assert_eq!(documents(&found)[0], "notes.txt", "{found:#?}");
    assert_eq!(columns(&folder)[1]["metric"], "l2");
}

#[test]
#[cfg(feature = "parquet")]
fn tables_of_parquet_and_arrow_are_imported() {
    let folder = Folder::empty();
    // Five chunks of one document, as the fixtures name them.
    let part = |number: usize| {
        format!(
            "# Part {number}\n\n{}\n\n",
            "The lamp is lit at dusk. ".repeat(60)
        )
    };
    folder.write("notes/a.md", (0..5).map(part).collect::<String>());
    folder.kb("index notes").expect(0);
    let chunks = folder.kb("get a.md --format chunks --json").expect(0);
    assert_eq!(chunks.json_lines().len(), 5);
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/vectors");
    for name in [
        "snappy.parquet",
        "lz4-f2.parquet",
        "zstd.arrow",
        "lz4.feather",
    ] {
        let source = fixtures.join(name);
        let told = folder.kb([
            "import",
            "vectors",
            "notes.kb",
            source.to_str().unwrap(),
            "--name",
            name,
            "--json",
        ]);
        assert_eq!(told.expect(0).json_lines()[0]["rows"], 5, "{name}");
    }
    let refused = folder.kb([
        "import",
        "vectors",
        "notes.kb",
        fixtures.join("nulls.parquet").to_str().unwrap(),
    ]);
    let refused = refused.expect(2);
    refused.stderr_has("nulls.parquet, row 1: its vector is null");
}

#[test]
fn a_wrong_row_is_named_and_nothing_is_imported() {
    let (folder, chunks) = with_chunks();
    let state = || folder.kb("info --json").expect(0).json_lines()[0]["updated_ms"].take();
    let before = state();
    let one =
        |fields: Value| format!("{{\"document\": \"notes.txt\", \"vector\": [1, 2]}}\n{fields}\n");
    for (text, reason) in [
        (
            one(json!({"document": "notes.txt", "vector": [2, 1]})),
            "row 1",
        ),
        (
            one(json!({"document": "none.md", "vector": [2, 1]})),
            "none.md",
        ),
        (
            one(json!({"document": "docs/guide.md", "chunk": 99, "vector": [2, 1]})),
            "row 1",
        ),
        (
            one(json!({"document": "docs/guide.md", "span": [0, 3], "vector": [2, 1]})),
            "row 1",
        ),
        (
            one(json!({"document": "src/tide.rs", "vector": [0, 0]})),
            "row 1",
        ),
        (
            one(json!({"document": "src/tide.rs", "vector": [1e300, 0]})),
            "row 1",
        ),
        (
            one(json!({"document": "src/tide.rs", "vector": [1]})),
            "row 1",
        ),
        (
            one(json!({"document": "src/tide.rs", "vector": "x"})),
            "line 2 (row 1)",
        ),
    ] {
        folder.write("wrong.jsonl", &text);
        let told = folder.kb("import vectors harbour.kb wrong.jsonl").expect(2);
        assert!(told.stderr.contains("wrong.jsonl"), "{text}: {told:#?}");
        assert!(told.stderr.contains(reason), "{text}: {told:#?}");
        told.hint();
    }
    folder.write("many.npy", npy(&vec![vector(0); chunks.len() + 1]));
    let told = folder.kb("import vectors harbour.kb many.npy").expect(2);
    told.stderr_has("rows, but the .kb file has");
    // A document came since the chunks were embedded: whose vector is whose?
    folder.write("few.npy", npy(&vec![vector(0); chunks.len() - 1]));
    let told = folder.kb("import vectors harbour.kb few.npy").expect(2);
    told.stderr_has("rows, but the .kb file has");
    assert!(told.hint().contains("--rows"), "{told:#?}");
    assert_eq!(columns(&folder).len(), 1);
    assert_eq!(state(), before);
    assert!(
        !folder.names().iter().any(|name| name.ends_with(".tmp")),
        "{:?}",
        folder.names()
    );
}

#[test]
fn vectors_of_a_chunk_are_replaced_only_when_asked() {
    let (folder, chunks) = with_chunks();
    folder.write("own.npy", all(&chunks));
    folder.kb("import vectors harbour.kb own.npy").expect(0);
    let refused = folder
        .kb("import vectors harbour.kb own.npy --json")
        .expect(2);
    assert_eq!(refused.error_code(), "INVALID_ARGUMENT");
    let refused = folder.kb("import vectors harbour.kb own.npy");
    assert!(refused.expect(2).hint().contains("--replace"));
    let other = folder
        .kb("import vectors harbour.kb own.npy --metric dot")
        .expect(2);
    other.stderr_has("--metric: dot given");
    let told = folder.kb("import vectors harbour.kb own.npy --replace --json");
    assert_eq!(told.expect(0).json_lines()[0]["replaced"], chunks.len());
}

#[test]
fn columns_are_listed_chosen_and_removed() {
    let (folder, chunks) = with_chunks();
    folder.write("own.npy", all(&chunks));
    folder
        .kb("import vectors harbour.kb own.npy --codec i4 --metric dot --model 'my model'")
        .expect(0);
    let listed = folder.kb("vectors harbour.kb").expect(0).stdout;
    let line = format!(
        "own  {DIM} dimensions, dot, i4, {} chunks, my model",
        chunks.len()
    );
    assert!(listed.lines().any(|found| found == line), "{listed}");
    assert!(listed.starts_with("built-in  "), "{listed}");
    assert!(
        folder
            .kb("info")
            .expect(0)
            .stdout
            .contains("column      own: 8 dimensions, dot")
    );
    let info = folder.kb("info --json").expect(0).json_lines();
    assert_eq!(info[0]["vector_columns"].as_array().unwrap().len(), 2);

    folder.kb("vectors harbour.kb --default own").expect(0);
    assert_eq!(columns(&folder)[1]["default"], true);
    let wrong = folder.kb("vectors harbour.kb --default owl").expect(2);
    assert!(wrong.hint().contains("kb vectors"), "{wrong:#?}");
    wrong.stderr_has("error: --default: ");
    let wrong = folder.kb("vectors harbour.kb --remove built-in").expect(2);
    wrong.stderr_has("error: --remove: ");
    let removed = folder.kb("vectors harbour.kb --remove own").expect(0);
    assert_eq!(
        removed.stderr,
        format!("removed {} vectors\n", chunks.len())
    );
    let left = columns(&folder);
    assert_eq!((left.len(), &left[0]["default"]), (1, &json!(true)));
    folder.kb("verify --deep").expect(0);
}

#[test]
fn a_rebuild_says_which_columns_it_loses() {
    let (folder, chunks) = with_chunks();
    folder.write("own.npy", all(&chunks));
    folder.kb("import vectors harbour.kb own.npy").expect(0);
    let codec = folder.kb("index harbour --vectors i4 --json").expect(2);
    codec.stderr_has("kb seal");
    let told = folder.kb("index harbour --rebuild").expect(0);
    let warning = "warning: the rebuild removed 1 column of imported vectors: own\n";
    told.stderr_has(warning);
    let again = folder.kb("index harbour --rebuild").expect(0);
    assert!(!again.stderr.contains("warning"), "{again:#?}");
}

#[test]
fn numbers_beyond_the_scale_of_a_column_are_told() {
    let (folder, chunks) = with_chunks();
    folder.write("own.jsonl", lines(&chunks[..1], vector));
    let import = || {
        folder
            .kb("import vectors harbour.kb own.jsonl --metric dot")
            .expect(0)
    };
    assert_eq!(import().stderr, "");
    let long = |number| vector(number).into_iter().map(|x| x * 9.0).collect();
    folder.write("own.jsonl", lines(&chunks[1..2], long));
    let told = import();
    let expected = "warning: 1 of 8 numbers are beyond the scale of the column";
    told.stderr_has(expected);
}

#[test]
fn a_wrong_vector_of_a_search_says_what_is_wanted() {
    let (folder, chunks) = with_chunks();
    folder.write("own.npy", all(&chunks));
    folder.kb("import vectors harbour.kb own.npy").expect(0);
    for (given, reason) in [
        ("[1, 2]", "8"),
        ("[0, 0, 0, 0, 0, 0, 0, 0]", "are 0"),
        ("[1e300, 0, 0, 0, 0, 0, 0, 0]", "finite"),
        ("[1, \"a\"]", "not a number"),
        ("none.npy", "cannot read none.npy"),
        ("own.npy", "a search takes one vector"),
    ] {
        let told = folder
            .kb(["search", "--vector", given, "--vector-column", "own"])
            .expect(2);
        assert!(told.stderr.contains(reason), "{given}: {told:#?}");
    }
    let query = json!(vector(0)).to_string();
    let told = folder
        .kb(["search", "--vector", &query, "--vector-column", "owl"])
        .expect(2);
    assert!(
        told.stderr.contains("owl") && told.hint().contains("kb vectors"),
        "{told:#?}"
    );
    folder.kb("search lamp --vector-column own").expect(2);
    folder
        .kb([
            "search",
            "lamp",
            "--vector",
            &query,
            "--vector-column",
            "own",
            "--mode",
            "keyword",
        ])
        .expect(2);
    let regex = folder
        .kb(["search", "lamp", "--vector", &query, "--mode", "regex"])
        .expect(2);
    regex.stderr_has("--vector cannot be used with");
    folder.kb("search").expect(2);
}

#[test]
fn several_files_need_the_column_of_that_name() {
    let (folder, chunks) = with_chunks();
    folder.write("own.npy", all(&chunks));
    folder.write(
        "tales/ghost.md",
        "# The ghost\n\nA spectre walks the gallery.\n",
    );
    folder.kb("index tales").expect(0);
    folder.kb("import vectors harbour.kb own.npy").expect(0);
    let query = json!(vector(0)).to_string();
    let search = || {
        folder.kb([
            "search",
            "-f",
            "harbour.kb",
            "-f",
            "tales.kb",
            "--vector",
            &query,
            "--vector-column",
            "own",
            "--json",
        ])
    };
    assert_eq!(search().expect(2).error_code(), "INVALID_ARGUMENT");
    folder.write(
        "own.jsonl",
        format!("{}\n", json!({"document": "ghost.md", "vector": vector(0)})),
    );
    folder.kb("import vectors tales.kb own.jsonl").expect(0);
    let found = search().expect(0).json_lines();
    assert!(documents(&found).contains(&"ghost.md"), "{found:#?}");
}
