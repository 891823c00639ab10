//! Watches the open files for commits: those of this process at once, those of others by polling.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::indexes::Indexes;

/// How often the files are polled while there is a subscriber.
pub(super) const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// The last commit of every open file: name, UUID and number of the commit.
pub(super) type CommitStates = Vec<(String, String, u64)>;

/// Publishes the commit states whenever they change.
pub(super) struct CommitWatcher {
    states: watch::Sender<CommitStates>,
    /// Notified after each commit of this process.
    committed: Arc<Notify>,
}

impl CommitWatcher {
    pub(super) fn new(indexes: &Indexes) -> CommitWatcher {
        let committed = Arc::new(Notify::new());
        let after_commit = Arc::clone(&committed);
        indexes.on_commit(move || after_commit.notify_one());
        CommitWatcher {
            states: watch::Sender::new(CommitStates::new()),
            committed,
        }
    }

    /// A receiver of all states from now on.
    pub(super) fn subscribe(&self) -> watch::Receiver<CommitStates> {
        self.states.subscribe()
    }

    /// Watches the files until `shutdown`. Without a subscriber no file is read.
    pub(super) async fn run(&self, indexes: &Arc<Indexes>, shutdown: &CancellationToken) {
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = tokio::time::sleep(POLL_INTERVAL) => {}
                () = self.committed.notified() => {}
            }
            if self.states.receiver_count() == 0 {
                continue;
            }
            let indexes = Arc::clone(indexes);
            let reading = tokio::task::spawn_blocking(move || commit_states(&indexes));
            let Ok(current) = reading.await else {
                continue;
            };
            self.states.send_if_modified(|published| {
                let is_modified = *published != current;
                *published = current;
                is_modified
            });
        }
    }
}

/// The commit states now. A file that cannot be read has a state of its own, so that subscribers read
/// it again and see the error.
pub(super) fn commit_states(indexes: &Indexes) -> CommitStates {
    let states = indexes.list().into_iter().map(|index| {
        let (uuid, commit) = match index.kb().state() {
            Ok(state) => (state.uuid, state.commit),
            Err(_) => (String::new(), 0),
        };
        (index.name().to_owned(), uuid, commit)
    });
    states.collect()
}
