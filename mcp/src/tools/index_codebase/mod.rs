//! `index_codebase`: makes a knowledge base hold what a folder holds now.

use std::path::Path;
use std::sync::Arc;

use kb_engine::{FolderRelation, IndexOptions, Kb, KbWriter, Progress, Report};
use serde_json::json;

use crate::indexes::{Index, Reserved, Running};
use crate::options::NAME_LIMIT;
use crate::response::{Text, ToolError, ToolResponse, insert_warnings, object, short};
use crate::tools::call::Call;
use crate::tools::call::arguments::Arguments;
use crate::tools::call::coerce::invalid;

/// Files left out that the answer names.
const SKIPPED_SHOWN: usize = 5;

pub(super) fn call(call: &Call<'_>, arguments: &Arguments) -> Result<ToolResponse, ToolError> {
    let folder = call
        .indexes
        .roots()
        .folder(arguments.required_text("path"))?;
    let (index, report) = match target(call, arguments, &folder)? {
        Target::Open(index) => {
            let report = update(call, &index, &folder)?;
            (index, report)
        }
        Target::New(name) => make(call, name, &folder)?,
    };
    call.indexes.committed();
    Ok(answer(arguments, &index, &folder, &report))
}

/// Where the content of the folder goes.
enum Target {
    /// Into a file that is open.
    Open(Arc<Index>),
    /// Into a new one of that name.
    New(Reserved),
}

fn target(call: &Call<'_>, arguments: &Arguments, folder: &Path) -> Result<Target, ToolError> {
    let name = match arguments.index_name() {
        Some(name) => name.to_owned(),
        None => {
            if let Some(index) = made_from(call, folder) {
                return Ok(Target::Open(index));
            }
            name_of(folder)
        }
    };
    if let Ok(index) = call.indexes.named(&name) {
        check_takes(&index, folder)?;
        return Ok(Target::Open(index));
    }
    check_name(&name)?;
    let place = call.indexes.reserve(&name)?;
    let path = call.indexes.path_of_new(&name);
    let Ok(metadata) = path.symlink_metadata() else {
        return Ok(Target::New(place));
    };
    let opened = match metadata.is_file() {
        true => match call.indexes.at(&path) {
            Some(index) => {
                check_takes(&index, folder)?;
                Some(index)
            }
            // What cannot be read is not the one.
            None => place
                .open(&path, |index| Ok(is_left_of(index, folder)))
                .ok()
                .flatten(),
        },
        false => None,
    };
    let why = "is the name of a file that is not open here and was not made from this folder alone";
    let index = opened.ok_or_else(|| taken(&name, why))?;
    Ok(Target::Open(index))
}

/// Refuses a folder that an open index was not made from, if it was made from any.
fn check_takes(index: &Index, folder: &Path) -> Result<(), ToolError> {
    let relation = index.kb().relation_of(folder);
    match relation.map_err(|error| index.failure(error))? {
        FolderRelation::Root | FolderRelation::InsideRoot => Ok(()),
        _ if is_without_roots(index)? => Ok(()),
        FolderRelation::NameOfRoot => Err(changed_too_much(index, folder)),
        _ => Err(taken(index.name(), "belongs to another folder")),
    }
}

/// Whether a file that nobody serves is one that an earlier server left of this folder: it holds this
/// folder and nothing else. Whoever started the server did not name it, so what clients may read and
/// clear of it is only what they could have indexed themselves.
fn is_left_of(index: &Index, folder: &Path) -> bool {
    index.kb().is_made_from(folder).is_ok_and(|is| is)
}

/// The open index that was made from this folder, whatever it is called: one that says where the
/// folder is before a sealed one that has its content. What cannot be read is not the one.
fn made_from(call: &Call<'_>, folder: &Path) -> Option<Arc<Index>> {
    let all = call.indexes.list();
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

fn is_root(kb: &Kb, folder: &Path) -> bool {
    let relation = kb.relation_of(folder);
    relation.is_ok_and(|relation| relation == FolderRelation::Root)
}

/// Whether an index was made from no folder yet.
fn is_without_roots(index: &Index) -> Result<bool, ToolError> {
    let roots = index.kb().roots();
    Ok(roots.map_err(|error| index.failure(error))?.is_empty())
}

/// Only a person can say that a folder with other content is the one that a sealed file was made from.
fn changed_too_much(index: &Index, folder: &Path) -> ToolError {
    let name = folder.file_name().unwrap_or_default();
    let name = short(&name.to_string_lossy()).into_owned();
    let why = format!(
        "is a sealed file made from a folder called {name:?}, and most of the files of that one are not \
         in this folder, or have changed"
    );
    taken(index.name(), &why).with_hint(format!(
        "Pass another index_name; if it is the same folder, whoever runs the server can index it once on \
         the command line as root {name:?}"
    ))
}

fn taken(name: &str, why: &str) -> ToolError {
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

fn options(call: &Call<'_>) -> IndexOptions {
    IndexOptions {
        cancel: Some(Arc::clone(call.cancel)),
        within: Some(call.indexes.roots().allowed().to_vec()),
        ..IndexOptions::default()
    }
}

fn update(call: &Call<'_>, index: &Index, folder: &Path) -> Result<Report, ToolError> {
    let job = index.jobs().begin(&shown(folder), None)?;
    let mut hear = |progress: Progress| {
        (call.progress)(progress.files_done, progress.files_total);
        job.progress(percent(&progress));
        #[cfg(feature = "faults")]
        crate::faults::hold(progress, call.cancel);
    };
    let report = index.write_once(call.cancel, |writer| {
        // Others may have written it, or moved the folder, while we waited for our turn.
        call.indexes.roots().check_still(folder)?;
        check_takes(index, folder)?;
        let report = writer.index(&[folder.to_path_buf()], &options(call), &mut hear);
        report.map_err(ToolError::from)
    });
    match &report {
        Ok(_) => job.done(),
        Err(_) => job.told(),
    }
    report
}

/// A folder as others may know it: where it lies is nobody's business.
fn shown(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn percent(progress: &Progress) -> u8 {
    let done = progress.files_done.saturating_mul(100);
    let percent = done.checked_div(progress.files_total).unwrap_or(0);
    u8::try_from(percent.min(99)).unwrap_or(99)
}

/// A new file appears when it is complete, or not at all.
fn make(
    call: &Call<'_>,
    place: Reserved,
    folder: &Path,
) -> Result<(Arc<Index>, Report), ToolError> {
    let job = call.indexes.making().begin(place.name(), None)?;
    let made = made(call, &job, place, folder);
    match &made {
        Ok(_) => job.done(),
        Err(_) => job.told(),
    }
    made
}

fn made(
    call: &Call<'_>,
    job: &Running,
    place: Reserved,
    folder: &Path,
) -> Result<(Arc<Index>, Report), ToolError> {
    let path = call.indexes.path_of_new(place.name());
    if path.symlink_metadata().is_ok() {
        return Err(taken(
            place.name(),
            "is the name of a file that came meanwhile",
        ));
    }
    let mut writer = KbWriter::open_or_create(&path)?;
    let mut hear = |progress: Progress| {
        (call.progress)(progress.files_done, progress.files_total);
        job.progress(percent(&progress));
    };
    let report = writer.index(&[folder.to_path_buf()], &options(call), &mut hear)?;
    if !path.exists() {
        // Of a folder without documents nothing was made; the name shall work all the same.
        writer.commit()?;
    }
    drop(writer);
    let opened = place.open(&path, |_| Ok(true))?;
    let index = opened.ok_or_else(|| ToolError::new("INTERNAL", "lost an index"))?;
    Ok((index, report))
}

fn answer(arguments: &Arguments, index: &Index, folder: &Path, report: &Report) -> ToolResponse {
    let mut warnings = arguments.warnings();
    if !report.skipped.is_empty() {
        let shown = report.skipped.iter().take(SKIPPED_SHOWN);
        let shown: Vec<String> = shown
            .map(|file| format!("{}: {}", file.path, file.reason))
            .collect();
        let more = match report.skipped.len() > SKIPPED_SHOWN {
            true => "; and others",
            false => "",
        };
        let count = report.skipped.len();
        warnings.push(format!("{count} files skipped: {}{more}", shown.join("; ")));
    }
    let path = folder.display().to_string();
    let mut structured = object(json!({
        "success": true,
        "index_name": index.name(),
        "path": path,
        "stats": {
            "files_added": report.added.len(),
            "files_removed": report.removed.len(),
            "files_updated": report.updated.len(),
            "files_skipped": report.skipped.len(),
            "chunk_count": report.chunks,
        },
    }));
    insert_warnings(&mut structured, &warnings);
    let mut text = Text::new();
    text.warnings(&warnings);
    text.line(format!("Indexed {path} into {}.", index.name()));
    text.line(format!(
        "files: {} added, {} updated, {} removed, {} skipped; {} chunks now",
        report.added.len(),
        report.updated.len(),
        report.removed.len(),
        report.skipped.len(),
        report.chunks
    ));
    let text = text.end();
    ToolResponse { structured, text }
}

#[cfg(test)]
mod tests;
