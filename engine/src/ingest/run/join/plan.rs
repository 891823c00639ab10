//! Which documents of the other file come, and under which paths.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use kb_extract::tags;
use kb_types::DocumentId;
use kb_types::error::{Error, Result};

use crate::container::{Key, Transaction};
use crate::ingest::run::join::Source;
use crate::ingest::run::join::options::{MergeOptions, MergeReport, OnConflict};
use crate::progress::Reporter;
use crate::resolve::PathFilter;
use crate::store::documents::{self, DocumentRecord};
use crate::store::tables;

/// Most paths that an error names.
const NAMED_PATHS: usize = 5;

/// Documents that come under paths in the order of their paths in the other file.
pub(super) struct Group {
    /// What is put before the paths of the other file.
    pub(super) prefix: String,
    pub(super) documents: Vec<Taken>,
}

/// A document that comes.
pub(super) struct Taken {
    /// Its number in the other file.
    pub(super) source: DocumentId,
    /// The document that it takes the place of.
    pub(super) replaces: Option<DocumentId>,
}

/// What comes.
pub(super) struct Plan {
    pub(super) groups: Vec<Group>,
    pub(super) report: MergeReport,
}

/// Compares the documents of the other file with those that are there.
pub(super) fn plan(
    transaction: &mut Transaction<'_>,
    source: Source<'_>,
    options: &MergeOptions,
    reporter: &Reporter<'_>,
) -> Result<Plan> {
    let Source {
        snapshot, catalog, ..
    } = source;
    let prefix = source.folder.map(|folder| format!("{folder}/"));
    let prefix = prefix.unwrap_or_default();
    let filter = PathFilter::new(snapshot, catalog, &options.only)?;
    let mut kept = filter.kept.as_ref().map(|globs| globs.matcher());
    let mut excluded = filter.excluded.as_ref().map(|globs| globs.matcher());
    let mut report = MergeReport::default();
    let (mut main, mut beside) = (Vec::new(), Vec::new());
    let mut clashes = Vec::new();
    let mut clash_count = 0u64;
    catalog.documents.each_path(snapshot, "", |path, id| {
        reporter.tick()?;
        let passes = kept.as_mut().is_none_or(|globs| globs.is_match(path))
            && !excluded.as_mut().is_some_and(|globs| globs.is_match(path));
        if !passes {
            return Ok(ControlFlow::Continue(()));
        }
        let new = Taken {
            source: id,
            replaces: None,
        };
        let path = format!("{prefix}{path}");
        let Some(known) = number_at(transaction, &path)? else {
            main.push(new);
            return Ok(ControlFlow::Continue(()));
        };
        let theirs = catalog.documents.get(snapshot, id)?;
        let ours = documents::get_uncommitted(transaction, known)?;
        if is_alike(&ours, &theirs, &options.tags)? {
            report.identical += 1;
            return Ok(ControlFlow::Continue(()));
        }
        let is_newer = theirs.modified_ms > ours.modified_ms;
        match options.on_conflict {
            OnConflict::Refuse => {
                clash_count += 1;
                if clashes.len() < NAMED_PATHS {
                    clashes.push(path);
                }
            }
            OnConflict::Both => beside.push(new),
            OnConflict::KeepLast => main.push(replacing(new, known)),
            OnConflict::KeepNewest if is_newer => main.push(replacing(new, known)),
            OnConflict::KeepFirst | OnConflict::KeepNewest => report.left_out += 1,
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if clash_count > 0 {
        let more = match clash_count > clashes.len() as u64 {
            true => ", ...",
            false => "",
        };
        return Err(Error::InvalidArgument {
            argument: "on_conflict",
            reason: format!(
                "{clash_count} documents of this path are there with other content: {}{more}; choose {}",
                clashes.join(", "),
                choices()
            ),
        });
    }
    let is_replacing = |taken: &&Taken| taken.replaces.is_some();
    report.replaced = main.iter().filter(is_replacing).count() as u64;
    report.added = main.len() as u64 - report.replaced + beside.len() as u64;
    let mut groups = vec![Group {
        prefix,
        documents: main,
    }];
    if !beside.is_empty() {
        let folder = free_folder(transaction, source)?;
        groups.push(Group {
            prefix: format!("{folder}/"),
            documents: beside,
        });
        report.renamed_below.push(folder);
    }
    Ok(Plan { groups, report })
}

/// The other ways to treat documents of one path.
fn choices() -> String {
    let others = OnConflict::ALL.into_iter().skip(1);
    let names: Vec<&str> = others.map(OnConflict::name).collect();
    names.join(", ")
}

fn replacing(new: Taken, known: DocumentId) -> Taken {
    Taken {
        replaces: Some(known),
        ..new
    }
}

/// The number of the document of that path, as it would be after a commit now.
fn number_at(transaction: &mut Transaction<'_>, path: &str) -> Result<Option<DocumentId>> {
    let row = transaction.get(tables::DOC_BY_PATH, Key::Str(path))?;
    row.map(|row| documents::document_id(&row)).transpose()
}

/// Whether nothing would change: the same content under the same names, with these tags.
fn is_alike(ours: &DocumentRecord, theirs: &DocumentRecord, tags: &[String]) -> Result<bool> {
    let facts = |record: &DocumentRecord| {
        (
            record.hash,
            record.text_hash,
            record.title.clone(),
            record.metadata.clone(),
            record.file_type.clone(),
        )
    };
    let new_tags = tags::changed(&theirs.tags, tags, &[])?;
    Ok(ours.tags == new_tags && facts(ours) == facts(theirs))
}

/// A folder named after the other file, in which neither file has documents.
fn free_folder(transaction: &mut Transaction<'_>, source: Source<'_>) -> Result<String> {
    let stem = source.path.file_stem().unwrap_or_default();
    let stem = stem.to_string_lossy().replace(char::is_control, "_");
    let taken: BTreeSet<&str> = source.folder.into_iter().collect();
    for number in 1u32.. {
        let name = match number {
            1 => stem.clone(),
            number => format!("{stem}-{number}"),
        };
        let folder = format!("{name}/");
        let mut is_free = !taken.contains(&*name);
        source
            .catalog
            .documents
            .each_path(source.snapshot, &folder, |path, _| {
                is_free &= !path.starts_with(&folder);
                Ok(ControlFlow::Break(()))
            })?;
        if is_free && !transaction.has_keys_below(tables::DOC_BY_PATH, &folder)? {
            return Ok(name);
        }
    }
    Err(Error::TooMany {
        what: "folders of one name",
        count: u64::from(u32::MAX),
        limit: u64::from(u32::MAX),
    })
}
