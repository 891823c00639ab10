//! There are no import cycles of files or folders; folders and files stay small.

use xtask::sources::measures::{long_functions, measure};
use xtask::sources::module_graph::{ModuleGraph, without_test_files};

use super::read;

/// Sources in folders, all of them.
const FOLDERS: [&str; 18] = [
    "engine/src",
    "engine/extract/src",
    "engine/types/src",
    "engine/benches",
    "json/src",
    "json/tests",
    "mcp/src",
    "web/src",
    "cli/src",
    "embedders/src",
    "embedders/tests",
    "ffi/src",
    "python/src",
    "xtask/src",
    "tools/bench",
    "tools/eval",
    "tools/header",
    "tests",
];

/// Files directly in a folder.
const MOST_FILES: usize = 15;

/// Lines of a file.
const MOST_LINES: usize = 600;

/// Sources of programs and libraries: of [`FOLDERS`] those whose functions have a limit.
const SOURCES: [&str; 15] = [
    "engine/src",
    "engine/extract/src",
    "engine/types/src",
    "json/src",
    "mcp/src",
    "web/src",
    "cli/src",
    "embedders/src",
    "ffi/src",
    "python/src",
    "xtask/src",
    "tools/bench/src",
    "tools/eval/src",
    "tools/header/src",
    "tools/bench/baselines",
];

/// Lines of a function that is no test.
const MOST_FUNCTION_LINES: usize = 100;

#[test]
fn no_files_and_no_folders_import_each_other() {
    let mut found = Vec::new();
    for folder in SOURCES {
        let graph = ModuleGraph::new(folder, &read(folder));
        let folders = graph.folder_cycles(folder);
        for cycle in graph.cycles().iter().chain(&folders) {
            found.push(format!("cycle of {}", cycle.files.join(", ")));
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
            if count > MOST_FILES {
                found.push(format!("{folder} has {count} files"));
            }
        }
        for file in files {
            let lines = file.text.lines().count();
            if lines > MOST_LINES {
                found.push(format!("{} has {lines} lines", file.path));
            }
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn functions_are_short() {
    let mut found = Vec::new();
    for folder in SOURCES {
        let files = without_test_files(folder, read(folder));
        for function in long_functions(&files, MOST_FUNCTION_LINES) {
            found.push(format!("{} has {} lines", function.name, function.lines));
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}
