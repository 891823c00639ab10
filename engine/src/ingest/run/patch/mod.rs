//! What changed from one file to a newer one, as a file of its own, and the newer file made from it.
//!
//! A patch holds the documents that are new or changed as a small sealed .kb, and the paths of those that are gone. The
//! newer file is a merge of both, so nothing is analysed or embedded. It is compared with the content root that the
//! patch states before it gets its name.
//!
//! | module | what |
//! |---|---|
//! | `options` | how it is asked for, and the report |
//! | `file` | the bytes of a patch |
//! | `workspace` | a folder for what is not complete |

mod file;
mod options;
#[cfg(test)]
mod tests;
mod workspace;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use kb_types::error::{Error, Result};
use kb_types::hex;

use crate::catalog::Catalog;
use crate::check::content_root::content_root;
use crate::check::difference;
use crate::container::{Container, Snapshot, check_replaceable};
use crate::index::keyword::MAX_ROWS;
use crate::ingest::run::join::{MergeOptions, MergeSource, Picked};
use crate::ingest::run::seal::SealOptions;
use crate::ingest::run::session::Session;
use crate::progress::Reporter;
use crate::store::meta::SealRecord;

use file::Head;
use workspace::{Replaceable, Workspace};

pub use options::{PatchOptions, PatchReport};

/// What a patch needs to know of a file.
#[derive(Debug, Clone, Copy)]
struct Facts {
    root: [u8; 32],
    is_sealed: bool,
    codec: u8,
}

/// See [`crate::make_patch`].
pub(crate) fn make_patch(
    old: &Path,
    new: &Path,
    output: &Path,
    options: &PatchOptions,
    reporter: &Reporter<'_>,
) -> Result<PatchReport> {
    let work = Workspace::beside(
        output,
        options.replace.then_some(file::check_magic as Replaceable),
    )?;
    let (from, to) = (Container::open(old)?, Container::open(new)?);
    // Their pages stay while documents are copied out of them.
    let _leases = (from.lease(), to.lease());
    let (found, before, after) = from.read(|snapshot| {
        let catalog = Catalog::load(snapshot)?;
        let before = facts(snapshot, &catalog, reporter)?;
        to.read(|newer| {
            let of_new = Catalog::load(newer)?;
            let sides = ((snapshot, &catalog), (newer, &of_new));
            let found = difference(sides.0, sides.1, &mut || reporter.tick())?;
            Ok((found, before, facts(newer, &of_new, reporter)?))
        })
    })?;
    if before.codec != after.codec {
        return Err(invalid(
            "patch",
            format!(
                "{} and {} store vectors in two ways: seal both with the same --vectors first",
                old.display(),
                new.display()
            ),
        ));
    }
    let content = work.path("content.kb");
    let changed = found.changed.iter().map(|it| it.path.clone());
    let taken: BTreeSet<String> = changed.clone().chain(found.added.iter().cloned()).collect();
    if !taken.is_empty() {
        join(
            &content,
            &[MergeSource::new(new).picked(Picked::Only(taken))],
            reporter,
        )?;
        seal(&content, reporter)?;
    }
    let head = Head {
        base_name: name_of(old),
        base_root: hex(&before.root),
        result_root: hex(&after.root),
        is_sealed: after.is_sealed,
        added: found.added.len() as u64,
        changed: changed.collect(),
        removed: found.removed.into_iter().collect(),
    };
    // What a patch makes is known before anybody gets it.
    result(old, &content, &head, &work, reporter)?;
    let patch = work.path("patch");
    let bytes = file::write(&patch, &head, &content)?;
    work.publish(&patch, output)?;
    Ok(head.report(bytes))
}

/// See [`crate::apply_patch`].
pub(crate) fn apply_patch(
    base: &Path,
    patch: &Path,
    output: &Path,
    options: &PatchOptions,
    reporter: &Reporter<'_>,
) -> Result<PatchReport> {
    let work = Workspace::beside(output, options.replace.then_some(check_kb as Replaceable))?;
    let content = work.path("content.kb");
    let head = file::read(patch, &content, reporter)?;
    let root = root_of(base, reporter)?;
    if root != head.base_root {
        return Err(invalid(
            "base",
            format!(
                "the patch is for {} with the content root {}; {} has {root}",
                head.base_name,
                head.base_root,
                base.display()
            ),
        ));
    }
    let made = result(base, &content, &head, &work, reporter)?;
    if head.is_sealed {
        seal(&made, reporter)?;
    }
    let bytes = std::fs::metadata(&made).map_err(|error| Error::io("read", &made, error))?;
    work.publish(&made, output)?;
    Ok(head.report(bytes.len()))
}

/// Makes the newer file of the older one and what a patch holds; its content root is that of the patch.
fn result(
    base: &Path,
    content: &Path,
    head: &Head,
    work: &Workspace,
    reporter: &Reporter<'_>,
) -> Result<PathBuf> {
    let made = work.path("result.kb");
    let gone = head.removed.union(&head.changed).cloned().collect();
    let mut sources = vec![MergeSource::new(base).picked(Picked::Without(gone))];
    if content.exists() {
        sources.push(MergeSource::new(content));
    }
    join(&made, &sources, reporter)?;
    let root = root_of(&made, reporter)?;
    if root == head.result_root {
        return Ok(made);
    }
    Err(invalid(
        "patch",
        format!(
            "the result would have the content root {root}, not {}; nothing was written",
            head.result_root
        ),
    ))
}

/// Joins documents into a new file.
fn join(path: &Path, sources: &[MergeSource], reporter: &Reporter<'_>) -> Result<()> {
    let mut session = Session::create(path)?;
    session.merge_from(sources, &MergeOptions::new(), MAX_ROWS, reporter)?;
    Ok(())
}

fn seal(path: &Path, reporter: &Reporter<'_>) -> Result<()> {
    let mut session = Session::open(path)?;
    session.seal(None, &SealOptions::new(), MAX_ROWS, reporter)?;
    Ok(())
}

fn facts(snapshot: &Snapshot<'_>, catalog: &Catalog, reporter: &Reporter<'_>) -> Result<Facts> {
    Ok(Facts {
        root: content_root(snapshot, catalog, &mut |_| reporter.tick())?,
        is_sealed: SealRecord::read(snapshot)?.is_some(),
        codec: catalog.meta.embedder.codec,
    })
}

/// The content root of a file, sealed or not.
fn root_of(path: &Path, reporter: &Reporter<'_>) -> Result<String> {
    let file = Container::open(path)?;
    let _lease = file.lease();
    let root = file.read(|snapshot| {
        let catalog = Catalog::load(snapshot)?;
        content_root(snapshot, &catalog, &mut |_| reporter.tick())
    })?;
    Ok(hex(&root))
}

/// What no .kb takes the place of elsewhere, none takes here.
fn check_kb(path: &Path) -> Result<()> {
    let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    check_replaceable(path, &file)
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn invalid(argument: &'static str, reason: String) -> Error {
    Error::InvalidArgument { argument, reason }
}
