//! What a viewer writes into a page that no content stream draws: the values of form fields without an appearance of their own,
//! free text, and whole forms that are kept as XML.

mod fields;
mod xfa;

pub(super) use fields::{Written, written_on};
pub(super) use xfa::text_of_form;
