//! Test helpers of the tools.

mod fixture;
mod paging;
pub(super) mod parts;
/// The checker of the integration tests.
#[path = "../../../../tests/mcp/schema.rs"]
pub(crate) mod schema;

pub(super) use fixture::Fixture;
