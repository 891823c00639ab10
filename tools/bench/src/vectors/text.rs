//! Chunks of a .kb and queries to them as tables of vectors, made with the built-in model.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};
use kb_engine::{Kb, PageOptions, TextRole, embed_texts};

use crate::export;
use crate::peers::npy;

/// Words of a sentence that becomes a query.
const LEAST_WORDS: usize = 4;
const MOST_WORDS: usize = 32;

/// Sentences that are tried for each that is wanted: some chunks have none, some have no known word.
const TRIED: usize = 3;

/// Writes `rows.npy` of at most this many chunks, spread evenly over the file in its order, and
/// `queries.npy`: half what the file offers as queries, half sentences of chunks. Texts of which the model
/// knows nothing have no direction and are left out.
pub(crate) fn write(file: &Path, most: usize, queries: usize, folder: &Path) -> Result<()> {
    let kb = Kb::open(file)?;
    let total = usize::try_from(kb.info()?.chunks)?;
    let most = most.min(total);
    let half = queries / 2;
    let sentence_every = (most / (half * TRIED).max(1)).max(1);
    let mut table: Option<npy::Writer> = None;
    let rows = folder.join("rows.npy");
    let (mut sentences, mut at, mut taken) = (Vec::new(), 0, 0);
    export::for_each_document(&kb, None, &mut |document| {
        let first = at;
        at += usize::try_from(document.chunks)?;
        let chosen: Vec<usize> = (first..at)
            .filter(|chunk| (chunk + 1) * most / total > chunk * most / total)
            .collect();
        if chosen.is_empty() {
            return Ok(());
        }
        let path = &document.path;
        let all = texts(&kb, path)?;
        let piece = |chunk: &usize| all.get(chunk - first).map(String::as_str);
        let texts: Option<Vec<&str>> = chosen.iter().map(piece).collect();
        let texts = texts.with_context(|| format!("{path}: fewer chunks than it says"))?;
        for text in &texts {
            taken += 1;
            if taken % sentence_every == 0 {
                sentences.extend(sentence(text));
            }
        }
        let (vectors, dim) = embed_texts(&texts, TextRole::Document)?;
        let table = match &mut table {
            Some(table) => table,
            None => table.insert(npy::Writer::create(&rows, dim)?),
        };
        vectors
            .chunks(dim)
            .filter(|row| has_direction(row))
            .try_for_each(|row| table.push(row))
    })?;
    table.context("the file has no chunk")?.finish()?;
    let offered = kb.sample_queries(queries)?;
    write_queries(&[offered, sentences], half, &folder.join("queries.npy"))
}

/// The texts of all chunks of a document.
fn texts(kb: &Kb, path: &str) -> Result<Vec<String>> {
    let mut texts: Vec<String> = Vec::new();
    let mut page = PageOptions::default();
    loop {
        let paged = kb.chunks(path, None, &page)?;
        for chunk in paged.items {
            // A page may end within a chunk; the next one begins there.
            match texts.get_mut(usize::try_from(chunk.index)?) {
                Some(begun) => begun.push_str(&chunk.text),
                None => texts.push(chunk.text),
            }
        }
        match paged.next {
            Some(cursor) => page = page.cursor(cursor),
            None => return Ok(texts),
        }
    }
}

/// So many of each list, spread evenly over it.
fn write_queries(lists: &[Vec<String>], of_each: usize, path: &Path) -> Result<()> {
    let mut rows = Vec::new();
    let mut width = 0;
    for list in lists {
        let distinct: BTreeSet<&str> = list.iter().map(String::as_str).collect();
        let texts: Vec<&str> = distinct.into_iter().collect();
        let (vectors, dim) = embed_texts(&texts, TextRole::Query)?;
        width = dim;
        let known = vectors.chunks(dim).filter(|row| has_direction(row));
        let known: Vec<&[f32]> = known.collect();
        let wanted = of_each.min(known.len());
        let chosen = (0..wanted).filter_map(|number| known.get(number * known.len() / wanted));
        rows.extend(chosen.map(|row| row.to_vec()));
    }
    let mut table = npy::Writer::create(path, width)?;
    rows.iter().try_for_each(|row| table.push(row))?;
    table.finish()?;
    Ok(())
}

fn has_direction(row: &[f32]) -> bool {
    row.iter().any(|number| *number != 0.0)
}

/// The sentence of a text with the most words, cut where it is longer than a question would be.
fn sentence(text: &str) -> Option<String> {
    let ends = [". ", ".\n", "! ", "? ", "?\n", ";\n", "\n\n"];
    let mut pieces = vec![text];
    for end in ends {
        pieces = pieces.iter().flat_map(|piece| piece.split(end)).collect();
    }
    let words = |piece: &&str| piece.split_whitespace().count();
    let longest = pieces.into_iter().max_by_key(words)?;
    let words: Vec<&str> = longest.split_whitespace().take(MOST_WORDS).collect();
    (words.len() >= LEAST_WORDS).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use kb_engine::KbWriter;

    use super::*;

    #[test]
    fn the_longest_sentence_is_taken_and_cut() {
        let text = "Tides.\nThe moon pulls the sea. Why? Nobody asks.\n\nshort";
        assert_eq!(sentence(text).unwrap(), "The moon pulls the sea");
        let long = sentence(&"word ".repeat(100)).unwrap();
        assert_eq!(long.split(' ').count(), MOST_WORDS);
        assert_eq!(sentence("two words"), None);
    }

    #[test]
    fn chunks_become_unit_rows_and_unknown_words_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("all.kb");
        let mut writer = KbWriter::open_or_create(&file).unwrap();
        for number in 0..30 {
            let text =
                format!("# Tide {number}\n\nThe moon pulls the sea up {number} times a day.");
            writer
                .add_bytes(&format!("{number}.md"), text.as_bytes())
                .unwrap();
        }
        writer.commit().unwrap();
        write(&file, 10, 8, folder.path()).unwrap();
        let mut rows = npy::Table::of_floats(&folder.path().join("rows.npy")).unwrap();
        assert_eq!(rows.rows, 10);
        let row = rows.floats(9, 1).unwrap();
        let norm: f32 = row.iter().map(|x| x * x).sum();
        assert!((norm - 1.0).abs() < 1e-3, "{norm}");
        let queries = npy::Table::of_floats(&folder.path().join("queries.npy")).unwrap();
        // Equal texts are asked once: the file offers fewer here.
        assert!((5..=8).contains(&queries.rows), "{}", queries.rows);
        assert_eq!(queries.dim, rows.dim);
    }
}
