//! One client on stdin and stdout.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio_util::sync::CancellationToken;

use super::changes::follow;
use super::handler::Session;
use super::line::LineTransport;
use super::server::Server;
use super::work::Work;
use crate::options::{Note, Options, StartError};

/// Serves one client on stdin and stdout until stdin ends or the process is asked to stop. Nobody
/// else may write to stdout meanwhile.
///
/// # Errors
/// [`StartError`] when a file cannot be opened or the system refuses.
pub fn serve_stdio(options: &Options) -> Result<(), StartError> {
    quiet_panics(&options.note);
    let server = Server::new(options, None)?;
    let refused = |action: &str| {
        let action = action.to_owned();
        move |error| StartError::Io { action, error }
    };
    let (input, output) = streams().map_err(refused("use stdin and stdout"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(Work::threads())
        .build()
        .map_err(refused("start threads"))?;
    let result = runtime.block_on(serve(&server, input, output));
    // Work that nobody waits for any more ends with the process: a write that is not committed
    // leaves its file as it was.
    runtime.shutdown_background();
    result.map_err(refused("serve on stdin and stdout"))
}

async fn serve(server: &Arc<Server>, input: File, output: File) -> io::Result<()> {
    let stopped = CancellationToken::new();
    let over = server.over.clone();
    let on_stop = stopped.clone();
    tokio::spawn(async move {
        stop_asked().await;
        on_stop.cancel();
        over.cancel();
    });
    tokio::spawn(follow(Arc::clone(server)));
    let transport = LineTransport::new(input, output, server.over.clone())?;
    let session = Session::new(Arc::clone(server), false);
    let running = match session.serve_with_ct(transport, stopped).await {
        Ok(running) => running,
        // A client that looked and left.
        Err(
            ServerInitializeError::ConnectionClosed(_)
            | ServerInitializeError::Cancelled
            | ServerInitializeError::TransportError { .. },
        ) => return Ok(()),
        Err(error) => return Err(io::Error::other(error.to_string())),
    };
    running.waiting().await.map(drop).map_err(io::Error::other)
}

/// Both pipes as files of our own: whoever holds the locks of the standard library need not know.
#[cfg(unix)]
fn streams() -> io::Result<(File, File)> {
    use std::os::fd::AsFd;
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    Ok((input.into(), output.into()))
}

#[cfg(windows)]
fn streams() -> io::Result<(File, File)> {
    use std::os::windows::io::AsHandle;
    let input = io::stdin().as_handle().try_clone_to_owned()?;
    let output = io::stdout().as_handle().try_clone_to_owned()?;
    Ok((input.into(), output.into()))
}

/// Ends when the process is asked to stop.
pub(super) async fn stop_asked() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => return,
                heard = tokio::signal::ctrl_c() => if heard.is_ok() { return },
            }
        }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_ok() {
        return;
    }
    // Signals cannot be heard here; they end the process as they are used to.
    tokio::time::sleep(Duration::MAX).await;
}

/// A panic is answered as an error of one call; for whoever reads stderr it is one line.
pub(super) fn quiet_panics(note: &Note) {
    let note = Arc::clone(note);
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map(ToString::to_string);
        let place = place.unwrap_or_else(|| "an unknown place".to_owned());
        let words = panic.payload_as_str().unwrap_or("no message");
        note(&format!("a bug at {place}: {words}"));
    }));
}
