//! Symbols come back as they were written, and no bytes do harm.

use proptest::prelude::*;

use super::*;
use crate::types::syntax::nesting;

/// A list that is nested as it must be: each symbol takes some of the room that the one around it has left.
fn symbols() -> impl Strategy<Value = Vec<Symbol>> {
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
        let body = encode(&symbols).unwrap();
        prop_assert_eq!(&decode(&compress(&body).unwrap()).unwrap(), &symbols);
        let plain = [[SYMBOLS_VERSION, PLAIN].as_slice(), &length(&body), &body].concat();
        prop_assert_eq!(decode(&plain).unwrap(), symbols);
    }

    #[test]
    fn any_bytes_give_symbols_or_an_error(
        symbols in symbols(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        end in any::<prop::sample::Index>(),
    ) {
        let mut body = encode(&symbols).unwrap();
        for (at, byte) in changes {
            let at = at.index(body.len());
            body[at] = byte;
        }
        let _ = decode_body(&body).map(|symbols| nesting::fault(&symbols, 20_000));
        let _ = decode_body(&body[..end.index(body.len())]);
        let _ = decode(&body);
    }
}

fn length(body: &[u8]) -> Vec<u8> {
    let mut length = Vec::new();
    put_varint(&mut length, body.len() as u64);
    length
}

#[test]
fn a_frame_may_not_grow_beyond_what_it_says() {
    let frame = bulk::compress(&vec![0; 1 << 20], 3).unwrap();
    for claimed in [0, 5, MAX_SYMBOLS_BYTES as u64 + 1, u64::from(u32::MAX)] {
        let mut row = vec![SYMBOLS_VERSION, ZSTD];
        put_varint(&mut row, claimed);
        row.extend_from_slice(&frame);
        assert_eq!(decode(&row).unwrap_err().code(), "DAMAGED", "{claimed}");
    }
    assert_eq!(decode(&[2, 0, 0]).unwrap_err().code(), "FORMAT_UNSUPPORTED");
}

#[test]
fn a_count_that_lies_allocates_nothing() {
    let mut body = Vec::new();
    put_varint(&mut body, u64::from(u32::MAX));
    put_varint(&mut body, 0);
    body.extend_from_slice(&[0; 40]);
    assert!(decode_body(&body).is_err());
}
