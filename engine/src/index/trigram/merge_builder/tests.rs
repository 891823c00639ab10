use std::ops::Range;

use super::*;
use crate::container::column::{ColumnId, ColumnView, MemoryExtents, extent_starts};
use crate::index::trigram::record::{BLOCKS, LISTS, UNITS};

/// Trigrams with the units that have them.
type Lists = Vec<(Trigram, Vec<u32>)>;

/// An index in memory.
struct Index {
    sink: MemoryExtents,
    records: [ColumnRecord; 3],
    starts: Vec<Vec<u64>>,
    rows: u32,
}

impl Index {
    /// Of a builder that got so many rows.
    fn of(builder: MergeBuilder<'_>, rows: usize) -> Index {
        let rows = rows as u32;
        let mut sink = MemoryExtents::default();
        let records = builder.finish(SegmentId(1), &mut sink, &mut || Ok(()));
        let records = records.unwrap().expect("enough text");
        let starts = records.iter().map(extent_starts).collect();
        Index {
            sink,
            records,
            starts,
            rows,
        }
    }

    fn reader(&self) -> Reader<'_> {
        let view = |number: usize, column: ColumnId| {
            let extents = &self.sink.columns[&column];
            ColumnView::new(&self.starts[number], self.records[number].width, extents)
        };
        Reader::new(view(0, UNITS), view(1, BLOCKS), view(2, LISTS), self.rows).unwrap()
    }

    /// For each unit its rows, and for each trigram its units.
    fn all(&self) -> (Vec<Range<u32>>, Lists) {
        let reader = self.reader();
        let units = (0..reader.units()).map(|unit| reader.rows_of(unit).unwrap());
        let mut lists = Vec::new();
        let mut walk = reader.iter();
        while let Some(list) = walk.advance().unwrap() {
            lists.push(list);
        }
        (units.collect(), lists)
    }
}

/// Rows of documents: text that is random but for its seed.
fn document(seed: u64, bytes: usize) -> Vec<String> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut rows = Vec::new();
    let mut left = bytes;
    while left > 0 {
        let mut row = String::new();
        while row.len() < 1000.min(left) {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let word = (state >> 40) % 3000;
            row.push_str(&format!("w{word:x} "));
        }
        row.push('\n');
        left = left.saturating_sub(row.len());
        rows.push(row);
    }
    rows
}

/// The exact index of rows whose units are known.
fn expected(rows: &[(u32, String)], units: &[Range<u32>]) -> Lists {
    let mut builder = Builder::default();
    for unit in units {
        for (document, text) in &rows[unit.start as usize..unit.end as usize] {
            builder.push_within(*document, text, None);
        }
        builder.close();
    }
    builder.finish().1.into_iter().collect()
}

#[test]
fn lists_are_exactly_the_trigrams_of_units() {
    let rows: Vec<(u32, String)> = (0..60u32)
        .flat_map(|number| {
            let rows = document(u64::from(number), 500 + 900 * number as usize);
            rows.into_iter().map(move |row| (number, row))
        })
        .collect();
    let mut builder = MergeBuilder::default();
    for (document, text) in &rows {
        builder.push(None, *document, text, None).unwrap();
    }
    let index = Index::of(builder, rows.len());
    let (units, lists) = index.all();
    assert!(units.len() > 50);
    assert_eq!(lists, expected(&rows, &units));
    for (trigram, units) in &lists {
        assert_eq!(index.reader().units_with(*trigram).unwrap(), *units);
    }
    let absent = [0, 1, u32::MAX >> 8, lists[0].0 + 1];
    for trigram in absent {
        let listed = lists.iter().any(|(other, _)| *other == trigram);
        assert_eq!(
            index.reader().units_with(trigram).unwrap().is_empty(),
            !listed
        );
    }
}

#[test]
fn a_merge_keeps_lists_exact_whatever_units_break() {
    // Two segments; of the first every fifth document is gone, of the second none: some units stay whole.
    let documents = |from: u32| {
        (from..from + 40).map(|number| {
            let bytes = if number % 3 == 0 { 80_000 } else { 2000 };
            (number, document(u64::from(number), bytes))
        })
    };
    let mut sources = Vec::new();
    for from in [0, 1000] {
        let mut builder = MergeBuilder::default();
        let mut places = Vec::new();
        let mut row = 0usize;
        for (number, rows) in documents(from) {
            places.push((number, row, rows.clone()));
            for text in rows {
                builder.push(None, number, &text, None).unwrap();
                row += 1;
            }
        }
        sources.push((Index::of(builder, row), places));
    }
    // In an order that interleaves some of them.
    let mut order: Vec<(usize, usize)> = Vec::new();
    for at in 0..40 {
        if at < 20 {
            order.push((0, at));
            order.push((1, at));
        }
    }
    order.extend((20..40).map(|at| (0, at)));
    order.extend((20..40).map(|at| (1, at)));
    order.retain(|(source, at)| *source == 1 || at % 5 != 4);
    let mut merged = MergeBuilder::new(sources.iter().map(|(index, _)| index.reader()));
    let mut rows = Vec::new();
    for (source, at) in order {
        let (number, first, texts) = &sources[source].1[at];
        for (text, row) in texts.iter().zip(*first as u32..) {
            merged
                .push(Some(OldRow { source, row }), *number, text, None)
                .unwrap();
            rows.push((*number, text.clone()));
        }
    }
    let whole = merged.sources.iter().flat_map(|source| &source.new_units);
    let whole = whole.filter(|unit| **unit != BROKEN).count();
    assert!(whole > 20, "{whole} units stayed whole");
    let merged = Index::of(merged, rows.len());
    let (units, lists) = merged.all();
    assert_eq!(units.last().unwrap().end as usize, rows.len());
    assert!(lists == expected(&rows, &units), "the lists differ");
}

#[test]
fn little_text_has_no_index() {
    let mut builder = MergeBuilder::default();
    builder.push(None, 1, "few words\n", None).unwrap();
    let mut sink = MemoryExtents::default();
    let none = builder.finish(SegmentId(1), &mut sink, &mut || Ok(()));
    assert!(none.unwrap().is_none() && sink.columns.is_empty());
}
