//! `kb index` on a file of an older format: it is made anew in its place, unless that would lose what no folder has.

use kb_engine::Kb;

use crate::support::Folder;
use crate::support::older::{self, older_version};

fn make_older(folder: &Folder) -> Vec<u8> {
    older::make_older(&folder.join("harbour.kb"))
}

#[test]
fn a_file_of_an_older_format_is_made_anew_with_all_its_folders() {
    let folder = Folder::indexed();
    folder.write("quay/cranes.md", "# Cranes\n\nTwo cranes lift nets.\n");
    folder.kb("index quay -o harbour.kb").expect(0);
    folder
        .kb("tag -f harbour.kb notes.txt --add keeper")
        .expect(0);
    let documents = || {
        let listed = folder.kb("ls -r -f harbour.kb --json").expect(0);
        listed.json_lines()
    };
    let before = documents();
    assert!(before.iter().any(|it| it["document"] == "quay/cranes.md"));
    make_older(&folder);
    let told = folder.kb("index harbour").expect(0);
    let note = format!("harbour.kb had {} and was rebuilt", older_version());
    told.stderr_has(&note);
    told.stdout_has("\n  rebuilt: added 0, ");
    // Handles, tags and times are those that people know.
    assert_eq!(documents(), before);
    let kb = Kb::open(folder.join("harbour.kb")).unwrap();
    assert_eq!(kb.document("notes.txt").unwrap().tags, ["keeper"]);
    folder.kb("index harbour --check").expect(0);
    folder.kb("verify harbour.kb --deep").expect(0);
}

#[test]
fn what_no_folder_has_is_lost_only_by_a_rebuild() {
    let folder = Folder::indexed();
    folder.write("memo.txt", "A memo of the pilot.\n");
    folder.kb("add memo.txt -f harbour.kb").expect(0);
    let older = make_older(&folder);
    let stays = || std::fs::read(folder.join("harbour.kb")).unwrap() == older;
    let told = folder.kb("index harbour").expect(2);
    told.stderr_has("would lose documents that no folder has: memo.txt");
    assert!(
        told.hint().contains("--rebuild") && told.hint().contains("harbour-2.kb"),
        "{told:#?}"
    );
    assert!(stays());
    let told = folder.kb("index harbour --rebuild").expect(0);
    told.stdout_has("removed 1");
    let kb = Kb::open(folder.join("harbour.kb")).unwrap();
    assert!(kb.document("memo.txt").is_err() && kb.document("notes.txt").is_ok());
}

#[test]
fn documents_of_a_folder_that_is_gone_or_empty_stay_in_an_older_file() {
    let folder = Folder::indexed();
    folder.write("quay/cranes.md", "# Cranes\n\nTwo cranes lift nets.\n");
    folder.kb("index quay -o harbour.kb").expect(0);
    let older = make_older(&folder);
    let stays = || std::fs::read(folder.join("harbour.kb")).unwrap() == older;
    std::fs::rename(folder.join("quay"), folder.join("away")).unwrap();
    let told = folder.kb("index harbour").expect(2);
    assert!(
        told.stderr.contains("quay/cranes.md") && stays(),
        "{told:#?}"
    );
    // Back in its place, it is read again.
    std::fs::rename(folder.join("away"), folder.join("quay")).unwrap();
    folder.kb("index harbour").expect(0);
    let kb = Kb::open(folder.join("harbour.kb")).unwrap();
    assert!(kb.document("quay/cranes.md").is_ok());
}
