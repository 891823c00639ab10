//! Verbs that read a file and change nothing.

pub(crate) mod bench;
mod chunks;
pub(crate) mod get;
pub(crate) mod info;
pub(crate) mod ls;
mod metadata;
pub(crate) mod outline;
pub(crate) mod pages;
pub(crate) mod regex;
pub(crate) mod search;
pub(crate) mod sheet;
pub(crate) mod slides;
pub(crate) mod symbols;
pub(crate) mod verify;
