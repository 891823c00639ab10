//! Verification: whether the bytes of a file are what was written.

use std::ffi::c_void;

use kb_engine::{VerifyOptions, VerifyReport};

use crate::base::boundary::fallible;
use crate::base::error::kb_error;
use crate::base::handle::{self, Opaque};
use crate::base::options::{self, BySize};
use crate::base::panic::infallible;
use crate::base::progress::{Listener, kb_progress_fn};
use crate::base::status::kb_status;
use crate::base::str::kb_str;
use crate::reader::open::kb;

/// Options of a verification. Zeros are defaults: begin with `KB_VERIFY_OPTIONS_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_verify_options {
    /// sizeof(kb_verify_options).
    pub struct_size: usize,
    /// Not 0: also decode all contents and compare them with each other; about ten times slower.
    pub deep: i32,
    /// Progress callback; NULL: none.
    pub progress: kb_progress_fn,
    /// Passed to `progress`.
    pub progress_data: *mut c_void,
}

// SAFETY: `repr(C)`, it begins with its size, and all else is numbers and pointers.
unsafe impl BySize for kb_verify_options {
    const NAME: &str = "kb_verify_options";
}

/// The problems that a verification found. The caller owns it: `kb_problems_free`.
#[allow(non_camel_case_types)]
pub struct kb_problems {
    _private: [u8; 0],
}

impl Opaque for kb_problems {
    type Value = VerifyReport;
    const TAG: u64 = u64::from_le_bytes(*b"kb.probs");
    const NAME: &str = "kb_problems";
}

/// Compares a file with its checksums, at about 6 GB/s if it is in memory. Returns `KB_OK` if the check ran to its end,
/// also if it found problems: see `kb_problems_len`.
///
/// Errors: `KB_CANCELLED`, `KB_SNAPSHOT_EXPIRED`, `KB_IO`.
///
/// # Safety
/// `file` is an open file; all else may be read, `out` and `err` written, where they are not NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_verify(
    file: *const kb,
    options: *const kb_verify_options,
    out: *mut *mut kb_problems,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            handle::hand_over(out, || {
                let file = handle::used(file, "file")?;
                let options = options::read(options, "options")?;
                let listener = Listener {
                    callback: options.progress,
                    data: options.progress_data,
                };
                let wanted = VerifyOptions::new().deep(options.deep != 0);
                Ok(file.verify(&wanted, &mut |progress| listener.tell(progress))?)
            })
        })
    }
}

/// Number of problems; 0: the file is sound.
///
/// # Safety
/// `problems` is NULL or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_problems_len(problems: *const kb_problems) -> usize {
    infallible(0, || {
        // SAFETY: as the caller promises.
        unsafe { handle::peek(problems) }.map_or(0, |all| all.problems.len())
    })
}

/// One problem, as a sentence; empty for an index from `kb_problems_len` on. Valid until the problems are freed.
///
/// # Safety
/// `problems` is NULL or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_problems_get(problems: *const kb_problems, index: usize) -> kb_str {
    infallible(kb_str::EMPTY, || {
        // SAFETY: as the caller promises.
        let problem = unsafe { handle::peek(problems) }.and_then(|all| all.problems.get(index));
        problem.map_or(kb_str::EMPTY, |problem| kb_str::of(problem))
    })
}

/// Frees problems and sets the pointer to NULL. Does nothing if either is NULL.
///
/// # Safety
/// `problems` is NULL or points to NULL or to live problems.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_problems_free(problems: *mut *mut kb_problems) {
    // SAFETY: as the caller promises.
    infallible((), || unsafe { handle::free(problems) });
}
