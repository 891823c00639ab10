//! Operators are exact: what is excluded is never shown, what is quoted matches as written, and an answer
//! goes on until everything that matches was shown.

use kb_engine::{Kb, KbWriter, Mode, Request, Response, Scope, Sort, search_files};
use tempfile::TempDir;

use super::{Numbers, ask, file, kb_of};

/// More chunks than an earlier version read to verify a phrase.
const MANY: usize = 21_000;

/// Every document but one in so many says `page cache`.
const EXCEPTION: usize = 1000;

/// A file of so many chunks, nearly all of which hold the phrase.
fn many(count: usize) -> (TempDir, Kb) {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("many.kb");
    let mut writer = KbWriter::open_or_create(&path).expect("writer");
    for number in 0..count {
        let text = match number % EXCEPTION {
            7 => format!("the cache of a page {number}"),
            _ => format!("the page cache {number} of the page"),
        };
        writer
            .add_bytes(&format!("d/{number:05}.txt"), text.as_bytes())
            .expect("added");
    }
    writer.commit().expect("committed");
    (folder, Kb::open(&path).expect("it opens"))
}

fn names(response: &Response) -> Vec<&str> {
    let hits = response.hits.iter();
    hits.map(|hit| hit.document.as_str()).collect()
}

/// All hits of a request, page after page, and the warnings of all pages.
fn all_pages(kb: &Kb, mut request: Request) -> (Vec<String>, Vec<String>) {
    let (mut found, mut warnings) = (Vec::new(), Vec::new());
    loop {
        let told = ask(kb, &request);
        found.extend(names(&told).into_iter().map(str::to_owned));
        warnings.extend(told.warnings);
        request.page.cursor = told.hits.next;
        if request.page.cursor.is_none() {
            return (found, warnings);
        }
        assert!(found.len() <= MANY, "{request:?} does not end");
    }
}

#[test]
fn operators_are_exact_among_many_chunks() {
    let (_folder, kb) = many(MANY);
    let exceptions: Vec<String> = (0..MANY)
        .filter(|number| number % EXCEPTION == 7)
        .map(|number| format!("d/{number:05}.txt"))
        .collect();
    let without = "page cache -\"page cache\"";
    let with = "cache \"cache of a page\"";
    let listed = "path:d/ -\"page cache\"";
    let mut requests = Vec::new();
    for (mode, scope, sort, query) in [
        (Mode::Hybrid, Scope::Chunks, Sort::Score, without),
        (Mode::Hybrid, Scope::Documents, Sort::Recency, without),
        (Mode::Semantic, Scope::Chunks, Sort::Score, without),
        // Of a list everything is relevant, whatever it is sorted by.
        (Mode::Semantic, Scope::Chunks, Sort::Path, listed),
        (Mode::Keyword, Scope::Documents, Sort::Score, without),
        (Mode::Hybrid, Scope::Chunks, Sort::Score, with),
        (Mode::Semantic, Scope::Documents, Sort::Score, with),
        (Mode::Keyword, Scope::Chunks, Sort::Recency, with),
        (Mode::Hybrid, Scope::Chunks, Sort::Score, listed),
        (Mode::Hybrid, Scope::Documents, Sort::Recency, listed),
        (
            Mode::Title,
            Scope::Chunks,
            Sort::Score,
            "txt -\"page cache\"",
        ),
    ] {
        requests.push(Request::new(query).mode(mode).scope(scope).sort(sort));
    }
    for request in requests {
        let (mut found, warnings) = all_pages(&kb, request.clone().k(5));
        assert_eq!(warnings, Vec::<String>::new(), "{request:?}");
        found.sort();
        assert_eq!(found, exceptions, "{request:?}");
    }
}

#[test]
fn an_answer_goes_on_until_all_that_matches_was_shown() {
    const SOME: usize = 2000;
    let (_folder, kb) = many(SOME);
    let by_size = Sort::from_name("-size").unwrap();
    for (mode, sort, query) in [
        (Mode::Hybrid, Sort::Score, "path:d/"),
        (Mode::Hybrid, Sort::Recency, "path:d/"),
        (Mode::Title, Sort::Score, "txt"),
        (Mode::Title, Sort::Recency, "txt"),
        (Mode::Keyword, Sort::Score, "page"),
        (Mode::Keyword, Sort::Recency, "page"),
        (Mode::Hybrid, Sort::Score, "page cache"),
        (Mode::Semantic, Sort::Score, "page cache"),
        (Mode::Keyword, Sort::Path, "page cache"),
        (Mode::Keyword, by_size.clone(), "page cache"),
        (Mode::Title, by_size, "txt"),
    ] {
        for scope in Scope::ALL {
            let request = Request::new(query)
                .mode(mode)
                .sort(sort.clone())
                .scope(scope)
                .k(300);
            let (mut found, _) = all_pages(&kb, request.clone());
            assert_eq!(found.len(), SOME, "{request:?}");
            found.sort();
            found.dedup();
            assert_eq!(found.len(), SOME, "{request:?}");
        }
    }
}

const PAGED: &str = "use std::collections::BTreeMap;\npub struct PagedCachedFile; // the PagedCachedFile, page_cache";

#[test]
fn a_quoted_phrase_matches_as_written() {
    let (_folder, kb) = kb_of(&[
        ("code.rs", PAGED),
        ("lines.md", "# Memory\n\nWhat the *page*\n`Cache` holds."),
        ("plural.md", "# Words\n\npages cached, page caches"),
        ("prose.md", "# Disk\n\nThe Page-Cache of a kernel."),
    ]);
    for mode in Mode::RANKED {
        let told = ask(&kb, &Request::new("\"page cache\"").mode(mode));
        let mut found = names(&told);
        found.sort();
        assert_eq!(found, ["lines.md", "prose.md"], "{mode:?}");
        assert_eq!(told.warnings, Vec::<String>::new());
        let told = ask(&kb, &Request::new("page -\"page cache\"").mode(mode));
        let mut found = names(&told);
        found.sort();
        assert_eq!(found, ["code.rs", "plural.md"], "{mode:?}");
    }
}

#[test]
fn other_word_forms_match_only_where_no_exact_phrase_does() {
    let (folder, kb) = kb_of(&[("code.rs", PAGED), ("other.md", "# Sea\n\na storm lamp")]);
    let query = Request::new("\"page cache\"");
    let told = ask(&kb, &query);
    assert_eq!(names(&told), ["code.rs"]);
    let is_told = |warnings: &[String]| warnings.iter().any(|text| text.contains("exact match"));
    assert!(is_told(&told.warnings), "{:?}", told.warnings);
    let words = |query: &str| Request::new(query).mode(Mode::Keyword);
    let told = ask(&kb, &words("file -\"page cache\""));
    assert_eq!(names(&told), ["code.rs"]);
    assert!(!is_told(&told.warnings), "{:?}", told.warnings);
    let told = ask(&kb, &Request::new("+std::collections"));
    assert_eq!(names(&told), ["code.rs"]);
    assert!(told.warnings.is_empty(), "{:?}", told.warnings);
    // One of several files that has it as written is enough.
    let prose = [("p.md".to_owned(), "# Disk\n\nthe page cache".to_owned())];
    let prose = file(&folder, "prose.kb", &prose, 1);
    let told = search_files(&[&kb, &prose], &query).expect("an answer");
    assert_eq!(names(&told), ["p.md"]);
    assert!(!is_told(&told.warnings), "{:?}", told.warnings);
    // So far as filters let it through.
    let told =
        search_files(&[&kb, &prose], &Request::new("\"page cache\" path:code")).expect("an answer");
    assert_eq!(names(&told), ["code.rs"]);
    assert!(is_told(&told.warnings), "{:?}", told.warnings);
}

#[test]
fn a_quoted_title_matches_as_written() {
    let (_folder, kb) = kb_of(&[
        ("a.md", "# The page cache\n\nx"),
        ("b.md", "# Page caches\n\nx"),
        ("c.md", "# PageCache\n\nx"),
    ]);
    for (query, expected) in [
        ("title:\"page cache\"", &["a.md"][..]),
        ("path:.md -title:\"page cache\"", &["b.md", "c.md"]),
        ("title:cache", &["a.md", "b.md", "c.md"]),
        ("title:\"page caching\"", &["a.md", "b.md", "c.md"]),
    ] {
        assert_eq!(names(&ask(&kb, &Request::new(query))), expected, "{query}");
    }
}

/// The words of a text in lower case.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[test]
fn phrases_are_those_that_reading_everything_finds() {
    const POOL: [&str; 9] = [
        "the", "value", "of", "readFile", "read", "file", "Values", "tide", "a",
    ];
    let mut numbers = Numbers(11);
    let documents: Vec<(String, String)> = (0..60)
        .map(|number| {
            let mut text = String::new();
            for word in 0..1 + numbers.below(900) {
                text.push_str(POOL[numbers.below(POOL.len())]);
                text.push_str(if word % 9 == 8 { ".\n" } else { " " });
            }
            (format!("{number:02}.txt"), text)
        })
        .collect();
    let folder = tempfile::tempdir().expect("folder");
    let kb = file(&folder, "pool.kb", &documents, 4);
    for _ in 0..40 {
        let phrase: Vec<&str> = (0..2 + numbers.below(4))
            .map(|_| POOL[numbers.below(POOL.len())])
            .collect();
        let wanted = words(&phrase.join(" "));
        let has = |text: &str| words(text).windows(wanted.len()).any(|run| run == wanted);
        let phrase = phrase.join(" ");
        let request = |query: String| Request::new(&query).k(1000).join(false);
        let with = documents.iter().filter(|(_, text)| has(text));
        let with: Vec<&str> = with.map(|(path, _)| path.as_str()).collect();
        let told = ask(&kb, &request(format!("\"{phrase}\"")));
        let mut found = names(&told);
        found.sort();
        found.dedup();
        if with.is_empty() {
            assert_eq!(told.warnings.len(), 1, "{phrase}: {:?}", told.warnings);
        } else {
            assert_eq!(found, with, "{phrase}");
            assert_eq!(told.warnings, Vec::<String>::new(), "{phrase}");
        }
        // A chunk has it inside, or together with the chunk before or after it.
        for hit in ask(&kb, &request(format!("-\"{phrase}\" value read file"))).hits {
            assert!(!has(&hit.text), "{phrase}");
        }
    }
}

#[test]
fn a_single_cjk_character_finds_every_chunk_that_holds_it() {
    const CHARACTERS: [char; 6] = [
        '\u{6d77}', '\u{5c71}', '\u{5ddd}', '\u{306e}', '\u{30ab}', '\u{d55c}',
    ];
    let mut numbers = Numbers(5);
    let documents: Vec<(String, String)> = (0..200)
        .map(|number| {
            let mut text = String::from("lamp ");
            for _ in 0..1 + numbers.below(5) {
                for _ in 0..1 + numbers.below(4) {
                    text.push(CHARACTERS[numbers.below(CHARACTERS.len())]);
                }
                text.push_str([" ", "\u{3002}", "x ", ", tide "][numbers.below(4)]);
            }
            (format!("{number:03}.txt"), text)
        })
        .collect();
    let folder = tempfile::tempdir().expect("folder");
    file(&folder, "cjk.kb", &documents, 3);
    let mut writer = KbWriter::open_or_create(folder.path().join("cjk.kb")).expect("writer");
    writer.remove("000.txt").expect("removed");
    writer.commit().expect("committed");
    let kb = Kb::open(folder.path().join("cjk.kb")).expect("it opens");
    let live = &documents[1..];
    for character in CHARACTERS {
        let with = live.iter().filter(|(_, text)| text.contains(character));
        let with: Vec<&str> = with.map(|(path, _)| path.as_str()).collect();
        assert!(with.len() > 10 && with.len() < live.len());
        let request =
            |query: &str| Request::new(query.replace('?', &character.to_string())).k(1000);
        for mode in [Mode::Hybrid, Mode::Keyword] {
            for query in ["?", "+?", "\"?\"", "? +?"] {
                let told = ask(&kb, &request(query).mode(mode));
                let mut found = names(&told);
                found.sort();
                assert_eq!(found, with, "{query} {character} {mode:?}");
                assert_eq!(told.warnings, Vec::<String>::new());
                for hit in &told.hits {
                    let text = &hit.text;
                    let marked = hit
                        .highlights
                        .iter()
                        .filter(|mark| text[(*mark).clone()].contains(character));
                    assert_eq!(marked.count(), text.matches(character).count(), "{text}");
                }
            }
            for query in ["lamp -?", "lamp -\"?\"", "path:txt -?"] {
                let told = ask(&kb, &request(query).mode(mode));
                assert_eq!(told.hits.len(), live.len() - with.len(), "{query}");
                assert!(told.hits.iter().all(|hit| !hit.text.contains(character)));
            }
            // A word besides: whoever has both comes before whoever has one of them.
            let told = ask(&kb, &request("tide ?").mode(Mode::Keyword));
            let has = |text: &str| {
                usize::from(text.contains(character)) + usize::from(text.contains("tide"))
            };
            let expected = live.iter().filter(|(_, text)| has(text) > 0).count();
            assert_eq!(told.hits.len(), expected);
            assert_eq!(has(&told.hits[0].text), 2);
            assert!(
                told.hits
                    .iter()
                    .map(|hit| hit.score)
                    .is_sorted_by(|a, b| a >= b)
            );
        }
    }
    // Of chunks of one length the one comes first that holds it more often.
    let (_folder, kb) = kb_of(&[
        (
            "a.txt",
            "\u{5ddd}\u{5c71}\u{5ddd}\u{5c71}\u{5ddd}\u{5c71}\u{5ddd}\u{5c71}\u{5ddd}\u{5c71}",
        ),
        (
            "b.txt",
            "\u{5ddd}\u{6d77}\u{5ddd}\u{5c71}\u{5ddd}\u{6d77}\u{5ddd}\u{6d77}\u{5ddd}\u{5c71}",
        ),
        (
            "c.txt",
            "\u{5ddd}\u{5c71}\u{5ddd}\u{5c71}\u{5ddd}\u{6d77}\u{5ddd}\u{5c71}\u{5ddd}\u{5c71}",
        ),
    ]);
    assert_eq!(
        names(&ask(&kb, &Request::new("\u{6d77}"))),
        ["b.txt", "c.txt"]
    );
}

#[test]
fn a_query_without_words_says_that_nothing_was_searched() {
    let (_folder, kb) = kb_of(&[("sea.md", "# Sea\n\na storm lamp")]);
    for query in ["\"", "\"\"", "-\"\"", "?!"] {
        let told = ask(&kb, &Request::new(query));
        assert!(told.hits.is_empty(), "{query}");
        let is_told = |text: &String| text.starts_with("nothing was searched");
        assert!(told.warnings.iter().any(is_told), "{query}: {told:?}");
    }
}

#[test]
fn hits_without_a_score_are_not_too_low() {
    let (_folder, kb) = kb_of(&[("d/sea.md", "# Sea\n\na storm lamp"), ("b.md", "fog")]);
    let told = ask(&kb, &Request::new("path:d/").min_score(0.5));
    assert_eq!(names(&told), ["d/sea.md"]);
}

#[test]
fn recency_of_one_time_keeps_the_order_of_scores() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("checkout.kb");
    let mut writer = kb_engine::KbWriter::open_or_create(&path).expect("a writer");
    for (name, text) in [
        (
            "a.md",
            "a storm, and much else that has nothing to do with what is asked here",
        ),
        ("m.md", "# Storm lamp\n\nThe storm lamp."),
        ("z.md", "a lamp for the storm, and many other things"),
    ] {
        let source = kb_engine::SourceInfo {
            modified_ms: 1_000_000,
            ..kb_engine::SourceInfo::of(text.as_bytes())
        };
        let document = kb_engine::document_of(name, text.as_bytes()).expect("a document");
        writer.add_from(document, source, false).expect("added");
    }
    writer.commit().expect("committed");
    let kb = Kb::open(&path).expect("it opens");
    let request = Request::new("storm lamp")
        .mode(Mode::Keyword)
        .sort(Sort::Recency);
    let told = ask(&kb, &request);
    assert_eq!(names(&told).first().copied(), Some("m.md"));
    let scores: Vec<f32> = told.hits.iter().map(|hit| hit.score).collect();
    assert!(
        scores.len() > 1 && scores.is_sorted_by(|a, b| a >= b),
        "{scores:?}"
    );
    let (paged, _) = all_pages(&kb, request.k(1));
    assert_eq!(paged, names(&told));
}
