//! Symbols come back as they were written, and no bytes do harm.

use kb_types::syntax::nesting;
use kb_types::{Lines, Span, SymbolKind};
use proptest::prelude::*;

use super::*;

/// A list that is nested as it must be: each symbol takes some of the room that the one around it has left.
pub(in crate::store::documents::symbols) fn symbols() -> impl Strategy<Value = Vec<Symbol>> {
    let one = (
        0usize..11,
        "[a-z\u{e9}]{1,9}",
        "(fn|class|)",
        0u32..3,
        0u32..300,
        prop::option::of((0u32..400, 0u32..20)),
    );
    prop::collection::vec(one, 0..40).prop_map(|all| {
        let mut symbols: Vec<Symbol> = Vec::new();
        let mut open: Vec<u32> = Vec::new();
        let (mut start, mut line) = (0, 1);
        for (kind, name, keyword, closed, gap, doc) in all {
            open.truncate(open.len().saturating_sub(closed as usize));
            start += gap;
            line += gap % 7;
            let depth = open.len() as u32;
            // All end at one place.
            let span = Span { start, end: 20_000 };
            let doc = doc.map(|(at, length)| Span {
                start: at,
                end: at + length,
            });
            symbols.push(Symbol {
                kind: SymbolKind::ALL[kind],
                name,
                keyword,
                head: Span {
                    start: start + depth,
                    end: start + depth + 9,
                },
                parent: open.last().copied(),
                doc,
                span,
                lines: Lines {
                    first: line,
                    last: line + gap,
                },
                name_start: start + gap % 5,
            });
            open.push(symbols.len() as u32 - 1);
        }
        symbols
    })
}

proptest! {
    #[test]
    fn symbols_come_back_as_they_were_written(symbols in symbols()) {
        prop_assert_eq!(nesting::fault(&symbols, 20_000), None);
        for dictionary in [&b""[..], b"class fn name", &nested::encode(&symbols)] {
            let mut compressor = Compressor::with_dictionary(9, dictionary).unwrap();
            compressor.include_dictid(false).unwrap();
            let row = row(&symbols, &mut compressor, !dictionary.is_empty()).unwrap();
            prop_assert_eq!(&whole(&row, || Ok(dictionary)).to_symbols(), &symbols);
        }
        let body = nested::encode(&symbols);
        let packed = zstd::bulk::compress(&body, 9).unwrap();
        for (form, stored) in [(PLAIN, &body), (ZSTD, &packed)] {
            let row = [[SYMBOLS_VERSION, form].as_slice(), &length(&body), stored].concat();
            prop_assert_eq!(&whole(&row, none).to_symbols(), &symbols);
        }
    }

    #[test]
    fn any_numbers_come_back(
        mut symbols in symbols(),
        numbers in prop::collection::vec(any::<[u32; 9]>(), 40),
    ) {
        for (symbol, numbers) in symbols.iter_mut().zip(numbers) {
            let [start, end, head, head_end, doc, doc_end, first, last, name] = numbers;
            symbol.span = Span { start, end };
            symbol.head = Span { start: head, end: head_end };
            symbol.lines = Lines { first, last };
            symbol.doc = symbol.doc.map(|_| Span { start: doc, end: doc_end });
            symbol.name_start = name;
        }
        prop_assert_eq!(nested::decode(&nested::encode(&symbols)).unwrap().to_symbols(), symbols);
    }

    #[test]
    fn any_bytes_give_symbols_or_an_error(
        symbols in symbols(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        end in any::<prop::sample::Index>(),
    ) {
        let mut body = nested::encode(&symbols);
        for (at, byte) in &changes {
            let at = at.index(body.len());
            body[at] = *byte;
        }
        let _ = nested::decode(&body).map(|symbols| nesting::fault(symbols.iter(), 20_000));
        let _ = nested::decode(&body[..end.index(body.len())]);
        let _ = decode(&body, none);
    }
}

/// The symbols of a row that has them all.
fn whole<'d>(row: &[u8], dictionary: impl FnOnce() -> Result<&'d [u8]>) -> StoredSymbols {
    match decode(row, dictionary).unwrap() {
        Row::Whole(symbols) => symbols,
        Row::Divided(groups) => panic!("{groups:?}"),
    }
}

/// The dictionary of a table without one.
fn none() -> Result<&'static [u8]> {
    Ok(&[])
}

fn length(body: &[u8]) -> Vec<u8> {
    let mut length = Vec::new();
    put_varint(&mut length, body.len() as u64);
    length
}

#[test]
fn a_frame_may_not_grow_beyond_what_it_says() {
    let frame = zstd::bulk::compress(&vec![0; 1 << 20], 3).unwrap();
    for claimed in [0, 5, MAX_SYMBOLS_BYTES as u64 + 1, u64::from(u32::MAX)] {
        for form in [ZSTD, ZSTD_WITH_DICTIONARY] {
            let mut row = vec![SYMBOLS_VERSION, form];
            put_varint(&mut row, claimed);
            row.extend_from_slice(&frame);
            let error = decode(&row, none).unwrap_err();
            assert_eq!(error.code(), "DAMAGED", "{claimed}");
        }
    }
    for version in [SYMBOLS_VERSION - 1, DIVIDED_VERSION + 1] {
        let error = decode(&[version, 0, 0], none).unwrap_err();
        assert_eq!(error.code(), "FORMAT_UNSUPPORTED");
    }
}

#[test]
fn a_count_that_lies_allocates_nothing() {
    let mut body = Vec::new();
    put_varint(&mut body, u64::from(u32::MAX));
    put_varint(&mut body, 0);
    body.extend_from_slice(&[0; 40]);
    assert!(nested::decode(&body).is_err());
    // One symbol, and labels without a keyword.
    let mut body = vec![1, 2, 0, 0, 0, 0];
    body.extend_from_slice(&[0; 12]);
    let error = nested::decode(&body).unwrap_err().to_string();
    assert!(error.contains("more labels than symbols"), "{error}");
}

#[test]
fn a_row_that_is_no_dictionary_is_refused() {
    assert_eq!(dictionary(&dictionary_row(b"class")).unwrap(), b"class");
    let long = vec![DICTIONARY_VERSION; raw_dictionary::DICTIONARY_LIMIT_BYTES + 2];
    let tables = dictionary_row(b"\x37\xA4\x30\xEC and more");
    for (row, code) in [
        (&b""[..], "DAMAGED"),
        (&long, "DAMAGED"),
        (&tables, "DAMAGED"),
        (&[2, 0], "FORMAT_UNSUPPORTED"),
    ] {
        assert_eq!(dictionary(row).unwrap_err().code(), code);
    }
}
