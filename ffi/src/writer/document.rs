//! A document to add.

use std::ffi::c_void;

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
    /// Its path in the file: "notes/tides.md". The ending says how the bytes are read.
    pub path: kb_str,
    /// The bytes of the document: UTF-8 text, or those of a file.
    pub data: *const c_void,
    /// How many.
    pub data_len: usize,
    /// Its title; NULL: its first heading, else its name. It is searched and embedded with the text, so give an empty one
    /// to a text whose name says nothing.
    pub title: kb_str,
    /// Tags.
    pub tags: *const kb_str,
    /// How many.
    pub tags_len: usize,
    /// More that is stated about it, beside what it states itself.
    pub metadata: *const kb_pair,
    /// How many.
    pub metadata_len: usize,
    /// Modification time of the original, milliseconds since 1970; 0: now.
    pub modified_ms: i64,
    /// Not 0: it takes the place of a document of its path, with its handle and tags.
    pub replace: i32,
    /// Not 0: it is added though it is, or holds, a key or credentials.
    pub include_secrets: i32,
    /// Called while the bytes are read; NULL: nobody.
    pub progress: kb_progress_fn,
    /// Handed to `progress`.
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
    pub(crate) modified_ms: Option<i64>,
    pub(crate) replace: bool,
    pub(crate) include_secrets: bool,
}
