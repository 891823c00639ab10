//! Words that are written with signs, or with one character, find what they name.

use kb_engine::{Kb, Mode, Request};
use tempfile::TempDir;

use super::{ask, file};

/// What the first hit of a query is, in keyword and in hybrid mode.
fn first_is(kb: &Kb, query: &str, document: &str) {
    for mode in [Mode::Keyword, Mode::Hybrid] {
        let told = ask(kb, &Request::new(query).mode(mode));
        let found: Vec<&str> = told.hits.iter().map(|hit| hit.document.as_str()).collect();
        assert_eq!(
            found.first(),
            Some(&document),
            "{query} {mode:?}: {found:?}"
        );
    }
}

fn kb_of(documents: impl IntoIterator<Item = (String, String)>) -> (TempDir, Kb) {
    let folder = tempfile::tempdir().expect("folder");
    let documents: Vec<(String, String)> = documents.into_iter().collect();
    let kb = file(&folder, "signs.kb", &documents, 1);
    (folder, kb)
}

#[test]
fn a_version_finds_its_section_among_its_neighbours() {
    let versions = (0..4).flat_map(|major| {
        (0..8).flat_map(move |minor| (0..4).map(move |patch| format!("{major}.{minor}.{patch}")))
    });
    let (_folder, kb) = kb_of(versions.map(|version| {
        let text =
            format!("# {version}\n\n- The scheduler is faster.\n- Fixed a bug in exports.\n");
        (format!("changes/{}.md", version.replace('.', "-")), text)
    }));
    for query in [
        "3.7.1",
        "v3.7.1",
        "what changed in 3.7.1?",
        "exports in version 3.7.1.",
    ] {
        first_is(&kb, query, "changes/3-7-1.md");
    }
    first_is(&kb, "1.1.1", "changes/1-1-1.md");
}

#[test]
fn a_language_finds_its_page_among_the_others() {
    let languages = [
        ("c", "C"),
        ("cpp", "C++"),
        ("csharp", "C#"),
        ("fsharp", "F#"),
        ("r", "R"),
        ("d", "D"),
        ("net", ".NET"),
        ("vb", "VB"),
        ("go", "Go"),
        ("lua", "Lua"),
    ];
    let (_folder, kb) = kb_of(languages.iter().map(|(name, language)| {
        let text = format!(
            "# Queues in {language}\n\nHow queues work in {language}. The {language} library has one.\n"
        );
        (format!("{name}.md"), text)
    }));
    for (name, language) in languages {
        first_is(&kb, &format!("queues in {language}"), &format!("{name}.md"));
        first_is(
            &kb,
            &format!("how do queues work in {language}?"),
            &format!("{name}.md"),
        );
    }
    let told = ask(&kb, &Request::new("\"C# library\""));
    assert_eq!(told.hits.len(), 1);
}

#[test]
fn addresses_options_dates_and_tickets_find_their_line() {
    let wanted = [
        (
            "10.0.0.7",
            "The printer has the address 10.0.0.7 in this house.",
        ),
        ("\u{a7} 8", "Who is late pays a fine (\u{a7} 8)."),
        ("x86-64", "Build the package for x86-64 first."),
        ("--keep-all", "Pass --keep-all to save each copy."),
        ("@retry", "A function with @retry is called again."),
        ("a->b", "The edge a->b is drawn in red."),
        ("2024-03-09", "The meeting of 2024-03-09 was moved."),
        ("7be21f90c4", "The build broke with 7be21f90c4."),
        ("OPS-17", "See OPS-17 for the outage."),
        ("#5120", "Fixed in #5120 by a new lock."),
        ("v8", "The page is about v8 of the tool."),
        ("\u{1f680}", "Release day \u{1f680} for all."),
        ("Anlage G", "Die Anlage G geh\u{f6}rt zum Vertrag."),
    ];
    let neighbours = [
        "The printer has the address 10.0.0.17 in this house; 10 0 7.",
        "Who is late pays a fine (\u{a7} 18). There are 8 of them.",
        "Build the package for x86 first; 64 files.",
        "Pass --keep or --all to save each copy, and keep all.",
        "A function with retry is called again; retry it.",
        "The edge b->a is drawn in red; a, b.",
        "The meeting of 2024-09-03 was moved; 2024, 03, 09.",
        "The build broke with 7be21f91c4.",
        "See OPS-71 for the outage; ops 17.",
        "Fixed in #5021 by a new lock; 5120 of them.",
        "The page is about v9 of the tool; 8.",
        "Release day \u{1f384} for all.",
        "Die Anlage H geh\u{f6}rt zum Vertrag.",
    ];
    let of =
        |name: &str, number: usize, text: &str| (format!("{name}{number}.md"), format!("{text}\n"));
    let neighbours = neighbours
        .iter()
        .enumerate()
        .map(|(n, text)| of("other", n, text));
    let texts = wanted
        .iter()
        .enumerate()
        .map(|(n, (_, text))| of("wanted", n, text));
    let (_folder, kb) = kb_of(neighbours.chain(texts));
    for (number, (query, _)) in wanted.iter().enumerate() {
        first_is(&kb, query, &format!("wanted{number}.md"));
        first_is(
            &kb,
            &format!("what is said about {query}?"),
            &format!("wanted{number}.md"),
        );
    }
}

#[test]
fn a_soft_hyphen_does_not_end_a_word() {
    let (_folder, kb) = kb_of([
        (
            "a.md".to_owned(),
            "Der Donau\u{ad}dampfer legt an.\n".to_owned(),
        ),
        ("b.md".to_owned(), "Die Donau und ein Dampfer.\n".to_owned()),
    ]);
    first_is(&kb, "Donaudampfer", "a.md");
}
