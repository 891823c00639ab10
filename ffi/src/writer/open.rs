//! [`kb_writer`]: a file that is open for writing.

use crate::base::boundary::fallible;
use crate::base::error::kb_error;
use crate::base::handle::{self, Opaque};
use crate::base::panic::infallible;
use crate::base::status::kb_status;
use crate::base::str::kb_str;
use crate::base::{options, text};
use crate::writer::Writer;
use crate::writer::options::kb_writer_options;

/// A file that is open for writing. One call at a time: a second one does not wait, but fails with `KB_IN_USE`. The
/// first change locks the file until this writer is closed or rolled back. Changes of other writers, in any process,
/// wait for up to their `lock_timeout_ms` and then fail with `KB_INDEX_LOCKED`. Readers see changes after
/// `kb_writer_commit`. After a fork, the child may only close the writer. The caller owns it: `kb_writer_close`.
#[allow(non_camel_case_types)]
pub struct kb_writer {
    _private: [u8; 0],
}

impl Opaque for kb_writer {
    type Value = Writer;
    const TAG: u64 = u64::from_le_bytes(*b"kb.write");
    const NAME: &str = "kb_writer";
}

/// Opens a file for writing. A new file appears with its first commit.
///
/// Errors: `KB_PATH_NOT_FOUND`, `KB_IO`, `KB_NOT_A_KB`, `KB_FORMAT_UNSUPPORTED`, `KB_DAMAGED`; `KB_NOT_BUILT` in a library
/// that only reads.
///
/// # Safety
/// `path` may be read; `options`, `out` and `err` are NULL or may be read and written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_writer_open(
    path: kb_str,
    options: *const kb_writer_options,
    out: *mut *mut kb_writer,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            handle::hand_over(out, || {
                let path = text::required_path(path, "path")?;
                let options = options::read(options, "options")?;
                let worker = text::path(options.worker, "worker")?;
                Writer::open(&path, &options, worker)
            })
        })
    }
}

/// Closes a writer and sets the pointer to NULL, so that a second close does nothing. Uncommitted changes are lost. Does
/// nothing if either pointer is NULL.
///
/// Errors: `KB_IN_USE` during a call with it, in another thread or around this callback; the writer stays open.
///
/// # Safety
/// `writer` is NULL or points to NULL or to an open writer; `err` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_writer_close(
    writer: *mut *mut kb_writer,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe { fallible(err, || handle::close(writer)) }
}

/// Number of documents that the next commit changes; 0 for NULL, and while another call with this writer runs.
///
/// # Safety
/// `writer` is NULL or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_writer_pending(writer: *const kb_writer) -> usize {
    infallible(0, || {
        // SAFETY: as the caller promises.
        let writer = unsafe { handle::used(writer, "writer") };
        writer.map_or(0, |writer| writer.pending())
    })
}
