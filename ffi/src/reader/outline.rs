//! [`kb_sections`]: the outline of a document.

use kb_engine::{DocumentSections, PageOptions};

use crate::base::boundary::fallible;
use crate::base::error::kb_error;
use crate::base::handle::{self, Opaque};
use crate::base::options::{self, BySize};
use crate::base::panic::infallible;
use crate::base::status::kb_status;
use crate::base::str::kb_str;
use crate::base::text;
use crate::reader::items::no_item;
use crate::reader::kinds::kind_bit;
use crate::reader::open::kb;

/// The sections of a document: its headings, or the symbols of a program. The caller owns it: `kb_sections_free`.
#[allow(non_camel_case_types)]
pub struct kb_sections {
    _private: [u8; 0],
}

/// A section. Texts are valid until the sections are freed.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct kb_section {
    /// sizeof(kb_section).
    pub struct_size: usize,
    /// Number of the section: "2.1".
    pub number: kb_str,
    /// Text of the heading; of a symbol its label: `fn parse`.
    pub title: kb_str,
    /// Name of the symbol: `parse`; empty for other sections.
    pub symbol: kb_str,
    /// One bit of `kb_symbol_kind`; 0 for other sections.
    pub symbol_kind: u32,
    /// Depth of the heading, from 1.
    pub level: u32,
    /// First line in the original, from 1.
    pub first_line: u32,
    /// Last line, included.
    pub last_line: u32,
    /// First byte in the stored text.
    pub start_byte: u32,
    /// End in bytes, exclusive.
    pub end_byte: u32,
    /// Number of the page, sheet or slide in which it begins; 0: the document has none.
    pub part_number: u32,
}

// SAFETY: `repr(C)`, it begins with its size, and all else is numbers and pointers.
unsafe impl BySize for kb_section {
    const NAME: &str = "kb_section";
}

impl Opaque for kb_sections {
    type Value = DocumentSections;
    const TAG: u64 = u64::from_le_bytes(*b"kb.sects");
    const NAME: &str = "kb_sections";
}

/// Returns the outline of a document, in reading order; empty if it has none.
///
/// Errors: `KB_DOCUMENT_NOT_FOUND`, `KB_AMBIGUOUS_DOCUMENT`.
///
/// # Safety
/// `file` is an open file; `name` may be read; `out` and `err` are NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_get_outline(
    file: *const kb,
    name: kb_str,
    out: *mut *mut kb_sections,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            handle::hand_over(out, || {
                let file = handle::used(file, "file")?;
                let name = text::required(name, "name")?;
                Ok(file.sections(name, &PageOptions::default())?)
            })
        })
    }
}

/// How many sections there are; 0 for NULL.
///
/// # Safety
/// `sections` is NULL or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_sections_len(sections: *const kb_sections) -> usize {
    infallible(0, || {
        // SAFETY: as the caller promises.
        unsafe { handle::peek(sections) }.map_or(0, |all| all.sections.len())
    })
}

/// Fills `out` with one section: `kb_section section = KB_SECTION_INIT;`
///
/// Errors: `KB_INVALID_ARGUMENT` for an index from `kb_sections_len` on.
///
/// # Safety
/// `sections` is live; `out` may be written as far as its size says; `err` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_sections_get(
    sections: *const kb_sections,
    index: usize,
    out: *mut kb_section,
    err: *mut *mut kb_error,
) -> kb_status {
    // SAFETY: as the caller promises.
    unsafe {
        fallible(err, || {
            let all = handle::used(sections, "sections")?;
            let section = all.sections.get(index);
            let section = section.ok_or_else(|| no_item(index, all.sections.len()))?;
            let view = kb_section {
                struct_size: size_of::<kb_section>(),
                number: kb_str::of(&section.number),
                title: kb_str::of(&section.title),
                symbol: section
                    .name
                    .as_ref()
                    .map_or(kb_str::EMPTY, |it| kb_str::of(it)),
                symbol_kind: section.kind.map_or(0, kind_bit),
                level: u32::from(section.level),
                first_line: section.lines.first,
                last_line: section.lines.last,
                start_byte: section.span.start,
                end_byte: section.span.end,
                part_number: section.part.unwrap_or_default(),
            };
            options::fill(out, &view, "out")
        })
    }
}

/// Frees sections and sets the pointer to NULL. Does nothing if either is NULL.
///
/// # Safety
/// `sections` is NULL or points to NULL or to live sections.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kb_sections_free(sections: *mut *mut kb_sections) {
    // SAFETY: as the caller promises.
    infallible((), || unsafe { handle::free(sections) });
}
