//! Small files that the rules refuse or let through.

use super::complaints;

/// The complaints about a file that holds `source`, without its own name.
fn complaints_of(file: &str, source: &str) -> Vec<String> {
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
            "container may not use store",
        ),
        (
            "store/blocks.rs",
            "use crate::index::keyword::Writer;",
            "store may not use keyword",
        ),
        (
            "index/keyword/bm25.rs",
            "use crate::index::vector::topk::Best;",
            "keyword may not use vector",
        ),
        (
            "index/vector/reader.rs",
            "use crate::store::chunks;",
            "vector may not use store",
        ),
        (
            "embed/mod.rs",
            "use crate::container::Container;",
            "embed may not use container",
        ),
        (
            "ingest/mod.rs",
            "use crate::search::request::Request;",
            "ingest may not use search",
        ),
        (
            "search/plan.rs",
            "pub(crate) use crate::ingest::walk;",
            "search may not use ingest",
        ),
        (
            "search/plan.rs",
            "use crate::kb::Kb;",
            "search may not use kb",
        ),
        (
            "metric.rs",
            "use crate::container::codec;",
            "base may not use container",
        ),
        (
            "check.rs",
            "fn f() { crate::search::run(); }",
            "check may not use search",
        ),
        (
            "index/keyword/a.rs",
            "use super::super::vector::Reader;",
            "keyword may not use vector",
        ),
        (
            "index/keyword/mod.rs",
            "use super::vector::Reader;",
            "keyword may not use vector",
        ),
        (
            "store/a.rs",
            "use super::super::embed::Embedder;",
            "store may not use embed",
        ),
        (
            "store/a.rs",
            "use crate::{progress::Hook, index::{keyword::{self, Reader}}, metric::Metric};",
            "store may not use keyword",
        ),
        (
            "store/a.rs",
            "use crate::{container::{self}, search as s};",
            "store may not use search",
        ),
        ("store/a.rs", "use crate::Error;", "names no room"),
        (
            "store/a.rs",
            "type A = Vec<crate::kb::Info>;",
            "store may not use kb",
        ),
        ("fronts.rs", "", "lies in no room"),
    ] {
        let complaints = complaints_of(&format!("engine/src/{file}"), source);
        assert!(
            complaints.iter().any(|text| text.contains(complaint)),
            "{file}: {source}: {complaints:?}"
        );
    }
}

#[test]
fn what_points_down_is_let_through() {
    for (file, source) in [
        (
            "container/codec.rs",
            "use crate::progress::{Hook, Progress}; use crate::container::map;",
        ),
        (
            "store/a.rs",
            "use crate::container::{codec::{self, Read}, Container as C};",
        ),
        (
            "store/a.rs",
            "use super::blocks::{self, *}; use super::super::metric::Metric;",
        ),
        (
            "index/keyword/mod.rs",
            "use crate::metric::*; use self::writer::Writer; mod writer;",
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
            complaints_of(&format!("engine/src/{file}"), source),
            [""; 0],
            "{file}: {source}"
        );
    }
}

#[test]
fn code_after_the_tests_is_still_read() {
    let source = "#[cfg(test)]\nmod tests { fn g() {} }\nuse crate::kb::Kb;\n";
    assert_eq!(complaints_of("engine/src/store/a.rs", source).len(), 1);
    let source = "#[cfg(test)]\nfn g() { use crate::kb::Kb; }\n";
    assert_eq!(complaints_of("engine/src/store/a.rs", source).len(), 1);
}

#[test]
fn libraries_clocks_and_unsafe_outside_their_room_are_found() {
    for (file, source) in [
        ("engine/src/store/a.rs", "use redb::Database;"),
        ("engine/src/kb.rs", "fn f(map: memmap2::Mmap) {}"),
        (
            "engine/src/ingest/walk/walker/mod.rs",
            "use rustix::fs::flock;",
        ),
        (
            "engine/src/store/documents/mod.rs",
            "use std::time::{Duration, SystemTime};",
        ),
        ("engine/src/container/codec.rs", "fn f() { unsafe { g() } }"),
        ("engine/src/error.rs", "use anyhow::Result;"),
        ("cli/src/cmd/info.rs", "use redb::Database;"),
        ("cli/src/cmd/get.rs", "let text = zstd::decode_all(bytes);"),
        ("mcp/src/tools.rs", "use simsimd::SpatialSimilarity;"),
        ("mcp/src/tools.rs", "use kb_json::Object;"),
        ("python/src/hits.rs", "fn f(hit: kb_json::Object) {}"),
        ("cli/src/main.rs", "unsafe { libc::signal() }"),
    ] {
        let complaints = complaints_of(file, source);
        assert!(
            complaints.iter().any(|text| text.contains("belongs in")),
            "{file}: {source}: {complaints:?}"
        );
    }
}

#[test]
fn an_upward_or_sideways_use_in_the_server_is_found() {
    for (file, source) in [
        ("response/text.rs", "use crate::tools::call;"),
        ("response/text.rs", "use super::super::indexes::Index;"),
        ("indexes/mod.rs", "use crate::definitions::definitions;"),
        ("tools/search.rs", "use crate::transport::executor;"),
        ("tools/search.rs", "use tokio::sync::watch;"),
        ("content/mod.rs", "use crate::tools::call;"),
        ("tokens/store.rs", "use hyper::Request;"),
        ("other/mod.rs", ""),
    ] {
        assert_eq!(
            complaints(&format!("mcp/src/{file}"), source).len(),
            1,
            "{file}: {source}"
        );
    }
    for (file, source) in [
        (
            "tools/search.rs",
            "use crate::response::ToolResponse; use super::call;",
        ),
        (
            "transport/http/middleware.rs",
            "use hyper::Request; use crate::tokens::Tokens;",
        ),
        ("lib.rs", "pub use transport::serve_stdio;"),
    ] {
        assert!(
            complaints(&format!("mcp/src/{file}"), source).is_empty(),
            "{file}: {source}"
        );
    }
}

#[test]
fn an_upward_or_sideways_use_in_the_forms_is_found() {
    for (file, source) in [
        ("object.rs", "use crate::document::document_head;"),
        ("document.rs", "use crate::parts::part_address;"),
        ("parts.rs", "use super::hit::hit;"),
        ("verify.rs", "use crate::changes::with_changes;"),
        ("hit.rs", "use redb::Database;"),
        ("hit.rs", "use crate::Object;"),
        ("other.rs", ""),
    ] {
        let complaints = complaints(&format!("json/src/{file}"), source);
        assert_eq!(complaints.len(), 1, "{file}: {source}");
    }
    let source = "use crate::object::Object; use crate::parts::part_address;";
    assert!(complaints("json/src/hit.rs", source).is_empty());
}
