//! The open files of a server, for its site.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hyper::HeaderMap;
use kb_engine::Kb;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{SignIns, Visitor};
use crate::indexes::Index;
use crate::response::ToolError;
use crate::tokens::{Access, Tokens};
use crate::tools;
use crate::transport::executor::{JobError, JobKind};
use crate::transport::results::job_error;
use crate::transport::server::Server;

/// The open files of a server. Clones share them.
#[derive(Clone)]
pub struct Files {
    pub(super) server: Arc<Server>,
    tokens: Option<Arc<Tokens>>,
    pub(super) sign_ins: Arc<SignIns>,
}

/// One open file.
#[derive(Debug, Clone)]
pub struct OpenFile(pub(super) Arc<Index>);

/// Why the server did not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Busy {
    /// Too many requests wait already, or this one waited too long.
    Busy,
    /// The request hit a bug.
    Panicked,
}

impl OpenFile {
    /// The name that clients use for it.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// The file.
    pub fn kb(&self) -> &Kb {
        self.0.kb()
    }
}

impl std::fmt::Debug for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Files").finish_non_exhaustive()
    }
}

impl Files {
    pub(in crate::transport::http) fn new(
        server: Arc<Server>,
        tokens: Option<Arc<Tokens>>,
        sign_ins: Arc<SignIns>,
    ) -> Files {
        Files {
            server,
            tokens,
            sign_ins,
        }
    }

    /// All files, in the order in which they were opened.
    pub fn list(&self) -> Vec<OpenFile> {
        self.server
            .indexes
            .list()
            .into_iter()
            .map(OpenFile)
            .collect()
    }

    /// Whether requests need a token, or a browser that is signed in.
    pub fn requires_token(&self) -> bool {
        self.tokens.is_some()
    }

    /// The tokens, for a request that may manage them: one with a token that allows writes. It could make itself no
    /// token that allows more than its own.
    pub fn managed_tokens(&self, access: Option<&Access>) -> Option<&Tokens> {
        let may_manage = access.is_some_and(|access| access.may_write);
        self.tokens.as_deref().filter(|_| may_manage)
    }

    /// Whether a request with that access may change files.
    pub fn may_write(&self, access: Option<&Access>) -> bool {
        let by_access = access.map_or(!self.requires_token(), |access| access.may_write);
        self.server.indexes.allow_write() && by_access
    }

    /// Signs a browser in by a token. Returns the cookie, without attributes; `None` if the token is not valid. Reads a
    /// file.
    pub fn sign_in(&self, token: &str) -> Option<String> {
        let header = format!("Bearer {}", token.trim());
        let access = self.tokens.as_ref()?.check(Some(&header))?;
        self.sign_ins.begin(Visitor::Token(access.hash))
    }

    /// Signs a browser in by the key of the link that was printed at the start; the key is used up. As
    /// [`Files::sign_in`].
    pub fn sign_in_by_link(&self, key: &str) -> Option<String> {
        let visitor = self.sign_ins.follow_link(key)?;
        self.sign_ins.begin(visitor)
    }

    /// Signs the browser of a request out. Returns the name of its cookie.
    pub fn sign_out(&self, headers: &HeaderMap) -> &str {
        self.sign_ins.end(headers);
        self.sign_ins.cookie_name()
    }

    /// Runs `job`, which only reads, on a thread for blocking work, among a bounded number of others. The job gets a
    /// flag that is set when its result is not wanted any more.
    ///
    /// # Errors
    /// [`Busy`] if there are too many, or the job panicked.
    pub async fn read<T: Send + 'static>(
        &self,
        access: Option<&Access>,
        job: impl FnOnce(&Files, &AtomicBool) -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let owner = access.map(|access| access.hash);
        let files = self.clone();
        let job =
            move |cancel: &Arc<AtomicBool>, _: &(dyn Fn(u64, u64) + Sync)| job(&files, cancel);
        let never = CancellationToken::new();
        let executor = &self.server.executor;
        let done = executor.run(JobKind::Read, owner, &never, None, job).await;
        done.map_err(|error| match error {
            JobError::Panicked => Busy::Panicked,
            JobError::Busy | JobError::Cancelled => Busy::Busy,
        })
    }

    /// Calls a tool of the MCP server, as a client does. Returns its structured result.
    ///
    /// # Errors
    /// What a client would be told.
    pub async fn call(
        &self,
        access: Option<Access>,
        tool: &'static str,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, CallError> {
        let kind = if tools::is_writing(tool) {
            JobKind::Write
        } else {
            JobKind::Read
        };
        let owner = access.as_ref().map(|access| access.hash);
        let may_write = self.may_write(access.as_ref());
        let indexes = Arc::clone(&self.server.indexes);
        let job = move |cancel: &Arc<AtomicBool>, progress: &(dyn Fn(u64, u64) + Sync)| {
            tools::dispatch(tools::Call {
                indexes: &indexes,
                name: tool,
                arguments,
                may_write,
                cancel,
                progress,
            })
        };
        let never = CancellationToken::new();
        let executor = &self.server.executor;
        match executor.run(kind, owner, &never, None, job).await {
            Ok(Ok(response)) => Ok(response.structured),
            Ok(Err(error)) => Err(CallError(error)),
            Err(error) => Err(CallError(job_error(error))),
        }
    }
}

/// Why a tool has no result.
#[derive(Debug, Clone, PartialEq)]
pub struct CallError(pub(super) ToolError);

impl CallError {
    /// The stable name of the kind of error.
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// What happened, without a full stop.
    pub fn sentence(&self) -> &str {
        &self.0.sentence
    }

    /// What to do about it, if that is known.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}
