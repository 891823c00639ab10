//! The sources of this repository as a graph of files that import each other, and their measures.
//!
//! `tests/rooms` holds the rules; `cargo xtask rooms` prints what they are judged by. Paths are told
//! from tokens, without macros and types: an import that a macro writes is not seen.

pub mod measures;
pub mod module_graph;
pub mod scan;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// One file of Rust.
pub struct SourceFile {
    /// Path from the top of the repository, with `/`.
    pub path: String,
    /// Its whole content, UTF-8.
    pub text: String,
}

/// Every `.rs` file below `folder` of the repository at `root`, in the order of paths.
///
/// # Errors
///
/// A folder or a file that cannot be read.
pub fn read(root: &Path, folder: &str) -> Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    let mut waiting = vec![folder.trim_end_matches('/').to_owned()];
    while let Some(folder) = waiting.pop() {
        let entries =
            fs::read_dir(root.join(&folder)).with_context(|| format!("cannot read {folder}"))?;
        for entry in entries {
            let entry = entry?;
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                if entry.file_name() != "target" {
                    waiting.push(path);
                }
            } else if path.ends_with(".rs") {
                let text = fs::read_to_string(entry.path())
                    .with_context(|| format!("cannot read {path}"))?;
                files.push(SourceFile { path, text });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}
