//! Results in parts: together they are complete, and a cursor fits only its own request.

use std::ops::Range;

use kb_engine::{
    Cursor, DocumentText, Entry, Kb, KbWriter, Lines, Mode, PageOptions, Paged, Request, Scan,
    Scope, Sort,
};

use super::{facts, one_file, requests};

/// All parts of an answer, and how many there were.
fn all_parts<T>(
    max_tokens: Option<u32>,
    mut ask: impl FnMut(&PageOptions) -> Paged<T>,
) -> (Vec<T>, usize) {
    let mut page = options(max_tokens);
    let (mut all, mut parts) = (Vec::new(), 0);
    loop {
        let paged = ask(&page);
        parts += 1;
        assert!(
            !paged.is_empty() || paged.next.is_none(),
            "an empty part goes on"
        );
        if let Some(max) = max_tokens {
            let is_over = paged.tokens > u64::from(max);
            assert!(!is_over || paged.over_budget);
            assert!(
                !is_over || paged.len() == 1,
                "{} items over the budget",
                paged.len()
            );
        }
        page.cursor = paged.next.clone();
        all.extend(paged);
        if page.cursor.is_none() {
            return (all, parts);
        }
        assert!(parts < 100_000, "no end");
    }
}

/// The part of a text as a list of one.
fn one(text: DocumentText) -> Paged<String> {
    let mut paged = Paged::default();
    paged.items.push(text.text);
    (paged.tokens, paged.over_budget, paged.next) = (text.tokens, text.over_budget, text.next);
    paged
}

fn options(max_tokens: Option<u32>) -> PageOptions {
    let mut page = PageOptions::default();
    page.max_tokens = max_tokens;
    page
}

fn budgets() -> impl Iterator<Item = Option<u32>> {
    [1, 50, 400, 2000, 20_000]
        .into_iter()
        .map(Some)
        .chain([None])
}

#[test]
fn the_parts_of_a_search_are_the_whole_answer() {
    let (_folder, kb) = one_file();
    for request in requests() {
        let whole = request.clone().k(1000);
        let whole = facts(&kb.search(&whole).expect("an answer").hits);
        assert!(!whole.is_empty(), "{request:?}");
        for (max_tokens, k) in budgets().zip([3, 7, 10, 2, 100, 1]) {
            let (hits, parts) = all_parts(max_tokens, |page| {
                let request = request.clone().k(k).page(page.clone());
                let response = kb.search(&request).expect("an answer");
                assert!(response.hits.len() <= k);
                response.hits
            });
            assert_eq!(facts(&hits), whole, "{request:?} {k} {max_tokens:?}");
            assert!(
                parts >= whole.len().div_ceil(k),
                "{request:?} {k} {max_tokens:?}"
            );
        }
    }
}

#[test]
fn the_parts_of_lists_and_texts_are_the_whole() {
    let (_folder, kb) = one_file();
    let documents = super::documents();
    for max_tokens in budgets() {
        for folder in [None, Some("guide"), Some("guide/deep")] {
            let (entries, _) = all_parts(max_tokens, |page| kb.list(folder, page).expect("a list"));
            let whole = kb.list(folder, &PageOptions::default());
            assert_eq!(entries, *whole.expect("a list"));
            let (found, _) = all_parts(max_tokens, |page| {
                kb.documents(folder, true, page).expect("a list")
            });
            let (direct, _) = all_parts(max_tokens, |page| {
                kb.documents(folder, false, page).expect("a list")
            });
            let listed = entries.iter().filter_map(|entry| match entry {
                Entry::Document(document) => Some(document),
                Entry::Folder { .. } => None,
            });
            assert!(direct.iter().eq(listed));
            let prefix = folder.map_or(String::new(), |folder| format!("{folder}/"));
            let mut paths: Vec<&String> = documents.iter().map(|(path, _)| path).collect();
            paths.retain(|path| path.starts_with(&prefix));
            paths.sort();
            assert!(found.iter().map(|document| &document.path).eq(paths));
        }
        let page = options(max_tokens);
        let error = kb.documents(Some("guid"), true, &page).unwrap_err();
        assert_eq!(error.code(), "FOLDER_NOT_FOUND");
        for (name, text) in documents.iter().step_by(5) {
            let (pieces, _) = all_parts(max_tokens, |page| {
                let told = kb.text_paged(name, None, page).expect("a text");
                if let Some(lines) = lines_of(text, &told.text) {
                    assert_eq!(told.lines, lines, "{name} {max_tokens:?}");
                }
                one(told)
            });
            assert_eq!(pieces.concat(), *text);
            let lines = Lines { first: 3, last: 20 };
            let whole = kb.text(name, Some(lines)).expect("lines").text;
            let (pieces, _) = all_parts(max_tokens, |page| {
                let told = kb.text_paged(name, Some(lines), page).expect("lines");
                assert!(told.lines.first >= 3 && told.lines.last <= 20);
                if let Some(lines) = lines_of(text, &told.text) {
                    assert_eq!(told.lines, lines, "{name} {max_tokens:?}");
                }
                one(told)
            });
            assert_eq!(pieces.concat(), whole);
            let (sections, _) = all_parts(max_tokens, |page| {
                kb.sections(name, page).expect("sections").sections
            });
            let headings = kb.outline(name).expect("an outline").headings;
            assert_eq!(sections.len(), headings.len());
            for (section, heading) in sections.iter().zip(&headings) {
                assert_eq!(
                    (&section.title, section.span.start, section.lines.first),
                    (&heading.title, heading.start, heading.line)
                );
                let (pieces, _) = all_parts(max_tokens, |page| {
                    let told = kb.section_text(name, &section.number, page);
                    one(told.expect("a section"))
                });
                let span = section.span.start as usize..section.span.end as usize;
                assert_eq!(pieces.concat(), text[span], "{name} {}", section.number);
            }
            let (chunks, _) = all_parts(max_tokens, |page| {
                kb.chunks(name, None, page).expect("chunks")
            });
            let mut spans: Vec<_> = chunks.iter().map(|chunk| (chunk.index, chunk.at)).collect();
            spans.dedup_by(|next, last| {
                let is_rest = next.0 == last.0;
                if is_rest {
                    assert_eq!(last.1.span.end, next.1.span.start);
                    last.1.span.end = next.1.span.end;
                    last.1.lines.last = next.1.lines.last;
                }
                is_rest
            });
            let spans: Vec<_> = spans.into_iter().map(|(_, at)| at).collect();
            assert_eq!(spans, kb.chunk_spans(name).expect("chunks"));
            let texts: String = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
            assert_eq!(texts, *text);
        }
    }
}

/// The lines of `text` that `part` covers, if it stands at one place only.
fn lines_of(text: &str, part: &str) -> Option<Lines> {
    let mut starts = text.match_indices(part).map(|(at, _)| at);
    let (start, None) = (starts.next()?, starts.next()) else {
        return None;
    };
    let line = |at: usize| text[..at].matches('\n').count() as u32 + 1;
    let shown = part.strip_suffix('\n').unwrap_or(part);
    Some(Lines {
        first: line(start),
        last: line(start + shown.len()),
    })
}

#[test]
fn a_text_is_cut_at_the_end_of_a_line_where_one_fits() {
    let (_folder, kb) = one_file();
    let (name, text) = &super::documents()[5];
    let page = PageOptions::default().max_tokens(60);
    let told = kb.text_paged(name, None, &page).expect("a text");
    assert!(told.text.ends_with('\n') && told.text.len() <= 240);
    assert!(told.next.is_some() && told.text.len() < text.len());
    let next = text[told.text.len()..].split_inclusive('\n').next();
    assert!(
        told.text.len() + next.expect("a line").len() > 240,
        "another line had fitted"
    );
}

#[test]
fn a_cursor_is_bound_to_query_file_and_commit() {
    let (folder, kb) = one_file();
    let other = Kb::open(folder.path().join("all.kb")).expect("it opens");
    let asked = Request::new("storm lamp").k(2);
    let token = |range: Range<usize>| {
        let mut request = asked.clone();
        for _ in range {
            let answer = kb.search(&request).expect("an answer");
            request.page.cursor = answer.hits.next;
        }
        request.page.cursor.expect("a cursor").to_string()
    };
    let given = token(0..1);
    assert_eq!(given, token(0..1), "the same again");
    let with = |kb: &Kb, request: Request, token: &str| {
        let page = PageOptions::default().cursor(Cursor::from(token));
        kb.search(&request.page(page)).map(|answer| answer.hits)
    };
    assert_eq!(
        with(&other, asked.clone(), &given).expect("it goes on"),
        with(&kb, asked.clone(), &given).expect("it goes on")
    );
    let code =
        |kb: &Kb, request: Request, token: &str| with(kb, request, token).unwrap_err().code();
    let question = Request::new("storm").k(2);
    assert_eq!(code(&kb, question, &given), "INVALID_CONTINUATION_TOKEN");
    let changes: [fn(&mut Request); 9] = [
        |request| request.plain = true,
        |request| request.mode = Mode::Keyword,
        |request| request.scope = Scope::Documents,
        |request| request.sort = Sort::Path,
        |request| request.scan = Scan::Exact,
        |request| request.k = 3,
        |request| request.min_score = 0.01,
        |request| request.join = false,
        |request| request.filters.types = vec!["md".to_owned()],
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut request = asked.clone();
        change(&mut request);
        let told = code(&kb, request, &given);
        assert_eq!(told, "INVALID_CONTINUATION_TOKEN", "change {number}");
    }
    for cut in [0, 1, given.len() - 1] {
        assert_eq!(
            code(&kb, asked.clone(), &given[..cut]),
            "INVALID_CONTINUATION_TOKEN"
        );
    }
    let page = PageOptions::default().cursor(given.clone().into());
    let error = kb.list(None, &page).unwrap_err();
    assert_eq!(error.code(), "INVALID_CONTINUATION_TOKEN");
    // The same question, but another kind of answer; the same document, but other lines.
    let first = PageOptions::default().max_tokens(1);
    let next = |cursor: Option<Cursor>| PageOptions::default().cursor(cursor.expect("a cursor"));
    let page = next(kb.documents(None, true, &first).expect("a list").next);
    let error = kb.list(None, &page).unwrap_err();
    assert_eq!(error.code(), "INVALID_CONTINUATION_TOKEN");
    let error = kb.documents(None, false, &page).unwrap_err();
    assert_eq!(error.code(), "INVALID_CONTINUATION_TOKEN");
    let (name, _) = &super::documents()[5];
    let lines = |first, last| Some(Lines { first, last });
    let page = next(
        kb.text_paged(name, lines(1, 9), &first)
            .expect("lines")
            .next,
    );
    for other in [lines(1, 8), lines(2, 9), None] {
        let error = kb.text_paged(name, other, &page).unwrap_err();
        assert_eq!(error.code(), "INVALID_CONTINUATION_TOKEN", "{other:?}");
    }
    let strange = super::file(&folder, "b.kb", &super::documents(), 1);
    assert_eq!(
        code(&strange, asked.clone(), &given),
        "INVALID_CONTINUATION_TOKEN"
    );

    let mut writer = KbWriter::open_or_create(folder.path().join("all.kb")).expect("writer");
    writer.add_bytes("new.txt", b"a storm lamp").expect("added");
    writer.commit().expect("committed");
    assert_eq!(code(&kb, asked.clone(), &given), "CONTINUATION_STALE");
    let fresh = kb.list(None, &PageOptions::default()).expect("a list");
    assert!(
        fresh
            .iter()
            .any(|entry| matches!(entry, Entry::Document(d) if d.path == "new.txt"))
    );
}
