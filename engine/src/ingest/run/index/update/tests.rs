use std::collections::BTreeSet;
use std::fs;

use super::*;
use crate::ingest::changes::comparison::{Change, Comparison, Sides};
use crate::ingest::changes::coverage::Coverage;
use crate::ingest::changes::indexed::{IndexedDocument, Rows};
use crate::ingest::changes::survey::BUFFER_LIMIT_BYTES;
use crate::ingest::root::{Root, Scope};
use crate::ingest::walk::{self, Walk, WalkOptions};
use crate::kb::{Kb, KbWriter};

/// A folder with sources and a .kb beside it.
struct Place {
    folder: tempfile::TempDir,
    paths: [PathBuf; 1],
}

impl Place {
    fn new(names: &[&str]) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let sources = fs::canonicalize(folder.path()).unwrap().join("sources");
        let place = Place {
            paths: [sources],
            folder,
        };
        for name in names {
            place.write(name, name);
        }
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.paths[0].join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), text).unwrap();
    }

    fn kb(&self) -> PathBuf {
        self.folder.path().join("a.kb")
    }

    fn index(&self) -> Report {
        let mut writer = KbWriter::open_or_create(self.kb()).unwrap();
        let options = IndexOptions::default();
        writer
            .index(&self.paths, &options, &mut crate::Progress::ignore)
            .unwrap()
    }
}

#[test]
fn what_cannot_be_read_now_keeps_its_document_and_is_no_proof() {
    let place = Place::new(&["a.txt", "sub/b.txt", "sub/c.txt"]);
    place.index();
    let options = IndexOptions::default();
    let reporter = Reporter::silent();
    let container = Container::open(&place.kb()).unwrap();
    let plan = ChangePlan::compute(
        &container,
        &place.paths,
        &options,
        BUFFER_LIMIT_BYTES,
        &reporter,
    )
    .unwrap();
    let base = Base {
        container: &container,
        commit: plan.identity,
    };
    // As root reads everything, the comparison is told what could not be read.
    let blind = |unread: &str, is_rebuild: bool| {
        let sides = Sides {
            is_rebuild,
            ..sides(base, &plan.catalog, &plan.resolved, &plan.settings)
        };
        let walk_options = WalkOptions {
            max_file_bytes: u64::MAX,
            ..WalkOptions::default()
        };
        let walk = Walk::new(sides.roots, walk_options, &reporter).unwrap();
        let is_seen = |plan: &Result<walk::WalkItem>| match plan {
            Ok(walk::WalkItem::File(file)) => !file.document_path.starts_with(unread),
            _ => true,
        };
        let unread = [Ok(walk::WalkItem::Unread(unread.to_owned()))];
        let walk = unread.into_iter().chain(walk.filter(is_seen));
        let mut comparison = Comparison::of(sides, walk, &options).unwrap();
        let mut changes = Vec::new();
        while let Some(change) = comparison.next_change().unwrap() {
            match change {
                // Whether it is the same is plan out later.
                Change::Read(candidate) if candidate.same_metadata => {}
                Change::Read(_) if is_rebuild => {}
                change => changes.push(change),
            }
        }
        (changes, comparison.finish().unwrap())
    };
    for (unread, hidden) in [("sub", 2), ("sub/b.txt", 1)] {
        for is_rebuild in [false, true] {
            let (changes, tally) = blind(unread, is_rebuild);
            assert_eq!(changes, [], "{unread}");
            assert_eq!(tally.unchanged, hidden);
            let refused = tally.refuse_unread().unwrap_err();
            assert!(refused.to_string().contains("sub/b.txt"), "{refused}");
        }
    }
    let (_, tally) = blind("no such folder", false);
    assert!(tally.refuse_unread().is_ok());
}

/// Path, end of the handle and tags of a document.
type Listed = (String, String, Vec<String>);

/// What a file holds, and what runs that change much said.
fn changed_and_built_again(limit_bytes: usize) -> (Vec<Report>, Vec<Listed>) {
    let place = Place::new(&["a.txt", "b/c.txt", "b/d.txt", "b-e.txt", "f.txt", "g.bin"]);
    place.write("g.bin", "\0\0\0");
    place.write("z.bin", "\0\0\0");
    let mut writer = KbWriter::open_or_create(place.kb()).unwrap();
    let options = IndexOptions::default();
    let mut reports = Vec::new();
    let mut run = |writer: &mut KbWriter, options: &IndexOptions| {
        let ran = writer
            .session
            .index(&place.paths, options, &Reporter::silent(), limit_bytes);
        reports.push(Report {
            elapsed: std::time::Duration::ZERO,
            ..ran.unwrap()
        });
    };
    run(&mut writer, &options);
    writer
        .add_bytes("b/added.md", b"# Added by name\n")
        .unwrap();
    writer.tag("b/d.txt", &["buffered"], &[]).unwrap();
    writer.commit().unwrap();
    place.write("b/added.md", "a file of that path");
    place.write("b/c.txt", "changed");
    place.write("new.txt", "new");
    fs::remove_file(place.at("f.txt")).unwrap();
    fs::remove_file(place.at("z.bin")).unwrap();
    run(&mut writer, &options);
    run(&mut writer, &options);
    let rebuild = IndexOptions {
        rebuild: true,
        ..options
    };
    place.write("y.txt", "newer");
    run(&mut writer, &rebuild);
    let kb = Kb::open(place.kb()).unwrap();
    let listed = Container::open(&place.kb()).unwrap().read(|snapshot| {
        let catalog = Catalog::load(snapshot)?;
        let mut listed = Vec::new();
        catalog.documents.each(snapshot, |_, record| {
            listed.push((record.path, record.suffix, record.tags));
            Ok(std::ops::ControlFlow::Continue(()))
        })?;
        Ok(listed)
    });
    let verified = kb
        .verify(
            &crate::VerifyOptions::new().deep(true),
            &mut crate::Progress::ignore,
        )
        .unwrap();
    assert!(verified.problems.is_empty(), "{:?}", verified.problems);
    (reports, listed.unwrap())
}

#[test]
fn recomputed_changes_equal_kept_ones() {
    let (reports, listed) = changed_and_built_again(BUFFER_LIMIT_BYTES);
    assert_eq!(reports[1].added, ["new.txt"]);
    assert_eq!(reports[1].updated, ["b/c.txt"]);
    assert_eq!(reports[1].removed, ["f.txt"]);
    assert_eq!((reports[2].unchanged, reports[2].has_changes()), (5, false));
    assert_eq!((reports[3].unchanged, reports[3].documents), (5, 7));
    assert!(
        listed
            .iter()
            .any(|(path, _, tags)| path == "b/d.txt" && tags == &["buffered"])
    );
    assert_eq!(changed_and_built_again(0), (reports, listed));
}

#[test]
fn a_commit_of_others_ends_a_comparison() {
    let place = Place::new(&["a.txt"]);
    place.index();
    let container = Container::open(&place.kb()).unwrap();
    let commit = container.read(|snapshot| Ok(snapshot.identity())).unwrap();
    let base = Base {
        container: &container,
        commit,
    };
    base.read(|_| Ok(())).unwrap();
    place.write("b.txt", "b");
    place.index();
    let expired = base.read(|_| Ok(())).unwrap_err();
    assert!(matches!(expired, Error::SnapshotExpired));
}

#[test]
fn only_needed_rows_are_read_in_batches() {
    let names: Vec<String> = (0..1100)
        .map(|number| format!("d{}/{number}", number % 7))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let place = Place::new(&names);
    assert_eq!(place.index().documents, 1100);
    place.write("d3/3", "changed");
    let report = place.index();
    assert_eq!(
        (report.unchanged, report.updated),
        (1099, vec!["d3/3".to_owned()])
    );
    let container = Container::open(&place.kb()).unwrap();
    let commit = container.read(|snapshot| Ok(snapshot.identity())).unwrap();
    let base = Base {
        container: &container,
        commit,
    };
    let paths = |scope: Scope| {
        let root = Root {
            id: 1,
            folder: place.paths[0].clone(),
            prefix: String::new(),
            scope,
            foreign: BTreeSet::new(),
            elsewhere: Vec::new(),
            selection: Default::default(),
            indexed_ms: 0,
        };
        let ranges = Coverage::new(&[root]).ranges();
        let mut rows: Rows<'_, IndexedDocument> = Rows::new(Some(base), ranges);
        let mut paths = Vec::new();
        while let Some(row) = rows.next_row().unwrap() {
            paths.push(row.path);
        }
        paths
    };
    let mut sorted: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    sorted.sort();
    assert_eq!(paths(Scope::Whole), sorted);
    let parts = ["d1/1", "d1/none", "d5", "d5/5"].map(PathBuf::from);
    let inside = |path: &&String| path.as_str() == "d1/1" || path.starts_with("d5/");
    let expected: Vec<String> = sorted.iter().filter(inside).cloned().collect();
    assert_eq!(paths(Scope::Parts(parts.into())), expected);
}

/// Whoever may have folders indexed that somebody else allowed could name a link to any other.
#[cfg(unix)]
#[test]
fn a_run_keeps_to_the_folders_that_it_may_read() {
    use std::os::unix::fs::symlink;
    let place = Place::new(&["in/a.txt", "in/deep/b.txt", "secret/key.txt"]);
    symlink(place.at("secret"), place.at("link")).unwrap();
    symlink("../secret", place.at("in/sub")).unwrap();
    symlink("../secret/key.txt", place.at("in/named.txt")).unwrap();
    let options = IndexOptions {
        within: Some(vec![place.at("in")]),
        ..IndexOptions::default()
    };
    let index = |names: &[&str]| {
        let paths: Vec<PathBuf> = names.iter().map(|name| place.at(name)).collect();
        let mut writer = KbWriter::open_or_create(place.kb())?;
        writer.index(&paths, &options, &mut crate::Progress::ignore)
    };
    for outside in [
        "",
        "secret",
        "secret/key.txt",
        "link",
        "in/sub",
        "in/../secret",
    ] {
        for paths in [&[outside][..], &["in", outside]] {
            let error = index(paths).unwrap_err();
            assert_eq!(error.code(), "PATH_NOT_ALLOWED", "{paths:?}");
        }
    }
    assert!(!place.kb().exists());
    // A file that is named, and is a link.
    let report = index(&["in/a.txt", "in/named.txt"]).unwrap();
    assert_eq!(report.added, ["a.txt"]);
    assert_eq!(report.skipped.len(), 1, "{report:?}");
    assert_eq!(report.skipped[0].reason, "symbolic link");
    assert_eq!(index(&["in"]).unwrap().added, ["deep/b.txt"]);
    // Who may read any path follows it.
    let mut writer = KbWriter::open_or_create(place.kb()).unwrap();
    let options = IndexOptions::default();
    let linked = [place.at("link")];
    let report = writer
        .index(&linked, &options, &mut crate::Progress::ignore)
        .unwrap();
    assert_eq!(report.added, ["secret/key.txt"]);
}

#[test]
fn a_file_is_made_from_a_folder_when_it_holds_nothing_else() {
    let place = Place::new(&["one/a.txt", "other/b.txt"]);
    let (one, other) = (place.at("one"), place.at("other"));
    let index = |paths: &[&PathBuf]| {
        let paths: Vec<PathBuf> = paths.iter().map(|path| (*path).clone()).collect();
        let mut writer = KbWriter::open_or_create(place.kb()).unwrap();
        let options = IndexOptions::default();
        writer
            .index(&paths, &options, &mut crate::Progress::ignore)
            .unwrap();
    };
    let is_made = |folder: &PathBuf| Kb::open(place.kb()).unwrap().is_made_from(folder).unwrap();
    KbWriter::open_or_create(place.kb())
        .unwrap()
        .commit()
        .unwrap();
    assert!(!is_made(&one));
    index(&[&one]);
    assert!(is_made(&one) && !is_made(&other));
    let mut writer = KbWriter::open_or_create(place.kb()).unwrap();
    writer.add_bytes("named.txt", b"by name").unwrap();
    writer.commit().unwrap();
    assert!(!is_made(&one));
    assert!(writer.remove("named.txt").is_ok());
    writer.commit().unwrap();
    assert!(is_made(&one));
    writer
        .seal(
            None,
            &crate::SealOptions::new(),
            &mut crate::Progress::ignore,
        )
        .unwrap();
    drop(writer);
    assert!(is_made(&one) && !is_made(&other));
    index(&[&other]);
    assert!(!is_made(&one));
}

#[test]
fn tags_of_front_matter_follow_the_file_and_given_ones_stay() {
    let place = Place::new(&[]);
    let note = |tags: &str| place.write("a.md", &format!("---\ntags: {tags}\n---\n\nThe sea.\n"));
    let tags = |of: &str| Kb::open(place.kb()).unwrap().document(of).unwrap().tags;
    let found = |tag: &str| {
        let filters = crate::Filters::new().tags([tag]);
        let request = crate::Request::new("sea").filters(filters);
        // A tag that no document has is refused.
        let found = Kb::open(place.kb()).unwrap().search(&request);
        found.map_or(0, |response| response.hits.len())
    };
    note("[Harbour, tide]");
    place.write("b.md", "The sea.\n");
    place.index();
    assert_eq!(tags("a.md"), ["harbour", "tide"]);
    assert_eq!(
        (found("harbour"), found("tide"), tags("b.md").len()),
        (1, 1, 0)
    );
    let mut writer = KbWriter::open_or_create(place.kb()).unwrap();
    writer.tag("a.md", &["own"], &[]).unwrap();
    writer.commit().unwrap();
    drop(writer);
    note("tide, dock");
    place.index();
    assert_eq!(tags("a.md"), ["dock", "own", "tide"]);
    assert_eq!((found("harbour"), found("dock")), (0, 1));
    // A rebuild reads the same.
    let mut writer = KbWriter::open_or_create(place.kb()).unwrap();
    let options = IndexOptions {
        rebuild: true,
        ..IndexOptions::default()
    };
    let report = writer.index(&place.paths, &options, &mut crate::Progress::ignore);
    assert_eq!(report.unwrap().documents, 2);
    drop(writer);
    assert_eq!(tags("a.md"), ["dock", "own", "tide"]);
    // And so does a document that is put in its place.
    let mut writer = KbWriter::open_or_create(place.kb()).unwrap();
    let put = |writer: &mut KbWriter, text: &str| {
        writer.replace_bytes("a.md", text.as_bytes()).unwrap();
        writer.tag("a.md", &[], &[]).unwrap()
    };
    assert_eq!(put(&mut writer, "---\ntags: reef\n---\n"), ["own", "reef"]);
    assert_eq!(put(&mut writer, "---\ntags: bay\n---\n"), ["bay", "own"]);
    writer.commit().unwrap();
    assert_eq!(tags("a.md"), ["bay", "own"]);
}

/// A first run that was stopped had nothing to show for its time.
#[test]
fn a_new_file_keeps_what_was_committed_when_its_run_is_stopped() {
    let names: Vec<String> = (0..600).map(|number| format!("{number:03}.txt")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let place = Place::new(&names);
    let options = IndexOptions::new().checkpoint_after(std::time::Duration::ZERO);
    let mut writer = KbWriter::open_or_create(place.kb()).unwrap();
    // Some hundred files are read ahead of the first commit.
    let mut stop = |progress: &crate::Progress| {
        if progress.files_done < 400 {
            std::ops::ControlFlow::Continue(())
        } else {
            std::ops::ControlFlow::Break(())
        }
    };
    let stopped = writer.index(&place.paths, &options, &mut stop).unwrap_err();
    assert!(matches!(stopped, Error::Cancelled), "{stopped}");
    drop(writer);
    let documents = || {
        let kb = Kb::open(place.kb()).unwrap();
        let deep = crate::VerifyOptions::new().deep(true);
        let report = kb.verify(&deep, &mut crate::Progress::ignore).unwrap();
        assert_eq!(report.problems, [""; 0]);
        kb.info().unwrap().documents
    };
    let kept = documents();
    assert!((1..400).contains(&kept), "{kept}");
    // The next run reads the others only.
    let report = place.index();
    assert_eq!(
        (report.added.len() as u64, report.unchanged),
        (600 - kept, kept)
    );
    assert_eq!(documents(), 600);
    // In one go it is the same.
    fs::remove_file(place.kb()).unwrap();
    let mut writer = KbWriter::open_or_create(place.kb()).unwrap();
    let report = writer
        .index(&place.paths, &options, &mut crate::Progress::ignore)
        .unwrap();
    drop(writer);
    assert_eq!((report.added.len(), report.documents), (600, 600));
    assert_eq!(documents(), 600);
}

/// Time alone decided: what was read in less than half a minute was lost, however much it was.
#[test]
fn a_new_file_is_committed_by_bytes_too_and_its_segments_stay_few() {
    let names: Vec<String> = (0..600).map(|number| format!("{number:03}.txt")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let place = Place::new(&names);
    let never = std::time::Duration::MAX;
    let options = IndexOptions::new().checkpoint_after(never);
    let run = |bytes: u64, files: u64| {
        let options = options.clone().checkpoint_bytes(bytes);
        let mut writer = KbWriter::open_or_create(place.kb()).unwrap();
        let mut stop = |progress: &crate::Progress| match progress.files_done < files {
            true => std::ops::ControlFlow::Continue(()),
            false => std::ops::ControlFlow::Break(()),
        };
        let stopped = writer.index(&place.paths, &options, &mut stop).is_err();
        assert_eq!(stopped, files <= 600);
    };
    // The text of each file is its name: 7 bytes.
    run(700 * 7, 400);
    assert!(!place.kb().exists());
    run(100 * 7, 500);
    let kept = Kb::open(place.kb()).unwrap().info().unwrap().documents;
    assert!((100..500).contains(&kept), "{kept}");
    fs::remove_file(place.kb()).unwrap();
    run(7, 601);
    let kb = Kb::open(place.kb()).unwrap();
    let info = kb.info().unwrap();
    assert_eq!(info.documents, 600);
    assert!(info.segments < 8, "{}", info.segments);
    let deep = crate::VerifyOptions::new().deep(true);
    let report = kb.verify(&deep, &mut crate::Progress::ignore).unwrap();
    assert_eq!(report.problems, [""; 0]);
}

/// Merges wrote beside the segments that they replaced: they left much of a new file unused.
#[test]
fn a_new_file_of_many_commits_is_hardly_larger_than_its_content() {
    let names: Vec<String> = (0..3000).map(|number| format!("{number:04}.txt")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let place = Place::new(&names);
    let mut state = 7u64;
    for name in names {
        let words = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            format!("{:x}", state >> 40)
        });
        let text: Vec<String> = words.take(150).collect();
        fs::write(place.paths[0].join(name), text.join(" ")).unwrap();
    }
    // With the 256 files that are read ahead, nine commits or more.
    let never = std::time::Duration::MAX;
    let options = IndexOptions::new()
        .checkpoint_after(never)
        .checkpoint_bytes(100_000);
    let mut writer = KbWriter::open_or_create(place.kb()).unwrap();
    let mut ignore = crate::Progress::ignore;
    writer.index(&place.paths, &options, &mut ignore).unwrap();
    drop(writer);
    let sizes = crate::container::Container::open(&place.kb()).unwrap();
    let sizes = sizes.read(|snapshot| snapshot.file_bytes()).unwrap();
    assert!(sizes.file_bytes > 4 << 20, "{sizes:?}");
    assert!(sizes.remainder_bytes * 8 < sizes.file_bytes, "{sizes:?}");
    let kb = Kb::open(place.kb()).unwrap();
    let deep = crate::VerifyOptions::new().deep(true);
    let report = kb.verify(&deep, &mut ignore).unwrap();
    assert_eq!(report.problems, [""; 0]);
    assert_eq!(kb.info().unwrap().documents, 3000);
}
