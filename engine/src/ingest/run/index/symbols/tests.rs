use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::*;
use crate::kb::{Kb, KbWriter};
use crate::search::{Mode, Request};
use crate::{Extraction, Progress, SealOptions, Stage, SymbolsRequest, VerifyOptions};

/// Programs among other files, and where files of them are made.
struct Place {
    folder: tempfile::TempDir,
    sources: [PathBuf; 1],
}

const PROGRAMS: usize = 40;

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let sources = fs::canonicalize(folder.path()).unwrap().join("sources");
        let place = Place {
            sources: [sources],
            folder,
        };
        for number in 0..PROGRAMS {
            let lines: String = (0..30)
                .map(|line| format!("    let fog_{line} = horn({line}, tide_{number});\n"))
                .collect();
            let program = format!(
                "/// Turns the lamp {number}.\npub struct Lamp{number} {{\n    lens: u32,\n}}\n\nimpl Lamp{number} {{\n\
                 pub fn relight{number}(&self) {{\n{lines}}}\n\nfn dim{number}() {{\n{lines}}}\n}}\n"
            );
            place.write(&format!("{number:02}/lamp.rs"), &program);
            place.write(
                &format!("{number:02}/notes.md"),
                &format!("# Lamp {number}\n\nThe fog horn.\n"),
            );
        }
        place.write("empty.rs", "");
        place.write("nothing.rs", "// No symbol.\n");
        place.write("Cargo.toml", "[package]\nname = \"lamp\"\n");
        place
    }

    fn write(&self, name: &str, text: &str) {
        let [sources] = &self.sources;
        let path = sources.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn kb(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn try_index(
        &self,
        name: &str,
        options: &IndexOptions,
        mut hook: impl FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Report> {
        let mut writer = KbWriter::open_or_create(self.kb(name)).unwrap();
        let options = options.clone().extraction(Extraction::InProcess);
        writer.index(&self.sources, &options, &mut hook)
    }

    fn index(&self, name: &str, options: &IndexOptions) -> Report {
        self.try_index(name, options, Progress::ignore).unwrap()
    }

    /// Checks all that a file holds.
    fn info(&self, name: &str) -> crate::Info {
        let kb = Kb::open(self.kb(name)).unwrap();
        let deep = VerifyOptions::new().deep(true);
        let report = kb.verify(&deep, &mut Progress::ignore).unwrap();
        assert_eq!(report.problems, [""; 0]);
        let info = kb.info().unwrap();
        assert_eq!(kb.symbols_pending().unwrap(), info.symbols_pending);
        info
    }

    fn content_root(&self, name: &str) -> String {
        let mut writer = KbWriter::open_or_create(self.kb(name)).unwrap();
        let sealed = writer.seal(None, &SealOptions::default(), &mut Progress::ignore);
        sealed.unwrap().content_root
    }
}

/// What a file answers, with scores to the bit.
fn answers(path: &Path) -> Vec<String> {
    let kb = Kb::open(path).unwrap();
    let mut answers = Vec::new();
    for mode in Mode::RANKED {
        for query in [
            "relight7",
            "turns the lamp",
            "fog horn tide_3",
            "package name",
        ] {
            let request = Request::new(query).mode(mode).k(20);
            for hit in kb.search(&request).unwrap().hits {
                let score = hit.score.to_bits();
                answers.push(format!("{query} {} {:?} {score}", hit.document, hit.span));
            }
        }
    }
    answers.sort();
    answers
}

fn two_passes() -> IndexOptions {
    IndexOptions::new().symbols_later_bytes(0)
}

#[test]
fn two_passes_give_what_one_gives() {
    let place = Place::new();
    let one = place.index("one.kb", &IndexOptions::new());
    assert_eq!((one.parsed, one.searchable_after), (0, None));
    for (name, options) in [
        ("two.kb", two_passes()),
        // A commit for every few programs.
        ("many.kb", two_passes().checkpoint_bytes(1)),
    ] {
        let two = place.index(name, &options);
        // Programs, the one without a symbol, and the settings. An empty one has nothing to parse.
        assert_eq!(two.parsed, PROGRAMS as u64 + 2);
        assert!(
            two.searchable_after
                .is_some_and(|after| after < two.elapsed)
        );
        let of_one = Report {
            parsed: two.parsed,
            searchable_after: two.searchable_after,
            elapsed: two.elapsed,
            ..one.clone()
        };
        assert_eq!(two, of_one);
        let (info, of_one) = (place.info(name), place.info("one.kb"));
        assert_eq!((info.symbols_pending, info.deleted_chunks), (0, 0));
        assert_eq!(info.chunks, of_one.chunks);
        assert_eq!(info.recall, of_one.recall);
        assert_eq!(answers(&place.kb(name)), answers(&place.kb("one.kb")));
        let kb = Kb::open(place.kb(name)).unwrap();
        let lamp = kb.document("07/lamp.rs").unwrap();
        assert_eq!(lamp.metadata, []);
        assert!(!place.index(name, &IndexOptions::new()).has_changes());
    }
    let root = place.content_root("one.kb");
    assert_eq!(place.content_root("two.kb"), root);
    assert_eq!(place.content_root("many.kb"), root);
}

/// The documents that the symbol index names for `relight7`.
fn symbols(path: &Path) -> usize {
    let kb = Kb::open(path).unwrap();
    let request = SymbolsRequest::new().name("relight7");
    kb.symbols(&request).unwrap().symbols.items.len()
}

#[test]
fn a_run_that_is_stopped_before_its_symbols_leaves_them_to_the_next() {
    let place = Place::new();
    let all = PROGRAMS as u64 + 2;
    let stop_at = |files: u64| {
        move |progress: &Progress| match progress.stage == Stage::Symbols
            && progress.files_done >= files
        {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let stopped = place
        .try_index("a.kb", &two_passes(), stop_at(0))
        .unwrap_err();
    assert!(matches!(stopped, Error::Cancelled), "{stopped}");
    let info = place.info("a.kb");
    assert_eq!(info.symbols_pending, all);
    assert_eq!(info.documents, 2 * PROGRAMS as u64 + 3);
    // The text is found, also by what is not whole words, and by its mark.
    let kb = Kb::open(place.kb("a.kb")).unwrap();
    let request = Request::new("relight7").mode(Mode::Hybrid);
    assert_eq!(kb.search(&request).unwrap().hits[0].document, "07/lamp.rs");
    let regex = crate::RegexRequest::new("elight7\\(");
    assert_eq!(kb.search_regex(&regex).unwrap().matches.items.len(), 1);
    assert_eq!(symbols(&place.kb("a.kb")), 0);
    // No file is out of date for it, and a run that is to be short leaves it.
    let check = kb.check_sources(&place.sources, &IndexOptions::new(), &mut Progress::ignore);
    assert!(!check.unwrap().has_changes());
    let report = place.index("a.kb", &IndexOptions::new().parse_pending(false));
    assert_eq!((report.parsed, report.unchanged), (0, info.documents));
    assert_eq!(place.info("a.kb").symbols_pending, all);
    // Stopped once more, after some commits.
    let mut passes = 0;
    let few = IndexOptions::new().checkpoint_bytes(1);
    let stopped = place.try_index("a.kb", &few, |progress| {
        passes += u64::from(progress.stage == Stage::Symbols && progress.files_done == 0);
        match passes {
            0..3 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    });
    assert!(stopped.is_err());
    let left = place.info("a.kb").symbols_pending;
    assert!((1..all).contains(&left), "{left}");
    // The next run reads these, and nothing else.
    let mut most = 0;
    let report = place.try_index("a.kb", &IndexOptions::new(), |progress| {
        if progress.stage == Stage::Symbols {
            most = most.max(progress.files_total);
        }
        ControlFlow::Continue(())
    });
    let report = report.unwrap();
    assert_eq!((most, report.parsed), (left, left));
    assert_eq!(report.unchanged, info.documents);
    assert!(!report.has_changes());
    assert_eq!(place.info("a.kb").symbols_pending, 0);
    assert_eq!(symbols(&place.kb("a.kb")), 1);
    place.index("one.kb", &IndexOptions::new());
    assert_eq!(answers(&place.kb("a.kb")), answers(&place.kb("one.kb")));
    assert_eq!(place.content_root("a.kb"), place.content_root("one.kb"));
}

#[test]
fn a_program_that_changes_or_goes_between_the_passes_is_as_it_is_now() {
    let place = Place::new();
    let stop = |progress: &Progress| match progress.stage {
        Stage::Symbols => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    assert!(place.try_index("a.kb", &two_passes(), stop).is_err());
    place.write("03/lamp.rs", "fn new_lamp() {}\n");
    fs::remove_file(place.sources[0].join("04/lamp.rs")).unwrap();
    place.write("new.rs", "fn newest() {}\n");
    let report = place.index("a.kb", &IndexOptions::new());
    assert_eq!(report.added, ["new.rs"]);
    assert_eq!(report.updated, ["03/lamp.rs"]);
    assert_eq!(report.removed, ["04/lamp.rs"]);
    assert_eq!(place.info("a.kb").symbols_pending, 0);
    place.index("one.kb", &IndexOptions::new());
    assert_eq!(place.content_root("a.kb"), place.content_root("one.kb"));
}

#[test]
fn only_a_new_file_of_many_programs_comes_in_two_passes() {
    let place = Place::new();
    let bytes: u64 = (0..PROGRAMS)
        .map(|number| {
            let path = place.sources[0].join(format!("{number:02}/lamp.rs"));
            fs::metadata(path).unwrap().len()
        })
        .sum();
    let extra = (b"// No symbol.\n".len() + b"[package]\nname = \"lamp\"\n".len()) as u64;
    let phases = |name: &str, bytes: u64| {
        let options = IndexOptions::new().symbols_later_bytes(bytes);
        place.index(name, &options).searchable_after.is_some()
    };
    assert!(!phases("a.kb", bytes + extra + 1));
    assert!(phases("b.kb", bytes + extra));
    // What comes later is read in one pass.
    place.write("new.rs", "fn newest() {}\n");
    let report = place.index("a.kb", &two_passes());
    assert_eq!((report.parsed, report.added.len()), (0, 1));
}
