//! Turns a panic of a format library into an error: a library may panic on a malicious file.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Once;

use super::error::VectorFileError;

thread_local! {
    /// Whether this thread is inside a guarded call.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body`, which calls a format library. After a panic, the caller must not use the state that `body` worked on.
pub(super) fn guarded<T>(
    path: &Path,
    body: impl FnOnce() -> Result<T, VectorFileError>,
) -> Result<T, VectorFileError> {
    static HOOK: Once = Once::new();
    // A panic is printed before it unwinds.
    HOOK.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                others(panic);
            }
        }));
    });
    IS_GUARDED.set(true);
    let result = catch_unwind(AssertUnwindSafe(body));
    IS_GUARDED.set(false);
    result.unwrap_or_else(|payload| {
        // Dropping the payload may panic too.
        std::mem::forget(payload);
        Err(damaged(path, "its parts contradict each other"))
    })
}

/// Returns the error for a file that violates its format.
pub(super) fn damaged(path: &Path, reason: impl std::fmt::Display) -> VectorFileError {
    // Messages of libraries may contain text of the file.
    let reason: String = reason.to_string().chars().take(300).collect();
    VectorFileError::new(
        path,
        format!("it is damaged, or of another format: {reason}"),
        "write the file again",
    )
}
