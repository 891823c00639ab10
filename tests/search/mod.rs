//! What a search answers: pages, passages, orders, several files, several questions.

mod bad_input;
mod languages;
mod looks;
mod meant;
mod operators;
mod pages;
mod signs;
mod sorted;
mod spelling;

use kb_engine::{
    Filters, Hit, Kb, KbWriter, Mode, Progress, Request, Response, Scope, Show, Sort, search_files,
};
use tempfile::TempDir;

const WORDS: [&str; 24] = [
    "lamp", "wick", "lens", "horn", "fog", "tide", "buoy", "harbour", "keeper", "storm", "rock",
    "signal", "beacon", "current", "vessel", "anchor", "chart", "sound", "depth", "light", "wind",
    "rope", "tower", "shore",
];

/// Numbers that only look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % limit
    }
}

/// Path and text of some documents, most of several chunks.
pub(crate) fn documents() -> Vec<(String, String)> {
    let mut numbers = Numbers(7);
    let document = |number: usize| {
        let folder = ["", "guide/", "guide/deep/", "code/"][number % 4];
        let ending = ["md", "txt", "md", "rs"][number % 4];
        let path = format!(
            "{folder}{number:02}-{}.{ending}",
            WORDS[number % WORDS.len()]
        );
        let mut text = format!("# {} {number}\n\n", WORDS[number * 5 % WORDS.len()]);
        for paragraph in 0..1 + numbers.below(14) {
            if paragraph % 4 == 3 {
                text.push_str(&format!("## Part {paragraph}\n\n"));
            }
            for line in 0..1 + numbers.below(6) {
                for _ in 0..4 + numbers.below(9) {
                    // Low numbers come often, high ones seldom.
                    let range = 1 + numbers.below(WORDS.len());
                    text.push_str(WORDS[numbers.below(range)]);
                    text.push(' ');
                }
                text.push_str(if line % 2 == 0 {
                    "\u{e9}t\u{e9}.\n"
                } else {
                    "end.\n"
                });
            }
            text.push('\n');
        }
        (path, text)
    };
    (0..30).map(document).collect()
}

/// A file of these documents, with the folder that it lies in.
fn kb_of(documents: &[(&str, &str)]) -> (TempDir, Kb) {
    let folder = tempfile::tempdir().expect("folder");
    let documents: Vec<(String, String)> = documents
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect();
    let kb = file(&folder, "some.kb", &documents, 1);
    (folder, kb)
}

/// A file of some of the documents, in as many commits.
pub(crate) fn file(
    folder: &TempDir,
    name: &str,
    documents: &[(String, String)],
    commits: usize,
) -> Kb {
    let path = folder.path().join(name);
    let mut writer = KbWriter::open_or_create(&path)
        .expect("writer")
        .without_merges();
    for part in documents.chunks(documents.len().div_ceil(commits)) {
        for (path, text) in part {
            writer.add_bytes(path, text.as_bytes()).expect("added");
        }
        writer.commit().expect("committed");
    }
    Kb::open(path).expect("it opens")
}

/// A folder with one file of all documents.
pub(crate) fn one_file() -> (TempDir, Kb) {
    let folder = tempfile::tempdir().expect("folder");
    let kb = file(&folder, "all.kb", &documents(), 3);
    (folder, kb)
}

/// Requests of every mode, scope and order.
pub(crate) fn requests() -> Vec<Request> {
    let mut requests = Vec::new();
    for mode in Mode::ALL {
        let query = match mode {
            // The start of one word and the middle of another: two documents, no tie.
            Mode::Title => "ha",
            _ => "keeper of the storm lamp",
        };
        for scope in Scope::ALL {
            for sort in ["score", "recency", "path", "-size"] {
                for join in [true, false] {
                    requests.push(
                        Request::new(query)
                            .mode(mode)
                            .scope(scope)
                            .sort(Sort::from_name(sort).unwrap())
                            .join(join),
                    );
                }
            }
        }
    }
    requests
}

/// What a hit is, without the numbers that tell in which commit it came.
pub(crate) fn facts(hits: &[Hit]) -> Vec<String> {
    let fact = |hit: &Hit| {
        let mut hit = hit.clone();
        hit.file = 0;
        hit.chunk.segment.0 = 0;
        hit.chunk.row = 0;
        // When a document was added is the moment of the test.
        hit.modified_ms = 0;
        format!("{hit:?}")
    };
    hits.iter().map(fact).collect()
}

pub(crate) fn ask(kb: &Kb, request: &Request) -> Response {
    kb.search(request).expect("an answer")
}

#[test]
fn several_files_answer_as_one_file_with_all_their_documents() {
    let (folder, all) = one_file();
    let documents = documents();
    // Every third document of each: no file has a run of paths of its own.
    let of = |first: usize| {
        let some = documents.iter().skip(first).step_by(3).cloned();
        some.collect::<Vec<_>>()
    };
    let files: Vec<Kb> = (0..3)
        .map(|first| file(&folder, &format!("{first}.kb"), &of(first), 1 + first))
        .collect();
    let files: Vec<&Kb> = files.iter().collect();
    let lists = ["path:guide", "path:code", "lamp path:guide"].map(Request::new);
    for request in requests().into_iter().chain(lists) {
        if request.sort == Sort::Recency {
            continue;
        }
        let request = request.k(40);
        let split = search_files(&files, &request).expect("an answer");
        let whole = ask(&all, &request);
        assert!(whole.hits.len() > 1, "{request:?}");
        assert_eq!(facts(&split.hits), facts(&whole.hits), "{request:?}");
        if request.sort == Sort::Path {
            let places = whole.hits.iter().map(|hit| (&hit.document, hit.span.start));
            assert!(places.is_sorted(), "{request:?}");
        }
        assert!(split.hits.iter().any(|hit| hit.file > 0), "{request:?}");
        for hit in &split.hits {
            let text = files[hit.file].text(&hit.document, None);
            assert!(text.expect("its document").text.contains(&hit.text));
        }
    }
    for wrong in [Vec::new(), vec![&all; 65]] {
        let error = search_files(&wrong, &Request::new("lamp")).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
    }
}

#[test]
fn several_questions_are_answered_as_one_after_the_other() {
    let (_folder, kb) = one_file();
    let mut requests = requests();
    requests.extend(WORDS.map(Request::new));
    requests.push(Request::new("fog horn").filters(Filters::new().types(["md"])));
    let together = kb.search_many(&requests).expect("answers");
    assert_eq!(together.len(), requests.len());
    for (request, told) in requests.iter().zip(&together) {
        assert_eq!(told, &ask(&kb, request), "{request:?}");
    }
    requests.push(Request::new(" "));
    let error = kb.search_many(&requests).unwrap_err();
    assert_eq!(error.code(), "INVALID_ARGUMENT");
}

#[test]
fn a_document_hit_shows_the_best_of_its_chunks() {
    let (_folder, kb) = one_file();
    for mode in [Mode::Hybrid, Mode::Semantic, Mode::Keyword] {
        let request = Request::new("keeper of the storm lamp")
            .mode(mode)
            .k(500)
            .join(false);
        let chunks = ask(&kb, &request).hits;
        let documents = ask(&kb, &request.scope(Scope::Documents));
        let mut seen = Vec::new();
        for hit in &chunks {
            if !seen.contains(&&hit.document) {
                seen.push(&hit.document);
            }
        }
        assert!(seen.len() > 5 && chunks.len() > seen.len());
        let named: Vec<&String> = documents.hits.iter().map(|hit| &hit.document).collect();
        assert_eq!(named, seen);
        for hit in &documents.hits {
            let of_it = chunks.iter().filter(|chunk| chunk.document == hit.document);
            let of_it: Vec<&Hit> = of_it.collect();
            assert_eq!(hit.matches as usize, of_it.len());
            assert_eq!(hit.span, of_it[0].span);
            assert_eq!(hit.score, of_it[0].score);
        }
    }
}

#[test]
fn equal_hits_come_by_path_then_by_file() {
    let folder = tempfile::tempdir().expect("folder");
    let same = |names: &[&str]| -> Vec<(String, String)> {
        let text = "# Sea\n\na storm lamp".to_owned();
        let names = names.iter();
        names
            .map(|name| ((*name).to_owned(), text.clone()))
            .collect()
    };
    let first = file(&folder, "1.kb", &same(&["d.md", "b.md", "c.md"]), 3);
    let second = file(&folder, "2.kb", &same(&["c.md", "a.md"]), 2);
    let expected = [
        ("a.md", 1),
        ("b.md", 0),
        ("c.md", 0),
        ("c.md", 1),
        ("d.md", 0),
    ];
    for mode in Mode::RANKED {
        for k in [3, 5] {
            let request = Request::new("storm lamp").mode(mode).k(k);
            let told = search_files(&[&first, &second], &request).expect("an answer");
            let hits = told.hits.iter();
            let found: Vec<_> = hits.map(|hit| (&*hit.document, hit.file)).collect();
            assert_eq!(found, expected[..k], "{mode:?}");
        }
    }
}

#[test]
fn a_filter_value_unknown_to_a_file_excludes_that_file() {
    let folder = tempfile::tempdir().expect("folder");
    let document = |name: &str| vec![(name.to_owned(), "a storm lamp".to_owned())];
    let plain = file(&folder, "1.kb", &document("a/b.txt"), 1);
    let tagged = file(&folder, "2.kb", &document("c/d.txt"), 1);
    let mut writer = KbWriter::open_or_create(folder.path().join("2.kb")).expect("writer");
    writer.tag("c/d.txt", &["red"], &[]).expect("tagged");
    writer.commit().expect("committed");
    let ask = |tags: &[&str], folders: &[&str]| -> Result<Vec<usize>, &str> {
        let tags = tags.iter().copied();
        let filters = Filters::new().tags(tags).folders(folders.iter().copied());
        let request = Request::new("storm lamp").filters(filters);
        let told = search_files(&[&plain, &tagged], &request);
        let mut files = told
            .map(|told| told.hits.iter().map(|hit| hit.file).collect::<Vec<_>>())
            .map_err(|error| error.code())?;
        // Which file comes first is not what is asked here.
        files.sort_unstable();
        Ok(files)
    };
    assert_eq!(ask(&[], &[]), Ok(vec![0, 1]));
    assert_eq!(ask(&["red"], &[]), Ok(vec![1]));
    assert_eq!(ask(&[], &["a"]), Ok(vec![0]));
    assert_eq!(ask(&["blue"], &[]), Err("INVALID_ARGUMENT"));
    assert_eq!(ask(&[], &["e"]), Err("FOLDER_NOT_FOUND"));
}

#[test]
fn what_is_removed_or_replaced_is_as_if_it_had_never_been() {
    let (folder, _) = one_file();
    let mut left = documents();
    let path = folder.path().join("all.kb");
    let mut writer = KbWriter::open_or_create(&path)
        .expect("writer")
        .without_merges();
    for (name, _) in left.iter().step_by(3) {
        writer.remove(name).expect("removed");
    }
    let mut number = 0;
    left.retain(|_| {
        number += 1;
        number % 3 != 1
    });
    for (name, text) in left.iter_mut().step_by(5) {
        *text = text.replace("storm", "calm sea");
        writer.remove(name).expect("removed");
        writer.add_bytes(name, text.as_bytes()).expect("added");
    }
    writer.commit().expect("committed");
    let changed = Kb::open(&path).expect("it opens");
    assert!(changed.info().expect("facts").deleted_chunks >= 10);
    let fresh = file(&folder, "fresh.kb", &left, 1);
    let others = ["path:guide", "storm lamp path:guide", "\"storm lamp\" fog"].map(Request::new);
    for request in requests().into_iter().chain(others) {
        if request.sort == Sort::Recency {
            continue;
        }
        let request = request.k(500);
        let (told, expected) = (ask(&changed, &request), ask(&fresh, &request));
        assert!(expected.hits.len() > 1, "{request:?}");
        assert_eq!(facts(&told.hits), facts(&expected.hits), "{request:?}");
        assert_eq!(told.searched_chunks, expected.searched_chunks);
    }
}

#[test]
fn both_parts_of_a_score_are_computed_for_any_k() {
    let folder = tempfile::tempdir().expect("folder");
    let mut numbers = Numbers(3);
    let document = |number: usize| {
        let words = (0..12).map(|_| WORDS[numbers.below(WORDS.len())]);
        let text: Vec<&str> = words.collect();
        (format!("{number}.txt"), text.join(" "))
    };
    let documents: Vec<(String, String)> = (0..900).map(document).collect();
    let kb = file(&folder, "all.kb", &documents, 3);
    for query in ["keeper of the storm lamp", "fog horn signal", "wind"] {
        let mut request = Request::new(query).k(10_000).explain(true);
        let all = ask(&kb, &request).hits;
        assert!(all.len() > 500);
        // The pages go down to hits that only one of the two indexes named, and reach every one.
        request.k = 100;
        let mut count = 0;
        loop {
            let told = ask(&kb, &request);
            for hit in &told.hits {
                let same = all.iter().find(|one| one.document == hit.document);
                assert_eq!(Some(hit), same);
                let terms: f32 = hit.terms.iter().map(|term| term.score).sum();
                assert!((terms - hit.keyword_score.expect("its part")).abs() < 1e-5);
            }
            count += told.hits.len();
            request.page.cursor = told.hits.next;
            if request.page.cursor.is_none() {
                break;
            }
        }
        assert_eq!(count, all.len());
    }
}

#[test]
fn titles_and_lists_keep_filters_order_and_the_score_floor() {
    let (_folder, kb) = one_file();
    let text_only = Filters::new().types(["txt"]);
    let title = Request::new("t").mode(Mode::Title).k(100);
    let hits = ask(&kb, &title).hits;
    let is_text = |hit: &Hit| hit.document.ends_with(".txt");
    let texts: Vec<Hit> = hits.iter().filter(|hit| is_text(hit)).cloned().collect();
    assert!(!texts.is_empty() && texts.len() < hits.len());
    let filters = text_only.clone();
    let filtered = title.clone().filters(filters);
    assert_eq!(ask(&kb, &filtered).hits.items, texts);
    let floor = hits[hits.len() / 2].score;
    let above = hits.iter().take_while(|hit| hit.score >= floor).count();
    assert!(above < hits.len());
    let request = title.min_score(floor);
    assert_eq!(ask(&kb, &request).hits.items, hits[..above]);

    let list = Request::new("path:guide").filters(text_only).k(100);
    let found = ask(&kb, &list).hits;
    let paths: Vec<&String> = found.iter().map(|hit| &hit.document).collect();
    assert!(paths.len() > 3 && paths.is_sorted() && found.iter().all(is_text));
    // What a list holds is what was asked for.
    assert!(found.iter().all(|hit| hit.score == 1.0));
    let request = list.min_score(1.0);
    assert_eq!(ask(&kb, &request).hits.items, found.items);
}

#[test]
fn the_order_asked_for_is_given_and_the_score_floor_kept() {
    let folder = tempfile::tempdir().expect("folder");
    let sources = folder.path().join("sources");
    std::fs::create_dir(&sources).expect("folder");
    for (number, name) in ["b.txt", "c.txt", "a.txt"].into_iter().enumerate() {
        let path = sources.join(name);
        std::fs::write(&path, "lamp ".repeat(number + 1) + "and some wick").expect("file");
        let time =
            std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 + number as u64);
        let file = std::fs::File::options()
            .write(true)
            .open(&path)
            .expect("file");
        file.set_modified(time).expect("time");
    }
    let file = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&file).expect("writer");
    let indexed = writer.index(&[sources], &Default::default(), &mut Progress::ignore);
    indexed.expect("indexed");
    let kb = Kb::open(&file).expect("it opens");
    let order = |sort, mode| {
        let request = Request::new("lamp").sort(sort).mode(mode);
        let hits = ask(&kb, &request).hits;
        hits.into_iter().map(|hit| hit.document).collect::<Vec<_>>()
    };
    assert_eq!(
        order(Sort::Recency, Mode::Hybrid),
        ["a.txt", "c.txt", "b.txt"]
    );
    assert_eq!(order(Sort::Path, Mode::Hybrid), ["a.txt", "b.txt", "c.txt"]);
    let best_first = ask(&kb, &Request::new("lamp")).hits;
    assert!(best_first.is_sorted_by(|a, b| a.score > b.score));
    for (floor, left) in [
        (0.0, 3),
        (best_first[1].score, 2),
        (best_first[0].score, 1),
        (1.0, 0),
    ] {
        let request = Request::new("lamp").min_score(floor);
        assert_eq!(ask(&kb, &request).hits.items, best_first[..left]);
    }
}

#[test]
fn what_cannot_be_asked_is_refused_by_name() {
    let (_folder, kb) = one_file();
    let lamp = || Request::new("lamp");
    let wrong = [
        Request::new(" \n"),
        lamp().k(0),
        lamp().k(10_001),
        lamp().min_score(-0.1),
        lamp().min_score(f32::NAN),
        lamp().show(Show::chars(0)),
    ];
    for request in wrong {
        let error = kb.search(&request).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT", "{request:?}");
    }
    let all = ask(&kb, &lamp().k(10_000));
    assert!(!all.hits.is_empty() && all.hits.next.is_none());
}
