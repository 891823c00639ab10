//! [`kb_str`]: a pointer and a length, borrowed.

use std::ffi::c_char;
use std::ptr;

/// A borrowed UTF-8 text. It is not NUL-terminated and may contain NUL. As an argument, a NULL pointer with length 0
/// means "none". As a result, it is valid until the object that it came from is freed, and `ptr` is never NULL.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_str {
    /// The first byte.
    pub ptr: *const c_char,
    /// Number of bytes.
    pub len: usize,
}

impl kb_str {
    /// No text.
    pub(crate) const EMPTY: kb_str = kb_str {
        ptr: c"".as_ptr(),
        len: 0,
    };

    /// A text that something else owns.
    pub(crate) fn of(text: &str) -> kb_str {
        kb_str {
            ptr: text.as_ptr().cast(),
            len: text.len(),
        }
    }
}

/// The address of an array that something else owns; NULL where it is empty.
pub(crate) fn pointers<T>(items: &[T]) -> *const T {
    match items {
        [] => ptr::null(),
        items => items.as_ptr(),
    }
}
