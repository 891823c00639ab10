//! Temporary folders with a small corpus, and the real `kb` binary run in them.

pub(crate) mod older;
#[cfg(target_os = "linux")]
pub(crate) mod parts;
pub(crate) mod registers;
pub(crate) mod terminal;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use kb_engine::{Entry, Kb, Mode, Request};
use serde_json::Value;
use tempfile::TempDir;
use xxhash_rust::xxh3::Xxh3;

/// The corpus: name and text of each file. Words are chosen so that each question of the tests has
/// one right document.
pub(crate) const CORPUS: [(&str, &str); 7] = [
    (
        "docs/guide.md",
        "# Keeper's guide\n\nHow a lighthouse is kept.\n\n## Lamp maintenance\n\n\
         Trim the wick every evening and polish the lens with vinegar.\nReplace the mantle when \
         the flame flickers.\n\n## Fog signals\n\nSound the horn twice a minute while the fog \
         lasts.\n",
    ),
    (
        "docs/install.rst",
        "Installing the beacon\n=====================\n\nBolt the tripod to the rock.\n\n\
         Wiring\n------\n\nConnect the solar panel to the accumulator.\n",
    ),
    (
        "site/index.html",
        "<!doctype html>\n<html><head><title>Harbour visitors</title></head>\n<body>\n\
         <h1>Harbour visitors</h1>\n<p>Opening hours of the harbour museum.</p>\n\
         <h2>Tickets</h2>\n<p>Children below six enter free of charge.</p>\n</body></html>\n",
    ),
    (
        "src/tide.rs",
        "//! Tide tables.\n\n/// Height of the next high water in metres.\n\
         pub fn predict_high_water(hours: f64) -> f64 {\n    1.5 + (hours / 12.42).cos()\n}\n",
    ),
    (
        "src/buoy.py",
        "\"\"\"Buoys and their positions.\"\"\"\n\n\ndef drift_distance(knots, hours):\n    \
         \"\"\"Nautical miles that a loose buoy drifts.\"\"\"\n    return knots * hours\n",
    ),
    (
        "notes.txt",
        "Remember to order paraffin before the winter storms.\n",
    ),
    (
        "data/stations.csv",
        "station,latitude,longitude\nSkagen,57.72,10.59\nRattray,57.61,-1.81\n",
    ),
];

/// A private key as text. Made at run time, so that this repository holds none.
pub(crate) fn private_key() -> String {
    let body: Vec<String> = (1..6).map(|seed| random_letters(64, seed)).collect();
    let body = body.join("\n");
    format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n")
}

/// Letters and digits in no order, the same for each seed.
pub(crate) fn random_letters(count: usize, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let at = (state >> 33) as usize % 62;
        char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"[at])
    };
    (0..count).map(next).collect()
}

/// The `kb` binary, with the profile of this test run and the feature `testing`.
pub(crate) fn kb_binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_kb"))
}

/// How a command ended and what it said.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Exit status; `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    /// Its answer.
    pub(crate) stdout: String,
    /// Everything else it said.
    pub(crate) stderr: String,
}

impl Outcome {
    /// This outcome, if its status is `code`; else the test fails and shows everything.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Outcome {
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Fails and shows everything unless stdout has this text.
    #[track_caller]
    pub(crate) fn stdout_has(&self, text: &str) {
        assert!(self.stdout.contains(text), "no {text:?}: {self:#?}");
    }

    /// Fails and shows everything unless stderr has this text.
    #[track_caller]
    pub(crate) fn stderr_has(&self, text: &str) {
        assert!(self.stderr.contains(text), "no {text:?}: {self:#?}");
    }

    /// The JSON objects of stdout.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect()
    }

    /// The code of a failure that was told as JSON.
    #[track_caller]
    pub(crate) fn error_code(&self) -> String {
        let line = self.stderr.lines().last().unwrap_or_default();
        let error: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self:#?}"));
        error["error"]["code"]
            .as_str()
            .unwrap_or_else(|| panic!("{self:#?}"))
            .to_owned()
    }

    /// The lines of stderr that begin with `hint: `, without that.
    pub(crate) fn hint_lines(&self) -> impl Iterator<Item = &str> {
        let lines = self.stderr.lines();
        lines.filter_map(|line| line.strip_prefix("hint: "))
    }

    /// The line of stderr that begins with `hint: `, without that.
    #[track_caller]
    pub(crate) fn hint(&self) -> &str {
        let hint = self
            .stderr
            .lines()
            .find_map(|line| line.strip_prefix("hint: "));
        hint.unwrap_or_else(|| panic!("no hint: {self:#?}"))
    }
}

/// A temporary folder, removed at the end of the test.
pub(crate) struct Folder {
    folder: TempDir,
}

impl Folder {
    /// An empty one.
    pub(crate) fn empty() -> Folder {
        let folder = tempfile::Builder::new()
            .prefix("kb-tests-")
            .tempdir()
            .expect("temp folder");
        Folder { folder }
    }

    /// One with the corpus in `harbour/`, a binary file and an ignored folder among it.
    pub(crate) fn with_corpus() -> Folder {
        let folder = Folder::empty();
        for (name, text) in CORPUS {
            folder.write(format!("harbour/{name}"), text);
        }
        folder.write(
            "harbour/logo.png",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08",
        );
        folder.write("harbour/.kbignore", "ignored/\n");
        folder.write(
            "harbour/ignored/secret.md",
            "# Smuggling\n\nThe cave below the pier.\n",
        );
        folder
    }

    /// The corpus and `harbour.kb` made from it.
    pub(crate) fn indexed() -> Folder {
        let folder = Folder::with_corpus();
        folder.kb("index harbour").expect(0);
        folder
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A path in it.
    pub(crate) fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        std::fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("folder");
        std::fs::write(&path, bytes).expect("file");
        path
    }

    /// Names in the folder itself, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).expect("folder");
        let mut names: Vec<String> = entries
            .map(|entry| {
                entry
                    .expect("entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }

    /// `kb`, ready to start in this folder, with nothing of the developer's environment: no variable,
    /// no configuration of git or tokens, no .kb file above the folder.
    pub(crate) fn command(&self) -> Command {
        self.sealed(Command::new(kb_binary()))
    }

    /// A command that sees no more than this folder.
    pub(crate) fn sealed(&self, mut command: Command) -> Command {
        command.env_clear();
        for name in ["PATH", "TMPDIR", "LLVM_PROFILE_FILE"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        // The system may name the folder another way than we do (`/tmp` on macOS is a link).
        let ceiling = self.path().canonicalize();
        let ceiling = ceiling.unwrap_or_else(|_| self.path().to_owned());
        command.env("KB_FAULT_CEILING", ceiling);
        // A busy machine gives a test less than 5 ms.
        command.env("KB_FAULT_SOURCES_MS", "20000");
        command.current_dir(self.path()).stdin(Stdio::null());
        command
    }

    /// Runs `kb` to its end.
    pub(crate) fn kb<'a>(&self, arguments: impl Arguments<'a>) -> Outcome {
        run(self.command().args(arguments.words()))
    }

    /// Runs `kb` with `input` on its standard input.
    pub(crate) fn kb_with_input<const N: usize>(
        &self,
        arguments: [&str; N],
        input: &[u8],
    ) -> Outcome {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("kb starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = input.to_vec();
        // A command that does not want all of it closes the pipe, which is its right.
        let writing = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().expect("kb ends");
        writing.join().expect("the input is written");
        outcome(output)
    }
}

/// Arguments of a command: a line as it is typed, or a list where one is computed.
pub(crate) trait Arguments<'a> {
    fn words(self) -> Vec<&'a str>;
}

impl<'a> Arguments<'a> for &'a str {
    fn words(self) -> Vec<&'a str> {
        let mut words = Vec::new();
        for (number, piece) in self.split('\'').enumerate() {
            // What stands between two quotes is one word, as in a shell.
            match number % 2 {
                0 => words.extend(piece.split_whitespace()),
                _ => words.push(piece),
            }
        }
        words
    }
}

impl<'a, const N: usize> Arguments<'a> for [&'a str; N] {
    fn words(self) -> Vec<&'a str> {
        self.to_vec()
    }
}

/// Longer than anything takes on a machine that does other things as well: when it is over, the test
/// fails, and nothing else depends on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Waits for something that must happen; the test fails when it does not.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !happened() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Outcome {
    outcome(command.output().expect("the command starts"))
}

/// How a command ended that was waited for.
pub(crate) fn outcome(output: std::process::Output) -> Outcome {
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The documents of answers, best first.
pub(crate) fn documents(answers: &[Value]) -> Vec<&str> {
    answers
        .iter()
        .filter_map(|answer| answer["document"].as_str())
        .collect()
}

/// Hash of everything that a .kb answers: documents, texts, chunks, outlines and some searches. Times,
/// numbers and sizes are not in it.
pub(crate) fn content_of(kb: &Kb) -> u64 {
    let mut hasher = Xxh3::new();
    let mut add = |text: String| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    let mut folders = vec![None];
    while let Some(folder) = folders.pop() {
        for entry in kb
            .list(folder.as_deref(), &kb_engine::PageOptions::default())
            .expect("a list")
        {
            match entry {
                Entry::Folder { path, .. } => folders.push(Some(path)),
                Entry::Document(document) => {
                    let path = document.path.as_str();
                    add(kb.text(path, None).expect("a text").text);
                    add(format!("{:?}", kb.chunk_spans(path).expect("chunks")));
                    add(format!("{:?}", kb.outline(path).expect("outline").headings));
                    add(format!(
                        "{path} {} {} {:?}",
                        document.title, document.handle, document.tags
                    ));
                }
            }
        }
    }
    for mode in Mode::ALL {
        let request = Request::new("w7 w11 lighthouse").mode(mode).k(5);
        for hit in kb.search(&request).expect("an answer").hits {
            let score = hit.score.to_bits();
            add(format!(
                "{} {:?} {score} {}",
                hit.document, hit.span, hit.text
            ));
        }
    }
    hasher.digest()
}

/// The number in that variable of the environment, which asks for more than usual.
pub(crate) fn number_from(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |text| text.parse().expect("a number"))
}

/// Numbers that look random and are the same for the same seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// The next number, below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    /// One of these.
    pub(crate) fn one_of<'a, T>(&mut self, these: &'a [T]) -> &'a T {
        &these[self.below(these.len())]
    }
}

/// A temporary folder in memory where there is one: syncing costs nothing there.
pub(crate) fn memory_folder() -> TempDir {
    let memory = tempfile::tempdir_in("/dev/shm");
    memory.unwrap_or_else(|_| tempfile::tempdir().expect("a folder"))
}

/// Lines of a stream, as they come.
pub(crate) fn lines_of(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    send_lines(stream, sender);
    lines
}

/// Sends each line of a stream as it comes, from a thread of its own.
pub(crate) fn send_lines(stream: impl Read + Send + 'static, sender: Sender<String>) {
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
}
