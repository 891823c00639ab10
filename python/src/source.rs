//! The argument of `add`: a text, bytes, or a file.

use std::time::UNIX_EPOCH;

use kb_engine::{Document, Error, SourceInfo, secret_by_name, secret_in};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyString};

use crate::error::{invalid, raised, type_name};
use crate::kb::absolute;

/// Largest file that `add` reads.
const FILE_LIMIT_BYTES: u64 = 256 << 20;

/// What `add` was given.
pub(crate) struct Given {
    /// The name that says its format.
    pub(crate) name: String,
    pub(crate) content: Vec<u8>,
    /// When it was modified, in milliseconds since 1970; none where it is no file.
    pub(crate) modified_ms: Option<i64>,
}

/// A name for a text that was given none: of its title, else of its content, so that the same text has the same.
fn name_of(title: Option<&str>, text: &str) -> String {
    let slug: String = title
        .unwrap_or_default()
        .chars()
        .map(|it| if it.is_alphanumeric() { it } else { '-' })
        .flat_map(char::to_lowercase)
        .collect();
    let words: Vec<&str> = slug.split('-').filter(|word| !word.is_empty()).collect();
    let slug: String = words.join("-").chars().take(80).collect();
    if !slug.is_empty() {
        return format!("{slug}.txt");
    }
    let hash = SourceInfo::of(text.as_bytes()).hash;
    let digits: String = hash
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("text-{digits}.txt")
}

/// The content of a source, which is text, bytes, or the path of a file.
pub(crate) fn given(
    source: &Bound<'_, PyAny>,
    path: Option<&str>,
    title: Option<&str>,
) -> PyResult<Given> {
    let py = source.py();
    if source.is_instance_of::<PyString>() {
        let text: String = source.extract()?;
        let name = path.map_or_else(|| name_of(title, &text), str::to_owned);
        return Ok(Given {
            name,
            content: text.into_bytes(),
            modified_ms: None,
        });
    }
    if source.is_instance_of::<PyBytes>() || source.is_instance_of::<PyByteArray>() {
        let Some(path) = path else {
            return Err(invalid(
                py,
                "path: bytes have no name; give path=\"report.pdf\"",
            ));
        };
        let bytes = py.get_type::<PyBytes>().call1((source,))?;
        let bytes = bytes.cast::<PyBytes>()?.as_bytes().to_vec();
        return Ok(Given {
            name: path.to_owned(),
            content: bytes,
            modified_ms: None,
        });
    }
    if !source.hasattr("__fspath__")? {
        let message = format!(
            "source takes a str (text), bytes, or a pathlib.Path, not {}",
            type_name(source)
        );
        return Err(PyTypeError::new_err(message));
    }
    let file = absolute(source)?;
    let read = py.detach(|| read_file(&file));
    let (content, modified_ms) = read.map_err(|error| raised(py, &error))?;
    let name = file
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    // A path without an extension says nothing of the format; the name of the file may.
    let has_extension = path.is_some_and(|path| std::path::Path::new(path).extension().is_some());
    let name = match path {
        Some(path) if has_extension => path.to_owned(),
        _ => name,
    };
    Ok(Given {
        name,
        content,
        modified_ms,
    })
}

/// A file, and when it was modified.
fn read_file(file: &std::path::Path) -> Result<(Vec<u8>, Option<i64>), Error> {
    use std::io::Read as _;

    let io = |source| Error::Io {
        action: "read",
        path: file.to_owned(),
        source,
    };
    let metadata = match std::fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::PathNotFound {
                path: file.to_owned(),
            });
        }
        metadata => metadata.map_err(io)?,
    };
    if metadata.is_dir() {
        return Err(Error::InvalidArgument {
            argument: "source",
            reason: format!("{} is a folder; index() reads folders", file.display()),
        });
    }
    // Opening a pipe would wait for its other end.
    if !metadata.is_file() {
        return Err(Error::InvalidArgument {
            argument: "source",
            reason: format!("{} is not a regular file", file.display()),
        });
    }
    let mut content = Vec::new();
    let opened = std::fs::File::open(file).map_err(io)?;
    opened
        .take(FILE_LIMIT_BYTES + 1)
        .read_to_end(&mut content)
        .map_err(io)?;
    if content.len() as u64 > FILE_LIMIT_BYTES {
        return Err(Error::TooLarge {
            what: file.display().to_string(),
            size: metadata.len(),
            limit: FILE_LIMIT_BYTES,
        });
    }
    let modified = metadata.modified().ok();
    let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok((
        content,
        modified.and_then(|since| i64::try_from(since.as_millis()).ok()),
    ))
}

/// Refuses a document that is, or holds, a secret.
pub(crate) fn check_secrets(name: &str, document: &Document) -> Result<(), Error> {
    match secret_by_name(name).or_else(|| secret_in(document)) {
        Some(secret) => Err(Error::InvalidArgument {
            argument: "source",
            reason: format!("{name:?} {secret}; include_secrets=True adds it anyway"),
        }),
        None => Ok(()),
    }
}
