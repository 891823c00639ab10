//! Shared by all lists.

use kb_engine::{Cursor, PageOptions};

use crate::base::fault::Fault;
use crate::base::str::kb_str;
use crate::base::text;

/// An index that no item has.
pub(crate) fn no_item(index: usize, len: usize) -> Fault {
    Fault::argument("index", &format!("{index} given; there are {len}"))
}

/// # Safety
/// As for `text::optional`.
pub(crate) unsafe fn page(max_tokens: u32, cursor: kb_str) -> Result<PageOptions, Fault> {
    let mut page = PageOptions::default();
    if max_tokens > 0 {
        page = page.max_tokens(max_tokens);
    }
    // SAFETY: as the caller promises.
    if let Some(cursor) = unsafe { text::optional(cursor, "cursor") }?.filter(|it| !it.is_empty()) {
        page = page.cursor(Cursor::from(cursor.to_owned()));
    }
    Ok(page)
}
