//! What a hit calls its page, sheet or slide.

use kb_engine::HitPart;

/// The page, sheet or slide of a hit behind a comma: `, page 3`. The title of a slide is in its text.
pub(super) fn part_name(part: &HitPart) -> String {
    match part {
        HitPart::Page { number, .. } => format!(", page {number}"),
        HitPart::Slide { number, .. } => format!(", slide {number}"),
        HitPart::Sheet {
            name,
            first_row,
            last_row,
            ..
        } => {
            let rows = if first_row == last_row {
                format!("row {first_row}")
            } else {
                format!("rows {first_row}-{last_row}")
            };
            if name.is_empty() {
                format!(", {rows}")
            } else {
                format!(", sheet {name}, {rows}")
            }
        }
    }
}
