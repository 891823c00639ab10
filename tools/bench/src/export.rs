//! The chunks and queries of a bench as plain lines of JSON, so that baselines get the same input.
//!
//! `chunks.jsonl`: `path`, `title`, `text`, and `terms`: title, headings, path and text as one joined field,
//! analysed by the engine, joined by spaces. `queries.jsonl`: `text` and `terms`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use kb_engine::testing::index::keyword::Analyser;
use kb_engine::testing::store::outline::SectionPath;
use kb_engine::{DocumentInfo, Entry, Kb, PageOptions};
use serde_json::json;

use crate::ready_terms::ready_terms;

/// A chunk with what stands above it.
pub(crate) struct Piece<'p> {
    pub(crate) document: &'p DocumentInfo,
    /// Headings above, outermost first.
    pub(crate) headings: Vec<&'p str>,
    /// Its number in the document, from 0.
    pub(crate) number: u32,
    pub(crate) text: &'p str,
}

impl Piece<'_> {
    /// Title, headings, path and text as one joined field.
    pub(crate) fn joined(&self) -> String {
        let (title, path) = (&self.document.title, &self.document.path);
        format!(
            "{title}\n{}\n{path}\n{}",
            self.headings.join("\n"),
            self.text
        )
    }
}

/// Writes the queries as typed and as terms.
pub(crate) fn write_queries(queries: &[String], path: &Path) -> Result<()> {
    let mut analyser = Analyser::new();
    let mut output = create(path)?;
    for query in queries {
        let terms = ready_terms(&mut analyser, query);
        writeln!(output, "{}", json!({"text": query, "terms": terms}))?;
    }
    Ok(output.flush()?)
}

/// A file to write much into.
pub(crate) fn create(path: &Path) -> Result<BufWriter<File>> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(BufWriter::with_capacity(1 << 20, file))
}

/// Calls `each` for every document, in the order of folders, then paths.
pub(crate) fn for_each_document(
    kb: &Kb,
    folder: Option<&str>,
    each: &mut impl FnMut(&DocumentInfo) -> Result<()>,
) -> Result<()> {
    for entry in kb.list(folder, &PageOptions::default())? {
        match entry {
            Entry::Folder { path, .. } => for_each_document(kb, Some(&path), each)?,
            Entry::Document(document) => each(&document)?,
        }
    }
    Ok(())
}

/// Calls `each` for every chunk of every document, in that order.
pub(crate) fn for_each_chunk(
    kb: &Kb,
    each: &mut impl FnMut(&Piece<'_>) -> Result<()>,
) -> Result<()> {
    for_each_document(kb, None, &mut |document| {
        let path = &document.path;
        let text = kb.text(path, None)?.text;
        let outline = kb.outline(path)?.headings;
        let mut sections = SectionPath::new(&outline);
        for (number, chunk) in (0..).zip(kb.chunk_spans(path)?) {
            let bytes = chunk.span.start as usize..chunk.span.end as usize;
            each(&Piece {
                document,
                headings: sections.at(chunk.span.start).collect(),
                number,
                text: text
                    .get(bytes)
                    .with_context(|| format!("{path}: a chunk that is no part of the text"))?,
            })?;
        }
        Ok(())
    })
}
