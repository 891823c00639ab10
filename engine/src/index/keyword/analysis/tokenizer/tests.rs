use proptest::prelude::*;

use super::*;

fn terms(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    Analyser::new().analyse(text, |term, _| found.push(term.to_owned()));
    found
}

#[test]
fn prose_gives_lower_case_stems_without_stop_words() {
    assert_eq!(
        terms("The Readers are reading; it was NOT a reader's tale."),
        ["reader", "read", "reader", "tale"]
    );
    assert!(terms("to be or not to be, I").is_empty());
    assert!(terms("").is_empty());
}

#[test]
fn identifiers_give_the_whole_word_and_their_parts() {
    assert_eq!(
        terms("parseHTTPRequest"),
        ["parsehttprequest", "pars", "http", "request"]
    );
    assert_eq!(terms("read_lines"), ["read_lin", "read", "line"]);
    assert_eq!(terms("utf8"), ["utf8", "utf"]);
    assert_eq!(terms("__init__"), ["__init__", "init"]);
    assert_eq!(terms("HTTP"), ["http"]);
    assert_eq!(terms("MAX_SIZE2"), ["max_size2", "max", "size"]);
    assert_eq!(terms("_private"), ["_privat", "privat"]);
}

#[test]
fn identifiers_drop_stop_words_and_single_characters() {
    assert_eq!(terms("to_string"), ["to_str", "string"]);
    assert_eq!(terms("fX"), ["fx"]);
    assert_eq!(terms("_ __"), Vec::<String>::new());
}

#[test]
fn digits_and_capital_letters_are_words_and_small_letters_are_not() {
    assert_eq!(terms("x, I eat A lot"), ["eat", "lot"]);
    assert_eq!(terms("vitamin C, step 7"), ["vitamin", "c", "step", "7"]);
}

#[test]
fn the_parts_of_a_hash_are_no_terms() {
    assert_eq!(terms("9fceb02d0ae5"), ["9fceb02d0ae5"]);
    assert_eq!(terms("FACE2face"), ["face2fac", "face", "face"]);
}

#[test]
fn words_with_signs_are_terms_as_a_whole_and_in_parts() {
    for (text, expected) in [
        ("in C++.", &["c++"] as &[&str]),
        ("(g++)", &["g++"]),
        ("lists in C#?", &["list", "c#"]),
        (".NET or .net", &[".net", "net", ".net", "net"]),
        ("VB.NET", &["vb", ".net", "net"]),
        ("version 3.14.1?", &["version", "3.14.1", "14"]),
        ("v3.14.1", &["3.14.1", "v3", "14"]),
        ("tokio-3.14.1", &["tokio", "3.14.1", "14"]),
        (
            "python3.11",
            &["python3.11", "3.11", "python3", "python", "11"],
        ),
        ("172.16.0.9:8080", &["172.16.0.9", "172", "16", "8080"]),
        ("\u{a7} 5, \u{a7}5", &["\u{a7}5", "\u{a7}5"]),
        ("\u{a7}\u{a0}312a.", &["\u{a7}312a", "312a", "312"]),
        ("x86-64", &["x86-64", "x86", "86", "64"]),
        (
            "CVE-2021-44228",
            &["cve-2021-44228", "cve", "2021", "44228"],
        ),
        ("(#4712)", &["#4712", "4712"]),
        ("2023-11-05", &["2023-11-05", "2023", "11", "05"]),
        ("`--dry-run`", &["--dry-run", "dri", "run"]),
        ("\u{201c}--force\u{201d}", &["--force", "forc"]),
        ("@cached", &["@cached", "cach"]),
        ("a->b", &["a->b"]),
        ("k-means", &["k-means", "mean"]),
        ("8-bit", &["8-bit", "bit"]),
        ("I/O", &["i/o"]),
        ("\u{1f680} \u{2705}\u{fe0f}", &["\u{1f680}", "\u{2705}"]),
        ("Donau\u{ad}dampf", &["donaudampf"]),
    ] {
        assert_eq!(terms(text), expected, "{text}");
    }
}

#[test]
fn signs_between_words_make_no_word() {
    for text in [
        "example.net/index",
        "end. Begin",
        "me@host.org",
        "dev->name",
        "a--flag",
        "---rule",
        "count++",
        "i--",
        "vector.2nd",
        "r#type",
        "&#8217;",
        "path/to/x/y/z",
        "3.14159",
        "\u{a7}",
        "left \u{2500} right",
    ] {
        let joined: Vec<String> = terms(text)
            .into_iter()
            .filter(|term| !term.bytes().all(|byte| byte.is_ascii_alphanumeric()))
            .collect();
        assert!(joined.is_empty(), "{text}: {joined:?}");
    }
}

#[test]
fn a_date_is_found_within_a_time_and_a_name() {
    assert_eq!(terms("2023-11-05T10:20")[0], "2023-11-05");
    assert_eq!(terms("log-2023-11-05.gz")[1], "2023-11-05");
}

#[test]
fn other_scripts_keep_their_marks_and_lose_their_case() {
    assert_eq!(
        terms("\u{39c}\u{3ac}\u{3b8}\u{3b7}\u{3bc}\u{3b1}"),
        [
            "\u{3bc}\u{3ac}\u{3b8}\u{3b7}\u{3bc}\u{3b1}",
            "\u{3bc}\u{3b1}\u{3b8}\u{3b7}\u{3bc}\u{3b1}"
        ]
    );
    let hindi = "\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}";
    assert_eq!(terms(hindi), [hindi]);
    assert_eq!(terms("na\u{ef}ve"), ["na\u{ef}v", "naiv"]);
}

#[test]
fn words_with_marks_have_forms_without_them() {
    assert_eq!(terms("Stra\u{df}e"), ["stra\u{df}e", "strass"]);
    assert_eq!(terms("K\u{f6}ln"), ["k\u{f6}ln", "koln", "koeln"]);
    assert_eq!(terms("th\u{e9} Strasse"), ["th\u{e9}", "strass"]);
}

#[test]
fn composed_and_decomposed_letters_give_the_same_term() {
    assert_eq!(terms("caf\u{e9}"), terms("cafe\u{301}"));
}

#[test]
fn scripts_without_spaces_give_bigrams_and_lone_characters() {
    assert_eq!(
        terms("\u{4e2d}\u{6587}\u{5b57}"),
        ["\u{4e2d}\u{6587}", "\u{6587}\u{5b57}"]
    );
    assert_eq!(
        terms("\u{6c34} rust\u{8a9e}"),
        ["\u{6c34}", "rust", "\u{8a9e}"]
    );
    assert_eq!(
        terms("\u{3042}\u{3044}\u{3002}\u{3046}\u{3048}"),
        ["\u{3042}\u{3044}", "\u{3046}\u{3048}"]
    );
    assert_eq!(terms("\u{e01}\u{e48}\u{e02}").len(), 2);
}

#[test]
fn ranges_point_at_the_bytes_a_term_came_from() {
    let text = "\u{e9}t\u{e9} getUserName \u{4e2d}\u{6587}\u{5b57}";
    let mut found = Vec::new();
    Analyser::new().analyse(text, |term, range| {
        found.push((term.to_owned(), text[range].to_owned()));
    });
    let expected = [
        ("\u{e9}t\u{e9}", "\u{e9}t\u{e9}"),
        ("ete", "\u{e9}t\u{e9}"),
        ("getusernam", "getUserName"),
        ("get", "get"),
        ("user", "User"),
        ("name", "Name"),
        ("\u{4e2d}\u{6587}", "\u{4e2d}\u{6587}"),
        ("\u{6587}\u{5b57}", "\u{6587}\u{5b57}"),
    ]
    .map(|(term, bytes)| (term.to_owned(), bytes.to_owned()));
    assert_eq!(found, expected);
}

#[test]
fn words_of_a_language_have_its_stem_too() {
    let text = "Die H\u{e4}user laufen, 2x";
    let stems = |analyser: &mut Analyser| {
        let mut found = Vec::new();
        analyser.analyse(text, |term, _| found.push(term.to_owned()));
        found.retain(|term| term.starts_with('\u{2}'));
        found
    };
    let mut analyser = Analyser::new();
    assert!(stems(&mut analyser).is_empty());
    let german = Language::all().find(|it| Language::of_term("\u{2}de") == Some(*it));
    analyser.set_language(german);
    assert_eq!(
        stems(&mut analyser),
        ["\u{2}dedie", "\u{2}dehaus", "\u{2}delauf"]
    );
    analyser.set_language(None);
    assert!(stems(&mut analyser).is_empty());
}

#[test]
fn junk_without_spaces_gives_no_terms() {
    assert!(terms(&"x".repeat(MAX_WORD_BYTES + 1)).is_empty());
    assert!(terms(&"x".repeat(MAX_TERM_CHARS + 1)).is_empty());
    assert_eq!(terms(&"x".repeat(MAX_TERM_CHARS)).len(), 1);
    let sentence = "word_".repeat(20);
    assert!(terms(&sentence).iter().all(|term| term == "word"));
    assert_eq!(terms(&sentence).len(), 20);
}

#[test]
fn forgetting_words_does_not_change_their_terms() {
    let mut analyser = Analyser::new();
    let mut first = Vec::new();
    analyser.analyse("getUserName", |term, _| first.push(term.to_owned()));
    for i in 0..200_000 {
        analyser.analyse(&format!("word{i:08}"), |_, _| {});
    }
    assert!(analyser.words.interner.memory_bytes() <= MEMORY_LIMIT_BYTES);
    let mut again = Vec::new();
    analyser.analyse("getUserName", |term, _| again.push(term.to_owned()));
    assert_eq!(first, again);
}

#[test]
fn the_id_names_the_unicode_version_of_the_classes() {
    let (major, minor, patch) = unicode_general_category::UNICODE_VERSION;
    assert!(ANALYSER_ID.ends_with(&format!("/unicode-{major}.{minor}.{patch}")));
}

proptest! {
    #[test]
    fn any_text_gives_bounded_terms_on_character_borders(text in "\\PC{0,200}") {
        Analyser::new().analyse(&text, |term, range| {
            assert!(!term.is_empty() && term.len() <= MAX_TERM_BYTES);
            assert!(text.get(range).is_some());
        });
    }
}
