//! [`ListScope`]: cursors for lists that a caller of the engine makes itself.

use kb_types::error::Result;

use crate::paging::cursor::Cursor;
use crate::paging::options::PageOptions;
use crate::paging::scope::CursorScope;

/// What the cursors of a caller's own list are valid for, such as a list of files.
///
/// ```
/// use kb_engine::{ListScope, PageOptions};
/// let scope = ListScope::new("files", &[("0f8fad5bd9cb469fa165708677289500", 3)]);
/// let page = PageOptions::default().cursor(scope.cursor(20));
/// assert_eq!(scope.start(&page)?, 20);
/// # Ok::<(), kb_engine::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListScope(CursorScope);

impl ListScope {
    /// For a list over files, each with the identity that [`State::uuid`](crate::State) has and a number that changes
    /// when the list does.
    pub fn new(list: &'static str, files: &[(&str, u64)]) -> ListScope {
        let files: Vec<([u8; 16], u64)> = files
            .iter()
            .map(|(uuid, generation)| {
                let hash = blake3::hash(uuid.as_bytes());
                let id = hash.as_bytes().first_chunk().copied();
                (id.unwrap_or_default(), *generation)
            })
            .collect();
        ListScope(CursorScope::new(list, &files, [""; 0]))
    }

    /// The position in the list at which `page` continues; 0 without a cursor. Not trusted: it may lie beyond the
    /// end of the list.
    ///
    /// # Errors
    /// [`Error::InvalidCursor`](crate::Error::InvalidCursor) when the cursor is malformed or belongs to another
    /// list, [`Error::StaleCursor`](crate::Error::StaleCursor) when the list changed.
    pub fn start(&self, page: &PageOptions) -> Result<u64> {
        self.0.start(page)
    }

    /// The cursor of a page that ends before `position`.
    pub fn cursor(&self, position: u64) -> Cursor {
        self.0.cursor(position)
    }
}
