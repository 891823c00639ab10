//! From letters on paper to words: the gaps between them, marks, the order of scripts from right to left, words that a line
//! divides.

mod bidi;
mod hyphens;
mod letters;

pub(super) use hyphens::Words;
pub(super) use letters::{
    CELL_GAP, Drawn, Letter, WORD_GAP, is_mark, is_right_to_left, join, right_to_left_line,
};
