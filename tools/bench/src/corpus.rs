//! The corpus: crate versions named in `tools/bench/corpus.txt`, fetched by cargo, copied
//! into one folder per part.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;
use xtask::repository;

/// Text and other files of a tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// Files that are UTF-8 without a zero byte.
    pub(crate) files: u64,
    /// Bytes of those.
    pub(crate) bytes: u64,
    /// Files that are not.
    pub(crate) others: u64,
}

impl Count {
    pub(crate) fn add(&mut self, other: Count) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.others += other.others;
    }
}

/// One part of the corpus, on disk.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) folder: PathBuf,
    pub(crate) count: Count,
}

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CrateVersion {
    name: String,
    version: String,
}

impl CrateVersion {
    fn folder_name(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }
}

const PARTS: [&str; 2] = ["part1", "part2"];

/// Where the bench keeps everything.
pub(crate) fn bench_folder() -> PathBuf {
    repository::target().join("bench")
}

/// Queries of the benches: one a line in `tools/bench/queries.txt`, where blank lines and lines that
/// begin with `#` are skipped.
pub(crate) fn queries() -> Result<Vec<String>> {
    let path = repository::root().join("tools/bench/queries.txt");
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = text.lines().map(str::trim);
    let queries: Vec<String> = lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    if queries.is_empty() {
        bail!("{} holds no query", path.display());
    }
    Ok(queries)
}

/// The folder of the first part, fetched if it is not there.
pub(crate) fn first_part() -> Result<PathBuf> {
    let parts = fetch()?;
    let first = parts.into_iter().next().context("the corpus has parts")?;
    Ok(first.folder)
}

/// The corpus on disk; fetched when the list has changed since, or when it is not there.
pub(crate) fn fetch() -> Result<Vec<Part>> {
    let list_path = repository::root().join("tools/bench/corpus.txt");
    let list = fs::read_to_string(&list_path)
        .with_context(|| format!("cannot read {}", list_path.display()))?;
    let lists = parse(&list)?;
    let corpus = bench_folder().join("corpus");
    // Written last: a copy that was interrupted has none.
    let stamp = corpus.join("corpus.txt");
    if fs::read_to_string(&stamp).ok().as_deref() != Some(list.as_str()) {
        remove_folder(&corpus)?;
        let sources = fetch_sources(&lists.concat())?;
        let mut source = sources.iter();
        for (part, crates) in PARTS.iter().zip(&lists) {
            for (version, from) in crates.iter().zip(source.by_ref()) {
                copy_tree(from, &corpus.join(part).join(version.folder_name()))?;
            }
        }
        fs::write(&stamp, &list)?;
    }
    PARTS
        .iter()
        .map(|name| {
            let folder = corpus.join(name);
            Ok(Part {
                name,
                count: count_tree(&folder)?,
                folder,
            })
        })
        .collect()
}

fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Crate versions of each part. A comment `# part 1` or `# part 2` begins a part.
fn parse(list: &str) -> Result<[Vec<CrateVersion>; 2]> {
    let mut parts = [Vec::new(), Vec::new()];
    let mut part = None;
    for line in list.lines().map(str::trim) {
        if line.is_empty() {
            continue;
        }
        if let Some(comment) = line.strip_prefix('#') {
            let comment = comment.trim();
            part = if comment.starts_with("part 1") {
                Some(0)
            } else if comment.starts_with("part 2") {
                Some(1)
            } else {
                part
            };
            continue;
        }
        let (Some((name, version)), Some(part)) = (line.split_once(' '), part) else {
            bail!("corpus.txt: not `name version` below a part: {line:?}");
        };
        let version = version.trim().to_owned();
        parts[part].push(CrateVersion {
            name: name.to_owned(),
            version,
        });
    }
    if parts.iter().any(Vec::is_empty) {
        bail!("corpus.txt: a part is empty");
    }
    Ok(parts)
}

/// Folders of the unpacked crates, in the order of the list.
///
/// A package that depends on all of them is written and fetched; nothing of it is compiled. The
/// versions are exact, so what cargo chooses for crates that are not listed does not matter.
fn fetch_sources(crates: &[CrateVersion]) -> Result<Vec<PathBuf>> {
    let folder = bench_folder().join("fetch");
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("src/lib.rs"), "")?;
    fs::write(folder.join("Cargo.toml"), manifest(crates))?;
    let manifest_path = folder.join("Cargo.toml");
    eprintln!(
        "fetching {} crates and what they need with cargo",
        crates.len()
    );
    let target = host_target()?;
    repository::run(
        repository::cargo(&["fetch", "--target", &target, "--manifest-path"]).arg(&manifest_path),
    )?;
    let metadata = repository::cargo(&["metadata", "--format-version", "1", "--locked"])
        .args(["--filter-platform", &target, "--manifest-path"])
        .arg(&manifest_path)
        .output()?;
    if !metadata.status.success() {
        bail!(
            "cargo metadata failed: {}",
            String::from_utf8_lossy(&metadata.stderr)
        );
    }
    let metadata: Value = serde_json::from_slice(&metadata.stdout)?;
    crates
        .iter()
        .map(|version| source_folder(&metadata, version))
        .collect()
}

fn manifest(crates: &[CrateVersion]) -> String {
    let mut text = String::from(
        "[package]\nname = \"bench-corpus\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         publish = false\n\n[workspace]\n\n[dependencies]\n",
    );
    for (number, CrateVersion { name, version }) in crates.iter().enumerate() {
        // Build metadata (`+...`) is no part of a requirement.
        let version = version.split('+').next().unwrap_or(version);
        text.push_str(&format!(
            "c{number} = {{ package = \"{name}\", version = \"={version}\", \
             default-features = false }}\n"
        ));
    }
    text
}

fn source_folder(metadata: &Value, version: &CrateVersion) -> Result<PathBuf> {
    let packages = metadata["packages"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let found = packages.iter().find(|package| {
        package["name"] == version.name.as_str() && package["version"] == version.version.as_str()
    });
    let manifest = found.and_then(|package| package["manifest_path"].as_str());
    manifest
        .and_then(|path| Path::new(path).parent())
        .map(Path::to_path_buf)
        .ok_or_else(|| anyhow!("cargo did not fetch {} {}", version.name, version.version))
}

/// The platform of this toolchain.
fn host_target() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = std::process::Command::new(rustc).arg("-vV").output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).context("rustc -vV names no host")
}

/// Copies a tree without names that begin with a dot, which walkers treat differently.
fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_tree(&entry.path(), &to.join(name))?;
        } else if kind.is_file() {
            let bytes = fs::read(entry.path())?;
            fs::write(to.join(name), bytes)?;
        }
    }
    Ok(())
}

fn count_tree(folder: &Path) -> Result<Count> {
    let mut count = Count::default();
    for entry in
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            count.add(count_tree(&entry.path())?);
            continue;
        }
        let bytes = fs::read(entry.path())?;
        if !bytes.contains(&0) && std::str::from_utf8(&bytes).is_ok() {
            count.files += 1;
            count.bytes += bytes.len() as u64;
        } else {
            count.others += 1;
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_read_in_two_parts() {
        let [first, second] =
            parse("# words\n# part 1: a tree\na 1.0.0\n# part 2\nb 2.0.0+x\n").unwrap();
        assert_eq!(
            first,
            [CrateVersion {
                name: "a".to_owned(),
                version: "1.0.0".to_owned()
            }]
        );
        assert_eq!(second[0].folder_name(), "b-2.0.0+x");
        assert!(manifest(&second).contains("c0 = { package = \"b\", version = \"=2.0.0\""));
    }

    #[test]
    fn a_list_without_parts_is_refused() {
        assert!(parse("a 1.0.0\n").is_err());
        assert!(parse("# part 1\na 1.0.0\n").is_err());
        assert!(parse("# part 1\na\n# part 2\nb 1.0.0\n").is_err());
    }

    #[test]
    fn the_committed_list_names_every_crate_once() {
        let path = repository::root().join("tools/bench/corpus.txt");
        let crates = parse(&fs::read_to_string(path).unwrap()).unwrap().concat();
        let distinct: std::collections::HashSet<_> = crates.iter().map(|one| &one.name).collect();
        assert_eq!(distinct.len(), crates.len());
    }

    #[test]
    fn the_committed_queries_are_short_and_distinct() {
        let queries = queries().unwrap();
        assert!(queries.len() >= 100, "{} queries", queries.len());
        assert!(
            queries
                .iter()
                .all(|query| (1..=7).contains(&query.split_whitespace().count()))
        );
        let distinct: std::collections::HashSet<_> = queries.iter().collect();
        assert_eq!(distinct.len(), queries.len());
    }

    #[test]
    fn hidden_files_stay_behind_and_only_text_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("from");
        fs::create_dir_all(from.join("src")).unwrap();
        fs::write(from.join(".gitignore"), "x").unwrap();
        fs::write(from.join("src/lib.rs"), "fn a() {}").unwrap();
        fs::write(from.join("logo.png"), b"\x89PNG\0").unwrap();
        let to = folder.path().join("to");
        copy_tree(&from, &to).unwrap();
        assert_eq!(
            count_tree(&to).unwrap(),
            Count {
                files: 1,
                bytes: 9,
                others: 1
            }
        );
    }
}
