//! `kb watch`: keeps a file up to date while its sources change.

use std::path::Path;
use std::sync::mpsc;
use std::time::{SystemTime, UNIX_EPOCH};

use kb_engine::{Error, Progress, Report};
use kb_json::Object;

use crate::args::WatchArguments;
use crate::cmd::write::reembed::Chosen;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::models::named;
use crate::output::Output;
use crate::output::format::clock;
use crate::output::progress::Meter;
use crate::sending::refused;
use crate::target::Target;
use crate::watch::embedding::Embedding;
use crate::watch::events::{Signal, Watch, WatchedPath};
use crate::watch::follower::{Follower, Listener, unwatchable};
use crate::writer_wait::{on_interrupt, waiting_note};

pub(crate) fn run(arguments: &WatchArguments, output: &mut Output) -> Result<Exit, Failure> {
    let target = Target::new("kb watch", &arguments.target)?;
    let mut paths = Vec::new();
    for path in &arguments.target.paths {
        let missing = |_| target.explain(Error::PathNotFound { path: path.clone() });
        paths.push(WatchedPath::new(path).map_err(missing)?);
    }
    let (sender, signals) = mpsc::channel();
    let interrupts = sender.clone();
    let cancel = on_interrupt(move || drop(interrupts.send(Signal::Interrupt)))?;
    let watch = Watch::new(paths, &target.file, sender, signals).map_err(unwatchable)?;
    let options = arguments.secrets.options();
    let options = options.max_file_bytes(arguments.limit.max_file_size);
    let options = arguments.selection.apply(options);
    let meter = Meter::of_run(output.stderr_is_terminal(), arguments.quiet);
    let file = target.file.clone();
    let model = match Chosen::new(&arguments.embedder)? {
        Chosen::None => None,
        Chosen::Model(model) => Some(model),
        Chosen::Asking(embedder) if arguments.embedder.yes => Some(named(&embedder)?),
        Chosen::Asking(embedder) => {
            let what = "all texts, and each that changes later,";
            return Err(refused(&format!("{what} would be sent to {embedder}")));
        }
    };
    let embedding = Embedding::start(&file, model, crate::output::log)
        .map_err(|error| Failure::io("start a thread", &error))?;
    let listener = ConsoleListener {
        embedding: &embedding,
        arguments,
        target,
        output,
        meter: Some(meter),
    };
    let followed = Follower::new(file, watch, options, cancel, listener).follow();
    embedding.stop();
    followed?;
    // Without an error, only an interrupt ends it.
    Ok(Exit::Interrupted)
}

/// Prints one line for each run.
struct ConsoleListener<'a> {
    embedding: &'a Embedding,
    arguments: &'a WatchArguments,
    target: Target<'a>,
    output: &'a mut Output,
    /// The progress bar of the first run.
    meter: Option<Meter>,
}

impl Listener for ConsoleListener<'_> {
    fn progress(&mut self, progress: &Progress) {
        if let Some(meter) = &self.meter {
            meter.show(progress);
        }
    }

    fn run_ended(&mut self) {
        if let Some(meter) = self.meter.take() {
            meter.clear();
        }
    }

    fn up_to_date(&mut self, report: &Report, is_first: bool) -> Result<(), Failure> {
        let note = self.target.rebuilt_note();
        if let Some(note) = note.filter(|_| is_first && !self.arguments.quiet) {
            self.output.note(&note);
        }
        self.show(report)?;
        self.embedding.wake();
        if is_first && !self.arguments.quiet && !self.arguments.json.json {
            self.output.note("watching; press Ctrl-C to stop");
        }
        Ok(())
    }

    fn waiting(&mut self, holder: &str) {
        match &self.meter {
            Some(meter) => meter.note(&waiting_note(holder)),
            None => crate::output::log(&waiting_note(holder)),
        }
    }

    fn lost(&mut self, _: &Path) -> Result<(), Failure> {
        Err(self.target.lost())
    }

    fn warning(&mut self, text: &str) {
        self.output.warning(text);
    }

    fn explain(&self, error: Error) -> Failure {
        self.target.explain(error)
    }
}

impl ConsoleListener<'_> {
    fn show(&mut self, report: &Report) -> Result<(), Failure> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now_ms = i64::try_from(now.unwrap_or_default().as_millis()).unwrap_or(0);
        if self.arguments.json.json {
            let object = Object::new()
                .field("file", self.target.file.display().to_string())
                .field("time_ms", now_ms)
                .field("documents", report.documents);
            self.output.json(
                kb_json::with_changes(object, report)
                    .field("seconds", report.elapsed.as_secs_f64()),
            )?;
        } else if !self.arguments.quiet {
            self.output.line(&format!(
                "{}  +{} ~{} -{}  {:.2} s",
                clock(now_ms),
                report.added.len(),
                report.updated.len(),
                report.removed.len(),
                report.elapsed.as_secs_f64()
            ))?;
        }
        // A program that reads the lines needs each at once.
        self.output.flush()
    }
}
