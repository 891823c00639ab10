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
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Largest body. An upload may have 10 MiB, base64 and JSON make it longer.
pub(super) const BODY_LIMIT: usize = 24 << 20;

/// How long a body may take.
const BODY_TIME: Duration = Duration::from_secs(30);

/// All bodies that are held, in KiB, beside what each has for itself.
const BODIES_KIB: usize = 96 << 10;

/// What each body has for itself: small requests get through whatever others send.
const OWN: usize = 64 << 10;

/// The memory of all bodies.
#[derive(Debug)]
pub(super) struct Bodies {
    room: Arc<Semaphore>,
}

/// The memory of one body, given back when this is dropped.
pub(super) type Room = OwnedSemaphorePermit;

impl Bodies {
    pub(super) fn new() -> Bodies {
        Bodies {
            room: Arc::new(Semaphore::new(BODIES_KIB)),
        }
    }

    /// Reads a whole body. It takes room for what came, not for what is announced: who sends nothing
    /// keeps nobody out.
    pub(super) async fn read<B: Body<Data = Bytes> + Unpin>(
        &self,
        headers: &HeaderMap,
        body: B,
    ) -> Result<(Bytes, Room), StatusCode> {
        let announced = headers.get(CONTENT_LENGTH).map(|length| {
            let length = length.to_str().ok().and_then(|length| length.parse().ok());
            length.unwrap_or(usize::MAX)
        });
        if announced.is_some_and(|length| length > BODY_LIMIT) {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        let whole = tokio::time::timeout(BODY_TIME, self.collect(body)).await;
        whole.unwrap_or(Err(StatusCode::REQUEST_TIMEOUT))
    }

    async fn collect<B: Body<Data = Bytes> + Unpin>(
        &self,
        mut body: B,
    ) -> Result<(Bytes, Room), StatusCode> {
        let mut room = self.more(0)?;
        let mut whole = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| StatusCode::BAD_REQUEST)?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            let length = whole.len() + data.len();
            if length > BODY_LIMIT {
                return Err(StatusCode::PAYLOAD_TOO_LARGE);
            }
            let kib = length.saturating_sub(OWN).div_ceil(1024);
            room.merge(self.more(kib.saturating_sub(room.num_permits()))?);
            whole.extend_from_slice(&data);
        }
        Ok((whole.into(), room))
    }

    fn more(&self, kib: usize) -> Result<Room, StatusCode> {
        let kib = u32::try_from(kib).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).try_acquire_many_owned(kib);
        room.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)
    }
}

/// An answer of JSON, whole or as events, that is the same lines for every reader: some end a line
/// at U+0085, U+2028 or U+2029, which JSON may have in a string.
pub(super) async fn escaped(body: BoxBody<Bytes, Infallible>) -> BoxBody<Bytes, Infallible> {
    if body.size_hint().exact().is_none() {
        return Escaped { body }.boxed();
    }
    let Ok(whole) = body.collect().await;
    Full::new(escaped_bytes(whole.to_bytes())).boxed()
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
        Ok(Cow::Owned(escaped)) => escaped.into(),
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
    use crate::wire::block_on;

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

    #[test]
    fn bodies_that_are_announced_and_not_sent_keep_nobody_out() {
        let bodies = Bodies::new();
        let headers = |length: usize| HeaderMap::from_iter([(CONTENT_LENGTH, length.into())]);
        block_on(async {
            let large = headers(BODY_LIMIT);
            let short = Duration::from_millis(10);
            let silent = async {
                let one = || tokio::time::timeout(short * 20, bodies.read(&large, Silent));
                let _ = tokio::join!(one(), one(), one(), one());
            };
            let other = async {
                tokio::time::sleep(short).await;
                bodies.read(&large, full(BODY_LIMIT)).await.map(drop)
            };
            let ((), other) = tokio::join!(silent, other);
            assert_eq!(other, Ok(()));
            let over = headers(BODY_LIMIT + 1);
            let refused = bodies.read(&over, Silent).await.map(drop);
            assert_eq!(refused, Err(StatusCode::PAYLOAD_TOO_LARGE));
            let unannounced = HeaderMap::new();
            let refused = bodies.read(&unannounced, full(BODY_LIMIT + 1)).await;
            assert_eq!(refused.map(drop), Err(StatusCode::PAYLOAD_TOO_LARGE));
        });
    }

    #[test]
    fn small_bodies_get_through_where_large_ones_took_all_room() {
        let bodies = Bodies::new();
        let headers = HeaderMap::new();
        block_on(async {
            let mut held = Vec::new();
            for _ in 0..4 {
                held.push(bodies.read(&headers, full(BODY_LIMIT)).await.unwrap());
            }
            let rest = bodies.room.available_permits();
            let rest = Arc::clone(&bodies.room).try_acquire_many_owned(rest as u32);
            let refused = bodies.read(&headers, full(OWN + 1)).await.map(drop);
            assert_eq!(refused, Err(StatusCode::SERVICE_UNAVAILABLE));
            let (small, _room) = bodies.read(&headers, full(OWN)).await.unwrap();
            assert_eq!(small.len(), OWN);
            drop((held, rest));
            assert_eq!(bodies.room.available_permits(), BODIES_KIB);
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
