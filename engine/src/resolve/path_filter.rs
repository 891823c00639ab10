//! Globs of a request, of which those that begin with `!` exclude.

use kb_types::error::{Error, Result};

use crate::catalog::Catalog;
use crate::container::Snapshot;
use crate::resolve::disk_globs::globs;
use crate::resolve::glob::Globs;

/// What makes a glob one that excludes.
const EXCLUDES: char = '!';

/// Which paths pass: those that any glob of `kept` matches, and none of `excluded`.
#[derive(Debug)]
pub(crate) struct PathFilter {
    /// `None`: all pass that are not excluded.
    pub(crate) kept: Option<Globs>,
    /// `None`: no glob excludes.
    pub(crate) excluded: Option<Globs>,
}

impl PathFilter {
    /// Reads the globs of a request.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a glob that is not valid; [`Error::Damaged`].
    pub(crate) fn new(
        snapshot: &Snapshot<'_>,
        catalog: &Catalog,
        given: &[String],
    ) -> Result<PathFilter> {
        let (mut kept, mut excluded) = (Vec::new(), Vec::new());
        for glob in given {
            match excluding(glob) {
                None => kept.push(unescaped(glob).to_owned()),
                Some(glob) if glob.trim().is_empty() => {
                    return Err(Error::InvalidArgument {
                        argument: "path",
                        reason: "\"!\" excludes nothing; give a glob behind it: \"!docs/**\""
                            .to_owned(),
                    });
                }
                Some(glob) => excluded.push(unescaped(glob).to_owned()),
            }
        }
        let read = |some: Vec<String>| {
            let any = (!some.is_empty()).then_some(some);
            any.map(|some| globs(snapshot, catalog, &some)).transpose()
        };
        Ok(PathFilter {
            kept: read(kept)?,
            excluded: read(excluded)?,
        })
    }
}

/// The glob of those documents that a glob excludes; `None`: it does not exclude.
pub(crate) fn excluding(glob: &str) -> Option<&str> {
    glob.strip_prefix(EXCLUDES)
}

/// A glob without the `\` before a first `!`, which is part of the name then.
fn unescaped(glob: &str) -> &str {
    match glob.strip_prefix('\\') {
        Some(name) if name.starts_with(EXCLUDES) => name,
        _ => glob,
    }
}
