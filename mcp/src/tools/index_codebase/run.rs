//! The index run: into an open file, or into a new one.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kb_engine::{IndexOptions, KbWriter, Progress, Report};

use super::target::{check_takes, taken};
use crate::indexes::{Index, Reserved, RunningJob};
use crate::response::ToolError;
use crate::tools::call::context::Context;

fn options(cx: &Context<'_>) -> IndexOptions {
    IndexOptions::new().within(Some(cx.indexes.roots().allowed().to_vec()))
}

pub(super) fn update(cx: &Context<'_>, index: &Index, folder: &Path) -> Result<Report, ToolError> {
    let job = index.jobs().begin(&shown(folder), None)?;
    let mut hook = |progress: &Progress| {
        (cx.progress)(progress.files_done, progress.files_total);
        job.progress(percent(progress));
        #[cfg(feature = "testing")]
        crate::faults::hold(progress, cx.cancel);
        stop_if(cx.cancel)
    };
    let report = index.write_once(cx.cancel, |writer| {
        // Others may have written it, or moved the folder, while we waited for our turn.
        cx.indexes.roots().check_still(folder)?;
        check_takes(index, folder)?;
        let report = writer.index(&[folder.to_path_buf()], &options(cx), &mut hook);
        report.map_err(ToolError::from)
    });
    match &report {
        Ok(_) => job.done(),
        Err(_) => job.finish(),
    }
    report
}

/// What the hook of a run returns: to stop once the request is cancelled.
fn stop_if(cancel: &AtomicBool) -> ControlFlow<()> {
    if cancel.load(Ordering::Relaxed) {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

/// The name of a folder; where it is on this machine is not shown to clients.
fn shown(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn percent(progress: &Progress) -> u8 {
    let done = progress.files_done.saturating_mul(100);
    let percent = done.checked_div(progress.files_total).unwrap_or(0);
    u8::try_from(percent.min(99)).unwrap_or(99)
}

/// Makes a new file. It appears when it is complete, or not at all.
pub(super) fn make(
    cx: &Context<'_>,
    place: Reserved,
    folder: &Path,
) -> Result<(Arc<Index>, Report), ToolError> {
    let job = cx.indexes.making().begin(place.name(), None)?;
    let made = made(cx, &job, place, folder);
    match &made {
        Ok(_) => job.done(),
        Err(_) => job.finish(),
    }
    made
}

fn made(
    cx: &Context<'_>,
    job: &RunningJob,
    place: Reserved,
    folder: &Path,
) -> Result<(Arc<Index>, Report), ToolError> {
    let path = cx.indexes.path_of_new(place.name());
    if path.symlink_metadata().is_ok() {
        return Err(taken(
            place.name(),
            "is the name of a file that was created in the meantime",
        ));
    }
    let mut writer = KbWriter::open_or_create(&path)?;
    let mut hook = |progress: &Progress| {
        (cx.progress)(progress.files_done, progress.files_total);
        job.progress(percent(progress));
        stop_if(cx.cancel)
    };
    let report = writer.index(&[folder.to_path_buf()], &options(cx), &mut hook)?;
    if !path.exists() {
        // A folder without documents makes no file; the name must be usable all the same.
        writer.commit()?;
    }
    drop(writer);
    let opened = place.open(&path, |_| Ok(true))?;
    let index = opened.ok_or_else(|| ToolError::new("INTERNAL", "lost an index"))?;
    Ok((index, report))
}
