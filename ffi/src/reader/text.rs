//! The stored text of documents.

use kb_engine::Lines;

use crate::base::boundary::fallible;
use crate::base::error::kb_error;
use crate::base::handle;
use crate::base::status::kb_status;
use crate::base::str::kb_str;
use crate::base::text::{self, ended, kb_text};
use crate::reader::open::kb;

/// The text of a document, or its lines `first_line` to `last_line`, counted from 1 and both included. 0 and 0 mean the
/// whole text; a `last_line` of 0 means to the end. `name` is a path, a handle, or the end of a path. It may name
/// lines: "a.md:10-20".
///
/// Errors: `KB_DOCUMENT_NOT_FOUND`, `KB_AMBIGUOUS_DOCUMENT`, `KB_INVALID_RANGE`; `KB_FILE_TOO_LARGE` for more than 256
/// MiB at once.
///
/// # Safety
/// `file` is an open file; `name` may be read; `out` and `err` are NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_get_text(
    file: *const kb,
    name: kb_str,
    first_line: u32,
    last_line: u32,
    out: *mut *mut kb_text,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            handle::hand_over(out, || {
                let file = handle::used(file, "file")?;
                let lines = match (first_line, last_line) {
                    (0, 0) => None,
                    (first, last) => Some(Lines {
                        first,
                        last: if last == 0 { u32::MAX } else { last },
                    }),
                };
                let found = file.text(text::required(name, "name")?, lines)?;
                Ok(ended(found.text))
            })
        })
    }
}

/// The text of a section of a document, by its number ("2.1") or title.
///
/// Errors: as those of `kb_get_text`, and `KB_SECTION_NOT_FOUND`.
///
/// # Safety
/// As for `kb_get_text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_get_section_text(
    file: *const kb,
    name: kb_str,
    section: kb_str,
    out: *mut *mut kb_text,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            handle::hand_over(out, || {
                let file = handle::used(file, "file")?;
                let name = text::required(name, "name")?;
                let section = text::required(section, "section")?;
                let page = kb_engine::PageOptions::default();
                Ok(ended(file.section_text(name, section, &page)?.text))
            })
        })
    }
}
