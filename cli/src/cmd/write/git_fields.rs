//! `kb index --git`: gives documents the commit that changed their files last, as fields.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kb_engine::{DocumentInfo, Error, FieldValue, Kb, KbWriter};

use crate::git_history::{History, LastChange, history};
use crate::output::Output;
use crate::output::format::plural;
use crate::writer_wait::stop_if;

/// The names of the fields.
const COMMIT: &str = "git_commit";
const AUTHOR: &str = "git_author";
const DATE: &str = "git_date";

/// Documents that are read at once.
const BATCH: usize = 1024;

/// Sets the fields of the documents of the folders around or below `paths`, as one commit. What changed before is
/// committed.
///
/// # Errors
/// As [`KbWriter::set_fields`] and [`KbWriter::commit`]; [`Error::Cancelled`].
pub(super) fn set_git_fields(
    file: &Path,
    paths: &[PathBuf],
    wait: Duration,
    cancel: &AtomicBool,
    output: &mut Output,
) -> kb_engine::Result<()> {
    let kb = Kb::open(file)?;
    let paths: Vec<PathBuf> = paths
        .iter()
        .filter_map(|it| it.canonicalize().ok())
        .collect();
    let mut changed = 0;
    let mut writer = KbWriter::open(file)?.lock_timeout(wait);
    for root in kb.info()?.roots {
        let folder = PathBuf::from(&root.source);
        let is_of_run = |path: &PathBuf| path.starts_with(&folder) || folder.starts_with(path);
        if !folder.is_dir() || !paths.iter().any(is_of_run) {
            continue;
        }
        let documents = documents_of(&kb, &folder)?;
        let wanted: HashSet<String> = documents.iter().map(|(name, _)| name.clone()).collect();
        let Some(History { changes, problem }) = history(&folder, wanted, cancel) else {
            return Err(Error::Cancelled);
        };
        if let Some(problem) = problem {
            output.warning(&format!(
                "no fields of git for {}: {problem}",
                folder.display()
            ));
            if changes.is_empty() {
                continue;
            }
        }
        changed += set_fields(&mut writer, &documents, &changes, output)?;
    }
    if changed > 0 {
        writer.commit_with(&mut |_| stop_if(cancel))?;
    }
    Ok(())
}

/// The documents of a folder, with their paths below it.
fn documents_of(kb: &Kb, folder: &Path) -> kb_engine::Result<Vec<(String, DocumentInfo)>> {
    let mut found = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let batch = kb.documents_after(after.as_deref(), BATCH)?;
        let Some(last) = batch.last() else {
            return Ok(found);
        };
        after = Some(last.path.clone());
        for document in batch {
            let source = kb.source_path(&document.path)?;
            let below = source
                .as_deref()
                .and_then(|it| it.strip_prefix(folder).ok());
            if let Some(name) = below.and_then(Path::to_str) {
                // Git writes `/` on all systems.
                found.push((name.replace(std::path::MAIN_SEPARATOR, "/"), document));
            }
        }
    }
}

/// Sets the fields that differ; returns how many documents changed.
fn set_fields(
    writer: &mut KbWriter,
    documents: &[(String, DocumentInfo)],
    changes: &HashMap<String, LastChange>,
    output: &mut Output,
) -> kb_engine::Result<u64> {
    let (mut changed, mut refused) = (0, 0);
    for (name, document) in documents {
        let fields = fields_of(changes.get(name));
        let has: HashMap<String, Vec<FieldValue>> = document.fields().into_iter().collect();
        let is_set = |(name, values): &(String, Vec<FieldValue>)| {
            has.get(name).map_or(&[][..], Vec::as_slice) == values.as_slice()
        };
        if fields.iter().all(is_set) {
            continue;
        }
        match writer.set_fields(&document.path, &fields) {
            Ok(_) => changed += 1,
            // The name of an author that is a token, or a document that has 200 values.
            Err(Error::InvalidArgument { .. }) => refused += 1,
            // It went meanwhile.
            Err(Error::DocumentNotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    if refused > 0 {
        let documents = plural(refused, "document");
        output.warning(&format!("{documents} could not be given fields of git"));
    }
    Ok(changed)
}

/// The fields of a document; those of a file that no commit has are removed.
fn fields_of(change: Option<&LastChange>) -> Vec<(String, Vec<FieldValue>)> {
    let text = |text: &str| (!text.is_empty()).then(|| FieldValue::Text(text.to_owned()));
    let commit = change.and_then(|change| text(&change.commit));
    let author = change.and_then(|change| text(&change.author));
    let date = change
        .and_then(|change| change.time_ms)
        .map(FieldValue::Time);
    [(COMMIT, commit), (AUTHOR, author), (DATE, date)]
        .map(|(name, value)| (name.to_owned(), value.into_iter().collect()))
        .into()
}
