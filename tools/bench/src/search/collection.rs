//! What every baseline is given: chunks with ready terms and filters, their vectors, queries and their
//! vectors. Made once from the .kb, so that all search the same.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use kb_engine::Kb;
use kb_engine::testing::embed::{Embedder, by_id};
use kb_engine::testing::index::keyword::Analyser;
use serde_json::json;

use super::facet::{self, Facet};
use crate::export;
use crate::peers::npy;
use crate::ready_terms::ready_terms;

/// The collection on disk, and what the bench itself needs of it.
pub(crate) struct Collection {
    pub(crate) folder: PathBuf,
    /// Path of each chunk and its number in that document, in order: how an answer of kb names it. The text of a hit
    /// may begin before its chunk.
    pub(crate) places: Vec<(String, u32)>,
    /// `[chunks, dim]`, row-major.
    pub(crate) vectors: Vec<f32>,
    /// `[queries, dim]`, row-major.
    pub(crate) query_vectors: Vec<f32>,
    pub(crate) dim: usize,
    pub(crate) queries: usize,
    pub(crate) facets: Vec<Facet>,
    /// For each facet whether it lets a chunk through.
    pub(crate) allowed: Vec<Vec<bool>>,
    pub(crate) text_bytes: u64,
}

/// Writes the collection of a .kb into the folder, which is replaced.
pub(crate) fn write(file: &Path, queries: &[String], folder: &Path) -> Result<Collection> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let kb = Kb::open(file)?;
    let id = kb.info()?.model;
    let model = by_id(&id).with_context(|| format!("no model {id} to make vectors with"))?;
    let facets = facet::choose(&kb)?;
    let mut collection = Collection {
        folder: folder.to_path_buf(),
        places: Vec::new(),
        vectors: Vec::new(),
        query_vectors: vec![0.0; queries.len() * model.dim()],
        dim: model.dim(),
        queries: queries.len(),
        allowed: vec![Vec::new(); facets.len()],
        facets,
        text_bytes: 0,
    };
    collection.write_chunks(&kb, model)?;
    export::write_queries(queries, &folder.join("queries.jsonl"))?;
    let texts: Vec<&str> = queries.iter().map(String::as_str).collect();
    model.embed_queries(&texts, &mut collection.query_vectors)?;
    let dim = collection.dim;
    let tables = [
        ("vectors.npy", &collection.vectors),
        ("query_vectors.npy", &collection.query_vectors),
    ];
    for (name, numbers) in tables {
        let mut table = npy::Writer::create(&folder.join(name), dim)?;
        for row in numbers.chunks(dim.max(1)) {
            table.push(row)?;
        }
        table.finish()?;
    }
    let facets: Vec<_> = collection.facets.iter().map(Facet::to_json).collect();
    fs::write(
        folder.join("facets.json"),
        serde_json::to_string_pretty(&facets)?,
    )?;
    Ok(collection)
}

impl Collection {
    fn write_chunks(&mut self, kb: &Kb, model: &dyn Embedder) -> Result<()> {
        let mut analyser = Analyser::new();
        let mut output = export::create(&self.folder.join("chunks.jsonl"))?;
        let mut vector = vec![0.0; self.dim];
        let mut embedded = Vec::new();
        export::for_each_chunk(kb, &mut |piece| {
            let document = piece.document;
            let mut line = json!({
                "path": document.path,
                "title": document.title,
                "text": piece.text,
                "terms": ready_terms(&mut analyser, &piece.joined()),
            });
            for (facet, allowed) in self.facets.iter().zip(&mut self.allowed) {
                let lets_through = facet.value.matches(document);
                line[facet.name] = u8::from(lets_through).into();
                allowed.push(lets_through);
            }
            writeln!(output, "{line}")?;
            if piece.number == 0 {
                embedded = kb.embedded_texts(&document.path)?;
            }
            let context = embedded.get(piece.number as usize);
            let context = context.with_context(|| format!("{}: chunks differ", document.path))?;
            model.embed_documents(&[context], &mut vector)?;
            self.vectors.extend_from_slice(&vector);
            self.places.push((document.path.clone(), piece.number));
            self.text_bytes += piece.text.len() as u64;
            Ok(())
        })?;
        Ok(output.flush()?)
    }
}
