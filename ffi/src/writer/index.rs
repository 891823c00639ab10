//! Index runs and sealing.

use std::path::PathBuf;

use crate::base::boundary::fallible;
use crate::base::error::kb_error;
use crate::base::fault::Fault;
use crate::base::progress::Listener;
use crate::base::status::kb_status;
use crate::base::str::kb_str;
use crate::base::{handle, options, text};
use crate::writer::open::kb_writer;
use crate::writer::options::{IndexTexts, kb_index_options, kb_seal_options};
use crate::writer::report::kb_report;

/// Indexes folders and files: reads what changed since the last run. The run commits by itself, together with pending
/// changes. Readers see all of a run at once; only the first run of a new file also commits after each 30 s or 64 MiB
/// of text.
///
/// Errors: `KB_PATH_NOT_FOUND`, `KB_ROOT_VANISHED`, `KB_INDEX_LOCKED`, `KB_CANCELLED` (the file keeps its last commit),
/// `KB_NOT_REPLACEABLE` (an older format, see docs/versioning.md), `KB_STORAGE`, `KB_IO`, `KB_IN_USE`. A source file
/// that cannot be read is not an error: it is listed in the report.
///
/// # Safety
/// `writer` is an open writer; all else may be read, `out` and `err` written, where they are not NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_writer_index(
    writer: *mut kb_writer,
    paths: *const kb_str,
    paths_len: usize,
    options: *const kb_index_options,
    out: *mut *mut kb_report,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            handle::hand_over(out, || {
                let writer = handle::used(writer, "writer")?;
                let paths = text::items(paths, paths_len, "paths")?;
                let paths = paths.iter().map(|path| text::required_path(*path, "paths"));
                let paths: Vec<PathBuf> = paths.collect::<Result<_, Fault>>()?;
                if paths.is_empty() {
                    return Err(Fault::argument("paths", "there is none"));
                }
                let options = options::read(options, "options")?;
                let texts = IndexTexts {
                    root: text::optional(options.root, "root")?,
                    include: text::optional_texts(options.include, options.include_len, "include")?,
                    exclude: text::optional_texts(options.exclude, options.exclude_len, "exclude")?,
                };
                let listener = Listener {
                    callback: options.progress,
                    data: options.progress_data,
                };
                writer.index(&paths, &options, &texts, &listener)
            })
        })
    }
}

/// Commits pending changes and writes the smallest form of the file, for shipping, to `output` or in place. The commit stays
/// even if sealing fails.
///
/// Errors: `KB_OUTPUT_EXISTS`, `KB_NOT_REPLACEABLE`, `KB_INDEX_LOCKED`, `KB_CANCELLED` (the file stays as it was),
/// `KB_STORAGE`, `KB_IO`, `KB_IN_USE`.
///
/// # Safety
/// As for `kb_writer_index`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_writer_seal(
    writer: *mut kb_writer,
    options: *const kb_seal_options,
    out: *mut *mut kb_report,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            handle::hand_over(out, || {
                let writer = handle::used(writer, "writer")?;
                let options = options::read(options, "options")?;
                let output = text::path(options.output, "output")?;
                let listener = Listener {
                    callback: options.progress,
                    data: options.progress_data,
                };
                writer.seal(output.as_deref(), &options, &listener)
            })
        })
    }
}
