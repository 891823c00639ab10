use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use kb_engine::{IndexOptions, KbWriter, Progress, SealOptions};
use serde_json::{Value, json};

use crate::response::{ToolError, ToolResponse, object};
use crate::tools::Call;
use crate::tools::testing::Fixture;

fn project(fixture: &Fixture, name: &str) -> String {
    let folder = fixture.path().join(name);
    fs::create_dir(&folder).unwrap();
    for (file, text) in [
        ("a.rs", "fn walrus() {}\n"),
        ("b.md", "# B\n"),
        ("c.py", "x = 1\n"),
    ] {
        fs::write(folder.join(file), text).unwrap();
    }
    folder.to_str().unwrap().to_owned()
}

#[test]
fn a_second_run_reads_only_what_changed() {
    let fixture = Fixture::new("first", &[]);
    let path = project(&fixture, "my project");
    let answer = fixture.answer("index_codebase", json!({"path": path}));
    assert_eq!(answer.structured["index_name"], "my-project");
    assert_eq!(answer.structured["stats"]["files_added"], 3);
    assert!(fixture.path().join("my-project.kb").exists());
    let found = fixture.answer(
        "search_code",
        json!({"query": "walrus", "index_name": "my-project"}),
    );
    assert_eq!(found.structured["results"][0]["file_path"], "a.rs");
    fs::write(fixture.path().join("my project/b.md"), "# B\n\nmore\n").unwrap();
    let answer = fixture.answer("index_codebase", json!({"path": path}));
    let stats = &answer.structured["stats"];
    let counts = ["files_added", "files_updated", "files_removed"].map(|name| &stats[name]);
    assert_eq!(counts, [&json!(0), &json!(1), &json!(0)]);
}

#[test]
fn a_subfolder_is_brought_up_to_date_in_its_index() {
    let fixture = Fixture::new("first", &[]);
    let path = project(&fixture, "one");
    let below = fixture.path().join("one/below");
    fs::create_dir(&below).unwrap();
    fs::write(below.join("d.md"), "# D\n").unwrap();
    fixture.answer("index_codebase", json!({"path": path}));
    fs::write(below.join("e.md"), "# E\n").unwrap();
    fs::write(fixture.path().join("one/b.md"), "# B\n\nmore\n").unwrap();
    let answer = fixture.answer("index_codebase", json!({"path": below.to_str().unwrap()}));
    assert_eq!(answer.structured["index_name"], "one");
    let stats = &answer.structured["stats"];
    let counts = ["files_added", "files_updated", "files_removed"].map(|name| &stats[name]);
    assert_eq!(counts, [&json!(1), &json!(0), &json!(0)]);
    let warning = answer.structured["warnings"][0].as_str().unwrap();
    assert!(
        warning.starts_with("PART: the folder is inside one, a root of one"),
        "{warning}"
    );
    assert!(!fixture.path().join("below.kb").exists());
    // A name of its own makes an index of its own.
    let given = json!({"path": below.to_str().unwrap(), "index_name": "mine"});
    let answer = fixture.answer("index_codebase", given);
    assert_eq!(answer.structured["stats"]["files_added"], 2);
    assert!(answer.structured.get("warnings").is_none());
}

#[test]
fn an_open_index_takes_one_folder() {
    let fixture = Fixture::new("first", &[]);
    let (one, other) = (project(&fixture, "one"), project(&fixture, "other"));
    fixture.answer(
        "index_codebase",
        json!({"path": one, "index_name": "first"}),
    );
    let given = json!({"path": other, "index_name": "first"});
    assert_eq!(
        fixture.error("index_codebase", given).code,
        "INDEX_NAME_TAKEN"
    );
    let again = fixture.answer("index_codebase", json!({"path": one}));
    assert_eq!(again.structured["index_name"], "first");
    fs::write(fixture.path().join("there.kb"), "").unwrap();
    let given = json!({"path": other, "index_name": "there"});
    assert_eq!(
        fixture.error("index_codebase", given).code,
        "INDEX_NAME_TAKEN"
    );
    for name in ["../x", "a/b", "", ".x", "a b"] {
        let given = json!({"path": other, "index_name": name});
        assert_eq!(
            fixture.error("index_codebase", given).code,
            "INVALID_ARGUMENT",
            "{name}"
        );
    }
}

#[test]
fn a_file_of_an_earlier_server_is_opened_and_updated() {
    let fixture = Fixture::new("first", &[]);
    let path = project(&fixture, "one");
    fixture.answer("index_codebase", json!({"path": path}));
    let next = fixture.started_again();
    assert_eq!(next.indexes.list().len(), 1);
    fs::write(fixture.path().join("one/b.md"), "# B\n\nmore\n").unwrap();
    let answer = next.answer("index_codebase", json!({"path": path}));
    assert_eq!(answer.structured["index_name"], "one");
    assert_eq!(answer.structured["stats"]["files_updated"], 1);
    assert_eq!(next.indexes.list().len(), 2);
    // Of another folder it is not.
    let other = project(&fixture, "other");
    let again = fixture.started_again();
    let given = json!({"path": other, "index_name": "one"});
    assert_eq!(
        again.error("index_codebase", given).code,
        "INDEX_NAME_TAKEN"
    );
    assert_eq!(again.indexes.list().len(), 1);
}

#[test]
fn a_file_that_is_open_is_not_opened_twice() {
    let fixture = Fixture::new("first", &[]);
    let path = project(&fixture, "one");
    fixture.answer("index_codebase", json!({"path": path}));
    let next = fixture.over(&[("mine", fixture.path().join("one.kb"))]);
    let given = json!({"path": path, "index_name": "one"});
    let answer = next.unwrap().answer("index_codebase", given);
    assert_eq!(answer.structured["index_name"], "mine");
}

#[test]
fn a_name_is_taken_while_its_index_is_made() {
    let fixture = Fixture::new("first", &[]);
    let path = project(&fixture, "one");
    let place = fixture.indexes.reserve("one").unwrap();
    let error = fixture.error("index_codebase", json!({"path": path}));
    assert_eq!(error.code, "INDEX_NAME_TAKEN");
    assert!(!fixture.path().join("one.kb").exists());
    drop(place);
    let during = std::sync::Mutex::new(None);
    let hear = |_, _| {
        let status = fixture.answer("get_status", json!({"index_name": "one"}));
        *during.lock().unwrap() = Some(status);
    };
    crate::tools::dispatch(Call {
        indexes: &fixture.indexes,
        name: "index_codebase",
        arguments: object(json!({"path": path})),
        may_write: true,
        cancel: &Arc::new(AtomicBool::new(false)),
        progress: &hear,
    })
    .unwrap();
    let during = during.into_inner().unwrap().unwrap();
    assert_eq!(during.structured["processing"], json!(["one"]));
    assert!(!during.text.contains(fixture.path().to_str().unwrap()));
    let after = fixture.answer("get_status", json!({"index_name": "one"}));
    assert_eq!(after.structured["status"], "ready");
}

#[test]
fn a_run_that_panics_is_not_left_running() {
    let fixture = Fixture::new("first", &[]);
    let path = project(&fixture, "one");
    let run = || {
        crate::tools::dispatch(Call {
            indexes: &fixture.indexes,
            name: "index_codebase",
            arguments: object(json!({"path": path, "index_name": "first"})),
            may_write: true,
            cancel: &Arc::new(AtomicBool::new(false)),
            progress: &|_, _| panic!("a bug"),
        })
    };
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
    let status = fixture.answer("get_status", json!({}));
    assert_eq!(status.structured["status"], "ready");
    assert_eq!(
        status.structured["detail"],
        "failed: one: it stopped unexpectedly"
    );
}

#[test]
fn a_sealed_file_knows_its_folder_by_its_content() {
    let fixture = Fixture::new("first", &[]);
    let path = project(&fixture, "one");
    fixture.answer("index_codebase", json!({"path": path}));
    let sealed = fixture.path().join("sealed.kb");
    let mut writer = KbWriter::open_or_create(fixture.path().join("one.kb")).unwrap();
    writer
        .seal(Some(&sealed), &SealOptions::new(), &mut Progress::ignore)
        .unwrap();
    drop(writer);
    fs::remove_file(fixture.path().join("one.kb")).unwrap();
    let open = || fixture.over(&[("sealed", sealed.clone())]).unwrap();
    // By its name, and without one.
    for given in [
        json!({"path": path, "index_name": "sealed"}),
        json!({"path": path}),
    ] {
        let answer = open().answer("index_codebase", given);
        assert_eq!(answer.structured["index_name"], "sealed");
        assert_eq!(answer.structured["stats"]["files_added"], 0);
    }
    assert!(!fixture.path().join("one.kb").exists());
    // Another folder of that name is not it.
    fs::remove_file(fixture.path().join("one/a.rs")).unwrap();
    fs::write(fixture.path().join("one/b.md"), "# Other\n").unwrap();
    let given = json!({"path": path, "index_name": "sealed"});
    let error = open().error("index_codebase", given);
    assert_eq!(error.code, "INDEX_NAME_TAKEN");
    assert!(error.text().contains("--root \"one\""), "{}", error.text());
}

/// Calls `index_codebase` while another write is under way, which does `meanwhile` before it ends.
fn called_during(
    fixture: &Fixture,
    given: &Value,
    meanwhile: impl FnOnce(&mut KbWriter) + Send,
) -> Result<ToolResponse, ToolError> {
    let index = fixture.index();
    std::thread::scope(|scope| {
        let (holding, waits) = std::sync::mpsc::channel();
        let index = &index;
        scope.spawn(move || {
            let hold = |writer: &mut KbWriter| {
                holding.send(()).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(150));
                meanwhile(writer);
                Ok(())
            };
            index.write(hold).unwrap();
        });
        waits.recv().unwrap();
        fixture.call("index_codebase", given.clone())
    })
}

/// Two calls that found an index without a folder each put theirs into it.
#[test]
fn a_folder_indexed_meanwhile_keeps_others_out() {
    let fixture = Fixture::new("first", &[]);
    let (one, other) = (project(&fixture, "one"), project(&fixture, "other"));
    let given = json!({"path": one, "index_name": "first"});
    let called = called_during(&fixture, &given, |writer| {
        let options = IndexOptions::default();
        let report = writer.index(&[other.into()], &options, &mut Progress::ignore);
        report.unwrap();
    });
    assert_eq!(called.unwrap_err().code, "INDEX_NAME_TAKEN");
    assert_eq!(fixture.index().kb().roots().unwrap().len(), 1);
}

/// The path was looked at before the call waited, and followed after that.
#[cfg(unix)]
#[test]
fn a_folder_replaced_by_a_link_is_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("key.md"), "# Key\n").unwrap();
    let fixture = Fixture::new("first", &[]);
    let path = project(&fixture, "one");
    let inside = project(&fixture, "inside");
    for target in [outside.path(), Path::new(&inside)] {
        let given = json!({"path": path, "index_name": "first"});
        let called = called_during(&fixture, &given, |_| {
            fs::rename(&path, fixture.path().join("moved")).unwrap();
            std::os::unix::fs::symlink(target, &path).unwrap();
        });
        assert_eq!(called.unwrap_err().code, "PATH_NOT_ALLOWED");
        assert_eq!(fixture.index().kb().state().unwrap().documents, 0);
        fs::remove_file(&path).unwrap();
        fs::rename(fixture.path().join("moved"), &path).unwrap();
    }
    let given = json!({"path": path, "index_name": "first"});
    fixture.answer("index_codebase", given);
}

#[test]
fn paths_outside_are_refused() {
    let fixture = Fixture::new("first", &[]);
    let error = fixture.error("index_codebase", json!({"path": "/"}));
    assert_eq!(error.code, "PATH_NOT_ALLOWED");
    let gone = fixture.path().join("gone");
    let error = fixture.error("index_codebase", json!({"path": gone.to_str().unwrap()}));
    assert_eq!(error.code, "PATH_NOT_FOUND");
    let error = fixture.error("index_codebase", json!({"path": ""}));
    assert_eq!(error.code, "PATH_NOT_FOUND");
    // Whether something is there is told inside only.
    let up = fixture.path().join("../gone");
    for path in ["/gone", "/gone/further", up.to_str().unwrap(), "gone"] {
        let error = fixture.error("index_codebase", json!({"path": path}));
        assert_eq!(error.code, "PATH_NOT_ALLOWED", "{path}");
    }
}

#[test]
fn a_cancelled_run_leaves_nothing() {
    let fixture = Fixture::new("first", &[]);
    let path = project(&fixture, "one");
    let Value::Object(arguments) = json!({"path": path}) else {
        panic!();
    };
    let error = crate::tools::dispatch(Call {
        indexes: &fixture.indexes,
        name: "index_codebase",
        arguments,
        may_write: true,
        cancel: &Arc::new(AtomicBool::new(true)),
        progress: &|_, _| {},
    });
    assert_eq!(error.unwrap_err().code, "CANCELLED");
    assert!(!fixture.path().join("one.kb").exists());
    assert_eq!(fixture.indexes.list().len(), 1);
}
