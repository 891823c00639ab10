//! The location of a text in its document, as fields of a result. The fields are the arguments of the tool that reads it.

use kb_engine::PartAddress;

/// What of a page, sheet or slide results have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::tools) struct PartLocation<'a> {
    pub(in crate::tools) page: Option<u32>,
    pub(in crate::tools) total_pages: Option<u32>,
    /// The name of the sheet; none in a file that is one table.
    pub(in crate::tools) sheet: Option<&'a str>,
    /// Rows of the sheet.
    pub(in crate::tools) start_row: Option<u32>,
    pub(in crate::tools) end_row: Option<u32>,
    pub(in crate::tools) slide: Option<u32>,
}

impl<'a> PartLocation<'a> {
    /// Empty for a text of a document without parts.
    pub(in crate::tools) fn of(part: Option<&'a PartAddress>) -> PartLocation<'a> {
        let mut location = PartLocation::default();
        match part {
            None => {}
            Some(PartAddress::Page { number, total, .. }) => {
                location.page = Some(*number);
                location.total_pages = Some(*total);
            }
            Some(PartAddress::Slide { number, .. }) => location.slide = Some(*number),
            Some(PartAddress::Sheet {
                name,
                first_row,
                last_row,
                ..
            }) => {
                location.sheet = (!name.is_empty()).then_some(name);
                location.start_row = Some(*first_row);
                location.end_row = Some(*last_row);
            }
        }
        location
    }
}
