//! The query language: [`parser`] takes the text apart to a [`parsed`] query, with the operators that
//! [`running_text`] leaves; [`option_words`] takes options of commands out of them; [`execute`] turns the
//! others into bitmaps of rows; [`phrase`] and [`two_phase`] verify phrases in the text of the rows that are
//! left. [`unknown_words`] finds words that no document has, [`compounds`] those that are parts of others,
//! [`other_spelling`] words that may be misspelled; [`intent`] says what is asked for.

mod compounds;
pub(crate) mod execute;
pub(crate) mod intent;
mod message;
mod one_edit;
pub(crate) mod option_words;
pub(crate) mod other_spelling;
pub(crate) mod parsed;
pub(crate) mod parser;
pub(crate) mod phrase;
pub(crate) mod running_text;
mod term_chunks;
pub(crate) mod two_phase;
pub(crate) mod unknown_words;
