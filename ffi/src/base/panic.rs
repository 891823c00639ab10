//! Panics, which do not leave this library.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the body of a function that has no way to say that it failed; `default` where it panics.
pub(crate) fn infallible<T>(default: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
        drop_quietly(payload);
        default
    })
}

/// Drops what a panic carried, which may panic itself.
pub(crate) fn drop_quietly(payload: Box<dyn std::any::Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(move || drop(payload))) {
        std::mem::forget(again);
    }
}
