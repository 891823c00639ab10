//! Reading: an open file, what it finds, and what it holds.

pub mod documents;
pub mod embed;
pub mod hits;
pub mod info;
pub(crate) mod items;
pub mod kinds;
pub mod open;
pub mod outline;
pub mod parts;
pub mod search;
pub mod symbols;
pub mod text;
pub mod verify;
