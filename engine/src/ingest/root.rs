//! A root of the file, and which part of it one run looks at.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

use crate::ingest::walk::escaped;

/// A root that is looked at in this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Its number in the file.
    pub id: u32,
    /// The folder, absolute and without symbolic links.
    pub folder: PathBuf,
    /// First part of its document paths, without `/`; empty: none.
    pub prefix: String,
    /// Which of it is looked at.
    pub scope: Scope,
    /// Folders and files below it that belong to other roots.
    pub foreign: BTreeSet<PathBuf>,
    /// When it was looked at last, milliseconds since 1970; 0: never.
    pub indexed_ms: i64,
}

/// Which files of a root are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All that the rules let through.
    Whole,
    /// Of all that the rules let through, what lies at or below these paths, relative to the folder.
    Parts(BTreeSet<PathBuf>),
    /// Files directly in the folder, whatever the rules say of them.
    Files(BTreeSet<PathBuf>),
    /// All of it, and no file is left: its folder belongs to another root from now on.
    Superseded,
}

impl Root {
    /// Whether a document of this root is looked at in this run.
    pub fn covers(&self, document_path: &str) -> bool {
        let below = |part: &PathBuf| {
            let part = self.document_path(part);
            document_path
                .strip_prefix(part.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        match &self.scope {
            Scope::Whole | Scope::Superseded => true,
            Scope::Parts(parts) | Scope::Files(parts) => parts.iter().any(below),
        }
    }

    /// The root as so many roots as parts of it are looked at.
    pub fn parts(&self) -> Vec<Root> {
        let only = |part: &PathBuf, scope: fn(BTreeSet<PathBuf>) -> Scope| Root {
            scope: scope(BTreeSet::from([part.clone()])),
            ..self.clone()
        };
        match &self.scope {
            Scope::Whole | Scope::Superseded => vec![self.clone()],
            Scope::Parts(parts) => parts.iter().map(|part| only(part, Scope::Parts)).collect(),
            Scope::Files(parts) => parts.iter().map(|part| only(part, Scope::Files)).collect(),
        }
    }

    /// Where on disk it is looked at: the folder, or the only part.
    pub fn place(&self) -> PathBuf {
        match &self.scope {
            Scope::Parts(parts) | Scope::Files(parts) if parts.len() == 1 => {
                parts.iter().map(|part| self.folder.join(part)).collect()
            }
            _ => self.folder.clone(),
        }
    }

    /// The document path of a path below the folder: prefix and relative path with `/`, NFC, bytes
    /// that are not UTF-8 escaped.
    pub fn document_path(&self, relative: &Path) -> String {
        let names = relative.components().map(|part| escaped(part.as_os_str()));
        let prefix = Some(self.prefix.clone()).filter(|prefix| !prefix.is_empty());
        let parts: Vec<String> = prefix.into_iter().chain(names).collect();
        parts.join("/").nfc().collect()
    }
}
