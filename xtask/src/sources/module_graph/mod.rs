//! Which file of a crate imports from which other, and the cycles among them.
//!
//! A path counts for the file that defines its name: one through a `pub use` of a parent is followed to
//! the definition. A file that only declares and re-exports modules therefore is never in a cycle.

use std::collections::{BTreeMap, BTreeSet};

use super::SourceFile;
use super::scan::{is_word, tokens, without_comments_and_text, without_tests};

/// A path below the root of the crate: names of modules, then perhaps one of an item.
type ModulePath = Vec<String>;

/// What one file declares, re-exports and names.
#[derive(Default)]
struct Module {
    /// Index of its file.
    file: usize,
    /// Items defined outside all braces.
    items: BTreeSet<String>,
    /// Names brought in by `use`, with the path that each stands for.
    imports: BTreeMap<String, ModulePath>,
    /// Modules whose names all are brought in by `use path::*`.
    globs: Vec<ModulePath>,
    /// Paths that the code names; a `pub use` is none unless the name is used as well.
    paths: BTreeSet<ModulePath>,
    /// Paths of `pub use`.
    re_exports: BTreeSet<ModulePath>,
}

/// Every path of this crate that a file names, re-exports among them, from the root of the crate; `module`
/// is the path of the file itself. What test modules name is left out.
pub fn named_paths(module: &[String], text: &str) -> BTreeSet<ModulePath> {
    let parsed = parse(0, module, text);
    parsed.paths.union(&parsed.re_exports).cloned().collect()
}

/// Files and the imports between them, without their test modules.
pub struct ModuleGraph {
    files: Vec<String>,
    /// Importing file, imported file, and one path that says so.
    edges: BTreeMap<(usize, usize), String>,
}

/// Files or folders that reach each other.
pub struct Cycle {
    /// Their paths from the top of the repository.
    pub files: Vec<String>,
    /// Each import among them: what imports, what is imported, the path that is named; of folders one of several,
    /// behind the file that names it.
    pub imports: Vec<(String, String, String)>,
}

impl ModuleGraph {
    /// The graph of a crate whose root file lies in `source_folder`, as `engine/src`.
    pub fn new(source_folder: &str, files: &[SourceFile]) -> ModuleGraph {
        let test_only = test_only_modules(source_folder, files);
        let mut modules = BTreeMap::new();
        let mut paths = Vec::new();
        for file in files {
            let Some(path) = module_path(source_folder, &file.path) else {
                continue;
            };
            if (0..=path.len()).any(|end| test_only.contains(&path[..end])) {
                continue;
            }
            paths.push(file.path.clone());
            modules.insert(path.clone(), parse(paths.len() - 1, &path, &file.text));
        }
        let mut graph = ModuleGraph {
            files: paths,
            edges: BTreeMap::new(),
        };
        for module in modules.values() {
            for path in &module.paths {
                if let Some(target) = defining_file(&modules, path, 0)
                    && target != module.file
                {
                    let edge = (module.file, target);
                    graph.edges.entry(edge).or_insert_with(|| path.join("::"));
                }
            }
        }
        graph
    }

    /// Every set of files that import each other in a circle, largest first.
    pub fn cycles(&self) -> Vec<Cycle> {
        let numbers: Vec<usize> = (0..self.files.len()).collect();
        self.cycles_among(&self.files, &numbers)
    }

    /// Every set of folders that import each other in a circle, at each depth below `source_folder`: all that lies
    /// in a folder of that depth counts as the folder. A file beside folders may be a link of the circle; a circle
    /// of one folder and files beside it is none between folders.
    pub fn folder_cycles(&self, source_folder: &str) -> Vec<Cycle> {
        let mut found: Vec<Cycle> = Vec::new();
        let is_between = |cycle: &Cycle| {
            let folders = cycle.files.iter().filter(|name| !name.ends_with(".rs"));
            folders.count() > 1
        };
        let parts = |file: &str| file.split('/').count();
        let top = parts(source_folder) + 1;
        let deepest = self.files.iter().map(|file| parts(file)).max().unwrap_or(0);
        // The files themselves, which are as deep as they can be, are left to `cycles`.
        for depth in top..deepest {
            let mut names: Vec<String> = Vec::new();
            let mut numbers = Vec::with_capacity(self.files.len());
            for file in &self.files {
                let name = file.split('/').take(depth).collect::<Vec<_>>().join("/");
                // Files come in the order of their paths, those of one folder beside each other.
                if names.last() != Some(&name) {
                    names.push(name);
                }
                numbers.push(names.len() - 1);
            }
            let cycles = self.cycles_among(&names, &numbers);
            let is_new = |cycle: &Cycle| found.iter().all(|known| known.files != cycle.files);
            let new: Vec<Cycle> = cycles
                .into_iter()
                .filter(|cycle| is_between(cycle) && is_new(cycle))
                .collect();
            found.extend(new);
        }
        found
    }

    /// The circles among `names`, where `numbers` has the name of each file.
    fn cycles_among(&self, names: &[String], numbers: &[usize]) -> Vec<Cycle> {
        let mut edges: BTreeMap<(usize, usize), String> = BTreeMap::new();
        for (&(from, to), path) in &self.edges {
            let edge = (numbers[from], numbers[to]);
            if edge.0 != edge.1 {
                let shown = if names.len() == self.files.len() {
                    path.clone()
                } else {
                    format!("{}: {path}", self.files[from])
                };
                edges.entry(edge).or_insert(shown);
            }
        }
        let reach: Vec<BTreeSet<usize>> = (0..names.len())
            .map(|start| reachable_from(&edges, start))
            .collect();
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        let mut cycles = Vec::new();
        for (start, reached) in reach.iter().enumerate() {
            if seen.contains(&start) || !reached.contains(&start) {
                continue;
            }
            let members: BTreeSet<usize> = reached
                .iter()
                .copied()
                .filter(|&other| reach[other].contains(&start))
                .collect();
            seen.extend(&members);
            let inside =
                |(from, to): &(usize, usize)| members.contains(from) && members.contains(to);
            let imports = edges.iter().filter(|(edge, _)| inside(edge));
            cycles.push(Cycle {
                files: members
                    .iter()
                    .map(|&member| names[member].clone())
                    .collect(),
                imports: imports
                    .map(|(&(from, to), path)| {
                        (names[from].clone(), names[to].clone(), path.clone())
                    })
                    .collect(),
            });
        }
        cycles.sort_by_key(|cycle| std::cmp::Reverse(cycle.files.len()));
        cycles
    }
}

/// What `start` imports, directly or not; itself only when it is in a cycle.
fn reachable_from(edges: &BTreeMap<(usize, usize), String>, start: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![start];
    while let Some(from) = waiting.pop() {
        for &(_, to) in edges.range((from, 0)..(from + 1, 0)).map(|(edge, _)| edge) {
            if reached.insert(to) {
                waiting.push(to);
            }
        }
    }
    reached
}

/// `engine/src/index/text/reader.rs` below `engine/src`: index, text, reader. The root file is empty.
/// `None`: another file, as that of a binary.
pub fn module_path(source_folder: &str, file: &str) -> Option<ModulePath> {
    let inside = file.strip_prefix(source_folder)?.strip_prefix('/')?;
    let inside = inside.strip_suffix(".rs")?;
    if inside == "lib" {
        return Some(Vec::new());
    }
    let inside = inside.strip_suffix("/mod").unwrap_or(inside);
    (inside != "main").then(|| inside.split('/').map(str::to_owned).collect())
}

/// The files of a crate that are compiled without its tests as well.
pub fn without_test_files(source_folder: &str, files: Vec<SourceFile>) -> Vec<SourceFile> {
    let test_only = test_only_modules(source_folder, &files);
    let is_of_tests = |file: &SourceFile| {
        let path = module_path(source_folder, &file.path).unwrap_or_default();
        (0..=path.len()).any(|end| test_only.contains(&path[..end]))
    };
    let mut files = files;
    files.retain(|file| !is_of_tests(file));
    files
}

/// Modules in a file of their own that are compiled for tests only.
fn test_only_modules(source_folder: &str, files: &[SourceFile]) -> BTreeSet<ModulePath> {
    let mut found = BTreeSet::new();
    for file in files {
        let Some(path) = module_path(source_folder, &file.path) else {
            continue;
        };
        let code = without_comments_and_text(&file.text);
        for (at, marker) in code.match_indices("#[cfg(") {
            let condition = &code[at + marker.len()..];
            // Another condition may stand beside it: `#[cfg(all(test, feature = "pdf"))]`.
            if !condition.starts_with("test)") && !condition.starts_with("all(test,") {
                continue;
            }
            let after = &condition[condition.find(']').unwrap_or(0)..];
            let head: Vec<&str> = tokens(after.split(['{', ';']).next().unwrap_or(after));
            if let Some(position) = head.iter().position(|token| *token == "mod")
                && let Some(name) = head.get(position + 1)
            {
                found.insert([&path[..], &[(*name).to_owned()]].concat());
            }
        }
    }
    found
}

/// The file that defines what a path names; `None` for a bare module and for what lies outside.
fn defining_file(
    modules: &BTreeMap<ModulePath, Module>,
    path: &ModulePath,
    depth: usize,
) -> Option<usize> {
    // A chain of re-exports is short; a circle of them would not end.
    if depth > 8 {
        return None;
    }
    let end = (0..=path.len())
        .rev()
        .find(|&end| modules.contains_key(&path[..end]))?;
    let module = modules.get(&path[..end])?;
    let name = path.get(end)?;
    if module.items.contains(name) {
        return Some(module.file);
    }
    if let Some(origin) = module.imports.get(name) {
        let origin = [&origin[..], &path[end + 1..]].concat();
        return defining_file(modules, &origin, depth + 1);
    }
    for glob in &module.globs {
        let origin = [&glob[..], &path[end..]].concat();
        let known = modules
            .get(glob)
            .is_some_and(|module| module.items.contains(name));
        if known && let Some(file) = defining_file(modules, &origin, depth + 1) {
            return Some(file);
        }
    }
    // A name of a macro or of the root that nothing here tells: not an import of this crate's files.
    (end > 0).then_some(module.file)
}

fn parse(file: usize, path: &[String], text: &str) -> Module {
    let code = without_tests(&without_comments_and_text(text));
    let tokens = tokens(&code);
    let mut module = Module {
        file,
        ..Module::default()
    };
    let mut re_exported = BTreeMap::new();
    // Names that stand for a module: declared here, or imported.
    let mut used = Vec::new();
    let mut depth = 0_usize;
    let mut position = 0;
    while let Some(&token) = tokens.get(position) {
        match token {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            "mod" if depth == 0 => {
                if let Some(&name) = tokens.get(position + 1) {
                    let child = [path, &[name.to_owned()]].concat();
                    module.imports.insert(name.to_owned(), child);
                }
                position += 1;
            }
            "struct" | "enum" | "union" | "trait" | "type" | "fn" | "const" | "static"
            | "macro_rules"
                if depth == 0 =>
            {
                let name = tokens[position + 1..].iter().find(|next| {
                    next.starts_with(is_word)
                        && !matches!(**next, "fn" | "mut" | "unsafe" | "extern")
                });
                if let Some(name) = name {
                    module.items.insert((*name).to_owned());
                }
            }
            "use" => {
                let is_public = is_public(&tokens, position);
                let mut tree = Vec::new();
                position = use_tree(&tokens, position + 1, &mut Vec::new(), &mut tree);
                for (written, name) in tree {
                    used.push((written, name, is_public, depth));
                }
                continue;
            }
            _ => {}
        }
        position += 1;
    }
    for (written, name, is_public, depth) in used {
        let Some(absolute) = absolute(path, &module.imports, &written) else {
            continue;
        };
        match name {
            None => {
                let all = [&absolute[..], &["*".to_owned()]].concat();
                if is_public {
                    module.re_exports.insert(all);
                } else {
                    module.paths.insert(all);
                }
                module.globs.push(absolute);
            }
            Some(name) => {
                if is_public {
                    module.re_exports.insert(absolute.clone());
                    re_exported.insert(name.clone(), absolute.clone());
                } else {
                    module.paths.insert(absolute.clone());
                }
                if depth == 0 || !module.imports.contains_key(&name) {
                    module.imports.insert(name, absolute);
                }
            }
        }
    }
    name_paths(path, &tokens, &re_exported, &mut module);
    module
}

/// Whether `pub` or `pub(...)` stands before the token at `position`.
fn is_public(tokens: &[&str], position: usize) -> bool {
    let before = tokens[..position].iter().rev().take(5);
    let mut before = before.take_while(|token| !matches!(**token, "{" | "}" | ","));
    // `pub ( in path ) use` is `pub ; in path ; use` in tokens.
    match before.next() {
        Some(&"pub") => true,
        Some(&";") => {
            let rest: Vec<&str> = before.copied().collect();
            matches!(rest[..], ["crate" | "super" | "self", ";", "pub", ..])
        }
        _ => false,
    }
}

/// Reads a tree of `use`; each leaf is a path and the name that it gets, `None` for `*`. Gives the
/// position after it.
fn use_tree(
    tokens: &[&str],
    mut position: usize,
    base: &mut Vec<String>,
    leaves: &mut Vec<(ModulePath, Option<String>)>,
) -> usize {
    let depth = base.len();
    loop {
        match tokens.get(position) {
            Some(&"{") => {
                position += 1;
                while let Some(&token) = tokens.get(position) {
                    match token {
                        "}" => {
                            position += 1;
                            break;
                        }
                        "," => position += 1,
                        _ => position = use_tree(tokens, position, base, leaves),
                    }
                }
                base.truncate(depth);
                return position;
            }
            Some(&"*") => {
                leaves.push((base.clone(), None));
                base.truncate(depth);
                return position + 1;
            }
            Some(&"::") => position += 1,
            Some(name) if name.starts_with(is_word) => {
                // `self` in a group is the module before it.
                if *name != "self" || base.is_empty() {
                    base.push((*name).to_owned());
                }
                position += 1;
                if tokens.get(position) != Some(&"::") {
                    let mut given = base.last().cloned();
                    if tokens.get(position) == Some(&"as") {
                        given = tokens.get(position + 1).map(|name| (*name).to_owned());
                        position += 2;
                    }
                    leaves.push((base.clone(), given.or_else(|| Some(String::new()))));
                    base.truncate(depth);
                    return position;
                }
            }
            _ => {
                base.truncate(depth);
                return position + 1;
            }
        }
    }
}

/// A written path from the root of the crate; `None` when it begins with another crate or a local name.
fn absolute(
    module: &[String],
    names: &BTreeMap<String, ModulePath>,
    written: &[String],
) -> Option<ModulePath> {
    let (first, rest) = written.split_first()?;
    let mut base = match first.as_str() {
        "crate" => Vec::new(),
        "self" => module.to_vec(),
        "super" => {
            let mut base = module.to_vec();
            base.pop();
            base
        }
        name => names.get(name)?.clone(),
    };
    for name in rest {
        if name == "super" {
            base.pop();
        } else {
            base.push(name.clone());
        }
    }
    Some(base)
}

/// Adds the paths of the code outside `use`: `crate::a::b`, `super::b`, and `name::b` for an imported
/// or declared module; and re-exported names that the code uses itself.
fn name_paths(
    path: &[String],
    tokens: &[&str],
    re_exported: &BTreeMap<String, ModulePath>,
    module: &mut Module,
) {
    let mut position = 0;
    while let Some(&token) = tokens.get(position) {
        if token == "use" {
            position = use_tree(tokens, position + 1, &mut Vec::new(), &mut Vec::new());
            continue;
        }
        let before = position.checked_sub(1).map(|before| tokens[before]);
        // The name of a declared module is no use of it, nor is one inside a path of its own.
        let is_start = !matches!(before, Some("::" | "mod"));
        if token.starts_with(is_word) && is_start {
            let mut written = vec![token.to_owned()];
            let mut at = position + 1;
            while tokens.get(at) == Some(&"::")
                && let Some(name) = tokens.get(at + 1).filter(|name| name.starts_with(is_word))
            {
                written.push((*name).to_owned());
                at += 2;
            }
            if written.len() > 1 {
                if let Some(absolute) = absolute(path, &module.imports, &written) {
                    module.paths.insert(absolute);
                }
            } else if let Some(origin) = re_exported.get(token) {
                module.paths.insert(origin.clone());
            }
        }
        position += 1;
    }
}

#[cfg(test)]
mod tests;
