//! Keeps long parsing off the network threads, which would delay the requests of other clients.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::sync::Semaphore;
use tokio::task::JoinError;

/// Messages that are parsed off the network threads at once.
const CONCURRENCY: usize = 2;

/// Longest message that the network threads parse, in bytes: it takes less than a millisecond.
pub(crate) const INLINE_LIMIT_BYTES: usize = 16 << 10;

/// Runs work on blocking threads, a few at once.
#[derive(Debug, Clone)]
pub(crate) struct Offload {
    permits: Arc<Semaphore>,
}

impl Offload {
    pub(crate) fn new() -> Offload {
        Offload {
            permits: Arc::new(Semaphore::new(CONCURRENCY)),
        }
    }

    /// Runs a job on `length` bytes: here if they are few, else on a blocking thread.
    ///
    /// # Errors
    /// That of a job which panicked on its thread.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        length: usize,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        if length <= INLINE_LIMIT_BYTES {
            return Ok(job());
        }
        // An error would mean that the semaphore is closed, which it never is.
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        tokio::task::spawn_blocking(move || {
            // Released when the job ends, even if its request is gone.
            let _permit = permit;
            job()
        })
        .await
    }

    /// Polls a future that parses `length` bytes before it first waits: the first time on a blocking
    /// thread if they are many, then here.
    ///
    /// # Errors
    /// That of a future which panicked on the blocking thread.
    pub(crate) async fn first_poll<T: Send + 'static>(
        &self,
        length: usize,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, JoinError> {
        let mut future = Box::pin(future);
        if length <= INLINE_LIMIT_BYTES {
            return Ok(future.await);
        }
        let job = move || {
            // No waker is needed: the future is polled again in any case.
            let mut cx = Context::from_waker(Waker::noop());
            match future.as_mut().poll(&mut cx) {
                Poll::Ready(output) => Ok(output),
                Poll::Pending => Err(future),
            }
        };
        match self.run(length, job).await? {
            Ok(output) => Ok(output),
            Err(future) => Ok(future.await),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::transport::testing::block_on;

    #[test]
    fn a_long_message_is_first_polled_off_the_network_threads() {
        let offload = Offload::new();
        block_on(async {
            let network = std::thread::current().id();
            for (length, is_inline) in [(INLINE_LIMIT_BYTES, true), (INLINE_LIMIT_BYTES + 1, false)]
            {
                let response = async move {
                    let first = std::thread::current().id();
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    (first == network, std::thread::current().id() == network)
                };
                let threads = offload.first_poll(length, response).await.unwrap();
                assert_eq!(threads, (is_inline, true), "{length}");
            }
        });
    }
}
