//! Test helpers of the tools.

mod fixture;
mod paging;
pub(crate) mod schema;

pub(super) use fixture::Fixture;
