//! Power loss at any point: every state that the disk may be in then holds the last acknowledged
//! commit or the one that was being made, whole, and can be worked on.
//!
//! A history of a file (made, updated, changed by name, merged, sealed, changed again) runs once
//! with every change to the disk recorded. Then the machine "loses power" before each of them: what
//! was synced is there, what came after it is there, lost, torn at 512 bytes or overtaken by later
//! changes.
//!
//! And every single operation is refused once, as by a full or broken disk: the old state stands, and the
//! next try succeeds.
//!
//! `KB_CRASH_STATES=10000 cargo test -p kb-cli --test tests crash` (`cargo xtask crash`) tries as many states;
//! without it a tenth.

mod disk;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, Recorder, RefuseNth};
use kb_engine::testing::container::faults::observed;
use kb_engine::{IndexOptions, Kb, KbWriter, Progress, SealOptions, VerifyOptions};

use crate::support::{Random, content_of, memory_folder};

/// States that are tried unless more are asked for.
const STATES: usize = 1000;

/// Of so many states one is also written to after the crash; all of them in the long form.
const WORKED_ON: usize = 4;

/// What was recorded, and what the file held at each acknowledgement.
struct History {
    recorder: Arc<Recorder>,
    /// Hash of the content after the n-th acknowledgement; the content before the first is no file.
    contents: Vec<u64>,
    target: PathBuf,
}

struct Run {
    folder: tempfile::TempDir,
    recorder: Arc<Recorder>,
    contents: Vec<u64>,
}

impl Run {
    fn new() -> Run {
        Run {
            folder: memory_folder(),
            recorder: Arc::default(),
            contents: Vec::new(),
        }
    }

    fn finish(self) -> History {
        History {
            target: self.target(),
            recorder: self.recorder,
            contents: self.contents,
        }
    }

    fn target(&self) -> PathBuf {
        self.folder.path().join("notes.kb")
    }

    fn sources(&self) -> PathBuf {
        self.folder.path().join("sources")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.sources().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folder");
        std::fs::write(path, text).expect("file");
    }

    /// Does something that is acknowledged by returning.
    fn step(&mut self, work: impl FnOnce(&mut KbWriter)) {
        let observer = Arc::clone(&self.recorder);
        let target = self.target();
        observed(observer, || {
            let mut writer = KbWriter::open_or_create(&target).expect("writer");
            work(&mut writer);
        });
        self.acknowledge();
    }

    fn acknowledge(&mut self) {
        let kb = Kb::open(self.target()).expect("it opens");
        self.contents.push(content_of(&kb));
        self.recorder.acknowledge();
    }

    fn index(&mut self) {
        let sources = self.sources();
        self.step(|writer| {
            let options = IndexOptions::new().threads(1).force_hash(true);
            let report = writer.index(&[sources], &options, &mut Progress::ignore);
            assert!(report.expect("indexed").has_changes());
        });
    }
}

fn prose(seed: u64, words: usize) -> String {
    let mut random = Random(seed);
    let words: Vec<String> = (0..words)
        .map(|_| format!("w{}", random.below(400)))
        .collect();
    words.join(" ")
}

/// A new file and two commits.
fn short_history() -> History {
    let mut run = Run::new();
    run.write("a/0.md", &prose(1, 90));
    run.index();
    for round in 2..4 {
        run.write("a/0.md", &prose(round, 90));
        run.index();
    }
    run.finish()
}

/// Everything that changes a file: a new one, an update, single documents, merges, seal.
fn history() -> History {
    let mut run = Run::new();
    for number in 0..12 {
        run.write(&format!("a/{number}.md"), &prose(number, 120));
    }
    run.index();
    run.write("a/3.md", &prose(100, 200));
    run.write("b/new.txt", &prose(101, 80));
    std::fs::remove_file(run.sources().join("a/5.md")).expect("removed");
    run.index();
    for number in 0..9u64 {
        // The eighth small segment makes a merge.
        run.step(|writer| {
            let text = prose(200 + number, 60);
            let name = format!("notes/{number}.txt");
            writer.add_bytes(&name, text.as_bytes()).expect("added");
            if number % 3 == 1 {
                writer.tag(&name, &["later"], &[]).expect("tagged");
            }
            if number == 4 {
                writer.remove("notes/2.txt").expect("removed");
            }
            writer.commit().expect("committed");
        });
    }
    run.step(|writer| {
        for number in 6..9 {
            writer.remove(&format!("a/{number}.md")).expect("removed");
        }
        writer.commit().expect("committed");
    });
    run.step(|writer| {
        writer
            .seal(None, &SealOptions::new(), &mut Progress::ignore)
            .expect("sealed");
    });
    run.step(|writer| {
        writer.tag("a/1.md", &["sealed"], &[]).expect("tagged");
        writer
            .add_bytes("after.txt", prose(300, 90).as_bytes())
            .expect("added");
        writer.commit().expect("committed");
    });
    run.finish()
}

/// What became of the states of one history.
#[derive(Debug, Default)]
struct Tally {
    states: usize,
    old: usize,
    new: usize,
    worked_on: usize,
    bad: Vec<String>,
}

impl History {
    /// Tries about so many states, those of a history in which the sync at `ignored` did nothing.
    fn try_states(&self, states: usize, ignored: Option<usize>, work_on: usize) -> Tally {
        let operations = self.recorder.operations();
        let each = states.div_ceil(operations.len()).max(1);
        let mut random = Random(7);
        let mut disk = Disk::default();
        let mut tally = Tally::default();
        let mut seen: BTreeMap<u64, Result<u64, String>> = BTreeMap::new();
        let folder = memory_folder();
        for (position, operation) in operations.iter().enumerate() {
            for variant in 0..each {
                let image = disk.after_power_loss(&self.target, variant, &mut random);
                let hash = image
                    .as_ref()
                    .map_or(0, |image| xxhash_rust::xxh3::xxh3_64(image));
                tally.states += 1;
                let known = seen.get(&hash).cloned();
                let content = known.unwrap_or_else(|| {
                    let read = read(image.as_deref());
                    seen.insert(hash, read.clone());
                    read
                });
                let place = || format!("before operation {position}, variant {variant}");
                match content {
                    Ok(content) if Some(content) == self.content(disk.acknowledged) => {
                        tally.old += 1;
                    }
                    Ok(content) if Some(content) == self.content(disk.acknowledged + 1) => {
                        tally.new += 1;
                    }
                    Ok(_) => tally.bad.push(format!("{}: neither old nor new", place())),
                    Err(error) => tally.bad.push(format!("{}: {error}", place())),
                }
                if let Some(image) = image
                    && tally.states % work_on == 0
                {
                    tally.worked_on += 1;
                    if let Err(error) = work(folder.path(), &image) {
                        tally.bad.push(format!("{}, then: {error}", place()));
                    }
                }
            }
            if ignored != Some(position) {
                disk.apply(operation);
            }
        }
        tally
    }

    /// Content after so many acknowledgements: before the first, no file.
    fn content(&self, acknowledged: usize) -> Option<u64> {
        match acknowledged {
            0 => Some(0),
            count => self.contents.get(count - 1).copied(),
        }
    }
}

/// The content as a reader sees it that comes before any writer; 0: no file.
fn read(image: Option<&[u8]>) -> Result<u64, String> {
    let Some(image) = image else { return Ok(0) };
    let kb = Kb::from_bytes(image.to_vec()).map_err(|error| error.to_string())?;
    let report = kb
        .verify(&VerifyOptions::new(), &mut Progress::ignore)
        .map_err(|error| error.to_string())?;
    match report.problems.first() {
        None => Ok(content_of(&kb)),
        Some(problem) => Err(problem.clone()),
    }
}

/// A writer takes over after the crash: its commit and everything from before are there.
fn work(folder: &Path, image: &[u8]) -> Result<(), String> {
    let path = folder.join("after.kb");
    std::fs::write(&path, image).map_err(|error| error.to_string())?;
    let told = |error: kb_engine::Error| error.to_string();
    let before = Kb::open(&path).map_err(told)?.info().map_err(told)?;
    let mut writer = KbWriter::open_or_create(&path).map_err(told)?;
    writer
        .add_bytes("on top.txt", b"on top of it")
        .map_err(told)?;
    writer.commit().map_err(told)?;
    drop(writer);
    let kb = Kb::open(&path).map_err(told)?;
    let report = kb
        .verify(&VerifyOptions::new().deep(true), &mut Progress::ignore)
        .map_err(told)?;
    if let Some(problem) = report.problems.first() {
        return Err(problem.clone());
    }
    if kb.info().map_err(told)?.documents == before.documents + 1 {
        Ok(())
    } else {
        Err("documents are lost".to_owned())
    }
}

#[test]
fn every_state_after_a_power_loss_is_a_whole_commit() {
    let long = std::env::var("KB_CRASH_STATES").ok();
    let states = long
        .as_ref()
        .map_or(STATES, |states| states.parse().expect("a number"));
    let work_on = if long.is_some() { 1 } else { WORKED_ON };
    let history = history();
    let tally = history.try_states(states, None, work_on);
    println!(
        "crash: {} states over {} operations: {} old, {} new, {} worked on, {} bad",
        tally.states,
        history.recorder.operations().len(),
        tally.old,
        tally.new,
        tally.worked_on,
        tally.bad.len()
    );
    assert!(tally.bad.is_empty(), "{:#?}", tally.bad);
    assert!(tally.states >= states && tally.old > 0 && tally.new > 0);
}

/// The proof that the test can fail.
#[test]
fn without_one_of_the_syncs_states_are_lost() {
    let history = short_history();
    let operations = history.recorder.operations().len();
    let caught = history.recorder.syncs().into_iter().find(|sync| {
        let tally = history.try_states(operations * 8, Some(*sync), usize::MAX);
        !tally.bad.is_empty()
    });
    assert!(caught.is_some(), "no sync is needed?");
}

/// What a person asks for, each of which writes in its own way.
type Step = fn(&mut KbWriter, &Path) -> kb_engine::Result<()>;

const STEPS: [(&str, Step); 4] = [
    ("index", |writer, sources| {
        let options = IndexOptions::new().threads(1).force_hash(true);
        let paths = [sources.to_owned()];
        writer
            .index(&paths, &options, &mut Progress::ignore)
            .map(|_| ())
    }),
    ("rebuild", |writer, sources| {
        let options = IndexOptions::new().threads(1).rebuild(true);
        let paths = [sources.to_owned()];
        writer
            .index(&paths, &options, &mut Progress::ignore)
            .map(|_| ())
    }),
    // The eighth small segment: a commit, then a merge.
    ("add and merge", |writer, _| {
        writer.add_bytes("eighth.txt", prose(50, 70).as_bytes())?;
        writer.commit()
    }),
    ("seal", |writer, _| {
        writer
            .seal(None, &SealOptions::new(), &mut Progress::ignore)
            .map(|_| ())
    }),
];

#[test]
fn a_refused_operation_leaves_the_old_state() {
    let folder = memory_folder();
    let sources = folder.path().join("sources");
    std::fs::create_dir(&sources).expect("folder");
    for number in 0..5 {
        let path = sources.join(format!("{number}.md"));
        std::fs::write(path, prose(number, 90)).expect("file");
    }
    let before = folder.path().join("before.kb");
    let index = STEPS[0].1;
    let mut writer = KbWriter::open_or_create(&before).expect("writer");
    index(&mut writer, &sources).expect("indexed");
    for number in 0..6u64 {
        let name = format!("{number}.txt");
        let text = prose(60 + number, 50);
        writer.add_bytes(&name, text.as_bytes()).expect("added");
        writer.commit().expect("committed");
    }
    drop(writer);
    std::fs::write(sources.join("2.md"), prose(99, 90)).expect("file");
    let (bytes, live) = (
        std::fs::read(&before).expect("bytes"),
        folder.path().join("live.kb"),
    );
    let old = content_of(&Kb::open(&before).expect("it opens"));
    let stride = if std::env::var("KB_CRASH_STATES").is_ok() {
        1
    } else {
        5
    };
    for (name, step) in STEPS {
        let run = |nth: usize, error: i32| {
            std::fs::write(&live, &bytes).expect("file");
            let observer = Arc::new(RefuseNth::new(nth, error));
            let told = observed(observer.clone(), || {
                let mut writer = KbWriter::open_or_create(&live)?;
                step(&mut writer, &sources)
            });
            (told, observer.heard())
        };
        let (whole, operations) = run(usize::MAX, 0);
        whole.expect(name);
        let new = content_of(&Kb::open(&live).expect("it opens"));
        assert_eq!(new == old, name == "seal", "{name}");
        let mut refused = 0;
        // ENOSPC and EIO
        for (nth, error) in (0..operations)
            .step_by(stride)
            .flat_map(|n| [(n, 28), (n, 5)])
        {
            let (told, _) = run(nth, error);
            let place = format!("{name}, operation {nth} of {operations}, error {error}");
            if let Err(error) = &told {
                refused += 1;
                let code = error.code();
                assert!(
                    ["IO", "STORAGE", "WRITER_FAILED"].contains(&code),
                    "{place}: {code} {error}"
                );
            }
            let kb = Kb::open(&live).unwrap_or_else(|error| panic!("{place}: {error}"));
            let content = content_of(&kb);
            // What was committed before a merge or close failed stays.
            assert!(content == old || content == new, "{place}");
            assert!(told.is_err() || content == new, "{place}: lost");
            drop(kb);
            let mut writer = KbWriter::open_or_create(&live).expect("writer");
            writer.add_bytes("again.txt", b"again").expect("added");
            writer
                .commit()
                .unwrap_or_else(|error| panic!("{place}, then: {error}"));
        }
        assert!(refused > 3, "{name}: {refused} of {operations} refused");
        let left: Vec<_> = std::fs::read_dir(folder.path())
            .expect("folder")
            .map(|entry| entry.expect("entry").file_name())
            .filter(|name| name.to_string_lossy().contains(".tmp"))
            .collect();
        assert!(left.is_empty(), "{name}: {left:?}");
    }
}
