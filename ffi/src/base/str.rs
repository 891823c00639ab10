//! [`kb_str`]: a pointer and a length, borrowed.

use std::ffi::c_char;
use std::ptr;

/// Some bytes of UTF-8, borrowed: not ended by NUL, and they may hold NUL. As an argument: NULL and 0 are "none". As a
/// result: valid until what it came from is freed; `ptr` is not NULL, whatever `len` is.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_str {
    /// The first byte.
    pub ptr: *const c_char,
    /// How many bytes.
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
