//! Ranges of pages and slides as models write them.

use crate::response::ToolError;
use crate::response::envelope::RangeArgument;

/// Most ranges in one call.
const RANGES_LIMIT: usize = 200;

/// Reads `3`, `1-5,8` and `9-`, which goes to the end; nothing: all. What is outside of a document, the engine
/// says.
///
/// # Errors
/// `INVALID_RANGE` for anything else.
pub(in crate::tools) fn ranges(
    argument: RangeArgument,
    text: Option<&str>,
) -> Result<Vec<(u32, u32)>, ToolError> {
    let text = text.unwrap_or_default();
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let bound = |text: &str| text.trim().parse::<u32>().ok();
    let range = |part: &str| match part.split_once('-') {
        Some((first, last)) if last.trim().is_empty() => Some((bound(first)?, u32::MAX)),
        Some((first, last)) => Some((bound(first)?, bound(last)?)),
        None => bound(part).map(|number| (number, number)),
    };
    let ranges: Option<Vec<(u32, u32)>> = text.split(',').map(range).collect();
    ranges
        .filter(|ranges| ranges.len() <= RANGES_LIMIT)
        .ok_or_else(|| {
            let shown: String = text.chars().take(60).collect();
            let (name, what) = match argument {
                RangeArgument::Slides => ("slide_numbers", "slides"),
                other => (other.name(), "pages"),
            };
            ToolError::new(
                "INVALID_RANGE",
                format!("{name}: {shown:?} is not a list of {what}"),
            )
            .with_hint(format!(
                "Write it as 3, 1-5,8 or 9-, at most {RANGES_LIMIT} of them"
            ))
        })
}
