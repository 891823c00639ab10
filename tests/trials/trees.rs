//! Source trees that somebody made to do harm, or that change while they are read: the run ends well,
//! every good file is found, nothing from outside the tree is in the file, and what was left out is
//! named.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use kb_engine::{Mode, Request};
use rustix::fs::{AtFlags, CWD, FileType, Mode as Permissions, OFlags};
use serde_json::Value;

use super::{as_nobody, assert_sound, begin, ended, seeds, texts, word};
use crate::support::{Folder, Random, number_from};

/// A word that stands outside the tree only.
const SECRET: &str = "zuoutsidek";

/// A tree, what must be found of it, and what must be named as left out.
struct Tree {
    folder: Folder,
    root: PathBuf,
    random: Random,
    /// Texts of the good files.
    good: Vec<String>,
    /// Paths of what is no document.
    bad: Vec<String>,
    _sockets: Vec<UnixListener>,
}

fn mknod(path: &Path, kind: FileType, device: u64) -> bool {
    rustix::fs::mknodat(CWD, path, kind, Permissions::from_raw_mode(0o644), device).is_ok()
}

impl Tree {
    fn new(random: Random) -> Tree {
        let folder = Folder::empty();
        let root = folder.join("tree");
        fs::create_dir(&root).expect("folder");
        folder.write("outside/secret.txt", format!("{SECRET}\n"));
        Tree {
            folder,
            root,
            random,
            good: Vec::new(),
            bad: Vec::new(),
            _sockets: Vec::new(),
        }
    }

    fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().expect("below the tree")).expect("folder");
        path
    }

    /// A file that must be found.
    fn good(&mut self, name: impl AsRef<Path>) {
        let text = format!("{} stands in a good file.\n", word(self.good.len()));
        fs::write(self.at(name), &text).expect("file");
        self.good.push(text);
    }

    /// A folder with an ignore file of that content, which hides nothing that is good.
    fn ignore(&mut self, name: &str, content: &[u8]) {
        let kind = *self.random.one_of(&[".gitignore", ".kbignore"]);
        fs::write(self.at(format!("{name}/{kind}")), content).expect("file");
        self.good(format!("{name}/good.txt"));
    }

    fn plain(&mut self) {
        for number in 0..30 {
            let depth = self.random.below(5);
            let folders: String = (0..depth).map(|level| format!("d{level}/")).collect();
            self.good(format!("{folders}plain{number}.txt"));
        }
        for number in 0..number_from("KB_TRIAL_WIDE", 300) {
            self.good(format!("wide/{number}.txt"));
        }
    }

    fn special_files(&mut self) {
        for name in ["pipe.txt", "d0/.gitignore", "d0/d1/.kbignore", ".kbignore"] {
            if mknod(&self.at(name), FileType::Fifo, 0) {
                self.bad.push(name.to_owned());
            }
        }
        self._sockets
            .push(UnixListener::bind(self.at("socket.txt")).expect("a socket"));
        self.bad.push("socket.txt".to_owned());
        for (name, minor) in [("null.txt", 3), ("zero.md", 5)] {
            let device = rustix::fs::makedev(1, minor);
            if mknod(&self.at(name), FileType::CharacterDevice, device) {
                self.bad.push(name.to_owned())
            } else {
                println!("skipped: no device can be made here")
            }
        }
        fs::create_dir(self.at("folder/.gitignore").as_path()).expect("folder");
        self.good("folder/good.txt");
    }

    fn links(&mut self) {
        let links = [
            ("loop/again", "../loop"),
            ("self.txt", "self.txt"),
            ("dangling.txt", "no/such"),
            ("zero.txt", "/dev/zero"),
            ("out.txt", "../outside/secret.txt"),
            ("outfolder", "../outside"),
            ("linked/.gitignore", "/dev/zero"),
            ("told/.kbignore", "../../outside/secret.txt"),
        ];
        for (name, target) in links {
            symlink(target, self.at(name)).expect("a link");
        }
        self.good("linked/good.txt");
        self.good("told/good.txt");
    }

    fn ignore_files(&mut self) {
        let nested = format!("{}a{}\n", "{".repeat(25_000), "}".repeat(25_000));
        let alternates = format!("{{{}}}\n", "a,".repeat(25_000));
        let invalid = b"\xff\xfe\x80*.none\n\xf0\x9f\n".to_vec();
        let lines: String = (0..100_000).map(|line| format!("none{line}\n")).collect();
        let stars: String = (0..2000).map(|line| format!("f*{line}*b\n")).collect();
        self.ignore("ignore/nested", nested.as_bytes());
        self.ignore("ignore/alternates", alternates.as_bytes());
        self.ignore("ignore/invalid", &invalid);
        self.ignore("ignore/crlf", b"*.none\r\n!good.txt\r\n");
        self.ignore("ignore/bom", b"\xef\xbb\xbf*.none\n");
        self.ignore("ignore/lines", lines.as_bytes());
        self.ignore("ignore/stars", stars.as_bytes());
        self.ignore("ignore/line", &vec![b'x'; 200_000]);
        self.ignore("ignore/classes", "[a-z".repeat(5000).as_bytes());
        self.ignore("ignore/zeros", &[0; 4096]);
    }

    fn names(&mut self) {
        let long = "n".repeat(251) + ".txt";
        let names: [&[u8]; 9] = [
            b"caf\xe9.txt",
            b"line\nend.txt",
            b"\x1b[31mred\x1b[0m.txt",
            "\u{202e}txt.rtl.txt".as_bytes(),
            long.as_bytes(),
            b"-rf.txt",
            b" .txt",
            b"glob[a]{b}*.txt",
            b"back\\slash.txt",
        ];
        for name in names {
            self.good(Path::new("names").join(OsStr::from_bytes(name)));
        }
        // Two names of one document: one of them is read, and both have its text.
        self.good("twin/caf\u{e9}.txt");
        let twin = self.good.last().expect("the first twin").clone();
        fs::write(self.at("twin/cafe\u{301}.txt"), twin).expect("file");
    }

    /// A folder in a folder, further down than a path can name.
    fn deep(&mut self) {
        let levels = number_from("KB_TRIAL_DEPTH", 400);
        let mut at = rustix::fs::open(
            &self.root,
            OFlags::DIRECTORY | OFlags::CLOEXEC,
            Permissions::empty(),
        )
        .expect("the root");
        for _ in 0..levels {
            rustix::fs::mkdirat(&at, "deep", Permissions::from_raw_mode(0o755)).expect("folder");
            let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
            at = rustix::fs::openat(&at, "deep", flags, Permissions::empty()).expect("a folder");
        }
    }

    fn sizes(&mut self) {
        let sparse = File::create(self.at("sparse.txt")).expect("file");
        match sparse.set_len(1 << 40) {
            Ok(()) => self.bad.push("sparse.txt".to_owned()),
            Err(error) => println!("skipped: no file of 1 TB here: {error}"),
        }
        fs::write(self.at("empty.txt"), "").expect("file");
        self.good("sizes.txt");
    }

    /// What a user without rights cannot read.
    fn closed(&mut self) {
        for name in ["closed/file.txt", "closed/folder/inside.txt"] {
            fs::write(self.at(name), format!("{SECRET}\n")).expect("file");
        }
        for name in ["closed/file.txt", "closed/folder"] {
            fs::set_permissions(self.at(name), fs::Permissions::from_mode(0o000)).expect("mode");
        }
        self.bad.push("closed/file.txt".to_owned());
        self.bad.push("closed/folder".to_owned());
    }

    fn index(&self, more: &[&str], kb: Option<Command>) -> crate::support::Outcome {
        let mut command = kb.unwrap_or_else(|| self.folder.command());
        command
            .args(["index", "tree", "-o", "out/tree.kb"])
            .args(more);
        ended(&self.folder, command)
    }

    /// Everything that must hold after a run, whoever made it.
    fn check(&self, report: &Value) {
        let kb = assert_sound(&self.folder.join("out/tree.kb"));
        let texts = texts(&kb);
        for text in &self.good {
            assert!(texts.iter().any(|(_, found)| found == text), "lost: {text}");
        }
        for (path, text) in &texts {
            assert!(!text.contains(SECRET), "{path} is from outside");
        }
        for number in (0..self.good.len()).step_by(17) {
            let request = Request::new(word(number)).mode(Mode::Keyword);
            let hits = kb.search(&request).expect("an answer").hits;
            assert!(
                hits.iter().any(|hit| hit.text == self.good[number]),
                "{hits:?}"
            );
        }
        let skipped = report["skipped"].as_array().expect("a list");
        for path in &self.bad {
            let is_named = |skipped: &Value| skipped["path"] == path.as_str();
            assert!(
                skipped.iter().any(is_named),
                "{path} is not named: {report:#}"
            );
        }
        let told = report.to_string();
        assert!(!told.contains(SECRET), "the report tells what is in a link");
    }
}

impl Drop for Tree {
    /// Levels that no path reaches are taken away from above.
    fn drop(&mut self) {
        let (deep, next) = (self.root.join("deep"), self.root.join("next"));
        while deep.exists() {
            let inner = deep.join("deep");
            let goes_on = inner.exists() && fs::rename(&inner, &next).is_ok();
            if fs::remove_dir_all(&deep).is_err() || !goes_on || fs::rename(&next, &deep).is_err() {
                break;
            }
        }
    }
}

fn report_of(outcome: crate::support::Outcome) -> Value {
    let told = outcome.expect(0);
    told.json_lines().swap_remove(0)
}

#[test]
fn a_hostile_tree_ends_no_run_and_hides_no_good_file() {
    for seed in seeds(1) {
        let mut tree = Tree::new(begin("trees", seed));
        tree.plain();
        tree.special_files();
        tree.links();
        tree.ignore_files();
        tree.names();
        tree.deep();
        tree.sizes();
        fs::create_dir(tree.folder.join("out")).expect("folder");
        tree.check(&report_of(tree.index(&["--json"], None)));
        tree.index(&["--check"], None).expect(0);
        tree.check(&report_of(tree.index(&["--json", "--rebuild"], None)));
    }
}

#[test]
fn a_user_without_rights_reads_what_it_may_and_is_told_the_rest() {
    for seed in seeds(1) {
        let mut tree = Tree::new(begin("trees of another", seed));
        let Some(kb) = as_nobody(&tree.folder) else {
            return;
        };
        tree.plain();
        tree.names();
        tree.closed();
        fs::create_dir(tree.folder.join("out")).expect("folder");
        for (name, mode) in [("", 0o755), ("out", 0o777)] {
            let open = fs::Permissions::from_mode(mode);
            fs::set_permissions(tree.folder.join(name), open).expect("mode");
        }
        tree.check(&report_of(tree.index(&["--json"], Some(kb))));
    }
}

/// A file whose every version is a whole text that names the version.
fn version(name: usize, number: usize) -> String {
    let mut text = format!("{} in version {number}\n", word(5000 + name));
    text.push_str(&format!("line of version {number}\n").repeat(number % 400));
    text
}

/// Ends [`move_files`] also where a check fails.
struct Stop<'s>(&'s AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Changes files of `moving/` until it is told to stop. Whole versions replace each other, one file only
/// grows, one only shrinks, and names become pipes, links and folders.
fn move_files(root: &Path, outside: &Path, mut random: Random, stop: &AtomicBool) {
    let at = |name: String| root.join("moving").join(name);
    let spare = root.with_file_name("spare");
    let mut number = 1;
    while !stop.load(Ordering::Relaxed) {
        number += 1;
        let file = random.below(6);
        let name = at(format!("{file}.txt"));
        match random.below(8) {
            0 => {
                let _ = fs::remove_file(&name);
                let _ = rustix::fs::unlinkat(CWD, &name, AtFlags::REMOVEDIR);
            }
            1 => drop(fs::remove_file(&name).map(|()| mknod(&name, FileType::Fifo, 0))),
            2 => drop(fs::remove_file(&name).map(|()| symlink(outside.join("secret.txt"), &name))),
            3 => drop(fs::remove_file(&name).map(|()| fs::create_dir(&name))),
            4 => {
                let folder = at("swapped".to_owned());
                let away = at("away".to_owned());
                if fs::rename(&folder, &away).is_ok() {
                    let _ = symlink(outside, &folder);
                    let _ = fs::remove_file(&folder);
                    let _ = fs::rename(&away, &folder);
                }
            }
            5 => {
                let grown = OpenOptions::new()
                    .append(true)
                    .open(at("grows.txt".to_owned()));
                let _ = grown.and_then(|mut file| file.write_all(b"one more line\n"));
            }
            6 => {
                let shrunk = OpenOptions::new()
                    .write(true)
                    .open(at("shrinks.txt".to_owned()));
                let _ = shrunk.and_then(|file| {
                    let bytes = file.metadata()?.len();
                    file.set_len(bytes.saturating_sub(15 * 50))
                });
            }
            _ => {
                fs::write(&spare, version(file, number)).expect("a version");
                if fs::rename(&spare, &name).is_err() {
                    let _ = rustix::fs::unlinkat(CWD, &name, AtFlags::REMOVEDIR);
                }
            }
        }
    }
}

/// Whether a text may be what was read of a moving file.
fn is_version(name: &str, text: &str) -> bool {
    let lines_of = |line: &str| text.replace(line, "").is_empty();
    match name {
        "grows.txt" => lines_of("one more line\n"),
        "shrinks.txt" => lines_of("one line less\n") || text.starts_with("one line less\n"),
        "swapped/secret.txt" => text == "inside the tree\n",
        _ => (0..6).any(|file| {
            let number = text.split_whitespace().nth(3);
            let number = number.and_then(|number| number.parse().ok());
            number.is_some_and(|number| text == version(file, number))
        }),
    }
}

#[test]
fn files_that_change_during_a_read_are_one_version() {
    for seed in seeds(2) {
        let mut tree = Tree::new(begin("moving trees", seed));
        tree.plain();
        for file in 0..6 {
            fs::write(tree.at(format!("moving/{file}.txt")), version(file, 0)).expect("file");
        }
        fs::write(tree.at("moving/grows.txt"), "one more line\n").expect("file");
        let long = "one line less\n".repeat(100_000);
        fs::write(tree.at("moving/shrinks.txt"), long).expect("file");
        fs::write(tree.at("moving/swapped/secret.txt"), "inside the tree\n").expect("file");
        fs::create_dir(tree.folder.join("out")).expect("folder");
        let stop = AtomicBool::new(false);
        let outside = tree.folder.join("outside");
        std::thread::scope(|scope| {
            let random = Random(seed);
            let stops = Stop(&stop);
            let moving = scope.spawn(|| move_files(&tree.root, &outside, random, &stop));
            for _ in 0..6 {
                let report = report_of(tree.index(&["--json"], None));
                tree.check(&report);
                let kb = assert_sound(&tree.folder.join("out/tree.kb"));
                for (path, text) in texts(&kb) {
                    if let Some(name) = path
                        .strip_prefix("moving/")
                        .filter(|name| !name.starts_with("away/"))
                    {
                        assert!(is_version(name, &text), "{path}: {text:.200}");
                    }
                }
            }
            drop(stops);
            moving.join().expect("it ends");
        });
        tree.index(&["--quiet"], None).expect(0);
        tree.index(&["--check"], None).expect(0);
    }
}
