//! Wraps the bodies of responses: to escape them, to end them early, to hold a guard while they are
//! sent, and to count their memory.

use std::borrow::Cow;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Frame, SizeHint};
use kb_engine::escape::escape_json;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

use super::offload::Offload;
use super::unflushed::Unflushed;
use crate::transport::quota::{Owner, Quota, QuotaPermit};

/// The body of a response. One with an exact size is whole, any other is a stream of events.
pub(crate) type ResponseBody = BoxBody<Bytes, Infallible>;

type PollFrame = Poll<Option<Result<Frame<Bytes>, Infallible>>>;

/// A body whose frames come from `poll`. Its size and end are those of the body within.
struct Intercepted<F> {
    body: ResponseBody,
    poll: F,
}

fn intercept<F>(body: ResponseBody, poll: F) -> Intercepted<F>
where
    F: FnMut(Pin<&mut ResponseBody>, &mut Context<'_>) -> PollFrame + Unpin,
{
    Intercepted { body, poll }
}

impl<F> Body for Intercepted<F>
where
    F: FnMut(Pin<&mut ResponseBody>, &mut Context<'_>) -> PollFrame + Unpin,
{
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> PollFrame {
        let this = &mut *self;
        (this.poll)(Pin::new(&mut this.body), cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Holds a guard until the body is sent or dropped.
pub(crate) fn guarded<T: Unpin>(
    body: ResponseBody,
    guard: T,
) -> impl Body<Data = Bytes, Error = Infallible> {
    intercept(body, move |body, cx| {
        let _held = &guard;
        body.poll_frame(cx)
    })
}

/// Ends the body when the token is cancelled.
pub(crate) fn end_on(
    body: ResponseBody,
    token: CancellationToken,
) -> impl Body<Data = Bytes, Error = Infallible> + Send + Sync {
    let mut cancelled = Box::pin(token.cancelled_owned());
    intercept(body, move |body, cx| {
        if cancelled.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        body.poll_frame(cx)
    })
}

/// Counts a whole body, whose permit was taken before, until the connection has written it.
pub(crate) fn counted(
    body: ResponseBody,
    permit: QuotaPermit,
    unflushed: Arc<Unflushed>,
) -> impl Body<Data = Bytes, Error = Infallible> + Send + Sync {
    let mut permit = Some(permit);
    intercept(body, move |body, cx| {
        let frame = ready!(body.poll_frame(cx));
        if data_length(&frame) > 0
            && let Some(permit) = permit.take()
        {
            unflushed.add(permit);
        }
        Poll::Ready(frame)
    })
}

/// Counts each event of a stream until the connection has written it. The stream ends where there is
/// no memory for the next event.
pub(crate) fn counted_events(
    body: ResponseBody,
    memory_kib: Arc<Quota>,
    owner: Owner,
    unflushed: Arc<Unflushed>,
) -> impl Body<Data = Bytes, Error = Infallible> + Send + Sync {
    intercept(body, move |body, cx| {
        let frame = ready!(body.poll_frame(cx));
        let length = data_length(&frame);
        if length > 0 {
            match memory_kib.try_acquire(owner, length.div_ceil(1024)) {
                Some(permit) => unflushed.add(permit),
                None => return Poll::Ready(None),
            }
        }
        Poll::Ready(frame)
    })
}

fn data_length(frame: &Option<Result<Frame<Bytes>, Infallible>>) -> usize {
    let frame = frame.as_ref().and_then(|frame| frame.as_ref().ok());
    frame.and_then(Frame::data_ref).map_or(0, Bytes::len)
}

/// Escapes U+0085, U+2028 and U+2029 in a body of JSON, or in each event of a stream: some clients end
/// a line there, which JSON does not require to be escaped.
pub(crate) async fn escaped(
    body: ResponseBody,
    offload: &Offload,
) -> Result<ResponseBody, JoinError> {
    if body.size_hint().exact().is_none() {
        let events = body.map_frame(|frame| frame.map_data(escape_bytes));
        return Ok(events.boxed());
    }
    let Ok(whole) = body.collect().await;
    let whole = whole.to_bytes();
    let length = whole.len();
    let escaped = offload.run(length, move || escape_bytes(whole)).await?;
    Ok(Full::new(escaped).boxed())
}

/// Escapes text; other bytes stay as they are.
fn escape_bytes(bytes: Bytes) -> Bytes {
    match std::str::from_utf8(&bytes).map(escape_json) {
        Ok(Cow::Owned(mut escaped)) => {
            escaped.shrink_to_fit();
            escaped.into()
        }
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::transport::testing::block_on;

    fn full(length: usize) -> ResponseBody {
        Full::new(Bytes::from(vec![b' '; length])).boxed()
    }

    #[test]
    fn a_body_ends_when_its_token_is_cancelled() {
        block_on(async {
            let token = CancellationToken::new();
            let silent = intercept(full(0), |_, _| Poll::Pending).boxed();
            let mut body = Box::pin(end_on(silent, token.clone()));
            let wait = Duration::from_millis(10);
            let early = tokio::time::timeout(wait, body.frame()).await;
            assert!(early.is_err(), "it stays open");
            token.cancel();
            let last = tokio::time::timeout(wait, body.frame()).await;
            assert!(matches!(last, Ok(None)), "it has ended");
        });
    }

    #[test]
    fn a_guarded_body_keeps_its_size() {
        let body = guarded(full(60), ());
        assert_eq!(body.size_hint().exact(), Some(60));
    }

    #[test]
    fn a_body_counts_until_it_is_flushed() {
        block_on(async {
            let memory = Quota::new(100, 10, false);
            let unflushed = Arc::new(Unflushed::default());
            let length = 60 << 10;
            let permit = memory.try_acquire(None, 60).unwrap();
            let whole = counted(full(length), permit, Arc::clone(&unflushed));
            let _ = whole.collect().await;
            assert_eq!(memory.in_use(), 60, "the connection has it");
            let events = || {
                counted_events(
                    full(length),
                    Arc::clone(&memory),
                    None,
                    Arc::clone(&unflushed),
                )
            };
            let ended = events().collect().await.unwrap().to_bytes();
            assert!(ended.is_empty(), "there is no memory for it");
            unflushed.flushed();
            unflushed.drained().await;
            assert_eq!(memory.in_use(), 0);
            let sent = events().collect().await.unwrap().to_bytes();
            assert_eq!(sent.len(), length);
            assert_eq!(memory.in_use(), 60);
        });
    }
}
