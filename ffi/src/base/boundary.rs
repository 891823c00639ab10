//! The boundary: no panic leaves a function of this library.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::base::error::kb_error;
use crate::base::fault::Fault;
use crate::base::handle;
use crate::base::status::kb_status;

/// Runs the body of a function that can fail. A panic in it becomes `KB_PANIC`.
///
/// # Safety
/// `error` is null or may be written.
pub(crate) unsafe fn fallible(
    error: *mut *mut kb_error,
    body: impl FnOnce() -> Result<(), Fault>,
) -> kb_status {
    let fault = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => None,
        Ok(Err(fault)) => Some(fault),
        Err(payload) => Some(Fault::panicked(payload)),
    };
    let status = fault.as_ref().map_or(kb_status::Ok, Fault::status);
    if !error.is_null() {
        let made = fault.map_or(std::ptr::null_mut(), |fault| {
            handle::new::<kb_error>(fault.into())
        });
        // SAFETY: not null, and the caller says that it may be written.
        unsafe { error.write(made) };
    }
    status
}
