//! The format as it is written down, and the committed files that every version must answer alike.

pub(crate) mod golden;
mod make_golden;
mod retired_model;
mod spec;
