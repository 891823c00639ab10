use kb_types::syntax::nesting;
use kb_types::{
    Class, Heading, Lines, Page, PageSource, Part, PartContent, Sheet, Slide, Span, Symbol,
    SymbolKind, Syntax, SyntaxCut, SyntaxFallback,
};
use proptest::prelude::*;

use super::*;

fn answer_bytes(result: &Result<Document, Refusal>, is_last: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_answer(&mut bytes, result, is_last).unwrap();
    bytes
}

fn read(bytes: &[u8]) -> io::Result<Answer> {
    read_answer(&mut &bytes[..], "a.docx")
}

/// A document with two parts of a kind, and an outline.
fn document(kind: u8) -> Document {
    let content = |title: &str, notes| match kind {
        0 => PartContent::Page(Page {
            source: PageSource::Rendered,
            label: title.to_owned(),
        }),
        1 => PartContent::Sheet(Sheet {
            name: title.to_owned(),
            rows: 7,
            columns: 2,
            header_row: Some(6),
            is_hidden: true,
            uncalculated: 1,
            runs: vec![(0, 6)],
        }),
        _ => PartContent::Slide(Slide {
            title: title.to_owned(),
            notes,
            is_hidden: false,
        }),
    };
    let part = |start, line, content| Part {
        start,
        line,
        content,
    };
    Document {
        path: "a.docx".to_owned(),
        title: "One".to_owned(),
        file_type: "docx".to_owned(),
        language: String::new(),
        class: Class::Doc,
        text: "one\ntwo\nthree\nfour\n".to_owned(),
        outline: vec![Heading {
            level: 2,
            title: "One".to_owned(),
            start: 0,
            line: 1,
            symbol: None,
        }],
        line_numbers: Vec::new(),
        parts: vec![
            part(0, 1, content("first", Some(4))),
            part(8, 3, content("second", None)),
        ],
        metadata: vec![("author".to_owned(), "Anna".to_owned())],
        syntax: Syntax::default(),
    }
}

/// A page of HTML, whose lines are others than those of its text.
fn with_line_numbers() -> Document {
    Document {
        file_type: "html".to_owned(),
        language: "html".to_owned(),
        line_numbers: vec![1, 3, 3, 9],
        parts: Vec::new(),
        ..document(0)
    }
}

/// Bookmarks that are not in the order of the text.
fn with_bookmarks() -> Document {
    let bookmark = |title: &str, start, line| Heading {
        level: 1,
        title: title.to_owned(),
        start,
        line,
        symbol: None,
    };
    Document {
        outline: vec![bookmark("Two", 4, 2), bookmark("One", 0, 1)],
        ..document(0)
    }
}

/// A program with a symbol in another.
fn with_syntax() -> Document {
    let symbol = |name: &str, start, parent| Symbol {
        kind: SymbolKind::Class,
        name: name.to_owned(),
        keyword: "class".to_owned(),
        parent,
        doc: (start == 0).then_some(Span { start: 0, end: 3 }),
        span: Span { start, end: 4 },
        head: Span { start, end: start },
        lines: Lines { first: 1, last: 2 },
        name_start: start,
    };
    let cut = |at, depth| SyntaxCut {
        at,
        depth,
        is_attached: depth > 0,
    };
    let symbols = vec![symbol("A", 0, None), symbol("B", 4, Some(0))];
    Document {
        outline: nesting::outline(&symbols),
        file_type: "python".to_owned(),
        language: "python".to_owned(),
        parts: Vec::new(),
        syntax: Syntax {
            symbols,
            cuts: vec![cut(0, 0), cut(4, u16::MAX)],
            uses: Vec::new(),
            fallback: Some(SyntaxFallback::TooLarge(7)),
        },
        ..document(0)
    }
}

/// What a worker may say of a program that would harm its parent.
#[test]
fn syntax_that_does_not_stand_in_the_text_is_refused() {
    let harms: [fn(&mut Syntax); 6] = [
        |syntax| syntax.symbols[1].parent = Some(1),
        |syntax| syntax.symbols[0].span.end = 10_000,
        |syntax| syntax.symbols[0].doc = Some(Span { start: 3, end: 1 }),
        |syntax| syntax.symbols[0].name.clear(),
        |syntax| syntax.cuts[1].at = 3,
        |syntax| syntax.cuts.swap(0, 1),
    ];
    for harm in harms {
        let mut document = with_syntax();
        harm(&mut document.syntax);
        let bytes = answer_bytes(&Ok(document), false);
        assert_eq!(read(&bytes).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}

fn examples() -> Vec<Document> {
    vec![
        with_syntax(),
        document(0),
        document(1),
        document(2),
        with_line_numbers(),
        with_bookmarks(),
    ]
}

#[test]
fn documents_come_back_as_they_were_sent() {
    for document in examples() {
        for is_last in [false, true] {
            let answer = read(&answer_bytes(&Ok(document.clone()), is_last)).unwrap();
            assert_eq!(answer.is_last, is_last);
            assert_eq!(answer.result.unwrap(), document);
        }
    }
}

#[test]
fn refusals_come_back_with_their_kind_and_reason() {
    for kind in [
        RefusalKind::Unreadable,
        RefusalKind::Encrypted,
        RefusalKind::Limit,
        RefusalKind::Failed,
    ] {
        let refusal = Refusal::new(kind, "a reason");
        let answer = read(&answer_bytes(&Err(refusal.clone()), false)).unwrap();
        assert_eq!(answer.result, Err(refusal));
    }
    let long = Refusal::new(RefusalKind::Failed, "\u{e9}".repeat(MAX_REASON_BYTES));
    let answer = read(&answer_bytes(&Err(long), false)).unwrap();
    assert_eq!(answer.result.unwrap_err().reason.len(), MAX_REASON_BYTES);
}

/// A worker does not know whether it was killed, or whether there is another one.
#[test]
fn a_worker_cannot_speak_for_its_parent() {
    for kind in [RefusalKind::Interrupted, RefusalKind::NoWorker] {
        let bytes = answer_bytes(&Err(Refusal::new(kind, "")), false);
        assert_eq!(read(&bytes).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}

#[test]
fn requests_come_back_as_they_were_sent_until_there_are_none() {
    let mut bytes = Vec::new();
    write_request(&mut bytes, "a.docx", 30, b"content").unwrap();
    write_request(&mut bytes, "", 1, b"").unwrap();
    let mut input = &bytes[..];
    let request = |path: &str, cpu_seconds, content: &[u8]| {
        Some(Request {
            path: path.to_owned(),
            cpu_seconds,
            content: content.to_vec(),
        })
    };
    assert_eq!(
        read_request(&mut input).unwrap(),
        request("a.docx", 30, b"content")
    );
    assert_eq!(read_request(&mut input).unwrap(), request("", 1, b""));
    assert_eq!(read_request(&mut input).unwrap(), None);
}

#[test]
fn only_a_worker_of_this_version_is_taken_for_one() {
    let protection = WorkerProtection {
        has_limits: true,
        has_sandbox: false,
    };
    let mut hello = Vec::new();
    write_hello(&mut hello, protection).unwrap();
    assert_eq!(read_hello(&mut &hello[..]).unwrap(), protection);
    let last = hello.len() - 1;
    for (at, told) in [(0, "no extraction worker"), (last, "another version")] {
        let mut other = hello.clone();
        other[at] ^= 1;
        let error = read_hello(&mut &other[..]).unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
    }
    assert!(read_hello(&mut &hello[..last]).is_err());
}

#[test]
fn answers_that_contradict_themselves_are_lies() {
    type Lie = (&'static str, fn(&mut Document));
    let changes: [Lie; 9] = [
        ("an unknown file type", |it| it.file_type = "secret".into()),
        ("an unknown language", |it| it.language = "secret".into()),
        ("headings that do not stand", |it| {
            it.outline[0].start = 1_000
        }),
        ("headings that do not stand", |it| it.outline[0].level = 0),
        ("headings that do not stand", |it| {
            it.text = "\u{e9}".repeat(9);
            it.outline[0].start = 1;
        }),
        ("one of its parts", |it| it.parts[1].line = 9),
        ("its first part does not begin", |it| it.parts.swap(0, 1)),
        ("numbers that are not those", |it| {
            it.parts.clear();
            it.line_numbers = vec![1];
        }),
        ("parts in a text whose lines", |it| {
            it.line_numbers = vec![1, 2, 3, 4]
        }),
    ];
    for (told, change) in changes {
        let mut lie = document(0);
        change(&mut lie);
        let error = read(&answer_bytes(&Ok(lie), false)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(error.to_string().contains(told), "{told}: {error}");
    }
}

/// A length is not believed before its bytes come.
#[test]
fn lengths_over_the_limits_allocate_nothing() {
    let head = |kind: u8, fields: u32, text: u32| {
        let numbers = [fields.to_le_bytes(), text.to_le_bytes()].concat();
        [vec![kind, 0], numbers].concat()
    };
    for (bytes, kind) in [
        (head(0, u32::MAX, 0), io::ErrorKind::InvalidData),
        (head(0, 0, u32::MAX), io::ErrorKind::InvalidData),
        (head(1, 1, 0), io::ErrorKind::InvalidData),
        (head(1, 0, 5_000), io::ErrorKind::InvalidData),
        (head(9, 0, 0), io::ErrorKind::InvalidData),
        (
            head(0, MAX_FIELDS_BYTES as u32, 0),
            io::ErrorKind::UnexpectedEof,
        ),
    ] {
        assert_eq!(read(&bytes).unwrap_err().kind(), kind, "{bytes:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_answer_is_a_document_or_an_error(
        which in 0usize..4,
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<Option<prop::sample::Index>>(),
    ) {
        let examples = examples();
        let mut bytes = answer_bytes(&Ok(examples[which].clone()), false);
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(Answer { result: Ok(document), .. }) = read(&bytes) {
            prop_assert_eq!(&document.path, "a.docx");
            // Sound enough to be written: what later rooms index with.
            prop_assert!(kb_types::part::fault_in(&document.parts, &document.text).is_none());
            let stands = |start: u32| document.text.is_char_boundary(start as usize);
            prop_assert!(document.outline.iter().all(|heading| stands(heading.start)));
        }
    }

    #[test]
    fn any_bytes_are_an_answer_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
        let _ = read_hello(&mut &bytes[..]);
        let _ = read_request(&mut &bytes[..]);
    }
}
