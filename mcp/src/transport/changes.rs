//! Notices commits, our own at once and those of other processes within seconds.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::server::Server;
use super::share::Owner;
use crate::content;
use crate::indexes::Indexes;

/// How often the files are looked at while somebody wants to know.
const PAUSE: Duration = Duration::from_secs(2);

/// Which commit each file is at: name, identity and number.
type States = Vec<(String, String, u64)>;

/// Where subscribers hear of commits.
pub(super) struct Changes {
    states: watch::Sender<States>,
    look: Arc<Notify>,
}

impl Changes {
    pub(super) fn new(indexes: &Indexes) -> Changes {
        let look = Arc::new(Notify::new());
        let after_commit = Arc::clone(&look);
        indexes.on_commit(move || after_commit.notify_one());
        Changes {
            states: watch::Sender::new(States::new()),
            look,
        }
    }
}

fn states(indexes: &Indexes) -> States {
    let states = indexes.list().into_iter().map(|index| {
        // What cannot be read now is as good as another state: reading it tells why.
        let (uuid, commit) = match index.kb().state() {
            Ok(state) => (state.uuid, state.commit),
            Err(_) => (String::new(), 0),
        };
        (index.name().to_owned(), uuid, commit)
    });
    states.collect()
}

/// Looks at the files until the server is over; nobody listens, nobody looks.
pub(super) async fn follow(server: Arc<Server>) {
    let changes = &server.changes;
    loop {
        tokio::select! {
            () = server.over.cancelled() => return,
            () = tokio::time::sleep(PAUSE) => {}
            () = changes.look.notified() => {}
        }
        if changes.states.receiver_count() == 0 {
            continue;
        }
        let indexes = Arc::clone(&server.indexes);
        let Ok(now) = tokio::task::spawn_blocking(move || states(&indexes)).await else {
            continue;
        };
        changes.states.send_if_modified(|known| {
            let is_news = *known != now;
            *known = now;
            is_news
        });
    }
}

/// What changed for one subscriber.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// Whether any file has a new commit.
    pub(super) list_changed: bool,
    /// Addresses that lead to something else than before.
    pub(super) updated: Vec<String>,
}

/// What one subscriber knows.
pub(super) struct Subscriber {
    server: Arc<Server>,
    owner: Owner,
    hears: watch::Receiver<States>,
    known: Known,
}

/// What each address leads to; `None`: to nothing.
pub(super) type Revisions = BTreeMap<String, Option<String>>;

/// A state of the files, and of the addresses that a subscriber asked for.
#[derive(Debug, Clone, Default)]
struct Known {
    states: States,
    revisions: Revisions,
}

impl Subscriber {
    /// Knows what is there now.
    pub(super) async fn new(
        server: &Arc<Server>,
        owner: Owner,
        addresses: &[String],
    ) -> Subscriber {
        // Before the look, so that what is committed meanwhile is heard of.
        let hears = server.changes.states.subscribe();
        Subscriber {
            server: Arc::clone(server),
            owner,
            hears,
            known: look(server, owner, addresses).await,
        }
    }

    /// Waits for the next change of anything.
    pub(super) async fn changed(&mut self) {
        loop {
            if self.hears.changed().await.is_err() {
                // The server is over, and says so elsewhere.
                return std::future::pending().await;
            }
            if *self.hears.borrow_and_update() != self.known.states {
                return;
            }
        }
    }

    /// What is new since the last time. Addresses that come for the first time have the revision
    /// that they come with.
    pub(super) async fn news(&mut self, addresses: &Revisions) -> News {
        for (address, revision) in addresses {
            if !self.known.revisions.contains_key(address) {
                let (address, revision) = (address.clone(), revision.clone());
                self.known.revisions.insert(address, revision);
            }
        }
        let asked: Vec<String> = addresses.keys().cloned().collect();
        let now = look(&self.server, self.owner, &asked).await;
        let mut updated = Vec::new();
        for (address, revision) in &now.revisions {
            let before = self.known.revisions.get(address);
            if before.is_some_and(|before| before != revision) {
                updated.push(address.clone());
            }
        }
        let list_changed = now.states != self.known.states;
        self.known = now;
        News {
            list_changed,
            updated,
        }
    }

    /// What the addresses led to the last time.
    pub(super) fn revisions(&self) -> Revisions {
        self.known.revisions.clone()
    }
}

/// What the addresses lead to now.
pub(super) async fn revisions(
    server: &Arc<Server>,
    owner: Owner,
    addresses: &[String],
) -> Revisions {
    look(server, owner, addresses).await.revisions
}

/// Waits for as long as there are too many calls: what was not seen may not count as empty.
async fn look(server: &Arc<Server>, owner: Owner, addresses: &[String]) -> Known {
    loop {
        let (indexes, addresses) = (Arc::clone(&server.indexes), addresses.to_vec());
        let job = move |cancel: &Arc<AtomicBool>, _: &(dyn Fn(u64, u64) + Sync)| {
            let states = states(&indexes);
            // Nobody sees what is left out then.
            let wanted = addresses.into_iter();
            let wanted = wanted.take_while(|_| !cancel.load(Ordering::Relaxed));
            let revisions = wanted.map(|address| {
                let revision = content::revision(&indexes, &address);
                (address, revision)
            });
            let revisions = revisions.collect();
            Known { states, revisions }
        };
        let never = CancellationToken::new();
        match server.work.run(false, owner, &never, None, job).await {
            Ok(known) => return known,
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use kb_engine::KbWriter;

    use super::*;
    use crate::options::Options;
    use crate::transport::PATIENCE;
    use crate::transport::block_on;

    fn write(file: &Path, path: &str, text: &str) {
        let mut writer = KbWriter::open_or_create(file).unwrap();
        let _ = writer.remove(path);
        writer.add_bytes(path, text.as_bytes()).unwrap();
        writer.commit().unwrap();
    }

    fn server(file: &Path) -> Arc<Server> {
        let options = Options {
            files: vec![("team".to_owned(), file.to_path_buf())],
            allow_write: false,
            allow_roots: Vec::new(),
            note: Arc::new(|_| ()),
            opened: None,
        };
        Server::new(&options, None).ok().unwrap()
    }

    #[test]
    fn a_subscriber_hears_of_commits_and_of_what_they_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("team.kb");
        write(&file, "a.md", "one");
        write(&file, "b.md", "two");
        let server = server(&file);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            tokio::spawn(follow(Arc::clone(&server)));
            let addresses = ["kb://team/doc/a.md", "kb://team/doc/b.md", "kb://team"];
            let addresses = addresses.map(str::to_owned).to_vec();
            let mut subscriber = Subscriber::new(&server, None, &addresses).await;
            server.indexes.committed();
            let quiet = tokio::time::timeout(Duration::from_millis(100), subscriber.changed());
            assert!(quiet.await.is_err(), "nothing was committed");
            write(&file, "b.md", "three");
            server.indexes.committed();
            let heard = tokio::time::timeout(PATIENCE, subscriber.changed());
            heard.await.expect("our own commits are heard of");
            let news = subscriber.news(&subscriber.revisions()).await;
            let updated = ["kb://team", "kb://team/doc/b.md"]
                .map(str::to_owned)
                .to_vec();
            let expected = News {
                list_changed: true,
                updated,
            };
            assert_eq!(news, expected);
            let quiet = subscriber.news(&subscriber.revisions()).await;
            assert_eq!(quiet, News::default());
            write(&file, "c.md", "four");
            let heard = tokio::time::timeout(PATIENCE, subscriber.changed());
            heard.await.expect("commits of others are heard of");
        });
    }

    #[test]
    fn a_new_address_is_compared_with_the_revision_that_it_came_with() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("team.kb");
        write(&file, "a.md", "one");
        let server = server(&file);
        block_on(async {
            let mut subscriber = Subscriber::new(&server, None, &[]).await;
            let address = "kb://team/doc/a.md".to_owned();
            let came = revisions(&server, None, std::slice::from_ref(&address)).await;
            write(&file, "a.md", "two");
            assert_eq!(subscriber.news(&came).await.updated, [address]);
            assert_eq!(subscriber.news(&came).await, News::default());
        });
    }

    #[test]
    fn a_subscriber_that_comes_while_all_are_busy_waits_for_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("team.kb");
        write(&file, "a.md", "one");
        let options = Options {
            files: vec![("team".to_owned(), file)],
            allow_write: false,
            allow_roots: Vec::new(),
            note: Arc::new(|_| ()),
            opened: None,
        };
        let queue = crate::transport::work::Queue::new(0, Duration::ZERO);
        let server = Server::new(&options, Some(queue)).ok().unwrap();
        let (release, held) = std::sync::mpsc::channel::<()>();
        let held = Arc::new(std::sync::Mutex::new(held));
        block_on(async {
            for _ in 0..crate::transport::work::reads() {
                let (server, held) = (Arc::clone(&server), Arc::clone(&held));
                tokio::spawn(async move {
                    let job = move |_: &_, _: &(dyn Fn(u64, u64) + Sync)| {
                        let _ = held.lock().unwrap().recv();
                    };
                    let never = CancellationToken::new();
                    let _ = server.work.run(false, None, &never, None, job).await;
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
