//! Rows of documents by the fields that they state of themselves, or were given: from columns and from facets.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use kb_types::error::Result;
use roaring::RoaringBitmap;
use unicode_normalization::UnicodeNormalization;

use crate::catalog::Segment;
use crate::container::Snapshot;
use crate::search::filter::expression::{Literal, Operator, Test};
use crate::search::sources::Source;
use crate::store::facets::{self, Facet};
use crate::store::fields::columns::EDITED;
use crate::store::fields::columns::order::ValueKind;
use crate::store::fields::columns::texts::Texts;
use crate::store::fields::{FieldValue as Value, facet, normalized, value_of};
use crate::store::tables;

/// The rows of each segment with a value of the field that passes, or with any; deleted rows may be among them.
///
/// # Errors
/// [`crate::Error::Damaged`]; [`crate::Error::Cancelled`].
pub(super) fn rows_with(
    source: &Source<'_>,
    name: &str,
    test: Option<&Test>,
) -> Result<Vec<RoaringBitmap>> {
    let name = normalized(name);
    let test = test.map(|test| with_texts(test, |text| Some(text.nfc().collect())));
    let keys = test.as_ref().and_then(keys_of);
    let segments = source.catalog.segments.iter();
    let rows = segments.map(|segment| {
        source.reporter.tick()?;
        let mut rows = in_columns(source.snapshot, segment, &name, test.as_ref())?;
        rows |= in_facets(
            source.snapshot,
            segment,
            &name,
            test.as_ref(),
            keys.as_deref(),
        )?;
        Ok(rows)
    });
    rows.collect()
}

fn in_facets(
    snapshot: &Snapshot<'_>,
    segment: &Segment,
    name: &str,
    test: Option<&Test>,
    keys: Option<&[String]>,
) -> Result<RoaringBitmap> {
    let (start, of) = (facet(name, ""), (segment.id, segment.rows()));
    let Some(keys) = keys else {
        return facets::rows_of_values(snapshot, of, Facet::Field, &start, |stored| {
            let value = stored.strip_prefix(&start).unwrap_or_default();
            test.is_none_or(|test| test.passes(&Value::of_text(value)))
        });
    };
    let mut rows = RoaringBitmap::new();
    for key in keys {
        let key = format!("{start}{key}");
        let with = facets::rows_with(snapshot, of.0, of.1, Facet::Field, &key)?;
        rows |= with.unwrap_or_default();
    }
    Ok(rows)
}

fn in_columns(
    snapshot: &Snapshot<'_>,
    segment: &Segment,
    name: &str,
    test: Option<&Test>,
) -> Result<RoaringBitmap> {
    let mut rows = RoaringBitmap::new();
    let mut columns = segment.records.segment.columns.iter();
    if !columns.any(|column| column.column == tables::FIELD_VALUES.0) {
        return Ok(rows);
    }
    let bound = segment.bind(snapshot)?;
    let Some(fields) = bound.fields(snapshot) else {
        return Ok(rows);
    };
    for kind in ValueKind::ALL {
        // Which numbers pass follows from the test alone.
        let numbers = match (test, kind) {
            (None, _) | (_, ValueKind::Text) => None,
            (Some(test), _) => Some(number_ranges(test, kind)),
        };
        let is_text_test = || test.is_none_or(is_about_text);
        if numbers.as_ref().is_some_and(Vec::is_empty) || kind == ValueKind::Text && !is_text_test()
        {
            continue;
        }
        let Some(field) = fields.field(name, kind)? else {
            continue;
        };
        let found = match (test, numbers) {
            (None, _) => field.present()?,
            (Some(_), Some(ranges)) => field.find(&ranges)?,
            (Some(test), None) => field.find(&text_ranges(test, field.texts())?)?,
        };
        rows |= found.to_roaring();
    }
    if !rows.is_empty() {
        let edited =
            facets::rows_with(snapshot, segment.id, segment.rows(), Facet::Edited, EDITED)?;
        rows -= edited.unwrap_or_default();
    }
    Ok(rows)
}

type Ranges = Vec<RangeInclusive<u64>>;

/// The keys of numbers or times that pass.
fn number_ranges(test: &Test, kind: ValueKind) -> Ranges {
    let one = |operator: Operator, literal: &Literal| {
        let (least, largest) = kind.keys();
        let order = |key: u64| kind.value(key)?.compare(literal);
        order(least)?;
        let first = |is_behind: &dyn Fn(Ordering) -> bool| {
            first_key(least, largest, |key| order(key).is_some_and(is_behind))
        };
        let equal = first(&Ordering::is_ge);
        let greater = first(&Ordering::is_gt);
        range(operator, (least, largest), equal, greater)
    };
    match test {
        Test::Compare(operator, literal) => one(*operator, literal).into_iter().collect(),
        Test::OneOf(literals) => {
            let equal = literals.iter();
            joined(
                equal
                    .filter_map(|literal| one(Operator::Equal, literal))
                    .collect(),
            )
        }
        Test::Matches(_) => Vec::new(),
    }
}

/// The places of the texts that pass.
fn text_ranges(test: &Test, texts: &Texts<'_>) -> Result<Ranges> {
    let Some(last) = (texts.len() as u64).checked_sub(1) else {
        return Ok(Vec::new());
    };
    let one = |operator: Operator, literal: &Literal| -> Result<Option<RangeInclusive<u64>>> {
        let Literal::Text(_) = literal else {
            return Ok(None);
        };
        let order = |text: &str| Value::Text(text.to_owned()).compare(literal);
        let place = |is_before: &dyn Fn(Ordering) -> bool| {
            let before = texts.partition_point(|text| order(text).is_some_and(is_before))?;
            Ok::<_, kb_types::error::Error>(Some(before as u64).filter(|place| *place <= last))
        };
        let (equal, greater) = (place(&Ordering::is_lt)?, place(&Ordering::is_le)?);
        Ok(range(operator, (0, last), equal, greater))
    };
    match test {
        Test::Compare(operator, literal) => Ok(one(*operator, literal)?.into_iter().collect()),
        Test::OneOf(literals) => {
            let mut ranges = Vec::new();
            for literal in literals {
                ranges.extend(one(Operator::Equal, literal)?);
            }
            Ok(joined(ranges))
        }
        Test::Matches(pattern) => {
            let (mut ranges, mut place) = (Vec::new(), 0);
            texts.each(|text| {
                if pattern.matches(&text) {
                    ranges.push(place..=place);
                }
                place += 1;
                Ok(())
            })?;
            Ok(joined(ranges))
        }
    }
}

/// The keys between the least and the largest that compare so, by the first one that is equal or greater and the first
/// one that is greater.
fn range(
    operator: Operator,
    (least, largest): (u64, u64),
    equal: Option<u64>,
    greater: Option<u64>,
) -> Option<RangeInclusive<u64>> {
    let last_before = |first: Option<u64>| match first {
        Some(first) if first == least => None,
        Some(first) => first.checked_sub(1),
        None => Some(largest),
    };
    let (first, last) = match operator {
        Operator::Equal => (equal?, last_before(greater)?),
        Operator::Less => (least, last_before(equal)?),
        Operator::LessOrEqual => (least, last_before(greater)?),
        Operator::Greater => (greater?, largest),
        Operator::GreaterOrEqual => (equal?, largest),
    };
    (first <= last).then_some(first..=last)
}

/// The first key for which something holds that holds for all behind it.
fn first_key(least: u64, largest: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if !holds(largest) {
        return None;
    }
    let (mut low, mut high) = (least, largest);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

/// Ranges in their order, those that touch as one.
fn joined(mut ranges: Ranges) -> Ranges {
    ranges.sort_unstable_by_key(|range| *range.start());
    let mut joined: Ranges = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if *range.start() <= last.end().saturating_add(1) => {
                *last = *last.start()..=*last.end().max(range.end());
            }
            _ => joined.push(range),
        }
    }
    joined
}

fn is_about_text(test: &Test) -> bool {
    match test {
        Test::Compare(_, literal) => matches!(literal, Literal::Text(_)),
        Test::OneOf(literals) => literals.iter().any(|it| matches!(it, Literal::Text(_))),
        Test::Matches(_) => true,
    }
}

/// Most texts of a test that are looked up one by one. For more, the values of the field are listed.
const MAX_LOOKUPS: usize = 16;

/// The stored forms of the texts that a test is about, if it is about a few texts and nothing else: as they are, and in
/// quotes.
fn keys_of(test: &Test) -> Option<Vec<String>> {
    let literals = match test {
        Test::Compare(Operator::Equal, literal) => std::slice::from_ref(literal),
        Test::OneOf(literals) => literals.as_slice(),
        _ => return None,
    };
    let mut keys = Vec::new();
    for literal in literals {
        let Literal::Text(text) = literal else {
            return None;
        };
        let quoted = Literal::Text(text.to_lowercase()).to_string();
        keys.extend([value_of(text), normalized(&quoted)]);
    }
    // A text that looks like a number is one as it is.
    keys.retain(|key| test.passes(&Value::of_text(key)));
    (literals.len() <= MAX_LOOKUPS).then_some(keys)
}

/// The test with other texts, where there is another.
pub(super) fn with_texts(test: &Test, other: impl Fn(&str) -> Option<String>) -> Test {
    let one = |literal: &Literal| match literal {
        Literal::Text(text) => Literal::Text(other(text).unwrap_or_else(|| text.clone())),
        other => other.clone(),
    };
    match test {
        Test::Compare(operator, literal) => Test::Compare(*operator, one(literal)),
        Test::OneOf(literals) => Test::OneOf(literals.iter().map(one).collect()),
        Test::Matches(pattern) => Test::Matches(pattern.clone()),
    }
}
