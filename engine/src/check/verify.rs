//! The whole check: checksums, then contents.

use std::cell::RefCell;
use std::time::Instant;

use kb_types::error::{Error, Result};
use kb_types::hex;

use crate::catalog::Catalog;
use crate::check::deep::contents as deep_contents;
use crate::check::problems::{MAX_PROBLEMS, Problems};
use crate::check::report::{VerifyOptions, VerifyReport};
use crate::container::{Container, Snapshot};
use crate::progress::{Hook, Progress, Reporter, Stage};
use crate::store::meta::{Meta, SealRecord};

/// Reads the newest commit of a file and says what is wrong with it. Every page and extent is compared
/// with its checksum; with [`VerifyOptions::deep`] everything that the file says twice is compared as well. It asks
/// writers to keep the commit readable meanwhile. `hook` gets bytes of the file and
/// then, if deep, of its text; they start again when a commit overtook the check.
///
/// Cost: reads all bytes in use once, at the speed of memory or disk; deep about 2 s for 100 MB of
/// text, and memory for one block of text and 12 bytes a chunk of the largest segment.
///
/// # Errors
/// [`Error::SnapshotExpired`] when commits overtook every attempt; [`Error::Io`], and what opening
/// says of another file that was renamed over the path. What is wrong with the file itself is in the
/// report.
pub(crate) fn verify(
    container: &Container,
    options: &VerifyOptions,
    hook: &mut Hook<'_>,
) -> Result<VerifyReport> {
    let started = Instant::now();
    let hook = RefCell::new(hook);
    let reporter = Reporter::new(&hook);
    let deep = options.deep;
    // A check may take longer than a writer keeps an old commit without one.
    let _lease = container.lease();
    let file_bytes = container.len_bytes();
    let text_bytes = if deep {
        container.read(|snapshot| Ok(stated_text_bytes(snapshot)))?
    } else {
        0
    };
    let all = file_bytes.saturating_add(text_bytes);
    let report_bytes = |bytes_done: u64| {
        reporter.report(Progress {
            bytes_done: bytes_done.min(all),
            bytes_total: all,
            ..Progress::new(Stage::Verify)
        })
    };
    let checked = container.verify_cancellable(Some(reporter.stop_flag()), &mut |done| {
        // The flag is set as well, and ends the check.
        let _ = report_bytes(done.min(file_bytes));
    })?;
    report_bytes(file_bytes)?;
    let mut report = read_whole(container, |snapshot| {
        let mut report_text =
            |done: u64| report_bytes(file_bytes.saturating_add(done.min(text_bytes)));
        contents(snapshot, deep, &reporter, &mut report_text)
    })?;
    report_bytes(all)?;
    report.pages = checked.pages;
    report.extents = checked.extents;
    report.bytes = checked.bytes;
    report.system_checked = checked.system_checked;
    // Damage of pages first: it is the cause of what the contents say.
    report.problems.splice(0..0, checked.damage);
    report.problems.truncate(MAX_PROBLEMS);
    report.elapsed = started.elapsed();
    Ok(report)
}

fn stated_text_bytes(snapshot: &Snapshot<'_>) -> u64 {
    let meta = Meta::read(snapshot);
    meta.map_or(0, |meta| meta.text_bytes)
}

/// Runs `request`, whose answer may hold what was not found because the file grew meanwhile: the
/// container maps it again when an error says so.
fn read_whole(
    container: &Container,
    mut request: impl FnMut(&Snapshot<'_>) -> Result<VerifyReport>,
) -> Result<VerifyReport> {
    let mut last = None;
    let read = container.read(|snapshot| {
        last = None;
        let report = request(snapshot)?;
        if snapshot.btree().went_beyond_map() {
            last = Some(report);
            return Err(Error::damaged("pages beyond the end of the file"));
        }
        Ok(report)
    });
    match (read, last) {
        // It did not grow: it was cut.
        (Err(Error::Damaged { .. }), Some(report)) => Ok(report),
        (read, _) => read,
    }
}

fn contents(
    snapshot: &Snapshot<'_>,
    deep: bool,
    reporter: &Reporter<'_>,
    progress: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<VerifyReport> {
    let mut problems = Problems::default();
    let mut report = VerifyReport {
        deep,
        ..VerifyReport::default()
    };
    let seal = problems.unless_damaged(|| "table kb".to_owned(), SealRecord::read(snapshot))?;
    let seal = seal.flatten();
    let root = seal.as_ref().map(|seal| hex(&seal.content_root));
    report.content_root = root;
    let catalog = problems.unless_damaged(|| "records".to_owned(), Catalog::load(snapshot))?;
    if let Some(catalog) = catalog {
        report.documents = catalog.meta.documents;
        report.chunks = catalog.meta.chunks;
        if deep {
            let found = deep_contents::check(
                snapshot,
                &catalog,
                seal.as_ref(),
                &mut problems,
                reporter,
                progress,
            )?;
            (report.documents, report.chunks) = (found.documents, found.chunks);
        }
    }
    report.problems = problems.into_list();
    Ok(report)
}
