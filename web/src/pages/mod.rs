//! The pages: each function makes one from the open files and what its address says.

pub(crate) mod about;
pub(crate) mod agents;
pub(crate) mod change;
pub(crate) mod document;
pub(crate) mod find;
pub(crate) mod folder;
mod hit;
pub(crate) mod interface;
mod layout;
pub(crate) mod problem;
pub(crate) mod raw;
pub(crate) mod search;
pub(crate) mod sign_in;
pub(crate) mod tokens;
