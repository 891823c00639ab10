//! No file imports one that imports it; folders and files stay small.

use xtask::sources::measures::measure;
use xtask::sources::module_graph::ModuleGraph;

use super::read;

/// Sources in folders, all of them.
const FOLDERS: [&str; 8] = [
    "engine/src",
    "engine/benches",
    "mcp/src",
    "cli/src",
    "xtask/src",
    "tools/bench",
    "tools/eval",
    "tests",
];

/// Cycles that are not resolved yet, as starts of the paths of all their files. To stay empty.
const ALLOWED_CYCLES: [&str; 0] = [];

/// Folders with more files than [`MOST_FILES`]. To be emptied.
const ALLOWED_FOLDERS: [&str; 3] = ["engine/src/check", "engine/src/content", "engine/src/store"];

/// Files with more lines than [`MOST_LINES`]. To be emptied.
const ALLOWED_FILES: [&str; 0] = [];

/// Files directly in a folder.
const MOST_FILES: usize = 15;

/// Lines of a file.
const MOST_LINES: usize = 600;

#[test]
fn no_files_import_each_other() {
    let mut found = Vec::new();
    for folder in ["engine/src", "mcp/src", "cli/src"] {
        for cycle in ModuleGraph::new(folder, &read(folder)).cycles() {
            let is_allowed = |start: &&str| cycle.files.iter().all(|file| file.starts_with(*start));
            if !ALLOWED_CYCLES.iter().any(is_allowed) {
                found.push(format!("cycle of {}", cycle.files.join(", ")));
            }
        }
    }
    assert!(
        found.is_empty(),
        "\n{}\nthe imports of each: cargo xtask rooms",
        found.join("\n")
    );
}

#[test]
fn folders_and_files_are_small() {
    let mut found = Vec::new();
    for folder in FOLDERS {
        let files = read(folder);
        for (folder, count) in measure(&files).folders {
            if count > MOST_FILES && !ALLOWED_FOLDERS.contains(&folder.as_str()) {
                found.push(format!("{folder} has {count} files"));
            }
        }
        for file in files {
            let lines = file.text.lines().count();
            let is_allowed = ALLOWED_FILES
                .iter()
                .any(|start| file.path.starts_with(start));
            if lines > MOST_LINES && !is_allowed {
                found.push(format!("{} has {lines} lines", file.path));
            }
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}
