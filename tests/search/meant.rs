//! Unintended operators are plain text, and no operator silently empties a result.

use kb_engine::{Filters, Kb, Mode, Relevance, Request, Scope};
use tempfile::TempDir;

use super::{ask, kb_of};

fn names(kb: &Kb, query: &str) -> Vec<String> {
    let told = ask(kb, &Request::new(query).mode(Mode::Keyword));
    let mut names: Vec<String> = told.hits.iter().map(|hit| hit.document.clone()).collect();
    names.dedup();
    names
}

fn harbour() -> (TempDir, Kb) {
    kb_of(&[
        (
            "offsite.md",
            "# Offsite\n\nlog.debug(\"Filtered offsite request to %(domain)r: %(request)s\")",
        ),
        (
            "flags.md",
            "# Options\n\nRun `java -version` to see which version it is.",
        ),
        (
            "logs.md",
            "# History\n\n`git log -p` shows the patch of each commit in the log.",
        ),
        ("async.md", "# Async\n\nrust runs async tasks on a runtime"),
        ("sync.md", "# Sync\n\nrust runs threads of the system"),
        ("tides.md", "# Tides\n\nthe tide follows the moon"),
        ("tables.md", "# Tables\n\na tide table lists hours"),
    ])
}

#[test]
fn quotes_in_a_question_do_not_empty_its_answer() {
    let (_folder, kb) = harbour();
    let query = "how to fix error \"Filtered offsite request to example.org\"";
    for mode in Mode::RANKED {
        for scope in Scope::ALL {
            let told = ask(&kb, &Request::new(query).mode(mode).scope(scope));
            assert_eq!(told.hits[0].document, "offsite.md", "{mode:?}");
            assert_eq!(told.warnings, Vec::<String>::new());
        }
    }
    let words = names(&kb, "\"Filtered offsite request to example.org\"");
    assert_eq!(words[0], "offsite.md");
}

#[test]
fn text_with_operators_nobody_meant_is_answered_like_plain_text() {
    let (_folder, kb) = harbour();
    for query in [
        "git log -p",
        "java -version",
        "-version",
        "the -version flag of java",
        "error -5 tide",
        "rust - async",
        "rust --async",
        "tide path:C:\\Users\\x",
        "tide path:https://example.org/x",
        "why does the \"tide table\" follow -moon",
    ] {
        for mode in Mode::RANKED {
            let request = Request::new(query).mode(mode);
            let (told, plain) = (ask(&kb, &request), ask(&kb, &request.clone().plain(true)));
            assert_eq!(told.hits, plain.hits, "{query} {mode:?}");
        }
    }
}

#[test]
fn operators_that_are_meant_hold() {
    let (_folder, kb) = harbour();
    assert_eq!(names(&kb, "rust -async"), ["sync.md"]);
    assert_eq!(names(&kb, "-async rust"), ["sync.md"]);
    assert_eq!(names(&kb, "tide -moon"), ["tables.md"]);
    assert_eq!(names(&kb, "tide +moon"), ["tides.md"]);
    assert_eq!(names(&kb, "tide \"follows the moon\""), ["tides.md"]);
    assert_eq!(names(&kb, "java -\"version\""), Vec::<String>::new());
    assert_eq!(
        names(&kb, "where does the tide follow -\"the moon\""),
        ["tables.md"]
    );
    assert_eq!(
        names(&kb, "what does the tide do +\"lists hours\""),
        ["tables.md"]
    );
    assert_eq!(
        names(&kb, "what does the tide do path:tables"),
        ["tables.md"]
    );
}

#[test]
fn an_operator_that_leaves_nothing_is_text_and_named() {
    let (_folder, kb) = harbour();
    for (query, named) in [
        ("tide \"walrus in the fog\"", "\"walrus in the fog\""),
        ("tide +walrus", "+walrus"),
        ("tide tag:walrus", "tag:walrus"),
        ("tide path:walrus", "path:walrus"),
        ("tide title:walrus", "title:walrus"),
        ("tide -path:.md", "-path:.md"),
        (
            "\"follows the moon\" \"lists hours\"",
            "\"follows the moon\" \"lists hours\"",
        ),
        ("tide path:tides +moon +hours", "+hours"),
        (
            "tide +walrus tag:walrus -path:.md \"walrus in the fog\"",
            "tag:walrus -path:.md +walrus \"walrus in the fog\"",
        ),
    ] {
        for mode in [Mode::Hybrid, Mode::Keyword] {
            let told = ask(&kb, &Request::new(query).mode(mode));
            assert!(!told.hits.is_empty(), "{query} {mode:?}");
            let [warning] = told.warnings.as_slice() else {
                panic!("{query}: {:?}", told.warnings);
            };
            let expected = format!("nothing that is searched passes {named}, so ");
            assert!(warning.starts_with(&expected), "{query}: {warning}");
            assert!(warning.ends_with("it was not applied"), "{warning}");
        }
    }
    // The operators that leave something hold.
    assert_eq!(names(&kb, "tide path:tides +walrus"), ["tides.md"]);
}

#[test]
fn an_answer_without_operators_has_pages() {
    let (_folder, kb) = harbour();
    let mut request = Request::new("\"follows the moon\" \"lists hours\"").k(1);
    request.mode = Mode::Keyword;
    let mut found = Vec::new();
    loop {
        let told = ask(&kb, &request);
        assert_eq!(told.warnings.len(), 1);
        found.extend(told.hits.iter().map(|hit| hit.document.clone()));
        request.page.cursor = told.hits.next;
        if request.page.cursor.is_none() {
            break;
        }
    }
    found.sort();
    assert_eq!(found, ["tables.md", "tides.md"]);
}

#[test]
fn a_strict_phrase_without_match_is_empty_with_a_warning() {
    let (_folder, kb) = harbour();
    let told = ask(&kb, &Request::new("tide +\"walrus in the fog\""));
    assert!(told.hits.is_empty());
    let expected = "nothing that is searched has +\"walrus in the fog\"";
    assert_eq!(told.warnings, [expected]);
    assert_eq!(told.searched_chunks, 0);
}

#[test]
fn a_query_that_only_excludes_finds_nothing_and_says_why() {
    let (_folder, kb) = harbour();
    for query in ["-moon", "-\"the moon\" -rust", "-tag:x", "-path:tides !"] {
        for mode in Mode::ALL {
            let told = ask(&kb, &Request::new(query).mode(mode));
            assert!(told.hits.is_empty() && told.hits.next.is_none(), "{query}");
            assert_eq!(told.searched_chunks, 0, "{query}");
            let [warning] = told.warnings.as_slice() else {
                panic!("{query}: {:?}", told.warnings);
            };
            assert!(warning.contains("only says what to leave out"), "{warning}");
        }
    }
    assert_eq!(
        names(&kb, "path:.md -tide -rust -git -java -log"),
        ["offsite.md"]
    );
}

#[test]
fn a_sign_that_a_sentence_makes_text_is_told_once() {
    let (_folder, kb) = harbour();
    let warnings = |query: &str| ask(&kb, &Request::new(query).mode(Mode::Keyword)).warnings;
    for (query, expected) in [
        (
            "is \"the tide\" -moon",
            "\"-moon\" was searched as text, because the query is a sentence; -\"moon\" excludes it",
        ),
        (
            "-moon -sun when is the tide +hours",
            "\"-moon -sun +hours\" was searched as text, because the query is a sentence; -\"moon\" excludes it",
        ),
        (
            "what is +tide",
            "\"+tide\" was searched as text, because the query is a sentence; +\"tide\" requires it",
        ),
    ] {
        assert_eq!(warnings(query), [expected], "{query}");
    }
    for query in [
        "the -version flag of java",
        "how is \"the tide\" made",
        "how does the -c -Wall",
        "what is in the tide -\"the moon\"",
    ] {
        assert_eq!(warnings(query), Vec::<String>::new(), "{query}");
    }
}

#[test]
fn an_option_that_is_searched_as_text_is_told() {
    let (_folder, kb) = harbour();
    let told = ask(&kb, &Request::new("java -version").mode(Mode::Keyword));
    assert_eq!(told.hits[0].document, "flags.md");
    assert!(
        told.warnings[0].starts_with("\"-version\" was searched as text"),
        "{:?}",
        told.warnings
    );
}

#[test]
fn operators_of_title_mode_never_leave_it_silently_empty() {
    let (_folder, kb) = harbour();
    let title = |query: &str| ask(&kb, &Request::new(query).mode(Mode::Title));
    let told = title("\"tables\"");
    assert_eq!(told.hits[0].document, "tables.md");
    // The phrase is in a text, but of no document with this title.
    let told = title("tables \"follows the moon\"");
    assert_eq!(
        told.warnings.len(),
        usize::from(!told.hits.is_empty()),
        "{told:?}"
    );
}

#[test]
fn a_filter_that_nothing_passes_is_named_with_what_there_is() {
    let (_folder, kb) = kb_of(&[
        ("docs/a.md", "# A\n\ntide"),
        ("src/b.rs", "fn tide() {}"),
        ("src/c.toml", "tide = 1"),
    ]);
    let told = |filters: Filters| {
        let told = ask(&kb, &Request::new("tide").filters(filters));
        assert!(told.hits.is_empty());
        assert_eq!(told.searched_chunks, 0);
        assert_eq!(told.relevance, Relevance::NothingRelevant);
        let [warning] = told.warnings.as_slice() else {
            panic!("{:?}", told.warnings);
        };
        warning.clone()
    };
    let none = told(Filters::new().languages(["python"]));
    assert!(
        none.starts_with("no document has language \"python\"; there are: "),
        "{none}"
    );
    assert!(none.contains("rust"), "{none}");
    let none = told(Filters::new().languages(["rust"]).folders(["docs"]));
    assert_eq!(
        none,
        "no document of those with folder \"docs\" has language \"rust\"; there are: markdown"
    );
    let none = told(Filters::new().types(["go"]).paths(["src/**"]));
    assert!(
        none.starts_with("no document of those with path \"src/**\" has type \"go\""),
        "{none}"
    );
    let none = told(Filters::new().paths(["*.walrus"]));
    assert_eq!(none, "no document passes the filters: path \"*.walrus\"");
    let none = told(Filters::new().modified_since_ms(i64::MAX));
    assert!(none.contains("modification time"), "{none}");
    // A value beside one that documents have is told, too.
    let filters = Filters::new().languages(["rust", "python"]);
    let told = ask(&kb, &Request::new("tide").filters(filters));
    assert_eq!(told.hits.len(), 1);
    assert!(told.warnings[0].starts_with("no document has language \"python\""));
}
