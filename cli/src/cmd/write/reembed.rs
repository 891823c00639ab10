//! `kb reembed`: has a model fill a column of vectors, and keeps such columns up to date after other changes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use kb_embedders::OneNamed;
use kb_engine::{
    EmbedderResolver, Error, Kb, KbWriter, ReembedOptions, ReembedReport, TextEmbedder,
};

use crate::args::{EmbedderFlags, IndexArguments, ReembedArguments};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::locate::locate;
use crate::models::{named, resolver};
use crate::output::Output;
use crate::output::format::{count, duration, plural, shell_word};
use crate::output::progress::Meter;
use crate::sending;
use crate::target::writing_hint;
use crate::writer_wait::{stop_if, stop_on_interrupt, wait_for_writer, waiting_note};

pub(crate) fn run(arguments: &ReembedArguments, output: &mut Output) -> Result<Exit, Failure> {
    let file = locate(arguments.file.path())?;
    let verb = format!("kb reembed {}", shell_word(&file));
    // A writer would create a missing file.
    Kb::open(&file).map_err(|error| Failure::from_engine(error, &verb, &file))?;
    let (embedder, name) = (&arguments.embedder, arguments.name.as_deref());
    sending::allow(&file, embedder, name, arguments.yes, output)?;
    let model = named(embedder)?;
    let mut options = ReembedOptions::new()
        .codec(arguments.codec.codec())
        .max_time(arguments.max_time)
        .cache(!arguments.no_cache)
        .replace(arguments.replace);
    options.name.clone_from(&arguments.name);
    let cancel = stop_on_interrupt()?;
    let meter = Meter::of_run(output.stderr_is_terminal(), arguments.json.json);
    let done = wait_for_writer(
        arguments.wait.limit(),
        Some(&cancel),
        &mut |holder| meter.note(&waiting_note(holder)),
        |wait| {
            let mut writer = KbWriter::open_or_create(&file)?.lock_timeout(wait);
            let rate = Rate::new(&meter);
            writer.reembed(&*model, &options, &mut |progress| {
                rate.show(progress.files_done, progress.files_total);
                #[cfg(feature = "testing")]
                kb_mcp::faults::hold(progress, &cancel);
                stop_if(&cancel)
            })
        },
    );
    meter.clear();
    let report = done.map_err(|error| explained(error, &verb, &file))?;
    if arguments.json.json {
        output.json(kb_json::reembed_report(&report))?;
    } else {
        show(&report, output)?;
        show_left(&report, &file, &arguments.embedder, output);
    }
    Ok(if report.left > 0 {
        Exit::Nothing
    } else {
        Exit::Found
    })
}

/// Shows how many chunks a second are embedded.
struct Rate<'m> {
    meter: &'m Meter,
    started: Instant,
}

impl<'m> Rate<'m> {
    fn new(meter: &'m Meter) -> Rate<'m> {
        let started = Instant::now();
        Rate { meter, started }
    }

    fn show(&self, done: u64, total: u64) {
        let seconds = self.started.elapsed().as_secs_f64();
        let rate = match done {
            0 => String::new(),
            done => format!(", {:.0}/s", done as f64 / seconds.max(1e-3)),
        };
        let message = format!("{} of {}{rate}", count(done), plural(total, "chunk"));
        self.meter.show_rate("embed", message, done, total);
    }
}

fn explained(error: Error, verb: &str, file: &Path) -> Failure {
    match &error {
        Error::Cancelled => {
            let message = "stopped; what was embedded is in the file".to_owned();
            let hint = "run the command again to go on".to_owned();
            Failure::new(error.code(), message, Some(hint))
        }
        Error::InvalidArgument {
            argument: "name",
            reason,
        } => {
            let hint = "--name NAME chooses another column, --replace removes its vectors first";
            let message = format!("--name: {reason}");
            Failure::new(error.code(), message, Some(hint.to_owned()))
        }
        _ => {
            let hint = writing_hint(&error, file, None);
            Failure::from_engine(error, verb, file).and_hint(hint)
        }
    }
}

fn show(report: &ReembedReport, output: &mut Output) -> Result<(), Failure> {
    let shown = output.stdout_style().strong(&output.name(&report.column));
    let model = output.name(&report.model).into_owned();
    let rate = match report.embedded {
        0 => String::new(),
        embedded => format!(
            " in {} ({:.0}/s)",
            duration(report.model_time),
            embedded as f64 / report.model_time.as_secs_f64().max(1e-3)
        ),
    };
    output.line(&format!(
        "{shown}  {} of {} embedded by {model}{rate}",
        count(report.embedded),
        plural(report.chunks, "chunk"),
    ))?;
    if report.cached > 0 {
        let cached = plural(report.cached, "chunk");
        output.note(&format!("{cached} had been embedded before"));
    }
    if report.empty > 0 {
        let empty = plural(report.empty, "chunk");
        output.note(&format!("{empty} without any word got no vector"));
    }
    Ok(())
}

/// Says what is left to do, and how.
fn show_left(report: &ReembedReport, file: &Path, embedder: &str, output: &mut Output) {
    if report.left == 0 {
        return;
    }
    output.note(&format!("{} left", plural(report.left, "chunk")));
    let (file, embedder) = (shell_word(file), shell_word(Path::new(embedder)));
    let command = format!("kb reembed {file} --embedder {embedder}");
    output.hint(&format!("`{command}` goes on"));
}

/// The model that a run of `kb index` or `kb watch` embeds by, beside the built-in one.
pub(crate) enum Chosen {
    /// None is named, or the built-in one.
    None,
    /// One that is loaded.
    Model(Arc<dyn TextEmbedder>),
    /// One that sends texts to another machine, which the user has not allowed yet. Nothing has been asked of it.
    Asking(String),
}

impl Chosen {
    /// Loads the model before a run begins, so that a wrong name costs no time.
    pub(crate) fn new(flags: &EmbedderFlags) -> Result<Chosen, Failure> {
        match flags.embedder.as_deref() {
            None | Some("builtin") => Ok(Chosen::None),
            Some(embedder) if sending::remote(embedder).is_some() => {
                Ok(Chosen::Asking(embedder.to_owned()))
            }
            Some(embedder) => named(embedder).map(Chosen::Model),
        }
    }
}

/// Embeds the chunks of a file that was indexed, by a model that was named and by those of its columns. Returns what the
/// named one did.
pub(crate) fn fill(
    file: &Path,
    arguments: &IndexArguments,
    chosen: Chosen,
    (cancel, meter): (&AtomicBool, &Meter),
    output: &mut Output,
) -> Result<Option<ReembedReport>, Failure> {
    let model = match chosen {
        Chosen::None => {
            follow(file, resolver(), cancel, meter, output)?;
            return Ok(None);
        }
        Chosen::Model(model) => model,
        Chosen::Asking(embedder) => {
            let yes = arguments.embedder.yes;
            sending::allow(file, &embedder, None, yes, output)?;
            named(&embedder)?
        }
    };
    if !arguments.quiet {
        let (file, model) = (file.display(), model.card());
        let message = format!("{file} can be searched; {model} embeds its chunks");
        output.note(&output.name(&message));
    }
    let mut options = ReembedOptions::new();
    if let Some(vectors) = arguments.vectors {
        options.codec = vectors.codec();
    }
    let done = wait_for_writer(
        arguments.wait.limit(),
        Some(cancel),
        &mut |holder| meter.note(&waiting_note(holder)),
        |wait| {
            let mut writer = KbWriter::open(file)?.lock_timeout(wait);
            let rate = Rate::new(meter);
            writer.reembed(&*model, &options, &mut |progress| {
                rate.show(progress.files_done, progress.files_total);
                #[cfg(feature = "testing")]
                kb_mcp::faults::hold(progress, cancel);
                stop_if(cancel)
            })
        },
    );
    meter.clear();
    let report = done.map_err(|error| explained(error, "kb reembed", file))?;
    let models = Arc::new(OneNamed::new(model, resolver()));
    follow(file, models, cancel, meter, output)?;
    Ok(Some(report))
}

/// Shows what the named model did in a run.
pub(crate) fn show_filled(
    report: &ReembedReport,
    file: &Path,
    flags: &EmbedderFlags,
    output: &mut Output,
) -> Result<(), Failure> {
    show(report, output)?;
    show_left(
        report,
        file,
        flags.embedder.as_deref().unwrap_or_default(),
        output,
    );
    Ok(())
}

/// Embeds the chunks that a run has added, for each column whose model is at hand. A model that is missing is warned of.
pub(crate) fn follow(
    file: &Path,
    models: Arc<dyn EmbedderResolver>,
    cancel: &AtomicBool,
    meter: &Meter,
    output: &mut Output,
) -> Result<(), Failure> {
    let has_columns = Kb::open(file).and_then(|kb| kb.vector_columns());
    let has_columns =
        has_columns.is_ok_and(|columns| columns.iter().any(|column| column.card.is_some()));
    if !has_columns {
        return Ok(());
    }
    let updated = KbWriter::open(file).and_then(|mut writer| {
        let rate = Rate::new(meter);
        writer.update_embeddings(&*models, &ReembedOptions::new(), &mut |progress| {
            rate.show(progress.files_done, progress.files_total);
            stop_if(cancel)
        })
    });
    meter.clear();
    let updates = updated.map_err(|error| explained(error, "kb reembed", file))?;
    for update in updates {
        let Err(error) = update.outcome else {
            continue;
        };
        let name = output.name(&update.column).into_owned();
        output.warning(&format!("new chunks got no vectors in {name}: {error}"));
        output.hint("`kb reembed --embedder SPEC` embeds them where the model is now");
    }
    Ok(())
}
