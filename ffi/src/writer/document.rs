//! A document to add.

use std::ffi::c_void;

use kb_engine::FieldValue;

use crate::base::options::BySize;
use crate::base::progress::kb_progress_fn;
use crate::base::str::kb_str;
use crate::reader::documents::kb_pair;

/// A document to add. Zeros are defaults: begin with `KB_NEW_DOCUMENT_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_new_document {
    /// sizeof(kb_new_document).
    pub struct_size: usize,
    /// Its path in the file: "notes/tides.md". The extension decides how the bytes are read.
    pub path: kb_str,
    /// The content: UTF-8 text, or the bytes of a file.
    pub data: *const c_void,
    /// Number of bytes at `data`.
    pub data_len: usize,
    /// Its title; NULL: its first heading, else its name. The title is searched and embedded with the text, so pass an
    /// empty one, `KB_STR("")`, if the name is meaningless.
    pub title: kb_str,
    /// Tags.
    pub tags: *const kb_str,
    /// Number of items.
    pub tags_len: usize,
    /// Metadata in addition to that in the document.
    pub metadata: *const kb_pair,
    /// Number of items.
    pub metadata_len: usize,
    /// Modification time of the original, milliseconds since 1970; 0: now.
    pub modified_ms: i64,
    /// Not 0: replaces an existing document with this path; its handle and tags stay.
    pub replace: i32,
    /// Not 0: adds it even if it may hold keys or credentials.
    pub include_secrets: i32,
    /// Progress callback while the bytes are read; NULL: none.
    pub progress: kb_progress_fn,
    /// Passed to `progress`.
    pub progress_data: *mut c_void,
}

// SAFETY: `repr(C)`, it begins with its size, and all else is numbers and pointers.
unsafe impl BySize for kb_new_document {
    const NAME: &str = "kb_new_document";
}

/// What the engine needs of a document.
#[derive(Debug)]
#[cfg_attr(not(feature = "write"), expect(dead_code))]
pub(crate) struct NewDocument<'a> {
    pub(crate) path: &'a str,
    pub(crate) data: &'a [u8],
    pub(crate) title: Option<&'a str>,
    pub(crate) tags: Vec<&'a str>,
    pub(crate) metadata: Vec<(&'a str, &'a str)>,
    /// Fields that take the place of those of the same names.
    pub(crate) fields: Vec<(String, Vec<FieldValue>)>,
    pub(crate) modified_ms: Option<i64>,
    pub(crate) replace: bool,
    pub(crate) include_secrets: bool,
}
