//! Files of the readable formats answer as they did when they were made.
//!
//! `golden/expected.json` is the one truth for all fronts: what a reader of any language must answer.
//! `make_golden.rs` tells how both were made.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use kb_engine::cell_text::CellValue;
use kb_engine::{
    Class, DocumentInfo, Entry, Error, Filters, Hit, Kb, Lines, Mode, PageOptions, PartAddress,
    PartContent, PartInfo, Progress, RegexRequest, Request, Response, Scan, SheetRow, Show,
    VerifyOptions,
};
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use crate::support::{Folder, Outcome, run};

/// Scores are compared to four digits: sums of floats differ a little between machines.
const TOLERANCE: f64 = 1.01e-4;

/// The folder of golden files.
pub(crate) fn golden_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden")
}

/// Bytes of the golden file of the current format.
pub(crate) fn golden_bytes() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| std::fs::read(golden_folder().join("v0.13/golden.kb")).expect("golden.kb"))
}

/// The golden file with inverted lists and vectors of other models.
pub(crate) const WITH_LISTS: &str = "v0.13-lists/golden.kb";

/// The golden file with a program whose symbols are in groups.
pub(crate) const WITH_GROUPS: &str = "v0.13-groups/golden.kb";

/// The vector of the n-th chunk in each of its two columns; in `angles` each fifth has none.
pub(crate) fn golden_vector(row: u64) -> Vec<f32> {
    let angle = |dim: u64| ((row * 31 + dim * dim * 17) % 97) as f32 / 9.0;
    (0..24).map(|dim| angle(dim).sin()).collect()
}

/// `expected.json`: the answers that all golden files give, with the facts of each file under its path.
fn expected() -> Vec<(PathBuf, Value)> {
    let text = std::fs::read_to_string(golden_folder().join("expected.json")).expect("expected");
    let mut all: Value = serde_json::from_str(&text).expect("JSON");
    let files = all["info"].take();
    let files = files.as_object().expect("an object").iter();
    files
        .map(|(file, info)| {
            all["info"] = info.clone();
            (golden_folder().join(file), all.clone())
        })
        .collect()
}

/// The questions of `expected.json`: modes, filters, languages, identifiers, nothing found.
pub(crate) fn requests() -> Vec<Request> {
    let hybrid = |query: &str| Request::new(query).k(4);
    let mode = |mode, query: &str| hybrid(query).mode(mode);
    let filtered = |query: &str, filters| hybrid(query).filters(filters);
    vec![
        hybrid("how is the lens cleaned"),
        hybrid("\u{706f}\u{53f0} \u{9727}"),
        mode(Mode::Keyword, "next_high_water"),
        mode(Mode::Keyword, "checksum sentence"),
        mode(Mode::Keyword, "xyzzyplugh"),
        mode(Mode::Semantic, "saving people from a sinking ship"),
        mode(Mode::Semantic, "museum opening times"),
        filtered("drift of a buoy", Filters::new().languages(["rust", "py"])),
        filtered("fog", Filters::new().paths(["docs/**"]).types(["md"])),
        filtered("notes", Filters::new().tags(["keeper"])),
        filtered(
            "latitude of a station",
            Filters::new().classes([Class::Data]),
        ),
    ]
}

/// All that a reader must be able to say of a file.
pub(crate) fn answers(kb: &Kb) -> Value {
    let info = kb.info().expect("info");
    let roots: Vec<Value> = info
        .roots
        .iter()
        .map(|root| json!({ "source": root.source, "prefix": root.prefix }))
        .collect();
    let mut names = Vec::new();
    list_below(kb, None, &mut names);
    let documents: Vec<Value> = names.iter().map(|name| document(kb, name)).collect();
    let searches: Vec<Value> = requests()
        .iter()
        .map(|request| search(request, kb.search(request)))
        .collect();
    let patterns: Vec<Value> = PATTERNS.iter().map(|it| pattern(kb, it)).collect();
    json!({
        "info": {
            "uuid": info.uuid,
            "format": info.format,
            "created_ms": info.created_ms,
            "updated_ms": info.updated_ms,
            "commit": info.commit,
            "roots": roots,
            "documents": info.documents,
            "chunks": info.chunks,
            "segments": info.segments,
            "text_bytes": info.text_bytes,
            "file_bytes": info.file_bytes,
            "model": info.model,
            "dim": info.dim,
            "analyser": info.analyser,
            "types": info.types.into_iter().collect::<BTreeMap<_, _>>(),
            "languages": info.languages.into_iter().collect::<BTreeMap<_, _>>(),
            "classes": info.classes.into_iter().collect::<BTreeMap<_, _>>(),
        },
        "documents": documents,
        "searches": searches,
        "patterns": patterns,
    })
}

/// 140 KB of text, most of it the same lines again.
pub(crate) fn table(number: u32) -> String {
    let line = |day: u32| {
        format!(
            "gauge {number}, day {day}: high water {}.{day} m\n",
            number * 7 % 10
        )
    };
    let month: String = (1..29).map(line).collect();
    month.repeat(140)
}

/// Regular expressions; the answers of the last two come from few texts where there are trigrams.
const PATTERNS: [&str; 4] = [
    r"(?i)\btides?\b",
    r"\d+\.\d+ m$",
    "gauge 3, day 1[0-9]:",
    "no such words",
];

/// The lines that match a pattern.
fn pattern(kb: &Kb, pattern: &str) -> Value {
    let response = kb.search_regex(&RegexRequest::new(pattern).k(20));
    let response = response.expect("an answer");
    let lines = response.matches.iter();
    let lines = lines.map(|found| json!([found.document, found.lines.first, found.text]));
    json!({
        "pattern": pattern,
        "lines": lines.collect::<Vec<Value>>(),
        "has_more": response.matches.next.is_some(),
    })
}

fn list_below(kb: &Kb, folder: Option<&str>, names: &mut Vec<String>) {
    for entry in kb.list(folder, &PageOptions::default()).expect("a listing") {
        match entry {
            Entry::Folder { path, .. } => list_below(kb, Some(&path), names),
            Entry::Document(document) => names.push(document.path),
        }
    }
}

fn document(kb: &Kb, name: &str) -> Value {
    let outline = kb.outline(name).expect("an outline");
    let headings: Vec<Value> = outline
        .headings
        .iter()
        .map(|heading| {
            json!({
                "level": heading.level,
                "title": heading.title,
                "start_byte": heading.start,
                "line": heading.line,
            })
        })
        .collect();
    let text = kb.text(name, None).expect("a text").text;
    let two_lines = kb.text(name, Some(Lines { first: 2, last: 3 }));
    let two_lines = two_lines.expect("two lines").text;
    let DocumentInfo {
        path,
        title,
        handle,
        tags,
        added_ms,
        file_type,
        language,
        class,
        size_bytes,
        text_bytes,
        lines,
        chunks,
        modified_ms,
        hash,
        metadata,
        // Computed from the others.
        revision: _,
        ..
    } = outline.document;
    let mut told = json!({
        "document": path,
        "title": title,
        "handle": handle,
        "tags": tags,
        "added_ms": added_ms,
        "file_type": file_type,
        "language": language,
        "class": class.name(),
        "size_bytes": size_bytes,
        "text_bytes": text_bytes,
        "lines": lines,
        "chunks": chunks,
        "modified_ms": modified_ms,
        "hash": hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>(),
        "metadata": metadata,
        "text_xxh3_64": format!("{:016x}", xxh3_64(text.as_bytes())),
        "lines_2_to_3": two_lines,
        "outline": headings,
    });
    let parts = kb
        .parts(name, &PageOptions::default())
        .expect("parts")
        .parts;
    if !parts.is_empty() {
        told["parts"] = parts.iter().map(|it| part(kb, name, it)).collect();
    }
    told
}

/// A page, sheet or slide; a sheet with its cells, whose text no other field shows.
fn part(kb: &Kb, name: &str, part: &PartInfo) -> Value {
    let mut told = json!({
        "number": part.number,
        "kind": part.content.kind().name(),
        "start_byte": part.span.start,
        "end_byte": part.span.end,
        "start_line": part.lines.first,
        "end_line": part.lines.last,
    });
    match &part.content {
        PartContent::Page(page) => {
            told["source"] = json!(page.source.name());
            told["label"] = json!(page.label);
        }
        PartContent::Sheet(sheet) => {
            let all = PageOptions::default();
            // A table of its own has no name.
            let named = (!sheet.name.is_empty()).then_some(&*sheet.name);
            let data = kb.sheet(name, named, None, &all);
            let data = data.expect("a sheet");
            told["name"] = json!(sheet.name);
            told["rows"] = json!(sheet.rows);
            told["columns"] = json!(sheet.columns);
            told["header_row"] = json!(sheet.header_row);
            told["hidden"] = json!(sheet.is_hidden);
            told["uncalculated"] = json!(sheet.uncalculated);
            told["cells"] = data
                .header
                .iter()
                .chain(data.rows.iter())
                .map(row)
                .collect();
        }
        PartContent::Slide(slide) => {
            told["title"] = json!(slide.title);
            told["notes_byte"] = json!(slide.notes);
            told["hidden"] = json!(slide.is_hidden);
        }
    }
    told
}

/// The number of a row, then column, shown text, kind and value of each cell.
fn row(row: &SheetRow) -> Value {
    let cells = row.cells.iter().map(|(column, cell)| {
        let (kind, value) = match &cell.value {
            CellValue::Empty => ("nothing", Value::Null),
            CellValue::Number(number) => ("number", json!(number)),
            CellValue::Text(text) => ("text", json!(text)),
            CellValue::Boolean(boolean) => ("boolean", json!(boolean)),
            CellValue::Date(date) => ("date", json!(date)),
            CellValue::Error(error) => ("error", json!(error)),
            CellValue::Formula(formula) => ("formula", json!(formula)),
        };
        json!([column, cell.shown, kind, value])
    });
    let cells: Vec<Value> = cells.collect();
    json!([row.number, cells])
}

fn search(request: &Request, response: Result<Response, Error>) -> Value {
    let classes: Vec<&str> = request.filters.classes.iter().map(|c| c.name()).collect();
    let mut told = json!({
        "query": request.query,
        "mode": request.mode.name(),
        "k": request.k,
        "paths": request.filters.paths,
        "types": request.filters.types,
        "languages": request.filters.languages,
        "classes": classes,
        "tags": request.filters.tags,
    });
    match response {
        Ok(response) => {
            told["searched_chunks"] = json!(response.searched_chunks);
            told["warnings"] = json!(response.warnings);
            told["hits"] = response.hits.iter().map(hit).collect();
        }
        Err(error) => told["error"] = json!(error.code()),
    }
    told
}

fn hit(hit: &Hit) -> Value {
    let mut told = json!({
        "document": hit.document,
        "section": hit.section,
        "start_byte": hit.span.start,
        "end_byte": hit.span.end,
        "start_line": hit.lines.first,
        "end_line": hit.lines.last,
        "score": digits(hit.score),
        "keyword_score": hit.keyword_score.map(digits),
        "vector_score": hit.vector_score.map(digits),
    });
    if let Some(part) = &hit.part {
        told["part"] = hit_part(part);
    }
    told
}

fn hit_part(part: &PartAddress) -> Value {
    match part {
        PartAddress::Page { number, .. } => json!({ "page": number }),
        PartAddress::Sheet {
            name,
            first_row,
            last_row,
            ..
        } => {
            json!({ "sheet": name, "first_row": first_row, "last_row": last_row })
        }
        PartAddress::Slide { number, .. } => json!({ "slide": number }),
    }
}

/// A score with four digits.
fn digits(score: f32) -> f64 {
    (f64::from(score) * 1e4).round() / 1e4
}

/// Fails at the first place where `told` lacks or changes something of `expected`. Fields that are
/// not expected may be there: fronts say more.
#[track_caller]
fn assert_says(told: &Value, expected: &Value, place: &str) {
    match (told, expected) {
        (Value::Object(told), Value::Object(expected)) => {
            for (name, value) in expected {
                let place = format!("{place}.{name}");
                let found = told.get(name);
                assert_says(found.unwrap_or_else(|| panic!("no {place}")), value, &place);
            }
        }
        (Value::Array(told), Value::Array(expected)) => {
            assert_eq!(told.len(), expected.len(), "items of {place}: {told:#?}");
            for (number, (told, expected)) in told.iter().zip(expected).enumerate() {
                assert_says(told, expected, &format!("{place}[{number}]"));
            }
        }
        (Value::Number(told), Value::Number(expected)) if expected.is_f64() => {
            let (told, expected) = (told.as_f64(), expected.as_f64());
            let apart = (told.unwrap_or(f64::NAN) - expected.unwrap_or(f64::NAN)).abs();
            assert!(apart <= TOLERANCE, "{place}: {told:?}, not {expected:?}");
        }
        _ => assert_eq!(told, expected, "{place}"),
    }
}

#[test]
fn golden_files_answer_from_the_path_as_they_always_did() {
    for (path, expected) in expected() {
        let kb = Kb::open(&path).expect("a golden file opens");
        assert_says(&answers(&kb), &expected, &path.display().to_string());
    }
}

#[test]
fn golden_files_answer_from_bytes_as_they_always_did() {
    for (path, expected) in expected() {
        let kb = Kb::from_bytes(std::fs::read(&path).expect("bytes")).expect("it opens");
        assert_says(&answers(&kb), &expected, &path.display().to_string());
        assert_eq!(kb.info().expect("info").path, None);
    }
}

#[test]
fn stored_text_is_the_corpus_byte_for_byte() {
    for (path, expected) in expected() {
        let kb = Kb::open(&path).expect("a golden file opens");
        for document in expected["documents"].as_array().expect("documents") {
            let name = document["document"].as_str().expect("a name");
            if document["file_type"] == "html" || !document["parts"].is_null() {
                continue;
            }
            let original = match name.strip_prefix("tables/") {
                Some(file) => table(file[..2].parse().expect("a number")),
                None => std::fs::read_to_string(golden_folder().join("corpus").join(name))
                    .expect("a file of the corpus"),
            };
            let text = kb.text(name, None).expect("text").text;
            assert_eq!(text, original, "{name}");
        }
    }
}

#[test]
fn the_command_says_of_golden_files_what_is_expected() {
    let folder = Folder::empty();
    for (path, expected) in expected() {
        let kb = |arguments: &[&str]| -> Outcome {
            run(folder
                .command()
                .args(arguments)
                .arg("--json")
                .env("KB_FILE", &path))
        };
        let info = kb(&["info"]).expect(0).json_lines();
        assert_says(&info[0], &expected["info"], "kb info");

        let mut documents = expected["documents"].as_array().expect("documents").clone();
        documents.sort_by_key(|document| document["document"].to_string());
        let mut listed = kb(&["ls", "-r"]).expect(0).json_lines();
        listed.sort_by_key(|document| document["document"].to_string());
        assert_eq!(listed.len(), documents.len());
        for (listed, document) in listed.iter().zip(&documents) {
            let name = document["document"].as_str().expect("a name");
            for field in [
                "document",
                "title",
                "file_type",
                "language",
                "size_bytes",
                "hash",
            ] {
                assert_says(&listed[field], &document[field], &format!("kb ls: {field}"));
            }
            let headings = document["outline"].as_array().expect("headings");
            let has_parts = !document["parts"].is_null();
            let is_nothing = headings.is_empty() && !has_parts;
            let mut told = kb(&["outline", name])
                .expect(i32::from(is_nothing))
                .json_lines();
            // Of parts, other lines tell.
            told.retain(|line| line["section"].is_string());
            assert_says(&told.into(), &document["outline"], name);
            let text = &kb(&["get", name]).expect(0).json_lines()[0]["text"];
            let hash = xxh3_64(text.as_str().expect("text").as_bytes());
            assert_eq!(document["text_xxh3_64"], format!("{hash:016x}"), "{name}");
            let lines = kb(&["get", name, "--lines", "2-3"]).expect(0).json_lines();
            assert_says(&lines[0]["text"], &document["lines_2_to_3"], name);
        }
        for search in expected["searches"].as_array().expect("searches") {
            let (arguments, hits) = (search_arguments(search), &search["hits"]);
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            if let Some(code) = search["error"].as_str() {
                assert_eq!(kb(&arguments).expect(2).error_code(), code);
                continue;
            }
            let nothing = hits.as_array().expect("hits").is_empty();
            let mut told = kb(&arguments).expect(i32::from(nothing)).json_lines();
            // The verdict of an answer without hits stands in an object of its own.
            told.retain(|line| line["summary"].is_null());
            assert_says(&told.into(), hits, &arguments.join(" "));
        }
    }
}

/// The command line that asks what `search` asks.
fn search_arguments(search: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let mut arguments = vec!["search".to_owned(), text(&search["query"])];
    arguments.extend(["--mode".to_owned(), text(&search["mode"])]);
    arguments.extend(["-k".to_owned(), search["k"].to_string()]);
    for (field, flag) in [
        ("paths", "--path"),
        ("types", "--type"),
        ("languages", "--lang"),
        ("classes", "--class"),
        ("tags", "--tag"),
    ] {
        for value in search[field].as_array().expect("a list") {
            arguments.extend([flag.to_owned(), text(value)]);
        }
    }
    arguments
}

#[test]
fn a_changed_answer_is_noticed() {
    let kb = Kb::from_bytes(golden_bytes()).expect("it opens");
    let right = answers(&kb);
    for pointer in [
        "/searches/0/hits/0/score",
        "/searches/0/hits/0/start_byte",
        "/documents/1/outline/0/title",
        "/info/chunks",
    ] {
        let mut changed = right.clone();
        let value = changed.pointer_mut(pointer).expect(pointer);
        *value = match value.as_f64() {
            Some(number) if value.is_f64() => json!(number + 0.001),
            Some(number) => json!(number as u64 + 1),
            None => json!("another"),
        };
        let compared = std::panic::catch_unwind(|| assert_says(&changed, &right, ""));
        assert!(compared.is_err(), "{pointer}");
    }
}

#[test]
fn golden_groups_of_symbols_have_their_sections() {
    let kb = Kb::open(golden_folder().join(WITH_GROUPS)).expect("golden.kb");
    let options = VerifyOptions::new().deep(true);
    let report = kb.verify(&options, &mut Progress::ignore).expect("verify");
    assert_eq!(report.problems, Vec::<String>::new());
    let outline = kb.outline("src/registers.py").expect("an outline");
    assert_eq!(outline.headings.len(), 2205);
    for (query, number, name) in [
        ("\"tide_gauge[3]\"", "1.4", "class Registers > def read_3"),
        (
            "\"tide_gauge[1100]\"",
            "1.1101",
            "class Registers > def read_1100",
        ),
        (
            "\"return 7\"",
            "2.1.1",
            "class Banks > class Bank > def read_7",
        ),
        ("bollard", "1003", "1003 def reset_0"),
    ] {
        let request = Request::new(query).mode(Mode::Keyword).show(Show::lines(3));
        let response = kb.search(&request).expect("search");
        let hit = response.hits.first().expect(query);
        assert_eq!((&*hit.section_number, &*hit.section_name), (number, name));
    }
}

#[test]
fn golden_lists_find_what_is_found_without_them() {
    let kb = Kb::open(golden_folder().join(WITH_LISTS)).expect("golden.kb");
    let info = kb.info().expect("info");
    assert_eq!(info.listed_segments, info.segments);
    assert_eq!(info.unquantised_recall.and_then(|it| it.wanted), Some(0.9));
    let [_, angles, places] = info.vector_columns.as_slice() else {
        panic!("{:?}", info.vector_columns)
    };
    assert!(angles.recall.is_some() && places.recall.is_none());
    assert!(angles.rows < info.chunks && places.rows == info.chunks);
    let options = VerifyOptions::new().deep(true);
    let report = kb.verify(&options, &mut Progress::ignore).expect("verify");
    assert_eq!(report.problems, Vec::<String>::new());
    let ask = |request: &Request, scan| -> Vec<(String, u32, String)> {
        let response = kb.search(&request.clone().scan(scan)).expect("search");
        let hits = response.hits.iter();
        hits.map(|hit| {
            (
                hit.document.clone(),
                hit.chunk_index,
                format!("{:.4}", hit.score),
            )
        })
        .collect()
    };
    let mut requests: Vec<Request> = requests();
    requests.retain(|request| request.mode == Mode::Semantic);
    for row in [0, 17, 60] {
        for column in ["angles", "places"] {
            let request = Request::new("").vector(golden_vector(row));
            requests.push(request.vector_column(column).k(3));
        }
    }
    assert!(requests.len() > 7);
    for request in &requests {
        let exact = ask(request, Scan::Exact);
        assert!(!exact.is_empty());
        assert_eq!(ask(request, Scan::Rescored), exact, "{request:?}");
        assert_eq!(ask(request, Scan::Auto), exact, "{request:?}");
    }
}
