use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::ingest::run::patch::{PatchOptions, PatchReport};
use crate::kb::{Kb, KbWriter, apply_patch, make_patch};
use crate::{DocumentChange, Error, Progress, Request, Result, SealOptions};

/// A folder with two versions of some documents, of which `is_sealed` says whether they are sealed.
struct Versions {
    folder: TempDir,
}

impl Versions {
    fn new(is_sealed: bool) -> Versions {
        let versions = Versions {
            folder: tempfile::tempdir().unwrap(),
        };
        let same = (0..30).map(|n| {
            (
                format!("same/{n}.md"),
                format!("# Page {n}\n\nTides of bay {n}.\n"),
            )
        });
        let mut old: Vec<(String, String)> = same.collect();
        let mut new = old.clone();
        old.push((
            "gone.md".to_owned(),
            "# Gone\n\nThe old lighthouse.\n".to_owned(),
        ));
        old.push((
            "edited.rs".to_owned(),
            "pub fn lamp() -> u8 { 1 }\n".to_owned(),
        ));
        new.push((
            "edited.rs".to_owned(),
            "pub fn lamp() -> u8 { 2 }\npub fn mirror() {}\n".to_owned(),
        ));
        new.push((
            "fresh [1].md".to_owned(),
            "# Fresh\n\nA buoy was moored.\n".to_owned(),
        ));
        versions.write("old.kb", &old, &[], is_sealed);
        versions.write("new.kb", &new, &["same/3.md"], is_sealed);
        versions
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, documents: &[(String, String)], tagged: &[&str], is_sealed: bool) {
        let mut writer = KbWriter::create(self.path(name)).unwrap();
        for (path, text) in documents {
            writer.add_bytes(path, text.as_bytes()).unwrap();
        }
        for path in tagged {
            writer.tag(path, &["calm"], &[]).unwrap();
        }
        writer.commit().unwrap();
        if is_sealed {
            writer
                .seal(None, &SealOptions::new(), &mut Progress::ignore)
                .unwrap();
        }
    }

    fn make(&self, old: &str, new: &str) -> Result<PatchReport> {
        let (old, new) = (self.path(old), self.path(new));
        let options = PatchOptions::new();
        make_patch(
            old,
            new,
            self.path("up.kbp"),
            &options,
            &mut Progress::ignore,
        )
    }

    fn apply(&self, base: &str, output: &str) -> Result<PatchReport> {
        let (base, patch) = (self.path(base), self.path("up.kbp"));
        let options = PatchOptions::new();
        apply_patch(
            base,
            patch,
            self.path(output),
            &options,
            &mut Progress::ignore,
        )
    }

    /// Names of all files of the folder.
    fn files(&self) -> Vec<String> {
        let files = fs::read_dir(self.folder.path()).unwrap();
        let name =
            |file: std::io::Result<fs::DirEntry>| file.unwrap().file_name().into_string().unwrap();
        let mut files: Vec<String> = files.map(name).collect();
        files.sort();
        files
    }
}

/// Documents and scores of some searches.
fn answers(kb: &Kb) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for query in [
        "lamp",
        "buoy moored",
        "tides of bay 3",
        "lighthouse",
        "mirror",
    ] {
        for hit in kb.search(&Request::new(query)).unwrap().hits {
            all.push((hit.document, format!("{:?} {:?}", hit.score, hit.tags)));
        }
    }
    all
}

#[test]
fn the_difference_names_each_document() {
    let versions = Versions::new(false);
    let (old, new) = (
        Kb::open(versions.path("old.kb")).unwrap(),
        Kb::open(versions.path("new.kb")).unwrap(),
    );
    let found = old.difference(&new, &mut Progress::ignore).unwrap();
    assert_eq!(found.added, ["fresh [1].md"]);
    assert_eq!(found.removed, ["gone.md"]);
    let changed: Vec<_> = found
        .changed
        .iter()
        .map(|it| (it.path.as_str(), it.changes.as_slice()))
        .collect();
    assert_eq!(
        changed,
        [
            ("edited.rs", &[DocumentChange::Text][..]),
            ("same/3.md", &[DocumentChange::Tags][..])
        ]
    );
    assert_eq!(found.unchanged, 29);
    let back = new.difference(&old, &mut Progress::ignore).unwrap();
    assert_eq!((back.added, back.removed), (found.removed, found.added));
    let itself = old.difference(&old, &mut Progress::ignore).unwrap();
    assert!(itself.is_empty() && itself.unchanged == 32, "{itself:?}");
}

#[test]
fn a_patch_makes_the_newer_file() {
    for is_sealed in [false, true] {
        let versions = Versions::new(is_sealed);
        let report = versions.make("old.kb", "new.kb").unwrap();
        assert_eq!((report.added, report.changed, report.removed), (1, 2, 1));
        let applied = versions.apply("old.kb", "made.kb").unwrap();
        assert_eq!(applied.content_root, report.content_root);
        let (made, new) = (
            Kb::open(versions.path("made.kb")).unwrap(),
            Kb::open(versions.path("new.kb")).unwrap(),
        );
        assert_eq!(answers(&made), answers(&new));
        assert!(
            made.difference(&new, &mut Progress::ignore)
                .unwrap()
                .is_empty()
        );
        let root = made.info().unwrap().content_root;
        assert_eq!(root, new.info().unwrap().content_root);
        assert_eq!(root.is_some(), is_sealed);
        assert_eq!(versions.files(), ["made.kb", "new.kb", "old.kb", "up.kbp"]);
    }
}

#[test]
fn only_removals_make_a_small_patch() {
    let versions = Versions::new(true);
    let mut writer = KbWriter::open(versions.path("old.kb")).unwrap();
    writer
        .seal(
            Some(&versions.path("less.kb")),
            &SealOptions::new(),
            &mut Progress::ignore,
        )
        .unwrap();
    let mut less = KbWriter::open(versions.path("less.kb")).unwrap();
    less.remove("gone.md").unwrap();
    less.commit().unwrap();
    let report = versions.make("old.kb", "less.kb").unwrap();
    assert_eq!((report.added, report.changed, report.removed), (0, 0, 1));
    assert!(report.bytes < 600, "{}", report.bytes);
    versions.apply("old.kb", "made.kb").unwrap();
}

#[test]
fn another_base_and_a_taken_name_are_refused() {
    let versions = Versions::new(true);
    versions.make("old.kb", "new.kb").unwrap();
    let other = versions.apply("new.kb", "made.kb").unwrap_err().to_string();
    assert!(
        other.contains("old.kb") && other.contains("new.kb"),
        "{other}"
    );
    let taken = versions.apply("old.kb", "new.kb").unwrap_err();
    assert!(matches!(taken, Error::OutputExists { .. }), "{taken}");
    let taken = versions.make("old.kb", "new.kb").unwrap_err();
    assert!(matches!(taken, Error::OutputExists { .. }), "{taken}");
    assert_eq!(versions.files(), ["new.kb", "old.kb", "up.kbp"]);
}

#[test]
fn no_damaged_patch_is_applied() {
    let versions = Versions::new(false);
    versions.make("old.kb", "new.kb").unwrap();
    let whole = fs::read(versions.path("up.kbp")).unwrap();
    let cut = [0, 7, 15, 16, 40, whole.len() - 1];
    let mut bad: Vec<Vec<u8>> = cut.iter().map(|len| whole[..*len].to_vec()).collect();
    for at in (0..whole.len()).step_by(whole.len() / 40) {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x10;
        bad.push(flipped);
    }
    for bytes in bad {
        fs::write(versions.path("up.kbp"), &bytes).unwrap();
        assert!(versions.apply("old.kb", "made.kb").is_err());
    }
    assert_eq!(versions.files(), ["new.kb", "old.kb", "up.kbp"]);
}

#[test]
fn only_files_of_its_kind_are_replaced() {
    let versions = Versions::new(false);
    let (old, new) = (versions.path("old.kb"), versions.path("new.kb"));
    let options = PatchOptions::new().replace(true);
    let (text, patch) = (versions.path("notes.txt"), versions.path("up.kbp"));
    fs::write(&text, "Bread and patience.").unwrap();
    for output in [&text, &old] {
        let refused = make_patch(&old, &new, output, &options, &mut Progress::ignore);
        assert!(refused.is_err(), "{}", output.display());
    }
    make_patch(&old, &new, &patch, &options, &mut Progress::ignore).unwrap();
    make_patch(&old, &new, &patch, &options, &mut Progress::ignore).unwrap();
    for output in [&text, &patch] {
        let refused = apply_patch(&old, &patch, output, &options, &mut Progress::ignore);
        assert!(refused.is_err(), "{}", output.display());
    }
    assert_eq!(fs::read_to_string(&text).unwrap(), "Bread and patience.");
    apply_patch(&old, &patch, &old, &options, &mut Progress::ignore).unwrap();
    let (made, new) = (Kb::open(&old).unwrap(), Kb::open(&new).unwrap());
    assert!(
        made.difference(&new, &mut Progress::ignore)
            .unwrap()
            .is_empty()
    );
}
