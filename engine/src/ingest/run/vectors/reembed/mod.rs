//! Texts of chunks -> a model -> a column of vectors, commit by commit.
//!
//! The file is locked for a commit only, so that others write it while the model works. A commit takes a vector only
//! if the text of its document is still the one that was embedded.

mod options;
#[cfg(test)]
mod tests;
mod waiting;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kb_types::embedding::EmbedderResolver;
use kb_types::error::{Error, Result};
use kb_types::{EmbedError, ModelCard, ModelFile, TextEmbedder};

pub use self::options::{ColumnUpdate, ReembedOptions, ReembedReport, WaitingTexts};
use self::waiting::{WaitingChunk, document, waiting_chunks, waiting_documents};
use crate::catalog::Catalog;
use crate::container::{Container, Snapshot};
use crate::embed;
use crate::ingest::run::session::Session;
use crate::ingest::run::vector_index::lists::Columns;
use crate::ingest::run::vectors::change::Change;
use crate::ingest::run::vectors::import::import;
use crate::ingest::run::vectors::options::{NewVectors, VectorTarget};
use crate::progress::{Progress, Reporter, Stage};
use crate::store::embedding_cache::{self, CacheKey, CacheKeys};
use crate::store::meta::column_model::ColumnModel;
use crate::store::meta::kept_model;
use crate::store::vector_columns::{NAME_LIMIT_CHARS, NumberedColumn, VectorColumns, name_fault};

/// Batches whose texts are sorted by their length together: texts of one length need no padding.
const SORTED_BATCHES: usize = 8;

/// A commit waits at least so many times as long as the last one took.
// So that commits take at most an eleventh of a run, however large the file is.
const COMMIT_SHARE: u32 = 10;

/// A vector that waits for its commit.
#[derive(Debug)]
struct NewVector {
    chunk: WaitingChunk,
    vector: Vec<f32>,
    /// Where it is kept for later runs; `None` if it is kept already, or not at all.
    key: Option<CacheKey>,
}

/// What a run goes by.
struct Run<'r, 'h> {
    model: &'r dyn TextEmbedder,
    column: ColumnModel,
    name: String,
    options: &'r ReembedOptions,
    reporter: &'r Reporter<'h>,
    deadline: Option<Instant>,
    progress: Progress,
    report: ReembedReport,
    /// What names the texts that the model embedded before; `None` if nothing is kept of it.
    keys: Option<CacheKeys>,
    /// Vectors since the last commit.
    vectors: Vec<NewVector>,
    last_commit: Instant,
    commit_took: Duration,
    /// When vectors were last put into the cache alone, and how long that took.
    last_kept: Instant,
    keep_took: Duration,
}

impl Session {
    /// See [`crate::KbWriter::update_embeddings`].
    pub(crate) fn update_embeddings(
        &mut self,
        models: &dyn EmbedderResolver,
        options: &ReembedOptions,
        reporter: &Reporter<'_>,
    ) -> Result<Vec<ColumnUpdate>> {
        let columns = match Container::open(&self.path) {
            Ok(file) => file.read(VectorColumns::read)?.list,
            Err(Error::PathNotFound { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        let mut updates = Vec::new();
        for column in columns {
            let Some(of_column) = &column.model else {
                continue;
            };
            let number = column.number;
            let kept = |snapshot: &Snapshot<'_>| kept_model::read(snapshot, number);
            let mut kept = || Container::open(&self.path)?.read(kept);
            let outcome = match the_same(models, of_column, &mut kept)? {
                Ok(model) => {
                    let options = ReembedOptions {
                        name: Some(column.record.name.clone()),
                        ..options.clone()
                    };
                    Ok(self.reembed(&*model, &options, reporter)?)
                }
                Err(error) => Err(error),
            };
            updates.push(ColumnUpdate {
                column: column.record.name,
                outcome,
            });
        }
        Ok(updates)
    }

    /// See [`crate::KbWriter::reembed`].
    pub(crate) fn reembed(
        &mut self,
        model: &dyn TextEmbedder,
        options: &ReembedOptions,
        reporter: &Reporter<'_>,
    ) -> Result<ReembedReport> {
        let card = model.card();
        if let Some(fault) = card.fault() {
            return Err(invalid("embedder", format!("{card} has {fault}")));
        }
        if self.has_pending() {
            self.commit(&Reporter::silent())?;
        }
        reporter.start(Stage::Embed)?;
        let started = Instant::now();
        let probes = embed::text_probes(model).map_err(|error| embed::unavailable(card, error))?;
        let columns = Container::open(&self.path)?.read(VectorColumns::read)?;
        let name = column_name(&columns, card, options)?;
        let is_other = match columns.named(&name) {
            Some(column) => check_column(column, model, options)?,
            None => false,
        };
        if is_other {
            self.remove_vectors(&name)?;
        }
        let mut run = Run {
            model,
            column: ColumnModel {
                card: card.clone(),
                probes,
            },
            report: ReembedReport {
                column: name.clone(),
                model: card.to_string(),
                embedded: 0,
                cached: 0,
                empty: 0,
                left: 0,
                chunks: 0,
                model_time: Duration::ZERO,
                commits: 0,
                recall: None,
            },
            name,
            options,
            reporter,
            deadline: options.max_time.map(|time| started + time),
            progress: Progress::new(Stage::Embed),
            keys: CacheKeys::of(card).filter(|_| options.cache),
            vectors: Vec::new(),
            last_commit: Instant::now(),
            commit_took: Duration::ZERO,
            last_kept: Instant::now(),
            keep_took: Duration::ZERO,
        };
        let done = self.embed_waiting(&mut run);
        let is_over = matches!(
            done,
            Ok(()) | Err(Error::Cancelled | Error::EmbeddingModelUnavailable { .. })
        );
        if is_over {
            // What is embedded is kept, even where the caller stops or the model fails.
            self.commit_vectors(&mut run)?;
        }
        done?;
        if run.report.commits > 0 {
            self.build_lists(Columns::Imported, reporter);
            // Others may write the file now.
            self.open = None;
        } else {
            self.note_location(&run.name, card)?;
        }
        self.count_left(&mut run)?;
        Ok(run.report)
    }

    /// Embeds and commits until all is done or the time is over; the last vectors wait.
    fn embed_waiting(&mut self, run: &mut Run<'_, '_>) -> Result<()> {
        let file = Container::open(&self.path)?;
        let waiting = file.read(|snapshot| {
            let catalog = Catalog::load(snapshot)?;
            let column = number_of(&catalog, &run.name);
            waiting_documents(
                snapshot,
                &catalog,
                (column, run.options.folder_path()),
                &mut || run.reporter.tick(),
            )
        })?;
        run.progress.files_total = waiting.iter().map(|it| u64::from(it.chunks)).sum();
        run.reporter.report(run.progress)?;
        let batch = run.model.preferred_batch().max(1);
        let mut texts: Vec<WaitingChunk> = Vec::new();
        let mut waiting = waiting.iter().peekable();
        while let Some(next) = waiting.next() {
            let chunks = file.read(|snapshot| {
                let catalog = Catalog::load(snapshot)?;
                let column = number_of(&catalog, &run.name);
                waiting_chunks(snapshot, &catalog, column, &next.path)
            })?;
            texts.extend(chunks);
            let is_last = waiting.peek().is_none();
            while texts.len() >= batch * SORTED_BATCHES || (is_last && !texts.is_empty()) {
                let rest = texts.split_off(texts.len().min(batch * SORTED_BATCHES));
                let sorted = std::mem::replace(&mut texts, rest);
                if !self.embed_sorted(run, sorted, batch)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Embeds some chunks. False once the time is over.
    fn embed_sorted(
        &mut self,
        run: &mut Run<'_, '_>,
        chunks: Vec<WaitingChunk>,
        batch: usize,
    ) -> Result<bool> {
        let mut chunks = self.take_cached(run, chunks)?;
        chunks.sort_by_key(|chunk| chunk.text.len());
        let mut chunks = chunks.into_iter().peekable();
        while chunks.peek().is_some() {
            if run.deadline.is_some_and(|at| Instant::now() >= at) {
                return Ok(false);
            }
            let together: Vec<WaitingChunk> = chunks.by_ref().take(batch).collect();
            run.embed(together)?;
            let least = run.options.commit_after.max(run.commit_took * COMMIT_SHARE);
            let is_due = run.vectors.len() >= run.options.commit_vectors
                || run.last_commit.elapsed() >= least;
            if is_due {
                self.commit_vectors(run)?;
            } else {
                self.keep_vectors(run)?;
            }
            run.reporter.report(run.progress)?;
        }
        Ok(true)
    }

    /// Takes the vectors of texts that the model embedded before; returns the other chunks.
    fn take_cached(
        &self,
        run: &mut Run<'_, '_>,
        chunks: Vec<WaitingChunk>,
    ) -> Result<Vec<WaitingChunk>> {
        let Some(keys) = run.keys else {
            return Ok(chunks);
        };
        let dimension = run.column.card.dimension;
        let found = Container::open(&self.path)?.read(|snapshot| {
            let texts = chunks.iter().map(|chunk| keys.key(&chunk.text));
            texts
                .map(|key| embedding_cache::get(snapshot, &key, dimension))
                .collect::<Result<Vec<Option<Vec<f32>>>>>()
        })?;
        let mut others = Vec::new();
        for (chunk, vector) in chunks.into_iter().zip(found) {
            let Some(vector) = vector else {
                others.push(chunk);
                continue;
            };
            run.progress.files_done += 1;
            run.report.cached += 1;
            let key = None;
            run.vectors.push(NewVector { chunk, vector, key });
        }
        Ok(others)
    }

    /// Puts the vectors that wait into the cache, where a run finds them that follows a killed one. The column gets them
    /// later, because that writes it again in each segment.
    fn keep_vectors(&mut self, run: &mut Run<'_, '_>) -> Result<()> {
        let is_due = run.last_kept.elapsed() >= run.keep_took * COMMIT_SHARE;
        if run.keys.is_none() || !is_due {
            return Ok(());
        }
        let started = Instant::now();
        let kept = self.change_cache(|transaction| {
            for new in &mut run.vectors {
                if let Some(key) = new.key.take() {
                    embedding_cache::put(transaction, &key, &new.vector)?;
                }
            }
            Ok(())
        });
        self.open = None;
        run.keep_took = started.elapsed();
        run.last_kept = Instant::now();
        match kept {
            // The next batch tries again.
            Err(Error::IndexLocked { .. }) => Ok(()),
            kept => kept,
        }
    }

    /// Commits the vectors that wait, but those of documents that were changed since.
    fn commit_vectors(&mut self, run: &mut Run<'_, '_>) -> Result<()> {
        let vectors = std::mem::take(&mut run.vectors);
        if vectors.is_empty() {
            return Ok(());
        }
        let started = Instant::now();
        let mut options = NewVectors {
            codec: run.options.codec,
            // Another process may have embedded the same chunk.
            replace: true,
            ..NewVectors::new(&run.name)
        };
        let column = &run.column;
        // Without the hook: what is embedded is kept, and a commit takes a moment.
        let reporter = &Reporter::silent();
        let imported = self.change_vectors(reporter, |change| {
            let vectors = current(&change, vectors)?;
            if vectors.is_empty() {
                return Ok((None, false));
            }
            for new in &vectors {
                if let Some(key) = &new.key {
                    embedding_cache::put(change.transaction, key, &new.vector)?;
                }
            }
            if change.catalog.vector_columns.named(&options.name).is_none() {
                options.model = column.card.to_string();
            }
            let mut rows = vectors.into_iter().map(|new| {
                let target = VectorTarget::Chunk {
                    document: new.chunk.path,
                    index: new.chunk.index,
                };
                Ok((target, new.vector))
            });
            let report = import(change, &options, Some(column), &mut rows, reporter)?;
            Ok((Some(report), true))
        })?;
        if let Some(imported) = imported {
            run.report.embedded += imported.rows;
            run.report.recall = imported.recall;
            run.report.commits += 1;
        }
        // The lock is for others while the model works.
        self.open = None;
        run.commit_took = started.elapsed();
        run.last_commit = Instant::now();
        Ok(())
    }

    /// Stores where the model of a column is now; a commit with vectors does so anyway.
    fn note_location(&mut self, name: &str, card: &ModelCard) -> Result<()> {
        let file = Container::open(&self.path)?;
        let columns = file.read(VectorColumns::read)?;
        let known = columns
            .named(name)
            .and_then(|column| column.model.as_ref())
            .map(|model| &model.card.location);
        if known.is_none_or(|known| *known == card.location) {
            return Ok(());
        }
        self.change_vectors(&Reporter::silent(), |change| {
            let mut columns = change.catalog.vector_columns.clone();
            let mut known = columns.list.iter_mut();
            let known = known.find(|column| column.record.name == name);
            if let Some(model) = known.and_then(|column| column.model.as_mut()) {
                model.card.location.clone_from(&card.location);
            }
            columns.write(change.transaction)?;
            Ok(((), true))
        })?;
        self.open = None;
        Ok(())
    }

    /// Counts the chunks that still wait.
    fn count_left(&self, run: &mut Run<'_, '_>) -> Result<()> {
        let file = Container::open(&self.path)?;
        let (left, chunks) = file.read(|snapshot| {
            let catalog = Catalog::load(snapshot)?;
            let column = number_of(&catalog, &run.name);
            let waiting = waiting_documents(
                snapshot,
                &catalog,
                (column, run.options.folder_path()),
                &mut || Ok(()),
            )?;
            let left: u64 = waiting.iter().map(|it| u64::from(it.chunks)).sum();
            Ok((left, catalog.meta.chunks))
        })?;
        run.report.left = left.saturating_sub(run.report.empty);
        run.report.chunks = chunks;
        Ok(())
    }
}

impl Run<'_, '_> {
    /// Embeds one batch.
    fn embed(&mut self, chunks: Vec<WaitingChunk>) -> Result<()> {
        let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
        let started = Instant::now();
        let vectors = embed::passages(self.model, &texts);
        self.report.model_time += started.elapsed();
        let card = &self.column.card;
        let vectors = vectors.map_err(|error| embed::unavailable(card, error))?;
        let width = (card.dimension as usize).max(1);
        self.progress.files_done += chunks.len() as u64;
        for (chunk, vector) in chunks.into_iter().zip(vectors.chunks_exact(width)) {
            if vector.iter().all(|number| *number == 0.0) {
                self.report.empty += 1;
                continue;
            }
            self.vectors.push(NewVector {
                key: self.keys.map(|keys| keys.key(&chunk.text)),
                chunk,
                vector: vector.to_vec(),
            });
        }
        Ok(())
    }
}

/// The model of a column, if it is at hand and still the same.
fn the_same(
    models: &dyn EmbedderResolver,
    column: &ColumnModel,
    kept: &mut dyn FnMut() -> Result<Option<Vec<ModelFile>>>,
) -> Result<std::result::Result<Arc<dyn TextEmbedder>, EmbedError>> {
    let found = embed::find(models, &column.card, kept)?;
    Ok(found.and_then(
        |model| match embed::verify_text_probes(&*model, &column.probes)? {
            true => Ok(model),
            false => Err(EmbedError::Unfit {
                reason: embed::changed(&column.card),
            }),
        },
    ))
}

/// The vectors of documents that are as they were when they were embedded.
fn current(change: &Change<'_, '_>, vectors: Vec<NewVector>) -> Result<Vec<NewVector>> {
    let (mut same, mut other) = (HashSet::new(), HashSet::new());
    let mut current = Vec::with_capacity(vectors.len());
    for new in vectors {
        let chunk = &new.chunk;
        if !same.contains(&chunk.path) && !other.contains(&chunk.path) {
            let now = document(change.snapshot, change.catalog, &chunk.path)?;
            let is_same = now.is_some_and(|(_, record)| {
                record.text_hash == chunk.text_hash && record.rows == chunk.rows
            });
            let known = if is_same { &mut same } else { &mut other };
            known.insert(chunk.path.clone());
        }
        if same.contains(&chunk.path) {
            current.push(new);
        }
    }
    Ok(current)
}

/// The name of the column that a run fills.
fn column_name(
    columns: &VectorColumns,
    card: &ModelCard,
    options: &ReembedOptions,
) -> Result<String> {
    if let Some(name) = &options.name {
        return match name_fault(name) {
            Some(fault) => Err(invalid("name", format!("{name:?}: {fault}"))),
            None => Ok(name.clone()),
        };
    }
    let mut made = columns.list.iter().filter_map(|column| {
        let model = column.model.as_ref()?;
        model.card.is_same_model(card).then_some(column)
    });
    if let Some(column) = made.next() {
        return Ok(column.record.name.clone());
    }
    let name: String = card.name.chars().filter(|c| !c.is_control()).collect();
    let name: String = name.trim().chars().take(NAME_LIMIT_CHARS).collect();
    Ok(match name_fault(name.trim_end()) {
        None => name.trim_end().to_owned(),
        // A model may have any name.
        Some(_) => card.source.clone(),
    })
}

/// Whether a column has vectors of another model, and is to be removed for that.
fn check_column(
    column: &NumberedColumn,
    model: &dyn TextEmbedder,
    options: &ReembedOptions,
) -> Result<bool> {
    let (name, card) = (&column.record.name, model.card());
    let reason = match &column.model {
        Some(of_column) if of_column.card.is_same_model(card) => {
            let is_same = embed::verify_text_probes(model, &of_column.probes);
            match is_same.map_err(|error| embed::unavailable(card, error))? {
                true => return Ok(false),
                false => embed::changed(card),
            }
        }
        Some(of_column) => format!("its vectors are by {}", of_column.card),
        None => "its vectors were imported".to_owned(),
    };
    if options.replace {
        return Ok(true);
    }
    Err(invalid(
        "name",
        format!("{name:?}: {reason}; choose another name, or replace the column"),
    ))
}

/// The number of a column by its name; `None`: it is not there yet.
fn number_of(catalog: &Catalog, name: &str) -> Option<u16> {
    let column = catalog.vector_columns.named(name);
    column.map(|column| column.number)
}

fn invalid(argument: &'static str, reason: String) -> Error {
    Error::InvalidArgument { argument, reason }
}
