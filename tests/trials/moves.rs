//! What happens to a file under an open writer, a watcher and a server: it is renamed, removed, replaced
//! or made read-only between any two steps. What was acknowledged stays in the file that was open, what
//! is not ours stays as it is, and who cannot go on says so.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};

use kb_engine::{IndexOptions, Kb, KbWriter, Progress, SealOptions};
use serde_json::json;

use super::{assert_sound, begin, seeds, texts, word};
use crate::mcp::client::Client;
use crate::support::{Folder, Random, send_lines, wait_until};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Move {
    Away,
    Remove,
    OtherKb,
    Junk,
    EmptyFolder,
    Link,
    ReadOnly,
}

const MOVES: [Move; 7] = [
    Move::Away,
    Move::Remove,
    Move::OtherKb,
    Move::Junk,
    Move::EmptyFolder,
    Move::Link,
    Move::ReadOnly,
];

const JUNK: &[u8] = b"this is the only copy of somebody's diary\n";

/// A file with one document in it.
fn other_kb(path: &Path) {
    let mut writer = KbWriter::open_or_create(path).expect("writer");
    writer
        .add_bytes("other.txt", b"another file\n")
        .expect("added");
    writer.commit().expect("committed");
}

impl Move {
    /// Does it to the file at `path`.
    fn run(self, path: &Path) {
        if self == Move::ReadOnly {
            let closed = fs::Permissions::from_mode(0o444);
            return fs::set_permissions(path, closed).expect("mode");
        }
        match self {
            Move::Remove => fs::remove_file(path),
            _ => fs::rename(path, path.with_file_name("away.kb")),
        }
        .expect("it was there");
        let other = path.with_file_name("other.kb");
        match self {
            Move::Junk => fs::write(path, JUNK).expect("file"),
            Move::EmptyFolder => fs::create_dir(path).expect("folder"),
            Move::OtherKb => other_kb(path),
            Move::Link => {
                other_kb(&other);
                symlink(&other, path).expect("a link");
            }
            Move::Away | Move::Remove | Move::ReadOnly => {}
        }
    }

    /// What came to the file's place is as it was made, or as a writer that meant it left it.
    fn check_place(self, path: &Path) {
        match self {
            Move::Junk => assert_eq!(fs::read(path).expect("bytes"), JUNK),
            Move::EmptyFolder => assert_eq!(fs::read_dir(path).expect("a folder").count(), 0),
            Move::OtherKb | Move::Link => {
                let kb = assert_sound(path);
                assert!(texts(&kb).iter().any(|(path, _)| path == "other.txt"));
            }
            Move::Away | Move::Remove | Move::ReadOnly => {}
        }
    }
}

/// The documents of a file that may have no name any more.
fn documents_in(handle: &mut File, spare: &Path) -> Vec<(String, String)> {
    let mut bytes = Vec::new();
    handle.rewind().expect("its begin");
    handle.read_to_end(&mut bytes).expect("its bytes");
    fs::write(spare, bytes).expect("a copy");
    texts(&assert_sound(spare))
}

/// Whether a document is there; a folder may have become a root with a prefix meanwhile.
fn has_document(found: &[(String, String)], (path, text): &(String, String)) -> bool {
    let is_it = |(at, of): &(String, String)| at.ends_with(path) && of == text;
    found.iter().any(is_it)
}

/// One step of a writer; the documents that it acknowledges.
fn step(
    writer: &mut KbWriter,
    random: &mut Random,
    number: usize,
    sources: &Path,
    between: impl FnOnce(),
) -> kb_engine::Result<Vec<(String, String)>> {
    let text = format!("{} is acknowledged\n", word(number));
    let name = format!("added{number}.txt");
    match random.below(4) {
        0 => {
            between();
            let file = sources.join(format!("{number}.txt"));
            fs::write(&file, &text).expect("file");
            writer.index(
                &[sources.to_owned()],
                &IndexOptions::default(),
                &mut Progress::ignore,
            )?;
            Ok(vec![(format!("{number}.txt"), text)])
        }
        1 => {
            between();
            writer.seal(None, &SealOptions::new(), &mut Progress::ignore)?;
            Ok(Vec::new())
        }
        kind => {
            writer.add_bytes(&name, text.as_bytes())?;
            between();
            if kind == 2 {
                // Without a commit between them: both or none.
                writer.add_bytes(&format!("{name}.twin"), text.as_bytes())?;
            }
            writer.commit()?;
            let twin = (format!("{name}.twin"), text.clone());
            let added = (name, text);
            Ok(if kind == 2 {
                vec![added, twin]
            } else {
                vec![added]
            })
        }
    }
}

#[test]
fn a_moved_file_loses_no_acknowledged_document() {
    for seed in seeds(28) {
        let mut random = begin("moves of a writer", seed);
        let folder = Folder::empty();
        let (path, sources) = (folder.join("a.kb"), folder.join("sources"));
        fs::create_dir(&sources).expect("folder");
        let mut writer = KbWriter::open_or_create(&path).expect("writer");
        writer
            .add_bytes("first.txt", b"the first\n")
            .expect("added");
        writer.commit().expect("committed");
        let mut kept = vec![("first.txt".to_owned(), "the first\n".to_owned())];
        let what = MOVES[seed as usize % MOVES.len()];
        let (at, steps) = (random.below(4), 4 + random.below(8));
        let mut handle = None;
        for number in 0..steps {
            let is_now = number == at;
            let result = step(&mut writer, &mut random, number, &sources, || {
                if is_now {
                    handle = Some(File::open(&path).expect("it opens"));
                    what.run(&path);
                }
            });
            let told = result
                .as_ref()
                .map(Vec::len)
                .map_err(kb_engine::Error::code);
            println!("{number}: {told:?}");
            match (result, &mut handle) {
                (Ok(acknowledged), None) => kept.extend(acknowledged),
                (Ok(acknowledged), Some(_)) => {
                    // Whoever looks for the file finds what was acknowledged.
                    let found = texts(&assert_sound(&path));
                    for document in &acknowledged {
                        assert!(
                            has_document(&found, document),
                            "{what:?}: {document:?} is not among {found:?}"
                        );
                    }
                }
                (Err(error), None) => panic!("nothing had happened: {error}"),
                (Err(error), Some(_)) => assert!(!error.to_string().is_empty(), "{error:?}"),
            }
        }
        drop(writer);
        let mut handle = handle.expect("it was moved");
        let found = documents_in(&mut handle, &folder.join("copy.kb"));
        for document in &kept {
            assert!(
                has_document(&found, document),
                "{what:?}: {document:?} is not among {found:?}"
            );
        }
        what.check_place(&path);
    }
}

/// A running `kb watch` and the lines of both its streams.
fn watch(folder: &Folder) -> (Child, Receiver<String>) {
    let mut command = folder.command();
    command
        .args(["watch", "sources", "-o", "a.kb", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("kb starts");
    let (sender, lines) = channel();
    send_lines(child.stdout.take().expect("a pipe"), sender.clone());
    send_lines(child.stderr.take().expect("a pipe"), sender);
    (child, lines)
}

/// Whether the file at that path has the document by now.
fn has(path: &PathBuf, text: &str) -> bool {
    let Ok(kb) = Kb::open(path) else { return false };
    let Ok(documents) = kb.documents(None, true, &kb_engine::PageOptions::default()) else {
        return false;
    };
    let mut texts = documents
        .iter()
        .map(|document| kb.text(&document.path, None));
    texts.any(|found| found.is_ok_and(|found| found.text == text))
}

#[test]
fn a_watcher_whose_file_is_moved_goes_on_or_says_why_not() {
    for seed in seeds(MOVES.len() as u64) {
        let _ = begin("moves of a watcher", seed);
        let what = MOVES[seed as usize % MOVES.len()];
        let folder = Folder::empty();
        let path = folder.join("a.kb");
        folder.write("sources/first.txt", "the first\n");
        let (mut child, lines) = watch(&folder);
        wait_until("the first run", || has(&path, "the first\n"));
        let mut handle = File::open(&path).expect("it opens");
        what.run(&path);
        while lines.try_recv().is_ok() {}
        folder.write("sources/later.txt", "the later one\n");
        let mut said = Vec::new();
        wait_until("an answer to the move", || {
            said.extend(lines.try_iter());
            let ended = child.try_wait().expect("a state").is_some();
            let told = said
                .iter()
                .any(|line| line.contains("warning") || line.contains("error"));
            ended || told || has(&path, "the later one\n")
        });
        let _ = child.kill();
        let status = child.wait().expect("it ends");
        assert!(
            matches!(status.code(), None | Some(2)),
            "{what:?}: {status} {said:?}"
        );
        let found = documents_in(&mut handle, &folder.join("copy.kb"));
        assert!(
            found.iter().any(|(path, _)| path == "first.txt"),
            "{what:?}"
        );
        what.check_place(&path);
    }
}

#[test]
fn a_server_whose_file_is_moved_goes_on_and_says_what_it_cannot() {
    for seed in seeds(MOVES.len() as u64) {
        let _ = begin("moves of a server", seed);
        let what = MOVES[seed as usize % MOVES.len()];
        let folder = Folder::empty();
        let path = folder.join("a.kb");
        other_kb(&path);
        let mut client = Client::stdio(&folder, &["a.kb", "--allow-write"]);
        let upload = |name: &str| json!({"fileName": name, "content": format!("{name} is here\n")});
        let first = client.call("upload_document", upload("first.txt"));
        assert_ne!(first["isError"], true, "{first}");
        wait_until("the upload", || has(&path, "first.txt is here\n"));
        let mut handle = File::open(&path).expect("it opens");
        what.run(&path);
        for number in 0..3 {
            let name = format!("later{number}.txt");
            let told = client.call("upload_document", upload(&name));
            if told["isError"] != true && told["structuredContent"]["status"] == "complete" {
                assert!(has(&path, &format!("{name} is here\n")), "{what:?}: {told}");
            }
            let found = client.call("search", json!({"query": "here"}));
            assert!(found["content"].is_array(), "{what:?}: {found}");
        }
        drop(client);
        let found = documents_in(&mut handle, &folder.join("copy.kb"));
        assert!(
            found.iter().any(|(path, _)| path == "first.txt"),
            "{what:?}"
        );
        what.check_place(&path);
    }
}
