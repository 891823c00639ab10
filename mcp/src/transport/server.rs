//! What all sessions of a server share.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{Implementation, ServerCapabilities, ServerConfig, Tool};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::commit_watcher::CommitWatcher;
use super::executor::{Executor, QueueLimit};
use crate::definitions::{self, Offer};
use crate::indexes::Indexes;
use crate::options::{Note, Options, StartError};
use crate::tools;

/// How long a server that ends waits for accepted uploads.
const UPLOADS_TIMEOUT: Duration = Duration::from_secs(5);

/// The state of a server, one for all sessions.
pub(super) struct Server {
    pub(super) indexes: Arc<Indexes>,
    pub(super) executor: Executor,
    pub(super) commits: CommitWatcher,
    /// Capabilities, name, version and instructions, as `initialize` and `server/discover` send them.
    pub(super) info: ServerConfig,
    /// The instructions for a client whose token may not write, which names no tool that it does not see.
    reader_instructions: String,
    /// Which tools there are, and under which names.
    pub(super) offer: Offer,
    /// As advertised, sorted by name.
    pub(super) tools: Vec<Tool>,
    /// Cancelled when the server shuts down; subscriptions end then.
    pub(super) shutdown: CancellationToken,
}

impl Server {
    /// Opens the files. `queue` limits the calls that wait for the executor.
    pub(super) fn new(
        options: &Options,
        queue: Option<QueueLimit>,
    ) -> Result<Arc<Server>, StartError> {
        let offer = Offer::parse(options.tools.as_deref(), options.tool_prefix.as_deref());
        let offer = offer.map_err(|message| StartError::Usage {
            message,
            hint: None,
        })?;
        let indexes = Indexes::open(options)?;
        let definitions = definitions::offered(options.allow_write, &offer).into_iter();
        let mut tools: Vec<Tool> = definitions
            .filter_map(|definition| serde_json::from_value(Value::Object(definition)).ok())
            .collect();
        #[cfg(feature = "conformance")]
        tools.extend(super::conformance::definitions());
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
            .with_instructions(definitions::instructions(options.allow_write, &offer));
        Ok(Arc::new(Server {
            commits: CommitWatcher::new(&indexes),
            indexes,
            executor: Executor::new(queue),
            info,
            reader_instructions: definitions::instructions(false, &offer),
            offer,
            tools,
            shutdown: CancellationToken::new(),
        }))
    }

    /// What a client is told at first.
    pub(super) fn info_for(&self, may_write: bool) -> ServerConfig {
        let info = self.info.clone();
        if may_write {
            info
        } else {
            info.with_instructions(self.reader_instructions.clone())
        }
    }

    /// Watches the files for commits until the server shuts down.
    pub(super) async fn watch_commits(self: Arc<Server>) {
        self.commits.run(&self.indexes, &self.shutdown).await;
    }

    /// Waits for the uploads that were accepted, up to [`UPLOADS_TIMEOUT`], and says on `note` which are lost:
    /// those that still wait for another program. Blocks.
    pub(super) fn finish_uploads(&self, note: &Note) {
        for (name, uploads) in self.indexes.finish_uploads(UPLOADS_TIMEOUT) {
            note(&format!(
                "{name}: the server ends before {uploads} accepted upload(s) could be stored"
            ));
        }
    }

    /// Whether it is a tool that this server does not offer because it does not write. Calling it is an error
    /// that says so.
    pub(super) fn is_withheld(&self, name: &str) -> bool {
        let name = self.offer.name_of(name);
        !self.indexes.allow_write() && name.is_some_and(tools::is_writing)
    }

    pub(super) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

/// The conformance suite requires logging, which this server does not use.
#[cfg(feature = "conformance")]
fn with_logging(mut capabilities: ServerCapabilities) -> ServerCapabilities {
    capabilities.logging = Some(serde_json::Map::new());
    capabilities
}

/// Name and version of this server.
pub(super) fn implementation() -> Implementation {
    Implementation::new("kb", env!("CARGO_PKG_VERSION")).with_title("Knowledge base")
}
