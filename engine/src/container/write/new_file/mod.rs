//! A new file that takes the place of what is at its path once it is whole.

pub(crate) mod access;
pub(crate) mod replaceable;
pub(crate) mod temporary;
