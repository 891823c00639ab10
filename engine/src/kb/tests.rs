//! Both handles: what one writes, the other reads.

use std::ops::ControlFlow;
use std::path::Path;

use kb_types::error::{Error, Result};
use kb_types::{Class, Lines};

use crate::check::VerifyOptions;
use crate::ingest::options::IndexOptions;
use crate::ingest::report::Report;
use crate::kb::*;
use crate::paging::PageOptions;
use crate::progress::{Progress, Stage};
use crate::search::{
    Filters, Mode, QUERY_LIMIT_BYTES, RELEVANT_SCORE, Relevance, Request, shown_score,
};

const FILES: [(&str, &str); 7] = [
    (
        "docs/guide.md",
        "# Guide\n\nThe walrus sleeps.\n\n## Tides\n\nThe moon pulls the sea.\n",
    ),
    ("docs/old/guide.md", "# Old guide\n\nNothing of a walrus.\n"),
    ("notes.txt", "one walrus\r\ntwo\r\nthree"),
    ("same/a.txt", "the same walrus\n"),
    ("same/b.txt", "the same walrus\n"),
    ("src/main.rs", "fn walrus() {}\n"),
    (
        "web/page.html",
        "<h1>Page</h1>\n\n\n<p>A walrus\nswims.</p>\n<table><tr><td>x</td></tr></table>",
    ),
];

/// The files in commits of `each`, so that every commit makes a segment of its own.
fn kb(each: usize, order: impl Fn(&mut Vec<(&str, &str)>)) -> (tempfile::TempDir, Kb) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.kb");
    let mut files = FILES.to_vec();
    order(&mut files);
    for some in files.chunks(each) {
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        for (name, text) in some {
            writer.add_bytes(name, text.as_bytes()).unwrap();
        }
        writer.commit().unwrap();
    }
    let kb = Kb::open(&path).unwrap();
    (folder, kb)
}

fn one_commit() -> (tempfile::TempDir, Kb) {
    kb(FILES.len(), |_| ())
}

fn found(kb: &Kb, request: &Request) -> Vec<String> {
    let hits = kb.search(request).unwrap().hits;
    hits.into_iter().map(|hit| hit.document).collect()
}

fn filtered(kb: &Kb, filters: Filters) -> Vec<String> {
    let mut request = Request::new("walrus");
    (request.mode, request.filters) = (Mode::Keyword, filters);
    let mut found = found(kb, &request);
    found.sort();
    found
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn results_do_not_depend_on_the_segments_of_documents() {
    let (_one, whole) = one_commit();
    let (_many, spread) = kb(1, |files| files.reverse());
    assert_eq!(spread.info().unwrap().segments, FILES.len() as u64);
    for mode in Mode::ALL {
        for k in [1, 2, 3, 100] {
            let mut request = Request::new("same walrus");
            (request.mode, request.k) = (mode, k);
            let answer = |kb: &Kb| -> Vec<_> {
                let hits = kb.search(&request).unwrap().hits;
                hits.into_iter()
                    .map(|hit| (hit.document, hit.span, hit.score.to_bits(), hit.section))
                    .collect()
            };
            assert_eq!(answer(&spread), answer(&whole), "{mode:?} {k}");
        }
    }
}

#[test]
fn scores_fall_with_fused_scores_and_agree_with_the_verdict() {
    let (_folder, kb) = one_commit();
    let questions = [
        "same walrus",
        "walrus",
        "the moon",
        "quantum tax",
        "path:docs",
        "guide",
    ];
    for query in questions {
        for mode in Mode::ALL {
            let mut request = Request::new(query);
            (request.mode, request.k, request.explain) = (mode, 100, true);
            let answer = kb.search(&request).unwrap();
            let hits = &answer.hits;
            for pair in hits.windows(2) {
                assert!(
                    pair[0].fused_score >= pair[1].fused_score,
                    "{query} {mode:?}"
                );
                assert!(pair[0].score >= pair[1].score, "{query} {mode:?}");
            }
            let best = hits.first().map_or(0.0, |hit| hit.score);
            let is_relevant = answer.relevance == Relevance::Relevant;
            assert_eq!(
                is_relevant,
                best >= RELEVANT_SCORE,
                "{query} {mode:?} {best}"
            );
            let calibration = answer.explanation.as_ref().unwrap().calibration;
            for hit in hits.iter() {
                assert_eq!(calibration.score(hit.fused_score), hit.score);
            }
        }
    }
}

#[test]
fn min_score_keeps_a_hit_by_its_score_as_shown() {
    let (_folder, kb) = one_commit();
    let mut cases = 0;
    for mode in Mode::ALL {
        for query in ["same walrus", "the moon pulls", "guide", "path:docs"] {
            let mut request = Request::new(query);
            (request.mode, request.k) = (mode, 100);
            let all = kb.search(&request).unwrap().hits.items;
            for hit in &all {
                for decimals in [1, 2, 4, 6] {
                    request.min_score = shown_score(hit.score, decimals) as f32;
                    let kept = kb.search(&request).unwrap().hits.items;
                    let above = all.iter().take_while(|hit| hit.score >= request.min_score);
                    assert_eq!(kept, all[..above.count()], "{query} {mode:?}");
                    assert!(kept.contains(hit), "{query} {mode:?} {}", hit.score);
                    cases += 1;
                }
            }
        }
    }
    assert!(cases > 50);
}

#[test]
fn a_filter_does_not_change_the_score_of_a_hit() {
    let (_folder, kb) = one_commit();
    let mut request = Request::new("same walrus");
    request.join = false;
    let all = kb.search(&request).unwrap().hits.items;
    let best = &all[0];
    request.filters = Filters::new().paths([best.document.as_str()]);
    let filtered = kb.search(&request).unwrap().hits.items;
    assert_eq!((filtered.len(), filtered[0].score), (1, best.score));
}

#[test]
fn filters_of_several_fields_must_all_match() {
    let (_one, whole) = one_commit();
    let (_many, spread) = kb(2, |files| files.reverse());
    for kb in [&whole, &spread] {
        let paths = |globs: &[&str]| {
            let paths = words(globs);
            filtered(kb, Filters::new().paths(paths))
        };
        assert_eq!(paths(&["docs"]), ["docs/guide.md", "docs/old/guide.md"]);
        assert_eq!(paths(&["docs/*"]), ["docs/guide.md"]);
        assert_eq!(paths(&["*.rs", "notes.txt"]), ["notes.txt", "src/main.rs"]);
        assert!(paths(&["nowhere"]).is_empty());
        let types = Filters::new().types(words(&["md", "html"]));
        let of_types = filtered(kb, types.clone());
        assert_eq!(
            of_types,
            ["docs/guide.md", "docs/old/guide.md", "web/page.html"]
        );
        let both = types.paths(words(&["docs/old"]));
        assert_eq!(filtered(kb, both), ["docs/old/guide.md"]);
        let code = Filters::new()
            .languages(words(&["rs"]))
            .classes([Class::Code, Class::Data]);
        assert_eq!(filtered(kb, code), ["src/main.rs"]);
    }
}

#[test]
fn a_filter_value_without_documents_warns() {
    let (_folder, kb) = one_commit();
    let mut request = Request::new("walrus");
    request.filters.languages = words(&["python"]);
    let response = kb.search(&request).unwrap();
    assert_eq!((response.hits.len(), response.searched_chunks), (0, 0));
    assert!(
        response.warnings[0].contains("\"python\""),
        "{:?}",
        response.warnings
    );
    request.filters.languages = words(&["klingon"]);
    let error = kb.search(&request).unwrap_err();
    assert_eq!(error.code(), "INVALID_ARGUMENT");
    assert!(error.to_string().contains("rust"), "{error}");
}

#[test]
fn a_query_that_is_too_long_is_truncated_with_a_warning() {
    let (_folder, kb) = one_commit();
    let long = format!("walrus{}tides", " \u{e9}".repeat(QUERY_LIMIT_BYTES));
    let response = kb.search(&Request::new(long)).unwrap();
    assert!(!response.hits.is_empty());
    assert!(
        response.warnings[0].contains("8192"),
        "{:?}",
        response.warnings
    );
}

#[test]
fn the_end_of_a_path_names_a_document_if_only_one_has_it() {
    let (_folder, kb) = one_commit();
    for name in ["src/main.rs", "./src/main.rs", "main.rs"] {
        assert_eq!(kb.document(name).unwrap().path, "src/main.rs");
    }
    assert_eq!(
        kb.document("old/guide.md").unwrap().path,
        "docs/old/guide.md"
    );
    let error = kb.document("guide.md").unwrap_err();
    assert_eq!(error.code(), "AMBIGUOUS_DOCUMENT");
    assert!(
        error
            .to_string()
            .contains("docs/guide.md, docs/old/guide.md")
    );
    let error = kb.document("src/mian.rs").unwrap_err();
    let Error::DocumentNotFound { nearest, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!(nearest, ["src/main.rs"]);
}

#[test]
fn asked_lines_are_cut_to_those_there_are() {
    let (_folder, kb) = one_commit();
    let text = |first, last| {
        let text = kb.text("notes.txt", Some(Lines { first, last }))?;
        Ok((text.text, text.lines.first, text.lines.last))
    };
    let given: Result<_> = text(2, 2);
    assert_eq!(given.unwrap(), ("two\r\n".to_owned(), 2, 2));
    assert_eq!(text(3, u32::MAX).unwrap(), ("three".to_owned(), 3, 3));
    for (first, last) in [(0, 1), (3, 2), (4, 4)] {
        assert_eq!(text(first, last).unwrap_err().code(), "INVALID_RANGE");
    }
    let whole = kb.text("notes.txt", None).unwrap();
    assert_eq!(whole.text, "one walrus\r\ntwo\r\nthree");
}

#[test]
fn only_lines_of_the_original_have_numbers() {
    let (_folder, kb) = one_commit();
    let hits = kb.search(&Request::new("walrus")).unwrap().hits;
    let first_line = |path: &str| {
        let hit = hits.iter().find(|hit| hit.document == path).unwrap();
        hit.snippet_first_line
    };
    assert_eq!(first_line("web/page.html"), None);
    assert_eq!(first_line("notes.txt"), Some(1));
    assert!(first_line("docs/guide.md").is_some());
}

#[test]
fn marks_are_the_words_of_the_question_in_every_mode() {
    let (_folder, kb) = one_commit();
    for mode in Mode::RANKED {
        let mut request = Request::new("walrus sleeps");
        request.mode = mode;
        let hits = kb.search(&request).unwrap().hits;
        let hit = hits.iter().find(|hit| hit.document == "docs/guide.md");
        let hit = hit.unwrap();
        let marked: Vec<_> = hit
            .highlights
            .iter()
            .map(|mark| &hit.text[mark.clone()])
            .collect();
        assert_eq!(marked, ["walrus", "sleeps"], "{mode:?}");
        assert!(hit.text[hit.snippet.clone()].contains("walrus sleeps"));
    }
}

#[test]
fn a_hit_carries_what_its_document_says_of_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    let page = b"<html><head><meta name=author content=Ada></head><p>A walrus.</p></html>";
    writer.add_bytes("a.html", page).unwrap();
    writer.commit().unwrap();
    let hits = Kb::open(&path).unwrap().search(&Request::new("walrus"));
    let hits = hits.unwrap().hits;
    assert_eq!(hits[0].metadata, [("author".to_owned(), "Ada".to_owned())]);
    let mut bare = hits[0].clone();
    bare.metadata.clear();
    assert_eq!(hits[0].cost_bytes() - bare.cost_bytes(), 9);
}

#[test]
fn a_text_gets_the_unit_vector_that_a_query_has() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&file).unwrap();
    writer
        .add_bytes("a.txt", b"The moon pulls the sea.")
        .unwrap();
    writer.commit().unwrap();
    let kb = Kb::open(&file).unwrap();
    let info = kb.info().unwrap();
    let (vector, model) = kb.embed("why does the sea rise").unwrap();
    assert_eq!((vector.len(), model), (info.dim as usize, info.model));
    let length: f32 = vector.iter().map(|x| x * x).sum();
    assert!((length - 1.0).abs() < 1e-4, "{length}");
    let mut asked = vec![0.0; vector.len()];
    let model = crate::embed::built_in();
    crate::embed::Embedder::embed_queries(model, &["why does the sea rise"], &mut asked).unwrap();
    assert_eq!(vector, asked);
    assert!(kb.embed("").unwrap().0.iter().all(|x| *x == 0.0));
}

#[test]
fn a_search_ends_when_its_hook_breaks() {
    let (_folder, kb) = one_commit();
    let request = Request::new("walrus");
    let stopped = kb.search_with(&request, &mut |_| ControlFlow::Break(()));
    assert_eq!(stopped.unwrap_err().code(), "CANCELLED");
    let mut calls = 0;
    let finished = kb.search_with(&request, &mut |progress| {
        assert_eq!(progress.stage, Stage::Search);
        calls += 1;
        ControlFlow::Continue(())
    });
    assert_eq!(finished.unwrap(), kb.search(&request).unwrap());
    assert!(calls > 0);
}

/// A folder with files of all kinds that are left out, and where its .kb is.
fn mixed() -> (tempfile::TempDir, std::path::PathBuf, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("src");
    std::fs::create_dir_all(source.join("docs")).unwrap();
    let png = [&b"\x89PNG\r\n\x1a\n"[..], &[0; 64]].concat();
    let pem = "-----BEGIN PRIVATE KEY-----\n".to_owned() + &"Zk4Qw8Rt2Yp6Lm1Xv9Bc".repeat(8);
    for (name, bytes) in [
        ("a.md", b"# A\n\ntext\n".to_vec()),
        ("big.txt", b"words and words\n".repeat(100)),
        ("docs/report.pdf", b"%PDF-1.7\n1 0 obj\n".to_vec()),
        ("docs/zeros", vec![0; 100]),
        ("id_rsa", b"key\n".to_vec()),
        ("image.png", png),
        ("server.pem", pem.into_bytes()),
    ] {
        std::fs::write(source.join(name), bytes).unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("a.md", source.join("link.md")).unwrap();
    let path = folder.path().join("all.kb");
    (folder, source, path)
}

fn index(path: &Path, source: &Path, options: &IndexOptions) -> Report {
    let mut writer = KbWriter::open_or_create(path).unwrap();
    let paths = [source.to_path_buf()];
    let options = options.clone().extraction(crate::Extraction::InProcess);
    writer
        .index(&paths, &options, &mut Progress::ignore)
        .unwrap()
}

fn skipped(kb: &Kb, folder: Option<&str>) -> Vec<(String, String)> {
    let files = kb.skipped(folder, &PageOptions::default()).unwrap();
    let files = files.into_iter();
    files.map(|file| (file.path, file.reason)).collect()
}

/// As pairs, for comparison.
fn pairs(files: &[(String, String)]) -> Vec<(&str, &str)> {
    let files = files.iter();
    files.map(|(path, reason)| (&**path, &**reason)).collect()
}

const LEFT_OUT: &[(&str, &str)] = &[
    ("big.txt", "larger than 1000 bytes"),
    (
        "docs/report.pdf",
        "damaged (PDF): its list of pages cannot be found",
    ),
    ("docs/zeros", "binary file, or text in an unknown encoding"),
    ("id_rsa", "may hold a key or credentials (by its name)"),
    ("image.png", "binary file (PNG image)"),
    #[cfg(unix)]
    ("link.md", "symbolic link"),
    (
        "server.pem",
        "may hold a key or credentials (private key, line 1)",
    ),
];

#[test]
fn every_skipped_file_is_recorded_with_its_reason() {
    let (_folder, source, path) = mixed();
    let options = IndexOptions::new().max_file_bytes(1000);
    for options in [options.clone(), options.clone().rebuild(true)] {
        let report = index(&path, &source, &options);
        let reported = report.skipped.iter();
        let reported: Vec<(&str, &str)> =
            reported.map(|file| (&*file.path, &*file.reason)).collect();
        assert_eq!(reported, LEFT_OUT);
        let kb = Kb::open(&path).unwrap();
        assert_eq!(pairs(&skipped(&kb, None)), LEFT_OUT);
        assert_eq!(pairs(&skipped(&kb, Some("docs"))), LEFT_OUT[1..3]);
        let reasons = kb.skipped_reasons().unwrap();
        assert_eq!(reasons.len(), LEFT_OUT.len());
        let deep = VerifyOptions::new().deep(true);
        let verified = kb.verify(&deep, &mut Progress::ignore).unwrap();
        assert!(verified.problems.is_empty(), "{:?}", verified.problems);
    }
    // A run without changes writes nothing.
    let kb = Kb::open(&path).unwrap();
    let commit = kb.state().unwrap().commit;
    let report = index(&path, &source, &options);
    assert_eq!(
        (report.skipped.len(), report.unchanged),
        (LEFT_OUT.len(), 1)
    );
    assert_eq!(kb.state().unwrap().commit, commit);
}

#[test]
fn records_of_skipped_files_follow_the_folder() {
    let (_folder, source, path) = mixed();
    let options = IndexOptions::new().max_file_bytes(1000);
    index(&path, &source, &options);
    std::fs::remove_file(source.join("image.png")).unwrap();
    std::fs::write(source.join("docs/zeros"), "no zeros\n").unwrap();
    #[cfg(unix)]
    {
        std::fs::remove_file(source.join("link.md")).unwrap();
        std::fs::write(source.join("link.md"), "no link\n").unwrap();
    }
    let kb = Kb::open(&path).unwrap();
    // Another limit.
    index(&path, &source, &IndexOptions::new());
    let left: Vec<String> = skipped(&kb, None)
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    assert_eq!(left, ["docs/report.pdf", "id_rsa", "server.pem"]);
    index(&path, &source, &options);
    assert_eq!(skipped(&kb, None)[0].0, "big.txt");
    assert!(kb.document_at("big.txt").unwrap().is_none());
    // Of a part of the folder, only that part is looked at.
    std::fs::remove_file(source.join("docs/report.pdf")).unwrap();
    std::fs::remove_file(source.join("id_rsa")).unwrap();
    index(&path, &source.join("docs"), &options);
    let left: Vec<String> = skipped(&kb, None)
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    assert_eq!(left, ["big.txt", "id_rsa", "server.pem"]);
}

#[test]
fn a_file_remembers_whether_it_has_secrets() {
    let (_folder, source, path) = mixed();
    let options = IndexOptions::new();
    index(&path, &source, &options);
    let report = index(&path, &source, &options.clone().include_secrets(true));
    assert_eq!(report.added, ["id_rsa", "server.pem"]);
    let kb = Kb::open(&path).unwrap();
    let is_there = |name: &str| kb.document_at(name).unwrap().is_some();
    std::fs::write(source.join("id_rsa"), "another key\n").unwrap();
    let report = index(&path, &source, &options);
    assert_eq!(report.updated, ["id_rsa"]);
    index(&path, &source, &options.clone().rebuild(true));
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    let seal = crate::SealOptions::default();
    writer.seal(None, &seal, &mut Progress::ignore).unwrap();
    std::fs::write(source.join("server.p12"), "one more\n").unwrap();
    let report = index(&path, &source, &options);
    assert_eq!(report.added, ["server.p12"]);
    assert!(is_there("id_rsa") && is_there("server.pem"));

    let report = index(&path, &source, &options.clone().include_secrets(false));
    assert_eq!(report.removed, ["id_rsa", "server.p12", "server.pem"]);
    assert!(!is_there("id_rsa") && !is_there("server.pem"));
    let listed = skipped(&kb, None);
    for name in ["id_rsa", "server.p12", "server.pem"] {
        let reason = listed.iter().find(|(path, _)| path == name);
        assert!(reason.unwrap().1.starts_with("may hold a key"), "{name}");
    }
    let commit = kb.state().unwrap().commit;
    let report = index(&path, &source, &options);
    assert!(!report.has_changes());
    assert_eq!(kb.state().unwrap().commit, commit);
}

/// As one that an older version made, which indexed what is a secret now.
#[test]
fn secrets_of_older_files_are_removed_by_the_next_run() {
    let (_folder, source, path) = mixed();
    let options = IndexOptions::new();
    index(&path, &source, &options.clone().include_secrets(true));
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    writer
        .add_bytes("added/id_rsa", b"as it was asked")
        .unwrap();
    writer.commit().unwrap();
    drop(writer);
    let identity = crate::container::WriterIdentity {
        program: "kb".to_owned(),
        unix_ms: 0,
        lock_timeout: std::time::Duration::ZERO,
    };
    let mut container = crate::container::ContainerWriter::open(&path, &identity).unwrap();
    let mut transaction = container.begin().unwrap();
    crate::store::meta::Settings::default()
        .write(&mut transaction)
        .unwrap();
    transaction.commit().unwrap();
    drop(container);

    let kb = Kb::open(&path).unwrap();
    let (paths, mut hook) = ([source.clone()], Progress::ignore);
    let told = kb.check_sources(&paths, &options, &mut hook).unwrap();
    assert_eq!(told.removed, ["id_rsa", "server.pem"]);
    let report = index(&path, &source, &options);
    assert_eq!(report.removed, ["id_rsa", "server.pem"]);
    assert!(report.added.is_empty());
    assert!(report.updated.iter().all(|path| path.ends_with(".md")));
    // What was added by name stays.
    assert!(kb.document_at("added/id_rsa").unwrap().is_some());
    let commit = kb.state().unwrap().commit;
    index(&path, &source, &options);
    assert_eq!(kb.state().unwrap().commit, commit, "searched once");
    let deep = VerifyOptions::new().deep(true);
    let verified = kb.verify(&deep, &mut Progress::ignore).unwrap();
    assert!(verified.problems.is_empty(), "{:?}", verified.problems);
}

#[test]
fn hidden_secrets_are_listed_and_other_hidden_files_not() {
    let (_folder, source, path) = mixed();
    for name in [".env", "docs/.env.local", ".env.example", ".hidden.md"] {
        std::fs::write(source.join(name), "NAME=value\n").unwrap();
    }
    std::fs::create_dir(source.join(".netrc")).unwrap();
    std::fs::write(source.join(".netrc/a.md"), "hidden\n").unwrap();
    let options = IndexOptions::new();
    index(&path, &source, &options);
    let kb = Kb::open(&path).unwrap();
    let listed = skipped(&kb, None);
    let hidden: Vec<&str> = pairs(&listed)
        .into_iter()
        .filter(|(_, reason)| reason.ends_with("(by its name)"))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(hidden, [".env", "docs/.env.local", "id_rsa"]);
    let report = index(&path, &source, &options.include_secrets(true));
    assert_eq!(
        report.added,
        [".env", "docs/.env.local", "id_rsa", "server.pem"]
    );
}

#[test]
fn a_skipped_file_is_no_unknown_document() {
    let (_folder, source, path) = mixed();
    index(&path, &source, &IndexOptions::new());
    let kb = Kb::open(&path).unwrap();
    for name in [
        "docs/report.pdf",
        "report.pdf",
        "kb://all/doc/docs/report.pdf",
    ] {
        let error = kb.document(name).unwrap_err().to_string();
        let expected = "; docs/report.pdf is in the indexed folder but was not read: \
             damaged (PDF): its list of pages cannot be found";
        assert!(error.ends_with(expected), "{error}");
    }
    let error = kb.document("none.pdf").unwrap_err().to_string();
    assert_eq!(error, "no document \"none.pdf\"");
}
