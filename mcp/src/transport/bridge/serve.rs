//! Runs a relay between stdin, stdout and a server.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use hyper::body::Bytes;
use hyper::header::HeaderValue;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::check::check;
use super::client::Client;
use super::relay::Relay;
use super::url::ServerUrl;
use crate::options::{ConnectOptions, StartError};
use crate::transport::message_shape::UPLOAD_LIMIT;
use crate::transport::process::{install_panic_hook, shutdown_signal};
use crate::transport::stdio::{Line, read_line, streams};

/// Lines that wait to be written. A client that does not read slows down the streams of the server.
const LINES_AHEAD: usize = 64;

/// Memory of all messages that are not answered yet, in KiB.
const MEMORY_KIB: usize = 64 << 10;

/// How long requests may take after the client closed its end, and what ends with it.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
const DRAIN_STEP: Duration = Duration::from_millis(5);
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// A line of the client, and the permit for its memory.
type Incoming = (Vec<u8>, Option<OwnedSemaphorePermit>);

/// Connects stdin and stdout to a server over HTTP, until stdin ends or the process gets SIGTERM or
/// Ctrl-C. Nothing else may write to stdout meanwhile.
///
/// # Errors
/// [`StartError::Usage`] for a URL or token that cannot be used, [`StartError::InvalidToken`] when the
/// server does not accept the token, [`StartError::NotConnected`] when there is no server.
pub fn connect_stdio(options: &ConnectOptions) -> Result<(), StartError> {
    install_panic_hook(&options.note);
    let url = ServerUrl::parse(&options.url)?;
    if options.token.is_some() && url.is_remote() {
        let host = &url.host;
        (options.note)(&format!("the token is sent to {host} unencrypted"));
    }
    let client = Arc::new(Client::new(url, authorization(options.token.as_deref())?));
    let failed = |action: &str| {
        let action = action.to_owned();
        move |error| StartError::Io { action, error }
    };
    let (input, output) = streams().map_err(failed("use stdin and stdout"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(failed("start threads"))?;
    runtime.block_on(check(&client, options.token.is_some()))?;
    let result = runtime.block_on(relay(&client, input, output));
    runtime.shutdown_background();
    result.map_err(failed("connect stdin and stdout"))
}

fn authorization(token: Option<&str>) -> Result<Option<HeaderValue>, StartError> {
    let Some(token) = token else {
        return Ok(None);
    };
    let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    let header = HeaderValue::from_str(&format!("Bearer {token}")).ok();
    let mut header = header
        .filter(|_| is_token)
        .ok_or_else(|| StartError::Usage {
            message: "the token is empty, or contains spaces or other invalid characters"
                .to_owned(),
            hint: Some(
                "`kb token create NAME` prints one, on the machine of the server".to_owned(),
            ),
        })?;
    header.set_sensitive(true);
    Ok(Some(header))
}

async fn relay(client: &Arc<Client>, input: File, output: File) -> io::Result<()> {
    let (lines, to_write) = mpsc::channel(LINES_AHEAD);
    let (closed, mut is_closed) = oneshot::channel();
    let writer = thread::Builder::new().name("stdout".to_owned());
    let writer = writer.spawn(move || {
        write_lines(output, to_write);
        // The receiver is gone when the program ends.
        let _ = closed.send(());
    })?;
    let (read, mut incoming) = mpsc::channel::<Incoming>(1);
    let reader = thread::Builder::new().name("stdin".to_owned());
    let handle = Handle::current();
    reader.spawn(move || read_lines(input, &handle, &read))?;
    let relay = Relay::new(Arc::clone(client), lines);
    let mut stop = std::pin::pin!(shutdown_signal());
    let is_ended = loop {
        tokio::select! {
            line = incoming.recv() => match line {
                Some((line, memory)) => relay.accept(Bytes::from(line), memory).await,
                None => break true,
            },
            () = &mut stop => break false,
            // Nobody reads what is written.
            _ = &mut is_closed => break false,
        }
    };
    if is_ended {
        let drained = async {
            while relay.is_busy() {
                tokio::time::sleep(DRAIN_STEP).await;
            }
        };
        let _ = tokio::time::timeout(DRAIN_TIMEOUT, drained).await;
    }
    let _ = tokio::time::timeout(STOP_TIMEOUT, relay.stop()).await;
    // The writer ends when no task can write any more.
    drop(relay);
    tokio::task::yield_now().await;
    if is_ended {
        let _ = tokio::time::timeout(STOP_TIMEOUT, is_closed).await;
        if writer.is_finished() {
            let _ = writer.join();
        }
    }
    Ok(())
}

fn read_lines(input: File, handle: &Handle, sender: &mpsc::Sender<Incoming>) {
    let mut input = io::BufReader::new(input);
    let memory = Arc::new(Semaphore::new(MEMORY_KIB));
    loop {
        let mut line = Vec::new();
        match read_line(&mut input, &mut line, UPLOAD_LIMIT) {
            Ok(Line::Complete) => {
                let kib = u32::try_from(line.len() >> 10).unwrap_or(u32::MAX);
                let permit = Arc::clone(&memory).acquire_many_owned(kib);
                // The semaphore is never closed.
                let permit = handle.block_on(permit).ok();
                if sender.blocking_send((line, permit)).is_err() {
                    return;
                }
            }
            // The server would refuse it unread; so does this, without an id to answer.
            Ok(Line::TooLong) => {}
            Ok(Line::End) | Err(_) => return,
        }
    }
}

fn write_lines(mut output: impl Write, mut lines: mpsc::Receiver<String>) {
    while let Some(mut line) = lines.blocking_recv() {
        line.push('\n');
        let written = output
            .write_all(line.as_bytes())
            .and_then(|()| output.flush());
        if written.is_err() {
            return;
        }
    }
}
