//! [`kb_documents`]: what a file records about its documents.

use kb_engine::DocumentInfo;

use crate::base::boundary::fallible;
use crate::base::error::kb_error;
use crate::base::handle::{self, Opaque};
use crate::base::options::{self, BySize};
use crate::base::panic::infallible;
use crate::base::status::kb_status;
use crate::base::str::{kb_str, pointers};
use crate::base::text;
use crate::reader::items::no_item;
use crate::reader::kinds::{class_number, part_number};
use crate::reader::open::kb;

/// Documents one call returns at most.
const LIMIT: usize = 10_000;

/// Documents of a file. The caller owns it: `kb_documents_free`.
#[allow(non_camel_case_types)]
pub struct kb_documents {
    _private: [u8; 0],
}

/// A key with its value.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_pair {
    /// The key.
    pub key: kb_str,
    /// The value.
    pub value: kb_str,
}

/// The stored facts about a document. Texts and arrays are valid until the documents are freed.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_document {
    /// sizeof(kb_document).
    pub struct_size: usize,
    /// Path in the .kb, with `/`.
    pub path: kb_str,
    /// Title; the file name if the document has no title.
    pub title: kb_str,
    /// A short name that stays the same if the document is renamed.
    pub handle: kb_str,
    /// File type: `markdown`, `rust`, `pdf`.
    pub file_type: kb_str,
    /// Programming language; empty for prose.
    pub language: kb_str,
    /// A `kb_class`.
    pub document_class: i32,
    /// A `kb_part_kind`; 0: it has no parts.
    pub part_kind: i32,
    /// How many pages, sheets or slides.
    pub parts: u32,
    /// Number of lines of the original.
    pub lines: u32,
    /// Chunks.
    pub chunks: u32,
    /// Size of the original in bytes.
    pub size_bytes: u64,
    /// Size of the stored text in bytes.
    pub text_bytes: u64,
    /// Modification time of the original, milliseconds since 1970; 0: unknown.
    pub modified_ms: i64,
    /// When it was added to the .kb, milliseconds since 1970 (UTC).
    pub added_ms: i64,
    /// Its tags.
    pub tags: *const kb_str,
    /// Number of items.
    pub tags_len: usize,
    /// Metadata that the document states, such as author and date.
    pub metadata: *const kb_pair,
    /// Number of items.
    pub metadata_len: usize,
    /// BLAKE3 of the original bytes.
    pub hash: [u8; 32],
}

// SAFETY: `repr(C)`, it begins with its size, and all else is numbers and pointers.
unsafe impl BySize for kb_document {
    const NAME: &str = "kb_document";
}

/// What is behind the pointer. Nothing in it changes once it is made: views point into the texts beside them.
#[derive(Debug)]
pub(crate) struct Documents {
    documents: Vec<DocumentInfo>,
    /// Tags and metadata, by document.
    made: Vec<(Vec<kb_str>, Vec<kb_pair>)>,
}

impl Opaque for kb_documents {
    type Value = Documents;
    const TAG: u64 = u64::from_le_bytes(*b"kb.docs\0");
    const NAME: &str = "kb_documents";
}

impl Documents {
    fn new(documents: Vec<DocumentInfo>) -> Documents {
        let made = documents.iter().map(|document| {
            let tags = document.tags.iter().map(|tag| kb_str::of(tag)).collect();
            let pairs = document.metadata.iter().map(|(key, value)| kb_pair {
                key: kb_str::of(key),
                value: kb_str::of(value),
            });
            (tags, pairs.collect())
        });
        Documents {
            made: made.collect(),
            documents,
        }
    }

    fn view(&self, index: usize) -> Option<kb_document> {
        let (document, (tags, metadata)) = (self.documents.get(index)?, self.made.get(index)?);
        Some(kb_document {
            struct_size: size_of::<kb_document>(),
            path: kb_str::of(&document.path),
            title: kb_str::of(&document.title),
            handle: kb_str::of(&document.handle),
            file_type: kb_str::of(&document.file_type),
            language: kb_str::of(&document.language),
            document_class: class_number(document.class),
            part_kind: part_number(document.part_kind),
            parts: document.parts,
            lines: document.lines,
            chunks: document.chunks,
            size_bytes: document.size_bytes,
            text_bytes: document.text_bytes,
            modified_ms: document.modified_ms,
            added_ms: document.added_ms,
            tags: pointers(tags),
            tags_len: tags.len(),
            metadata: pointers(metadata),
            metadata_len: metadata.len(),
            hash: document.hash,
        })
    }
}

/// Finds a document by path, handle, or the end of its path. The result has one document.
///
/// Errors: `KB_DOCUMENT_NOT_FOUND` with the nearest name as hint, `KB_AMBIGUOUS_DOCUMENT`.
///
/// # Safety
/// `file` is an open file; `name` may be read; `out` and `err` are NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_find_document(
    file: *const kb,
    name: kb_str,
    out: *mut *mut kb_documents,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            handle::hand_over(out, || {
                let file = handle::used(file, "file")?;
                let document = file.document(text::required(name, "name")?)?;
                Ok(Documents::new(vec![document]))
            })
        })
    }
}

/// Lists documents in the order of their path bytes, beginning after the path `after` (NULL: from the first one). Returns
/// at most `limit` documents; 0 means 10000, which is the maximum. Pass the last path as `after` to continue; an empty
/// result is the end.
///
/// # Safety
/// As for `kb_find_document`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_list_documents(
    file: *const kb,
    after: kb_str,
    limit: usize,
    out: *mut *mut kb_documents,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            handle::hand_over(out, || {
                let file = handle::used(file, "file")?;
                let after = text::optional(after, "after")?;
                let limit = if limit == 0 { LIMIT } else { limit.min(LIMIT) };
                Ok(Documents::new(file.documents_after(after, limit)?))
            })
        })
    }
}

/// How many documents there are; 0 for NULL.
///
/// # Safety
/// `documents` is NULL or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_documents_len(documents: *const kb_documents) -> usize {
    infallible(0, || {
        // SAFETY: as the caller promises.
        unsafe { handle::peek(documents) }.map_or(0, |all| all.documents.len())
    })
}

/// Fills `out` with one document: `kb_document document = KB_DOCUMENT_INIT;`
///
/// Errors: `KB_INVALID_ARGUMENT` for an index from `kb_documents_len` on.
///
/// # Safety
/// `documents` is live; `out` may be written as far as its size says; `err` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_documents_get(
    documents: *const kb_documents,
    index: usize,
    out: *mut kb_document,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            let all = handle::used(documents, "documents")?;
            let document = all.view(index);
            let document = document.ok_or_else(|| no_item(index, all.documents.len()))?;
            options::fill(out, &document, "out")
        })
    }
}

/// Frees documents and sets the pointer to NULL. Does nothing if either is NULL.
///
/// # Safety
/// `documents` is NULL or points to NULL or to live documents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_documents_free(documents: *mut *mut kb_documents) {
    // SAFETY: as the caller promises.
    infallible((), || unsafe { handle::free(documents) });
}
