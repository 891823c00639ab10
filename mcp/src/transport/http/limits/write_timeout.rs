//! Closes a connection whose client does not read.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use crate::transport::http::body::unflushed::Unflushed;

/// A stream whose writes fail with [`io::ErrorKind::TimedOut`] when the peer takes no byte for too long.
pub(crate) struct WriteTimeout<T> {
    stream: T,
    timeout: Duration,
    /// Set while a write waits.
    timer: Pin<Box<Sleep>>,
    is_waiting: bool,
    /// Cleared when everything is written.
    unflushed: Arc<Unflushed>,
}

impl<T> WriteTimeout<T> {
    pub(crate) fn new(stream: T, timeout: Duration, unflushed: Arc<Unflushed>) -> WriteTimeout<T> {
        WriteTimeout {
            stream,
            timeout,
            unflushed,
            timer: Box::pin(sleep(timeout)),
            is_waiting: false,
        }
    }

    /// Returns the result of a write, or an error if it has waited for too long.
    fn or_timeout<R>(
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
            self.timer.as_mut().reset(Instant::now() + self.timeout);
        }
        ready!(self.timer.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for WriteTimeout<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.or_timeout(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.or_timeout(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // hyper flushes when its write buffer is empty.
        let written = ready!({
            let written = Pin::new(&mut self.stream).poll_flush(cx);
            self.or_timeout(written, cx)
        });
        if written.is_ok() {
            self.unflushed.flushed();
        }
        Poll::Ready(written)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let written = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.or_timeout(written, cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;
    use crate::transport::testing::{PATIENCE, block_on};

    #[test]
    fn a_write_times_out_only_when_the_client_does_not_read() {
        block_on(async {
            let (stream, mut client) = duplex(16);
            let mut stream = WriteTimeout::new(stream, Duration::from_millis(20), Arc::default());
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
