//! What one subscriber has seen, and what changed since.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::commit_watcher::{CommitStates, POLL_INTERVAL, commit_states};
use super::executor::JobKind;
use super::quota::Owner;
use super::server::Server;
use crate::content;

/// The revision of each subscribed resource; `None` where there is no such resource.
pub(super) type Revisions = BTreeMap<String, Option<String>>;

/// What changed for one subscriber between two snapshots.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ChangeSet {
    /// Whether any file has a new commit.
    pub(super) list_changed: bool,
    /// URIs of subscribed resources with another revision.
    pub(super) updated: Vec<String>,
}

/// One subscriber and the last snapshot that it has seen.
pub(super) struct Subscriber {
    server: Arc<Server>,
    owner: Owner,
    commits: watch::Receiver<CommitStates>,
    seen: Snapshot,
}

/// The open files and the subscribed resources at one moment.
#[derive(Debug, Clone, Default)]
struct Snapshot {
    states: CommitStates,
    revisions: Revisions,
}

impl Subscriber {
    /// A subscriber that has seen everything up to now.
    pub(super) async fn new(server: &Arc<Server>, owner: Owner, uris: &[String]) -> Subscriber {
        // Subscribed before the snapshot, so that no commit falls between the two.
        let commits = server.commits.subscribe();
        Subscriber {
            server: Arc::clone(server),
            owner,
            commits,
            seen: take_snapshot(server, owner, uris).await,
        }
    }

    /// Waits until any file has another commit than the one seen last.
    pub(super) async fn changed(&mut self) {
        loop {
            if self.commits.changed().await.is_err() {
                // The watcher is gone. Its caller also waits for the shutdown of the server.
                return std::future::pending().await;
            }
            if *self.commits.borrow_and_update() != self.seen.states {
                return;
            }
        }
    }

    /// Takes a snapshot and compares it with the one before. A resource that was not in that one is
    /// compared with the revision given here.
    pub(super) async fn take_changes(&mut self, subscribed: &Revisions) -> ChangeSet {
        for (uri, revision) in subscribed {
            if !self.seen.revisions.contains_key(uri) {
                self.seen.revisions.insert(uri.clone(), revision.clone());
            }
        }
        let uris: Vec<String> = subscribed.keys().cloned().collect();
        let current = take_snapshot(&self.server, self.owner, &uris).await;
        let mut updated = Vec::new();
        for (uri, revision) in &current.revisions {
            let before = self.seen.revisions.get(uri);
            if before.is_some_and(|before| before != revision) {
                updated.push(uri.clone());
            }
        }
        let list_changed = current.states != self.seen.states;
        self.seen = current;
        ChangeSet {
            list_changed,
            updated,
        }
    }

    /// The revisions seen last.
    pub(super) fn revisions(&self) -> Revisions {
        self.seen.revisions.clone()
    }
}

/// The revisions of these resources now.
pub(super) async fn revisions(server: &Arc<Server>, owner: Owner, uris: &[String]) -> Revisions {
    take_snapshot(server, owner, uris).await.revisions
}

/// Retries while the executor is full: a resource that was not looked up must not count as missing.
async fn take_snapshot(server: &Arc<Server>, owner: Owner, uris: &[String]) -> Snapshot {
    loop {
        let (indexes, uris) = (Arc::clone(&server.indexes), uris.to_vec());
        let job = move |cancel: &Arc<AtomicBool>, _: &(dyn Fn(u64, u64) + Sync)| {
            let states = commit_states(&indexes);
            // A cancelled job has no reader, so its snapshot may be incomplete.
            let remaining = uris
                .into_iter()
                .take_while(|_| !cancel.load(Ordering::Relaxed));
            let revisions = remaining
                .map(|uri| {
                    let revision = content::revision(&indexes, &uri);
                    (uri, revision)
                })
                .collect();
            Snapshot { states, revisions }
        };
        let never = CancellationToken::new();
        match server
            .executor
            .run(JobKind::Read, owner, &never, None, job)
            .await
        {
            Ok(snapshot) => return snapshot,
            Err(_) => tokio::time::sleep(POLL_INTERVAL).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use kb_engine::KbWriter;

    use super::*;
    use crate::options::Options;
    use crate::transport::executor::{QueueLimit, read_concurrency};
    use crate::transport::testing::{PATIENCE, block_on};

    fn write(file: &Path, path: &str, text: &str) {
        let mut writer = KbWriter::open_or_create(file).unwrap();
        let _ = writer.remove(path);
        writer.add_bytes(path, text.as_bytes()).unwrap();
        writer.commit().unwrap();
    }

    fn server(file: &Path) -> Arc<Server> {
        let options = Options::reading(vec![("team".to_owned(), file.to_path_buf())]);
        Server::new(&options, None).ok().unwrap()
    }

    #[test]
    fn a_subscriber_sees_commits_and_what_they_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("team.kb");
        write(&file, "a.md", "one");
        write(&file, "b.md", "two");
        let server = server(&file);
        block_on(async {
            tokio::spawn(Arc::clone(&server).watch_commits());
            let uris = ["kb://team/doc/a.md", "kb://team/doc/b.md", "kb://team"];
            let uris = uris.map(str::to_owned).to_vec();
            let mut subscriber = Subscriber::new(&server, None, &uris).await;
            server.indexes.committed();
            let unchanged = tokio::time::timeout(Duration::from_millis(100), subscriber.changed());
            assert!(unchanged.await.is_err(), "nothing was committed");
            write(&file, "b.md", "three");
            server.indexes.committed();
            let seen = tokio::time::timeout(PATIENCE, subscriber.changed());
            seen.await.expect("commits of this process are seen");
            let changes = subscriber.take_changes(&subscriber.revisions()).await;
            let updated = ["kb://team", "kb://team/doc/b.md"]
                .map(str::to_owned)
                .to_vec();
            let expected = ChangeSet {
                list_changed: true,
                updated,
            };
            assert_eq!(changes, expected);
            let unchanged = subscriber.take_changes(&subscriber.revisions()).await;
            assert_eq!(unchanged, ChangeSet::default());
            write(&file, "c.md", "four");
            let seen = tokio::time::timeout(PATIENCE, subscriber.changed());
            seen.await.expect("commits of other processes are seen");
        });
    }

    #[test]
    fn a_new_uri_is_compared_with_the_revision_it_was_added_with() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("team.kb");
        write(&file, "a.md", "one");
        let server = server(&file);
        block_on(async {
            let mut subscriber = Subscriber::new(&server, None, &[]).await;
            let uri = "kb://team/doc/a.md".to_owned();
            let came = revisions(&server, None, std::slice::from_ref(&uri)).await;
            write(&file, "a.md", "two");
            assert_eq!(subscriber.take_changes(&came).await.updated, [uri]);
            assert_eq!(subscriber.take_changes(&came).await, ChangeSet::default());
        });
    }

    #[test]
    fn a_subscriber_that_comes_while_the_executor_is_full_waits() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("team.kb");
        write(&file, "a.md", "one");
        let options = Options::reading(vec![("team".to_owned(), file)]);
        let queue = QueueLimit::new(0, Duration::ZERO);
        let server = Server::new(&options, Some(queue)).ok().unwrap();
        let (release, held) = std::sync::mpsc::channel::<()>();
        let held = Arc::new(std::sync::Mutex::new(held));
        block_on(async {
            for _ in 0..read_concurrency() {
                let (server, held) = (Arc::clone(&server), Arc::clone(&held));
                tokio::spawn(async move {
                    let job = move |_: &_, _: &(dyn Fn(u64, u64) + Sync)| {
                        let _ = held.lock().unwrap().recv();
                    };
                    let never = CancellationToken::new();
                    let _ = server
                        .executor
                        .run(JobKind::Read, None, &never, None, job)
                        .await;
                });
            }
            tokio::task::yield_now().await;
            let asked = ["kb://team/doc/a.md".to_owned()];
            let mut coming = std::pin::pin!(Subscriber::new(&server, None, &asked));
            let early = tokio::time::timeout(Duration::from_millis(50), &mut coming).await;
            assert!(early.is_err(), "nothing was seen yet");
            drop(release);
            let revisions = coming.await.revisions();
            assert!(revisions[&asked[0]].is_some(), "{revisions:?}");
        });
    }
}
