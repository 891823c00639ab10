//! `cargo xtask rooms [--root DIR]`: files per folder, import cycles, long files and functions. It compiles
//! nothing, so it is the quick form of the test `rooms`, and measures any checkout of the repository.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use xtask::repository;
use xtask::sources::measures::{Measures, long_functions, measure};
use xtask::sources::module_graph::{Cycle, ModuleGraph, without_test_files};
use xtask::sources::{self, SourceFile};

/// Folders of sources; those whose sources are not tests come first.
const FOLDERS: [&str; 18] = [
    "engine/src",
    "engine/extract/src",
    "engine/types/src",
    "json/src",
    "mcp/src",
    "web/src",
    "embedders/src",
    "cli/src",
    "ffi/src",
    "python/src",
    "xtask/src",
    "tools/bench/src",
    "tools/eval/src",
    "tools/header/src",
    "tools/bench/baselines",
    "engine/benches",
    "json/tests",
    "tests",
];

/// How many of [`FOLDERS`] are searched for cycles and long functions.
const WITHOUT_TESTS: usize = 15;

/// Files directly in a folder, and lines of a file, beyond which it is listed.
const MOST_FILES: usize = 15;
const MOST_LINES: usize = 600;

/// Lines of a function that is no test, beyond which it is listed.
const MOST_FUNCTION_LINES: usize = 100;

/// Runs the verb; `false` when there is a cycle, a full folder, a long file or a long function.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let root = match arguments {
        [] => repository::root(),
        [flag, folder] if flag == "--root" => PathBuf::from(folder),
        _ => bail!("rooms knows --root DIR only"),
    };
    println!(
        "{:<16} {:>5} {:>6} {:>6}  {:>7} {:>8} {:>6}",
        "folder", "files", "lines", "median", "longest", "function", "pub"
    );
    let mut all = Vec::new();
    let (mut cycles, mut folder_cycles, mut remarks) = (Vec::new(), Vec::new(), Vec::new());
    for (number, folder) in FOLDERS.into_iter().enumerate() {
        if !root.join(folder).is_dir() {
            continue;
        }
        let files = read(&root, folder)?;
        let measures = measure(&files);
        print_row(folder, &measures);
        if number < WITHOUT_TESTS {
            let graph = ModuleGraph::new(folder, &files);
            cycles.extend(graph.cycles());
            folder_cycles.extend(graph.folder_cycles(folder));
            remarks.push(longest(&measures));
            let files = without_test_files(folder, read(&root, folder)?);
            for function in long_functions(&files, MOST_FUNCTION_LINES) {
                let (name, lines) = (function.name, function.lines);
                remarks.push(format!("long function: {name} has {lines} lines"));
            }
        }
        for (folder, files) in &measures.folders {
            if *files > MOST_FILES {
                remarks.push(format!("full folder: {folder} has {files} files"));
            }
        }
        for file in &files {
            let lines = file.text.lines().count();
            if lines > MOST_LINES {
                remarks.push(format!("long file: {} has {lines} lines", file.path));
            }
        }
        all.extend(files);
    }
    print_row("all", &measure(&all));
    println!();
    for remark in &remarks {
        println!("{remark}");
    }
    let in_cycles: usize = cycles.iter().map(|cycle| cycle.files.len()).sum();
    println!(
        "\n{} import cycles, {in_cycles} files in them",
        cycles.len()
    );
    for cycle in &cycles {
        print_cycle("files", cycle);
    }
    println!("{} import cycles between folders", folder_cycles.len());
    for cycle in &folder_cycles {
        print_cycle("folders", cycle);
    }
    let is_bad = |remark: &String| !remark.starts_with("longest");
    Ok(cycles.is_empty() && folder_cycles.is_empty() && !remarks.iter().any(is_bad))
}

fn read(root: &Path, folder: &str) -> Result<Vec<SourceFile>> {
    sources::read(root, folder).with_context(|| format!("sources of {}", root.display()))
}

fn print_row(folder: &str, measures: &Measures) {
    println!(
        "{folder:<16} {:>5} {:>6} {:>6}  {:>7} {:>8} {:>6}",
        measures.files,
        measures.lines,
        measures.median_file,
        measures.longest_file.lines,
        measures.longest_function.lines,
        measures.public_items
    );
}

fn longest(measures: &Measures) -> String {
    let (file, function) = (&measures.longest_file, &measures.longest_function);
    format!(
        "longest: {} ({} lines), function {} ({} lines)",
        file.name, file.lines, function.name, function.lines
    )
}

fn print_cycle(of: &str, cycle: &Cycle) {
    println!("\ncycle of {} {of}:", cycle.files.len());
    for (from, to, path) in &cycle.imports {
        println!("  {from} -> {to}  ({path})");
    }
}
