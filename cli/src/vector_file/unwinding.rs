//! Calls of libraries that may panic on a file that lies to them: an error in place of it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Once;

use super::error::VectorFileError;

thread_local! {
    /// Whether this thread is inside a call whose panic is told as an error.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body`, which calls the library of a format. What it was working on is not used after a panic.
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
        // It may panic itself while it is dropped.
        std::mem::forget(payload);
        Err(damaged(path, "its parts contradict each other"))
    })
}

/// A file that is not what its format asks for.
pub(super) fn damaged(path: &Path, reason: impl std::fmt::Display) -> VectorFileError {
    // Libraries repeat what they found.
    let reason: String = reason.to_string().chars().take(300).collect();
    VectorFileError::new(
        path,
        format!("it is damaged, or of another format: {reason}"),
        "write the file again",
    )
}
