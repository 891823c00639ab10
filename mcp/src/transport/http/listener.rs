//! Listens, accepts connections and serves them, until the process gets SIGTERM or Ctrl-C.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener, ToSocketAddrs};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::allow_list::AllowList;
use super::body::response::guarded;
use super::limits::connections::{ConnectionLimit, ConnectionSlot};
use super::limits::write_timeout::WriteTimeout;
use super::middleware::Middleware;
use super::site::{MakeSite, SignIns};
use crate::options::{HttpOptions, Options, StartError};
use crate::tokens::{Tokens, default_path};
use crate::transport::executor::{Executor, QueueLimit};
use crate::transport::process::{install_panic_hook, shutdown_signal};
use crate::transport::server::Server;

/// How long the headers of a request may take, from the end of the request before: also the longest
/// time that a connection may be idle.
const HEADERS_TIMEOUT: Duration = Duration::from_secs(60);

const HEADERS_LIMIT: usize = 100;

const HEADERS_BYTES: usize = 64 << 10;

/// The read buffer and the write buffer of a connection: the longest headers and a little.
const BUFFER_BYTES: usize = HEADERS_BYTES + (8 << 10);

/// How long responses in flight may take at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait after a failed accept.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// How long a client may read nothing of what is sent to it.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Threads of the runtime, for the network. Tools run on blocking threads.
const NETWORK_THREADS: usize = 2;

/// Blocking threads beside those of the executor: they read the token file and parse long messages.
const OTHER_THREADS: usize = 6;

/// Serves clients over HTTP, until the process gets SIGTERM or Ctrl-C: MCP at `/mcp`, and at other paths the site, if one
/// is made.
///
/// # Errors
/// [`StartError`] when a file cannot be opened, the address cannot be listened on, or other machines
/// can reach it and there is no token.
pub fn serve_http(
    options: &Options,
    http: &HttpOptions,
    make_site: Option<MakeSite<'_>>,
) -> Result<(), StartError> {
    install_panic_hook(&options.note);
    let listener = listen(&http.address)?;
    let failed = |action: String| move |error| StartError::Io { action, error };
    let address = listener
        .local_addr()
        .map_err(failed(format!("listen on {}", http.address)))?;
    let tokens = tokens(http, address)?;
    let mut allow_list = allow_list(http, address)?;
    if tokens.is_none() {
        allow_list = allow_list.of_port(address.port());
    }
    let server = Server::new(options, Some(QueueLimit::shared(tokens.is_some())))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(NETWORK_THREADS)
        .max_blocking_threads(Executor::threads() + OTHER_THREADS)
        .enable_all()
        .build()
        .map_err(failed("start threads".to_owned()))?;
    let stopped = CancellationToken::new();
    let result = runtime.block_on(async {
        let shutdown = stopped.child_token();
        let sign_ins = SignIns::new(address.port());
        let middleware = Middleware::new(
            &server,
            allow_list,
            tokens.clone(),
            shutdown,
            make_site,
            sign_ins,
        );
        let middleware = Arc::new(middleware);
        let listener = TcpListener::from_std(listener)?;
        let mut stop = pin!(shutdown_signal());
        // Signals are caught before anybody is told where the server is, and may send one.
        if poll_fn(|cx| Poll::Ready(stop.as_mut().poll(cx).is_ready())).await {
            return Ok(());
        }
        let home = middleware.announce(&shown_authority(http, address), &options.note);
        if let Some(started) = &http.started {
            started(&home);
        }
        if let Some(warning) = missing_host_warning(http, address) {
            (options.note)(warning);
        }
        tokio::spawn(Arc::clone(&server).watch_commits());
        let (watching, shutdown) = (Arc::clone(&middleware), server.shutdown.clone());
        tokio::spawn(async move { watching.watch_tokens(&shutdown).await });
        accept(listener, middleware, &server, &stopped, stop).await;
        Ok(())
    });
    if let Some(tokens) = tokens {
        tokens.flush();
    }
    server.finish_uploads(&options.note);
    // Other jobs without a client end with the process: a write that is not committed leaves its file as
    // it was.
    runtime.shutdown_background();
    result.map_err(failed(format!("listen on {}", http.address)))
}

fn listen(address: &str) -> Result<StdListener, StartError> {
    let failed = |error| StartError::Io {
        action: format!("listen on {address}"),
        error,
    };
    let addresses: Vec<SocketAddr> = address.to_socket_addrs().map_err(failed)?.collect();
    let listener = StdListener::bind(addresses.as_slice()).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

/// The tokens that requests must carry one of. `None` requires none, which is only for servers that no
/// other machine can reach.
fn tokens(http: &HttpOptions, address: SocketAddr) -> Result<Option<Arc<Tokens>>, StartError> {
    let is_public = !address.ip().is_loopback();
    if http.tokens.is_none() && !is_public {
        return Ok(None);
    }
    let path = http.tokens.clone().or_else(default_path);
    let path = path.ok_or_else(|| StartError::Usage {
        message: "there is no configuration folder for the token file".to_owned(),
        hint: Some("pass the token file as --tokens FILE".to_owned()),
    })?;
    let tokens = Tokens::new(path);
    let existing = tokens.list().map_err(|error| StartError::Usage {
        message: error.to_string(),
        hint: error.hint(),
    })?;
    if existing.is_empty() {
        let file = tokens.path().display();
        let flag = match &http.tokens {
            Some(path) => format!(" --tokens {}", path.display()),
            None => String::new(),
        };
        return Err(StartError::Usage {
            message: if is_public {
                format!("other machines can reach {address}, and {file} has no token")
            } else {
                format!("{file} has no token, so every request would be refused")
            },
            hint: Some(format!("`kb token create NAME{flag}` creates one")),
        });
    }
    Ok(Some(Arc::new(tokens)))
}

fn allow_list(http: &HttpOptions, address: SocketAddr) -> Result<AllowList, StartError> {
    let mut hosts = http.allow_hosts.clone();
    if !address.ip().is_unspecified() {
        // No DNS name can be made to resolve to a Host header with an IP address.
        hosts.push(address.to_string());
    }
    AllowList::new(&hosts, &http.allow_origins).map_err(|wrong| StartError::Usage {
        message: format!("{wrong:?} is neither a host nor an origin"),
        hint: Some("a host is kb.example or kb.example:80, an origin https://app.example".into()),
    })
}

/// The host and port by which a client reaches the server: one that it allows, where it listens on all interfaces.
fn shown_authority(http: &HttpOptions, address: SocketAddr) -> String {
    if !address.ip().is_unspecified() {
        return address.to_string();
    }
    match http.allow_hosts.first() {
        Some(host)
            if host
                .rsplit(':')
                .next()
                .is_some_and(|port| port.parse::<u16>().is_ok()) =>
        {
            host.clone()
        }
        Some(host) => format!("{host}:{}", address.port()),
        None => format!("localhost:{}", address.port()),
    }
}

/// The warning for a server on all interfaces that allows no host name: other machines cannot use it.
fn missing_host_warning(http: &HttpOptions, address: SocketAddr) -> Option<&'static str> {
    let is_nameless = address.ip().is_unspecified() && http.allow_hosts.is_empty();
    is_nameless.then_some(
        "requests from other machines are refused: allow the host name that they use with --allow-host HOST",
    )
}

/// Serves connections until the process is asked to stop, then lets responses in flight finish.
async fn accept(
    listener: TcpListener,
    middleware: Arc<Middleware>,
    server: &Arc<Server>,
    stopped: &CancellationToken,
    mut stop: Pin<&mut impl Future<Output = ()>>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEADERS_TIMEOUT)
        .max_headers(HEADERS_LIMIT)
        .max_header_size(HEADERS_BYTES)
        .max_buf_size(BUFFER_BYTES);
    let limit = Arc::clone(&middleware.connections);
    let graceful = GracefulShutdown::new();
    loop {
        let (connection, slot) = tokio::select! {
            () = &mut stop => break,
            next = next(&listener, &limit) => match next {
                Some(next) => next,
                None => continue,
            },
        };
        let (middleware, slot) = (Arc::clone(&middleware), Arc::new(slot));
        let service_slot = Arc::clone(&slot);
        let service = service_fn(move |request| {
            let (middleware, slot) = (Arc::clone(&middleware), Arc::clone(&service_slot));
            let active = slot.begin_request();
            async move {
                let response = middleware.handle(request, Some(&*slot)).await;
                Ok::<_, Infallible>(response.map(|body| guarded(body, active)))
            }
        });
        let connection = http.serve_connection(
            TokioIo::new(WriteTimeout::new(
                connection,
                WRITE_TIMEOUT,
                slot.unflushed(),
            )),
            service,
        );
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // Errors of a connection, such as a client that disconnects, concern nobody else.
            tokio::select! {
                _ = connection => {}
                () = slot.closed() => {}
            }
        });
    }
    drop(listener);
    // Subscriptions and sessions end first: their streams keep connections open.
    server.shutdown.cancel();
    stopped.cancel();
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, graceful.shutdown()).await;
}

/// Accepts a connection and waits for its slot.
async fn next(
    listener: &TcpListener,
    limit: &Arc<ConnectionLimit>,
) -> Option<(TcpStream, ConnectionSlot)> {
    match listener.accept().await {
        Ok((connection, _)) => {
            // Without this, small responses wait up to 40 ms for an acknowledgement (Nagle, RFC 896).
            let _: io::Result<()> = connection.set_nodelay(true);
            Some((connection, limit.acquire().await?))
        }
        Err(error) => {
            if is_out_of_descriptors(&error) {
                limit.reduce();
            }
            tokio::time::sleep(RETRY_INTERVAL).await;
            None
        }
    }
}

/// Whether an accept failed for lack of file descriptors, of the process or of the system.
fn is_out_of_descriptors(error: &io::Error) -> bool {
    let codes: &[i32] = if cfg!(windows) {
        // WSAEMFILE
        &[10024]
    } else {
        // ENFILE and EMFILE
        &[23, 24]
    };
    error
        .raw_os_error()
        .is_some_and(|code| codes.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::http::limits::connections::FirstRequestTimeouts;
    use crate::transport::testing::block_on;

    #[test]
    fn small_responses_are_sent_at_once() {
        block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let client = TcpStream::connect(listener.local_addr().unwrap());
            let timeouts = FirstRequestTimeouts {
                always: SHUTDOWN_TIMEOUT,
                when_full: SHUTDOWN_TIMEOUT,
            };
            let limit = ConnectionLimit::new(1, false, timeouts);
            let (_client, accepted) = tokio::join!(client, next(&listener, &limit));
            assert!(accepted.unwrap().0.nodelay().unwrap());
        });
    }

    #[test]
    fn the_address_that_is_told_is_one_that_is_allowed() {
        let shown = |address: &str, hosts: &[&str]| {
            let http = HttpOptions {
                allow_hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
                ..HttpOptions::default()
            };
            shown_authority(&http, address.parse().unwrap())
        };
        assert_eq!(shown("127.0.0.1:80", &["kb.example"]), "127.0.0.1:80");
        assert_eq!(shown("0.0.0.0:80", &[]), "localhost:80");
        assert_eq!(shown("0.0.0.0:80", &["kb.example"]), "kb.example:80");
        assert_eq!(shown("[::]:80", &["kb.example:443"]), "kb.example:443");
    }

    fn requires_token(address: &str, file: Option<&std::path::Path>) -> Result<bool, String> {
        let http = HttpOptions {
            tokens: file.map(Into::into),
            ..HttpOptions::default()
        };
        match tokens(&http, address.parse().unwrap()) {
            Ok(tokens) => Ok(tokens.is_some()),
            Err(StartError::Usage { message, .. }) => Err(message),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_server_on_all_interfaces_warns_without_a_host_name() {
        let warns = |address: &str, hosts: &[&str]| {
            let http = HttpOptions {
                allow_hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
                ..HttpOptions::default()
            };
            missing_host_warning(&http, address.parse().unwrap()).is_some()
        };
        assert!(warns("0.0.0.0:80", &[]) && warns("[::]:80", &[]));
        assert!(!warns("0.0.0.0:80", &["kb.example"]) && !warns("192.0.2.1:80", &[]));
    }

    #[test]
    fn a_token_is_required_where_other_machines_can_connect() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens.json");
        assert_eq!(requires_token("127.0.0.1:80", None), Ok(false));
        assert_eq!(requires_token("[::1]:80", None), Ok(false));
        for address in ["0.0.0.0:80", "192.0.2.1:80", "127.0.0.1:80"] {
            let message = requires_token(address, Some(&file)).unwrap_err();
            assert!(message.contains("no token"), "{message}");
        }
        Tokens::new(file.clone()).create("laptop", false).unwrap();
        for address in ["0.0.0.0:80", "127.0.0.1:80"] {
            assert_eq!(requires_token(address, Some(&file)), Ok(true));
        }
    }
}
