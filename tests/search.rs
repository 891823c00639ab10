//! What a search answers: pages, passages, orders, several files, several questions.

mod bad_input;
mod pages;

use kb_engine::{Filters, Hit, Kb, KbWriter, Mode, Request, Response, Scope, Sort, search_files};
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

/// A file of some of the documents, in as many commits.
fn file(folder: &TempDir, name: &str, documents: &[(String, String)], commits: usize) -> Kb {
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
            Mode::Title => "lens",
            _ => "keeper of the storm lamp",
        };
        for scope in Scope::ALL {
            for sort in Sort::ALL {
                for join in [true, false] {
                    requests.push(Request {
                        mode,
                        scope,
                        sort,
                        join,
                        ..Request::new(query)
                    });
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
    for request in requests() {
        if request.sort == Sort::Recency {
            continue;
        }
        let request = Request { k: 40, ..request };
        let split = search_files(&files, &request).expect("an answer");
        let whole = ask(&all, &request);
        assert!(whole.hits.len() > 1, "{request:?}");
        assert_eq!(facts(&split.hits), facts(&whole.hits), "{request:?}");
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
    requests.push(Request {
        filters: Filters {
            types: vec!["md".to_owned()],
            ..Filters::default()
        },
        ..Request::new("fog horn")
    });
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
fn a_document_stands_for_all_its_chunks_and_is_shown_by_the_best() {
    let (_folder, kb) = one_file();
    for mode in [Mode::Hybrid, Mode::Semantic, Mode::Keyword] {
        let request = Request {
            mode,
            k: 500,
            join: false,
            ..Request::new("keeper of the storm lamp")
        };
        let chunks = ask(&kb, &request).hits;
        let documents = ask(
            &kb,
            &Request {
                scope: Scope::Documents,
                ..request
            },
        );
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
fn neighbours_of_about_the_same_score_make_one_passage() {
    let (_folder, kb) = one_file();
    let request = Request {
        k: 500,
        ..Request::new("keeper of the storm lamp")
    };
    let apart = ask(
        &kb,
        &Request {
            join: false,
            ..request.clone()
        },
    );
    let joined = ask(&kb, &request);
    assert!(joined.hits.iter().any(|hit| hit.chunks > 1), "none joined");
    assert!(apart.hits.iter().all(|hit| hit.chunks == 1));
    let chunks: u32 = joined.hits.iter().map(|hit| hit.chunks).sum();
    assert_eq!(
        chunks as usize,
        apart.hits.len(),
        "every chunk in one passage"
    );
    for hit in &joined.hits {
        let text = kb.text(&hit.document, None).expect("text").text;
        let (start, end) = (hit.span.start as usize, hit.span.end as usize);
        assert_eq!(text[start..end], hit.text);
        assert_eq!(hit.matches, hit.chunks);
        assert!(hit.chunks == 1 || hit.text.len() <= 4096);
        let parts = apart.hits.iter().filter(|chunk| {
            chunk.document == hit.document
                && chunk.span.start >= hit.span.start
                && chunk.span.end <= hit.span.end
        });
        let parts: Vec<&Hit> = parts.collect();
        let best = parts.iter().map(|chunk| chunk.score).fold(0.0, f32::max);
        assert_eq!(best, hit.score);
        assert!(parts.iter().all(|chunk| chunk.score >= 0.75 * best));
        assert_eq!(parts.len(), hit.chunks as usize);
    }
    let scores: Vec<f32> = joined.hits.iter().map(|hit| hit.score).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b));
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
    let indexed = writer.index(&[sources], &Default::default(), &mut |_| ());
    indexed.expect("indexed");
    let kb = Kb::open(&file).expect("it opens");
    let order = |sort, mode| {
        let request = Request {
            sort,
            mode,
            ..Request::new("lamp")
        };
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
        let request = Request {
            min_score: floor,
            ..Request::new("lamp")
        };
        assert_eq!(ask(&kb, &request).hits, best_first[..left]);
    }
}

#[test]
fn lines_around_a_hit_are_those_of_the_document() {
    let (_folder, kb) = one_file();
    for (before, after) in [(0, 0), (1, 0), (0, 3), (4, 7), (1000, 1000)] {
        let request = Request {
            k: 40,
            context: (before, after),
            ..Request::new("keeper of the storm lamp")
        };
        for hit in ask(&kb, &request).hits {
            let text = kb.text(&hit.document, None).expect("text").text;
            let (head, rest) = text.split_at(hit.span.start as usize);
            let tail = &rest[hit.text.len()..];
            assert!(head.ends_with(&hit.before) && tail.starts_with(&hit.after));
            let lines = |text: &str| text.split_inclusive('\n').count();
            assert_eq!(lines(&hit.before), lines(head).min(before as usize));
            assert_eq!(lines(&hit.after), lines(tail).min(after as usize));
        }
    }
    let request = Request {
        context: (0, 1001),
        ..Request::new("lamp")
    };
    assert_eq!(kb.search(&request).unwrap_err().code(), "INVALID_ARGUMENT");
}

#[test]
fn a_preview_is_the_part_of_the_document_that_its_span_and_lines_name() {
    let (_folder, kb) = one_file();
    for characters in [1, 7, 60, 500, 100_000] {
        let request = Request {
            k: 40,
            preview: Some(characters),
            ..Request::new("keeper of the storm lamp")
        };
        for hit in ask(&kb, &request).hits {
            assert!(hit.text.chars().count() <= characters);
            let text = kb.text(&hit.document, None).expect("text").text;
            let (start, end) = (hit.span.start as usize, hit.span.end as usize);
            assert_eq!(text[start..end], hit.text);
            let line = |at: usize| text[..at].matches('\n').count() as u32 + 1;
            assert_eq!(hit.lines.first, line(start));
            let shown = hit.text.strip_suffix('\n').unwrap_or(&hit.text);
            assert_eq!(hit.lines.last, line(start + shown.len()));
            assert!(
                hit.marks
                    .iter()
                    .all(|mark| hit.text.get(mark.clone()).is_some())
            );
            assert!(hit.text.get(hit.best_lines.clone()).is_some());
        }
    }
}

#[test]
fn what_cannot_be_asked_is_refused_by_name() {
    let (_folder, kb) = one_file();
    let lamp = || Request::new("lamp");
    let wrong = [
        Request::new(" \n"),
        Request { k: 0, ..lamp() },
        Request {
            k: 10_001,
            ..lamp()
        },
        Request {
            min_score: -0.1,
            ..lamp()
        },
        Request {
            min_score: f32::NAN,
            ..lamp()
        },
        Request {
            preview: Some(0),
            ..lamp()
        },
    ];
    for request in wrong {
        let error = kb.search(&request).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT", "{request:?}");
    }
    let all = ask(
        &kb,
        &Request {
            k: 10_000,
            ..lamp()
        },
    );
    assert!(!all.hits.is_empty() && all.paging.continuation.is_none());
}
