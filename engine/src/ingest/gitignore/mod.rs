//! Which files and folders the ignore files of a tree leave out.
//!
//! `.kbignore` and `.gitignore` are read in each folder, `.git/info/exclude` in each that has a `.git`.
//! The nearest file of a kind that says something decides, and in it the last line that does; what
//! `.kbignore` files say outweighs `.gitignore`, and these outweigh `info/exclude`.
//!
//! A tree is not trusted. Ignore files count only when they are regular files of their folder, never
//! through a link (git keeps to that too), and everything about them is bounded: bytes, lines, braces,
//! alternatives, wildcards, files above each other. What is over a bound is not applied, and that is
//! reported with file and line number, but never with text of the file.

mod file;
mod matcher;
mod pattern;
mod rules;

pub(super) use matcher::Verdict;
pub(super) use rules::{EXCLUDE, IgnoreFiles, NAMES, Rules, read, read_exclude};
