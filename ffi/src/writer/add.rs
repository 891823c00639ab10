//! Adding documents one by one.

use crate::base::boundary::fallible;
use crate::base::error::kb_error;
use crate::base::fault::Fault;
use crate::base::progress::Listener;
use crate::base::status::kb_status;
use crate::base::{handle, options, text};
use crate::reader::documents::kb_pair;
use crate::writer::document::{NewDocument, kb_new_document};
use crate::writer::open::kb_writer;

/// Adds a document with the next commit. It is read and split into chunks at once.
///
/// Errors: `KB_INVALID_ARGUMENT` (an invalid path, or keys or credentials in the content), `KB_DOCUMENT_EXISTS`,
/// `KB_INDEX_LOCKED`, `KB_ENCRYPTED`, `KB_EXTRACTION_LIMIT`, `KB_EXTRACTION_FAILED`, `KB_NO_EXTRACTION_WORKER`,
/// `KB_FILE_TOO_LARGE`, `KB_CANCELLED`, `KB_IN_USE`.
///
/// # Safety
/// `writer` is an open writer; `document` and what it points to may be read; `err` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_writer_add(
    writer: *mut kb_writer,
    document: *const kb_new_document,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            let writer = handle::used(writer, "writer")?;
            if document.is_null() {
                return Err(Fault::argument("document", "it is NULL"));
            }
            let given = options::read(document, "document")?;
            let data = text::bytes(given.data.cast(), given.data_len, "data")?;
            let pairs = text::items(given.metadata, given.metadata_len, "metadata")?;
            let pair = |pair: &kb_pair| {
                let key = text::required(pair.key, "metadata")?;
                Ok((key, text::required(pair.value, "metadata")?))
            };
            let document = NewDocument {
                path: text::required(given.path, "path")?,
                data: data.unwrap_or_default(),
                title: text::optional(given.title, "title")?,
                tags: text::texts(given.tags, given.tags_len, "tags")?,
                metadata: pairs.iter().map(pair).collect::<Result<_, Fault>>()?,
                fields: Vec::new(),
                modified_ms: (given.modified_ms != 0).then_some(given.modified_ms),
                replace: given.replace != 0,
                include_secrets: given.include_secrets != 0,
            };
            let listener = Listener {
                callback: given.progress,
                data: given.progress_data,
            };
            writer.add(&document, &listener).map(|_| ())
        })
    }
}
