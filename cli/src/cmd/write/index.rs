//! `kb index`: writes a .kb file from folders and files, or reports what would change.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use kb_engine::{
    BUILT_IN_MODEL, Error, IndexOptions, Kb, KbWriter, Report, Skipped, worker_protection,
};

use crate::args::{IndexArguments, VectorsArgument};
use crate::cmd::write::git_fields::set_git_fields;
use crate::cmd::write::reembed;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::changes;
use crate::output::format::{bytes, duration, plural, shell_word};
use crate::output::missed_recall::missed_recall;
use crate::output::progress::Meter;
use crate::target::Target;
use crate::writer_wait::{stop_if, stop_on_interrupt, wait_for_writer, waiting_note};

/// A note mentions unused bytes from this number, if they are at least this share of the file in percent.
const UNUSED_BYTES: u64 = 1 << 20;
const UNUSED_PERCENT: u64 = 40;

/// Maximum number of file names shown for each reason to skip files, without --verbose.
const SHOWN_NAMES: usize = 3;

pub(crate) fn run(arguments: &IndexArguments, output: &mut Output) -> Result<Exit, Failure> {
    let target = Target::new("kb index", &arguments.target)?;
    if let Some(note) = target.holder_note().filter(|_| !arguments.quiet) {
        output.note(&note);
    }
    let cancel = stop_on_interrupt()?;
    let options = options(arguments);
    if arguments.check && arguments.embedder.embedder.is_some() {
        return Err(Failure::usage(
            "--check embeds nothing: leave --embedder out",
            None,
        ));
    }
    if arguments.check {
        return check(arguments, &target, &options, &cancel, output);
    }
    let chosen = reembed::Chosen::new(&arguments.embedder)?;
    let meter = Meter::of_run(output.stderr_is_terminal(), arguments.quiet);
    let result = wait_for_writer(
        arguments.wait.limit(),
        Some(&cancel),
        &mut |holder| meter.note(&waiting_note(holder)),
        |wait| {
            let mut writer = KbWriter::open_or_create(&target.file)?.lock_timeout(wait);
            writer.index(&arguments.target.paths, &options, &mut |progress| {
                meter.show(progress);
                #[cfg(feature = "testing")]
                kb_mcp::faults::hold(progress, &cancel);
                stop_if(&cancel)
            })
        },
    );
    meter.clear();
    let report = match result {
        Ok(report) => report,
        Err(Error::Cancelled) => {
            let (state, hint) = target.state_after_stop();
            let message = format!("stopped; {} {state}", target.file.display());
            return Err(Failure::new(Error::Cancelled.code(), message, hint));
        }
        Err(error) => return Err(target.explain(error)),
    };
    note_similar_roots(arguments, &target, &report, output);
    if let Some(note) = target.rebuilt_note().filter(|_| !arguments.quiet) {
        output.note(&note);
    }
    if let Some(before) = &report.model_before
        && !arguments.quiet
    {
        output.note(&format!(
            "all documents were embedded again: the file had vectors of {before}, which {BUILT_IN_MODEL} has replaced"
        ));
    }
    warn_of_lost_columns(&report, output);
    note_open_worker(arguments, output);
    if report.documents == 0 && !report.has_changes() {
        note_nothing_to_index(arguments, &target, &report, output);
        return Ok(Exit::Nothing);
    }
    if arguments.git {
        let (paths, wait) = (&arguments.target.paths, arguments.wait.limit());
        set_git_fields(&target.file, paths, wait, &cancel, output)
            .map_err(|error| target.explain(error))?;
    }
    let filled = reembed::fill(&target.file, arguments, chosen, (&cancel, &meter), output)?;
    let file_bytes = std::fs::metadata(&target.file)
        .map_err(|error| Failure::io(&format!("read {}", target.file.display()), &error))?
        .len();
    if arguments.json.json {
        let file = target.file.display().to_string();
        let object = kb_json::index_report(&file, file_bytes, &report, arguments.verbose);
        output.json(match &filled {
            Some(filled) => object.object("embedding", kb_json::reembed_report(filled)),
            None => object,
        })?;
    } else if !arguments.quiet {
        show_report(arguments, &target, file_bytes, &report, output)?;
        if let Some(filled) = &filled {
            reembed::show_filled(filled, &target.file, &arguments.embedder, output)?;
        }
    }
    if let Some(missed) = &report.missed_recall {
        output.warning(&missed_recall(missed));
    }
    if target.existed && report.has_changes() && !arguments.quiet {
        note_unused(&target.file, output);
    }
    Ok(match &report.missed_recall {
        _ if warn_of_emptied(&report, output) => Exit::Error,
        Some(_) => Exit::Nothing,
        None => Exit::Found,
    })
}

/// Warns of empty folders whose documents stay. Returns whether there are some: then the file differs from its folders.
fn warn_of_emptied(report: &Report, output: &mut Output) -> bool {
    for emptied in &report.emptied_folders {
        output.warning(&changes::emptied_folder(emptied));
    }
    let any = !report.emptied_folders.is_empty();
    if any {
        output.hint("if it is a disk that is not mounted, mount it; --prune removes its documents");
    }
    any
}

/// Notes that sealing would make the file much smaller: a file that is updated in place never shrinks.
fn note_unused(file: &Path, output: &mut Output) {
    let Ok(sizes) = Kb::open(file).and_then(|kb| kb.sizes()) else {
        return;
    };
    let mut sections = sizes.sections.iter();
    let unused = sections.find(|(name, _)| name == "unused");
    let unused = unused.map_or(0, |(_, bytes)| *bytes);
    if unused < UNUSED_BYTES
        || unused.saturating_mul(100) < sizes.file_bytes.saturating_mul(UNUSED_PERCENT)
    {
        return;
    }
    output.note(&format!(
        "{} of {} are unused space",
        bytes(unused),
        bytes(sizes.file_bytes)
    ));
    output.hint(&format!(
        "`kb seal {}` rewrites the file without it",
        shell_word(file)
    ));
}

/// Warns of vector columns that a rebuild removed.
fn warn_of_lost_columns(report: &Report, output: &mut Output) {
    let names = &report.lost_columns;
    if names.is_empty() {
        return;
    }
    let columns = plural(names.len() as u64, "column");
    let names = names.join(", ");
    let warning = format!("the rebuild removed {columns} of imported vectors: {names}");
    output.warning(&warning);
    output.hint(
        "`kb import vectors` imports them again; to rewrite a file and keep them, use `kb seal`",
    );
}

fn options(arguments: &IndexArguments) -> IndexOptions {
    let mut options = arguments.secrets.options();
    options.trigrams = arguments.no_trigrams.map(|without| !without);
    #[cfg(feature = "testing")]
    if let Some(bytes) = crate::faults::symbols_later_bytes() {
        options = options.symbols_later_bytes(bytes);
    }
    arguments
        .selection
        .apply(options)
        .threads(arguments.threads)
        .max_file_bytes(arguments.limit.max_file_size)
        .force_hash(arguments.force_hash)
        .prune(arguments.prune)
        .root(arguments.root.clone())
        .rebuild(arguments.rebuild)
        .vectors(arguments.vectors.map(VectorsArgument::codec))
        .min_recall(arguments.min_recall)
}

/// Notes that worker processes had less protection than usual on this system.
fn note_open_worker(arguments: &IndexArguments, output: &mut Output) {
    let is_open = worker_protection().is_some_and(|worker| !worker.has_sandbox);
    if is_open && cfg!(target_os = "linux") && !arguments.quiet {
        output.note(
            "this system does not allow system call filters (seccomp): documents were read with limits on memory and time only",
        );
    }
}

/// Reports what a run would change. Takes no lock; the file may be read-only.
fn check(
    arguments: &IndexArguments,
    target: &Target<'_>,
    options: &IndexOptions,
    cancel: &AtomicBool,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let checked = Kb::open(&target.file).and_then(|kb| {
        let report =
            kb.check_sources(&arguments.target.paths, options, &mut |_| stop_if(cancel))?;
        Ok((report, kb.info()?.file_bytes))
    });
    let (report, file_bytes) = checked.map_err(|error| target.explain_check(error))?;
    note_similar_roots(arguments, target, &report, output);
    if arguments.json.json {
        let file = target.file.display().to_string();
        output.json(kb_json::index_report(&file, file_bytes, &report, true))?;
    } else if !arguments.quiet {
        let name = output.name(&target.file.display().to_string()).into_owned();
        let name = output.stdout_style().path(&name);
        output.line(&format!("{name}  {}", changes::counts(&report)))?;
        show_changes(&report, arguments.verbose, output)?;
    }
    let has_emptied = warn_of_emptied(&report, output);
    Ok(if has_emptied {
        Exit::Error
    } else if report.has_changes() {
        Exit::Nothing
    } else {
        Exit::Found
    })
}

/// Notes which roots were recognised in other folders. Warns of folders that may be an existing root but were not
/// recognised, with a hint.
fn note_similar_roots(
    arguments: &IndexArguments,
    target: &Target<'_>,
    report: &Report,
    output: &mut Output,
) {
    if arguments.quiet {
        return;
    }
    for moved in &report.moved_roots {
        output.note(&changes::moved_root(moved));
    }
    for similar in &report.similar_roots {
        output.warning(&changes::similar_root(similar));
        output.hint(&target.root_hint(similar));
    }
}

fn note_nothing_to_index(
    arguments: &IndexArguments,
    target: &Target<'_>,
    report: &Report,
    output: &mut Output,
) {
    let sources = arguments.target.paths.iter();
    let sources: Vec<String> = sources.map(|path| path.display().to_string()).collect();
    output.note(&format!("nothing to index in {}", sources.join(", ")));
    for line in skipped_lines(&report.skipped, arguments.verbose) {
        output.note(&line);
    }
    output.note(&format!("{} {}", target.file.display(), target.state()));
}

fn show_report(
    arguments: &IndexArguments,
    target: &Target<'_>,
    file_bytes: u64,
    report: &Report,
    output: &mut Output,
) -> Result<(), Failure> {
    let verbose = arguments.verbose;
    let style = output.stdout_style();
    let name = style.path(&output.name(&target.file.display().to_string()));
    output.line(&format!(
        "{name}  {}, {}, {}",
        plural(report.documents, "document"),
        plural(report.chunks, "chunk"),
        style.strong(&bytes(file_bytes)),
    ))?;
    let rebuilt = rebuilt(arguments, target);
    let counts = match &rebuilt {
        // The file was written, even if no document changed.
        Some(rebuilt) => format!("{rebuilt}: {}", changes::all_counts(report)),
        None => changes::counts(report),
    };
    output.line(&format!("  {counts}"))?;
    for line in parsing_lines(report) {
        output.line(&line)?;
    }
    if report.has_changes() || rebuilt.is_some() {
        let seconds = report.elapsed.as_secs_f64().max(1e-6);
        output.line(&format!(
            "  {} read in {} ({:.1} MB/s)",
            bytes(report.source_bytes),
            duration(report.elapsed),
            report.source_bytes as f64 / 1e6 / seconds,
        ))?;
    }
    if verbose {
        show_changes(report, true, output)?;
    }
    // A repeated run without changes does not list the skipped files again.
    if !verbose && !report.has_changes() {
        return Ok(());
    }
    let unparsed = report.unparsed.iter();
    let unparsed: Vec<(&str, &str)> = unparsed
        .map(|program| (&*program.reason, &*program.path))
        .collect();
    let mut lines = unparsed_lines(&unparsed, verbose);
    lines.extend(skipped_lines(&report.skipped, verbose));
    for line in lines {
        let shown = output.name(&line).into_owned();
        output.line(&shown)?;
    }
    Ok(())
}

/// Returns lines about source files that were parsed after their text was indexed, or are still to be parsed.
fn parsing_lines(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(searchable) = report.searchable_after {
        lines.push(format!(
            "  text searchable after {}, symbols after {}",
            duration(searchable),
            duration(report.elapsed)
        ));
    }
    if report.parsed > 0 {
        let parsed = plural(report.parsed, "source file");
        lines.push(format!("  symbols of {parsed} added"));
    }
    if report.symbols_pending > 0 {
        let pending = plural(report.symbols_pending, "source file");
        lines.push(format!(
            "  symbols of {pending} pending: the next `kb index` adds them"
        ));
    }
    lines
}

/// Returns `rebuilt`, with the codec that was asked for, if the run wrote a new file in the place of an existing one.
fn rebuilt(arguments: &IndexArguments, target: &Target<'_>) -> Option<String> {
    let is_rebuilt = target.existed && (arguments.rebuild || target.other_format.is_some());
    is_rebuilt.then(|| match arguments.vectors {
        Some(vectors) => format!("rebuilt with {} vectors", vectors.codec().name()),
        None => "rebuilt".to_owned(),
    })
}

fn show_changes(report: &Report, all: bool, output: &mut Output) -> Result<(), Failure> {
    for line in changes::lines(report, all) {
        let shown = output.name(&line).into_owned();
        output.line(&format!("  {shown}"))?;
    }
    Ok(())
}

/// Returns lines about skipped files, grouped by reason, largest group first; with all names if `verbose`.
fn skipped_lines(skipped: &[Skipped], verbose: bool) -> Vec<String> {
    let files: Vec<(&str, &str)> = skipped
        .iter()
        .map(|file| (&*file.reason, &*file.path))
        .collect();
    let head = format!("skipped {}:", plural(files.len() as u64, "file"));
    lines_by_reason(&head, &files, verbose)
}

/// Returns the same lines about source files that were not parsed, given as reason and path.
fn unparsed_lines(programs: &[(&str, &str)], verbose: bool) -> Vec<String> {
    let count = plural(programs.len() as u64, "source file");
    let head = format!("split {count} by lines, not by syntax:");
    lines_by_reason(&head, programs, verbose)
}

/// Returns the flag that includes files that were skipped for this reason.
fn remedy_of(reason: &str) -> &'static str {
    match reason {
        "hidden" | "hidden, and not tracked by git" => " (--hidden reads them)",
        "symbolic link" => " (--follow follows them)",
        _ => "",
    }
}

/// Returns a head line, then the reasons with their paths; nothing if there are no files.
fn lines_by_reason(head: &str, files: &[(&str, &str)], verbose: bool) -> Vec<String> {
    if files.is_empty() {
        return Vec::new();
    }
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (reason, path) in files {
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, names)) => names.push(path),
            None => reasons.push((reason, vec![path])),
        }
    }
    reasons.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    let mut lines = vec![format!("  {head}")];
    for (reason, names) in reasons {
        let remedy = remedy_of(reason);
        if verbose {
            lines.push(format!("    {reason}{remedy}:"));
            lines.extend(names.iter().map(|name| format!("      {name}")));
            continue;
        }
        let shown: Vec<&str> = names.iter().take(SHOWN_NAMES).copied().collect();
        let more = match names.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more (-v lists them)"),
        };
        lines.push(format!(
            "    {} {reason}{remedy}: {}{more}",
            names.len(),
            shown.join(", ")
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(path: &str, reason: &str) -> Skipped {
        Skipped::new(path, reason)
    }

    #[test]
    fn skipped_files_are_grouped_by_reason_and_always_named() {
        let mut list = vec![skipped("secret.txt", "cannot be read")];
        list.extend((0..5).map(|number| skipped(&format!("{number}.png"), "binary file")));
        assert_eq!(
            skipped_lines(&list, false),
            [
                "  skipped 6 files:",
                "    5 binary file: 0.png, 1.png, 2.png and 2 more (-v lists them)",
                "    1 cannot be read: secret.txt",
            ]
        );
        let all = skipped_lines(&list, true);
        assert_eq!(all.iter().filter(|line| line.ends_with(".png")).count(), 5);
        assert!(skipped_lines(&[], true).is_empty());
    }

    #[test]
    fn programs_that_were_not_parsed_are_named_with_the_reason() {
        let rows = [("slow", "a.c"), ("large", "b.c"), ("slow", "c.c")];
        assert_eq!(
            unparsed_lines(&rows, false),
            [
                "  split 3 source files by lines, not by syntax:",
                "    2 slow: a.c, c.c",
                "    1 large: b.c",
            ]
        );
    }
}
