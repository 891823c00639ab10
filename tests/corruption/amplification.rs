//! Small files that expand to large data: output and memory of a reader stay bounded.

use kb_engine::testing::store::tables::{BLOCKS, FACETS};
use kb_engine::{
    ANSWER_LIMIT_BYTES, Class, Filters, Kb, KbWriter, Lines, Mode, PageOptions, Request,
    document_of,
};

use super::ask::ask;
use super::forgery::{RawKey, Stored};

/// A file of documents that are one chunk of so many bytes each.
fn huge_chunks(documents: usize, bytes: usize) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("huge.kb");
    let mut writer = KbWriter::open_or_create(&path).expect("writer");
    for number in 0..documents {
        let text = format!(
            "{}{}",
            "moon ".repeat(6000),
            ".\n".repeat(bytes / 2 - 15_000)
        );
        let document = document_of(&format!("{number}.txt"), text.as_bytes());
        writer
            .add_unchunked(document.expect("text"))
            .expect("added");
    }
    writer.commit().expect("committed");
    (folder, path)
}

#[test]
fn hits_of_huge_chunks_are_cut_and_their_marks_counted() {
    let (_folder, path) = huge_chunks(3, 1_030_000);
    assert!(path.metadata().expect("file").len() < 200 << 10);
    let kb = Kb::open(&path).expect("it opens");
    for mode in Mode::RANKED {
        let request = Request::new("moon").mode(mode);
        let told = kb.search(&request).expect("an answer");
        assert_eq!(told.hits.len(), 3);
        for hit in &told.hits {
            assert!(hit.text.len() <= 1_000_000, "{} bytes", hit.text.len());
            assert!(
                hit.highlights.len() <= 4096,
                "{} highlights",
                hit.highlights.len()
            );
            assert_eq!(hit.span.len() as usize, hit.text.len());
        }
        let cut = |warning: &String| warning.contains("3 of the hits are longer than 1000 KB");
        assert!(told.warnings.iter().any(cut), "{:?}", told.warnings);
    }
}

#[test]
fn an_answer_ends_at_its_largest_size_and_goes_on() {
    let (_folder, path) = huge_chunks(20, 1_000_000);
    let kb = Kb::open(&path).expect("it opens");
    let (mut request, mut documents, mut parts) = (Request::new("moon"), Vec::new(), 0);
    (request.mode, request.k) = (Mode::Keyword, 20);
    loop {
        let told = kb.search(&request).expect("an answer");
        let bytes: usize = told.hits.iter().map(|hit| hit.text.len()).sum();
        assert!(bytes as u64 <= ANSWER_LIMIT_BYTES && !told.hits.is_empty());
        request.page.cursor = told.hits.next.clone();
        documents.extend(told.hits.into_iter().map(|hit| hit.document));
        parts += 1;
        let was_cut = told
            .warnings
            .iter()
            .any(|text| text.contains("was truncated"));
        assert_eq!(was_cut, request.page.cursor.is_some());
        if !was_cut {
            break;
        }
    }
    documents.sort();
    documents.dedup();
    assert_eq!((documents.len(), parts), (20, 2));
}

#[test]
fn a_text_comes_in_pieces_when_nobody_asks_for_less() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("long.kb");
    let mut writer = KbWriter::open_or_create(&path).expect("writer");
    let line = format!("{}\n", ".".repeat(799));
    let text = line.repeat((ANSWER_LIMIT_BYTES as usize + (1 << 20)) / line.len());
    writer
        .add_bytes("long.txt", text.as_bytes())
        .expect("added");
    writer.commit().expect("committed");
    let kb = Kb::open(&path).expect("it opens");
    let all = Lines {
        first: 1,
        last: u32::MAX,
    };
    for lines in [None, Some(all)] {
        let (mut page, mut given) = (PageOptions::default(), String::new());
        loop {
            let piece = kb.text_paged("long.txt", lines, &page).expect("a text");
            assert!(piece.text.len() as u64 <= ANSWER_LIMIT_BYTES);
            given.push_str(&piece.text);
            page.cursor = piece.next;
            if page.cursor.is_none() {
                break;
            }
        }
        assert!(given == text);
    }
    let chunks = kb
        .chunks("long.txt", None, &PageOptions::default())
        .expect("texts");
    let bytes: usize = chunks.iter().map(|chunk| chunk.text.len()).sum();
    assert!(bytes as u64 <= ANSWER_LIMIT_BYTES && chunks.next.is_some());
    assert!(kb.text("long.txt", None).expect("a text").text == text);
    let printed = crate::support::run(
        std::process::Command::new(crate::support::kb_binary())
            .args(["get", "long.txt", "-f"])
            .arg(&path),
    );
    assert!(printed.expect(0).stdout == text);
}

/// The answers of a changed golden file to everything that reads texts; true when one was refused.
fn refuses_texts(what: &str, change: impl FnOnce(&mut Stored)) -> bool {
    let mut stored = Stored::of_golden();
    change(&mut stored);
    match ask(stored.into_bytes(), what) {
        Err(_) => true,
        Ok(answers) => {
            let texts = answers
                .iter()
                .filter(|(asked, _)| asked.starts_with("text"));
            texts.map(|(_, told)| told).any(Result::is_err)
        }
    }
}

#[test]
fn chunks_and_blocks_beyond_what_the_file_states_are_refused() {
    for cap_bytes in [0, 100, (16 << 20) + 1, u32::MAX] {
        let lie = |stored: &mut Stored| stored.meta.chunker.cap_bytes = cap_bytes;
        assert!(refuses_texts("cap", lie), "{cap_bytes}");
    }
    // A block that claims 16 MB, of which its chunks explain some KB.
    for claimed in [66 << 10, 16 << 20, u32::MAX] {
        let lie = |stored: &mut Stored| {
            stored.first_column(BLOCKS.0)[12..16].copy_from_slice(&claimed.to_le_bytes());
        };
        assert!(refuses_texts("block", lie), "{claimed}");
    }
}

#[test]
fn a_document_that_claims_four_gigabytes_costs_nothing() {
    for text_bytes in [200 << 20, u32::MAX] {
        let lie = |stored: &mut Stored| {
            for (_, record) in stored.documents.values_mut() {
                record.text_bytes = text_bytes;
            }
        };
        assert!(refuses_texts("record", lie), "{text_bytes}");
        // The last chunk of each document as well.
        let lie = |stored: &mut Stored| {
            let mut ends = Vec::new();
            for (_, record) in stored.documents.values_mut() {
                record.text_bytes = text_bytes;
                ends.push(record.first_row + record.rows - 1);
            }
            let mut chunks = stored.chunk_rows();
            for row in ends {
                if let Some(row) = chunks.get_mut(row as usize) {
                    row[1] = text_bytes;
                }
            }
            stored.set_chunk_rows(&chunks);
        };
        assert!(refuses_texts("record and chunks", lie), "{text_bytes}");
    }
}

#[test]
fn a_facet_of_more_rows_than_its_segment_is_refused() {
    let mut stored = Stored::of_golden();
    let segment = *stored.segments.keys().next().expect("a segment");
    // Facet 3 is the class.
    let key = [&segment.0.to_be_bytes()[..], &[3], b"doc"].concat();
    // 65536 containers of one run each, in the portable form: about 1 MB for 2^32 rows.
    let mut bitmap = ((65_535u32 << 16) | 12_347).to_le_bytes().to_vec();
    bitmap.extend([0xff; 8192]);
    for container in 0..=u16::MAX {
        bitmap.extend(container.to_le_bytes());
        bitmap.extend(u16::MAX.to_le_bytes());
    }
    for container in 0..=u16::MAX {
        let start = 8196 + 65_536 * 8 + u32::from(container) * 6;
        bitmap.extend(start.to_le_bytes());
    }
    for _ in 0..=u16::MAX {
        bitmap.extend([1, 0, 0, 0, 0xff, 0xff]);
    }
    stored.raw.push((FACETS, RawKey::Bytes(key), bitmap));
    let kb = Kb::from_bytes(stored.into_bytes()).expect("it opens");
    let request = Request::new("fog signals").filters(Filters::new().classes([Class::Doc]));
    let error = kb.search(&request).unwrap_err();
    assert!(error.to_string().contains("the segment has"), "{error}");
}
