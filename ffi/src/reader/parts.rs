//! [`kb_parts`]: the pages, sheets or slides of a document.

use kb_engine::{DocumentParts, PageOptions, PartContent};

use crate::base::boundary::fallible;
use crate::base::error::kb_error;
use crate::base::handle::{self, Opaque};
use crate::base::options::{self, BySize};
use crate::base::panic::infallible;
use crate::base::status::kb_status;
use crate::base::str::kb_str;
use crate::base::text;
use crate::reader::items::no_item;
use crate::reader::kinds::part_number;
use crate::reader::open::kb;

/// The pages, sheets or slides of a document. The caller owns it: `kb_parts_free`.
#[allow(non_camel_case_types)]
pub struct kb_parts {
    _private: [u8; 0],
}

/// A page, sheet or slide. Texts are valid until the parts are freed.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_part {
    /// sizeof(kb_part).
    pub struct_size: usize,
    /// A `kb_part_kind`.
    pub kind: i32,
    /// Its number in the document, from 1.
    pub number: u32,
    /// Name of the sheet, title of the slide, or number printed on the page.
    pub name: kb_str,
    /// First byte in the stored text.
    pub start_byte: u32,
    /// End in bytes, exclusive.
    pub end_byte: u32,
    /// First line; 0 where it has no text.
    pub first_line: u32,
    /// Last line, included.
    pub last_line: u32,
    /// Rows of a sheet.
    pub rows: u32,
    /// Columns of a sheet.
    pub columns: u32,
    /// Number of the header row of a sheet; 0: none.
    pub header_row: u32,
    /// Not 0: a hidden sheet or slide.
    pub is_hidden: i32,
}

// SAFETY: `repr(C)`, it begins with its size, and all else is numbers and pointers.
unsafe impl BySize for kb_part {
    const NAME: &str = "kb_part";
}

impl Opaque for kb_parts {
    type Value = DocumentParts;
    const TAG: u64 = u64::from_le_bytes(*b"kb.parts");
    const NAME: &str = "kb_parts";
}

/// Returns the pages, sheets or slides of a document; empty if it has none. `kb_get_text` of their lines returns their
/// text. The calls "sheet" and "pages" of `kb_call` return cells with their values.
///
/// Errors: `KB_DOCUMENT_NOT_FOUND`, `KB_AMBIGUOUS_DOCUMENT`.
///
/// # Safety
/// `file` is an open file; `name` may be read; `out` and `err` are NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_get_parts(
    file: *const kb,
    name: kb_str,
    out: *mut *mut kb_parts,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            handle::hand_over(out, || {
                let file = handle::used(file, "file")?;
                let name = text::required(name, "name")?;
                Ok(file.parts(name, &PageOptions::default())?)
            })
        })
    }
}

/// How many parts there are; 0 for NULL.
///
/// # Safety
/// `parts` is NULL or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_parts_len(parts: *const kb_parts) -> usize {
    infallible(0, || {
        // SAFETY: as the caller promises.
        unsafe { handle::peek(parts) }.map_or(0, |all| all.parts.len())
    })
}

/// Fills `out` with one part: `kb_part part = KB_PART_INIT;`
///
/// Errors: `KB_INVALID_ARGUMENT` for an index from `kb_parts_len` on.
///
/// # Safety
/// `parts` is live; `out` may be written as far as its size says; `err` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_parts_get(
    parts: *const kb_parts,
    index: usize,
    out: *mut kb_part,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            let all = handle::used(parts, "parts")?;
            let part = all.parts.get(index);
            let part = part.ok_or_else(|| no_item(index, all.parts.len()))?;
            let mut view = kb_part {
                struct_size: size_of::<kb_part>(),
                kind: part_number(all.document.part_kind),
                number: part.number,
                name: kb_str::EMPTY,
                start_byte: part.span.start,
                end_byte: part.span.end,
                first_line: part.lines.first,
                last_line: part.lines.last,
                rows: 0,
                columns: 0,
                header_row: 0,
                is_hidden: 0,
            };
            match &part.content {
                PartContent::Page(page) => view.name = kb_str::of(&page.label),
                PartContent::Sheet(sheet) => {
                    view.name = kb_str::of(&sheet.name);
                    (view.rows, view.columns) = (sheet.rows, sheet.columns);
                    view.header_row = sheet.header_row.unwrap_or_default();
                    view.is_hidden = i32::from(sheet.is_hidden);
                }
                PartContent::Slide(slide) => {
                    view.name = kb_str::of(&slide.title);
                    view.is_hidden = i32::from(slide.is_hidden);
                }
            }
            options::fill(out, &view, "out")
        })
    }
}

/// Frees parts and sets the pointer to NULL. Does nothing if either is NULL.
///
/// # Safety
/// `parts` is NULL or points to NULL or to live parts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_parts_free(parts: *mut *mut kb_parts) {
    // SAFETY: as the caller promises.
    infallible((), || unsafe { handle::free(parts) });
}
