//! Which files are indexed: folders and files as given, ignore rules, what is left out and why.
//!
//! Rules, the same as ripgrep's where nothing else is said:
//! - `.gitignore` and `.kbignore` are obeyed, also outside of a git work tree. Ignore files of
//!   folders above a root count only inside the same work tree. A user's global ignore file does
//!   not count: the same tree gives the same answer on every machine.
//! - Hidden files and folders (a leading dot, `.github` too) are left out, unless given by name.
//! - `.kb` files and unfinished ones are left out.
//! - Symbolic links are not followed, but for a path that is given itself, and not for that where
//!   links are refused; a linked file is reported. So no loop is possible and no file counts twice.
//!
//! Files come in the order of the bytes of their document paths, whatever the disk gives first. Memory
//! is bounded by the entries of the folders on the way to a file, about 60 bytes and its name each, and
//! by those that are listed ahead (`prefetch`), not by the number of files.

mod above;
mod listing;
mod prefetch;
mod selection;
mod source_file;
mod tree;
mod walker;

pub use source_file::{LeftOut, SourceFile, WalkItem};
pub use walker::{Walk, WalkOptions};
