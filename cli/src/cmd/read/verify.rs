//! `kb verify`: checks a file for damage, or compares it with its folders.

use std::ops::ControlFlow;

use kb_engine::{Error, IndexOptions, Progress, Report, VerifyOptions, VerifyReport};

use crate::args::VerifyArguments;
use crate::cmd::opened::Opened;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::changes;
use crate::output::format::{bytes, duration, plural, shell_word};
use crate::output::progress::Meter;

pub(crate) fn run(arguments: &VerifyArguments, output: &mut Output) -> Result<Exit, Failure> {
    let opened = Opened::new("kb verify", arguments.file.path())?;
    let meter = Meter::new(output.stderr_is_terminal());
    let options = VerifyOptions::new().deep(arguments.deep);
    let verified = opened.kb.verify(&options, &mut |progress| {
        meter.show_bytes("check", progress.bytes_done, progress.bytes_total);
        ControlFlow::Continue(())
    });
    meter.clear();
    let report = opened.ask(verified)?;
    // Damage is reported even if a folder cannot be compared.
    let compared = match arguments.source.as_slice() {
        [] => None,
        _ if !report.problems.is_empty() => None,
        folders => {
            let options = IndexOptions::new().max_file_bytes(arguments.limit.max_file_size);
            Some(
                opened.ask(
                    opened
                        .kb
                        .compare_sources(folders, &options, &mut Progress::ignore),
                )?,
            )
        }
    };
    if arguments.json.json {
        let object = kb_json::verify_report(&opened.file.display().to_string(), &report);
        output.json(match &compared {
            Some(compared) => kb_json::with_changes(object, compared),
            None => object,
        })?;
    } else {
        show(&opened, &report, compared.as_ref(), output)?;
    }
    if !report.problems.is_empty() {
        let error = Error::Damaged {
            what: plural(report.problems.len() as u64, "problem"),
        };
        return Err(Failure::from_engine(error, "kb verify", &opened.file));
    }
    Ok(match compared {
        Some(compared) if compared.has_changes() => Exit::Nothing,
        _ => Exit::Found,
    })
}

fn show(
    opened: &Opened,
    report: &VerifyReport,
    compared: Option<&Report>,
    output: &mut Output,
) -> Result<(), Failure> {
    let style = output.stdout_style();
    let name = style.path(&output.name(&opened.file.display().to_string()));
    let state = if report.problems.is_empty() {
        "no problems found".to_owned()
    } else {
        style.error("damaged")
    };
    output.line(&format!(
        "{name}  {state}: {}, {}",
        plural(report.documents, "document"),
        plural(report.chunks, "chunk")
    ))?;
    let seconds = report.elapsed.as_secs_f64().max(1e-6);
    output.line(&format!(
        "  {}, {}, {} checked in {} ({:.1} MB/s)",
        plural(report.pages, "page"),
        plural(report.extents, "extent"),
        bytes(report.bytes),
        duration(report.elapsed),
        report.bytes as f64 / 1e6 / seconds
    ))?;
    for problem in &report.problems {
        let problem = output.name(problem).into_owned();
        output.line(&format!("  {problem}"))?;
    }
    if let Some(root) = &report.content_root {
        output.line(&format!("  content root  {root}"))?;
    }
    if let Some(compared) = compared {
        output.line(&format!("  {}", changes::counts(compared)))?;
        for line in changes::lines(compared, true) {
            let line = output.name(&line).into_owned();
            output.line(&format!("  {line}"))?;
        }
    } else if report.problems.is_empty() && !report.deep {
        let file = shell_word(&opened.file);
        output.flush()?;
        output.hint(&format!(
            "`kb verify {file} --deep` also compares the indexes with the texts"
        ));
    }
    Ok(())
}
