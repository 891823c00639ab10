//! Unusual queries: each gets the right result or its own clear error.

use kb_engine::{Filters, Kb, KbWriter, Mode, Request, Scope};

use super::{ask, one_file};

fn filtered(filters: Filters) -> Request {
    Request::new("storm lamp").filters(filters)
}

/// Globs that made the matcher panic or overflowed its stack.
fn hostile_globs() -> Vec<String> {
    vec![
        format!("{}a{}", "{x".repeat(300), "}".repeat(300)),
        "{".repeat(60_000) + &"}".repeat(60_000),
        format!("{}a{}", "{,".repeat(400), "}".repeat(400)),
        format!("{{{}}}", "a,".repeat(100_000)),
        "*".repeat(100_000),
        "[a-z]".repeat(50_000),
        "**/".repeat(50_000),
    ]
}

#[test]
fn a_hostile_glob_is_refused_as_a_filter() {
    let (_folder, kb) = one_file();
    for glob in hostile_globs() {
        let request = filtered(Filters::new().paths([glob.clone()]));
        let error = kb.search(&request).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT", "{glob:.20}");
        assert!(error.to_string().contains("at most"), "{error}");
        assert!(error.to_string().len() < 300, "{error}");
    }
    let request = filtered(Filters::new().paths(strings(100_000, |n| format!("{n}*"))));
    let error = kb.search(&request).unwrap_err().to_string();
    assert!(
        error.contains("100000 globs") && error.contains("at most"),
        "{error}"
    );
}

#[test]
fn a_hostile_glob_in_a_query_is_plain_text_with_a_warning() {
    let (_folder, kb) = one_file();
    for glob in hostile_globs() {
        // A field needs a letter.
        let glob: String = "a".chars().chain(glob.chars()).take(8000).collect();
        for query in [format!("path:{glob}"), format!("lamp -path:{glob}")] {
            let told = ask(&kb, &Request::new(&query));
            let warned = told.warnings.iter().any(|text| text.contains("at most"));
            assert!(warned, "{query:.30} {:?}", told.warnings);
            // No path has such a part, so all are left of the second, and the first is text.
            assert!(
                !told.hits.is_empty() || query.starts_with("path:"),
                "{query:.30}"
            );
        }
    }
}

fn strings(count: usize, make: impl Fn(usize) -> String) -> Vec<String> {
    (0..count).map(make).collect()
}

#[test]
fn empty_results_and_ten_thousand_filter_values_are_answered() {
    let (_folder, kb) = one_file();
    for mode in Mode::ALL {
        let nothing = filtered(Filters::new().paths(["no/such/**"])).mode(mode);
        let told = ask(&kb, &nothing);
        assert!(
            told.hits.is_empty() && told.searched_chunks == 0,
            "{mode:?}"
        );
        let many = filtered(
            Filters::new().paths(
                strings(10_000, |n| format!("{n:05}*.md"))
                    .into_iter()
                    .chain(["guide/**".to_owned()]),
            ),
        )
        .mode(mode);
        let told = ask(&kb, &many);
        let inside = |hit: &kb_engine::Hit| hit.document.starts_with("guide/");
        assert!(told.hits.iter().all(inside), "{mode:?}");
        assert!(mode == Mode::Title || !told.hits.is_empty(), "{mode:?}");
    }
    let unknown = filtered(Filters::new().types(strings(10_000, |n| format!("kind{n}"))));
    assert_eq!(kb.search(&unknown).unwrap_err().code(), "INVALID_ARGUMENT");
}

#[test]
fn long_queries_and_queries_of_nothing_are_answered() {
    let (_folder, kb) = one_file();
    let megabyte = "storm lamp \"fog horn\" -x +y title:z ".repeat(30_000);
    let quotes = "\"".repeat(100_000);
    let dashes = "- ".repeat(100_000);
    let controls: String = (0..32)
        .map(char::from)
        .chain(['\u{7f}', '\u{feff}', 'x'])
        .collect();
    for query in [
        &megabyte,
        &quotes,
        &dashes,
        &controls,
        "the of and",
        "zzzz qqqq",
        "\u{0}a",
    ] {
        for mode in Mode::ALL {
            for scope in Scope::ALL {
                let request = Request::new(query).mode(mode).scope(scope).k(10_000);
                let told = ask(&kb, &request);
                if query.len() > 8192 {
                    assert!(
                        told.warnings.iter().any(|text| text.contains("8192")),
                        "{mode:?}"
                    );
                }
                if query == "zzzz qqqq" && mode != Mode::Semantic && mode != Mode::Hybrid {
                    assert!(told.hits.is_empty(), "{mode:?}");
                }
            }
        }
    }
}

#[test]
fn deleted_and_empty_files_answer_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&path)
        .expect("writer")
        .without_merges();
    writer.commit().expect("committed");
    let check = || {
        let kb = Kb::open(&path).expect("it opens");
        for mode in Mode::ALL {
            let request = Request::new("storm lamp \"storm lamp\" path:a")
                .mode(mode)
                .k(500);
            assert!(ask(&kb, &request).hits.is_empty(), "{mode:?}");
            let plain = Request::new("storm lamp").mode(mode);
            assert!(ask(&kb, &plain).hits.is_empty(), "{mode:?}");
        }
    };
    check();
    let names: Vec<String> = (0..40).map(|number| format!("{number}.txt")).collect();
    for name in &names {
        writer
            .add_bytes(name, b"a storm lamp on the shore")
            .expect("added");
    }
    writer.commit().expect("committed");
    for name in &names {
        writer.remove(name).expect("removed");
    }
    writer.commit().expect("committed");
    check();
}

#[test]
fn unknown_words_find_nothing_with_any_exclusion() {
    let (_folder, kb) = one_file();
    for query in [
        "\u{706f}\u{53f0} -\"storm lamp\"",
        "\u{706f}\u{53f0} -storm",
        "qqqzx path:guide",
    ] {
        let request = Request::new(query).mode(Mode::Semantic);
        let told = ask(&kb, &request);
        assert!(told.hits.is_empty(), "{query}: {:?}", told.hits);
    }
}
