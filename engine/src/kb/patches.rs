//! Patches: what changed from one file to a newer one. The work is done in `ingest/run/patch`.

use std::cell::RefCell;
use std::path::Path;

use kb_types::error::Result;

use crate::ingest::run::{self, PatchOptions, PatchReport};
use crate::progress::{Hook, Reporter};

/// Writes to `output` what changed from the file `old` to `new`: the documents that are new or changed, and the paths of
/// those that are gone. It is written whole or not at all, and only if [`apply_patch`] makes the content root of `new`
/// of it. Fields that people gave, times and vectors of other models are taken with the documents that it holds.
///
/// Cost: copies `old` once beside the output, and seals what changed.
///
/// # Errors
/// [`crate::Error::OutputExists`]; [`crate::Error::InvalidArgument`] for files with vectors of two codecs;
/// [`crate::Error::EmbeddingModelUnavailable`] and [`crate::Error::FormatUnsupported`] for a file of another model or
/// analyser; [`crate::Error::PathNotFound`], [`crate::Error::Damaged`], [`crate::Error::Io`],
/// [`crate::Error::Cancelled`].
pub fn make_patch(
    old: impl AsRef<Path>,
    new: impl AsRef<Path>,
    output: impl AsRef<Path>,
    options: &PatchOptions,
    hook: &mut Hook<'_>,
) -> Result<PatchReport> {
    let hook = RefCell::new(hook);
    let reporter = Reporter::new(&hook);
    let paths = (old.as_ref(), new.as_ref(), output.as_ref());
    run::make_patch(paths.0, paths.1, paths.2, options, &reporter)
}

/// Makes the newer file of `base` and a patch, at `output`. It has the content root that the patch states, or nothing is
/// written. It is sealed if the newer file was. `base` stays as it is.
///
/// # Errors
/// [`crate::Error::InvalidArgument`] where the patch is none, is for another file than `base`, or makes something else;
/// [`crate::Error::Damaged`] for a patch that changed on its way; [`crate::Error::OutputExists`];
/// [`crate::Error::FormatUnsupported`] for a patch of a newer version; as [`make_patch`].
pub fn apply_patch(
    base: impl AsRef<Path>,
    patch: impl AsRef<Path>,
    output: impl AsRef<Path>,
    options: &PatchOptions,
    hook: &mut Hook<'_>,
) -> Result<PatchReport> {
    let hook = RefCell::new(hook);
    let reporter = Reporter::new(&hook);
    let paths = (base.as_ref(), patch.as_ref(), output.as_ref());
    run::apply_patch(paths.0, paths.1, paths.2, options, &reporter)
}
