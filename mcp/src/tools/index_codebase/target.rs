//! Which knowledge base a folder goes into: an open one, one that an earlier server left, or a new one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kb_engine::{FolderRelation, Kb};

use crate::indexes::{Index, Reserved};
use crate::limits::NAME_LIMIT;
use crate::response::{ToolError, short};
use crate::tools::call::coerce::invalid;
use crate::tools::call::context::Context;

/// Where the content of the folder goes.
pub(super) enum Target {
    /// Into a file that is open.
    Open(Arc<Index>),
    /// Into a new one of that name.
    New(Reserved),
}

pub(super) fn find(
    cx: &Context<'_>,
    name: Option<&str>,
    folder: &Path,
) -> Result<Target, ToolError> {
    let name = match name {
        Some(name) => name.to_owned(),
        None => {
            if let Some(index) = made_from(cx, folder).or_else(|| holding(cx, folder)) {
                return Ok(Target::Open(index));
            }
            name_of(folder)
        }
    };
    if let Ok(index) = cx.indexes.named(&name) {
        check_takes(&index, folder)?;
        return Ok(Target::Open(index));
    }
    check_name(&name)?;
    let place = cx.indexes.reserve(&name)?;
    let path = cx.indexes.path_of_new(&name);
    let Ok(metadata) = path.symlink_metadata() else {
        return Ok(Target::New(place));
    };
    let opened = if !metadata.is_file() {
        None
    } else if let Some(index) = cx.indexes.at(&path) {
        check_takes(&index, folder)?;
        Some(index)
    } else {
        // A file that cannot be read is not that index.
        let opened = place.open(&path, |index| Ok(is_left_of(index, folder)));
        opened.ok().flatten()
    };
    let why =
        "is the name of a file that is not open here and was not indexed from this folder alone";
    let index = opened.ok_or_else(|| taken(&name, why))?;
    Ok(Target::Open(index))
}

/// Refuses a folder that an open index was not made from, unless it was made from none.
pub(super) fn check_takes(index: &Index, folder: &Path) -> Result<(), ToolError> {
    let relation = index.kb().relation_of(folder);
    match relation.map_err(|error| index.failure(error))? {
        FolderRelation::Root | FolderRelation::InsideRoot => Ok(()),
        _ if is_without_roots(index)? => Ok(()),
        FolderRelation::NameOfRoot => Err(changed_too_much(index, folder)),
        _ => Err(taken(index.name(), "belongs to another folder")),
    }
}

/// Whether a file that no server serves was made of this folder by an earlier server: it holds this
/// folder and nothing else. Whoever started the server did not name it, so what clients may read and
/// clear of it is only what they could have indexed themselves.
fn is_left_of(index: &Index, folder: &Path) -> bool {
    index.kb().is_made_from(folder).is_ok_and(|is| is)
}

/// The open index that was made from this folder, whatever it is called: one that says where the
/// folder is before a sealed one that has its content. What cannot be read is not the one.
fn made_from(cx: &Context<'_>, folder: &Path) -> Option<Arc<Index>> {
    let all = cx.indexes.list();
    let is_placed = |index: &&Arc<Index>| {
        let roots = index.kb().roots().unwrap_or_default();
        roots.iter().any(|root| Path::new(&root.source) == folder)
    };
    let is_of_content = |index: &&Arc<Index>| is_root(index.kb(), folder);
    let mut by_place = all.iter().filter(is_placed);
    by_place
        .next()
        .or_else(|| all.iter().find(is_of_content))
        .cloned()
}

/// The open index that was made from a folder around this one; of several, that of the innermost folder.
fn holding(cx: &Context<'_>, folder: &Path) -> Option<Arc<Index>> {
    let all = cx.indexes.list().into_iter();
    let around = all.filter_map(|index| Some((outer_root(&index, folder)?, index)));
    let innermost = around.max_by_key(|(root, _)| root.components().count());
    innermost.map(|(_, index)| index)
}

/// The folder around this one that an index was made from.
pub(super) fn outer_root(index: &Index, folder: &Path) -> Option<PathBuf> {
    let relation = index.kb().relation_of(folder).ok()?;
    if relation != FolderRelation::InsideRoot {
        return None;
    }
    let roots = index.kb().roots().unwrap_or_default().into_iter();
    let around = roots
        .filter(|root| root.files.is_empty())
        .map(|root| PathBuf::from(root.source))
        .filter(|root| folder != root && folder.starts_with(root));
    around.max_by_key(|root| root.components().count())
}

fn is_root(kb: &Kb, folder: &Path) -> bool {
    let relation = kb.relation_of(folder);
    relation.is_ok_and(|relation| relation == FolderRelation::Root)
}

/// Whether an index was made from no folder yet.
fn is_without_roots(index: &Index) -> Result<bool, ToolError> {
    let roots = index.kb().roots();
    Ok(roots.map_err(|error| index.failure(error))?.is_empty())
}

/// The error for a folder with the name of a sealed root and other content: only a person can say that
/// it is the same.
fn changed_too_much(index: &Index, folder: &Path) -> ToolError {
    let name = folder.file_name().unwrap_or_default();
    let name = short(&name.to_string_lossy()).into_owned();
    let why = format!(
        "is a sealed file of a folder called {name:?}, but most files of that folder are missing here or have changed"
    );
    taken(index.name(), &why).with_hint(format!(
        "Pass another index_name; if it is the same folder, the operator of the server can index it once with \
         `kb index --root {name:?}`"
    ))
}

pub(super) fn taken(name: &str, why: &str) -> ToolError {
    ToolError::new(
        "INDEX_NAME_TAKEN",
        format!("index_name: {:?} {why}", short(name)),
    )
    .with_hint("Pass another index_name")
}

/// The name of the folder, without what a name may not have.
fn name_of(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let kept = name.chars().take(NAME_LIMIT);
    let kept: String = kept.map(|c| if is_of_name(c) { c } else { '-' }).collect();
    match kept.trim_start_matches('.') {
        "" => "index".to_owned(),
        name => name.to_owned(),
    }
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// The name becomes that of a file.
fn check_name(name: &str) -> Result<(), ToolError> {
    let is_good = !name.is_empty()
        && name.len() <= NAME_LIMIT
        && name.chars().all(is_of_name)
        && !name.starts_with('.');
    if is_good {
        return Ok(());
    }
    let reason = format!(
        "a new one has 1 to {NAME_LIMIT} letters, digits, dots, dashes and underlines, and no dot \
         in front"
    );
    Err(invalid("index_name", reason))
}
