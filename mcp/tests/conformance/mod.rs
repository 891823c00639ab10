//! The fixtures of the conformance suite of MCP: tools, prompts and resources with fixed names and fixed
//! content. They go through the same transports, middleware and session as everything else, which is what
//! the suite judges. Only with the feature `conformance`, never in a shipped build.
#![expect(
    deprecated,
    reason = "the suite also asks for what the protocol is leaving behind"
)]

mod content;
mod input_required;
mod prompts;
mod resources;
mod tools;

pub(crate) use prompts::{completes, list as prompts, prompt};
pub(crate) use resources::{is_address, list as resources, read, templates};
use rmcp::model::{ListResourceTemplatesResult, ListResourcesResult};
pub(crate) use tools::{call, definitions, has};

/// Adds the fixtures to the first page of the resources.
pub(crate) fn add_resources(result: &mut ListResourcesResult) {
    result.resources.extend(resources());
}

/// Adds the fixtures to the templates.
pub(crate) fn add_templates(result: &mut ListResourceTemplatesResult) {
    result.resource_templates.extend(templates());
}
