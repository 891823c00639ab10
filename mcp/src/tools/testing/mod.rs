//! Test helpers of the tools.

mod fixture;
mod paging;
/// The checker of the integration tests.
#[path = "../../../../tests/mcp/schema.rs"]
pub(crate) mod schema;

pub(super) use fixture::Fixture;
