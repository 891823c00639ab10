//! Reads the bodies of requests into memory that is bounded for all of them together.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes};
use hyper::header::CONTENT_LENGTH;
use hyper::{HeaderMap, StatusCode};

use super::offload::Offload;
use crate::transport::http::rejection::{Malformed, Rejection};
use crate::transport::message_shape::{LimitExceeded, MessageShape, UPLOAD_LIMIT};
use crate::transport::quota::{Owner, Quota, QuotaPermit};

/// How long a body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Memory of all messages from their first byte until their work has ended, in KiB, beyond what
/// each has free. An upload is held some three times until it is decoded.
const MEMORY_KIB: usize = 40 << 10;

/// Memory that each token can always have; with the shared rest it may send the longest upload.
const MEMORY_RESERVED_KIB: usize = 1 << 10;

/// Bytes of each message that are not counted: small requests are served whatever others send.
const FREE_BYTES: usize = 4 << 10;

/// Bodies that are waited for at once, and how many of them each token can always have. Most bodies
/// arrive with their headers and are not waited for.
const PENDING: usize = 64;
const PENDING_RESERVED: usize = 4;

/// Bounds the memory of request bodies.
#[derive(Debug)]
pub(crate) struct BodyBudget {
    memory_kib: Arc<Quota>,
    pending: Arc<Quota>,
    offload: Offload,
}

/// A request body that may be parsed.
#[derive(Debug)]
pub(crate) struct RequestBody {
    pub(crate) bytes: Bytes,
    /// Its memory, as text and parsed.
    pub(crate) permit: QuotaPermit,
    /// Whether its response may be a stream that stays open.
    pub(crate) may_be_stream: bool,
    /// What to answer if it is no message of the protocol.
    pub(crate) malformed: Malformed,
}

impl BodyBudget {
    pub(crate) fn new(requires_token: bool, offload: Offload) -> BodyBudget {
        BodyBudget {
            memory_kib: Quota::new(MEMORY_KIB, MEMORY_RESERVED_KIB, requires_token),
            pending: Quota::new(PENDING, PENDING_RESERVED, requires_token),
            offload,
        }
    }

    /// Memory of all messages.
    #[cfg(test)]
    pub(crate) fn in_use_kib(&self) -> usize {
        self.memory_kib.in_use()
    }

    /// Reads a whole body and checks its limits. Memory is charged as bytes arrive, not by the length
    /// that is announced: a client that sends nothing keeps nobody out.
    pub(crate) async fn read<B: Body<Data = Bytes> + Unpin>(
        &self,
        owner: Owner,
        headers: &HeaderMap,
        body: B,
    ) -> Result<RequestBody, Rejection> {
        check_announced(headers)?;
        let (bytes, mut permit) = self.collect_in_time(owner, body).await?;
        let message = bytes.clone();
        let scan = move || {
            let shape = MessageShape::scan(&message);
            shape.check()?;
            let malformed = Malformed::of(&message, &shape);
            Ok((shape.parsed_bytes(), shape.may_be_stream(), malformed))
        };
        let scanned = self.offload.run(bytes.len(), scan).await?;
        let (parsed_bytes, may_be_stream, malformed) = scanned.map_err(too_large)?;
        let kib = charged_kib(bytes.len(), parsed_bytes).saturating_sub(permit.amount());
        if !permit.try_grow(kib) {
            return Err(Rejection::busy("too much is sent at once"));
        }
        Ok(RequestBody {
            bytes,
            permit,
            may_be_stream,
            malformed,
        })
    }

    /// As [`BodyBudget::read`], for a body that is no message of the protocol. The permit is of its memory.
    pub(crate) async fn read_plain<B: Body<Data = Bytes> + Unpin>(
        &self,
        owner: Owner,
        headers: &HeaderMap,
        body: B,
    ) -> Result<(Bytes, QuotaPermit), Rejection> {
        check_announced(headers)?;
        self.collect_in_time(owner, body).await
    }

    /// Reads a whole body; one that is not there yet takes a permit to be waited for.
    async fn collect_in_time<B: Body<Data = Bytes> + Unpin>(
        &self,
        owner: Owner,
        body: B,
    ) -> Result<(Bytes, QuotaPermit), Rejection> {
        let mut collecting = std::pin::pin!(self.collect(owner, body));
        let immediate = std::future::poll_fn(|cx| Poll::Ready(collecting.as_mut().poll(cx))).await;
        if let Poll::Ready(collected) = immediate {
            return collected;
        }
        let permit = self.pending.try_acquire(owner, 1);
        let _permit = permit.ok_or(Rejection::busy("too many bodies are waited for"))?;
        let collected = tokio::time::timeout(BODY_TIMEOUT, collecting).await;
        collected.unwrap_or(Err(StatusCode::REQUEST_TIMEOUT.into()))
    }

    async fn collect<B: Body<Data = Bytes> + Unpin>(
        &self,
        owner: Owner,
        mut body: B,
    ) -> Result<(Bytes, QuotaPermit), Rejection> {
        let busy = || Rejection::busy("too much is sent at once");
        let mut permit = self.memory_kib.try_acquire(owner, 0).ok_or_else(busy)?;
        let mut collected = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| StatusCode::BAD_REQUEST)?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            let length = collected.len() + data.len();
            if length > UPLOAD_LIMIT {
                return Err(too_large(LimitExceeded::Upload));
            }
            if !permit.try_grow(charged_kib(length, 0).saturating_sub(permit.amount())) {
                return Err(busy());
            }
            if collected.capacity() < length {
                // Grows by a quarter: doubling could take twice the memory that is charged.
                collected.reserve_exact(data.len() + collected.len() / 4);
            }
            collected.extend_from_slice(&data);
        }
        Ok((collected.into(), permit))
    }
}

/// Refuses a body by the length that is announced.
fn check_announced(headers: &HeaderMap) -> Result<(), Rejection> {
    let announced = headers.get(CONTENT_LENGTH).map(|length| {
        let length = length.to_str().ok().and_then(|length| length.parse().ok());
        length.unwrap_or(usize::MAX)
    });
    if announced.is_some_and(|length| length > UPLOAD_LIMIT) {
        return Err(too_large(LimitExceeded::Upload));
    }
    Ok(())
}

/// Memory that is charged for a message of that length.
fn charged_kib(length: usize, parsed_bytes: usize) -> usize {
    length
        .saturating_sub(FREE_BYTES)
        .saturating_add(parsed_bytes)
        .div_ceil(1024)
}

fn too_large(exceeded: LimitExceeded) -> Rejection {
    Rejection::new(StatusCode::PAYLOAD_TOO_LARGE, exceeded.to_string())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::Context;

    use http_body_util::Full;
    use hyper::body::Frame;

    use super::*;
    use crate::transport::testing::block_on;

    fn full(bytes: usize) -> Full<Bytes> {
        Full::new(vec![b' '; bytes].into())
    }

    /// A body that never arrives.
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

    fn status(read: Result<RequestBody, Rejection>) -> u16 {
        match read {
            Ok(_) => 200,
            Err(rejected) => rejected.status.as_u16(),
        }
    }

    /// The body of an upload.
    fn upload(bytes: usize) -> Full<Bytes> {
        let begin = r#"{"method":"tools/call","params":{"name":"upload_document","a":""#;
        let mut body = vec![b'y'; bytes];
        body[..begin.len()].copy_from_slice(begin.as_bytes());
        body[bytes - 3..].copy_from_slice(br#""}}"#);
        Full::new(body.into())
    }

    #[test]
    fn a_body_that_is_announced_and_not_sent_takes_no_memory() {
        let bodies = BodyBudget::new(false, Offload::new());
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
    fn the_number_of_bodies_waited_for_is_limited() {
        let bodies = BodyBudget::new(false, Offload::new());
        let headers = HeaderMap::new();
        block_on(async {
            let mut coming = Vec::new();
            for _ in 0..PENDING {
                let mut body = Box::pin(bodies.read(None, &headers, Silent));
                let early = std::future::poll_fn(|cx| Poll::Ready(body.as_mut().poll(cx)));
                assert!(early.await.is_pending());
                coming.push(body);
            }
            assert_eq!(status(bodies.read(None, &headers, Silent).await), 503);
            assert_eq!(
                status(bodies.read(None, &headers, full(FREE_BYTES)).await),
                200
            );
            drop(coming);
            assert_eq!(bodies.pending.in_use(), 0);
        });
    }

    #[test]
    fn small_bodies_are_read_when_all_memory_is_taken() {
        let bodies = BodyBudget::new(false, Offload::new());
        let headers = HeaderMap::new();
        block_on(async {
            let mut held = Vec::new();
            let read = bodies.read(None, &headers, upload(UPLOAD_LIMIT)).await;
            held.push(read.unwrap().permit);
            let rejected = bodies.read(None, &headers, upload(UPLOAD_LIMIT)).await;
            assert_eq!(status(rejected), 503);
            let rest = bodies
                .memory_kib
                .try_acquire(None, MEMORY_KIB - bodies.memory_kib.in_use());
            assert!(rest.is_some());
            let rejected = bodies.read(None, &headers, full(FREE_BYTES + 1)).await;
            assert_eq!(status(rejected), 503);
            // So are small ones that take much memory when parsed.
            let values = format!("[{}0]", "0,".repeat(1000));
            let rejected = bodies.read(None, &headers, Full::new(values.into()));
            assert_eq!(status(rejected.await), 503);
            assert_eq!(
                status(bodies.read(None, &headers, full(FREE_BYTES)).await),
                200
            );
            drop((held, rest));
            assert_eq!(bodies.memory_kib.in_use(), 0);
        });
    }
}
