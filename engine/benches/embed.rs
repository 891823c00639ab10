//! Speed of the built-in model: queries, and documents cut to the size of chunks. The documents
//! are the sources of the libraries that this build uses, else the sources of the engine.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::BytesCount;
use kb_engine::testing::embed::{Embedder, built_in};

const CHUNK_BYTES: usize = 1_200;
const CORPUS_BYTES: usize = 8 << 20;

fn main() {
    divan::main();
}

/// Chunks of source code and prose, the same in every run on the same sources.
static CHUNKS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
    let cargo_home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let libraries = cargo_home
        .map(|home| home.join("registry/src"))
        .filter(|path| path.is_dir());
    let mut text = String::new();
    collect(&libraries.unwrap_or(own), &mut text);
    let mut chunks = Vec::new();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let end = (CHUNK_BYTES..rest.len()).find(|&end| rest.is_char_boundary(end));
        let (chunk, after) = rest.split_at(end.unwrap_or(rest.len()));
        chunks.push(chunk.to_owned());
        rest = after;
    }
    chunks
});

fn collect(folder: &Path, text: &mut String) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if text.len() >= CORPUS_BYTES {
            return;
        }
        if path.is_dir() {
            collect(&path, text);
        } else if path
            .extension()
            .is_some_and(|ending| ending == "rs" || ending == "md")
            && let Ok(content) = fs::read_to_string(&path)
        {
            text.push_str(&content);
        }
    }
}

#[divan::bench(args = [
    "password reset",
    "How do I parse an HTTP response without copying the body?",
])]
fn query(bencher: Bencher, text: &str) {
    let mut vector = vec![0.0; built_in().dim()];
    bencher.bench_local(|| built_in().embed_queries(&[divan::black_box(text)], &mut vector));
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn documents(bencher: Bencher) {
    let texts: Vec<&str> = CHUNKS.iter().map(String::as_str).collect();
    let mut vectors = vec![0.0; texts.len() * built_in().dim()];
    bencher
        .counter(BytesCount::new(
            texts.iter().map(|text| text.len()).sum::<usize>(),
        ))
        .bench_local(|| built_in().embed_documents(divan::black_box(&texts), &mut vectors));
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn tokens_only(bencher: Bencher) {
    bencher
        .counter(BytesCount::new(
            CHUNKS.iter().map(String::len).sum::<usize>(),
        ))
        .bench_local(|| {
            let mut sum = 0_u64;
            for text in CHUNKS.iter() {
                built_in().tokens(text, |id| sum += u64::from(id));
            }
            sum
        });
}
