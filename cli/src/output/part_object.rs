//! The page, sheet or slide of a text, in JSON.

use kb_engine::PartAddress;

use crate::output::json::Object;

/// The page, sheet or slide that a text lies in.
pub(crate) fn part_object(part: &PartAddress) -> Object {
    match part {
        PartAddress::Page {
            number,
            total,
            source,
            label,
            ..
        } => Object::new()
            .field("page", *number)
            .field("total_pages", *total)
            .field("source", source.name())
            .field("label", &**label),
        PartAddress::Sheet {
            name,
            first_row,
            last_row,
            ..
        } => Object::new()
            .field("sheet", &**name)
            .field("first_row", *first_row)
            .field("last_row", *last_row),
        PartAddress::Slide {
            number,
            total,
            title,
            ..
        } => Object::new()
            .field("slide", *number)
            .field("total_slides", *total)
            .field("slide_title", &**title),
    }
}
