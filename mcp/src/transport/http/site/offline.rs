//! A site without a server: its answers, made in this process one after another.

use std::fmt;
use std::sync::Arc;

use hyper::body::Bytes;
use hyper::{Request, Response};
use tokio::runtime::{Builder, Runtime};

use super::{Files, MakeSite, SignIns, Site};
use crate::options::{Options, StartError};
use crate::transport::server::Server;

/// A site over files that nobody else asks.
pub struct OfflineSite {
    runtime: Runtime,
    site: Arc<dyn Site>,
    files: Files,
}

impl fmt::Debug for OfflineSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OfflineSite").finish_non_exhaustive()
    }
}

impl OfflineSite {
    /// Opens the files. Nothing listens: requests are made and answered in this thread.
    ///
    /// # Errors
    /// [`StartError`] when one cannot be opened.
    pub fn open(options: &Options, make: MakeSite<'_>) -> Result<OfflineSite, StartError> {
        let failed = |error| StartError::Io {
            action: "start threads".to_owned(),
            error,
        };
        let runtime = Builder::new_current_thread().enable_all().build();
        let files = Files::new(Server::new(options, None)?, None, Arc::new(SignIns::new(0)));
        Ok(OfflineSite {
            runtime: runtime.map_err(failed)?,
            site: make(files.clone()),
            files,
        })
    }

    /// The open files, as the pages of a server have them.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// The answer to a request.
    pub fn ask(&self, request: Request<Bytes>) -> Response<Bytes> {
        self.runtime.block_on(self.site.respond(request))
    }
}
