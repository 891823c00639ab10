//! Other changes, commit and rollback.

use std::ffi::c_void;

use crate::base::boundary::fallible;
use crate::base::error::kb_error;
use crate::base::progress::{Listener, kb_progress_fn};
use crate::base::status::kb_status;
use crate::base::str::kb_str;
use crate::base::{handle, text};
use crate::writer::open::kb_writer;

/// Removes a document with the next commit, by path, handle, or the end of its path.
///
/// Errors: `KB_DOCUMENT_NOT_FOUND`, `KB_AMBIGUOUS_DOCUMENT`, `KB_INDEX_LOCKED`, `KB_IN_USE`.
///
/// # Safety
/// `writer` is an open writer; `name` may be read; `err` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_writer_remove(
    writer: *mut kb_writer,
    name: kb_str,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            let writer = handle::used(writer, "writer")?;
            writer.remove(text::required(name, "name")?).map(|_| ())
        })
    }
}

/// Adds and removes tags of a document with the next commit.
///
/// Errors: `KB_DOCUMENT_NOT_FOUND`, `KB_AMBIGUOUS_DOCUMENT`, `KB_INVALID_ARGUMENT` (an invalid tag), `KB_INDEX_LOCKED`,
/// `KB_IN_USE`.
///
/// # Safety
/// `writer` is an open writer; `name` and the tags may be read; `err` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_writer_tag(
    writer: *mut kb_writer,
    name: kb_str,
    add: *const kb_str,
    add_len: usize,
    remove: *const kb_str,
    remove_len: usize,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            let writer = handle::used(writer, "writer")?;
            let name = text::required(name, "name")?;
            let add = text::texts(add, add_len, "add")?;
            let remove = text::texts(remove, remove_len, "remove")?;
            writer.tag(name, &add, &remove).map(|_| ())
        })
    }
}

/// Makes all pending changes durable and visible to readers in one step. `progress` is NULL, or is called with
/// `progress_data`.
///
/// Errors: `KB_STORAGE`, `KB_IO`, `KB_FILE_REPLACED`, `KB_CANCELLED`, `KB_IN_USE`. After `KB_IN_USE` the pending
/// changes remain. After any other error the file keeps its last commit, and the pending changes are lost.
///
/// # Safety
/// `writer` is an open writer; `err` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_writer_commit(
    writer: *mut kb_writer,
    progress: kb_progress_fn,
    progress_data: *mut c_void,
    err: *mut *mut kb_error,
) -> kb_status {
    let listener = Listener {
        callback: progress,
        data: progress_data,
    };
    // SAFETY: as the caller promises.
    unsafe { fallible(err, || handle::used(writer, "writer")?.commit(&listener)) }
}

/// Discards all changes since the last commit, and releases the file to other writers.
///
/// Errors: `KB_IN_USE`.
///
/// # Safety
/// `writer` is an open writer; `err` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_writer_rollback(
    writer: *mut kb_writer,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe { fallible(err, || handle::used(writer, "writer")?.rollback()) }
}
