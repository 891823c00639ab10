//! [`kb`]: a file that is open for reading.

use std::sync::Arc;

use kb_engine::Kb;

use crate::base::boundary::fallible;
use crate::base::error::kb_error;
use crate::base::fault::Fault;
use crate::base::handle::{self, Opaque};
use crate::base::status::kb_status;
use crate::base::str::kb_str;
use crate::base::text;

/// A file that is open for reading and searching. Any number of threads may use it at once. Each call reads the newest
/// commit and does not disturb a writer. The caller owns it: `kb_close`.
#[allow(non_camel_case_types)]
pub struct kb {
    _private: [u8; 0],
}

impl Opaque for kb {
    type Value = Kb;
    const TAG: u64 = u64::from_le_bytes(*b"kb.reads");
    const NAME: &str = "kb";
}

/// Opens a file. Takes milliseconds at any size, because the file is mapped, not read.
///
/// Errors: `KB_PATH_NOT_FOUND`, `KB_IO`, `KB_NOT_A_KB`, `KB_FORMAT_UNSUPPORTED`, `KB_DAMAGED`.
///
/// # Safety
/// `path` may be read; `out` and `err` are NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_open(
    path: kb_str,
    out: *mut *mut kb,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            handle::hand_over(out, || {
                let path = text::required_path(path, "path")?;
                Ok(Kb::open(path)?)
            })
        })
    }
}

/// Opens a file from its bytes in memory, for example from an archive or an executable. The bytes are copied.
///
/// Errors: as those of `kb_open`.
///
/// # Safety
/// `len` bytes at `data` may be read; `out` and `err` are NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_open_bytes(
    data: *const u8,
    len: usize,
    out: *mut *mut kb,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            handle::hand_over(out, || {
                let bytes = text::bytes(data, len, "data")?;
                let bytes = bytes.ok_or_else(|| Fault::argument("data", "it is NULL"))?;
                Ok(Kb::from_bytes(Arc::<[u8]>::from(bytes))?)
            })
        })
    }
}

/// Closes a file and sets the pointer to NULL, so that a second close does nothing. Its results stay valid. Does nothing
/// if either pointer is NULL.
///
/// Errors: `KB_IN_USE` during a call with it, in another thread or around this callback; the file stays open.
///
/// # Safety
/// `file` is NULL or points to NULL or to an open file; `err` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_close(file: *mut *mut kb, err: *mut *mut kb_error) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe { fallible(err, || handle::close(file)) }
}
