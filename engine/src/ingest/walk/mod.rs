//! Which files are indexed: folders and files as given, ignore rules, what is left out and why.
//!
//! Rules, the same as ripgrep's where nothing else is said:
//! - `.gitignore` and `.kbignore` are obeyed, also outside of a git work tree. Ignore files of
//!   folders above a root count only inside the same work tree. A user's global ignore file does
//!   not count: the same tree gives the same answer on every machine.
//! - Hidden files and folders (a leading dot) are left out, unless git tracks them, they are given by name, or
//!   hidden ones are asked for. `.git` always is.
//! - Another work tree of the same git repository is left out.
//! - `.kb` files and unfinished ones are left out.
//! - Symbolic links are reported and not followed, but for a path that is given itself, and not for that where
//!   links are refused. Where they are followed, each real file and folder counts once: so no loop is possible.
//!
//! Files come in the order of the bytes of their document paths, whatever the disk gives first. Memory
//! is bounded by the entries of the folders on the way to a file, about 60 bytes and its name each, and
//! by those that are listed ahead (`prefetch`), not by the number of files.

mod above;
mod entries;
pub(crate) mod globs;
mod links;
mod listing;
mod prefetch;
mod reader;
mod selection;
mod source_file;
mod tree;
mod walker;

pub(crate) use source_file::{LeftOut, SourceFile, WalkItem};
pub(crate) use walker::{Walk, WalkOptions};
