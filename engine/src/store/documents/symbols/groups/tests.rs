//! Groups have all symbols together, and no bytes do harm.

use kb_types::syntax::nesting;
use proptest::prelude::*;

use super::*;
use crate::store::documents::symbols::fields::put_varint;
use crate::store::documents::symbols::record::tests::symbols;

/// A row and the bodies of groups of so many symbols; `None` where they are not divided.
fn divided(symbols: &[Symbol], size: usize) -> Option<(Vec<u8>, Vec<Vec<u8>>)> {
    let new = divide(symbols, std::iter::repeat(size))?;
    let bodies = new.iter().map(|group| group.body(symbols)).collect();
    Some((row(3, &new), bodies))
}

/// All symbols of a row behind its version, and of its groups.
fn read(row: &[u8], bodies: &[Vec<u8>]) -> Result<StoredSymbols> {
    let mut list = List::default();
    for (number, group) in groups(row)?.iter().enumerate() {
        let body = bodies.get(number).ok_or_else(|| damaged("lacks a group"))?;
        let (head, symbols) = decode(body, group.symbols)?;
        list.push((number, group), head, symbols)?;
    }
    Ok(list.finish().unwrap().1)
}

/// Without comments anywhere, or names behind the starts of others, of which lists are not divided; nor are those of
/// symbols that begin at one place.
fn ascend(symbols: &mut [Symbol]) {
    for symbol in symbols {
        symbol.doc = None;
        symbol.name_start = symbol.span.start;
    }
}

proptest! {
    #[test]
    fn groups_together_have_all_symbols(mut symbols in symbols(), size in 1usize..9) {
        ascend(&mut symbols);
        let Some((row, bodies)) = divided(&symbols, size) else {
            return Ok(());
        };
        prop_assert_eq!(bodies.len(), symbols.len().div_ceil(size));
        prop_assert_eq!(read(&row[1..], &bodies).unwrap().to_symbols(), symbols);
    }

    #[test]
    fn any_bytes_give_groups_or_an_error(
        mut symbols in symbols(),
        size in 1usize..9,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        changed in any::<prop::sample::Index>(),
        end in any::<prop::sample::Index>(),
    ) {
        ascend(&mut symbols);
        let Some((row, bodies)) = divided(&symbols, size) else {
            return Ok(());
        };
        let change = |bytes: &mut Vec<u8>| {
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
        };
        let number = changed.index(bodies.len());
        let mut other = bodies.clone();
        change(&mut other[number]);
        let _ = read(&row[1..], &other).map(|it| nesting::fault(it.iter(), 20_000));
        let cut = end.index(other[number].len());
        other[number].truncate(cut);
        let _ = read(&row[1..], &other);
        let mut row = row;
        change(&mut row);
        let _ = read(&row[1..], &bodies).map(|it| nesting::fault(it.iter(), 20_000));
        let _ = groups(&row[1..end.index(row.len()).max(1)]);
    }
}

/// A class with three methods, and a function behind it.
fn program() -> Vec<Symbol> {
    let symbol = |parent, name: &str, start: u32, end| Symbol {
        kind: kb_types::SymbolKind::Method,
        name: name.to_owned(),
        keyword: "def".to_owned(),
        head: Span { start, end: start },
        parent,
        doc: None,
        span: Span { start, end },
        lines: kb_types::Lines { first: 1, last: 1 },
        name_start: start,
    };
    vec![
        symbol(None, "A", 0, 90),
        symbol(Some(0), "a", 10, 20),
        symbol(Some(0), "b", 30, 40),
        symbol(Some(0), "a", 50, 60),
        symbol(None, "f", 95, 99),
    ]
}

#[test]
fn a_group_says_what_is_before_it() {
    let new = divide(&program(), [2, 2, 1]).unwrap();
    let place = |at: usize| {
        let NewGroup { group, head, .. } = &new[at];
        (
            group.start,
            group.ended,
            head.below.clone(),
            head.ambiguous.clone(),
        )
    };
    assert_eq!(place(0), (0, 0, vec![0], vec![false, true]));
    assert_eq!(place(1), (30, 90, vec![1, 1], vec![false, false, true]));
    assert_eq!(place(2), (95, 90, vec![1], vec![false]));
    let stored = groups(&row(3, &new)[1..]).unwrap();
    let of = |start, end| around(&stored, Span { start, end });
    assert_eq!(of(0, 30), 0..1);
    assert_eq!(of(29, 31), 0..2);
    assert_eq!(of(30, 30), 1..2);
    assert_eq!(of(94, 96), 1..3);
    assert_eq!(of(500, 600), 2..3);
}

#[test]
fn groups_of_other_symbols_are_refused() {
    let symbols = program();
    let (row, bodies) = divided(&symbols, 2).unwrap();
    let is_refused = |row: &[u8], bodies: &[Vec<u8>]| {
        let error = read(&row[1..], bodies).unwrap_err();
        assert_eq!(error.code(), "DAMAGED");
    };
    is_refused(&row, &bodies[..2]);
    for (at, other) in [(0, 1), (1, 0), (1, 2), (2, 1)] {
        let mut mixed = bodies.clone();
        mixed[at] = bodies[other].clone();
        is_refused(&row, &mixed);
    }
    // The holder of the second group has another name than the symbol in the first.
    let mut renamed = symbols;
    renamed[0].name = "B".to_owned();
    let mut mixed = bodies.clone();
    mixed[0] = divided(&renamed, 2).unwrap().1[0].clone();
    is_refused(&row, &mixed);
}

#[test]
fn numbers_that_lie_allocate_nothing() {
    for numbers in [
        &[][..],
        &[0],
        &[u64::from(u32::MAX), 1, 1, 1],
        &[1, 0, 0, 0],
        &[1, 1, 0],
        &[1, 1, 0, 0, 0],
        &[2, u64::from(u32::MAX), 0, 0, 1, 0, 0],
        &[2, 1, u64::from(u32::MAX), 0, 1, 1, 0],
    ] {
        let mut row = Vec::new();
        numbers
            .iter()
            .for_each(|number| put_varint(&mut row, *number));
        assert_eq!(groups(&row).unwrap_err().code(), "DAMAGED", "{numbers:?}");
    }
    for holders in [255, u64::from(u32::MAX)] {
        let mut body = Vec::new();
        put_varint(&mut body, holders);
        body.extend_from_slice(&[0; 300]);
        assert_eq!(decode(&body, 1).unwrap_err().code(), "DAMAGED");
    }
    let mut body = vec![0, 0];
    body.extend_from_slice(&[0; 40]);
    assert!(decode(&body, u32::MAX).is_err());
}
