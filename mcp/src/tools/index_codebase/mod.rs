//! `index_codebase`: indexes a folder into a knowledge base, or updates it.

mod run;
mod target;

use std::path::Path;

use kb_engine::Report;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use target::Target;

use crate::indexes::Index;
use crate::limits::{NAME_LIMIT, PATH_LIMIT};
use crate::response::wording::count;
use crate::response::{Text, ToolError, ToolResponse, Warnings, new_model};
use crate::tools::call::context::Context;
use crate::tools::call::tool::{Effect, Tool};

/// Skipped files that a result names.
const SKIPPED_SHOWN: usize = 5;

pub(super) struct IndexCodebase;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct IndexCodebaseParams {
    /// Directory to index.
    #[schemars(length(max = PATH_LIMIT))]
    path: String,
    /// Default: derived from the directory.
    #[schemars(length(max = NAME_LIMIT))]
    index_name: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Indexed<'a> {
    success: bool,
    index_name: &'a str,
    path: &'a str,
    stats: Stats,
    warnings: Option<Warnings>,
}

#[derive(Serialize, JsonSchema)]
struct Stats {
    files_added: usize,
    files_removed: usize,
    files_updated: usize,
    #[schemars(default)]
    files_skipped: usize,
    #[schemars(default)]
    chunk_count: u64,
}

impl Tool for IndexCodebase {
    const NAME: &'static str = "index_codebase";
    const TITLE: &'static str = "Index a codebase";
    const DESCRIPTION: &'static str = "Index a directory into a knowledge base, or update it with \
        changes only. It must lie in a \
        root the server was started with.";
    const EFFECT: Effect = Effect::Adds;

    type Params = IndexCodebaseParams;
    type Output = Indexed<'static>;

    fn run(cx: &Context<'_>, params: &IndexCodebaseParams) -> Result<ToolResponse, ToolError> {
        let folder = cx.indexes.roots().folder(&params.path)?;
        let (index, report) = match target::find(cx, params.index_name.as_deref(), &folder)? {
            Target::Open(index) => {
                let report = run::update(cx, &index, &folder)?;
                (index, report)
            }
            Target::New(name) => run::make(cx, name, &folder)?,
        };
        cx.indexes.committed();
        Ok(respond(cx, &index, &folder, &report))
    }
}

/// `2 files skipped: a.png: binary; b.js: machine-made`, the first few with their reasons; `None` of no files.
fn listed(noun: &str, what: &str, files: Vec<(&str, &str)>) -> Option<String> {
    let shown = files.iter().take(SKIPPED_SHOWN);
    let shown: Vec<String> = shown
        .map(|(path, reason)| format!("{path}: {reason}"))
        .collect();
    let more = if files.len() > SKIPPED_SHOWN {
        "; and others"
    } else {
        ""
    };
    let counted = count(files.len() as u64, noun);
    (!files.is_empty()).then(|| format!("{counted} {what}: {}{more}", shown.join("; ")))
}

fn respond(cx: &Context<'_>, index: &Index, folder: &Path, report: &Report) -> ToolResponse {
    let mut warnings = cx.warnings.clone();
    if let Some(root) = target::outer_root(index, folder) {
        let root = root.file_name().unwrap_or_default().to_string_lossy();
        warnings.push(format!(
            "PART: the folder is inside {root}, a root of {}; only this part of the root was updated",
            index.name()
        ));
    }
    warnings.extend(report.moved_roots.iter().map(|moved| {
        format!(
            "MOVED: {} is gone, and {} has {} of {} sampled files of it unchanged; its documents now belong to this folder",
            moved.from,
            moved.folder.display(),
            moved.same,
            moved.compared
        )
    }));
    warnings.extend(report.emptied_folders.iter().map(|emptied| {
        format!(
            "EMPTY: {} has no files now; its {} stay in the index, because it may be a disk that is not mounted",
            emptied.folder.display(),
            count(emptied.documents, "document")
        )
    }));
    let skipped = report.skipped.iter();
    let skipped = skipped.map(|file| (file.path.as_str(), file.reason.as_str()));
    warnings.extend(listed("file", "skipped", skipped.collect()));
    let unparsed = report.unparsed.iter();
    let unparsed = unparsed.map(|file| (file.path.as_str(), file.reason.as_str()));
    let what = "split by lines, not by syntax";
    warnings.extend(listed("source file", what, unparsed.collect()));
    warnings.extend(report.model_before.iter().map(|id| new_model(id)));
    let path = folder.display().to_string();
    let mut text = Text::new();
    text.warnings(&warnings);
    text.line(format!("Indexed {path} into {}.", index.name()));
    text.line(format!(
        "files: {} added, {} updated, {} removed, {} skipped; {} now",
        report.added.len(),
        report.updated.len(),
        report.removed.len(),
        report.skipped.len(),
        count(report.chunks, "chunk")
    ));
    let result = Indexed {
        success: true,
        index_name: index.name(),
        path: &path,
        stats: Stats {
            files_added: report.added.len(),
            files_removed: report.removed.len(),
            files_updated: report.updated.len(),
            files_skipped: report.skipped.len(),
            chunk_count: report.chunks,
        },
        warnings: Warnings::of(warnings),
    };
    ToolResponse::new(&result, text.end())
}

#[cfg(test)]
mod tests;
