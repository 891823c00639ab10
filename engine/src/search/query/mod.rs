//! The query language: [`parser`] takes the text apart, [`execute`] turns its operators into bitmaps of
//! rows, [`phrase`] and [`two_phase`] verify phrases in the text of the rows that are left.

pub(crate) mod execute;
pub(crate) mod option_words;
pub(crate) mod parser;
pub(crate) mod phrase;
pub(crate) mod running_text;
pub(crate) mod two_phase;
