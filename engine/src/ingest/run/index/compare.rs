//! What an index run would change, reported without writing.

use std::path::PathBuf;
use std::time::Instant;

use kb_types::error::{Error, Result};

use crate::catalog::Catalog;
use crate::container::Container;
use crate::ingest::changes::indexed::Base;
use crate::ingest::changes::survey::BUFFER_LIMIT_BYTES;
use crate::ingest::options::IndexOptions;
use crate::ingest::report::Report;
use crate::ingest::roots::given_path::ResolveOptions;
use crate::ingest::roots::resolve::{self, StoredRoots};
use crate::ingest::run::index::plan::{ChangePlan, unreadable};
use crate::ingest::run::{preserved, samples};
use crate::progress::{Reporter, Stage};
use crate::store::meta::RootRecord;

/// See [`crate::Kb::check_sources`].
pub(crate) fn check_sources(
    container: &Container,
    paths: &[PathBuf],
    options: &IndexOptions,
    reporter: &Reporter<'_>,
) -> Result<Report> {
    let started = Instant::now();
    reporter.start(Stage::Walk)?;
    // What waits to be parsed is as its file is.
    let options = &options.clone().parse_pending(false);
    let mut report = retry_expired(|| {
        let plan = ChangePlan::compute(container, paths, options, BUFFER_LIMIT_BYTES, reporter)?;
        plan.dry_run(container, reporter)
    })?;
    report.elapsed = started.elapsed();
    Ok(report)
}

/// See [`crate::Kb::compare_sources`].
pub(crate) fn compare_sources(
    container: &Container,
    folders: &[PathBuf],
    options: &IndexOptions,
    reporter: &Reporter<'_>,
) -> Result<Report> {
    let started = Instant::now();
    reporter.start(Stage::Walk)?;
    let options = IndexOptions {
        force_hash: true,
        prune: true,
        parse_pending: false,
        ..options.clone()
    };
    let mut report = retry_expired(|| {
        let (identity, catalog, resolved) = container.read(|snapshot| {
            let catalog = Catalog::load(snapshot)?;
            let mut samples = |root: &RootRecord| samples::samples(snapshot, &catalog, root);
            let is_path_prefix = |part: &str| preserved::is_path_prefix(snapshot, &catalog, part);
            let stored = StoredRoots {
                roots: &catalog.meta.roots,
                next_root: catalog.manifest.next_root,
                is_path_prefix: Some(&is_path_prefix),
            };
            let how = ResolveOptions {
                within: options.within.as_deref(),
                ..ResolveOptions::default()
            };
            let resolved = resolve::relocate(folders, stored, how, &mut samples, reporter)?;
            Ok((snapshot.identity(), catalog, resolved))
        })?;
        let base = Base {
            container,
            commit: identity,
        };
        let plan = ChangePlan::for_roots(
            base,
            catalog,
            resolved,
            &options,
            BUFFER_LIMIT_BYTES,
            reporter,
        )?;
        plan.survey.tally.refuse_unread()?;
        plan.dry_run_with(container, reporter, |skipped| Err(unreadable(skipped)))
    })?;
    report.elapsed = started.elapsed();
    Ok(report)
}

/// Commits of others that may come while a comparison is under way before it is given up.
const MAX_ATTEMPTS: usize = 5;

/// Compares again while others commit: what is compared with two commits belongs to none.
fn retry_expired(mut compare: impl FnMut() -> Result<Report>) -> Result<Report> {
    for _ in 1..MAX_ATTEMPTS {
        match compare() {
            Err(Error::SnapshotExpired) => {}
            result => return result,
        }
    }
    compare()
}
