//! Embeds new and changed documents by the models of the columns of a file, beside what keeps the file up to date.
//!
//! The file is locked for commits only, so that index runs and uploads go on while a model works.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use kb_embedders::OneNamed;
use kb_engine::{ColumnUpdate, Error, Kb, KbWriter, ReembedOptions, ReembedReport, TextEmbedder};

use crate::models::resolver;
use crate::writer_wait::stop_if;

/// How long a commit waits for another writer.
const WRITER_TIMEOUT: Duration = Duration::from_secs(60);

/// When embedding is tried again that another writer stopped.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// A thread that embeds what waits in one file.
pub(crate) struct Embedding {
    wake: Sender<()>,
    cancel: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// What the thread goes by.
struct Worker {
    file: PathBuf,
    /// A model that was named; its column is made if there is none.
    model: Option<Arc<dyn TextEmbedder>>,
    cancel: Arc<AtomicBool>,
    /// Says what was done, and what is missing.
    note: Box<dyn Fn(&str) + Send>,
    /// What was said last of each column that could not be embedded.
    told: Vec<(String, String)>,
}

impl Embedding {
    /// Starts the thread, which waits for [`Embedding::wake`].
    pub(crate) fn start(
        file: &Path,
        model: Option<Arc<dyn TextEmbedder>>,
        note: impl Fn(&str) + Send + 'static,
    ) -> std::io::Result<Embedding> {
        let (wake, woken) = mpsc::channel();
        let cancel: Arc<AtomicBool> = Arc::default();
        let mut worker = Worker {
            file: file.to_path_buf(),
            model,
            cancel: Arc::clone(&cancel),
            note: Box::new(note),
            told: Vec::new(),
        };
        let thread = thread::Builder::new().name("embed".to_owned());
        let thread = thread.spawn(move || worker.run(&woken))?;
        Ok(Embedding {
            wake,
            cancel,
            thread,
        })
    }

    /// Has the thread look for chunks that wait.
    pub(crate) fn wake(&self) {
        // A thread that failed is gone; keeping the file up to date goes on without it.
        let _ = self.wake.send(());
    }

    /// Ends the thread; what it has embedded is in the file.
    pub(crate) fn stop(self) {
        self.cancel.store(true, Ordering::Relaxed);
        drop(self.wake);
        let _ = self.thread.join();
    }
}

impl Worker {
    fn run(&mut self, woken: &Receiver<()>) {
        let mut is_due = false;
        loop {
            let outcome = match is_due {
                true => woken.recv_timeout(RETRY_AFTER),
                false => woken.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            let is_ended = outcome == Err(RecvTimeoutError::Disconnected);
            if is_ended || self.cancel.load(Ordering::Relaxed) {
                return;
            }
            // One look is enough for all that changed until now.
            while woken.try_recv().is_ok() {}
            is_due = matches!(self.embed(), Err(Error::IndexLocked { .. }));
        }
    }

    fn embed(&mut self) -> kb_engine::Result<()> {
        let options = ReembedOptions::new();
        let mut models = resolver();
        if let Some(model) = self.model.clone() {
            let mut writer = KbWriter::open(&self.file)?.lock_timeout(WRITER_TIMEOUT);
            let done = writer.reembed(&*model, &options, &mut |_| stop_if(&self.cancel));
            match done {
                Ok(report) => self.tell_embedded(&report),
                Err(error) => self.tell_failed(error)?,
            }
            models = Arc::new(OneNamed::new(model, models));
        }
        let columns = Kb::open(&self.file)?.vector_columns()?;
        if !columns.iter().any(|column| column.card.is_some()) {
            return Ok(());
        }
        let mut writer = KbWriter::open(&self.file)?.lock_timeout(WRITER_TIMEOUT);
        let updates = writer.update_embeddings(&*models, &options, &mut |_| stop_if(&self.cancel));
        match updates {
            Ok(updates) => {
                for update in updates {
                    self.tell(update);
                }
                Ok(())
            }
            Err(error) => self.tell_failed(error),
        }
    }

    fn tell_failed(&mut self, error: Error) -> kb_engine::Result<()> {
        if !matches!(error, Error::Cancelled | Error::IndexLocked { .. }) {
            self.tell_once("", &format!("not embedded: {error}"));
        }
        Err(error)
    }

    fn tell_embedded(&mut self, report: &ReembedReport) {
        if report.embedded == 0 {
            return;
        }
        let (column, model) = (&report.column, &report.model);
        self.told.retain(|(told, _)| told != column);
        (self.note)(&format!(
            "vectors {column:?}: +{} by {model}",
            report.embedded
        ));
    }

    fn tell(&mut self, update: ColumnUpdate) {
        match update.outcome {
            Ok(report) => self.tell_embedded(&report),
            Err(error) => {
                let column = update.column;
                let text = format!("new chunks got no vectors in {column:?}: {error}");
                self.tell_once(&column, &text);
            }
        }
    }

    fn tell_once(&mut self, column: &str, text: &str) {
        let is_known = |(known, told): &(String, String)| known == column && told == text;
        if self.told.iter().any(is_known) {
            return;
        }
        self.told.retain(|(known, _)| known != column);
        self.told.push((column.to_owned(), text.to_owned()));
        (self.note)(text);
    }
}
