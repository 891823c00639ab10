//! What an index run would change, before anything is locked or written.

use std::path::PathBuf;

use kb_extract::readers;
use kb_extract::secrets;
use kb_types::error::{Error, Result};

use crate::catalog::Catalog;
use crate::container::{Container, SlotIdentity, Snapshot, Transaction};
use crate::embed;
use crate::ingest::changes::comparison::{Candidate, Change, Sides, StoredDocument};
use crate::ingest::changes::indexed::Base;
use crate::ingest::changes::survey::Survey;
use crate::ingest::clock::now_ms;
use crate::ingest::options::IndexOptions;
use crate::ingest::prepare::pipeline::{Input, Outcome, Preparation};
use crate::ingest::report::{Report, Skipped};
use crate::ingest::root::{Root, Scope};
use crate::ingest::roots::given_path::ResolveOptions;
use crate::ingest::roots::resolve::{self, StoredRoots};
use crate::ingest::roots::table::{IsPathPrefix, Resolved};
use crate::ingest::run::index::recorder::RunRecorder;
use crate::ingest::run::new_file::PROGRAM;
use crate::ingest::run::{preserved, samples};
use crate::ingest::walk::globs::Globs;
use crate::progress::Reporter;
use crate::store::meta::selection::RootSelection;
use crate::store::meta::{RootRecord, SearchedRoot, Settings};
use crate::store::skipped::{self, SkippedRecord};

/// The roots asked for, on disk and in one commit.
pub(super) struct ChangePlan {
    pub(super) identity: SlotIdentity,
    pub(super) catalog: Catalog,
    pub(super) resolved: Resolved,
    pub(super) survey: Survey,
    /// When the disk was looked at.
    pub(super) at_ms: i64,
    /// What was asked for, with what the file has where nothing was.
    pub(super) options: IndexOptions,
    /// The settings of the file.
    pub(super) settings: Settings,
    /// The same after this run.
    pub(super) new_settings: Settings,
}

impl ChangePlan {
    /// `limit_bytes`: see [`BUFFER_LIMIT_BYTES`].
    ///
    /// # Errors
    /// [`Error::SnapshotExpired`] when another writer commits meanwhile.
    pub(super) fn compute(
        base: &Container,
        paths: &[PathBuf],
        options: &IndexOptions,
        limit_bytes: usize,
        reporter: &Reporter<'_>,
    ) -> Result<ChangePlan> {
        let (commit, catalog, resolved) = base.read(|snapshot| {
            let catalog = Catalog::load(snapshot)?;
            let resolved = resolve_roots(snapshot, &catalog, paths, options, reporter)?;
            Ok((snapshot.identity(), catalog, resolved))
        })?;
        let base = Base {
            container: base,
            commit,
        };
        ChangePlan::for_roots(base, catalog, resolved, options, limit_bytes, reporter)
    }

    pub(super) fn for_roots(
        base: Base<'_>,
        catalog: Catalog,
        mut resolved: Resolved,
        options: &IndexOptions,
        limit_bytes: usize,
        reporter: &Reporter<'_>,
    ) -> Result<ChangePlan> {
        let at_ms = now_ms();
        let settings = base.read(Settings::read)?;
        let options = with_settings(options, &settings);
        select(&mut resolved, &options, &settings)?;
        forget_secret_names(&mut resolved, &catalog.meta.roots, &options);
        let sides = sides(base, &catalog, &resolved, &settings);
        let survey = Survey::new(sides, &options, limit_bytes, reporter)?;
        Ok(ChangePlan {
            identity: base.commit,
            new_settings: settings_after(&settings, &options, &resolved),
            catalog,
            resolved,
            survey,
            at_ms,
            options,
            settings,
        })
    }

    /// Whether neither documents nor what is known of the roots nor the settings would change.
    pub(super) fn is_empty(&self) -> bool {
        self.survey.is_empty()
            && self.resolved.records == self.catalog.meta.roots
            && self.new_settings == self.settings
    }

    /// Whether what is done with secrets would be another thing than before.
    pub(super) fn changes_secrets(&self) -> bool {
        self.new_settings.include_secrets != self.settings.include_secrets
    }

    /// The report of an index run that stops before it writes. `base` is the file that was looked at.
    pub(super) fn dry_run(self, base: &Container, reporter: &Reporter<'_>) -> Result<Report> {
        self.dry_run_with(base, reporter, |_| Ok(()))
    }

    /// The same; `unread` decides of documents whose files cannot be read.
    pub(super) fn dry_run_with(
        self,
        base: &Container,
        reporter: &Reporter<'_>,
        unread: impl Fn(&Skipped) -> Result<()>,
    ) -> Result<Report> {
        let mut recorder = RunRecorder::new(&self.survey, &self.resolved, reporter)?;
        let base = Base {
            container: base,
            commit: self.identity,
        };
        let options = &self.options;
        let sides = sides(base, &self.catalog, &self.resolved, &self.settings);
        let mut changes = self.survey.into_changes(sides, options, reporter)?;
        let inputs = || Ok(changes.next_change()?.and_then(input));
        preparation(options, true).in_order(reporter, inputs, |input, outcome| {
            recorder.done(&input, &outcome)?;
            match (&outcome, stored_of(&input)) {
                (Outcome::Unread(skipped), Some(_)) => unread(skipped),
                _ => Ok(()),
            }
        })?;
        Ok(recorder.report(changes.finish()?, &self.catalog.meta))
    }
}

/// What is compared for an update.
pub(super) fn sides<'s>(
    base: Base<'s>,
    catalog: &Catalog,
    resolved: &'s Resolved,
    settings: &'s Settings,
) -> Sides<'s> {
    Sides {
        roots: &resolved.roots,
        base: Some(base),
        settings,
        is_same_program: catalog.meta.writer == PROGRAM,
        is_rebuild: false,
    }
}

/// How files are prepared for a file of this program; `parses`: whether programs are parsed.
pub(super) fn preparation(options: &IndexOptions, parses: bool) -> Preparation<'_> {
    Preparation {
        model: embed::built_in(),
        range: embed::built_in().quantiser_range(),
        options,
        parses,
    }
}

/// A difference on its way. `None`: a document that is preserved needs to be read first.
pub(super) fn input(change: Change) -> Option<Input> {
    match change {
        Change::Read(candidate) => Some(Input::File(candidate)),
        Change::Remove(path, id) => Some(Input::Remove(path, id)),
        Change::Forget(path) => Some(Input::Forget(path)),
        Change::Note(path, record) => Some(Input::Note(path, record)),
        Change::Preserve(_) => None,
    }
}

fn stored_of(input: &Input) -> Option<StoredDocument> {
    match input {
        Input::File(candidate) => candidate.stored,
        _ => None,
    }
}

/// The roots that `paths` are of, in a file of that commit.
pub(super) fn resolve_roots(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    paths: &[PathBuf],
    options: &IndexOptions,
    reporter: &Reporter<'_>,
) -> Result<Resolved> {
    let is_path_prefix: &IsPathPrefix<'_> =
        &|part: &str| preserved::is_path_prefix(snapshot, catalog, part);
    // A file that was cleared is as good as a new one: a folder that is indexed again gets the paths,
    // and with them the handles, that it had.
    let is_empty = catalog.meta.roots.is_empty() && catalog.meta.documents == 0;
    let stored = StoredRoots {
        roots: &catalog.meta.roots,
        next_root: catalog.manifest.next_root,
        is_path_prefix: (!is_empty).then_some(is_path_prefix),
    };
    let how = ResolveOptions {
        allow_missing: options.prune,
        root: options.root.as_deref(),
        within: options.within.as_deref(),
    };
    let mut samples = |root: &RootRecord| samples::samples(snapshot, catalog, root);
    resolve::resolve(paths, stored, how, &mut samples, reporter)
}

/// Takes names that are secrets out of the roots of single files, unless secrets are wanted. What the file has already
/// stays: documents may belong to it.
pub(super) fn forget_secret_names(
    resolved: &mut Resolved,
    stored: &[RootRecord],
    options: &IndexOptions,
) {
    if options.include_secrets == Some(true) {
        return;
    }
    let is_stored = |id: u32, name: &String| {
        let mut roots = stored.iter().filter(|root| root.id == id);
        roots.any(|root| root.files.contains(name))
    };
    resolved.records.retain_mut(|record| {
        let is_whole = record.files.is_empty();
        let id = record.id;
        let is_kept = |name: &String| !secrets::has_secret(name) || is_stored(id, name);
        record.files.retain(is_kept);
        // One without files would be the whole folder.
        is_whole || !record.files.is_empty()
    });
}

/// The records of all roots, with the time at which some were looked at.
pub(super) fn touched_roots(resolved: &Resolved, at_ms: i64) -> Vec<RootRecord> {
    let records = resolved.records.iter().cloned();
    records
        .map(|mut record| {
            if is_looked_at_whole(&record, resolved) {
                record.indexed_ms = at_ms;
            }
            record
        })
        .collect()
}

/// Whether a run looks at all of a root: a look at a part says nothing of the rest.
fn is_looked_at_whole(record: &RootRecord, resolved: &Resolved) -> bool {
    let whole = |root: &Root| match &root.scope {
        Scope::Whole => true,
        Scope::Files(names) => names.len() == record.files.len(),
        Scope::Parts(_) | Scope::Superseded => false,
    };
    let mut roots = resolved.roots.iter();
    roots.any(|root| root.id == record.id && whole(root))
}

/// Options with what the file has where nothing was asked for.
pub(super) fn with_settings(options: &IndexOptions, settings: &Settings) -> IndexOptions {
    IndexOptions {
        include_secrets: Some(options.include_secrets.unwrap_or(settings.include_secrets)),
        trigrams: Some(options.trigrams.unwrap_or(!settings.without_trigrams)),
        ..options.clone()
    }
}

/// Says which files of each root are taken: as asked, else as the file has it.
///
/// # Errors
/// [`Error::InvalidArgument`] for a pattern that is none.
pub(super) fn select(
    resolved: &mut Resolved,
    options: &IndexOptions,
    settings: &Settings,
) -> Result<()> {
    let patterns = |asked: &Option<Vec<String>>, known: Vec<String>| match asked {
        Some(asked) => asked
            .iter()
            .filter(|glob| !glob.is_empty())
            .cloned()
            .collect(),
        None => known,
    };
    for root in &mut resolved.roots {
        let known = settings.selection(root.id);
        root.selection = RootSelection {
            root: root.id,
            hidden: options.hidden.unwrap_or(known.hidden),
            follow: options.follow.unwrap_or(known.follow),
            include: patterns(&options.include, known.include),
            exclude: patterns(&options.exclude, known.exclude),
        };
        Globs::new("include", &root.selection.include)?;
        Globs::new("exclude", &root.selection.exclude)?;
    }
    Ok(())
}

/// The selections of all roots after a run over some.
fn selections_after(before: &Settings, resolved: &Resolved) -> Vec<RootSelection> {
    let selections = resolved.records.iter().map(|record| {
        let looked_at = resolved.roots.iter().find(|root| root.id == record.id);
        looked_at.map_or_else(
            || before.selection(record.id),
            |root| root.selection.clone(),
        )
    });
    let selections = selections.filter(|selection| !selection.is_default());
    selections.collect()
}

/// The settings after a run with options of [`with_settings`].
pub(super) fn settings_after(
    before: &Settings,
    options: &IndexOptions,
    resolved: &Resolved,
) -> Settings {
    let include_secrets = options.include_secrets.unwrap_or(false);
    let searched = resolved.records.iter().filter_map(|record| {
        let root = record.id;
        let is_whole = is_looked_at_whole(record, resolved);
        match before
            .searched
            .iter()
            .find(|searched| searched.root == root)
        {
            // What is not looked at now stays as it was read and searched last.
            Some(searched) if !is_whole && !include_secrets => Some(*searched),
            Some(searched) if !is_whole => Some(SearchedRoot::new(root, 0, searched.readers())),
            _ if is_whole => {
                let rules = if include_secrets { 0 } else { secrets::RULES };
                Some(SearchedRoot::new(root, rules, readers::VERSION))
            }
            _ => None,
        }
    });
    Settings {
        include_secrets,
        searched: searched.collect(),
        without_trigrams: options.trigrams == Some(false),
        selections: selections_after(before, resolved),
    }
}

/// Remembers a file that is left out.
pub(super) fn put_skipped(
    transaction: &mut Transaction<'_>,
    candidate: &Candidate,
    skipped: Skipped,
    hash: [u8; 32],
) -> Result<()> {
    let file = &candidate.file;
    // Nothing is kept of a path that holds a secret.
    if secrets::has_secret(&file.document_path) {
        return skipped::remove(transaction, &file.document_path);
    }
    let record = SkippedRecord {
        root: file.root,
        size_bytes: file.size_bytes,
        modified_ms: file.modified_ms,
        reason: skipped.reason,
        hash,
    };
    skipped::put(transaction, &file.document_path, &record)
}

/// A document's file could not be read, and everything depends on it.
pub(super) fn unreadable(skipped: &Skipped) -> Error {
    Error::Io {
        action: "index or compare",
        path: PathBuf::from(&skipped.path),
        source: std::io::Error::other(skipped.reason.clone()),
    }
}
