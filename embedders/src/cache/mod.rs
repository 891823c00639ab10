//! The folder of models that have names: what `kb models add` fills.

mod gather;
mod source;

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use kb_types::EmbedError;

pub use self::gather::Addition;
use self::source::{Source, failed};

/// Names that mean something else.
const RESERVED: [&str; 8] = [
    "builtin",
    "none",
    "onnx",
    "model2vec",
    "fastembed",
    "openai",
    "python",
    "deep",
];

/// The folder of models that have names.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

/// The kind of a folder of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A graph in the format ONNX.
    Onnx,
    /// A table of token vectors.
    Model2Vec,
}

impl Kind {
    /// The word in specifications.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Onnx => "onnx",
            Kind::Model2Vec => "model2vec",
        }
    }
}

/// A model in the cache.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// Bytes of its files.
    pub size_bytes: u64,
}

/// The kind of the model in a folder; `None` if there is none.
pub(crate) fn kind(folder: &Path) -> Option<Kind> {
    if crate::onnx::GRAPHS
        .iter()
        .any(|name| folder.join(name).is_file())
    {
        Some(Kind::Onnx)
    } else if folder.join("model.safetensors").is_file() {
        Some(Kind::Model2Vec)
    } else {
        None
    }
}

/// Whether a model may have a name: letters and digits of ASCII, `.`, `_` and `-`.
pub(crate) fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=64).contains(&name.len())
        && !name.starts_with(['.', '-'])
        && name.bytes().all(is_plain)
        && !RESERVED.contains(&name)
}

impl Cache {
    /// The models in a folder, which need not exist.
    pub fn new(folder: impl Into<PathBuf>) -> Cache {
        Cache {
            folder: folder.into(),
        }
    }

    /// The folder that `KB_MODELS` names, or `kb/models` in the user's folder of caches; `None` if the environment
    /// names neither.
    pub fn of_user() -> Option<Cache> {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        if let Some(folder) = set("KB_MODELS") {
            return Some(Cache::new(folder));
        }
        let caches = set("XDG_CACHE_HOME").map(PathBuf::from);
        let caches = caches.filter(|folder| folder.is_absolute());
        let of_home = || set("HOME").map(|home| Path::new(&home).join(".cache"));
        let of_windows = || set("LOCALAPPDATA").map(PathBuf::from);
        let caches = caches.or_else(of_home).or_else(of_windows)?;
        Some(Cache::new(caches.join("kb").join("models")))
    }

    /// Where the models are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The models, by name.
    pub fn list(&self) -> Vec<Entry> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut models: Vec<Entry> = entries
            .filter_map(|entry| self.get(entry.file_name().to_str()?))
            .collect();
        models.sort_by(|one, other| one.name.cmp(&other.name));
        models
    }

    /// The model of a name.
    pub fn get(&self, name: &str) -> Option<Entry> {
        if !is_name(name) {
            return None;
        }
        let path = self.folder.join(name);
        Some(Entry {
            name: name.to_owned(),
            kind: kind(&path)?,
            size_bytes: size(&path),
            path,
        })
    }

    /// Copies a model out of folders or of files `.whl` and `.zip`, and gives it a name. What several of them have is
    /// taken from the first. `check` gets the new folder before it has its name; if it fails, nothing is left.
    ///
    /// # Errors
    /// [`EmbedError::Specification`] for a name that is wrong or taken, [`EmbedError::Missing`] for files that are not
    /// there, and the errors of `check`.
    pub fn add(
        &self,
        name: &str,
        sources: &[PathBuf],
        addition: &Addition,
        check: impl FnOnce(&Path, Kind) -> Result<(), EmbedError>,
    ) -> Result<Entry, EmbedError> {
        self.check_free(name)?;
        let path = self.folder.join(name);
        let mut opened = Vec::with_capacity(sources.len());
        for source in sources {
            opened.push(Source::open(source)?);
        }
        fs::create_dir_all(&self.folder).map_err(|error| failed("create", &self.folder, &error))?;
        // No name of a model begins with a dot: a copy that was interrupted is not listed.
        let partial = Partial(self.folder.join(format!(".{name}-{}", process::id())));
        gather::copy(&mut opened, &partial.0, addition)?;
        let kind = kind(&partial.0).ok_or_else(|| EmbedError::Missing {
            what: "the model".to_owned(),
        })?;
        check(&partial.0, kind)?;
        fs::rename(&partial.0, &path).map_err(|error| failed("create", &path, &error))?;
        Ok(Entry {
            name: name.to_owned(),
            kind,
            size_bytes: size(&path),
            path,
        })
    }

    /// Checks that a model may get a name.
    ///
    /// # Errors
    /// [`EmbedError::Specification`] for a name that is wrong or taken.
    pub fn check_free(&self, name: &str) -> Result<(), EmbedError> {
        let fault = |reason: String| {
            Err(EmbedError::Specification {
                spec: name.to_owned(),
                reason,
            })
        };
        if !is_name(name) {
            return fault(
                "a name has 1 to 64 letters, digits, '.', '_' or '-', and is no kind of model"
                    .to_owned(),
            );
        }
        if self.folder.join(name).exists() {
            let folder = self.folder.display();
            return fault(format!("there is a model of this name in {folder}"));
        }
        Ok(())
    }

    /// Deletes a model.
    ///
    /// # Errors
    /// [`EmbedError::Missing`] if there is none of this name.
    pub fn remove(&self, name: &str) -> Result<Entry, EmbedError> {
        let entry = self.get(name).ok_or_else(|| EmbedError::Missing {
            what: format!("a model {name:?} in {}", self.folder.display()),
        })?;
        let removed = fs::remove_dir_all(&entry.path);
        removed.map_err(|error| failed("delete", &entry.path, &error))?;
        Ok(entry)
    }
}

/// A folder that is deleted unless it was renamed.
struct Partial(PathBuf);

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Bytes of the files of a model: two levels of folders.
fn size(folder: &Path) -> u64 {
    let files = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let mut sum = 0u64;
    for entry in files(folder) {
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => {
                for inner in files(&entry.path()) {
                    sum = sum.saturating_add(inner.metadata().map_or(0, |inner| inner.len()));
                }
            }
            Ok(metadata) => sum = sum.saturating_add(metadata.len()),
            Err(_) => {}
        }
    }
    sum
}

#[cfg(test)]
mod tests;
