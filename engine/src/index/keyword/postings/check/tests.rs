use kb_types::SegmentId;
use proptest::prelude::*;

use super::*;
use crate::container::column::{ColumnWriter, MemoryExtents, extent_starts};
use crate::index::keyword::fixture::{Index, prose, word};
use crate::index::keyword::postings::fieldnorms::FieldNorms;
use crate::index::keyword::postings::serializer::InvertedIndexSerializer;
use crate::index::keyword::{
    Analyser, DICTIONARY, DocumentTerms, DocumentTermsBuilder, KeywordRecord, POSTINGS,
};

/// Many rows with one common term, so that its list has several parts.
fn long() -> Index {
    let mut analyser = Analyser::new();
    let documents: Vec<DocumentTerms> = (0..70_000u32)
        .map(|i| {
            let mut builder = DocumentTermsBuilder::new(&mut analyser);
            builder.add_text("always", 1 + i % 3);
            builder.add_text(&word(i % 50), 1 + i % 7);
            builder.end_chunk();
            builder.finish()
        })
        .collect();
    Index::of(&documents)
}

fn refusal(index: &Index) -> String {
    let error = index.try_reader().and_then(|reader| check(&reader, None));
    let error = error.unwrap_err();
    assert_eq!(error.code(), "DAMAGED");
    error.to_string()
}

#[test]
fn what_a_writer_wrote_passes() {
    for documents in [vec![], prose(1, 1, 3), prose(2, 5000, 9000)] {
        check(&Index::of(&documents).reader(), None).unwrap();
    }
    check(&long().reader(), None).unwrap();
}

#[test]
fn frequencies_that_were_cut_at_their_limit_pass() {
    let mut analyser = Analyser::new();
    let mut builder = DocumentTermsBuilder::new(&mut analyser);
    for weight in [1 << 25, u32::MAX, 3] {
        builder.add_text("word other", weight);
        builder.end_chunk();
    }
    let mut index = Index::of(&[builder.finish()]);
    check(&index.reader(), None).unwrap();
    let at = index.extents[2][0].len() - 4;
    index.extents[2][0][at] += 1;
    index.record.total_length += 1;
    assert!(refusal(&index).contains("row 2"), "only where it was cut");
}

#[test]
fn a_changed_length_is_named() {
    let mut index = Index::of(&prose(3, 500, 200));
    index.extents[2][0][0] += 1;
    assert!(refusal(&index).contains("lengths add up to"));
    index.record.total_length += 1;
    // The mean length moves too little to change an impact.
    assert!(refusal(&index).contains("frequencies of row 0"));
}

#[test]
fn a_wrong_total_is_named() {
    let mut index = Index::of(&prose(3, 500, 200));
    index.record.total_length -= 1;
    assert!(refusal(&index).contains("lengths add up to"));
    index.record.total_length += 1;
    index.record.terms -= 1;
    let message = refusal(&index);
    assert!(message.contains("terms where the record has"), "{message}");
}

#[test]
fn a_raised_impact_and_one_that_is_no_number_are_named() {
    // The list of "always", the first term, starts with its count (3 bytes) and two parts (8
    // bytes each); its first entry has the impact after the last row (4 bytes).
    for (high, ok) in [(0x00, true), (0x42, false), (0x7f, false)] {
        let mut index = long();
        index.extents[1][0][3 + 16 + 4 + 1] = high;
        index.extents[1][0][3 + 16 + 4] = 0xc0;
        if ok {
            check(&index.reader(), None).unwrap();
            continue;
        }
        let message = refusal(&index);
        assert!(message.contains("higher impact"), "{message}");
        assert!(message.contains("alway"), "{message}");
    }
}

#[test]
fn a_wrong_entry_of_a_part_is_named() {
    for entry in 0..2 {
        let mut index = long();
        index.extents[1][0][3 + 8 * entry] ^= 1;
        let message = refusal(&index);
        assert!(message.contains("another row than its entry"), "{message}");
    }
}

fn row_lengths(lengths: &[u32]) -> FieldNorms {
    let mut rows = FieldNorms::new(0);
    lengths.iter().for_each(|length| rows.push(*length));
    rows
}

/// The terms of some rows written by hand: term, rows, frequencies.
fn by_hand(lengths: &[u32], terms: &[(&[u8], &[u32], &[u32])]) -> Index {
    let mut sink = MemoryExtents::default();
    let lengths = row_lengths(lengths);
    let mut columns = InvertedIndexSerializer::new(SegmentId(1), &lengths);
    for (term, rows, frequencies) in terms {
        columns.push(&mut sink, term, rows, frequencies).unwrap();
    }
    let record = columns.finish(&mut sink).unwrap();
    Index::from_written(sink, record)
}

#[test]
fn a_missing_term_is_named() {
    let good: [(&[u8], &[u32], &[u32]); 2] = [(b"one", &[0, 1], &[1, 2]), (b"two", &[1], &[3])];
    check(&by_hand(&[1, 5], &good).reader(), None).unwrap();
    let message = refusal(&by_hand(&[1, 5], &good[..1]));
    assert!(message.contains("frequencies of row 1"), "{message}");
    // Other forms of a word count in no length, and a word has few forms.
    check(&by_hand(&[1, 4], &good).reader(), None).unwrap();
    let message = refusal(&by_hand(&[1, 0], &good));
    assert!(message.contains("frequencies of row 1"), "{message}");
}

#[test]
fn a_term_that_is_not_text_is_named() {
    let message = refusal(&by_hand(&[1], &[(b"\xff\xfe", &[0], &[1])]));
    assert!(message.contains("not text"), "{message}");
}

/// An index with other bytes as its dictionary, of one part with that first term.
fn with_dictionary(first_term: &[u8], part: &[u8], terms: u64) -> Index {
    let mut sink = MemoryExtents::default();
    let lengths = InvertedIndexSerializer::new(SegmentId(1), &row_lengths(&[1, 1]))
        .finish(&mut sink)
        .unwrap();
    let mut column = ColumnWriter::items(SegmentId(1), DICTIONARY, 0);
    column.push(&mut sink, part).unwrap();
    let dictionary = column.finish(&mut sink).unwrap();
    let mut column = ColumnWriter::items(SegmentId(1), POSTINGS, 0);
    column.push(&mut sink, &[2, 1, 1]).unwrap();
    let postings = column.finish(&mut sink).unwrap();
    assert_eq!(extent_starts(&postings), [0, 3]);
    let part = crate::index::keyword::record::DictionaryPart {
        first_term: first_term.to_vec(),
        position: 0,
        len_bytes: part.len() as u32,
    };
    let record = KeywordRecord {
        terms,
        dictionary,
        dictionary_parts: vec![part],
        postings,
        ..lengths
    };
    Index::from_written(sink, record)
}

#[test]
fn each_lie_of_a_dictionary_is_named() {
    // One block at byte 8, of the list at 0: "ab" with the list of 3 bytes.
    let good = [1, 0, 0, 0, 8, 0, 0, 0, 0, 0x01, b'a', b'b', 6];
    check(&with_dictionary(b"ab", &good, 1).reader(), None).unwrap();
    let lie = |at: usize, with: &[u8], first_term: &[u8], what: &str| {
        let part = [&good[..at], with].concat();
        let message = refusal(&with_dictionary(first_term, &part, 1));
        assert!(message.contains(what), "{what}: {message}");
    };
    lie(0, &[0, 0, 0, 0], b"ab", "first block");
    lie(
        4,
        &[9, 0, 0, 0, 0, 0, 1, b'a', b'b', 6],
        b"ab",
        "first block",
    );
    lie(8, &[1, 1, b'a', b'b', 6], b"ab", "another list");
    lie(9, &[1, b'a', b'b', 8], b"ab", "beyond the postings");
    lie(9, &[1, b'a', b'b', 0], b"ab", "out of range");
    lie(9, &[1, b'a', b'b', 0b11], b"ab", "go on after");
    lie(
        9,
        &[1, b'a', b'b', 6],
        b"aa",
        "another term than its record",
    );
    lie(9, &[0x11, b'a', b'b', 6], b"ab", "do not ascend");
    // "b" after "ab": right, and told in other ways.
    lie(
        13,
        &[0x00, b'b', 3],
        b"ab",
        "2 terms where the record has 1",
    );
    lie(13, &[0x00, b'a', 3], b"ab", "do not ascend");
    lie(13, &[0x10, b'a', 3], b"ab", "do not ascend");
    lie(13, &[0x10, b'b', 3], b"ab", "do not ascend");
    lie(13, &[0x30, b'c', 3], b"ab", "do not ascend");
    // A row that the segment does not have.
    lie(13, &[0x00, b'b', 0b1011], b"ab", "beyond the segment");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn changed_bytes_give_an_error_or_pass(
        seed in 0u64..4,
        changes in prop::collection::vec(
            (0..3usize, any::<prop::sample::Index>(), any::<u8>()), 1..4,
        ),
    ) {
        let mut index = Index::of(&prose(seed, 1500, 300));
        for (column, at, value) in changes {
            let extent = &mut index.extents[column][0];
            let at = at.index(extent.len());
            extent[at] = value;
        }
        let _ = index.try_reader().and_then(|reader| check(&reader, None));
    }
}
