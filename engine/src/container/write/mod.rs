//! Writing through redb: new files under a temporary name, and files in place beside their readers.

pub(crate) mod backend;
pub(crate) mod disk;
pub(crate) mod identity;
pub(crate) mod lock;
pub(crate) mod new_file;
#[cfg(all(unix, any(test, feature = "testing")))]
pub(crate) mod observer;
pub(crate) mod open_writer;
pub(crate) mod page_check;
pub(crate) mod panic_guard;
pub(crate) mod retained;
pub(crate) mod spool;
pub(crate) mod transaction;
pub(crate) mod writer;
