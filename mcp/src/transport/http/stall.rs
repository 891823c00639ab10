//! A connection whose client must read: one that takes nothing for too long is an error, and ends.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::unsent::Unsent;

/// A stream of bytes with a limit on how long a write may take nothing.
pub(super) struct Stalling<T> {
    stream: T,
    limit: Duration,
    /// Runs while a write waits.
    timer: Pin<Box<Sleep>>,
    is_waiting: bool,
    /// Told when all that was given is written.
    unsent: Arc<Unsent>,
}

impl<T> Stalling<T> {
    pub(super) fn new(stream: T, limit: Duration, unsent: Arc<Unsent>) -> Stalling<T> {
        Stalling {
            stream,
            limit,
            unsent,
            timer: Box::pin(sleep(limit)),
            is_waiting: false,
        }
    }

    /// Passes on what a write came to, unless it has waited for too long.
    fn watched<R>(
        &mut self,
        written: Poll<io::Result<R>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<R>> {
        if written.is_ready() {
            self.is_waiting = false;
            return written;
        }
        if !self.is_waiting {
            self.is_waiting = true;
            self.timer.as_mut().reset(Instant::now() + self.limit);
        }
        ready!(self.timer.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Stalling<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Stalling<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watched(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.watched(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Who writes through this has nothing left when it flushes.
        let written = ready!({
            let written = Pin::new(&mut self.stream).poll_flush(cx);
            self.watched(written, cx)
        });
        if written.is_ok() {
            self.unsent.is_written();
        }
        Poll::Ready(written)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let written = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.watched(written, cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;
    use crate::transport::{PATIENCE, block_on};

    #[test]
    fn a_client_that_reads_nothing_is_an_error_and_one_that_reads_is_not() {
        block_on(async {
            let (stream, mut client) = duplex(16);
            let mut stream = Stalling::new(stream, Duration::from_millis(20), Arc::default());
            let (_, wrote) = tokio::join!(
                async {
                    let mut read = vec![0; 100];
                    client.read_exact(&mut read).await.unwrap();
                },
                stream.write_all(&[0; 100]),
            );
            wrote.unwrap();
            let wrote = tokio::time::timeout(PATIENCE, stream.write_all(&[0; 100])).await;
            let error = wrote.expect("an end").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        });
    }
}
