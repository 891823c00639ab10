//! Takes connections until the process is asked to stop.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::body::Holding;
use super::gate::{Gate, PATH};
use super::origin::Names;
use super::places::{Place, Places};
use super::stall::Stalling;
use crate::options::{HttpOptions, Options, StartError};
use crate::tokens::{Tokens, default_path};
use crate::transport::changes::follow;
use crate::transport::server::Server;
use crate::transport::stdio::{quiet_panics, stop_asked};
use crate::transport::work::{Queue, Work};

/// How long the headers of a request may take, counted from the end of the one before: a connection
/// that is silent for longer is closed.
const HEADERS_TIME: Duration = Duration::from_secs(60);

const HEADERS_LIMIT: usize = 100;

const HEADERS_BYTES: usize = 64 << 10;

/// What is read ahead of a connection, and how much waits to be written before an answer goes on: the
/// longest headers and a little.
const BUFFER_BYTES: usize = HEADERS_BYTES + (8 << 10);

/// How long answers under way may take at the end.
const GRACE: Duration = Duration::from_secs(5);

/// Until a connection is taken again after the system refused one.
const PAUSE: Duration = Duration::from_millis(100);

/// How long a client may take nothing of what is sent to it.
const STALL: Duration = Duration::from_secs(30);

/// Threads that wait for the network; the work has its own.
const WORKERS: usize = 2;

/// Threads that look at the tokens, and parse what is long.
const TOKEN_THREADS: usize = 6;

/// Serves clients over HTTP until the process is asked to stop.
///
/// # Errors
/// [`StartError`] when a file cannot be opened, the address cannot be listened on, or is open to
/// others while there are no tokens.
pub fn serve_http(options: &Options, http: &HttpOptions) -> Result<(), StartError> {
    quiet_panics(&options.note);
    let listener = listen(&http.address)?;
    let refused = |action: String| move |error| StartError::Io { action, error };
    let address = listener
        .local_addr()
        .map_err(refused(format!("listen on {}", http.address)))?;
    let tokens = tokens(http, address)?;
    let names = names(http, address)?;
    let server = Server::new(options, Some(Queue::shared(tokens.is_some())))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(Work::threads() + TOKEN_THREADS)
        .enable_all()
        .build()
        .map_err(refused("start threads".to_owned()))?;
    let stopped = CancellationToken::new();
    let result = runtime.block_on(async {
        let gate = Gate::new(&server, names, tokens.clone(), stopped.child_token());
        let listener = TcpListener::from_std(listener)?;
        (options.note)(&format!("http://{address}{PATH}"));
        if let Some(text) = nobody_knows_the_name(http, address) {
            (options.note)(text);
        }
        tokio::spawn(follow(Arc::clone(&server)));
        let gate = Arc::new(gate);
        let (following, over) = (Arc::clone(&gate), server.over.clone());
        tokio::spawn(async move { following.follow_tokens(over).await });
        accept(listener, gate, &server, &stopped).await;
        Ok(())
    });
    if let Some(tokens) = tokens {
        tokens.flush();
    }
    // Work that nobody waits for any more ends with the process: a write that is not committed
    // leaves its file as it was.
    runtime.shutdown_background();
    result.map_err(refused(format!("listen on {}", http.address)))
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

/// The tokens that are asked for; `None`: nobody is asked, which only this machine's own may enjoy.
fn tokens(http: &HttpOptions, address: SocketAddr) -> Result<Option<Arc<Tokens>>, StartError> {
    let is_open = !address.ip().is_loopback();
    if http.tokens.is_none() && !is_open {
        return Ok(None);
    }
    let path = http.tokens.clone().or_else(default_path);
    let path = path.ok_or_else(|| StartError::Usage {
        message: "no tokens are known".to_owned(),
        hint: Some("--tokens FILE says where they lie".to_owned()),
    })?;
    let tokens = Tokens::new(path);
    let known = tokens.list().map_err(|error| StartError::Usage {
        message: error.to_string(),
        hint: error.hint(),
    })?;
    if known.is_empty() {
        let place = tokens.path().display();
        let flag = match &http.tokens {
            Some(path) => format!(" --tokens {}", path.display()),
            None => String::new(),
        };
        return Err(StartError::Usage {
            message: match is_open {
                true => format!("{address} is open to other machines, and {place} has no token"),
                false => format!("{place} has no token, so that nobody could ask"),
            },
            hint: Some(format!("`kb token create NAME{flag}` makes one")),
        });
    }
    Ok(Some(Arc::new(tokens)))
}

fn names(http: &HttpOptions, address: SocketAddr) -> Result<Names, StartError> {
    let mut hosts = http.allow_hosts.clone();
    if !address.ip().is_unspecified() {
        // Nobody can make an address of numbers lead elsewhere.
        hosts.push(address.to_string());
    }
    Names::new(&hosts, &http.allow_origins).map_err(|wrong| StartError::Usage {
        message: format!("{wrong:?} is neither a host nor an origin"),
        hint: Some("a host is kb.example or kb.example:80, an origin https://app.example".into()),
    })
}

/// What to say where clients of other machines cannot come in under any name.
fn nobody_knows_the_name(http: &HttpOptions, address: SocketAddr) -> Option<&'static str> {
    let is_nameless = address.ip().is_unspecified() && http.allow_hosts.is_empty();
    is_nameless
        .then_some("other machines are refused: --allow-host HOST says what they call this server")
}

async fn accept(
    listener: TcpListener,
    gate: Arc<Gate>,
    server: &Arc<Server>,
    stopped: &CancellationToken,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEADERS_TIME)
        .max_headers(HEADERS_LIMIT)
        .max_header_size(HEADERS_BYTES)
        .max_buf_size(BUFFER_BYTES);
    let places = Arc::clone(&gate.places);
    let graceful = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop_asked());
    loop {
        let (connection, place) = tokio::select! {
            () = &mut stop => break,
            next = next(&listener, &places) => match next {
                Some(next) => next,
                None => continue,
            },
        };
        let (gate, place) = (Arc::clone(&gate), Arc::new(place));
        let asked = Arc::clone(&place);
        let service = service_fn(move |request| {
            let (gate, place) = (Arc::clone(&gate), Arc::clone(&asked));
            let busy = place.busy();
            async move {
                let answer = gate.answer(request, Some(&*place)).await;
                Ok::<_, Infallible>(answer.map(|body| Holding::new(body, busy)))
            }
        });
        let connection = http.serve_connection(
            TokioIo::new(Stalling::new(connection, STALL, place.unsent())),
            service,
        );
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that goes away or talks nonsense is no news.
            tokio::select! {
                _ = connection => {}
                () = place.over() => {}
            }
        });
    }
    drop(listener);
    // Subscriptions and conversations end; then the connections are free to.
    server.over.cancel();
    stopped.cancel();
    let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
}

async fn next(listener: &TcpListener, places: &Arc<Places>) -> Option<(TcpStream, Place)> {
    match listener.accept().await {
        Ok((connection, _)) => {
            // Small answers are not held back to be sent together.
            let _: io::Result<()> = connection.set_nodelay(true);
            Some((connection, places.take().await?))
        }
        Err(error) => {
            if is_out_of_descriptors(&error) {
                places.lower();
            }
            tokio::time::sleep(PAUSE).await;
            None
        }
    }
}

/// Whether the system has no descriptor for one more connection, for this process or for any.
fn is_out_of_descriptors(error: &io::Error) -> bool {
    let codes: &[i32] = match cfg!(windows) {
        // WSAEMFILE
        true => &[10024],
        // ENFILE and EMFILE
        false => &[23, 24],
    };
    error
        .raw_os_error()
        .is_some_and(|code| codes.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::block_on;

    #[test]
    fn small_answers_are_sent_at_once() {
        block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let client = TcpStream::connect(listener.local_addr().unwrap());
            let times = super::super::places::Times {
                first: GRACE,
                fresh: GRACE,
            };
            let places = Places::new(1, false, times);
            let (_client, taken) = tokio::join!(client, next(&listener, &places));
            // Else each answer on a kept connection waits 40 ms for an acknowledgement.
            assert!(taken.unwrap().0.nodelay().unwrap());
        });
    }

    fn asked(address: &str, file: Option<&std::path::Path>) -> Result<bool, String> {
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
    fn who_listens_everywhere_is_told_that_the_server_needs_a_name() {
        let told = |address: &str, hosts: &[&str]| {
            let http = HttpOptions {
                allow_hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
                ..HttpOptions::default()
            };
            nobody_knows_the_name(&http, address.parse().unwrap()).is_some()
        };
        assert!(told("0.0.0.0:80", &[]) && told("[::]:80", &[]));
        assert!(!told("0.0.0.0:80", &["kb.example"]) && !told("192.0.2.1:80", &[]));
    }

    #[test]
    fn others_are_asked_for_a_token_and_this_machine_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens.json");
        assert_eq!(asked("127.0.0.1:80", None), Ok(false));
        assert_eq!(asked("[::1]:80", None), Ok(false));
        for address in ["0.0.0.0:80", "192.0.2.1:80", "127.0.0.1:80"] {
            let message = asked(address, Some(&file)).unwrap_err();
            assert!(message.contains("no token"), "{message}");
        }
        Tokens::new(file.clone()).create("laptop", false).unwrap();
        for address in ["0.0.0.0:80", "127.0.0.1:80"] {
            assert_eq!(asked(address, Some(&file)), Ok(true));
        }
    }
}
