//! Imports point down. Reads the sources of the engine and the fronts and fails on a `use` or a
//! path that goes up or sideways, and on libraries, clocks and `unsafe` outside their room.
//!
//! Unit tests (`#[cfg(test)] mod ...`) may use any room: they prepare data with what is there.

mod scan;
mod server;

use std::path::{Path, PathBuf};

use scan::{is_word, without_comments_and_text, without_tests, words};

/// A room of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    /// `types`, `error`, `escape`, `file_types`, `progress`: shared words.
    Words,
    Container,
    Store,
    /// `index/mod.rs` and what both indexes share.
    Index,
    Keyword,
    Vector,
    Trigram,
    Embed,
    /// `catalog`: the records of one commit, found once and shared by those who join the rooms.
    Catalog,
    /// `paging`: token budgets and cursors.
    Paging,
    /// `resolve`: the name of a document or folder -> the document.
    Resolve,
    Ingest,
    Search,
    Check,
    Kb,
}

use Room::{
    Catalog, Check, Container, Embed, Index, Ingest, Kb, Keyword, Paging, Resolve, Search, Store,
    Trigram, Vector, Words,
};

impl Room {
    /// The room of a module path below `crate::`; `None` when it names no room.
    fn of(path: &[&str]) -> Option<Room> {
        Some(match path {
            ["types" | "error" | "escape" | "file_types" | "progress", ..] => Words,
            ["container", ..] => Container,
            ["store", ..] => Store,
            ["index", "keyword", ..] => Keyword,
            ["index", "vector", ..] => Vector,
            ["index", "trigram", ..] => Trigram,
            ["index"] | ["index", "bitset", ..] => Index,
            ["embed", ..] => Embed,
            ["catalog", ..] => Catalog,
            ["paging", ..] => Paging,
            ["resolve", ..] => Resolve,
            ["ingest", ..] => Ingest,
            ["search", ..] => Search,
            ["check", ..] => Check,
            ["kb", ..] => Kb,
            _ => return None,
        })
    }

    /// The other rooms that this one may import.
    fn may_use(self) -> &'static [Room] {
        match self {
            Words => &[],
            Container | Embed | Paging => &[Words],
            Store | Index => &[Words, Container],
            Keyword | Vector | Trigram => &[Words, Container, Index],
            Catalog => &[Words, Container, Store, Keyword, Vector, Trigram],
            Resolve => &[Words, Container, Store, Catalog],
            Ingest | Search | Check => &[
                Words, Container, Store, Keyword, Vector, Trigram, Embed, Catalog, Paging, Resolve,
            ],
            Kb => &[
                Words, Container, Store, Keyword, Vector, Trigram, Embed, Catalog, Paging, Resolve,
                Ingest, Search, Check,
            ],
        }
    }
}

/// A name that only some places may say, and those places as path starts.
struct Confined {
    name: &'static str,
    places: &'static [&'static str],
}

const CONFINED: [Confined; 13] = [
    Confined {
        name: "redb",
        places: &["engine/src/container/"],
    },
    Confined {
        name: "memmap2",
        places: &["engine/src/container/"],
    },
    Confined {
        name: "rustix",
        places: &[
            "engine/src/container/",
            // Opens files of a source tree below descriptors of folders, and without waiting.
            "engine/src/ingest/source/open.rs",
            "engine/src/ingest/worker.rs",
        ],
    },
    Confined {
        name: "zstd",
        places: &["engine/src/"],
    },
    Confined {
        name: "simsimd",
        places: &["engine/src/index/vector/"],
    },
    Confined {
        name: "SystemTime",
        places: &[
            "engine/src/ingest/clock.rs",
            "engine/src/kb.rs",
            "engine/src/kb/",
            "cli/",
            "mcp/",
        ],
    },
    Confined {
        name: "unsafe",
        places: &[
            "engine/src/container/read/map.rs",
            // Calls code compiled for AVX2 once the processor was asked, and loads its registers.
            "engine/src/index/keyword/query/kernels.rs",
            "engine/src/index/vector/",
            "engine/src/ingest/worker.rs",
            "ffi/src/",
            "python/src/buffer.rs",
        ],
    },
    Confined {
        name: "tokio",
        places: &["mcp/src/transport/", "mcp/src/conformance/"],
    },
    Confined {
        name: "tokio_util",
        places: &["mcp/src/transport/", "mcp/src/conformance/"],
    },
    Confined {
        name: "rmcp",
        places: &["mcp/src/transport/", "mcp/src/conformance/"],
    },
    Confined {
        name: "hyper",
        places: &["mcp/src/transport/"],
    },
    Confined {
        name: "hyper_util",
        places: &["mcp/src/transport/"],
    },
    Confined {
        name: "anyhow",
        places: &["cli/src/", "xtask/", "tools/"],
    },
];

/// What is wrong in one source file; `file` is its path from the top of the repository, with `/`.
fn complaints(file: &str, source: &str) -> Vec<String> {
    let code = without_tests(&without_comments_and_text(source));
    let mut complaints = Vec::new();
    let words = words(&code);
    for confined in &CONFINED {
        let allowed = confined.places.iter().any(|place| file.starts_with(place));
        if !allowed && words.contains(&confined.name) {
            let places = confined.places.join(", ");
            complaints.push(format!("{file}: `{}` belongs in {places}", confined.name));
        }
    }
    if let Some(module) = module_in("mcp/src/", file) {
        let module: Vec<&str> = module.iter().map(String::as_str).collect();
        complaints.extend(server::complaints(file, &module, &words));
        return complaints;
    }
    let Some(module) = module_in("engine/src/", file) else {
        return complaints;
    };
    let module: Vec<&str> = module.iter().map(String::as_str).collect();
    let Some(room) = Room::of(&module) else {
        complaints.push(format!(
            "{file}: lies in no room; LAYOUT and this test name them all"
        ));
        return complaints;
    };
    for path in crate_paths(&words, &module) {
        let target = path.iter().map(String::as_str).collect::<Vec<_>>();
        let shown = target.join("::");
        match Room::of(&target) {
            Some(other) if other == room || room.may_use().contains(&other) => {}
            Some(other) => {
                complaints.push(format!(
                    "{file}: {room:?} may not use {other:?}: crate::{shown}"
                ));
            }
            None => complaints.push(format!(
                "{file}: crate::{shown} names no room; use the module path, not a re-export"
            )),
        }
    }
    complaints
}

/// `engine/src/index/keyword/postings/reader.rs` -> index, keyword, postings, reader. `None`: not part of a room.
fn module_in(top: &str, file: &str) -> Option<Vec<String>> {
    let inside = file.strip_prefix(top)?.strip_suffix(".rs")?;
    if inside == "lib" {
        return None;
    }
    let inside = inside.strip_suffix("/mod").unwrap_or(inside);
    Some(inside.split('/').map(str::to_owned).collect())
}

/// Every path that starts at `crate` or climbs with `super`, from the crate's root: the modules,
/// then one item.
fn crate_paths(words: &[&str], module: &[&str]) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for (position, word) in words.iter().enumerate() {
        let continues = position > 0 && words[position - 1] == "::";
        if continues || words.get(position + 1) != Some(&"::") {
            continue;
        }
        let mut after = position + 2;
        let mut base: Vec<String> = match *word {
            "crate" => Vec::new(),
            "super" => {
                let mut base: Vec<String> = module.iter().map(|&name| name.to_owned()).collect();
                base.pop();
                while words.get(after) == Some(&"super") && words.get(after + 1) == Some(&"::") {
                    base.pop();
                    after += 2;
                }
                base
            }
            _ => continue,
        };
        follow(words, after, &mut base, &mut paths);
    }
    paths
}

/// Adds the paths that begin with `base` and go on at `position`; gives where they end.
fn follow(
    words: &[&str],
    mut position: usize,
    base: &mut Vec<String>,
    paths: &mut Vec<Vec<String>>,
) -> usize {
    let depth = base.len();
    while let Some(word) = words.get(position) {
        if *word == "{" {
            position += 1;
            while let Some(word) = words.get(position).filter(|word| **word != "}") {
                position = match *word {
                    "," | ";" => position + 1,
                    _ => follow(words, position, base, paths).max(position + 1),
                };
            }
            base.truncate(depth);
            return position + 1;
        }
        // `self` in a group is the module before it; so is the star of a glob.
        if word.chars().all(is_word) && *word != "self" {
            base.push((*word).to_owned());
        }
        position += 1;
        if words.get(position) != Some(&"::") {
            break;
        }
        position += 1;
    }
    paths.push(base.clone());
    base.truncate(depth);
    // `Name as Other` in a group.
    while words
        .get(position)
        .is_some_and(|word| !matches!(*word, "," | "}" | ";" | "{"))
    {
        position += 1;
    }
    position
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every `.rs` file below `folder`, as a path from the top of the repository.
fn sources(folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![repository().join(folder)];
    while let Some(folder) = waiting.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries {
            let path = entry.expect("entry").path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let inside = path
                    .strip_prefix(repository())
                    .expect("below the repository");
                let parts: Vec<_> = inside
                    .iter()
                    .map(|part| part.to_string_lossy().into_owned())
                    .collect();
                found.push(parts.join("/"));
            }
        }
    }
    found
}

#[test]
fn imports_point_down() {
    let mut found = Vec::new();
    let mut files = 0;
    for folder in ["engine/src", "cli/src", "mcp/src", "ffi/src", "python/src"] {
        for file in sources(folder) {
            let source = std::fs::read_to_string(repository().join(&file)).expect("source");
            found.extend(complaints(&file, &source));
            files += 1;
        }
    }
    assert!(files > 20, "only {files} source files found");
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

/// The complaints about a file that holds `source`, without its own name.
fn told(file: &str, source: &str) -> Vec<String> {
    complaints(file, source)
        .iter()
        .map(|text| text.replace(&format!("{file}: "), ""))
        .collect()
}

#[test]
fn an_upward_or_sideways_use_is_found() {
    for (file, source, complaint) in [
        (
            "container/codec.rs",
            "use crate::store::Store;",
            "Container may not use Store",
        ),
        (
            "store/blocks.rs",
            "use crate::index::keyword::Writer;",
            "Store may not use Keyword",
        ),
        (
            "index/keyword/bm25.rs",
            "use crate::index::vector::topk::Best;",
            "Keyword may not use Vector",
        ),
        (
            "index/vector/reader.rs",
            "use crate::store::chunks;",
            "Vector may not use Store",
        ),
        (
            "embed/mod.rs",
            "use crate::container::Container;",
            "Embed may not use Container",
        ),
        (
            "ingest/mod.rs",
            "use crate::search::request::Request;",
            "Ingest may not use Search",
        ),
        (
            "search/plan.rs",
            "pub(crate) use crate::ingest::walk;",
            "Search may not use Ingest",
        ),
        (
            "search/plan.rs",
            "use crate::kb::Kb;",
            "Search may not use Kb",
        ),
        (
            "types.rs",
            "use crate::container::codec;",
            "Words may not use Container",
        ),
        (
            "check.rs",
            "fn f() { crate::search::run(); }",
            "Check may not use Search",
        ),
        (
            "index/keyword/a.rs",
            "use super::super::vector::Reader;",
            "Keyword may not use Vector",
        ),
        (
            "index/keyword/mod.rs",
            "use super::vector::Reader;",
            "Keyword may not use Vector",
        ),
        (
            "store/a.rs",
            "use super::super::embed::Embedder;",
            "Store may not use Embed",
        ),
        (
            "store/a.rs",
            "use crate::{error::Result, index::{keyword::{self, Reader}}, types::Span};",
            "Store may not use Keyword",
        ),
        (
            "store/a.rs",
            "use crate::{container::{self}, search as s};",
            "Store may not use Search",
        ),
        ("store/a.rs", "use crate::Error;", "names no room"),
        (
            "store/a.rs",
            "type A = Vec<crate::kb::Info>;",
            "Store may not use Kb",
        ),
        ("fronts.rs", "", "lies in no room"),
    ] {
        let told = told(&format!("engine/src/{file}"), source);
        assert!(
            told.iter().any(|text| text.contains(complaint)),
            "{file}: {source}: {told:?}"
        );
    }
}

#[test]
fn what_points_down_is_let_through() {
    for (file, source) in [
        (
            "container/codec.rs",
            "use crate::error::{Error, Result}; use crate::container::map;",
        ),
        (
            "store/a.rs",
            "use crate::container::{codec::{self, Read}, Container as C};",
        ),
        (
            "store/a.rs",
            "use super::blocks::{self, *}; use super::super::types::Span;",
        ),
        (
            "index/keyword/mod.rs",
            "use crate::types::*; use self::writer::Writer; mod writer;",
        ),
        (
            "search/mod.rs",
            "use crate::{embed, index::{keyword, vector::Reader}, store};",
        ),
        (
            "kb.rs",
            "use crate::ingest; use crate::search::{request::Request, response};",
        ),
        ("lib.rs", "pub use crate::kb::Kb;"),
        (
            "store/a.rs",
            "// use crate::kb::Kb;\n/* use crate::kb /* deep */ ::Kb; */",
        ),
        (
            "store/a.rs",
            "const A: &str = \"use crate::kb::Kb; \\\" unsafe\";",
        ),
        (
            "store/a.rs",
            "const A: &str = r#\"use crate::kb::Kb; \" unsafe\"#;",
        ),
        (
            "store/a.rs",
            "fn f<'a>(a: &'a str) -> char { '\"' } // unsafe \"",
        ),
        (
            "store/a.rs",
            "fn f() {}\n#[cfg(test)]\nmod tests { use crate::kb::Kb; fn g() { if true {} } }",
        ),
        (
            "index/vector/kernels/scalar.rs",
            "unsafe { simsimd::dot() }",
        ),
    ] {
        assert_eq!(
            told(&format!("engine/src/{file}"), source),
            [""; 0],
            "{file}: {source}"
        );
    }
}

#[test]
fn code_after_the_tests_is_still_read() {
    let source = "#[cfg(test)]\nmod tests { fn g() {} }\nuse crate::kb::Kb;\n";
    assert_eq!(told("engine/src/store/a.rs", source).len(), 1);
    let source = "#[cfg(test)]\nfn g() { use crate::kb::Kb; }\n";
    assert_eq!(told("engine/src/store/a.rs", source).len(), 1);
}

#[test]
fn libraries_clocks_and_unsafe_outside_their_room_are_found() {
    for (file, source) in [
        ("engine/src/store/a.rs", "use redb::Database;"),
        ("engine/src/kb.rs", "fn f(map: memmap2::Mmap) {}"),
        ("engine/src/ingest/walk/walker.rs", "use rustix::fs::flock;"),
        (
            "engine/src/store/documents.rs",
            "use std::time::{Duration, SystemTime};",
        ),
        ("engine/src/container/codec.rs", "fn f() { unsafe { g() } }"),
        ("engine/src/error.rs", "use anyhow::Result;"),
        ("cli/src/cmd/info.rs", "use redb::Database;"),
        ("cli/src/cmd/get.rs", "let text = zstd::decode_all(bytes);"),
        ("mcp/src/tools.rs", "use simsimd::SpatialSimilarity;"),
        ("cli/src/main.rs", "unsafe { libc::signal() }"),
    ] {
        let told = told(file, source);
        assert!(
            told.iter().any(|text| text.contains("belongs in")),
            "{file}: {source}: {told:?}"
        );
    }
}
