//! What all sessions of a server share.

use std::sync::Arc;

use rmcp::model::{Implementation, ServerCapabilities, ServerConfig, Tool};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::changes::Changes;
use super::work::{Queue, Work};
use crate::definitions;
use crate::indexes::Indexes;
use crate::options::{Options, StartError};

/// What all sessions share.
pub(super) struct Server {
    pub(super) indexes: Arc<Indexes>,
    pub(super) work: Work,
    pub(super) changes: Changes,
    /// What the server says of itself.
    pub(super) info: ServerConfig,
    /// As advertised, sorted by name.
    pub(super) tools: Vec<Tool>,
    /// Cancelled when the server comes to its end: subscriptions end on it.
    pub(super) over: CancellationToken,
}

impl Server {
    /// Opens the files.
    pub(super) fn new(options: &Options, queue: Option<Queue>) -> Result<Arc<Server>, StartError> {
        let indexes = Indexes::open(options)?;
        let definitions = definitions::definitions(options.allow_write).into_iter();
        let mut tools: Vec<Tool> = definitions
            .filter_map(|definition| serde_json::from_value(Value::Object(definition)).ok())
            .collect();
        #[cfg(feature = "conformance")]
        tools.extend(crate::conformance::definitions());
        tools.sort_by(|one, other| one.name.cmp(&other.name));
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_completions()
            .build();
        #[cfg(feature = "conformance")]
        let capabilities = with_logging(capabilities);
        let info = ServerConfig::new(capabilities)
            .with_server_info(implementation())
            .with_instructions(definitions::instructions(options.allow_write));
        Ok(Arc::new(Server {
            changes: Changes::new(&indexes),
            indexes,
            work: Work::new(queue),
            info,
            tools,
            over: CancellationToken::new(),
        }))
    }

    pub(super) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

/// The suite asks for logging, which this server has nothing to say by.
#[cfg(feature = "conformance")]
fn with_logging(mut capabilities: ServerCapabilities) -> ServerCapabilities {
    capabilities.logging = Some(serde_json::Map::new());
    capabilities
}

/// Name and version of this server.
pub(super) fn implementation() -> Implementation {
    Implementation::new("kb", env!("CARGO_PKG_VERSION")).with_title("Knowledge base")
}
