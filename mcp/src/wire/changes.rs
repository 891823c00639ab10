//! Notices commits, our own at once and those of other processes within seconds.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::server::Server;
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
    hears: watch::Receiver<States>,
    known: Known,
}

/// A state of the files, and of the addresses that a subscriber asked for.
#[derive(Debug, Clone, Default)]
struct Known {
    states: States,
    revisions: BTreeMap<String, Option<String>>,
}

impl Subscriber {
    /// Knows what is there now.
    pub(super) async fn new(server: &Arc<Server>, addresses: &[String]) -> Subscriber {
        let mut subscriber = Subscriber {
            server: Arc::clone(server),
            hears: server.changes.states.subscribe(),
            known: Known::default(),
        };
        subscriber.known = subscriber
            .look(addresses.to_vec())
            .await
            .unwrap_or_default();
        subscriber
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

    /// What is new since the last time. Addresses that come for the first time are known from now on.
    pub(super) async fn news(&mut self, addresses: Vec<String>) -> News {
        let now = loop {
            match self.look(addresses.clone()).await {
                Some(now) => break now,
                // Too many calls just now; the news are not lost.
                None => tokio::time::sleep(PAUSE).await,
            }
        };
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

    async fn look(&self, addresses: Vec<String>) -> Option<Known> {
        let indexes = Arc::clone(&self.server.indexes);
        let job = move |_: &_, _: &(dyn Fn(u64, u64) + Sync)| {
            let states = states(&indexes);
            let revisions = addresses.into_iter().map(|address| {
                let revision = content::revision(&indexes, &address);
                (address, revision)
            });
            let revisions = revisions.collect();
            Known { states, revisions }
        };
        let never = CancellationToken::new();
        self.server.work.run(false, &never, None, job).await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use kb_engine::KbWriter;

    use super::*;
    use crate::options::Options;

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
            let mut subscriber = Subscriber::new(&server, &addresses).await;
            server.indexes.committed();
            let quiet = tokio::time::timeout(Duration::from_millis(100), subscriber.changed());
            assert!(quiet.await.is_err(), "nothing was committed");
            write(&file, "b.md", "three");
            server.indexes.committed();
            let heard = tokio::time::timeout(Duration::from_secs(1), subscriber.changed());
            heard.await.expect("our own commits are heard of at once");
            let news = subscriber.news(addresses.clone()).await;
            let updated = ["kb://team", "kb://team/doc/b.md"]
                .map(str::to_owned)
                .to_vec();
            let expected = News {
                list_changed: true,
                updated,
            };
            assert_eq!(news, expected);
            assert_eq!(subscriber.news(addresses).await, News::default());
            write(&file, "c.md", "four");
            let heard = tokio::time::timeout(Duration::from_secs(3), subscriber.changed());
            heard.await.expect("commits of others are heard of soon");
        });
    }
}
