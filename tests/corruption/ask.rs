//! Calls every read function of a file, within limits of time and memory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use kb_engine::{Error, Filters, Kb, Lines, Mode, Request, Result};

use crate::format::golden::golden_bytes;
use crate::support::PATIENCE;

/// Memory that all tests of this binary together never reach, in KiB.
#[cfg(target_os = "linux")]
const MEMORY_LIMIT_KIB: u64 = 512 << 10;

/// The answers of a reader, as text, each with the question.
pub(super) type Answers = Vec<(String, Result<String>)>;

/// Asks a file everything that a handle offers.
fn ask_everything(kb: &Kb) -> Answers {
    let mut answers: Answers = Vec::new();
    let mut tell = |question: String, answer: Result<String>| answers.push((question, answer));
    for mode in Mode::ALL {
        for query in ["how is the lens polished", "checksum harbour 600 watch"] {
            let request = Request::new(query).mode(mode).explain(true).k(50);
            let answer = kb.search(&request).map(|mut response| {
                // Times differ between two runs.
                if let Some(explanation) = &mut response.explanation {
                    explanation.steps.clear();
                }
                format!("{response:?}")
            });
            tell(format!("{mode:?} {query}"), answer);
        }
    }
    let filters = Filters::new()
        .paths(["docs/**"])
        .types(["md"])
        .classes([kb_engine::Class::Doc]);
    let request = Request::new("fog signals").filters(filters);
    let answer = kb.search(&request);
    tell("filters".to_owned(), answer.map(|told| format!("{told:?}")));
    for name in [
        "docs/handbook.md",
        "docs/log.md",
        "notes.txt",
        "site/index.html",
    ] {
        let lines = Lines { first: 3, last: 9 };
        let told = kb.text(name, None);
        tell(format!("text {name}"), told.map(|told| format!("{told:?}")));
        let told = kb.text(name, Some(lines));
        tell(
            format!("lines {name}"),
            told.map(|told| format!("{told:?}")),
        );
        let told = kb.outline(name);
        tell(
            format!("outline {name}"),
            told.map(|told| format!("{told:?}")),
        );
        let told = kb.chunk_spans(name);
        tell(
            format!("chunks {name}"),
            told.map(|told| format!("{told:?}")),
        );
    }
    for folder in [None, Some("docs")] {
        let told = kb.list(folder, &kb_engine::PageOptions::default());
        tell(
            format!("list {folder:?}"),
            told.map(|told| format!("{told:?}")),
        );
    }
    tell("info".to_owned(), kb.info().map(|told| format!("{told:?}")));
    tell(
        "sizes".to_owned(),
        kb.sizes().map(|told| format!("{told:?}")),
    );
    answers
}

/// Opens `bytes` and asks everything. Fails when that panics, takes long or much memory, or ends in
/// an error that blames somebody else than the file.
#[track_caller]
pub(super) fn ask(bytes: Vec<u8>, what: &str) -> Result<Answers> {
    let start = Instant::now();
    let asked = catch_unwind(AssertUnwindSafe(|| {
        Kb::from_bytes(bytes).map(|kb| ask_everything(&kb))
    }));
    let Ok(asked) = asked else {
        panic!("{what}: a panic instead of an error");
    };
    let took = start.elapsed();
    assert!(took < PATIENCE, "{what}: {took:?}");
    assert_memory_is_bounded(what);
    match &asked {
        Err(error) => assert_blames_the_file(error, what),
        Ok(answers) => {
            for error in answers
                .iter()
                .filter_map(|(_, answer)| answer.as_ref().err())
            {
                assert_blames_the_file(error, what);
            }
        }
    }
    asked
}

#[track_caller]
fn assert_blames_the_file(error: &Error, what: &str) {
    let allowed = [
        "NOT_A_KB",
        "FORMAT_UNSUPPORTED",
        "DAMAGED",
        "EMBEDDING_MODEL_UNAVAILABLE",
        // What the names and numbers of a lie amount to.
        "DOCUMENT_NOT_FOUND",
        "FOLDER_NOT_FOUND",
        "INVALID_RANGE",
        "FILE_TOO_LARGE",
    ];
    assert!(allowed.contains(&error.code()), "{what}: {error:?}");
}

#[cfg(target_os = "linux")]
#[track_caller]
fn assert_memory_is_bounded(what: &str) {
    let status = std::fs::read_to_string("/proc/self/status").expect("status");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok());
    let peak: u64 = peak.expect("the peak of resident memory");
    assert!(peak < MEMORY_LIMIT_KIB, "{what}: {peak} KiB");
}

#[cfg(not(target_os = "linux"))]
fn assert_memory_is_bounded(_what: &str) {}

/// The answers of the file as it is.
pub(super) fn right_answers() -> Answers {
    let kb = Kb::from_bytes(golden_bytes()).expect("the golden file opens");
    let answers = ask_everything(&kb);
    for (question, answer) in &answers {
        assert!(answer.is_ok(), "{question}: {answer:?}");
    }
    answers
}

/// A small generator of numbers, the same in every run.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % limit as u64) as usize
    }
}
