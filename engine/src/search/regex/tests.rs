use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use kb_types::PartAddress;
use kb_types::error::Error;
use proptest::prelude::*;
use regex_automata::meta;
use regex_automata::util::syntax;

use super::*;
use crate::kb::{Kb, KbWriter, search_files_regex};
use crate::paging::PageOptions;
use crate::progress::Progress;
use crate::search::filters::Filters;

/// A file of several commits, which are several segments.
fn kb(commits: &[&[(&str, &str)]]) -> (tempfile::TempDir, Kb) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&file).unwrap().without_merges();
    for documents in commits {
        for (path, text) in *documents {
            writer.add_bytes(path, text.as_bytes()).unwrap();
        }
        writer.commit().unwrap();
    }
    (folder, Kb::open(&file).unwrap())
}

/// Path, first line and text of each match of all pages of at most `k` items.
fn all(kb: &Kb, request: &RegexRequest) -> Vec<(String, u32, String)> {
    let mut found = Vec::new();
    let mut request = request.clone();
    for _ in 0..10_000 {
        let response = kb.search_regex(&request).unwrap();
        found.extend(response.matches.items.into_iter().map(|item| {
            let first = item.lines.first;
            (item.document, first, item.text)
        }));
        match response.matches.next {
            Some(cursor) => request.page.cursor = Some(cursor),
            None => return found,
        }
    }
    panic!("the pages do not end")
}

/// The same from whole texts, line by line.
fn expected(kb: &Kb, request: &RegexRequest, paths: &[&str]) -> Vec<(String, u32, String)> {
    let pattern = if request.literal {
        regex_syntax::escape(&request.pattern)
    } else {
        request.pattern.clone()
    };
    let syntax = syntax::Config::new()
        .case_insensitive(request.ignore_case)
        .multi_line(true)
        .crlf(true);
    let regex = meta::Builder::new().syntax(syntax).build(&pattern).unwrap();
    let mut paths = paths.to_vec();
    paths.sort_unstable();
    let mut found = Vec::new();
    for path in paths {
        let text = kb.text(path, None).unwrap().text;
        for (number, line) in (1..).zip(text.split_terminator('\n')) {
            let line = line.strip_suffix('\r').unwrap_or(line);
            if regex.is_match(line) {
                found.push((path.to_owned(), number, line.to_owned()));
            }
        }
    }
    found
}

#[test]
fn lines_come_in_the_order_of_paths_and_lines() {
    let (_folder, kb) = kb(&[
        &[("b.rs", "fn b() {}\n// fn\n"), ("d.txt", "none\nfn d\n")],
        &[("a.md", "# A\n\na fn, a fn\n"), ("c.py", "def f(): pass\n")],
    ]);
    let response = kb.search_regex(&RegexRequest::new(r"\bfn\b")).unwrap();
    let lines = response.matches.iter().map(|item| {
        let ranges = item.ranges.iter().map(|range| &item.text[range.clone()]);
        assert!(ranges.clone().all(|text| text == "fn"));
        (
            &*item.document,
            item.lines.first,
            &*item.text,
            ranges.count(),
        )
    });
    assert_eq!(
        lines.collect::<Vec<_>>(),
        [
            ("a.md", 3, "a fn, a fn", 2),
            ("b.rs", 1, "fn b() {}", 1),
            ("b.rs", 2, "// fn", 1),
            ("d.txt", 2, "fn d", 1),
        ]
    );
    assert!(response.is_complete && response.matches.next.is_none());
    assert_eq!(response.warnings, [""; 0]);
}

#[test]
fn changed_and_removed_documents_are_not_found() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&file).unwrap().without_merges();
    for name in ["a.txt", "b.txt", "c.txt"] {
        writer.add_bytes(name, b"walrus\n").unwrap();
    }
    writer.commit().unwrap();
    writer.remove("a.txt").unwrap();
    writer.replace_bytes("c.txt", b"seal\nwalrus\n").unwrap();
    writer.commit().unwrap();
    let found = all(&Kb::open(&file).unwrap(), &RegexRequest::new("walrus"));
    let found: Vec<(&str, u32)> = found
        .iter()
        .map(|(path, line, _)| (&**path, *line))
        .collect();
    assert_eq!(found, [("b.txt", 1), ("c.txt", 2)]);
}

#[test]
fn counts_and_documents_are_one_item_a_document() {
    let (_folder, kb) = kb(&[&[
        ("a.txt", "x\nx x\ny\n"),
        ("b.txt", "y\n"),
        ("c.txt", &"x\n".repeat(50_000)),
    ]]);
    let items = |output| {
        let response = kb
            .search_regex(&RegexRequest::new("x").output(output))
            .unwrap();
        let items = response.matches.items.into_iter();
        items
            .map(|item| {
                assert_eq!((item.lines.first, &*item.text), (0, ""));
                (item.document, item.matching_lines)
            })
            .collect::<Vec<_>>()
    };
    let (a, c) = ("a.txt".to_owned(), "c.txt".to_owned());
    assert_eq!(
        items(RegexOutput::Counts),
        [(a.clone(), 2), (c.clone(), 50_000)]
    );
    assert_eq!(items(RegexOutput::Documents), [(a, 1), (c, 1)]);
}

#[test]
fn filters_and_named_documents_restrict_the_search() {
    let (_folder, kb) = kb(&[
        &[("src/a.rs", "tide\n"), ("src/b.py", "tide\n")],
        &[("docs/a.md", "tide\n"), ("docs/low.md", "ebb\n")],
    ]);
    let paths = |filters: Filters, names: &[&str]| {
        let request = RegexRequest::new("tide")
            .filters(filters)
            .documents(names.to_vec());
        let found = kb.search_regex(&request)?.matches.items.into_iter();
        Ok::<_, Error>(found.map(|item| item.document).collect::<Vec<_>>())
    };
    let all = Filters::new;
    assert_eq!(
        paths(all().folders(["src"]), &[]).unwrap(),
        ["src/a.rs", "src/b.py"]
    );
    assert_eq!(paths(all().languages(["rs"]), &[]).unwrap(), ["src/a.rs"]);
    assert_eq!(paths(all().paths(["*.md"]), &[]).unwrap(), ["docs/a.md"]);
    assert_eq!(
        paths(all(), &["b.py", "docs/a.md"]).unwrap(),
        ["docs/a.md", "src/b.py"]
    );
    assert_eq!(paths(all().types(["rust"]), &["b.py"]).unwrap(), [""; 0]);
    assert_eq!(
        paths(all(), &["c.py"]).unwrap_err().code(),
        "DOCUMENT_NOT_FOUND"
    );
    assert_eq!(
        paths(all().folders(["lib"]), &[]).unwrap_err().code(),
        "FOLDER_NOT_FOUND"
    );
}

#[test]
fn a_line_of_a_sheet_or_page_has_its_row_or_lines() {
    let rows = "name,path\nA,C:\\tide\\x\n\"two, \"\"b\"\"\",ebb\ttide\n";
    let page = "<html><body><p>one</p>\n\n<p>the tide\ncomes</p></body></html>";
    let (_folder, kb) = kb(&[&[("t.csv", rows), ("p.html", page), ("e.txt", "")]]);
    let found = kb
        .search_regex(&RegexRequest::new(r"\\tide\\|ebb tide|the tide"))
        .unwrap();
    let items = found.matches.items;
    assert_eq!(items.len(), 3, "{items:?}");
    assert_eq!(items[0].document, "p.html");
    assert!(items[0].lines_are_of_passage && items[0].lines.first >= 1);
    assert_eq!((&*items[1].text, items[1].lines.first), (r"A	C:\tide\x", 2));
    assert_eq!(&items[1].text[items[1].ranges[0].clone()], r"\tide\");
    let Some(PartAddress::Sheet {
        first_row,
        last_row,
        ..
    }) = items[2].part
    else {
        panic!("{:?}", items[2]);
    };
    assert_eq!(
        (first_row, last_row, &*items[2].text),
        (3, 3, "two, \"b\"\tebb tide")
    );
}

#[test]
fn pages_of_an_answer_are_the_whole_answer() {
    let long = "tide \u{fc}ber alles\n\nrow\ttide \\ x\n".repeat(900);
    let csv = "a,tide\\x\nb,c\n".repeat(6000);
    let (_folder, kb) = kb(&[
        &[("b/long.txt", &long), ("z.csv", &csv)],
        &[("a.txt", "tide"), ("c.txt", "low\r\ntide\r\n")],
    ]);
    let whole = RegexRequest::new("tide|^$").k(10_000);
    let paths = ["b/long.txt", "z.csv", "a.txt", "c.txt"];
    let wanted = expected(&kb, &whole, &paths);
    assert!(wanted.len() > 6000);
    assert_eq!(all(&kb, &whole), wanted);
    for request in [
        whole.clone().k(17),
        whole.clone().page(PageOptions::default().max_tokens(300)),
        whole.clone().max_scan_bytes(1),
        whole.clone().time_limit(Duration::ZERO),
        whole.clone().max_scan_bytes(1).multi_line(true),
    ] {
        assert_eq!(all(&kb, &request), wanted, "{request:?}");
    }
    let counts = whole.output(RegexOutput::Counts).max_scan_bytes(1);
    assert_eq!(all(&kb, &counts).len(), 4);
}

#[test]
fn a_search_that_stops_early_says_so() {
    let text = "low\n".repeat(50_000);
    let (_folder, kb) = kb(&[&[("a.txt", &text), ("b.txt", "tide\n")]]);
    let request = RegexRequest::new("tide").max_scan_bytes(1000);
    let response = kb.search_regex(&request).unwrap();
    assert!(!response.is_complete && response.matches.is_empty());
    assert!(response.matches.next.is_some());
    assert!(
        response.warnings[0].contains("stopped"),
        "{:?}",
        response.warnings
    );
    assert!(response.searched_bytes < 70_000 && response.text_bytes > 200_000);
    assert_eq!(all(&kb, &request).len(), 1);
}

#[test]
fn a_cursor_is_valid_for_its_own_pattern_only() {
    let (_folder, kb) = kb(&[&[("a.txt", "tide\ntide\n")]]);
    let request = RegexRequest::new("tide").k(1);
    let cursor = kb.search_regex(&request).unwrap().matches.next.unwrap();
    let page = PageOptions::default().cursor(cursor);
    let code = |request: RegexRequest| {
        let answer = kb.search_regex(&request.page(page.clone()));
        answer.err().map(|error| error.code())
    };
    assert_eq!(code(request.clone().k(5)), None);
    for other in [
        RegexRequest::new("tid"),
        RegexRequest::new("tide").ignore_case(true),
        RegexRequest::new("tide").output(RegexOutput::Counts),
        RegexRequest::new("tide").filters(Filters::new().paths(["*"])),
    ] {
        assert_eq!(code(other), Some("INVALID_CONTINUATION_TOKEN"));
    }
}

#[test]
fn long_lines_are_shown_around_their_first_match() {
    let line = format!("{}\u{fc}tide{}\n", "a".repeat(5000), "\u{fc}".repeat(5000));
    let (_folder, kb) = kb(&[&[("a.txt", &line)]]);
    let response = kb
        .search_regex(&RegexRequest::new("tide").max_line_bytes(101))
        .unwrap();
    let item = &response.matches[0];
    assert!(
        item.text.len() <= 101 && item.text.len() > 95,
        "{}",
        item.text
    );
    assert!(item.begins_within_line && item.ends_within_line);
    assert_eq!(&item.text[item.ranges[0].clone()], "tide");
    let whole = kb
        .search_regex(&RegexRequest::new("tide").max_line_bytes(50_000))
        .unwrap();
    assert_eq!(whole.matches[0].text, line.trim_end());
}

#[test]
fn several_files_are_searched_one_after_the_other() {
    let (_one, first) = kb(&[&[("b.txt", "tide 1\n"), ("c.txt", "tide 2\n")]]);
    let (_two, second) = kb(&[&[("a.txt", "tide 3\n")]]);
    let mut request = RegexRequest::new("tide").k(1);
    let mut found = Vec::new();
    loop {
        let files = [&first, &second];
        let response = search_files_regex(&files, &request, &mut Progress::ignore).unwrap();
        let items = response.matches.items.into_iter();
        found.extend(items.map(|item| (item.file, item.text)));
        match response.matches.next {
            Some(cursor) => request.page.cursor = Some(cursor),
            None => break,
        }
    }
    let texts: Vec<(usize, &str)> = found.iter().map(|(file, text)| (*file, &**text)).collect();
    assert_eq!(texts, [(0, "tide 1"), (0, "tide 2"), (1, "tide 3")]);
    let request = RegexRequest::new("tide").documents(["a.txt"]);
    let files = [&first, &second];
    let response = search_files_regex(&files, &request, &mut Progress::ignore).unwrap();
    assert_eq!(response.matches.len(), 1);
}

/// Words without an upper-case letter.
fn prose(lines: usize, line_end: char) -> String {
    let mut number = 7u64;
    let mut text = String::new();
    for _ in 0..lines {
        for _ in 0..12 {
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695);
            for letter in number
                .to_be_bytes()
                .iter()
                .take(2 + (number >> 61) as usize)
            {
                text.push(char::from(b'a' + letter % 25));
            }
            text.push(' ');
        }
        text.push(line_end);
    }
    text
}

#[test]
fn a_pattern_that_looks_for_the_end_from_each_match_takes_linear_time() {
    let text = prose(6000, '\n');
    let (_folder, kb) = kb(&[&[("prose.txt", &text)]]);
    for pattern in ["(?s).*Z|.", "(?s)[a-m]+(?:.*Z)?", "(?si:e.*\u{e9}|[a-e])"] {
        let request = RegexRequest::new(pattern).multi_line(true).k(1000);
        let began = Instant::now();
        let found = all(&kb, &request);
        assert_eq!(found.len(), 6000, "{pattern}");
        assert!(
            found
                .iter()
                .zip(1..)
                .all(|((_, line, _), number)| *line == number)
        );
        assert!(began.elapsed() < Duration::from_secs(60), "{pattern}");
    }
}

#[test]
fn a_line_that_takes_longer_than_the_limit_is_left_out_with_a_warning() {
    let text = format!("tide 1\n{}tide 2\ntide 3\n", prose(4000, ' '));
    let (_folder, kb) = kb(&[&[("a/long.txt", &text), ("b.txt", "tide 4\n")]]);
    let pattern = "[a-z ]*e[a-z ]{20000}[A-Z]|^tide";
    for is_multi_line in [false, true] {
        let mut request = RegexRequest::new(pattern)
            .multi_line(is_multi_line)
            .time_limit(Duration::from_millis(20));
        let (mut found, mut warnings, mut pages) = (Vec::new(), Vec::new(), 0);
        loop {
            let began = Instant::now();
            let response = kb.search_regex(&request).unwrap();
            assert!(
                began.elapsed() < Duration::from_secs(5),
                "{:?}",
                began.elapsed()
            );
            found.extend(response.matches.items.iter().map(|item| item.text.clone()));
            let is_left_out = response
                .warnings
                .iter()
                .any(|warning| warning.contains("too long"));
            assert!(!is_left_out || !response.is_complete);
            warnings.extend(response.warnings);
            pages += 1;
            match response.matches.next {
                Some(cursor) => request.page.cursor = Some(cursor),
                None => break,
            }
            assert!(pages < 20, "{warnings:?}");
        }
        let left_out: Vec<&String> = warnings
            .iter()
            .filter(|warning| warning.contains("too long"))
            .collect();
        let last = left_out.last().unwrap();
        assert!(
            last.contains("line 2") && last.contains("a/long.txt"),
            "{left_out:?}"
        );
        // Over several lines, the line before may reach into the one that takes long.
        assert_eq!(left_out.len(), if is_multi_line { 2 } else { 1 });
        let first: &[&str] = if is_multi_line {
            &["tide 1", "tide 4"]
        } else {
            &["tide 1", "tide 3", "tide 4"]
        };
        assert_eq!(found, first);
    }
}

#[test]
fn a_search_is_stopped_within_a_line() {
    let (_folder, kb) = kb(&[&[("a.txt", &prose(4000, ' '))]]);
    for (pattern, is_multi_line) in [
        ("[a-z ]*e[a-z ]{60000}[A-Z]", false),
        ("(?s)[a-z ]*e[a-z ]{30000}Z|.", true),
    ] {
        for output in [
            RegexOutput::Lines,
            RegexOutput::Counts,
            RegexOutput::Documents,
        ] {
            let request = RegexRequest::new(pattern)
                .multi_line(is_multi_line)
                .output(output);
            let began = Instant::now();
            let mut hook = |_: &Progress| match began.elapsed() < Duration::from_millis(200) {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            };
            let stopped = search_files_regex(&[&kb], &request, &mut hook);
            assert!(
                matches!(stopped, Err(Error::Cancelled)),
                "{pattern}: {stopped:?}"
            );
            assert!(
                began.elapsed() < Duration::from_secs(5),
                "{:?}",
                began.elapsed()
            );
        }
    }
}

#[test]
fn a_long_literal_over_several_lines_is_looked_up_in_linear_time() {
    // Every trigram of ten letters is in every other unit: runs of candidates are as short as can be.
    let block = |first: u8| {
        let letter = |n: u32| char::from(first + (n % 10) as u8);
        let words =
            (0..1000).map(|n| format!("{}{}{} ", letter(n), letter(n / 10), letter(n / 100)));
        let words: String = words.collect();
        format!("{}\n", words.repeat(5))
    };
    let text: String = (0..240)
        .map(|n| block(if n % 2 == 0 { b'a' } else { b'k' }))
        .collect();
    let small: String = block(b'k');
    let (_folder, kb) = kb(&[&[("a.txt", &text), ("b.txt", &small)]]);
    let mut number = 7u64;
    let literal: String = (0..12_000)
        .map(|_| {
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695);
            char::from(b'a' + (number >> 33) as u8 % 10)
        })
        .collect();
    let began = Instant::now();
    let request = RegexRequest::new(literal).multi_line(true);
    let response = kb.search_regex(&request).unwrap();
    assert!(response.matches.is_empty());
    // Only the document with these trigrams was read.
    assert_eq!(response.searched_bytes, text.len() as u64);
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn pages_over_several_lines_are_the_whole_answer() {
    let text = "a\n\nb\n\n\na b\nc\n".repeat(400);
    let csv = "a,b\n\"x \\\\ y\",c\nb,\n".repeat(300);
    let (_folder, kb) = kb(&[&[("a.txt", &text), ("b.csv", &csv)]]);
    for pattern in [
        r"a\s+b",
        r"(?s)b.{0,9}|",
        r"a\n|",
        r"\n\n",
        "^$",
        r"(?s)b.*?\n\n|c",
    ] {
        let whole = RegexRequest::new(pattern).multi_line(true).k(10_000);
        let wanted = all(&kb, &whole);
        assert!(!wanted.is_empty());
        for k in [1, 7] {
            if wanted.len() < 1500 || k > 1 {
                assert_eq!(all(&kb, &whole.clone().k(k)), wanted, "{pattern} {k}");
            }
        }
    }
}

/// Patterns of everything that a pattern may have, over few letters.
fn patterns() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => "[abcAB ]{1,6}",
        1 => Just("\u{fc}b\u{df}".to_owned()),
        1 => Just(".".to_owned()),
        1 => Just(r"\w".to_owned()),
        1 => Just(r"\s".to_owned()),
        1 => Just("[ab]".to_owned()),
        1 => Just("[^a]".to_owned()),
        1 => Just(r"\b".to_owned()),
        1 => Just("^".to_owned()),
        1 => Just("$".to_owned()),
        1 => Just(String::new()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|all| all.concat()),
            prop::collection::vec(inner.clone(), 1..4)
                .prop_map(|all| format!("(?:{})", all.join("|"))),
            (
                inner.clone(),
                prop::sample::select(vec!["*", "+", "?", "{2}", "{1,3}", "*?"])
            )
                .prop_map(|(inner, times)| format!("(?:{inner}){times}")),
            inner.prop_map(|inner| format!("(?i:{inner})")),
        ]
    })
}

/// Texts of few letters, so that patterns are found.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[abcAB ]{0,12}",
        1 => Just("\u{fc}b\u{df}".to_owned()),
        1 => Just("\u{212a}".to_owned()),
        2 => Just("\n".to_owned()),
        1 => Just("\r\n".to_owned()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_answer_is_that_of_each_line_by_itself(
        texts in prop::collection::vec(texts(), 4),
        patterns in prop::collection::vec(patterns(), 12),
        ignore_case in any::<bool>(),
        k in 1usize..20,
    ) {
        let paths = ["c.txt", "a.txt", "d.txt", "b.txt"];
        let named: Vec<(&str, &str)> = paths.iter().copied().zip(texts.iter().map(|text| &**text)).collect();
        let (_folder, kb) = kb(&[&named[..2], &named[2..]]);
        for pattern in patterns {
            let request = RegexRequest::new(&*pattern).ignore_case(ignore_case).k(k);
            let wanted = expected(&kb, &request, &paths);
            prop_assert_eq!(all(&kb, &request), wanted, "{}", pattern);
        }
    }
}
