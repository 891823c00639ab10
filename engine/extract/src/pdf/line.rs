//! What the reading order makes of a page.

/// A line of a page in reading order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) text: String,
    /// Whether a paragraph begins here.
    pub(super) begins_block: bool,
    /// Its upper edge on the page as it is shown, from the top.
    pub(super) page_y: f64,
}
