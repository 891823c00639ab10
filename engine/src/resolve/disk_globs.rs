//! Globs that begin with a folder on the disk: `/home/ada/notes/docs/**`, `C:\notes\*.md`, `file:///notes/a.md`.

use kb_types::error::Result;
use kb_types::percent;

use crate::catalog::Catalog;
use crate::container::{MAX_KEY_BYTES, Snapshot};
use crate::resolve::disk_path::{DiskPath, file_uri_path, may_be, root_below};
use crate::resolve::folders::{folder_on_disk, has_folder};
use crate::resolve::glob::{Globs, META};

/// Characters that make a path a pattern where `\` parts names.
const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// The globs of a request, those over paths on the disk as globs over documents.
///
/// # Errors
/// As [`Globs::new`]; [`crate::Error::Damaged`].
pub(crate) fn globs(snapshot: &Snapshot<'_>, catalog: &Catalog, given: &[String]) -> Result<Globs> {
    if !given.iter().any(|glob| may_be(glob)) {
        return Globs::new(given);
    }
    let mut globs = Vec::with_capacity(given.len());
    for glob in given {
        let translated = disk_glob(snapshot, catalog, glob)?;
        globs.push(translated.unwrap_or_else(|| glob.clone()));
    }
    Globs::new(&globs)
}

/// Whether a path or glob may be one of the disk.
pub(crate) fn is_disk_path(glob: &str) -> bool {
    may_be(glob)
}

/// The glob over documents that a glob over paths of the disk means; `None`: it is one over documents already. A folder
/// that documents have by this name goes before one of the disk.
///
/// # Errors
/// [`crate::Error::Damaged`].
pub(crate) fn disk_glob(
    snapshot: &Snapshot<'_>,
    catalog: &Catalog,
    glob: &str,
) -> Result<Option<String>> {
    if glob.len() > MAX_KEY_BYTES || !may_be(glob) {
        return Ok(None);
    }
    let Some(text) = with_slashes(glob) else {
        return Ok(None);
    };
    // A name without a pattern, or the folder before the pattern.
    let at = text.find(META).map_or(text.len(), |meta| {
        text.get(..meta)
            .and_then(|before| before.rfind('/'))
            .map_or(0, |slash| slash + 1)
    });
    let (literal, pattern) = text.split_at(at);
    let by_path = |path: &str| catalog.documents.by_path(snapshot, path);
    let plain = literal.trim_start_matches("./").trim_matches('/');
    let is_document = pattern.is_empty() && by_path(plain)?.is_some();
    if plain.is_empty() || is_document || has_folder(snapshot, catalog, plain)? {
        return Ok((text != glob).then_some(text));
    }
    let Some(disk) = DiskPath::of(literal) else {
        return Ok((text != glob).then_some(text));
    };
    if pattern.is_empty() {
        for place in disk.places(&catalog.meta.roots) {
            if by_path(&place)?.is_some() {
                return Ok(Some(from_top(&place, "")));
            }
        }
    }
    if let Some(folder) = folder_on_disk(snapshot, catalog, &disk)? {
        let all = pattern.is_empty() && folder.contains(META);
        return Ok(Some(from_top(&folder, if all { "**" } else { pattern })));
    }
    if pattern.is_empty()
        && let Ok(found) = super::locate(snapshot, catalog, None, literal)
    {
        let path = catalog.documents.get(snapshot, found.id)?.path;
        return Ok(Some(from_top(&path, "")));
    }
    // `/home/**/*.md` begins above a root.
    if (pattern == "**" || pattern.starts_with("**/"))
        && let Some(root) = root_below(literal, &catalog.meta.roots)
    {
        return Ok(Some(from_top(&root.prefix, pattern)));
    }
    Ok((text != glob).then_some(text))
}

/// A glob that begins at the top, in a folder that is no pattern.
fn from_top(folder: &str, pattern: &str) -> String {
    // A name has no pattern where all of the glob is one.
    let is_name = pattern.is_empty() && !folder.contains(META);
    let folder = if is_name {
        folder.to_owned()
    } else {
        crate::glob::escape(folder)
    };
    match folder.as_str() {
        "" => format!("/{pattern}"),
        folder if pattern.is_empty() => format!("/{folder}"),
        folder => format!("/{folder}/{pattern}"),
    }
}

/// A glob with `/` between its names, and without the scheme of a URI; `None` where it has neither `\` nor a scheme
/// but escapes.
fn with_slashes(glob: &str) -> Option<String> {
    if let Some(path) = file_uri_path(glob) {
        let decoded = percent::decode(&path).unwrap_or_else(|| path.clone());
        let path = if path.contains(WILDCARDS) {
            decoded
        } else {
            crate::glob::escape(&decoded)
        };
        return Some(path);
    }
    if !glob.contains('\\') {
        return Some(glob.to_owned());
    }
    parts_names(glob).then(|| glob.trim_start_matches(r"\\?\").replace('\\', "/"))
}

/// Whether `\` parts the names of a glob, and does not escape: behind a drive, before a share, and where there is no
/// `/` and it stands before a letter, or before a `*` that begins a name.
fn parts_names(glob: &str) -> bool {
    let mut start = glob.bytes();
    let has_drive = start.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && start.next() == Some(b':')
        && start.next() == Some(b'\\');
    if has_drive || glob.starts_with(r"\\") {
        return true;
    }
    let mut behind = glob.split('\\').skip(1);
    let parts = |name: &str| {
        name.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '*'))
    };
    !glob.contains('/') && behind.all(|name| name.is_empty() || parts(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_parts_names_or_escapes() {
        let read = |glob: &str| with_slashes(glob);
        for (glob, path) in [
            (r"src\net\*.rs", "src/net/*.rs"),
            (r"src\**\*.rs", "src/**/*.rs"),
            (r".\src\a.rs", "./src/a.rs"),
            (r"C:\notes\[ab]*.md", "C:/notes/[ab]*.md"),
            (r"\\?\C:\notes\a.md", "C:/notes/a.md"),
            ("file:///notes/a%20b.md", "/notes/a b.md"),
            ("file:///notes/a%20b/**", "/notes/a b/**"),
            ("file:///notes/%5Bid%5D.md", "/notes/[[]id[]].md"),
            ("/notes/**", "/notes/**"),
        ] {
            assert_eq!(read(glob).as_deref(), Some(path), "{glob}");
        }
        for glob in [r"d/\[z\].txt", r"\[z\].txt", r"a/b\c"] {
            assert_eq!(read(glob), None, "{glob}");
        }
    }

    #[test]
    fn a_folder_is_no_pattern() {
        assert_eq!(from_top("", "*.md"), "/*.md");
        assert_eq!(from_top("a/b", "**"), "/a/b/**");
        assert_eq!(from_top("a[b", "**"), "/a[[]b/**");
        assert_eq!(from_top("a", ""), "/a");
    }
}
