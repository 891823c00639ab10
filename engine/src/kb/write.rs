//! [`KbWriter`]: makes or changes one .kb.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::container::{Container, ContainerWriter, Opener, Transaction};
use crate::embed::{self, Embedder};
use crate::error::{Error, Result};
use crate::index::text::ANALYSER_ID;
use crate::ingest::batch::Batch;
use crate::ingest::pipeline::{self, Outcome};
use crate::ingest::prepare::{Cut, Prepared, Preparer, Source};
use crate::ingest::report::{IndexOptions, Progress, Report, Skipped, Stage};
use crate::ingest::walk::{self, SourceFile, WalkOptions, now_ms};
use crate::ingest::{chunk, extract, roots};
use crate::kb::carry;
use crate::search::catalog::Catalog;
use crate::store::documents::Documents;
use crate::store::meta::{ChunkerRecord, EmbedderRecord, Manifest, Meta, ProbeRecord};
use crate::types::Document;

/// What a file and a lock say of their writer.
const PROGRAM: &str = concat!("kb ", env!("CARGO_PKG_VERSION"));

/// Makes or changes one .kb. Nothing is visible before [`KbWriter::commit`] or the end of
/// [`KbWriter::index`]; dropping the writer earlier leaves everything as it was.
///
/// ```
/// use kb_engine::{IndexOptions, Kb, KbWriter};
///
/// # fn main() -> kb_engine::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let sources = folder.path().join("notes");
/// # std::fs::create_dir(&sources).unwrap();
/// # std::fs::write(sources.join("bread.md"), "# Bread\n\nFlour and patience.\n").unwrap();
/// # let path = folder.path().join("notes.kb");
/// let mut writer = KbWriter::open_or_create(&path)?;
/// let report = writer.index(&[sources], &IndexOptions::default(), &mut |_| {})?;
/// assert_eq!(report.documents, 1);
///
/// let mut writer = KbWriter::open_or_create(&path)?;
/// writer.add_bytes("tides.md", b"The moon pulls the sea.")?;
/// writer.commit()?;
/// assert_eq!(Kb::open(&path)?.info()?.documents, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct KbWriter {
    /// Where the .kb is or will be.
    path: PathBuf,
    /// The .kb as it is; none while it does not exist.
    existing: Option<Container>,
    /// Cuts, analyses and embeds added documents.
    preparer: Preparer<'static>,
    /// Added documents, not yet written.
    pending: Vec<Prepared>,
    /// Their paths.
    pending_paths: BTreeSet<String>,
}

impl KbWriter {
    /// Opens the .kb at `path` for changing, or will make a new one there. A new file is built under
    /// a temporary name in the same folder and renamed when it is complete.
    ///
    /// # Errors
    /// [`Error::PathNotFound`] when its folder does not exist; [`Error::NotAKb`] when the path holds
    /// something else; [`Error::Damaged`], [`Error::FormatUnsupported`], [`Error::Io`].
    pub fn open_or_create(path: impl AsRef<Path>) -> Result<KbWriter> {
        let path = path.as_ref().to_path_buf();
        let existing = match path.symlink_metadata() {
            Ok(_) => Some(Container::open(&path)?),
            Err(_) => match path.parent() {
                Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
                    let path = folder.to_path_buf();
                    return Err(Error::PathNotFound { path });
                }
                _ => None,
            },
        };
        let model = embed::built_in();
        Ok(KbWriter {
            path,
            existing,
            preparer: Preparer::new(model, model.quantiser_range()),
            pending: Vec::new(),
            pending_paths: BTreeSet::new(),
        })
    }

    /// Adds a document; it is written at [`KbWriter::commit`] and kept in memory until then.
    ///
    /// # Errors
    /// [`Error::DocumentExists`] when the .kb or an earlier call has its path,
    /// [`Error::InvalidArgument`] when the path is empty.
    pub fn add(&mut self, document: Document) -> Result<()> {
        self.prepare(document, Cut::Chunks)
    }

    /// Adds a document as one chunk whose path is not searched: to measure ranking alone.
    ///
    /// # Errors
    /// As [`KbWriter::add`].
    pub fn add_uncut(&mut self, document: Document) -> Result<()> {
        self.prepare(document, Cut::Whole)
    }

    /// Adds the content of a file, read as the ending of `path` says.
    ///
    /// # Errors
    /// As [`KbWriter::add`]; [`Error::InvalidArgument`] when no text can be taken from the bytes.
    pub fn add_bytes(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        let document = extract::extract(path, bytes).map_err(|reason| Error::InvalidArgument {
            argument: "document",
            reason: format!("{path:?}: {reason}"),
        })?;
        self.add(document)
    }

    fn prepare(&mut self, document: Document, cut: Cut) -> Result<()> {
        if document.path.is_empty() {
            let reason = "it is empty; a document needs a name".to_owned();
            return Err(Error::InvalidArgument {
                argument: "path",
                reason,
            });
        }
        if self.pending_paths.contains(&document.path) || self.stored(&document.path)? {
            return Err(Error::DocumentExists {
                path: document.path,
            });
        }
        let source = Source {
            root: None,
            size_bytes: document.text.len() as u64,
            modified_ms: 0,
            hash: *blake3::hash(document.text.as_bytes()).as_bytes(),
        };
        self.pending_paths.insert(document.path.clone());
        self.pending
            .push(self.preparer.prepare(document, source, cut)?);
        Ok(())
    }

    fn stored(&self, path: &str) -> Result<bool> {
        let Some(existing) = &self.existing else {
            return Ok(false);
        };
        existing.read(|snapshot| {
            let documents = Documents::locate(snapshot)?;
            Ok(documents.by_path(snapshot, path)?.is_some())
        })
    }

    /// Writes what was added as one commit and closes the file. A .kb that did not exist appears
    /// now, also when nothing was added.
    ///
    /// # Errors
    /// [`Error::IndexLocked`] while another process writes the file; [`Error::DocumentExists`] when
    /// another process added such a path meanwhile; [`Error::Storage`] when the disk refuses. The
    /// old state stands after every error.
    pub fn commit(mut self) -> Result<()> {
        self.pending
            .sort_by(|a, b| a.document.path.cmp(&b.document.path));
        let pending = std::mem::take(&mut self.pending);
        if self.existing.is_none() {
            let mut writer = ContainerWriter::create(&self.path, &opener())?;
            // Another process may have made the file since it was looked for: that is added to.
            if !writer.replaces() {
                write_all(
                    &mut writer,
                    Batch::new(fresh_meta()?, first_manifest()),
                    &pending,
                )?;
                return writer.finish();
            }
        }
        if pending.is_empty() {
            return Ok(());
        }
        let mut writer = ContainerWriter::open(&self.path, &opener())?;
        self.existing = Some(Container::open(&self.path)?);
        for document in &pending {
            if self.stored(&document.document.path)? {
                return Err(Error::DocumentExists {
                    path: document.document.path.clone(),
                });
            }
        }
        let reader = self.existing.as_ref().ok_or(Error::WriterFailed)?;
        // All records, so that nothing is added to what no reader could answer from.
        let Catalog { meta, manifest, .. } = reader.read(Catalog::load)?;
        check_model(&meta)?;
        write_all(&mut writer, Batch::new(meta, manifest), &pending)?;
        writer.finish()
    }

    /// Makes the .kb hold what the folders and files in `paths` hold now, beside the documents that
    /// were added by name. One commit: readers see the old state or the new one. `progress` hears
    /// how far it has come, on this thread. When there is nothing to hold, nothing is written: the
    /// report says 0 documents and the old state stands.
    ///
    /// # Errors
    /// [`Error::PathNotFound`]; [`Error::RootsDiffer`] when the .kb was made from other paths;
    /// [`Error::Cancelled`] when asked to stop; [`Error::Storage`], [`Error::Io`]. The old state
    /// stands after every error.
    pub fn index(
        &mut self,
        paths: &[PathBuf],
        options: &IndexOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Report> {
        let started = Instant::now();
        let mut meta = fresh_meta()?;
        let mut carried = std::mem::take(&mut self.pending);
        self.pending_paths.clear();
        let mut known = Vec::new();
        let mut manifest = first_manifest();
        // Locks the file that will be replaced, so what is read of it below is what is replaced.
        let mut writer = ContainerWriter::create(&self.path, &opener())?;
        match Container::open(&self.path) {
            Ok(existing) => existing.read(|snapshot| {
                let catalog = Catalog::load(snapshot)?;
                known.clone_from(&catalog.meta.roots);
                meta.created_ms = catalog.meta.created_ms;
                // Numbers go on, so that none ever means two things.
                manifest = Manifest {
                    segments: Vec::new(),
                    ..catalog.manifest.clone()
                };
                carry::added_documents(snapshot, &catalog, &mut self.preparer, &mut carried)
            })?,
            Err(Error::PathNotFound { .. }) => {}
            // What cannot be read must not be replaced: it may hold what only it has.
            Err(error) => return Err(error),
        }
        carried.sort_by(|a, b| a.document.path.cmp(&b.document.path));
        let (roots, records) = roots::resolve(paths, &known)?;
        meta.roots = records;

        progress(Progress::at(Stage::Walk));
        let walk_options = WalkOptions {
            max_file_bytes: options.max_file_bytes,
            cancel: options.cancel.as_deref(),
        };
        let walked = walk::walk(&roots, &walk_options)?;
        options.check_cancel()?;
        let mut run = Run::new(&walked.files, walked.skipped, progress);
        let mut batch = Batch::new(meta, manifest);
        let mut transaction = writer.begin()?;
        let mut carried = carried.iter().peekable();
        let (model, range) = (embed::built_in(), embed::built_in().quantiser_range());
        pipeline::prepare_in_order(&walked.files, model, range, options, |file, outcome| {
            let path = file.document_path.as_str();
            while let Some(added) = carried.next_if(|added| added.document.path.as_str() < path) {
                batch.add(&mut transaction, added)?;
            }
            if let Outcome::Prepared(prepared) = &outcome {
                carried.next_if(|added| added.document.path == path);
                batch.add(&mut transaction, prepared)?;
            }
            run.done(file, outcome);
            Ok(())
        })?;
        for added in carried {
            batch.add(&mut transaction, added)?;
        }
        options.check_cancel()?;
        if batch.meta().documents == 0 {
            return Ok(run.report(batch.meta(), started.elapsed()));
        }
        run.report_stage(Stage::Write);
        let meta = batch.finish(&mut transaction, now_ms())?;
        transaction.commit()?;
        options.check_cancel()?;
        writer.finish()?;
        self.existing = Some(Container::open(&self.path)?);
        Ok(run.report(&meta, started.elapsed()))
    }
}

/// Keeps count during an index run.
struct Run<'r> {
    progress: &'r mut dyn FnMut(Progress),
    now: Progress,
    skipped: Vec<Skipped>,
    bytes_read: u64,
}

impl<'r> Run<'r> {
    fn new(
        files: &[SourceFile],
        skipped: Vec<Skipped>,
        progress: &'r mut dyn FnMut(Progress),
    ) -> Run<'r> {
        let now = Progress {
            files_total: files.len() as u64,
            bytes_total: files.iter().map(|file| file.size_bytes).sum(),
            ..Progress::at(Stage::Index)
        };
        progress(now);
        Run {
            progress,
            now,
            skipped,
            bytes_read: 0,
        }
    }

    fn done(&mut self, file: &SourceFile, outcome: Outcome) {
        self.now.files_done += 1;
        self.now.bytes_done += file.size_bytes;
        match outcome {
            Outcome::Prepared(prepared) => self.bytes_read += prepared.source.size_bytes,
            Outcome::Skipped(skipped) => self.skipped.push(skipped),
        }
        (self.progress)(self.now);
    }

    fn report(self, meta: &Meta, elapsed: Duration) -> Report {
        Report {
            documents: meta.documents,
            chunks: meta.chunks,
            source_bytes: self.bytes_read,
            text_bytes: meta.text_bytes,
            skipped: self.skipped,
            elapsed,
        }
    }

    fn report_stage(&mut self, stage: Stage) {
        self.now.stage = stage;
        (self.progress)(self.now);
    }
}

fn write_all(writer: &mut ContainerWriter, mut batch: Batch, documents: &[Prepared]) -> Result<()> {
    let mut transaction: Transaction<'_> = writer.begin()?;
    for document in documents {
        batch.add(&mut transaction, document)?;
    }
    batch.finish(&mut transaction, now_ms())?;
    transaction.commit()?;
    Ok(())
}

/// New rows must come from the model that made the old ones.
fn check_model(meta: &Meta) -> Result<()> {
    let model = embed::built_in();
    if meta.embedder.id != model.id() || meta.embedder.hash != model.hash() {
        return Err(Error::EmbeddingModelUnavailable {
            needs: meta.embedder.id.clone(),
        });
    }
    Ok(())
}

fn opener() -> Opener {
    let unix_ms = u64::try_from(now_ms()).unwrap_or(0);
    Opener {
        program: PROGRAM.to_owned(),
        unix_ms,
        wait: Duration::ZERO,
    }
}

fn first_manifest() -> Manifest {
    Manifest {
        next_segment: 1,
        next_document: 1,
        ..Manifest::default()
    }
}

fn fresh_meta() -> Result<Meta> {
    let model = embed::built_in();
    let probes = embed::probes(model)?
        .into_iter()
        .map(|probe| ProbeRecord {
            text: probe.text,
            vector: probe.vector,
        })
        .collect();
    let now = now_ms();
    Ok(Meta {
        created_ms: now,
        updated_ms: now,
        writer: PROGRAM.to_owned(),
        roots: Vec::new(),
        embedder: EmbedderRecord {
            id: model.id().to_owned(),
            hash: model.hash(),
            dim: model.dim() as u32,
            quantiser_range: model.quantiser_range(),
            probes,
        },
        analyser: ANALYSER_ID.to_owned(),
        chunker: ChunkerRecord {
            target_bytes: chunk::TARGET_BYTES as u32,
            cap_bytes: chunk::CAP_BYTES as u32,
        },
        documents: 0,
        chunks: 0,
        text_bytes: 0,
    })
}
