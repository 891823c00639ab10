//! Our reading of ignore files against that of the crate `ignore`, which ripgrep has.

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use proptest::prelude::*;

use super::*;

fn files(kb: Option<&str>, git: Option<&str>) -> IgnoreFiles {
    let bytes = |text: Option<&str>| text.map(|text| text.as_bytes().to_vec());
    IgnoreFiles {
        bytes: [bytes(kb), bytes(git), None],
        is_top: false,
    }
}

fn one(text: &str) -> Rules {
    Rules::default().with(b"", &files(None, Some(text))).0
}

fn verdict(rules: &Rules, path: &str, is_folder: bool) -> Option<Verdict> {
    rules.verdict(path.as_bytes(), is_folder, &mut Vec::new())
}

fn theirs(lines: &[String]) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new("");
    for line in lines {
        builder.add_line(None, line).ok()?;
    }
    builder.build().ok()
}

fn their_verdict(rules: &Gitignore, path: &str, is_folder: bool) -> Option<Verdict> {
    match rules.matched(path, is_folder) {
        Match::None => None,
        Match::Ignore(_) => Some(Verdict::Ignored),
        Match::Whitelist(_) => Some(Verdict::Included),
    }
}

/// Parts of lines. A negated class of theirs matches a separator, which is not what git does, so it
/// has one in it here.
fn line() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => "[abc.]".prop_map(String::from),
        4 => prop::sample::select(vec!["*", "**", "?", "/", "/", "**/", "/**", "*.b", "a/b"])
            .prop_map(String::from),
        2 => prop::sample::select(vec![
            "[ab]", "[!b/]", "[^a/]", "[a-c]", "[]a]", "[a-]", "[\u{e9}]", "[", "\\*", "\\a", "\\\\", "\u{e9}",
            " ", "-", "\\ ", "#", "!", ",",
        ])
        .prop_map(String::from),
        2 => prop::sample::select(vec![
            "{a,b}", "{a*,b/c}", "{a,{b,c}d}", "{,a}", "{}", "{**/a,b}", "{a/**,b}", "{a", "}",
        ])
        .prop_map(String::from),
    ];
    let pieces = prop::collection::vec(piece, 0..7).prop_map(|pieces| pieces.concat());
    let start = prop::sample::select(vec!["", "", "", "/", "!", "!/", "\\!", "#"]);
    let end = prop::sample::select(vec!["", "", "", "/", " ", "\\ ", "/ "]);
    let line = (start, pieces, end);
    let line = line.prop_map(|(start, pieces, end)| [start, &pieces, end].concat());
    // To them everything matches some patterns of empty names; to git nothing does, as here.
    let line = line.prop_filter("a name", |line| {
        line.trim_end() != "!" && !line.contains("//")
    });
    // To them a class may match a slash, to git none does, as here.
    line.prop_filter("no slash in a class", |line| {
        let classes = line.split('[').skip(1);
        !classes.into_iter().any(|rest| {
            let end = rest.rfind(']').unwrap_or(0);
            rest[..end].contains('/')
        })
    })
}

fn path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "a", "b", "c", "ab", "abc", "a.b", ".b", "a.b.b", "\u{e9}", "a b", "*", "aa", "!a", "#",
    ]);
    prop::collection::vec(name, 1..5).prop_map(|names| names.join("/"))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn lines_mean_what_they_mean_to_ripgrep(
        lines in prop::collection::vec(line(), 1..4),
        paths in prop::collection::vec((path(), any::<bool>()), 8),
    ) {
        let (rules, problems) = Rules::default().with(b"", &files(None, Some(&lines.join("\n"))));
        // They refuse a range that goes down also in what is no class, for want of a bracket.
        let Some(theirs) = theirs(&lines) else {
            return Ok(());
        };
        prop_assert!(problems.is_empty(), "{:?}: {:?}", lines, problems);
        for (path, is_folder) in paths {
            prop_assert_eq!(
                verdict(&rules, &path, is_folder),
                their_verdict(&theirs, &path, is_folder),
                "{:?} {:?} {}", lines, path, is_folder
            );
        }
    }

    #[test]
    fn negated_classes_of_names_mean_what_they_mean_to_ripgrep(
        line in "[ab*?]{0,3}\\[[!^]?[]abc-]{1,3}\\]?[ab*]{0,3}",
        names in prop::collection::vec("[abc\\]-]{1,4}", 8),
    ) {
        let rules = one(&line);
        if let Some(theirs) = theirs(std::slice::from_ref(&line)) {
            for name in names {
                prop_assert_eq!(
                    verdict(&rules, &name, false),
                    their_verdict(&theirs, &name, false),
                    "{:?} {:?}", line, name
                );
            }
        }
    }
}

#[test]
fn a_class_matches_no_separator() {
    // In git's words: with FNM_PATHNAME, wildcards do not match a slash.
    for line in ["a[!b]c", "a[^b]c", "a[+-9]c", "/a[/]c"] {
        assert_eq!(verdict(&one(line), "a/c", false), None, "{line}");
    }
    let ignored = Some(Verdict::Ignored);
    assert_eq!(verdict(&one("a[!b]c"), "x/axc", false), ignored);
    assert_eq!(verdict(&one("a[+-9]c"), "a0c", false), ignored);
}

#[test]
fn a_line_of_nothing_matches_nothing() {
    for line in ["!", "/", "//", "! ", "\\"] {
        assert_eq!(verdict(&one(line), "a", true), None, "{line}");
    }
}

#[test]
fn the_nearest_file_decides_and_kbignore_outweighs_gitignore() {
    let (top, _) = Rules::default().with(b"", &files(Some("*.log\n"), Some("*.txt\n!keep.log\n")));
    let (sub, _) = top.with(b"sub/", &files(Some("!b.log\n"), Some("!c.txt\n*.md\n")));
    let (included, ignored) = (Some(Verdict::Included), Some(Verdict::Ignored));
    for (path, expected) in [
        ("a.log", ignored),
        ("keep.log", ignored),
        ("a.txt", ignored),
        ("sub/a.log", ignored),
        ("sub/b.log", included),
        ("sub/c.txt", included),
        ("sub/d.txt", ignored),
        ("sub/x.md", ignored),
        ("x.md", None),
    ] {
        let rules = if path.starts_with("sub/") { &sub } else { &top };
        assert_eq!(verdict(rules, path, false), expected, "{path}");
    }
}

#[test]
fn rules_of_git_end_at_the_top_of_a_work_tree_and_ours_do_not() {
    let (outer, _) = Rules::default().with(b"", &files(Some("a\n"), Some("b\n")));
    let top = IgnoreFiles {
        is_top: true,
        ..files(None, Some("c\n"))
    };
    let (inner, _) = outer.with(b"inner/", &top);
    assert_eq!(verdict(&inner, "inner/a", false), Some(Verdict::Ignored));
    assert_eq!(verdict(&inner, "inner/b", false), None);
    assert_eq!(verdict(&inner, "inner/c", false), Some(Verdict::Ignored));
    // Also where the inner work tree has no rules of its own.
    let top = IgnoreFiles {
        is_top: true,
        ..IgnoreFiles::default()
    };
    let (inner, _) = outer.with(b"inner/", &top);
    assert_eq!(verdict(&inner, "inner/b", false), None);
}

#[test]
fn files_and_wildcards_above_each_other_are_bounded() {
    let mut rules = Rules::default();
    let mut path = Vec::new();
    for depth in 0..100 {
        let (next, problems) = rules.with(&path, &files(None, Some("name\n")));
        let expected = match depth {
            0..MAX_FILES_ON_THE_WAY => None,
            _ => Some("ignore file not applied: 64 folders above have others"),
        };
        let told = problems.first().map(|(_, reason)| reason.as_str());
        assert_eq!(told, expected, "{depth}");
        rules = next;
        path.extend_from_slice(b"d/");
    }
    let wildcards = format!("{}\n", "a*".repeat(500)).repeat(20);
    let (top, problems) = Rules::default().with(b"", &files(None, Some(&wildcards)));
    assert!(problems.is_empty());
    let (_, problems) = top.with(b"d/", &files(Some(&wildcards), None));
    assert_eq!(
        problems,
        [(0, "lines 13, 14, 15, 16, 17 and 3 more not applied: more wildcards than are matched at once".to_owned())]
    );
    // A file beside it has room.
    assert!(
        Rules::default()
            .with(b"e/", &files(Some(&wildcards), None))
            .1
            .is_empty()
    );
}

#[test]
#[ignore = "measures; run with --release --nocapture"]
fn what_a_match_costs() {
    let many = |count: usize, line: &dyn Fn(usize) -> String| -> String {
        (0..count).map(|number| line(number) + "\n").collect()
    };
    for (name, text) in [
        ("10000 names", many(10_000, &|n| format!("file{n}.txt"))),
        ("100 classes", many(100, &|n| format!("[Dd]ir{n}/"))),
        ("100 stars", many(100, &|n| format!("f*{n}*b"))),
        ("2000 stars", many(2000, &|n| format!("f*{n}*b"))),
        ("hostile", many(30, &|_| "*a?".repeat(340))),
    ] {
        let start = std::time::Instant::now();
        let (rules, problems) = Rules::default().with(b"", &files(None, Some(&text)));
        let built = start.elapsed();
        let mut state = Vec::new();
        let start = std::time::Instant::now();
        for number in 0..1000 {
            let path = format!("some/longer/path/aaaaabbbbb{number}/f-aaaa-{number}-bbbb.txt");
            std::hint::black_box(rules.verdict(path.as_bytes(), false, &mut state));
        }
        let each = start.elapsed() / 1000;
        println!("{name}: built in {built:?}, {each:?} a path, {problems:?}");
    }
}

#[test]
fn ignore_files_and_paths_are_read_in_linear_time() {
    use kb_types::growth::{timed, too_fast};

    const LINES: [&str; 18] = [
        "word\n",
        "/word\n",
        "word/\n",
        "*.o\n",
        "**/a\n",
        "a/**\n",
        "a/**/b\n",
        "!a\n",
        "# a\n",
        "[a-z]\n",
        "{a,b}\n",
        "{a,{b,c}}\n",
        "a?b*c\n",
        "\\a\n",
        "*",
        "**/",
        "[",
        "\n",
    ];
    let file = |line: &str, bytes: usize| line.repeat(bytes / line.len());
    for line in LINES {
        // One file longer and longer, and what it says of one path.
        let found = too_fast(16 << 10, 256 << 10, &|bytes| {
            let text = file(line, bytes);
            let (rules, read) = timed(|| one(&text));
            let asked = timed(|| verdict(&rules, "some/folder/with/a/word.o", false)).1;
            [read, asked]
        });
        assert_eq!(found, [None; 2], "{line:?}");
        // One file, and paths that get longer.
        let rules = one(&file(line, 400));
        for piece in ["a/", "ab", "*", "word/"] {
            let found = too_fast(8 << 10, 256 << 10, &|bytes| {
                let path = piece.repeat(bytes / piece.len());
                [timed(|| verdict(&rules, &path, false)).1]
            });
            assert_eq!(found, [None], "{line:?} for {piece:?}");
        }
    }
}
