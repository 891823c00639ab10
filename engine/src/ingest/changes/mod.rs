//! What the disk has against what the file has.
//!
//! [`comparison`] merges the walk with the rows of a commit, which [`indexed`] reads; [`coverage`] says
//! which documents a run is about; [`emptied`] tells emptied folders from disks that are not mounted; [`survey`] counts the differences before anything is written.
//! [`source_check`] looks at the originals of a few documents only.

pub(crate) mod comparison;
pub(crate) mod coverage;
pub(crate) mod emptied;
pub(crate) mod freshness;
pub(crate) mod indexed;
pub(crate) mod source_check;
pub(crate) mod survey;
pub(crate) mod tally;
