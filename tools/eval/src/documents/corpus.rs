//! The files with known answers: `../shared/documents/corpus`, listed in its `SOURCES.tsv`, and what other
//! programs read in them, in `oracle/`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use xtask::repository;

/// The formats, in the order of the table.
pub(super) const FORMATS: [&str; 17] = [
    "pdf", "docx", "doc", "rtf", "odt", "pptx", "ppt", "odp", "xlsx", "xls", "ods", "csv", "html",
    "md", "xml", "txt", "code",
];

/// One file of the corpus.
#[derive(Debug, Clone)]
pub(super) struct CorpusFile {
    pub(super) format: String,
    pub(super) name: String,
    /// Whether it must be refused.
    pub(super) is_negative: bool,
    pub(super) path: PathBuf,
    /// What other programs read in it.
    pub(super) oracle: PathBuf,
}

/// Where the corpus is, as for the judged collections of `eval`.
pub(super) fn default_folder() -> PathBuf {
    repository::root()
        .parent()
        .unwrap_or(Path::new("/"))
        .join("shared/documents")
}

/// All files of the corpus in `folder`, by format in the order of the table, then by name.
pub(super) fn files(folder: &Path) -> Result<Vec<CorpusFile>> {
    let list = folder.join("corpus/SOURCES.tsv");
    let text =
        fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let mut files = Vec::new();
    for line in text.lines().skip(1) {
        let mut fields = line.split('\t');
        let (Some(format), Some(name), Some(kind)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        files.push(CorpusFile {
            format: format.to_owned(),
            name: name.to_owned(),
            is_negative: kind == "negative",
            path: folder.join("corpus").join(format).join(name),
            oracle: folder
                .join("oracle")
                .join(format)
                .join(format!("{name}.json")),
        });
    }
    let rank = |file: &CorpusFile| FORMATS.iter().position(|format| *format == file.format);
    files.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.name.cmp(&b.name)));
    Ok(files)
}

/// The small real files that this repository carries, for machines without the corpus.
pub(super) fn carried_files() -> Result<Vec<PathBuf>> {
    let folder = repository::root().join("tests/corpus/documents");
    let mut paths = Vec::new();
    if folder.is_dir() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_file() && path.extension().is_some_and(|extension| extension != "md") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    Ok(paths)
}
