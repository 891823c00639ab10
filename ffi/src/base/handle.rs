//! Handles, to which C holds pointers. A handle has a tag that tells its kind, and a count of the calls that use it.

use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::base::fault::Fault;

/// A type of which C knows the name alone.
pub(crate) trait Opaque {
    /// What is behind its pointers.
    type Value;
    /// Eight letters that no other type has.
    const TAG: u64;
    /// Its name in C.
    const NAME: &str;
}

/// What a pointer points to. The tag comes first in all of them.
#[repr(C)]
struct Handle<T> {
    tag: u64,
    calls: AtomicU32,
    value: T,
}

/// A handle that a call uses. It cannot be closed meanwhile.
#[derive(Debug)]
pub(crate) struct Used<'h, T> {
    calls: &'h AtomicU32,
    value: &'h T,
}

impl<T> Deref for Used<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value
    }
}

impl<T> Drop for Used<'_, T> {
    fn drop(&mut self) {
        self.calls.fetch_sub(1, Ordering::Release);
    }
}

/// Gives a value to C.
pub(crate) fn new<O: Opaque>(value: O::Value) -> *mut O {
    let handle = Handle {
        tag: O::TAG,
        calls: AtomicU32::new(0),
        value,
    };
    Box::into_raw(Box::new(handle)).cast()
}

/// The handle behind a pointer, if it is one of this kind.
///
/// # Safety
/// The pointer is null or a handle of this library that was not closed, which the result does not outlive.
unsafe fn handle<'h, O: Opaque>(pointer: *const O) -> Option<&'h Handle<O::Value>> {
    let pointer = pointer.cast::<Handle<O::Value>>();
    if pointer.is_null() || !pointer.is_aligned() {
        return None;
    }
    // SAFETY: not null; every handle begins with its tag, whatever its kind.
    let tag = unsafe { pointer.cast::<u64>().read() };
    // SAFETY: the tag says that it was made by `new` for this type.
    (tag == O::TAG).then(|| unsafe { &*pointer })
}

/// A handle for the length of a call.
///
/// # Safety
/// As for `handle`.
pub(crate) unsafe fn used<'h, O: Opaque>(
    pointer: *const O,
    argument: &str,
) -> Result<Used<'h, O::Value>, Fault> {
    // SAFETY: as the caller promises.
    let Some(handle) = (unsafe { handle(pointer) }) else {
        return Err(if pointer.is_null() {
            Fault::argument(argument, "it is NULL")
        } else {
            Fault::argument(argument, &format!("it is no {}", O::NAME))
        });
    };
    handle.calls.fetch_add(1, Ordering::Acquire);
    Ok(Used {
        calls: &handle.calls,
        value: &handle.value,
    })
}

/// What is behind a pointer, for functions without errors; `None` for NULL and for handles of another kind.
///
/// # Safety
/// As for `handle`; the value is not closed while it is looked at.
pub(crate) unsafe fn peek<'h, O: Opaque>(pointer: *const O) -> Option<&'h O::Value>
where
    O::Value: 'h,
{
    // SAFETY: as the caller promises.
    unsafe { handle(pointer) }.map(|handle| &handle.value)
}

/// Closes a handle that no call uses, and sets the pointer to NULL. Does nothing if either is NULL.
///
/// # Errors
/// The handle is in use, or of another kind; it stays open.
///
/// # Safety
/// The pointer is null, or points to null or to a handle of this library that was not closed.
pub(crate) unsafe fn close<O: Opaque>(pointer: *mut *mut O) -> Result<(), Fault> {
    if pointer.is_null() {
        return Ok(());
    }
    // SAFETY: not null, and the caller says that it may be read.
    let closed = unsafe { pointer.read() };
    if closed.is_null() {
        return Ok(());
    }
    // SAFETY: as the caller promises.
    let Some(handle) = (unsafe { handle(closed) }) else {
        return Err(Fault::argument("handle", &format!("it is no {}", O::NAME)));
    };
    if handle.calls.load(Ordering::Acquire) > 0 {
        return Err(Fault::in_use(O::NAME));
    }
    // SAFETY: `new` made it from a box of this type, and no call uses it.
    let owned = unsafe { Box::from_raw(closed.cast::<Handle<O::Value>>()) };
    // SAFETY: as for the read. Before the drop, which may run code of others.
    unsafe { pointer.write(std::ptr::null_mut()) };
    drop(owned);
    Ok(())
}

/// Frees a result, which is of this kind or stays as it is.
///
/// # Safety
/// As for `close`.
pub(crate) unsafe fn free<O: Opaque>(pointer: *mut *mut O) {
    // SAFETY: as the caller promises.
    let _ = unsafe { close(pointer) };
}

/// Hands a result over.
///
/// # Safety
/// `out` is null or may be written.
pub(crate) unsafe fn hand_over<O: Opaque>(
    out: *mut *mut O,
    make: impl FnOnce() -> Result<O::Value, Fault>,
) -> Result<(), Fault> {
    if out.is_null() {
        return Err(Fault::argument("out", "it is NULL"));
    }
    // SAFETY: not null, and the caller says that it may be written. Whoever does not look at the status frees NULL.
    unsafe { out.write(std::ptr::null_mut()) };
    let made = new::<O>(make()?);
    // SAFETY: as above.
    unsafe { out.write(made) };
    Ok(())
}
