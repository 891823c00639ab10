//! `kb diff`: how two files differ, as a list or as a patch.

use std::path::Path;

use kb_engine::{DocumentChange, Kb, PatchOptions, Progress, make_patch};

use super::{explain, show};
use crate::args::DiffArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::plural;
use crate::output::progress::Meter;
use crate::writer_wait::{stop_if, stop_on_interrupt};

pub(crate) fn run(arguments: &DiffArguments, output: &mut Output) -> Result<Exit, Failure> {
    let (old, new) = (open(&arguments.old)?, open(&arguments.new)?);
    if let Some(patch) = &arguments.output {
        return write(arguments, patch, output);
    }
    let found = old.difference(&new, &mut Progress::ignore);
    let found = found.map_err(|error| Failure::from_engine(error, "kb diff", &arguments.new))?;
    let exit = match found.is_empty() {
        true => Exit::Found,
        false => Exit::Nothing,
    };
    if arguments.json.json {
        let object = kb_json::difference(&arguments.old, &arguments.new, &found);
        output.json(object)?;
        return Ok(exit);
    }
    let style = output.stdout_style();
    let mut lines: Vec<(&str, &str, String)> = Vec::new();
    let added = found
        .added
        .iter()
        .map(|path| (path.as_str(), "+", String::new()));
    let removed = found
        .removed
        .iter()
        .map(|path| (path.as_str(), "-", String::new()));
    let changed = found.changed.iter().map(|document| {
        let words: Vec<&str> = document
            .changes
            .iter()
            .map(|it| DocumentChange::name(*it))
            .collect();
        (
            document.path.as_str(),
            "~",
            format!("  {}", words.join(", ")),
        )
    });
    lines.extend(added.chain(removed).chain(changed));
    lines.sort();
    for (path, sign, words) in lines {
        let path = style.path(&output.name(path));
        output.line(&format!("{sign} {path}{words}"))?;
    }
    output.line(&format!(
        "{} added, {} removed, {} changed, {} unchanged",
        plural(found.added.len() as u64, "document"),
        found.removed.len(),
        found.changed.len(),
        found.unchanged
    ))?;
    Ok(exit)
}

fn open(file: &Path) -> Result<Kb, Failure> {
    Kb::open(file).map_err(|error| Failure::from_engine(error, "kb diff", file))
}

fn write(arguments: &DiffArguments, patch: &Path, output: &mut Output) -> Result<Exit, Failure> {
    let cancel = stop_on_interrupt()?;
    let meter = Meter::of_run(output.stderr_is_terminal(), false);
    let options = PatchOptions::new().replace(arguments.force);
    let made = make_patch(
        &arguments.old,
        &arguments.new,
        patch,
        &options,
        &mut |progress| {
            meter.show(progress);
            stop_if(&cancel)
        },
    );
    meter.clear();
    let report = made.map_err(|error| explain(error, "kb diff", patch))?;
    show(&report, patch, arguments.json.json, output)
}
