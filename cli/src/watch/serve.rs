//! Keeps the files of `kb mcp --allow-write` and `kb serve --allow-write` up to date while they are served. Each file has a follower for its folders,
//! which is replaced when the list of folders changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use kb_engine::{Error, IndexOptions, Kb, Progress, Report};
use kb_mcp::Note;

use crate::failure::Failure;
use crate::watch::embedding::Embedding;
use crate::watch::events::{Signal, Watch, WatchedPath};
use crate::watch::follower::{Follower, Listener, unwatchable};

/// How often the list of folders is read from the file.
const TICK: Duration = Duration::from_secs(2);

/// Follows the sources of one file on threads beside the server, which end with the process: a run
/// that is not committed leaves the file as it was.
///
/// `verb`: the command that serves it. `allowed`: the folders that may be indexed, without symbolic links. Which folders a file was made from
/// stands in it, and whoever wrote it may have named any. `with_sealed`: a sealed file is followed too, and is
/// no longer sealed after its first change.
pub(crate) fn follow(
    verb: &'static str,
    name: &str,
    file: &Path,
    allowed: &[PathBuf],
    with_sealed: bool,
    note: &Note,
) {
    let served = ServedFile {
        verb,
        name: name.to_owned(),
        file: file.to_path_buf(),
        allowed: allowed.to_vec(),
        with_sealed,
        note: Arc::clone(note),
    };
    let thread = thread::Builder::new().name("watch".to_owned());
    if let Err(error) = thread.spawn(move || served.run()) {
        note(&format!("{name} is not watched: {error}"));
    }
}

/// A file that a server keeps up to date, on a thread of its own.
#[derive(Clone)]
struct ServedFile {
    verb: &'static str,
    name: String,
    file: PathBuf,
    allowed: Vec<PathBuf>,
    with_sealed: bool,
    note: Note,
}

/// A follower on its thread.
struct FollowerThread {
    cancel: Arc<AtomicBool>,
    interrupt: Sender<Signal>,
    thread: JoinHandle<()>,
}

impl FollowerThread {
    fn stop(self) {
        self.cancel.store(true, Ordering::Relaxed);
        // A follower that has ended has dropped its receiver.
        let _ = self.interrupt.send(Signal::Interrupt);
        let _ = self.thread.join();
    }
}

impl ServedFile {
    /// Runs a follower for the sources that the file names now, as long as the process lives.
    fn run(&self) {
        let kb = match Kb::open(&self.file) {
            Ok(kb) => kb,
            Err(error) => return self.log(&format!("not watched: {error}")),
        };
        let mut followed: Option<Vec<PathBuf>> = None;
        let mut running: Option<FollowerThread> = None;
        if !self.with_sealed {
            self.wait_while_sealed(&kb);
        }
        let served = self.clone();
        let embedding = Embedding::start(&self.file, None, move |text| served.log(text));
        let mut embedded = None;
        loop {
            // Uploads count too, not only what the follower of the folders finds.
            let commit = kb.state().ok().map(|state| state.commit);
            if let Ok(embedding) = &embedding
                && commit.is_some()
                && commit != embedded
            {
                embedding.wake();
                embedded = commit;
            }
            // A file that cannot be read now is tried again at the next tick.
            if let Ok(sources) = sources(&kb)
                && followed.as_ref() != Some(&sources)
            {
                if let Some(running) = running.take() {
                    running.stop();
                }
                running = self.start(&sources).unwrap_or_else(|failure| {
                    self.log_failure(&failure);
                    None
                });
                followed = Some(sources);
            }
            thread::sleep(TICK);
        }
    }

    /// Returns when the file is not sealed (any more): an upload or an index run ended that.
    fn wait_while_sealed(&self, kb: &Kb) {
        let mut checked = None;
        loop {
            let commit = kb.state().ok().map(|state| state.commit);
            if commit.is_some() && commit != checked {
                if kb.info().is_ok_and(|info| info.content_root.is_none()) {
                    return;
                }
                if checked.is_none() {
                    self.log("not watched: the file is sealed; --watch also watches sealed files");
                }
                checked = commit;
            }
            thread::sleep(TICK);
        }
    }

    /// Starts a follower; `None` when no source exists and may be followed.
    fn start(&self, sources: &[PathBuf]) -> Result<Option<FollowerThread>, Failure> {
        let mut paths = Vec::new();
        for source in sources {
            match WatchedPath::new(source) {
                Ok(path) if is_moved(source, &path) => self.log(&format!(
                    "{} is not watched: it is a link to another folder",
                    source.display()
                )),
                Ok(path) if !self.is_allowed(&path) => self.log(&format!(
                    "{} is not watched: it is outside the folders that may be indexed; add it with `{} \
                     --allow-root`",
                    source.display(),
                    self.verb
                )),
                Ok(_) if !self.is_ours(source) => self.log(&format!(
                    "the folder {} is not watched: it has the name of a root of this sealed file, but other \
                     content; `kb watch FOLDER -o {}` watches it anyway",
                    source.display(),
                    self.file.display()
                )),
                Ok(path) => paths.push(path),
                Err(_) => self.log(&format!("{} does not exist", source.display())),
            }
        }
        if paths.is_empty() {
            self.log("no folder to watch yet");
            return Ok(None);
        }
        // Checked again at each run: a folder that becomes a link leads nowhere.
        let within = paths.iter().map(|path| path.folder.clone()).collect();
        let (sender, signals) = mpsc::channel();
        let interrupt = sender.clone();
        let watch = Watch::new(paths, &self.file, sender, signals).map_err(unwatchable)?;
        let cancel: Arc<AtomicBool> = Arc::default();
        let listener = ServerListener {
            served: self.clone(),
            sources: sources.to_vec(),
            reported_lost: false,
        };
        let mut follower = Follower::new(
            self.file.clone(),
            watch,
            IndexOptions::new().within(Some(within)),
            Arc::clone(&cancel),
            listener,
        );
        let served = self.clone();
        let thread = thread::Builder::new().name("follow".to_owned());
        let thread = thread.spawn(move || {
            if let Err(failure) = follower.follow() {
                served.log_failure(&failure);
            }
        });
        Ok(Some(FollowerThread {
            cancel,
            interrupt,
            thread: thread.map_err(|error| Failure::io("start a thread", &error))?,
        }))
    }

    fn is_allowed(&self, path: &WatchedPath) -> bool {
        let mut allowed = self.allowed.iter();
        allowed.any(|allowed| path.folder.starts_with(allowed))
    }

    /// Whether a folder is one that the file was made from. A sealed file has only the name of it, and
    /// any folder of that name may be in the working folder.
    fn is_ours(&self, source: &Path) -> bool {
        if source.is_absolute() {
            return true;
        }
        let checked = Kb::open(&self.file).and_then(|kb| {
            kb.check_sources(
                &[source.to_path_buf()],
                &IndexOptions::default(),
                &mut Progress::ignore,
            )
        });
        checked.is_ok_and(|report| report.similar_roots.is_empty())
    }

    fn log_failure(&self, failure: &Failure) {
        if let Failure::Reported(report) = failure {
            self.log(&format!("no longer watched: {}", report.message));
        }
    }

    fn log(&self, text: &str) {
        (self.note)(&format!("{}: {text}", self.name));
    }
}

/// Whether a link leads from a source, which has none in its path, to somewhere else.
fn is_moved(source: &Path, path: &WatchedPath) -> bool {
    source.is_absolute() && path.folder != source && Some(&*path.folder) != source.parent()
}

/// The folders and files that a .kb is made from.
fn sources(kb: &Kb) -> kb_engine::Result<Vec<PathBuf>> {
    let mut sources = Vec::new();
    for root in kb.roots()? {
        let folder = Path::new(&root.source);
        match root.files.as_slice() {
            [] => sources.push(folder.to_path_buf()),
            files => sources.extend(files.iter().map(|file| folder.join(file))),
        }
    }
    Ok(sources)
}

/// Logs to stderr: stdout belongs to the protocol.
struct ServerListener {
    served: ServedFile,
    sources: Vec<PathBuf>,
    /// Whether the loss of the file was reported.
    reported_lost: bool,
}

impl Listener for ServerListener {
    fn is_wanted(&self) -> bool {
        let now = Kb::open(&self.served.file).and_then(|kb| sources(&kb));
        now.is_ok_and(|now| now == self.sources)
    }

    fn lost(&mut self, _: &Path) -> Result<(), Failure> {
        if !std::mem::replace(&mut self.reported_lost, true) {
            self.served
                .log("the file was moved or removed; it is watched again once it is back");
        }
        Ok(())
    }

    fn up_to_date(&mut self, report: &Report, _: bool) -> Result<(), Failure> {
        self.reported_lost = false;
        if report.has_changes() {
            let (added, updated) = (report.added.len(), report.updated.len());
            let removed = report.removed.len();
            self.served.log(&format!("+{added} ~{updated} -{removed}"));
        }
        Ok(())
    }

    fn waiting(&mut self, _: &str) {
        // A client that uploads holds the file for a moment: not worth a line.
    }

    fn warning(&mut self, text: &str) {
        self.served.log(text);
    }

    fn explain(&self, error: Error) -> Failure {
        Failure::from_engine(error, self.served.verb, &self.served.file)
    }
}
