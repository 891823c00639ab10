//! The open .kb files: `registry` has them all, `index` is one of them, with its running `jobs` and its
//! `freshness`; `documents` finds one in all of them, `paths` knows which folders may be indexed.

mod documents;
mod freshness;
mod index;
mod jobs;
mod paths;
mod registry;

pub(crate) use documents::{Located, Selection};
pub(crate) use freshness::{Changes, Stale};
pub(crate) use index::{Index, each, look_at_sources, together};
pub(crate) use jobs::{Job, JobState, RunningJob};
pub(crate) use registry::{Indexes, Reserved, WORKING_DIRECTORY, updated_ms};
