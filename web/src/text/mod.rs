//! Texts of documents as HTML. Nothing of a document becomes markup that this room does not write itself.

pub(crate) mod highlight;
pub(crate) mod lines;
pub(crate) mod markdown;
pub(crate) mod marks;
pub(crate) mod numbers;
