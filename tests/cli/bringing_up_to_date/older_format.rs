//! `kb index` on a file of an older format: it is made anew in its place, unless that would lose what no folder has.

use kb_engine::{FORMAT_VERSION, Kb};
use xxhash_rust::xxh3::xxh3_64;

use crate::support::Folder;

/// Where the signature block and its checksum lie.
const BLOCK: std::ops::Range<usize> = 512..1024;
const CHECKSUM: std::ops::Range<usize> = 1016..1024;

/// Gives `harbour.kb` the version before the current one; its bytes.
fn make_older(folder: &Folder) -> Vec<u8> {
    let path = folder.join("harbour.kb");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[522..524].copy_from_slice(&(FORMAT_VERSION.1 - 1).to_le_bytes());
    let sum = xxh3_64(&bytes[BLOCK.start..CHECKSUM.start]);
    bytes[CHECKSUM].copy_from_slice(&sum.to_le_bytes());
    std::fs::write(&path, &bytes).unwrap();
    assert!(Kb::open(&path).is_err());
    bytes
}

#[test]
fn a_file_of_an_older_format_is_made_anew_with_all_its_folders() {
    let folder = Folder::indexed();
    folder.write("quay/cranes.md", "# Cranes\n\nTwo cranes lift nets.\n");
    folder.kb(["index", "quay", "-o", "harbour.kb"]).expect(0);
    folder
        .kb(["tag", "-f", "harbour.kb", "notes.txt", "--add", "keeper"])
        .expect(0);
    let documents = || {
        let listed = folder
            .kb(["ls", "-r", "-f", "harbour.kb", "--json"])
            .expect(0);
        listed.json_lines()
    };
    let before = documents();
    assert!(before.iter().any(|it| it["document"] == "quay/cranes.md"));
    make_older(&folder);
    let told = folder.kb(["index", "harbour"]).expect(0);
    let version = format!(
        "format version {}.{}",
        FORMAT_VERSION.0,
        FORMAT_VERSION.1 - 1
    );
    let note = format!("harbour.kb had {version} and was rebuilt");
    assert!(told.stderr.contains(&note), "{told:#?}");
    // Handles, tags and times are those that people know.
    assert_eq!(documents(), before);
    let kb = Kb::open(folder.join("harbour.kb")).unwrap();
    assert_eq!(kb.document("notes.txt").unwrap().tags, ["keeper"]);
    folder.kb(["index", "harbour", "--check"]).expect(0);
    folder.kb(["verify", "harbour.kb", "--deep"]).expect(0);
}

#[test]
fn what_no_folder_has_is_lost_only_by_a_rebuild() {
    let folder = Folder::indexed();
    folder.write("memo.txt", "A memo of the pilot.\n");
    folder.kb(["add", "memo.txt", "-f", "harbour.kb"]).expect(0);
    let older = make_older(&folder);
    let stays = || std::fs::read(folder.join("harbour.kb")).unwrap() == older;
    let told = folder.kb(["index", "harbour"]).expect(2);
    assert!(
        told.stderr
            .contains("would lose documents that no folder has: memo.txt"),
        "{told:#?}"
    );
    assert!(
        told.hint().contains("--rebuild") && told.hint().contains("harbour-2.kb"),
        "{told:#?}"
    );
    assert!(stays());
    let told = folder.kb(["index", "harbour", "--rebuild"]).expect(0);
    assert!(told.stdout.contains("removed 1"), "{told:#?}");
    let kb = Kb::open(folder.join("harbour.kb")).unwrap();
    assert!(kb.document("memo.txt").is_err() && kb.document("notes.txt").is_ok());
}

#[test]
fn documents_of_a_folder_that_is_gone_or_empty_stay_in_an_older_file() {
    let folder = Folder::indexed();
    folder.write("quay/cranes.md", "# Cranes\n\nTwo cranes lift nets.\n");
    folder.kb(["index", "quay", "-o", "harbour.kb"]).expect(0);
    let older = make_older(&folder);
    let stays = || std::fs::read(folder.join("harbour.kb")).unwrap() == older;
    std::fs::rename(folder.join("quay"), folder.join("away")).unwrap();
    let told = folder.kb(["index", "harbour"]).expect(2);
    assert!(
        told.stderr.contains("quay/cranes.md") && stays(),
        "{told:#?}"
    );
    // Back in its place, it is read again.
    std::fs::rename(folder.join("away"), folder.join("quay")).unwrap();
    folder.kb(["index", "harbour"]).expect(0);
    let kb = Kb::open(folder.join("harbour.kb")).unwrap();
    assert!(kb.document("quay/cranes.md").is_ok());
}
