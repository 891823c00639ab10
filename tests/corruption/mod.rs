//! Damaged and forged files: the right answer or an error, never a panic, a hang or much memory; and
//! `verify` names what is wrong.

mod amplification;
mod ask;
mod chunk_rows;
mod columns;
mod damage;
pub(crate) mod forgery;
mod groups;
mod records;
mod refusal;
mod verify;
