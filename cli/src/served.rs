//! Served files follow what they were made from, for as long as they are served: also folders that come
//! later, and none that was given up.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use kb_engine::{Error, IndexOptions, Kb, Report};
use kb_mcp::Note;

use crate::failure::Failure;
use crate::following::{Follower, Listener, unwatchable};
use crate::watching::{Place, Signal, Watch};

/// How often a file is asked which folders it is made from.
const TICK: Duration = Duration::from_secs(2);

/// Follows the sources of one file on threads beside the server, which end with the process: a run
/// that is not committed leaves the file as it was.
///
/// `allowed`: the folders that may be indexed, without symbolic links. Which folders a file was made from
/// stands in it, and whoever wrote it may have named any.
pub(crate) fn follow(name: &str, file: &Path, allowed: &[PathBuf], note: &Note) {
    let served = Served {
        name: name.to_owned(),
        file: file.to_path_buf(),
        allowed: allowed.to_vec(),
        note: Arc::clone(note),
    };
    let thread = thread::Builder::new().name("watch".to_owned());
    if let Err(error) = thread.spawn(move || served.attend()) {
        note(&format!("{name} is not watched: {error}"));
    }
}

/// One file.
#[derive(Clone)]
struct Served {
    name: String,
    file: PathBuf,
    allowed: Vec<PathBuf>,
    note: Note,
}

/// A follower at work.
struct Running {
    cancel: Arc<AtomicBool>,
    interrupt: Sender<Signal>,
    thread: JoinHandle<()>,
}

impl Running {
    fn stop(self) {
        self.cancel.store(true, Ordering::Relaxed);
        // One that has ended hears nothing.
        let _ = self.interrupt.send(Signal::Interrupt);
        let _ = self.thread.join();
    }
}

impl Served {
    /// Has a follower for the sources that the file has now, as long as the process lives.
    fn attend(&self) {
        let kb = match Kb::open(&self.file) {
            Ok(kb) => kb,
            Err(error) => return self.say(&format!("not watched: {error}")),
        };
        let mut followed: Option<Vec<PathBuf>> = None;
        let mut running: Option<Running> = None;
        loop {
            // A file that cannot be read now may be read again soon.
            if let Ok(sources) = sources(&kb)
                && followed.as_ref() != Some(&sources)
            {
                if let Some(running) = running.take() {
                    running.stop();
                }
                running = self.start(&sources).unwrap_or_else(|failure| {
                    self.tell(&failure);
                    None
                });
                followed = Some(sources);
            }
            thread::sleep(TICK);
        }
    }

    /// Follows these sources; `None` where none of them is there.
    fn start(&self, sources: &[PathBuf]) -> Result<Option<Running>, Failure> {
        let mut places = Vec::new();
        for source in sources {
            match Place::new(source) {
                Ok(place) if is_moved(source, &place) => self.say(&format!(
                    "{} is not followed: a link leads from there to another folder",
                    source.display()
                )),
                Ok(place) if !self.is_allowed(&place) => self.say(&format!(
                    "{} is not followed: it lies outside the folders that may be indexed; `kb mcp \
                     --allow-root` adds one",
                    source.display()
                )),
                Ok(_) if !self.is_ours(source) => self.say(&format!(
                    "the folder {} here is not followed: it has the name of a root of this sealed file, and \
                     other files; `kb watch FOLDER -o {}` follows a folder",
                    source.display(),
                    self.file.display()
                )),
                Ok(place) => places.push(place),
                Err(_) => self.say(&format!("{} is not there", source.display())),
            }
        }
        if places.is_empty() {
            self.say("no folder to watch yet");
            return Ok(None);
        }
        // Checked again at each run: a folder that becomes a link leads nowhere.
        let within = places.iter().map(|place| place.folder.clone()).collect();
        let (sender, signals) = mpsc::channel();
        let interrupt = sender.clone();
        let watch = Watch::new(places, &self.file, sender, signals).map_err(unwatchable)?;
        let cancel: Arc<AtomicBool> = Arc::default();
        let listener = Quiet {
            served: self.clone(),
            sources: sources.to_vec(),
            told_lost: false,
        };
        let mut follower = Follower::new(
            self.file.clone(),
            watch,
            IndexOptions {
                within: Some(within),
                ..IndexOptions::default()
            },
            Arc::clone(&cancel),
            listener,
        );
        let served = self.clone();
        let thread = thread::Builder::new().name("follow".to_owned());
        let thread = thread.spawn(move || {
            if let Err(failure) = follower.follow() {
                served.tell(&failure);
            }
        });
        Ok(Some(Running {
            cancel,
            interrupt,
            thread: thread.map_err(|error| Failure::io("start a thread", &error))?,
        }))
    }

    fn is_allowed(&self, place: &Place) -> bool {
        let mut allowed = self.allowed.iter();
        allowed.any(|allowed| place.folder.starts_with(allowed))
    }

    /// Whether a folder is one that the file was made from. A sealed file has only the name of it, and
    /// any folder of that name may be in the working folder.
    fn is_ours(&self, source: &Path) -> bool {
        if source.is_absolute() {
            return true;
        }
        let checked = Kb::open(&self.file)
            .and_then(|kb| kb.check_sources(&[source.to_path_buf()], &IndexOptions::default()));
        checked.is_ok_and(|report| report.similar_roots.is_empty())
    }

    fn tell(&self, failure: &Failure) {
        if let Failure::Reported(report) = failure {
            self.say(&format!("not watched any more: {}", report.message));
        }
    }

    fn say(&self, text: &str) {
        (self.note)(&format!("{}: {text}", self.name));
    }
}

/// Whether a link leads from a source, which has none in its path, to somewhere else.
fn is_moved(source: &Path, place: &Place) -> bool {
    source.is_absolute() && place.folder != source && Some(&*place.folder) != source.parent()
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

/// Notes what a person may want to know; stdout belongs to the protocol.
struct Quiet {
    served: Served,
    sources: Vec<PathBuf>,
    /// Whether it was told that the file is gone.
    told_lost: bool,
}

impl Listener for Quiet {
    fn is_wanted(&self) -> bool {
        let now = Kb::open(&self.served.file).and_then(|kb| sources(&kb));
        now.is_ok_and(|now| now == self.sources)
    }

    fn lost(&mut self, _: &Path) -> Result<(), Failure> {
        if !std::mem::replace(&mut self.told_lost, true) {
            self.served.say(
                "its file was moved or removed; no new one is made, and it is followed again when it is back",
            );
        }
        Ok(())
    }

    fn fresh(&mut self, report: &Report, _: bool) -> Result<(), Failure> {
        self.told_lost = false;
        if report.has_changes() {
            let (added, updated) = (report.added.len(), report.updated.len());
            let removed = report.removed.len();
            self.served.say(&format!("+{added} ~{updated} -{removed}"));
        }
        Ok(())
    }

    fn waiting(&mut self, _: &str) {
        // A client that uploads is no news.
    }

    fn warning(&mut self, text: &str) {
        self.served.say(text);
    }

    fn explain(&self, error: Error) -> Failure {
        Failure::from_engine(error, "kb mcp", &self.served.file)
    }
}
