//! Results depend on the content of a file only, not on commits, order or threads.

use kb_engine::{
    Class, Filters, Hit, IndexOptions, Kb, KbWriter, Mode, Progress, Request, Response,
};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::support::Random;

/// Words of the generated documents: some are rare, some are everywhere, some are identifiers.
const WORDS: [&str; 24] = [
    "lamp",
    "lens",
    "fog",
    "horn",
    "tide",
    "buoy",
    "rescue",
    "harbour",
    "island",
    "ferry",
    "storm",
    "anchor",
    "parse_header",
    "waterLevel",
    "hours",
    "keeper",
    "signal",
    "rock",
    "wind",
    "sea",
    "night",
    "watch",
    "log",
    "the",
];

const QUERIES: [&str; 6] = [
    "fog horn",
    "water level",
    "parse_header keeper",
    "rescue on the rock at night",
    "twin",
    "lamp lens fog horn tide buoy rescue harbour island",
];

impl Random {
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// Documents of different lengths, types and folders, and many of the same text under other paths:
/// more than both searches take as candidates, so that ties are cut.
fn documents(seed: u64) -> Vec<(String, String)> {
    let mut numbers = Random(seed);
    let mut documents = Vec::new();
    for number in 0..40 {
        let mut text = String::new();
        for paragraph in 0..1 + numbers.below(14) {
            if paragraph % 4 == 1 {
                text.push_str(&format!("## Part {paragraph}\n\n"));
            }
            for _ in 0..10 + numbers.below(60) {
                text.push_str(WORDS[numbers.below(WORDS.len())]);
                text.push(' ');
            }
            text.push_str("\n\n");
        }
        let ending = ["md", "txt", "rs", "py", "csv"][numbers.below(5)];
        let folder = ["docs", "src", "src/deep"][numbers.below(3)];
        documents.push((format!("{folder}/{number}.{ending}"), text));
    }
    for number in 0..130 {
        let folder = ["a", "m", "z"][numbers.below(3)];
        let text = "The twin keeps the lamp while the fog horn sounds.\n".to_owned();
        documents.push((format!("{folder}/twin/{number}/x.txt"), text));
    }
    documents
}

/// A file of these documents, added in this order in that many commits.
fn added(documents: &[(String, String)], commits: usize) -> (TempDir, Kb) {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("model.kb");
    let mut count = 0;
    for batch in documents.chunks(documents.len().div_ceil(commits)) {
        count += 1;
        let mut writer = KbWriter::open_or_create(&path)
            .expect("writer")
            .without_merges();
        for (name, text) in batch {
            writer.add_bytes(name, text.as_bytes()).expect("added");
        }
        writer.commit().expect("commit");
    }
    let kb = Kb::open(&path).expect("it opens");
    assert_eq!(kb.info().expect("info").segments, count);
    (folder, kb)
}

fn requests() -> Vec<Request> {
    let filters = [
        Filters::default(),
        Filters::new().paths(["src/**", "m/**"]),
        Filters::new().types(["md", "txt"]).classes([Class::Doc]),
    ];
    let mut requests = Vec::new();
    for query in QUERIES {
        // Titles of equal score stand in the order of the moments when documents came.
        for mode in Mode::RANKED {
            for (filters, k) in filters.iter().zip([7, 3, 120]) {
                requests.push(Request::new(query).k(k).mode(mode).filters(filters.clone()));
            }
        }
    }
    requests
}

/// A hit without the numbers of its segment and row, which tell how it came into the file, and
/// without the time when that was.
fn without_number(hit: &Hit) -> String {
    let mut hit = hit.clone();
    hit.modified_ms = 0;
    hit.chunk.segment.0 = 0;
    hit.chunk.row = 0;
    format!("{hit:?}")
}

fn ask(kb: &Kb) -> Vec<(Request, Response)> {
    let requests = requests().into_iter();
    requests
        .map(|request| {
            let response = kb.search(&request).expect("an answer");
            (request, response)
        })
        .collect()
}

#[track_caller]
fn assert_same_answers(told: &Kb, right: &[(Request, Response)], what: &str) {
    for ((request, told), (_, right)) in ask(told).iter().zip(right) {
        let place = format!(
            "{what}: {:?} {:?} k {}",
            request.query, request.mode, request.k
        );
        assert_eq!(told.searched_chunks, right.searched_chunks, "{place}");
        assert_eq!(told.hits.len(), right.hits.len(), "{place}");
        for (rank, (told, right)) in told.hits.iter().zip(&right.hits).enumerate() {
            assert_eq!(
                without_number(told),
                without_number(right),
                "{place}, rank {rank}"
            );
        }
    }
}

#[track_caller]
fn assert_same_content(told: &Kb, right: &Kb, names: impl IntoIterator<Item = String>) {
    for name in names {
        let (a, b) = (told.text(&name, None), right.text(&name, None));
        let (mut a, mut b) = (a.expect("text"), b.expect("text"));
        (a.document.added_ms, b.document.added_ms) = (0, 0);
        a.document.modified_ms = 0;
        b.document.modified_ms = 0;
        // Made of the times too.
        a.document.revision.clear();
        b.document.revision.clear();
        assert_eq!(a, b);
        assert_eq!(
            told.chunk_spans(&name).ok(),
            right.chunk_spans(&name).ok(),
            "{name}"
        );
        let (a, b) = (told.outline(&name), right.outline(&name));
        assert_eq!(a.expect("outline").headings, b.expect("outline").headings);
    }
}

fn names(documents: &[(String, String)]) -> impl Iterator<Item = String> {
    documents.iter().map(|(name, _)| name.clone())
}

#[test]
fn the_same_documents_answer_the_same_from_one_segment_or_eight() {
    let mut documents = documents(1);
    let (_one, right_kb) = added(&documents, 1);
    let right = ask(&right_kb);
    assert!(right.iter().all(|(_, response)| !response.hits.is_empty()));
    let tied = right.iter().any(|(_, response)| {
        let scores: Vec<f32> = response.hits.iter().map(|hit| hit.score).collect();
        scores.windows(2).any(|pair| pair[0] == pair[1])
    });
    assert!(tied, "the queries must meet ties");
    let mut numbers = Random(7);
    for commits in [1, 2, 3, 8, 43] {
        numbers.shuffle(&mut documents);
        let (_folder, kb) = added(&documents, commits);
        assert_same_content(&kb, &right_kb, names(&documents));
        assert_same_answers(&kb, &right, &format!("{commits} segments"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6,
        failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn neither_order_nor_commits_decide_an_answer(seed in 0u64..1000, commits in 2usize..7) {
        let mut documents = documents(seed);
        let (_one, right) = added(&documents, 1);
        let right = ask(&right);
        Random(seed).shuffle(&mut documents);
        let (_folder, kb) = added(&documents, commits);
        assert_same_answers(&kb, &right, &format!("seed {seed}, {commits} commits"));
    }
}

#[test]
fn the_number_of_threads_does_not_decide_what_is_stored() {
    let documents = documents(3);
    let folder = tempfile::tempdir().expect("folder");
    for (name, text) in &documents {
        let path = folder.path().join("sources").join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(path, text).expect("file");
    }
    let indexed = |threads| {
        let path = folder.path().join(format!("{threads}.kb"));
        let mut writer = KbWriter::open_or_create(&path).expect("writer");
        let options = IndexOptions::new().threads(threads);
        let sources = folder.path().join("sources");
        writer
            .index(&[sources], &options, &mut Progress::ignore)
            .expect("indexed");
        Kb::open(&path).expect("it opens")
    };
    let (one, four) = (indexed(1), indexed(4));
    assert_same_content(&four, &one, names(&documents));
    let right = ask(&one);
    for ((request, mut told), (_, right)) in ask(&four).into_iter().zip(&right) {
        // A cursor names its file.
        told.hits.next.clone_from(&right.hits.next);
        assert_eq!(told, *right, "{request:?}");
    }
    assert_eq!(four.sizes().expect("sizes"), one.sizes().expect("sizes"));
    let (_added, by_name) = added(&documents, 3);
    assert_same_answers(&by_name, &right, "added by name");
}

/// Documents that are changed, removed and added again in many commits, with and without merges.
#[test]
fn any_history_answers_as_one_commit_of_what_is_left() {
    let final_documents = documents(5);
    let (_one, right_kb) = added(&final_documents, 1);
    let right = ask(&right_kb);
    for merges in [true, false] {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("history.kb");
        let mut numbers = Random(11);
        let mut order = final_documents.clone();
        numbers.shuffle(&mut order);
        let mut removed: Vec<String> = Vec::new();
        for (round, batch) in order.chunks(order.len().div_ceil(40)).enumerate() {
            let mut writer = KbWriter::open_or_create(&path).expect("writer");
            if !merges {
                writer = writer.without_merges();
            }
            // First with other content, or under names that are to go.
            for (number, (name, text)) in batch.iter().enumerate() {
                // The first of each commit stays as it is.
                let old = match number {
                    0 => text.clone(),
                    _ => format!("fog horn rescue {round} {text}"),
                };
                writer.add_bytes(name, old.as_bytes()).expect("added");
                if numbers.below(3) == 0 {
                    let gone = format!("gone/{name}");
                    writer.add_bytes(&gone, text.as_bytes()).expect("added");
                    removed.push(gone);
                }
            }
            writer.commit().expect("commit");
            for (name, text) in batch.iter().skip(1) {
                let replaced = writer.replace_bytes(name, text.as_bytes());
                assert!(replaced.expect("replaced"), "{name}");
            }
            if removed.len() > 4 {
                for name in removed.drain(..) {
                    assert_eq!(writer.remove(&name).expect("removed"), name);
                }
            }
            writer.commit().expect("commit");
        }
        let mut writer = KbWriter::open_or_create(&path).expect("writer");
        if !merges {
            writer = writer.without_merges();
        }
        for name in removed.drain(..) {
            writer.remove(&name).expect("removed");
        }
        writer.commit().expect("commit");
        drop(writer);
        let kb = Kb::open(&path).expect("it opens");
        let info = kb.info().expect("info");
        assert_eq!(merges, info.segments < 30, "{} segments", info.segments);
        assert!(merges || info.deleted_chunks > 0);
        assert_same_content(&kb, &right_kb, names(&final_documents));
        assert_same_answers(&kb, &right, &format!("merges {merges}"));
    }
}

/// A folder that changes between index runs.
#[test]
fn a_folder_indexed_many_times_answers_as_one_indexed_once() {
    let folder = tempfile::tempdir().expect("folder");
    let sources = folder.path().join("sources");
    let live = folder.path().join("live.kb");
    let mut numbers = Random(21);
    let mut present = std::collections::BTreeMap::new();
    let index = |path: &std::path::Path| {
        let mut writer = KbWriter::open_or_create(path).expect("writer");
        let options = IndexOptions::default();
        let report = writer.index(
            std::slice::from_ref(&sources),
            &options,
            &mut Progress::ignore,
        );
        report.expect("indexed")
    };
    for round in 0..12 {
        let (mut added, mut updated, mut removed) = (0, 0, 0);
        for (name, text) in documents(30 + round) {
            let path = sources.join(&name);
            match (numbers.below(4), present.get(&name)) {
                (0, Some(_)) => {
                    std::fs::remove_file(&path).expect("removed");
                    // An empty folder keeps its documents: it may be a disk that is not mounted.
                    let _ = std::fs::remove_dir(path.parent().expect("parent"));
                    present.remove(&name);
                    removed += 1;
                }
                (1, Some(old)) if *old != text => {
                    std::fs::write(&path, &text).expect("written");
                    present.insert(name, text);
                    updated += 1;
                }
                (2, None) => {
                    std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
                    std::fs::write(&path, &text).expect("written");
                    present.insert(name, text);
                    added += 1;
                }
                _ => {}
            }
        }
        let report = index(&live);
        let counts = (
            report.added.len(),
            report.updated.len(),
            report.removed.len(),
        );
        assert_eq!(counts, (added, updated, removed), "round {round}");
        assert_eq!(report.documents as usize, present.len());
    }
    let nothing = index(&live);
    assert!(!nothing.has_changes());
    assert_eq!(nothing.unchanged as usize, present.len());
    let once = folder.path().join("once.kb");
    index(&once);
    let (live, once) = (Kb::open(&live), Kb::open(&once));
    let (live, once) = (live.expect("it opens"), once.expect("it opens"));
    assert!(live.info().expect("info").segments > 1);
    assert_same_content(&live, &once, present.keys().cloned());
    assert_same_answers(&live, &ask(&once), "indexed again");
}

#[test]
fn content_decides_where_times_cannot() {
    let folder = tempfile::tempdir().expect("folder");
    let (sources, path) = (folder.path().join("sources"), folder.path().join("a.kb"));
    std::fs::create_dir(&sources).expect("folder");
    let now = std::time::SystemTime::now();
    let hour = std::time::Duration::from_secs(3600);
    let write = |name: &str, bytes: &[u8], time: std::time::SystemTime| {
        let path = sources.join(name);
        std::fs::write(&path, bytes).expect("written");
        let file = std::fs::File::options().append(true).open(&path);
        file.expect("file").set_modified(time).expect("time");
    };
    let index = |force_hash: bool| {
        let mut writer = KbWriter::open_or_create(&path).expect("writer");
        let options = IndexOptions::new().force_hash(force_hash);
        let report = writer.index(
            std::slice::from_ref(&sources),
            &options,
            &mut Progress::ignore,
        );
        report.expect("indexed")
    };
    let bytes = || std::fs::read(&path).expect("bytes");
    write("old.md", b"one fish", now - hour);
    write("new.md", b"two fish", now);
    write("blob.bin", &[0, 159, 146, 150, 0, 7], now);
    // A clock that was wrong, or is wrong now.
    write("future.md", b"red fish", now + 24 * hour);
    assert_eq!(index(false).added.len(), 3);
    let first = bytes();
    for force_hash in [false, true] {
        let report = index(force_hash);
        assert!(!report.has_changes());
        assert_eq!((report.unchanged, report.skipped.len()), (3, 1));
        assert!(bytes() == first, "nothing changed, and the file did");
    }
    // The same size and time, other content: seen where the time is too new to be trusted.
    write("new.md", b"too fish", now);
    write("future.md", b"rad fish", now + 24 * hour);
    write("old.md", b"won fish", now - hour);
    let report = index(false);
    assert_eq!(report.updated, ["future.md", "new.md"]);
    assert_eq!(index(true).updated, ["old.md"]);
    // Another time, the same content.
    write("old.md", b"won fish", now - 2 * hour);
    assert!(!index(false).has_changes());
    let touched = bytes();
    assert_eq!(index(false).unchanged, 3);
    assert!(bytes() == touched);
    write("blob.bin", b"text now", now);
    assert_eq!(index(false).added, ["blob.bin"]);
}
