//! Paths that a person gives -> roots: those that the file knows already, and new ones.
//!
//! A path inside a folder that the file was made from is a part of that root, looked at alone. A file
//! given by name belongs to the root of its folder. Everything else is a new root: also a folder that
//! only has the name of a root of a sealed file, unless its content or the user says that it is that
//! root. A root whose folder is gone is recognised by its content alone.

pub(crate) mod agreement;
mod entry;
pub(crate) mod given_path;
mod moved;
mod nested;
pub(crate) mod resolve;
pub(crate) mod table;
