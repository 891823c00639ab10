//! One client on stdin and stdout.

use std::fs::File;
use std::io;
use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio_util::sync::CancellationToken;

use super::stdio_transport::StdioTransport;
use crate::options::{Options, StartError};
use crate::transport::executor::Executor;
use crate::transport::process::{install_panic_hook, shutdown_signal};
use crate::transport::server::Server;
use crate::transport::session::Session;

/// Serves one client on stdin and stdout, until stdin ends or the process gets SIGTERM or Ctrl-C.
/// Nothing else may write to stdout meanwhile.
///
/// # Errors
/// [`StartError`] when a file cannot be opened, or threads and pipes cannot be set up.
pub fn serve_stdio(options: &Options) -> Result<(), StartError> {
    install_panic_hook(&options.note);
    let server = Server::new(options, None)?;
    let failed = |action: &str| {
        let action = action.to_owned();
        move |error| StartError::Io { action, error }
    };
    let (input, output) = streams().map_err(failed("use stdin and stdout"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(Executor::threads())
        .build()
        .map_err(failed("start threads"))?;
    let result = runtime.block_on(serve(&server, input, output));
    server.finish_uploads(&options.note);
    // Other jobs without a client end with the process: a write that is not committed leaves its file as
    // it was.
    runtime.shutdown_background();
    result.map_err(failed("serve on stdin and stdout"))
}

async fn serve(server: &Arc<Server>, input: File, output: File) -> io::Result<()> {
    let stopped = CancellationToken::new();
    let shutdown = server.shutdown.clone();
    let on_stop = stopped.clone();
    tokio::spawn(async move {
        shutdown_signal().await;
        on_stop.cancel();
        shutdown.cancel();
    });
    tokio::spawn(Arc::clone(server).watch_commits());
    let transport = StdioTransport::new(input, output, server.shutdown.clone())?;
    let session = Session::new(Arc::clone(server), false);
    let running = match session.serve_with_ct(transport, stopped).await {
        Ok(running) => running,
        // The client left before it started a session.
        Err(
            ServerInitializeError::ConnectionClosed(_)
            | ServerInitializeError::Cancelled
            | ServerInitializeError::TransportError { .. },
        ) => return Ok(()),
        Err(error) => return Err(io::Error::other(error.to_string())),
    };
    running.waiting().await.map(drop).map_err(io::Error::other)
}

/// Duplicates of stdin and stdout, independent of the locks of the standard library.
#[cfg(unix)]
pub(in crate::transport) fn streams() -> io::Result<(File, File)> {
    use std::os::fd::AsFd;
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    Ok((input.into(), output.into()))
}

#[cfg(windows)]
pub(in crate::transport) fn streams() -> io::Result<(File, File)> {
    use std::os::windows::io::AsHandle;
    let input = io::stdin().as_handle().try_clone_to_owned()?;
    let output = io::stdout().as_handle().try_clone_to_owned()?;
    Ok((input.into(), output.into()))
}
