//! Resources, their templates, prompts and completion: plain data in and out.

mod completion;
mod error;
mod prompts;
mod resources;

pub(crate) use completion::{Reference, complete};
pub(crate) use error::ContentError;
pub(crate) use prompts::{prompt, prompts};
pub(crate) use resources::{read, resources, revision, templates};
