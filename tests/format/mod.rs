//! The format as it is written down, the pages for people, and the committed files that every version must answer
//! alike.

pub(crate) mod golden;
mod golden_fields;
mod make_golden;
mod pages;
mod scores;
mod spec;
