//! Where a line of code may go. Imports point down: a file names no room above or beside its own, and no
//! two files import each other. Libraries, clocks and `unsafe` stay where they are listed, folders and
//! files stay small. `cargo xtask rooms` prints the same without compiling anything.
//!
//! Unit tests (`#[cfg(test)] mod ...`) may use any room: they prepare data with what is there.

mod cases;
mod shape;

use std::path::{Path, PathBuf};

use xtask::sources::module_graph::{module_path, named_paths};
use xtask::sources::scan::{tokens, without_comments_and_text, without_tests};
use xtask::sources::{self, SourceFile};

/// Modules that belong together, and whose names they may use beside their own.
struct Room {
    name: &'static str,
    /// Files or folders below the sources of the crate.
    modules: &'static [&'static str],
    may_use: &'static [&'static str],
}

const fn room(
    name: &'static str,
    modules: &'static [&'static str],
    may_use: &'static [&'static str],
) -> Room {
    Room {
        name,
        modules,
        may_use,
    }
}

/// The names of all `lists`, `N` in all.
const fn joined<const N: usize>(lists: &[&[&'static str]]) -> [&'static str; N] {
    let mut names = [""; N];
    let (mut list, mut place) = (0, 0);
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            names[place] = lists[list][at];
            place += 1;
            at += 1;
        }
        list += 1;
    }
    assert!(place == N);
    names
}

/// What the rooms of one level have in common.
const BYTES: &[&str] = &["base", "container"];
const POSTINGS: &[&str] = &["base", "container", "index"];
const INDEXES: &[&str] = &[
    "base",
    "container",
    "store",
    "keyword",
    "vector",
    "trigram",
    "embed",
    "catalog",
    "paging",
    "resolve",
];
const RUNS: &[&str] = &joined::<14>(&[INDEXES, &["content", "ingest", "search", "check"]]);
const HANDLES: &[&str] = &joined::<15>(&[RUNS, &["run"]]);
const TESTING: &[&str] = &[
    "base",
    "container",
    "store",
    "keyword",
    "vector",
    "trigram",
    "embed",
    "catalog",
    "search",
];

/// `engine/src`, lowest level first.
const ENGINE: [Room; 18] = [
    room("base", &["bitset", "glob", "metric", "progress"], &[]),
    room("container", &["container"], &["base"]),
    room("store", &["store"], BYTES),
    // `index/mod.rs` and what both indexes share.
    room("index", &["index"], BYTES),
    room("keyword", &["index/keyword"], POSTINGS),
    room("vector", &["index/vector"], POSTINGS),
    room("trigram", &["index/trigram"], BYTES),
    room("embed", &["embed"], &["base"]),
    room("paging", &["paging"], &["base"]),
    // The records of one commit, read once and shared by those who join the rooms below.
    room(
        "catalog",
        &["catalog"],
        &["base", "container", "store", "keyword", "vector", "trigram"],
    ),
    // The name of a document or folder -> the document.
    room(
        "resolve",
        &["resolve"],
        &["base", "container", "store", "catalog"],
    ),
    // What a commit holds, for reading.
    room("content", &["content"], INDEXES),
    room("ingest", &["ingest"], INDEXES),
    room("search", &["search"], INDEXES),
    room("check", &["check"], INDEXES),
    // What the writing handle does: joins ingest, search and check, and draws queries from a new file.
    room("run", &["ingest/run"], RUNS),
    room("kb", &["kb"], HANDLES),
    // Lists what tests, benches and tools use of the rooms.
    room("testing", &["testing"], TESTING),
];

/// `engine/extract/src`, lowest level first.
const EXTRACT: [Room; 7] = [
    room("syntax", &["syntax"], &[]),
    room("secrets", &["secrets"], &[]),
    room("tags", &["tags"], &["secrets"]),
    room("links", &["links"], &[]),
    room(
        "readers",
        &[
            "code",
            "default_password",
            "extracted",
            "extractor",
            "formats",
            "markup",
            "outlook",
            "package",
            "pdf",
            "readers",
            "recognise",
            "sheets",
            "skip_reason",
            "slides",
            "sniff",
            "text",
            "text_builder",
            "word",
        ],
        &["syntax", "tags"],
    ),
    // The readers in a process of their own.
    room("worker", &["worker"], &["readers", "syntax"]),
    // A test of all readers.
    room("growth", &["growth"], &["readers", "secrets"]),
];

/// `mcp/src`, lowest level first.
const SERVER: [Room; 11] = [
    room("options", &["options"], &[]),
    room("faults", &["faults"], &[]),
    room("hosts", &["hosts"], &["options"]),
    room("tokens", &["tokens"], &["options"]),
    room("limits", &["limits"], &["options"]),
    room("response", &["response"], &[]),
    room("indexes", &["indexes"], &["options", "response"]),
    // `options` for its tests, which open files as the server does.
    room(
        "tools",
        &["tools"],
        &["options", "faults", "limits", "response", "indexes"],
    ),
    room("definitions", &["definitions"], &["response", "tools"]),
    room(
        "content",
        &["content"],
        &["options", "limits", "response", "indexes"],
    ),
    room(
        "transport",
        &["transport"],
        &[
            "options",
            "limits",
            "response",
            "definitions",
            "indexes",
            "tools",
            "content",
            "tokens",
        ],
    ),
];

/// `json/src`, lowest level first. It takes what the engine makes public: it depends on nothing else.
const FORMS: [Room; 7] = [
    room("object", &["object", "numbers"], &[]),
    room("advice", &["advice"], &["object"]),
    room("document", &["document"], &["object"]),
    room("parts", &["parts"], &["object", "document"]),
    room("endings", &["error", "paging"], &["object"]),
    room(
        "answers",
        &[
            "hit", "info", "outline", "regex", "symbols", "text", "verify",
        ],
        &["object", "document", "parts"],
    ),
    room("changes", &["changes"], &["object", "document"]),
];

/// `embedders/src`, lowest level first.
const EMBEDDERS: [Room; 8] = [
    room(
        "files",
        &["compiled_in", "files", "folder", "pooling", "tls"],
        &[],
    ),
    room("tokenizer", &["tokenizer"], &["files"]),
    room("onnx", &["onnx"], &["files", "tokenizer"]),
    room("model2vec", &["model2vec"], &["files", "tokenizer"]),
    room("service", &["service"], &["files"]),
    // Downloads models.
    room("hub", &["hub"], &["files", "tokenizer", "onnx"]),
    // Models that have names.
    room("cache", &["cache"], &["files", "tokenizer", "onnx"]),
    // Which model a specification names.
    room(
        "registry",
        &["registry"],
        &["files", "onnx", "model2vec", "service", "cache"],
    ),
];

/// `web/src`, lowest level first.
const SITE: [Room; 8] = [
    room("addresses", &["links", "multipart", "parameters"], &[]),
    room("answers", &["answer", "assets", "fresh"], &[]),
    room("text", &["text"], &[]),
    room(
        "site",
        &["site", "asked", "changes", "finder"],
        &["addresses", "answers"],
    ),
    room(
        "pages",
        &["pages"],
        &["addresses", "answers", "text", "site", "api"],
    ),
    room("api", &["api"], &["addresses", "answers", "text", "site"]),
    room(
        "router",
        &["router"],
        &["addresses", "answers", "site", "pages", "api"],
    ),
    room("export", &["export"], &["addresses", "site", "router"]),
];

/// Crates whose files have rooms.
const CRATES: [(&str, &[Room]); 6] = [
    ("engine/src", &ENGINE),
    ("engine/extract/src", &EXTRACT),
    ("json/src", &FORMS),
    ("mcp/src", &SERVER),
    ("embedders/src", &EMBEDDERS),
    ("web/src", &SITE),
];

/// Names that only some files may use, and the starts of their paths.
const CONFINED: [(&str, &[&str]); 20] = [
    ("redb", &["engine/src/container/"]),
    ("memmap2", &["engine/src/container/"]),
    (
        "rustix",
        &[
            "engine/src/container/",
            // Opens files of a source tree below descriptors of folders, and without waiting.
            "engine/src/ingest/source/open/mod.rs",
            // Limits of a worker, and by which signal one ended.
            "engine/extract/src/worker/",
            // A test: the processor time of a thread.
            "engine/types/src/growth.rs",
        ],
    ),
    ("seccompiler", &["engine/extract/src/worker/sandbox.rs"]),
    ("zstd", &["engine/src/"]),
    ("simsimd", &["engine/src/index/vector/"]),
    (
        "SystemTime",
        &[
            "engine/src/ingest/clock.rs",
            "engine/src/kb/",
            "cli/",
            "mcp/",
            // The minute that the tag of a search holds for.
            "web/src/fresh.rs",
        ],
    ),
    (
        "unsafe",
        &[
            "engine/src/container/read/map.rs",
            // Calls code compiled for AVX2 once the processor was asked, and loads its registers.
            "engine/src/index/keyword/query/kernels.rs",
            "engine/src/index/vector/",
            // Takes and gives pointers of C.
            "ffi/src/",
            // Lends memory to Python by address.
            "python/src/vectors.rs",
        ],
    ),
    ("pyo3", &["python/src/"]),
    (
        "arrow_array",
        &["cli/src/vector_file/", "python/src/arrow.rs"],
    ),
    ("tokio", &["mcp/src/transport/"]),
    ("tokio_util", &["mcp/src/transport/"]),
    ("rmcp", &["mcp/src/transport/"]),
    ("hyper", &["mcp/src/transport/"]),
    ("hyper_util", &["mcp/src/transport/"]),
    (
        "kb_json",
        &[
            "cli/src/",
            "ffi/src/",
            // What to do about an error.
            "mcp/src/response/engine_error.rs",
            "python/src/error.rs",
            "web/src/",
        ],
    ),
    ("rten", &["embedders/src/onnx/"]),
    // Nothing else opens connections to services.
    (
        "ureq",
        &[
            "embedders/src/service/",
            "embedders/src/hub/",
            "cli/src/cmd/remote.rs",
        ],
    ),
    (
        "kb_embedders",
        &["cli/src/", "embedders/examples/", "embedders/tests/"],
    ),
    ("anyhow", &["cli/src/", "xtask/", "tools/"]),
];

/// What is wrong in one source file; `file` is its path from the top of the repository, with `/`.
fn complaints(file: &str, source: &str) -> Vec<String> {
    let code = without_tests(&without_comments_and_text(source));
    let tokens = tokens(&code);
    let mut complaints = Vec::new();
    for (name, files) in CONFINED {
        let is_allowed = files.iter().any(|start| file.starts_with(start));
        if !is_allowed && tokens.contains(&name) {
            let files = files.join(", ");
            complaints.push(format!("{file}: `{name}` belongs in {files}"));
        }
    }
    // A unit test module in a file of its own.
    if file.ends_with("/tests.rs") || file.ends_with("/tests/mod.rs") {
        return complaints;
    }
    for (source_folder, rooms) in CRATES {
        if let Some(module) = module_path(source_folder, file).filter(|path| !path.is_empty()) {
            complaints.extend(import_complaints(file, source, &module, rooms));
        }
    }
    complaints
}

fn import_complaints(file: &str, source: &str, module: &[String], rooms: &[Room]) -> Vec<String> {
    let Some(own) = room_of(module, rooms) else {
        return vec![format!(
            "{file}: lies in no room; the tables of this test name them all"
        )];
    };
    let mut complaints = Vec::new();
    for path in named_paths(module, source) {
        let shown = path.join("::");
        match room_of(&path, rooms) {
            Some(other) if other.name == own.name || own.may_use.contains(&other.name) => {}
            Some(other) => complaints.push(format!(
                "{file}: {} may not use {}: crate::{shown}",
                own.name, other.name
            )),
            None => complaints.push(format!(
                "{file}: crate::{shown} names no room; use the module path, not a re-export"
            )),
        }
    }
    complaints
}

/// The room whose module begins the path; of `index` and `index/vector` the longer.
fn room_of<'r>(path: &[String], rooms: &'r [Room]) -> Option<&'r Room> {
    let length = |module: &str| {
        let names: Vec<&str> = module.split('/').collect();
        let is_start = names.len() <= path.len() && names.iter().zip(path).all(|(a, b)| a == b);
        is_start.then_some(names.len())
    };
    let longest = |room: &Room| {
        room.modules
            .iter()
            .filter_map(|module| length(module))
            .max()
    };
    rooms
        .iter()
        .filter(|room| longest(room).is_some())
        .max_by_key(|room| longest(room))
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The sources below a folder.
fn read(folder: &str) -> Vec<SourceFile> {
    sources::read(&repository(), folder).expect("sources")
}

#[test]
fn imports_point_down() {
    let mut complaints = Vec::new();
    for folder in [
        "engine/src",
        "engine/extract/src",
        "engine/types/src",
        "json/src",
        "cli/src",
        "mcp/src",
        "embedders/src",
        "web/src",
        "ffi/src",
    ] {
        let files = read(folder);
        assert!(files.len() > 10, "only {} files in {folder}", files.len());
        let of_file = |file: &SourceFile| self::complaints(&file.path, &file.text);
        complaints.extend(files.iter().flat_map(of_file));
    }
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn every_room_and_every_listed_file_exists() {
    let root = repository();
    for (source_folder, rooms) in CRATES {
        for module in rooms.iter().flat_map(|room| room.modules) {
            let folder = root.join(source_folder).join(module);
            let exists = folder.is_dir() || folder.with_extension("rs").is_file();
            assert!(exists, "there is no {source_folder}/{module}");
        }
    }
    for start in CONFINED.iter().flat_map(|(_, files)| *files) {
        assert!(root.join(start).exists(), "there is no {start}");
    }
}
