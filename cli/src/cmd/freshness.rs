//! Warns after a result that source files changed, or updates the .kb file before it (`--refresh`).

use std::path::{Path, PathBuf};
use std::time::Duration;

use kb_engine::{ChangedSources, Error, IndexOptions, KbWriter, Progress};

use crate::cmd::opened::Opened;
use crate::failure::Failure;
use crate::locate::locate;
use crate::output::format::plural;
use crate::output::{Output, log};
use crate::writer_wait::{wait_for_writer, waiting_note};

/// Time limit of the check after a result, for all files together.
const LIMIT: Duration = Duration::from_millis(5);

/// How long `--refresh` waits for another writer.
const REFRESH_WAIT: Duration = Duration::from_secs(10);

/// Maximum number of changes that a warning names.
const SHOWN: usize = 5;

/// Warns if sources changed, after the result was printed. `told`: documents that an earlier warning named.
pub(crate) fn warn_of_changes(
    opened: &[Opened],
    told: &[&str],
    json: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    #[cfg(feature = "testing")]
    let limit = crate::faults::sources_limit().unwrap_or(LIMIT);
    #[cfg(not(feature = "testing"))]
    let limit = LIMIT;
    let started = std::time::Instant::now();
    let mut any = false;
    for one in opened {
        warn_of_pending(one, json, output)?;
        let left = limit.saturating_sub(started.elapsed());
        // Staleness is best-effort: a result does not fail for it.
        let Ok(mut changed) = one.kb.changed_sources(left) else {
            continue;
        };
        changed
            .changes
            .retain(|(document, _)| !told.contains(&document.as_str()));
        if changed.changes.is_empty() {
            continue;
        }
        any = true;
        if json {
            let file = one.file.display().to_string();
            output.json(kb_json::changed_sources(&file, &changed))?;
        }
        output.flush()?;
        let warning = warning(&changed);
        let warning = output.name(&warning).into_owned();
        output.warning(&warning);
    }
    if any {
        output.hint("--refresh updates the .kb file first, as `kb index` does");
    }
    Ok(())
}

/// Warns if programs of a file are not parsed yet.
fn warn_of_pending(one: &Opened, json: bool, output: &mut Output) -> Result<(), Failure> {
    let pending = one.kb.symbols_pending().unwrap_or(0);
    if pending == 0 {
        return Ok(());
    }
    let file = one.file.display().to_string();
    if json {
        output.json(kb_json::symbols_pending(&file, pending))?;
    }
    output.flush()?;
    output.warning(&format!(
        "symbols pending: {} of {file} are indexed as text only so far",
        plural(pending, "source file")
    ));
    output.hint("`kb index` parses them; a run that is under way does so by itself");
    Ok(())
}

fn warning(changed: &ChangedSources) -> String {
    let names = changed.changes.iter().take(SHOWN);
    let names: Vec<String> = names
        .map(|(document, change)| format!("{document} ({})", change.name()))
        .collect();
    let count = changed.changes.len();
    let least = if changed.is_complete { "" } else { "at least " };
    let more = match count - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "out of date: {least}{} changed since the last `kb index`: {}{more}",
        plural(count as u64, "file"),
        names.join(", ")
    )
}

/// Updates the files from their indexed folders; without a name, the file that [`locate`] finds.
pub(crate) fn refresh(files: &[PathBuf], output: &mut Output) -> Result<(), Failure> {
    if files.is_empty() {
        return refresh_one(&locate(None)?, output);
    }
    files.iter().try_for_each(|file| refresh_one(file, output))
}

fn refresh_one(file: &Path, output: &mut Output) -> Result<(), Failure> {
    // The read that waits is answered from the text of programs that are not parsed yet.
    let options = IndexOptions::new().large_merges(false).parse_pending(false);
    let refreshed = wait_for_writer(
        REFRESH_WAIT,
        None,
        &mut |holder| log(&waiting_note(holder)),
        |wait| {
            let mut writer = KbWriter::open(file)?.lock_timeout(wait);
            writer.refresh(&options, &mut Progress::ignore)
        },
    );
    match refreshed {
        Ok(Some(_)) => {}
        Ok(None) => output.warning(&format!(
            "{} was not updated: its indexed folders do not exist here",
            file.display()
        )),
        // The read that follows reports the same error.
        Err(Error::PathNotFound { .. } | Error::NotAKb { .. }) => {}
        Err(error) => {
            output.warning(&format!("{} was not updated: {error}", file.display()));
        }
    }
    Ok(())
}
