//! Texts: a pointer and a length, borrowed.

use std::path::PathBuf;

use crate::base::fault::Fault;
use crate::base::handle::{self, Opaque};
use crate::base::panic::infallible;
use crate::base::str::kb_str;

/// The bytes of an argument; `None` for NULL.
///
/// # Safety
/// The bytes may be read while the result lives.
pub(crate) unsafe fn bytes<'a>(
    data: *const u8,
    len: usize,
    argument: &str,
) -> Result<Option<&'a [u8]>, Fault> {
    if data.is_null() {
        return match len {
            0 => Ok(None),
            _ => Err(Fault::argument(argument, "it is NULL, but has a length")),
        };
    }
    if isize::try_from(len).is_err() {
        return Err(Fault::argument(argument, "its length is no length"));
    }
    // SAFETY: not null, no longer than memory, and the caller says that it may be read.
    Ok(Some(unsafe { std::slice::from_raw_parts(data, len) }))
}

/// A text that may be left out.
///
/// # Safety
/// As for `bytes`.
pub(crate) unsafe fn optional<'a>(text: kb_str, argument: &str) -> Result<Option<&'a str>, Fault> {
    // SAFETY: as the caller promises.
    let bytes = unsafe { bytes(text.ptr.cast(), text.len, argument) }?;
    bytes
        .map(|bytes| {
            std::str::from_utf8(bytes).map_err(|error| {
                let at = error.valid_up_to();
                Fault::argument(argument, &format!("it is not UTF-8 at byte {at}"))
            })
        })
        .transpose()
}

/// A text that must be there; it may be empty.
///
/// # Safety
/// As for `bytes`.
pub(crate) unsafe fn required<'a>(text: kb_str, argument: &str) -> Result<&'a str, Fault> {
    // SAFETY: as the caller promises.
    let text = unsafe { optional(text, argument) }?;
    text.ok_or_else(|| Fault::argument(argument, "it is NULL"))
}

/// A path: bytes as the system has them on Unix, UTF-8 elsewhere.
///
/// # Safety
/// As for `bytes`.
pub(crate) unsafe fn path(text: kb_str, argument: &str) -> Result<Option<PathBuf>, Fault> {
    // SAFETY: as the caller promises.
    let Some(bytes) = (unsafe { bytes(text.ptr.cast(), text.len, argument) })? else {
        return Ok(None);
    };
    if bytes.is_empty() {
        return Err(Fault::argument(argument, "it is empty"));
    }
    if bytes.contains(&0) {
        return Err(Fault::argument(argument, "it holds a NUL"));
    }
    path_of(bytes, argument).map(Some)
}

/// A path that must be there.
///
/// # Safety
/// As for `bytes`.
pub(crate) unsafe fn required_path(text: kb_str, argument: &str) -> Result<PathBuf, Fault> {
    // SAFETY: as the caller promises.
    let path = unsafe { path(text, argument) }?;
    path.ok_or_else(|| Fault::argument(argument, "it is NULL"))
}

#[cfg(unix)]
fn path_of(bytes: &[u8], _: &str) -> Result<PathBuf, Fault> {
    use std::os::unix::ffi::OsStrExt;

    Ok(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8], argument: &str) -> Result<PathBuf, Fault> {
    let text = std::str::from_utf8(bytes);
    text.map(PathBuf::from)
        .map_err(|_| Fault::argument(argument, "it is not UTF-8"))
}

/// The items of an argument.
///
/// # Safety
/// As for `bytes`, for the items.
pub(crate) unsafe fn items<'a, T>(
    data: *const T,
    len: usize,
    argument: &str,
) -> Result<&'a [T], Fault> {
    if len == 0 {
        return Ok(&[]);
    }
    if data.is_null() {
        return Err(Fault::argument(argument, "it is NULL, but has a length"));
    }
    if !data.is_aligned() {
        return Err(Fault::argument(argument, "its address is not aligned"));
    }
    if len
        .checked_mul(size_of::<T>())
        .is_none_or(|bytes| isize::try_from(bytes).is_err())
    {
        return Err(Fault::argument(argument, "its length is no length"));
    }
    // SAFETY: not null, aligned, no longer than memory, and the caller says that it may be read.
    Ok(unsafe { std::slice::from_raw_parts(data, len) })
}

/// Several texts.
///
/// # Safety
/// As for `items`, and for `bytes` of each.
pub(crate) unsafe fn texts<'a>(
    data: *const kb_str,
    len: usize,
    argument: &str,
) -> Result<Vec<&'a str>, Fault> {
    // SAFETY: as the caller promises.
    let items = unsafe { items(data, len, argument) }?;
    // SAFETY: as the caller promises.
    let texts = items
        .iter()
        .map(|text| unsafe { required(*text, argument) });
    texts.collect()
}

/// Several texts that may be left out; `None` for NULL with length 0.
///
/// # Safety
/// As for [`texts`], which reads them unless `data` is NULL and `len` is 0.
pub(crate) unsafe fn optional_texts<'a>(
    data: *const kb_str,
    len: usize,
    argument: &str,
) -> Result<Option<Vec<&'a str>>, Fault> {
    if data.is_null() && len == 0 {
        return Ok(None);
    }
    // SAFETY: as the caller promises.
    unsafe { texts(data, len, argument) }.map(Some)
}

/// A text that the library returns: document text with its range of lines, or JSON. The caller owns it: `kb_text_free`.
#[allow(non_camel_case_types)]
pub struct kb_text {
    _private: [u8; 0],
}

impl Opaque for kb_text {
    type Value = String;
    const TAG: u64 = u64::from_le_bytes(*b"kb.text\0");
    const NAME: &str = "kb_text";
}

/// The bytes of a text, valid until it is freed; empty for NULL. A NUL follows the last byte and is not counted.
///
/// # Safety
/// `text` is NULL or a live text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_text_str(text: *const kb_text) -> kb_str {
    infallible(kb_str::EMPTY, || {
        // SAFETY: as the caller promises.
        let text = unsafe { handle::peek(text) };
        text.map_or(kb_str::EMPTY, |text| kb_str {
            ptr: text.as_ptr().cast(),
            // Without the NUL that `ended` put there.
            len: text.len().saturating_sub(1),
        })
    })
}

/// A text with the NUL that `kb_text_str` promises.
pub(crate) fn ended(mut text: String) -> String {
    text.push('\0');
    text
}

/// Frees a text and sets the pointer to NULL. Does nothing if either is NULL.
///
/// # Safety
/// `text` is NULL or points to NULL or to a live text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_text_free(text: *mut *mut kb_text) {
    // SAFETY: as the caller promises.
    infallible((), || unsafe { handle::free(text) });
}
