//! Presentations: slides with title, text and notes.

mod auto_numbers;
mod deck;
pub(super) mod odp;
pub(super) mod ppt;
mod ppt_records;
pub(super) mod pptx;

#[cfg(test)]
pub(super) mod tests;
