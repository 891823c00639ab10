//! Answers that the server has given to a connection and the client has not taken: they count until
//! everything is written, not only until the connection has their bytes.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::Notify;

use crate::transport::share::{Owner, Share, Shares};

/// What one connection has of the memory of answers.
#[derive(Debug, Default)]
pub(super) struct Unsent {
    shares: Mutex<Vec<Share>>,
    /// Told when all is written.
    written: Notify,
}

impl Unsent {
    fn shares(&self) -> MutexGuard<'_, Vec<Share>> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, share: Share) {
        self.shares().push(share);
    }

    /// Everything that the connection was given is written.
    pub(super) fn is_written(&self) {
        let written = std::mem::take(&mut *self.shares());
        if !written.is_empty() {
            drop(written);
            self.written.notify_waiters();
        }
    }

    /// Waits until nothing that counts is left to be written.
    pub(super) async fn nothing(&self) {
        loop {
            let written = self.written.notified();
            if self.shares().is_empty() {
                return;
            }
            written.await;
        }
    }
}

/// An answer whose bytes count until they are written.
pub(super) struct Counted {
    body: BoxBody<Bytes, Infallible>,
    unsent: Arc<Unsent>,
    count: Count,
}

enum Count {
    /// Its share was taken before it was begun.
    Whole(Option<Share>),
    /// Each event takes a share when it comes; the stream ends where there is none.
    Events(Arc<Shares>, Owner),
}

impl Counted {
    /// An answer of one piece.
    pub(super) fn whole(
        body: BoxBody<Bytes, Infallible>,
        share: Share,
        unsent: Arc<Unsent>,
    ) -> Counted {
        Counted {
            body,
            unsent,
            count: Count::Whole(Some(share)),
        }
    }

    /// An answer of events.
    pub(super) fn events(
        body: BoxBody<Bytes, Infallible>,
        shares: Arc<Shares>,
        owner: Owner,
        unsent: Arc<Unsent>,
    ) -> Counted {
        Counted {
            body,
            unsent,
            count: Count::Events(shares, owner),
        }
    }
}

impl Body for Counted {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        let frame = std::task::ready!(Pin::new(&mut this.body).poll_frame(cx));
        let length = frame.as_ref().and_then(|frame| frame.as_ref().ok());
        let length = length.and_then(Frame::data_ref).map_or(0, Bytes::len);
        if length > 0 {
            let share = match &mut this.count {
                Count::Whole(share) => share.take(),
                Count::Events(shares, owner) => match shares.take(*owner, length.div_ceil(1024)) {
                    Some(share) => Some(share),
                    None => return Poll::Ready(None),
                },
            };
            if let Some(share) = share {
                this.unsent.add(share);
            }
        }
        Poll::Ready(frame)
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
    use http_body_util::{BodyExt, Full};

    use super::*;
    use crate::transport::block_on;

    #[test]
    fn an_answer_counts_until_it_is_written() {
        block_on(async {
            let shares = Shares::new(100, 10, false);
            let unsent = Arc::new(Unsent::default());
            let full = || Full::new(Bytes::from(vec![b' '; 60 << 10])).boxed();
            let share = shares.take(None, 60).unwrap();
            let whole = Counted::whole(full(), share, Arc::clone(&unsent));
            let _ = whole.collect().await;
            assert_eq!(shares.in_use(), 60, "the connection has it");
            let events = || Counted::events(full(), Arc::clone(&shares), None, Arc::clone(&unsent));
            let ended = events().collect().await.unwrap().to_bytes();
            assert!(ended.is_empty(), "there is no room for it");
            unsent.is_written();
            unsent.nothing().await;
            assert_eq!(shares.in_use(), 0);
            let passed = events().collect().await.unwrap().to_bytes();
            assert_eq!(passed.len(), 60 << 10);
            assert_eq!(shares.in_use(), 60);
        });
    }
}
