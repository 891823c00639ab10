//! `kb watch`: the file follows its sources.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kb_engine::{Error, IndexOptions, KbWriter, Report};

use crate::args::WatchArguments;
use crate::changes;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::human::clock;
use crate::json::Object;
use crate::output::Output;
use crate::progress::Meter;
use crate::target::Target;
use crate::waiting::{on_interrupt, wait_for_writer, waiting_note};
use crate::watching::{Gathered, Place, Signal, Watch};

/// How often folders are looked for that vanished or were replaced without a word.
const TICK: Duration = Duration::from_secs(2);

/// Until a run that failed is tried again, and a folder is looked at that came filled.
const AGAIN: Duration = Duration::from_secs(1);

/// As good as without a limit.
const PATIENCE: Duration = Duration::from_secs(86_400 * 365);

pub(crate) fn run(arguments: &WatchArguments, output: &mut Output) -> Result<Exit, Failure> {
    let target = Target::new("kb watch", &arguments.target)?;
    let mut places = Vec::new();
    for path in &arguments.target.paths {
        let missing = |_| target.explain(Error::PathNotFound { path: path.clone() });
        places.push(Place::new(path).map_err(missing)?);
    }
    let (sender, signals) = mpsc::channel();
    let interrupts = sender.clone();
    let cancel = on_interrupt(move || drop(interrupts.send(Signal::Interrupt)))?;
    let watch = Watch::new(places, &target.file, sender, signals).map_err(unwatchable)?;
    let mut follower = Follower {
        arguments,
        target,
        watch,
        options: IndexOptions {
            max_file_bytes: arguments.limit.max_file_size,
            cancel: Some(Arc::clone(&cancel)),
            ..IndexOptions::default()
        },
        cancel,
        has_run: false,
        meter: None,
        last_trouble: None,
    };
    follower.follow(output)
}

/// Why nothing can be watched.
fn unwatchable(error: notify::Error) -> Failure {
    let hint = matches!(error.kind, notify::ErrorKind::MaxFilesWatch).then(|| {
        "raise fs.inotify.max_user_watches (`sysctl`), or watch smaller folders".to_owned()
    });
    Failure::new("IO", format!("cannot watch: {error}"), hint)
}

/// What became of one run.
enum Ran {
    /// The file holds what the folders hold.
    Fresh(Report),
    /// Nothing is there to look at.
    Nothing,
    /// It shall be tried again.
    Again,
    /// Somebody wants it to end.
    Stopped,
}

struct Follower<'a> {
    arguments: &'a WatchArguments,
    target: Target<'a>,
    watch: Watch,
    options: IndexOptions,
    cancel: Arc<AtomicBool>,
    /// Whether a run has come to an end: an error before is a mistake of the caller's.
    has_run: bool,
    /// The bar of the first run.
    meter: Option<Meter>,
    /// What was told last, so that it is told once.
    last_trouble: Option<String>,
}

impl Follower<'_> {
    fn follow(&mut self, output: &mut Output) -> Result<Exit, Failure> {
        // Before the first look, so that nothing happens unseen between the two.
        self.watch.watch_places().map_err(unwatchable)?;
        let shows_bar = output.stderr_is_terminal() && !self.arguments.quiet;
        self.meter = Some(Meter::new(shows_bar));
        let mut is_first = true;
        let mut is_due = true;
        let mut look_again = false;
        loop {
            if is_due {
                let ran = self.bring_up_to_date(output)?;
                if let Some(meter) = self.meter.take() {
                    meter.clear();
                }
                match ran {
                    Ran::Fresh(report) => {
                        if is_first || report.has_changes() {
                            self.show(&report, output)?;
                        }
                        if is_first && !self.arguments.quiet && !self.arguments.json.json {
                            output.note("watching; interrupt to stop");
                        }
                        is_first = false;
                    }
                    Ran::Nothing => {}
                    Ran::Again => look_again = true,
                    Ran::Stopped => return Ok(Exit::Found),
                }
            }
            let gathered = self.watch.gather(if look_again { AGAIN } else { TICK });
            is_due = match gathered {
                Gathered::Interrupted => return Ok(Exit::Found),
                Gathered::Idle => std::mem::take(&mut look_again),
                Gathered::Burst(folders_came) => {
                    look_again = folders_came;
                    true
                }
            };
            is_due |= self.watch.watch_places().map_err(unwatchable)?;
            is_due |= self.any_came_back();
        }
    }

    fn any_came_back(&self) -> bool {
        let mut places = self.watch.places.iter();
        places.any(|place| place.told_gone && place.is_there() && !is_empty(&place.folder))
    }

    /// One index run over all places that are there. Those of which nothing is left keep their
    /// documents.
    fn bring_up_to_date(&mut self, output: &mut Output) -> Result<Ran, Failure> {
        let mut vanished: Vec<PathBuf> = Vec::new();
        // Each attempt but the last finds one more place that vanished.
        for _ in 0..=self.watch.places.len() {
            let mut paths = Vec::new();
            for place in &mut self.watch.places {
                if place.is_there() && !vanished.contains(&place.folder) {
                    paths.push(place.given.clone());
                } else if !place.told_gone {
                    place.told_gone = true;
                    output.warning(&format!(
                        "no file is left in {}; its documents stay until it is back",
                        place.given.display()
                    ));
                }
            }
            if paths.is_empty() {
                return Ok(Ran::Nothing);
            }
            match self.index(&paths) {
                Ok(report) => {
                    for place in &mut self.watch.places {
                        place.told_gone &= !paths.contains(&place.given);
                    }
                    self.last_trouble = None;
                    self.has_run = true;
                    return Ok(Ran::Fresh(report));
                }
                Err(Error::Cancelled) => return Ok(Ran::Stopped),
                Err(Error::RootVanished { root, .. })
                    if self.is_place(&root) && !vanished.contains(&root) =>
                {
                    vanished.push(root);
                }
                // It went between two looks.
                Err(Error::PathNotFound { path }) if paths.contains(&path) => {}
                Err(
                    error @ (Error::NotAKb { .. }
                    | Error::FormatUnsupported { .. }
                    | Error::Damaged { .. }
                    | Error::EmbeddingModelUnavailable { .. }),
                ) => return Err(self.target.explain(error)),
                Err(error) if !self.has_run => return Err(self.target.explain(error)),
                Err(error) => {
                    self.warn_once(&error, output);
                    return Ok(Ran::Again);
                }
            }
        }
        Ok(Ran::Again)
    }

    fn is_place(&self, folder: &Path) -> bool {
        let mut places = self.watch.places.iter();
        places.any(|place| place.folder == folder)
    }

    fn warn_once(&mut self, error: &Error, output: &mut Output) {
        let text = error.to_string();
        if self.last_trouble.as_ref() != Some(&text) {
            output.warning(&format!("{text}; tried again every second"));
            self.last_trouble = Some(text);
        }
    }

    /// The writer lives as long as one run, so that others can write between two.
    fn index(&self, paths: &[PathBuf]) -> kb_engine::Result<Report> {
        let file: &Path = &self.target.file;
        wait_for_writer(
            PATIENCE,
            Some(&self.cancel),
            &mut |holder| match &self.meter {
                Some(meter) => meter.note(&waiting_note(holder)),
                None => crate::output::tell(&waiting_note(holder)),
            },
            |wait| {
                let mut writer = KbWriter::open_or_create(file)?.waiting(wait);
                writer.index(paths, &self.options, &mut |progress| {
                    if let Some(meter) = &self.meter {
                        meter.show(progress);
                    }
                })
            },
        )
    }

    fn show(&self, report: &Report, output: &mut Output) -> Result<(), Failure> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now_ms = i64::try_from(now.unwrap_or_default().as_millis()).unwrap_or(0);
        if self.arguments.json.json {
            let object = Object::new()
                .field("file", self.target.file.display().to_string())
                .field("time_ms", now_ms)
                .field("documents", report.documents);
            output.json(
                changes::count_fields(object, report)
                    .objects("changes", changes::objects(report))
                    .field("seconds", report.elapsed.as_secs_f64()),
            )?;
        } else if !self.arguments.quiet {
            output.line(&format!(
                "{}  +{} ~{} -{}  {:.2} s",
                clock(now_ms),
                report.added.len(),
                report.updated.len(),
                report.removed.len(),
                report.elapsed.as_secs_f64()
            ))?;
        }
        // Whoever follows the lines wants each when it is true.
        output.flush()
    }
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}
