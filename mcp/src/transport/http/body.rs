//! Bodies: requests are read into memory that is bounded for all of them together, answers end when
//! they have to.

use std::borrow::Cow;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::CONTENT_LENGTH;
use hyper::{HeaderMap, StatusCode};
use kb_engine::escape::escape_json;
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::refusal::Refused;
use crate::transport::scan::{Shape, TooMuch, UPLOAD_LIMIT};
use crate::transport::share::{Owner, Share, Shares};

/// How long a body may take.
const BODY_TIME: Duration = Duration::from_secs(30);

/// All messages that are held, in KiB, beside what each has for itself: those that come, and those
/// that are not answered. An upload is held some three times until it is decoded.
const MESSAGES_KIB: usize = 40 << 10;

/// As much each token has for itself; with the rest it may send an upload of any length.
const MESSAGES_RESERVED_KIB: usize = 1 << 10;

/// What each message has for itself, in bytes: small requests get through whatever others send.
const OWN: usize = 4 << 10;

/// Bodies that are waited for at once, and how many of them each token has for itself. Most come
/// with their headers, and are not waited for.
const COMING: usize = 64;
const COMING_RESERVED: usize = 4;

/// Messages that are parsed at once outside of the threads of the network.
const PARSES: usize = 2;

/// Longest message that is parsed by the threads of the network, in bytes: within a millisecond.
const QUICK: usize = 16 << 10;

/// The memory of all messages.
#[derive(Debug)]
pub(super) struct Bodies {
    room: Arc<Shares>,
    coming: Arc<Shares>,
    parses: Arc<Semaphore>,
}

/// A message that may be parsed.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) bytes: Bytes,
    /// Its memory, given back when this is dropped.
    pub(super) room: Share,
    /// Whether it asks for a stream that lasts, or may do so.
    pub(super) is_stream: bool,
}

/// What the bytes of a message say of it, which outlives them.
struct Seen {
    weight: usize,
    is_stream: bool,
}

fn look(bytes: &[u8]) -> Result<Seen, TooMuch> {
    let shape = Shape::of(bytes);
    shape.check()?;
    Ok(Seen {
        weight: shape.weight(),
        is_stream: shape.may_last(),
    })
}

impl Bodies {
    pub(super) fn new(asks_for_tokens: bool) -> Bodies {
        Bodies {
            room: Shares::new(MESSAGES_KIB, MESSAGES_RESERVED_KIB, asks_for_tokens),
            coming: Shares::new(COMING, COMING_RESERVED, asks_for_tokens),
            parses: Arc::new(Semaphore::new(PARSES)),
        }
    }

    /// The room that all messages take.
    #[cfg(test)]
    pub(super) fn held_kib(&self) -> usize {
        self.room.in_use()
    }

    /// Reads a whole message and looks at it. It takes room for what came, not for what is
    /// announced: who sends nothing keeps nobody out.
    pub(super) async fn read<B: Body<Data = Bytes> + Unpin>(
        &self,
        owner: Owner,
        headers: &HeaderMap,
        body: B,
    ) -> Result<Message, Refused> {
        let announced = headers.get(CONTENT_LENGTH).map(|length| {
            let length = length.to_str().ok().and_then(|length| length.parse().ok());
            length.unwrap_or(usize::MAX)
        });
        if announced.is_some_and(|length| length > UPLOAD_LIMIT) {
            return Err(too_large(TooMuch::Upload));
        }
        let (bytes, mut room) = self.whole(owner, body).await?;
        let seen = if bytes.len() <= QUICK {
            look(&bytes)
        } else {
            let bytes = bytes.clone();
            self.apart(move || look(&bytes)).await?
        };
        let seen = seen.map_err(too_large)?;
        let kib = needed_kib(bytes.len(), seen.weight).saturating_sub(room.amount());
        if !room.more(kib) {
            return Err(Refused::busy("too much is sent at once"));
        }
        Ok(Message {
            bytes,
            room,
            is_stream: seen.is_stream,
        })
    }

    async fn whole<B: Body<Data = Bytes> + Unpin>(
        &self,
        owner: Owner,
        body: B,
    ) -> Result<(Bytes, Share), Refused> {
        let mut whole = std::pin::pin!(self.collect(owner, body));
        let early = std::future::poll_fn(|cx| Poll::Ready(whole.as_mut().poll(cx))).await;
        if let Poll::Ready(whole) = early {
            return whole;
        }
        let place = self.coming.take(owner, 1);
        let _place = place.ok_or(Refused::busy("too many bodies are waited for"))?;
        let whole = tokio::time::timeout(BODY_TIME, whole).await;
        whole.unwrap_or(Err(StatusCode::REQUEST_TIMEOUT.into()))
    }

    async fn collect<B: Body<Data = Bytes> + Unpin>(
        &self,
        owner: Owner,
        mut body: B,
    ) -> Result<(Bytes, Share), Refused> {
        let busy = || Refused::busy("too much is sent at once");
        let mut room = self.room.take(owner, 0).ok_or_else(busy)?;
        let mut whole = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| StatusCode::BAD_REQUEST)?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            let length = whole.len() + data.len();
            if length > UPLOAD_LIMIT {
                return Err(too_large(TooMuch::Upload));
            }
            if !room.more(needed_kib(length, 0).saturating_sub(room.amount())) {
                return Err(busy());
            }
            if whole.capacity() < length {
                // Less than the doubling that a vector does by itself.
                whole.reserve_exact(data.len() + whole.len() / 4);
            }
            whole.extend_from_slice(&data);
        }
        Ok((whole.into(), room))
    }

    /// Does what takes long outside of the threads of the network.
    async fn apart<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refused> {
        // It is never closed.
        let turn = Arc::clone(&self.parses).acquire_owned().await;
        let done = tokio::task::spawn_blocking(move || {
            // The turn ends with the work, also where nobody waits for it.
            let _turn = turn;
            job()
        })
        .await;
        done.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR.into())
    }

    /// Begins to answer a message of that length. What an answer does before it first waits is to
    /// parse the message: for a long one that happens outside of the threads of the network.
    pub(super) async fn begin<T: Send + 'static>(
        &self,
        length: usize,
        answer: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Refused> {
        let mut answer = Box::pin(answer);
        if length <= QUICK {
            return Ok(answer.await);
        }
        let job = move || {
            // Nobody is woken by this look: the next one follows in any case.
            let mut cx = Context::from_waker(std::task::Waker::noop());
            match answer.as_mut().poll(&mut cx) {
                Poll::Ready(done) => Ok(done),
                Poll::Pending => Err(answer),
            }
        };
        match self.apart(job).await? {
            Ok(done) => Ok(done),
            Err(answer) => Ok(answer.await),
        }
    }

    /// An answer of JSON, whole or as events, that is the same lines for every reader: some end a line
    /// at U+0085, U+2028 or U+2029, which JSON may have in a string. A long one is looked through
    /// outside of the threads of the network.
    pub(super) async fn escaped(
        &self,
        body: BoxBody<Bytes, Infallible>,
    ) -> Result<BoxBody<Bytes, Infallible>, Refused> {
        if body.size_hint().exact().is_none() {
            return Ok(Escaped { body }.boxed());
        }
        let Ok(whole) = body.collect().await;
        let whole = whole.to_bytes();
        let escaped = if whole.len() <= QUICK {
            escaped_bytes(whole)
        } else {
            self.apart(move || escaped_bytes(whole)).await?
        };
        Ok(Full::new(escaped).boxed())
    }
}

/// The room that a message of that length takes beyond its own.
fn needed_kib(length: usize, weight: usize) -> usize {
    length
        .saturating_sub(OWN)
        .saturating_add(weight)
        .div_ceil(1024)
}

fn too_large(too_much: TooMuch) -> Refused {
    Refused::new(StatusCode::PAYLOAD_TOO_LARGE, too_much.to_string())
}

/// A stream of events, each a frame.
struct Escaped {
    body: BoxBody<Bytes, Infallible>,
}

impl Body for Escaped {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        frame.map(|frame| frame.map(|frame| frame.map(|frame| frame.map_data(escaped_bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

/// Bytes that are no text stay as they are.
fn escaped_bytes(bytes: Bytes) -> Bytes {
    match std::str::from_utf8(&bytes).map(escape_json) {
        Ok(Cow::Owned(mut escaped)) => {
            escaped.shrink_to_fit();
            escaped.into()
        }
        _ => bytes,
    }
}

/// An answer that ends early when whoever asked is not to hear more.
pub(super) struct Until {
    body: BoxBody<Bytes, Infallible>,
    over: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Until {
    pub(super) fn new(body: BoxBody<Bytes, Infallible>, over: CancellationToken) -> Until {
        let over = Box::pin(over.cancelled_owned());
        Until { body, over }
    }
}

impl Body for Until {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.over.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

/// An answer that holds something until it is sent, or nobody wants it any more.
pub(super) struct Holding<T> {
    body: BoxBody<Bytes, Infallible>,
    _held: T,
}

impl<T> Holding<T> {
    pub(super) fn new(body: BoxBody<Bytes, Infallible>, held: T) -> Holding<T> {
        Holding { body, _held: held }
    }
}

impl<T: Unpin> Body for Holding<T> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::block_on;

    fn full(bytes: usize) -> Full<Bytes> {
        Full::new(vec![b' '; bytes].into())
    }

    /// A body of which nothing comes.
    struct Silent;

    impl Body for Silent {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Pending
        }
    }

    fn status(read: Result<Message, Refused>) -> u16 {
        match read {
            Ok(_) => 200,
            Err(refused) => refused.status.as_u16(),
        }
    }

    /// A body that comes in many frames, and is whole when it is first asked for.
    fn upload(bytes: usize) -> Full<Bytes> {
        let begin = r#"{"method":"tools/call","params":{"name":"upload_document","a":""#;
        let mut body = vec![b'y'; bytes];
        body[..begin.len()].copy_from_slice(begin.as_bytes());
        body[bytes - 3..].copy_from_slice(br#""}}"#);
        Full::new(body.into())
    }

    #[test]
    fn bodies_that_are_announced_and_not_sent_keep_nobody_out() {
        let bodies = Bodies::new(false);
        let headers = |length: usize| HeaderMap::from_iter([(CONTENT_LENGTH, length.into())]);
        block_on(async {
            let large = headers(UPLOAD_LIMIT);
            let short = Duration::from_millis(10);
            let silent = async {
                let one = || tokio::time::timeout(short * 20, bodies.read(None, &large, Silent));
                let _ = tokio::join!(one(), one(), one(), one());
            };
            let other = async {
                tokio::time::sleep(short).await;
                status(bodies.read(None, &large, upload(UPLOAD_LIMIT)).await)
            };
            let ((), other) = tokio::join!(silent, other);
            assert_eq!(other, 200);
            let over = headers(UPLOAD_LIMIT + 1);
            assert_eq!(status(bodies.read(None, &over, Silent).await), 413);
            let unannounced = HeaderMap::new();
            let read = bodies.read(None, &unannounced, upload(UPLOAD_LIMIT + 1));
            assert_eq!(status(read.await), 413);
        });
    }

    #[test]
    fn bodies_that_are_waited_for_are_few() {
        let bodies = Bodies::new(false);
        let headers = HeaderMap::new();
        block_on(async {
            let mut coming = Vec::new();
            for _ in 0..COMING {
                let mut body = Box::pin(bodies.read(None, &headers, Silent));
                let early = std::future::poll_fn(|cx| Poll::Ready(body.as_mut().poll(cx)));
                assert!(early.await.is_pending());
                coming.push(body);
            }
            assert_eq!(status(bodies.read(None, &headers, Silent).await), 503);
            assert_eq!(status(bodies.read(None, &headers, full(OWN)).await), 200);
            drop(coming);
            assert_eq!(bodies.coming.in_use(), 0);
        });
    }

    #[test]
    fn small_bodies_get_through_where_large_ones_took_all_room() {
        let bodies = Bodies::new(false);
        let headers = HeaderMap::new();
        block_on(async {
            let mut held = Vec::new();
            let read = bodies.read(None, &headers, upload(UPLOAD_LIMIT)).await;
            held.push(read.unwrap().room);
            let refused = bodies.read(None, &headers, upload(UPLOAD_LIMIT)).await;
            assert_eq!(status(refused), 503);
            let rest = bodies.room.take(None, MESSAGES_KIB - bodies.room.in_use());
            assert!(rest.is_some());
            let refused = bodies.read(None, &headers, full(OWN + 1)).await;
            assert_eq!(status(refused), 503);
            // So are small ones that are parsed to much.
            let values = format!("[{}0]", "0,".repeat(1000));
            let refused = bodies.read(None, &headers, Full::new(values.into()));
            assert_eq!(status(refused.await), 503);
            assert_eq!(status(bodies.read(None, &headers, full(OWN)).await), 200);
            drop((held, rest));
            assert_eq!(bodies.room.in_use(), 0);
        });
    }

    #[test]
    fn a_long_message_is_begun_outside_of_the_threads_of_the_network() {
        let bodies = Bodies::new(false);
        block_on(async {
            let here = std::thread::current().id();
            for (length, is_here) in [(QUICK, true), (QUICK + 1, false)] {
                let answer = async move {
                    let begun = std::thread::current().id();
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    (begun == here, std::thread::current().id() == here)
                };
                let answer = bodies.begin(length, answer).await.unwrap();
                assert_eq!(answer, (is_here, true), "{length}");
            }
        });
    }

    #[test]
    fn an_answer_ends_when_it_has_to() {
        block_on(async {
            let over = CancellationToken::new();
            let mut answer = Until::new(Silent.boxed(), over.clone());
            let wait = Duration::from_millis(10);
            let early = tokio::time::timeout(wait, answer.frame()).await;
            assert!(early.is_err(), "it goes on");
            over.cancel();
            let last = tokio::time::timeout(wait, answer.frame()).await;
            assert!(matches!(last, Ok(None)), "it is over");
        });
    }
}
