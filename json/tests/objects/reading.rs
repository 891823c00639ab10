//! Objects of what is read.

use kb_engine::{Entry, KbWriter, PageOptions, Recall, UnquantisedRecall, VerifyOptions};

use crate::assert_shape;
use crate::example::Example;

const HEAD: &str = "document handle title file_type language class tags";

#[test]
fn documents_are_listed_with_folders_and_skipped_files() {
    let example = Example::new();
    let page = PageOptions::default();
    let entries = example.kb.list(None, &page).unwrap().items;
    let folder = entries
        .iter()
        .find(|entry| matches!(entry, Entry::Folder { .. }));
    let folder = kb_json::entry(folder.unwrap());
    assert_shape(&folder, "{folder documents size_bytes}");
    let notes = example.kb.document("notes.md").unwrap();
    let listed = format!(
        "{{{HEAD} size_bytes text_bytes lines chunks modified_ms added_ms hash metadata{{author date}}}}"
    );
    assert_shape(&kb_json::document(&notes), &listed);
    let same = entries
        .iter()
        .find(|entry| matches!(entry, Entry::Document(same) if same.path == notes.path));
    assert_eq!(kb_json::entry(same.unwrap()), kb_json::document(&notes));
    assert_shape(&kb_json::document_head(&notes), &format!("{{{HEAD}}}"));
    let text = kb_json::document_head(&notes).finish();
    assert!(
        text.ends_with(
            r#""file_type":"markdown","language":"markdown","class":"doc","tags":["lamps"]}"#
        ),
        "{text}"
    );
    let skipped = example.kb.skipped(None, &page).unwrap().items;
    let skipped = kb_json::skipped_file(&skipped[0]);
    assert_shape(&skipped, "{skipped reason size_bytes modified_ms}");
}

#[test]
fn a_field_says_its_type_and_its_frequent_values() {
    let fields = Example::new().kb.fields().unwrap();
    let [author, date] = fields.as_slice() else {
        panic!("{fields:?}");
    };
    let shape = "{name type documents values has_more_values top[{documents value}]}";
    assert_shape(&kb_json::field(author), shape);
    let text = kb_json::field(date).finish();
    assert!(
        text.starts_with(r#"{"name":"date","type":"time","documents":1,"values":1,"#),
        "{text}"
    );
    let shape = "{name type documents values has_more_values min max all[{documents value}]}";
    assert_shape(&kb_json::field_with_values(date), shape);
}

#[test]
fn metadata_has_what_a_document_states_and_its_parts() {
    let example = Example::new();
    let notes = example.kb.document("notes.md").unwrap();
    let fields = |parts: &str, stated: &str| {
        format!(
            "{{document handle title author created modified file_type mime_type language class tags {parts}
            size_bytes file_size text_bytes lines chunks modified_ms added_ms metadata{{{stated}}}}}"
        )
    };
    let object = kb_json::metadata(&notes);
    assert_shape(&object, &fields("", "author date"));
    let text = object.finish();
    let stated = r#""author":"Ada","created":"2024-03-01","modified":null,"file_type":"markdown""#;
    assert!(text.contains(stated), "{text}");
    let ledger = example.kb.document("ledger.xlsx").unwrap();
    assert_shape(&kb_json::metadata(&ledger), &fields("sheets", ""));
}

#[test]
fn texts_and_chunks_say_where_they_are() {
    let example = Example::new();
    let page = PageOptions::default();
    let text = example.kb.text_paged("notes.md", None, &page).unwrap();
    let fields = format!("{{{HEAD} start_line end_line document_lines text}}");
    assert_shape(&kb_json::document_text(text), &fields);
    let chunk = |document: &str| {
        let chunks = example.kb.chunks(document, None, &page).unwrap().items;
        kb_json::chunk(document, chunks.into_iter().next().unwrap())
    };
    let fields = |part: &str| {
        format!(
            "{{document chunk index section start_line end_line start_byte end_byte {part} text}}"
        )
    };
    assert_shape(&chunk("notes.md"), &fields(""));
    for (document, part) in [
        ("pilot-book.pdf", "part{page total_pages source label}"),
        ("ledger.xlsx", "part{sheet first_row last_row}"),
        ("talk.pptx", "part{slide total_slides slide_title}"),
    ] {
        assert_shape(&chunk(document), &fields(part));
    }
}

#[test]
fn pages_rows_and_slides_have_their_numbers_and_texts() {
    let example = Example::new();
    let options = PageOptions::default();
    let pages = |document: &str| example.kb.pages(document, &[], &options).unwrap();
    let fields =
        |of_page: &str| format!("{{{HEAD} page total_pages {of_page} start_line end_line text}}");
    for (document, of_page) in [("pilot-book.pdf", "source label"), ("notes.md", "")] {
        let found = pages(document);
        let first = found.pages.items[0].clone();
        let object = kb_json::page_text(&found.document, found.total, first.clone());
        assert_shape(&object, &fields(""));
        let object = kb_json::page(&found.document, found.total, first);
        assert_shape(&object, &fields(of_page));
    }
    let slides = example.kb.slides("talk.pptx", &[], &options).unwrap();
    let first = slides.slides.items[0].clone();
    let object = kb_json::slide(&slides.document, slides.total, first);
    let fields = "slide total_slides slide_title hidden start_line end_line text notes";
    assert_shape(&object, &format!("{{{HEAD} {fields}}}"));

    let sheet = example.kb.sheet("ledger.xlsx", None, None, &options);
    let rows = sheet.unwrap().rows.items;
    let object = |is_header| kb_json::sheet_row("ledger.xlsx", "Dues", &rows[0], is_header);
    assert_eq!(
        object(false).finish(),
        r#"{"document":"ledger.xlsx","sheet":"Dues","row":2,"cells":{"A":"Kittiwake","B":"1 March","C":"$1234.50"},"values":{"B":"2024-03-01","C":1234.5}}"#
    );
    assert_shape(
        &object(true),
        "{document sheet row header cells{A B C} values{B C}}",
    );
}

#[test]
fn an_outline_begins_with_totals_where_there_are_parts() {
    let example = Example::new();
    let page = PageOptions::default();
    let section = |document: &str| {
        let outline = example.kb.sections(document, &page).unwrap();
        assert!(kb_json::sections_total(&outline).is_none());
        kb_json::section(&outline.document, &outline.sections.items[0])
    };
    let lines = "line end_line start_byte end_byte";
    let fields = |kind: &str| format!("{{document section level title {kind} {lines}}}");
    assert_shape(&section("notes.md"), &fields(""));
    assert_shape(&section("logs/lamp.py"), &fields("kind"));
    let paged = example.kb.sections("pilot-book.pdf", &page).unwrap();
    let totals = "document title file_type file_size size_bytes";
    let object = kb_json::sections_total(&paged).unwrap();
    assert_shape(&object, &format!("{{{totals} total_pages page_source}}"));
    for (document, total, part) in [
        (
            "ledger.xlsx",
            "total_sheets total_rows",
            "sheet number rows columns header_row hidden",
        ),
        ("talk.pptx", "total_slides", "slide title hidden"),
        ("pilot-book.pdf", "total_pages", "page label"),
    ] {
        let found = example.kb.parts(document, &page).unwrap();
        let object = kb_json::parts_total(&found);
        assert_shape(&object, &format!("{{{totals} {total}}}"));
        let object = kb_json::part(&found.document, &found.parts.items[0]);
        assert_shape(&object, &format!("{{document {part}}}"));
    }
}

#[test]
fn a_file_says_what_it_holds_and_who_writes_it() {
    let example = Example::new();
    let kb = &example.kb;
    let mut writer = KbWriter::open_or_create(&example.file).unwrap();
    writer.add_bytes("more.md", b"# More").unwrap();
    let (info, sizes) = (kb.info().unwrap(), kb.sizes().unwrap());
    let skipped = kb.skipped_reasons().unwrap();
    let writing = kb.writer().unwrap();
    let object = kb_json::info("a.kb", &info, &skipped, writing.as_ref(), Some(&sizes));
    let fields = "file uuid format created_ms updated_ms commit
        roots[{source prefix git_commit git_branch}] documents chunks deleted_chunks symbols_pending segments text_bytes
        file_bytes model dim vectors vectors_exact
        vector_columns[{name model dim metric codec rows default recall}] recall unquantised_recall listed_segments model_available analyser content_root";
    let text = crate::shape::shape(&object);
    let fields = fields.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.starts_with(&format!("{{{fields} types{{")), "{text}");
    for (name, inner) in [
        ("types", "python"),
        ("languages", "python"),
        ("classes", "code"),
    ] {
        let counts = text.split(&format!(" {name}{{")).nth(1).unwrap();
        let counts = counts.split('}').next().unwrap();
        assert!(
            counts.split(' ').any(|value| value == inner),
            "{name}: {counts}"
        );
    }
    assert!(text.contains(" skipped{"), "{text}");
    let end = " writer{program host process_id since_ms} sizes{file_bytes text_bytes sections[{section bytes}]}}";
    assert!(text.ends_with(end), "{text}");
    drop(writer);
    // Measured of large files only.
    let mut info = info;
    let mut recall = Recall::default();
    recall.recall = 0.98766;
    info.recall = Some(recall);
    let mut unquantised = UnquantisedRecall::default();
    (unquantised.recall, unquantised.exact) = (0.97, 0.98);
    info.unquantised_recall = Some(unquantised);
    let object = kb_json::info("a.kb", &info, &skipped, None, None);
    let recall = r#""recall":{"recall":0.9877,"k":0,"queries":0,"candidates":0,"chunks":0},"#;
    assert!(object.clone().finish().contains(recall));
    let unquantised = r#""unquantised_recall":{"recall":0.97,"exact":0.98,"wanted":null,"lists":0.0,"k":0,"queries":0,"chunks":0,"new_chunks":0},"#;
    assert!(object.clone().finish().contains(unquantised));
    assert!(object.finish().ends_with(r#""writer":{}}"#));
}

#[test]
fn a_check_of_a_file_tells_what_was_read() {
    let example = Example::new();
    let options = VerifyOptions::new();
    let report = example
        .kb
        .verify(&options, &mut kb_engine::Progress::ignore);
    let object = kb_json::verify_report("a.kb", &report.unwrap());
    assert_shape(
        &object,
        "{file damaged documents chunks pages extents bytes deep system_checked content_root problems seconds}",
    );
}
