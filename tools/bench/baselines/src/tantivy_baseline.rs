//! tantivy: one joined field, one segment, the ten best by BM25.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, QueryParser, TermQuery};
use tantivy::schema::{
    Field as SchemaField, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::WhitespaceTokenizer;
use tantivy::{Index, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, Term};

use crate::lines::{self, Query};
use crate::summary;

pub(crate) const HITS: usize = 10;
const PASSES: usize = 5;
pub(crate) const WRITER_THREADS: usize = 2;
pub(crate) const WRITER_BYTES: usize = 512 << 20;

/// What the joined field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    /// Terms made by somebody else, split at spaces; a query is the OR of its terms.
    ReadyTerms,
    /// Title, path and text through tantivy's English analyser; queries by its parser.
    OwnAnalysis,
}

impl Field {
    fn name(self) -> &'static str {
        match self {
            Field::ReadyTerms => "tantivy 0.27, same token stream",
            Field::OwnAnalysis => "tantivy 0.27, its English analyser",
        }
    }

    fn tokenizer(self) -> &'static str {
        match self {
            Field::ReadyTerms => "ready",
            Field::OwnAnalysis => "en_stem",
        }
    }
}

/// An index on disk with the fields that are asked.
struct Built {
    index: Index,
    joined: SchemaField,
    seconds: f64,
    chunks: u64,
}

/// Indexes the chunks, asks the queries and gives the figures as one JSON object.
pub(crate) fn run(chunks: &Path, queries: &[Query], folder: &Path, field: Field) -> Result<Value> {
    let built = build(chunks, folder, field)?;
    let reader = built
        .index
        .reader_builder()
        .reload_policy(ReloadPolicy::Manual)
        .try_into()?;
    let searcher = reader.searcher();
    let [search, text] = [false, true].map(|with_text| {
        let times = ask_all(&built, &searcher, queries, field, with_text)?;
        Ok::<_, anyhow::Error>((summary::microseconds(times.0), times.1))
    });
    let ((search, hits), (text, _)) = (search?, text?);
    Ok(json!({
        "name": field.name(),
        "chunks": built.chunks,
        "segments": searcher.segment_readers().len(),
        "hits": hits,
        "index_seconds": built.seconds,
        "index_bytes": folder_bytes(folder)?,
        "search_p50_us": search[0],
        "search_p95_us": search[1],
        "search_mean_us": search[2],
        "text_p50_us": text[0],
        "text_p95_us": text[1],
        "text_mean_us": text[2],
    }))
}

fn build(chunks: &Path, folder: &Path, field: Field) -> Result<Built> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(field.tokenizer())
        .set_index_option(IndexRecordOption::WithFreqs);
    let joined = schema.add_text_field(
        "joined",
        TextOptions::default().set_indexing_options(indexing),
    );
    let stored = schema.add_text_field("text", STORED);
    let index = Index::create_in_dir(folder, schema.build())?;
    index
        .tokenizers()
        .register("ready", WhitespaceTokenizer::default());

    let start = Instant::now();
    let mut writer: IndexWriter = index.writer_with_num_threads(WRITER_THREADS, WRITER_BYTES)?;
    let mut count = 0;
    lines::for_each_chunk(chunks, |chunk| {
        let value = match field {
            Field::ReadyTerms => chunk.terms,
            Field::OwnAnalysis => format!("{}\n{}\n{}", chunk.title, chunk.path, chunk.text),
        };
        let mut document = TantivyDocument::default();
        document.add_text(joined, value);
        document.add_text(stored, chunk.text);
        writer.add_document(document)?;
        count += 1;
        Ok(())
    })?;
    writer.commit()?;
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.wait_merging_threads()?;
    Ok(Built {
        index,
        joined,
        seconds: start.elapsed().as_secs_f64(),
        chunks: count,
    })
}

/// Times of all queries in all passes but the first, and the most hits that one got.
fn ask_all(
    built: &Built,
    searcher: &Searcher,
    queries: &[Query],
    field: Field,
    with_text: bool,
) -> Result<(Vec<Duration>, usize)> {
    let parser = QueryParser::for_index(&built.index, vec![built.joined]);
    let mut times = Vec::with_capacity(PASSES * queries.len());
    let mut most_hits = 0;
    for pass in 0..=PASSES {
        for query in queries {
            let start = Instant::now();
            let collector = TopDocs::with_limit(HITS).order_by_score();
            let best = match field {
                Field::ReadyTerms => searcher.search(&any_of(built.joined, query), &collector)?,
                Field::OwnAnalysis => {
                    searcher.search(&parser.parse_query_lenient(&query.text).0, &collector)?
                }
            };
            if with_text {
                for (_, address) in &best {
                    std::hint::black_box(searcher.doc::<TantivyDocument>(*address)?);
                }
            }
            let elapsed = start.elapsed();
            most_hits = most_hits.max(best.len());
            if pass > 0 {
                times.push(elapsed);
            }
        }
    }
    Ok((times, most_hits))
}

/// The OR of all terms of the query.
pub(crate) fn any_of(joined: SchemaField, query: &Query) -> BooleanQuery {
    let clauses = query.terms.iter().map(|term| {
        let term = Term::from_field_text(joined, term);
        let clause = TermQuery::new(term, IndexRecordOption::WithFreqs);
        (
            Occur::Should,
            Box::new(clause) as Box<dyn tantivy::query::Query>,
        )
    });
    BooleanQuery::new(clauses.collect())
}

/// Bytes of all files of an index.
pub(crate) fn folder_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}
