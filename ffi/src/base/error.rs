//! [`kb_error`]: the error of a failed call.

use kb_json::{Front, advice};

use crate::base::fault::Fault;
use crate::base::handle::{self, Opaque};
use crate::base::panic::infallible;
use crate::base::status::kb_status;
use crate::base::str::kb_str;

/// The error of a failed call: a status, a message and a hint. The caller owns it: `kb_error_free`.
#[allow(non_camel_case_types)]
pub struct kb_error {
    _private: [u8; 0],
}

/// What is behind the pointer.
#[derive(Debug)]
pub(crate) struct ErrorValue {
    pub(crate) status: kb_status,
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl From<Fault> for ErrorValue {
    fn from(fault: Fault) -> ErrorValue {
        let status = fault.status();
        let (message, hint) = match fault {
            Fault::Engine(error) => (error.to_string(), advice(&error, Front::C)),
            Fault::Own { message, hint, .. } => (message, hint.map(str::to_owned)),
        };
        ErrorValue {
            status,
            message,
            hint: hint.unwrap_or_default(),
        }
    }
}

impl Opaque for kb_error {
    type Value = ErrorValue;
    const TAG: u64 = u64::from_le_bytes(*b"kb.error");
    const NAME: &str = "kb_error";
}

/// The status of an error; `KB_OK` for NULL.
///
/// # Safety
/// `error` is NULL or a live error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_error_status(error: *const kb_error) -> kb_status {
    infallible(kb_status::Ok, || {
        // SAFETY: as the caller promises.
        unsafe { handle::peek(error) }.map_or(kb_status::Ok, |error| error.status)
    })
}

/// The stable name of its status: "DOCUMENT_NOT_FOUND". Static: it is never freed.
///
/// # Safety
/// `error` is NULL or a live error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_error_code(error: *const kb_error) -> kb_str {
    infallible(kb_str::EMPTY, || {
        // SAFETY: as the caller promises.
        let name = unsafe { handle::peek(error) }.map(|error| error.status.name());
        name.map_or(kb_str::EMPTY, |name| {
            kb_str::of(name.to_str().unwrap_or_default())
        })
    })
}

/// One sentence that says what happened, for people. Valid until the error is freed.
///
/// # Safety
/// `error` is NULL or a live error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_error_message(error: *const kb_error) -> kb_str {
    infallible(kb_str::EMPTY, || {
        // SAFETY: as the caller promises.
        unsafe { handle::peek(error) }.map_or(kb_str::EMPTY, |error| kb_str::of(&error.message))
    })
}

/// What to do, for people; may be empty. Valid until the error is freed.
///
/// # Safety
/// `error` is NULL or a live error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_error_hint(error: *const kb_error) -> kb_str {
    infallible(kb_str::EMPTY, || {
        // SAFETY: as the caller promises.
        unsafe { handle::peek(error) }.map_or(kb_str::EMPTY, |error| kb_str::of(&error.hint))
    })
}

/// Frees an error and sets the pointer to NULL. Does nothing if either is NULL.
///
/// # Safety
/// `error` is NULL or points to NULL or to a live error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_error_free(error: *mut *mut kb_error) {
    // SAFETY: as the caller promises.
    infallible((), || unsafe { handle::free(error) });
}
