//! Objects of what changes a file.

use std::fs;

use kb_engine::{IndexOptions, KbWriter, Progress, SealOptions};
use kb_json::Object;

use crate::assert_shape;
use crate::example::{Example, index};

#[test]
fn a_run_tells_what_it_changed_and_left_out() {
    let example = Example::new();
    let fields = |changes: &str, skipped: &str| {
        format!(
            "{{file documents chunks added updated removed unchanged {changes} skipped{skipped} unparsed parsed symbols_pending searchable_seconds
            similar_roots moved_roots emptied_folders source_bytes text_bytes file_bytes model_before lost_columns missed_recall seconds}}"
        )
    };
    let left_out = "[{path reason}]";
    let object = kb_json::index_report("a.kb", 1, &example.report, false);
    assert_shape(&object, &fields("", left_out));
    let object = kb_json::index_report("a.kb", 1, &example.report, true);
    assert_shape(&object, &fields("changes[{change path}]", left_out));
    fs::remove_file(example.sources.join("notes.md")).unwrap();
    fs::write(
        example.sources.join("logs/lamp.py"),
        "def relight(): pass\n",
    )
    .unwrap();
    fs::write(example.sources.join("abc.md"), "# New").unwrap();
    let text =
        kb_json::index_report("a.kb", 1, &index(&example.file, &example.sources), true).finish();
    let changes = r#""added":1,"updated":1,"removed":1,"unchanged":0,"changes":[{"change":"added","path":"abc.md"},{"change":"updated","path":"logs/lamp.py"},{"change":"removed","path":"notes.md"}]"#;
    assert!(text.contains(changes), "{text}");
}

#[test]
fn a_comparison_with_sources_adds_to_what_there_is() {
    let example = Example::new();
    fs::write(example.sources.join("abc.md"), "# New").unwrap();
    let sources = [example.sources.clone()];
    let options = IndexOptions::new();
    let compared = example
        .kb
        .compare_sources(&sources, &options, &mut Progress::ignore)
        .unwrap();
    let object = kb_json::with_changes(Object::new().field("file", "a.kb"), &compared);
    assert_shape(
        &object,
        "{file added updated removed unchanged changes[{change path}]}",
    );
}

#[test]
fn a_sealed_file_and_documents_that_come_and_go_are_told() {
    let example = Example::new();
    let notes = example.kb.document("notes.md").unwrap();
    assert_shape(
        &kb_json::added(&notes, true),
        "{document handle title file_type language class tags replaced}",
    );
    assert_eq!(kb_json::removed("a\"b").finish(), r#"{"removed":"a\"b"}"#);
    let mut writer = KbWriter::open_or_create(&example.file).unwrap();
    let options = SealOptions::new();
    let report = writer.seal(None, &options, &mut Progress::ignore).unwrap();
    assert_shape(
        &kb_json::seal_report(&report),
        "{file documents bytes_before bytes_after content_root missed_recall}",
    );
}

#[test]
fn a_folder_that_is_like_a_root_of_a_sealed_file_is_told() {
    let example = Example::new();
    let mut writer = KbWriter::open_or_create(&example.file).unwrap();
    let options = SealOptions::new();
    writer.seal(None, &options, &mut Progress::ignore).unwrap();
    drop(writer);
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("harbour");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("notes.md"), "# Other").unwrap();
    let report = index(&example.file, &other);
    let object = kb_json::index_report("a.kb", 1, &report, false);
    let shape = crate::shape::shape(&object);
    let fields = "similar_roots[{folder prefix root compared same is_gone}]";
    assert!(shape.contains(fields), "{shape}");
}

#[test]
fn sources_that_changed_are_listed_with_what_happened() {
    let example = Example::new();
    fs::remove_file(example.sources.join("notes.md")).unwrap();
    fs::write(example.sources.join("abc.md"), "# New").unwrap();
    let limit = std::time::Duration::from_secs(60);
    let changed = example.kb.changed_sources(limit).unwrap();
    let text = kb_json::changed_sources("a.kb", &changed).finish();
    assert_eq!(
        text,
        r#"{"out_of_date":"a.kb","changes":[{"document":"abc.md","change":"new"},{"document":"notes.md","change":"deleted"}],"is_complete":true}"#
    );
    let pending = kb_json::symbols_pending("a.kb", 3).finish();
    assert_eq!(pending, r#"{"symbols_pending":"a.kb","documents":3}"#);
}
