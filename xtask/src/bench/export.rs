//! The chunks and queries of a bench as plain lines of JSON, so that rivals get the same input.
//!
//! `chunks.jsonl`: `path`, `title`, `text`, and `terms`: title, headings, path and text as one joined field,
//! analysed by the engine, joined by spaces. `queries.jsonl`: `text` and `terms`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use kb_engine::index::text::Analyser;
use kb_engine::store::outline::section_at;
use kb_engine::{Entry, Kb};
use serde_json::json;

use super::analysed::analysed;

/// Where the lines are.
#[derive(Debug, Clone)]
pub(crate) struct Exported {
    pub(crate) chunks: PathBuf,
    pub(crate) queries: PathBuf,
}

/// Writes all chunks of the file, and the queries, into the folder.
pub(crate) fn write(file: &Path, queries: &[String], folder: &Path) -> Result<Exported> {
    let exported = Exported {
        chunks: folder.join("chunks.jsonl"),
        queries: folder.join("queries.jsonl"),
    };
    let kb = Kb::open(file)?;
    let mut analyser = Analyser::new();
    let mut output = create(&exported.chunks)?;
    write_folder(&kb, None, &mut analyser, &mut output)?;
    output.flush()?;
    let mut output = create(&exported.queries)?;
    for query in queries {
        let terms = analysed(&mut analyser, query);
        writeln!(output, "{}", json!({"text": query, "terms": terms}))?;
    }
    output.flush()?;
    Ok(exported)
}

fn create(path: &Path) -> Result<BufWriter<File>> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(BufWriter::with_capacity(1 << 20, file))
}

fn write_folder(
    kb: &Kb,
    folder: Option<&str>,
    analyser: &mut Analyser,
    output: &mut impl Write,
) -> Result<()> {
    for entry in kb.list(folder)? {
        match entry {
            Entry::Folder { path, .. } => write_folder(kb, Some(&path), analyser, output)?,
            Entry::Document(document) => write_document(kb, &document.path, analyser, output)?,
        }
    }
    Ok(())
}

fn write_document(
    kb: &Kb,
    path: &str,
    analyser: &mut Analyser,
    output: &mut impl Write,
) -> Result<()> {
    let whole = kb.text(path, None)?;
    let outline = kb.outline(path)?.headings;
    let title = &whole.document.title;
    for chunk in kb.chunks(path)? {
        let bytes = chunk.span.start as usize..chunk.span.end as usize;
        let text = whole
            .text
            .get(bytes)
            .with_context(|| format!("{path}: a chunk that is no part of the text"))?;
        let headings = section_at(&outline, chunk.span.start).join("\n");
        let terms = analysed(analyser, &format!("{title}\n{headings}\n{path}\n{text}"));
        let line = json!({"path": path, "title": title, "text": text, "terms": terms});
        writeln!(output, "{line}")?;
    }
    Ok(())
}
