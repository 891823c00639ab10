//! Copies, and documents that are none, through the public door.

use crate::kb::{Kb, KbWriter};
use crate::search::options::Scope;
use crate::search::request::Request;
use crate::search::response::Hit;

const TEXT: &str = "# Tides\n\nThe moon pulls the sea twice a day, and the harbour master writes down the height.\n";

/// The function of a program.
const FUNCTION: &str = "fn tide_height(moon: f64, hour: f64) -> f64 {
    let angle = moon * 0.5 + hour / 12.42;
    let height = 2.0 + 1.5 * angle.cos();
    height.max(0.0)
}
";

fn kb(documents: &[(&str, &str)]) -> (tempfile::TempDir, Kb) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    for (name, text) in documents {
        writer.add_bytes(name, text.as_bytes()).unwrap();
    }
    writer.commit().unwrap();
    let kb = Kb::open(&path).unwrap();
    (folder, kb)
}

/// Paths of the hits, each with the paths of its copies.
fn shown(hits: &[Hit]) -> Vec<(&str, Vec<&str>)> {
    let copies = |hit: &Hit| hit.copies as usize == hit.copy_paths.len();
    assert!(hits.iter().all(copies));
    let paths = |hit: &'_ Hit| hit.copy_paths.len();
    assert!(
        hits.iter()
            .all(|hit| (paths(hit) > 0) == hit.copies_note(3).is_some())
    );
    hits.iter()
        .map(|hit| {
            let copies = hit.copy_paths.iter().map(String::as_str).collect();
            (&*hit.document, copies)
        })
        .collect()
}

fn search(documents: &[(&str, &str)], query: &str, scope: Scope) -> Vec<Hit> {
    let (_folder, kb) = kb(documents);
    kb.search(&Request::new(query).scope(scope))
        .unwrap()
        .hits
        .items
}

/// In both scopes the same paths with these copies, whatever their order.
fn assert_hits(documents: &[(&str, &str)], query: &str, expected: &[(&str, &[&str])]) {
    for scope in [Scope::Chunks, Scope::Documents] {
        let hits = search(documents, query, scope);
        let mut found = shown(&hits);
        found.sort();
        let mut expected: Vec<(&str, Vec<&str>)> = expected
            .iter()
            .map(|(path, copies)| (*path, copies.to_vec()))
            .collect();
        expected.sort();
        assert_eq!(found, expected, "{scope:?}");
    }
}

/// A program below a licence of some lines.
fn licensed(licence: &str, body: &str) -> String {
    let lines: String = (1..=12)
        .map(|line| format!("// {licence}, clause {line}: no warranty for tides or moons.\n"))
        .collect();
    format!("{lines}\n{body}")
}

#[test]
fn twelve_copies_are_one_hit() {
    let names: Vec<String> = (0..11)
        .map(|n| format!("vendor/v{n:02}/tides.md"))
        .collect();
    let mut documents: Vec<(&str, &str)> = names.iter().map(|name| (&**name, TEXT)).collect();
    documents.push(("docs/some/notes/tides.md", TEXT));
    let other = TEXT.replace("twice", "five times");
    documents.push(("other.md", &other));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let query = "height of the sea at the moon";
    let expected: [(&str, &[&str]); 2] = [("docs/some/notes/tides.md", &names), ("other.md", &[])];
    assert_hits(&documents, query, &expected);
    let hits = search(&documents, query, Scope::Chunks);
    assert!(hits[0].score >= hits[1].score);
    let note = hits.iter().find_map(|hit| hit.copies_note(3)).unwrap();
    assert!(note.starts_with("11 more copies: vendor/v00/"), "{note}");
    assert!(note.ends_with("/v02/tides.md, ..."), "{note}");
}

#[test]
fn of_a_copied_folder_of_tests_the_shortest_path_is_shown() {
    let height = FUNCTION
        .replace("fn ", "#[test]\nfn low_")
        .replace("hour", "minute");
    let depth = FUNCTION
        .replace("tide_height", "depth_of_harbour")
        .replace("cos", "sin");
    let documents = [
        ("old/copy/tests/tide.rs", &*height),
        ("old/copy/tests/depth.rs", &depth),
        ("tests/tide.rs", &height),
        ("tests/depth.rs", &depth),
    ];
    let expected: [(&str, &[&str]); 2] = [
        ("tests/depth.rs", &["old/copy/tests/depth.rs"]),
        ("tests/tide.rs", &["old/copy/tests/tide.rs"]),
    ];
    assert_hits(&documents, "angle of the moon and height", &expected);
}

#[test]
fn a_path_that_the_query_names_is_shown() {
    let documents = [("a/tides.md", TEXT), ("harbour/of/kiel/tides.md", TEXT)];
    let expected: [(&str, &[&str]); 1] = [("harbour/of/kiel/tides.md", &["a/tides.md"])];
    assert_hits(&documents, "kiel moon sea", &expected);
    let expected: [(&str, &[&str]); 1] = [("a/tides.md", &["harbour/of/kiel/tides.md"])];
    assert_hits(&documents, "moon sea", &expected);
}

#[test]
fn programs_that_differ_in_their_licence_are_copies() {
    let (mit, apache) = (licensed("MIT", FUNCTION), licensed("Apache", FUNCTION));
    let documents = [
        ("src/tide.rs", FUNCTION),
        ("mit/tide.rs", &mit),
        ("apache/tide.rs", &apache),
    ];
    for scope in [Scope::Chunks, Scope::Documents] {
        let hits = search(&documents, "tide height of moon and hour", scope);
        assert_eq!(hits.len(), 1, "{:?}", shown(&hits));
        assert_eq!(hits[0].copies, 2);
    }
}

#[test]
fn programs_that_have_their_licence_in_common_are_none() {
    let other =
        "fn rope_of(ship: &Ship, moon: f64) -> Rope {\n    ship.ropes.at(moon).clone()\n}\n";
    let (tide, rope) = (licensed("MIT", FUNCTION), licensed("MIT", other));
    let documents = [("a/src/lib.rs", &*tide), ("b/src/lib.rs", &rope)];
    let expected: [(&str, &[&str]); 2] = [("a/src/lib.rs", &[]), ("b/src/lib.rs", &[])];
    assert_hits(&documents, "moon", &expected);
    assert_hits(&documents, "no warranty for tides or moons", &expected);
}

/// Eight functions, each with the number of a version in some of them.
fn module(version: usize) -> String {
    let functions = (0..8).map(|n| {
        let name = [
            "tide", "ebb", "flood", "moon", "wave", "swell", "drift", "buoy",
        ][n];
        let body = FUNCTION.replace("tide", name);
        if n % 4 == 2 {
            body.replace(
                "height.max(0.0)",
                &format!("height.min({version}.0).max(0.0)"),
            )
        } else {
            body
        }
    });
    functions.collect()
}

#[test]
fn two_versions_of_a_document_are_copies() {
    let (first, second) = (module(3), module(4));
    let documents = [
        ("deps/tides-1.2/tides.rs", &*first),
        ("deps/tides-1.3/tides.rs", &second),
    ];
    for scope in [Scope::Chunks, Scope::Documents] {
        let hits = search(&documents, "flood height by moon and hour", scope);
        assert!(hits.iter().all(|hit| hit.copies == 1), "{:?}", shown(&hits));
    }
    // Beside the first there is the rest of it only.
    let hits = search(&documents, "flood height by moon and hour", Scope::Chunks);
    let paths: Vec<&str> = hits.iter().map(|hit| &*hit.document).collect();
    assert!(paths.iter().all(|path| *path == paths[0]), "{paths:?}");
}

#[test]
fn paragraphs_of_one_line_may_differ_in_a_word() {
    let first = "# Archives\n\nTo inflate the window, read the head of a block. Then copy bytes until the checksum is that of \
        the trailer. The decoder keeps a history of some kilobytes. It needs no dictionary, and no clock.\n";
    let second = first.replace("no dictionary", "neither a dictionary");
    let documents = [("docs/v1/zip.md", first), ("docs/v2/zip.md", &*second)];
    for scope in [Scope::Chunks, Scope::Documents] {
        let hits = search(&documents, "inflate the window", scope);
        assert_eq!(hits.len(), 1, "{:?}", shown(&hits));
    }
}

#[test]
fn a_linked_worktree_with_some_changes_is_a_copy() {
    let here = module(3);
    let there = here.replacen("2.0 + 1.5", "2.5 + 1.4", 1);
    let documents = [
        ("src/sea/tides.rs", &*here),
        ("worktree/src/sea/tides.rs", &there),
    ];
    let hits = search(&documents, "swell height", Scope::Documents);
    assert_eq!(hits.len(), 1, "{:?}", shown(&hits));
    let documents = [
        ("src/tides.rs", &*here),
        ("third_party/tide/tides.rs", &there),
    ];
    let hits = search(&documents, "swell height", Scope::Documents);
    assert_eq!(
        shown(&hits),
        [("src/tides.rs", vec!["third_party/tide/tides.rs"])]
    );
    // Those that say nothing by their folders must differ in less.
    let documents = [("sea/tides.rs", &*here), ("lake/tides.rs", &there)];
    let hits = search(&documents, "swell height", Scope::Documents);
    assert_eq!(hits.len(), 2, "{:?}", shown(&hits));
}

#[test]
fn pages_of_one_template_are_none() {
    let page = |what: &str| {
        let lines: String = (0..6)
            .map(|n| {
                format!("Clause {n} about the list is the same on all pages of the harbour.\n")
            })
            .collect();
        format!(
            "# {what}\n\nA list of {what} by the moon: every one of {what} has a name.\n\n{lines}"
        )
    };
    let (users, teams) = (page("pilots"), page("tugboats"));
    let documents = [("pilots/index.md", &*users), ("tugboats/index.md", &teams)];
    let expected: [(&str, &[&str]); 2] = [("pilots/index.md", &[]), ("tugboats/index.md", &[])];
    assert_hits(&documents, "list of the harbour", &expected);
    assert_hits(&documents, "clause about the list", &expected);
}

#[test]
fn configurations_that_differ_in_a_value_are_none() {
    let lines: String = (0..20).map(|n| format!("tide_{n}: high\n")).collect();
    let (low, high) = (format!("{lines}moon: 1\n"), format!("{lines}moon: 2\n"));
    let documents = [("a/conf/sea.yaml", &*low), ("b/conf/sea.yaml", &high)];
    let expected: [(&str, &[&str]); 2] = [("a/conf/sea.yaml", &[]), ("b/conf/sea.yaml", &[])];
    assert_hits(&documents, "moon tide", &expected);
}

#[test]
fn short_documents_are_copies_under_one_name_only() {
    let short = "The moon.\n";
    let documents = [
        ("a/moon.md", short),
        ("b/moon.md", short),
        ("c/sea.md", short),
    ];
    let expected: [(&str, &[&str]); 2] = [("a/moon.md", &["b/moon.md"]), ("c/sea.md", &[])];
    assert_hits(&documents, "the moon", &expected);
}

#[test]
fn a_text_twice_in_one_document_is_no_copy() {
    let twice = format!(
        "{TEXT}\n{}\n{TEXT}",
        "Other words of the sea.\n".repeat(200)
    );
    let (_folder, kb) = kb(&[("a.md", &twice)]);
    let hits = kb.search(&Request::new("moon").join(false)).unwrap().hits;
    assert!(hits.len() >= 2, "{:?}", shown(&hits));
    assert!(hits.iter().all(|hit| hit.copies == 0), "{:?}", shown(&hits));
}

#[test]
fn the_part_that_documents_have_in_common_is_one_hit() {
    let ships = "Moored ships rise with the sea while their ropes are slack, says the moon book.\n";
    let documents: Vec<(String, String)> = (1..=3)
        .map(|n| {
            let own = format!("Keeper {n} has a lamp of {n} metres and oil for {n} nights.\n");
            let text = format!(
                "# Ships\n\n{}\n## Keeper {n}\n\n{}",
                ships.repeat(24),
                own.repeat(30)
            );
            (format!("keeper{n}/ships.md"), text)
        })
        .collect();
    let documents: Vec<(&str, &str)> = documents.iter().map(|(a, b)| (&**a, &**b)).collect();
    let (_folder, kb) = kb(&documents);
    let request = Request::new("moored ships rise slack ropes").join(false);
    let first = &kb.search(&request).unwrap().hits[0];
    assert_eq!(&*first.document, "keeper1/ships.md");
    assert_eq!(first.copy_paths, ["keeper2/ships.md", "keeper3/ships.md"]);
    // The documents differ.
    let hits = kb.search(&request.scope(Scope::Documents)).unwrap().hits;
    assert_eq!(hits.len(), 3, "{:?}", shown(&hits));
}

#[test]
fn the_first_hits_do_not_depend_on_how_many_are_wanted() {
    let names: Vec<String> = (0..30).map(|n| format!("d{n:02}/a.md")).collect();
    let texts: Vec<String> = (0..30)
        .map(|n| TEXT.replace("twice", &format!("{} times", n / 4)))
        .collect();
    let documents: Vec<(&str, &str)> = names
        .iter()
        .map(|it| &**it)
        .zip(texts.iter().map(|it| &**it))
        .collect();
    let (_folder, kb) = kb(&documents);
    let hits = |k| {
        let request = Request::new("height of the sea").k(k);
        kb.search(&request).unwrap().hits.items
    };
    let (few, many) = (hits(5), hits(20));
    assert_eq!(many.len(), 8, "{:?}", shown(&many));
    assert_eq!(shown(&few), shown(&many)[..5]);
}

#[test]
fn files_that_are_searched_together_keep_their_hits() {
    let (_first_folder, first) = kb(&[("a/tides.md", TEXT), ("b/tides.md", TEXT)]);
    let (_second_folder, second) = kb(&[("a/tides.md", TEXT)]);
    let request = Request::new("moon sea");
    let hits = crate::kb::search_files(&[&first, &second], &request)
        .unwrap()
        .hits;
    let mut found: Vec<(usize, u32)> = hits.iter().map(|hit| (hit.file, hit.copies)).collect();
    found.sort_unstable();
    assert_eq!(found, [(0, 1), (1, 0)]);
}
