//! Third-party components of the program: their licence texts, and a CycloneDX bill of materials.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use xtask::repository::{cargo, root};

use super::workspace::workspace_value;

/// Beginnings of the names of files that hold terms or notices.
const TERMS: [&str; 6] = [
    "license",
    "licence",
    "copying",
    "notice",
    "copyright",
    "unlicense",
];

/// A library that is linked in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Library {
    name: String,
    version: String,
    licence: String,
    source: String,
}

/// Writes `THIRD-PARTY.txt` and `sbom.cdx.json` into a stage.
pub(super) fn write(target: &str, version: &str, stage: &Path) -> Result<()> {
    let libraries = linked(target)?;
    fs::write(stage.join("THIRD-PARTY.txt"), terms(&libraries)?)?;
    let checksums = checksums(&fs::read_to_string(root().join("Cargo.lock"))?);
    let bill = bill(target, version, &libraries, &checksums)?;
    fs::write(stage.join("sbom.cdx.json"), bill)?;
    Ok(())
}

/// The libraries from registries that are linked into `kb`, sorted; macros run at build time only.
fn linked(target: &str) -> Result<Vec<Library>> {
    let mut tree = cargo(&[
        "tree",
        "--locked",
        "--package",
        "kb-cli",
        "--prefix",
        "none",
    ]);
    tree.args(["--edges", "normal,no-proc-macro", "--format", "{p}|{l}|{r}"]);
    let output = tree.args(["--target", target]).output()?;
    if !output.status.success() {
        bail!("{tree:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout)?;
    let mut libraries: Vec<Library> = text.lines().filter_map(library).collect();
    libraries.sort();
    libraries.dedup();
    Ok(libraries)
}

/// The library of a line like `adler2 v2.0.1|0BSD OR MIT|https://...`; `None` for packages of the workspace.
fn library(line: &str) -> Option<Library> {
    let mut fields = line.trim_end_matches(" (*)").split('|');
    let mut package = fields.next()?.split(' ');
    let (name, version) = (package.next()?, package.next()?.strip_prefix('v')?);
    // Behind the version stands the folder of a package that comes from no registry.
    if package.next().is_some() {
        return None;
    }
    Some(Library {
        name: name.to_owned(),
        version: version.to_owned(),
        licence: fields.next().unwrap_or_default().to_owned(),
        source: fields.next().unwrap_or_default().to_owned(),
    })
}

/// Every library with its licence, then each text of terms once, with the libraries that it came with.
fn terms(libraries: &[Library]) -> Result<String> {
    let mut page = String::from(
        "kb contains the libraries below, the Rust standard library (MIT OR Apache-2.0) and, in programs for Linux\n\
         that are linked statically, musl (MIT). MODEL.md names what the embedding model was learned from.\n\n",
    );
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut without = Vec::new();
    for library in libraries {
        let Library {
            name,
            version,
            licence,
            source,
        } = library;
        writeln!(page, "{name} {version}: {licence}, {source}")?;
        let texts_of_library = terms_of(library)?;
        if texts_of_library.is_empty() {
            without.push(format!("{name} {version}"));
        }
        for text in texts_of_library {
            texts
                .entry(text)
                .or_default()
                .push(format!("{name} {version}"));
        }
    }
    if !without.is_empty() {
        writeln!(
            page,
            "\nThese are published without a file of terms; the licence named above applies: {}",
            without.join(", ")
        )?;
    }
    for (text, names) in &texts {
        writeln!(page, "\n{}\n{}\n", "=".repeat(80), names.join(", "))?;
        writeln!(page, "{}", text.trim())?;
    }
    Ok(page)
}

/// The files of terms in the sources of a library, as cargo unpacked them.
fn terms_of(library: &Library) -> Result<Vec<String>> {
    let folder = sources(library)?;
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file() && has_terms(path))
        .collect();
    files.sort();
    let texts = files.iter().map(|file| {
        let bytes = fs::read(file).with_context(|| file.display().to_string())?;
        Ok(String::from_utf8_lossy(&bytes).replace("\r\n", "\n"))
    });
    texts.collect()
}

fn has_terms(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_lowercase();
    TERMS.iter().any(|start| name.starts_with(start))
}

/// Where cargo unpacked a library.
fn sources(library: &Library) -> Result<PathBuf> {
    let home = match env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => {
            let home = env::var_os("HOME").or_else(|| env::var_os("USERPROFILE"));
            PathBuf::from(home.context("neither CARGO_HOME nor HOME is set")?).join(".cargo")
        }
    };
    let name = format!("{}-{}", library.name, library.version);
    let registries = fs::read_dir(home.join("registry/src"))?;
    let mut folders = registries.filter_map(|entry| Some(entry.ok()?.path().join(&name)));
    let found = folders.find(|folder| folder.is_dir());
    found.with_context(|| format!("cargo has not unpacked {name}"))
}

/// SHA-256 of the packages of registries, by name and version, from a lock file.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |package: &str, key: &str| {
        let start = format!("{key} = \"");
        let line = package.lines().find_map(|line| line.strip_prefix(&start))?;
        Some(line.split('"').next()?.to_owned())
    };
    let packages = lock.split("[[package]]").skip(1);
    let known = packages.filter_map(|package| {
        let name = value(package, "name")?;
        Some((
            (name, value(package, "version")?),
            value(package, "checksum")?,
        ))
    });
    known.collect()
}

/// CycloneDX 1.5. What it says depends on the commit alone: no time, no serial number.
fn bill(
    target: &str,
    version: &str,
    libraries: &[Library],
    checksums: &BTreeMap<(String, String), String>,
) -> Result<String> {
    let components: Vec<String> = libraries
        .iter()
        .map(|library| component(library, checksums))
        .collect();
    Ok(format!(
        "{{\n  \"bomFormat\": \"CycloneDX\",\n  \"specVersion\": \"1.5\",\n  \"version\": 1,\n  \"metadata\": {{\n    \
         \"component\": {{\"type\": \"application\", \"name\": \"kb\", \"version\": {}, \"licenses\": \
         [{{\"expression\": {}}}]}},\n    \"properties\": [{{\"name\": \"target\", \"value\": {}}}]\n  }},\n  \
         \"components\": [\n{}\n  ]\n}}\n",
        json(version),
        json(&workspace_value("license")?),
        json(target),
        components.join(",\n")
    ))
}

fn component(library: &Library, checksums: &BTreeMap<(String, String), String>) -> String {
    let Library {
        name,
        version,
        licence,
        ..
    } = library;
    let mut fields = vec![
        "\"type\": \"library\"".to_owned(),
        format!("\"name\": {}", json(name)),
        format!("\"version\": {}", json(version)),
        format!(
            "\"purl\": {}",
            json(&format!("pkg:cargo/{name}@{}", version.replace('+', "%2B")))
        ),
    ];
    if let Some(hash) = checksums.get(&(name.clone(), version.clone())) {
        fields.push(format!(
            "\"hashes\": [{{\"alg\": \"SHA-256\", \"content\": {}}}]",
            json(hash)
        ));
    }
    if !licence.is_empty() {
        // Old manifests separate alternatives by a slash.
        let licence = licence.replace('/', " OR ");
        fields.push(format!(
            "\"licenses\": [{{\"expression\": {}}}]",
            json(&licence)
        ));
    }
    format!("    {{{}}}", fields.join(", "))
}

/// A text as JSON: names, versions and licences are short and ASCII.
pub(super) fn json(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            ' '..='~' => quoted.push(character),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    let _ = write!(quoted, "\\u{unit:04x}");
                }
            }
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_read_from_the_tree() {
        let read =
            library("memchr v2.8.3|Unlicense OR MIT|https://example.com/memchr (*)").unwrap();
        assert_eq!(
            (read.name.as_str(), read.version.as_str()),
            ("memchr", "2.8.3")
        );
        assert_eq!(read.licence, "Unlicense OR MIT");
        assert_eq!(read.source, "https://example.com/memchr");
        assert_eq!(library("kb-engine v0.1.0 (/somewhere/engine)|MIT|"), None);
        assert_eq!(library(""), None);
    }

    #[test]
    fn checksums_are_read_from_the_lock_file() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"x\"\nchecksum = \"ff\"\n\n[[package]]\nname = \"ours\"\nversion = \"0.1.0\"\n";
        let read = checksums(lock);
        assert_eq!(read.len(), 1);
        assert_eq!(read[&("a".to_owned(), "1.0.0".to_owned())], "ff");
    }

    #[test]
    fn texts_become_json() {
        assert_eq!(
            json("a\"b\\\u{1f600}\n"),
            "\"a\\\"b\\\\\\ud83d\\ude00\\u000a\""
        );
    }
}
