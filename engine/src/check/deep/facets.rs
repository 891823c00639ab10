//! Facets: the rows that a filter finds are those of the documents that have the value.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

use crate::check::deep::context::Context;
use crate::check::problems::Problems;
use crate::container::Key;
use crate::container::codec::decode_rows_below;
use crate::store::facets::Facet;
use crate::store::tables;

/// Compares the bitmaps of a segment with `expected`, which its records say of live rows.
///
/// # Errors
/// Those that tell nothing about the file.
pub(super) fn check(
    context: &Context<'_>,
    expected: &BTreeMap<(Facet, String), RoaringBitmap>,
    problems: &mut Problems,
) -> Result<()> {
    let mut missing: BTreeMap<(u8, String), &RoaringBitmap> = expected
        .iter()
        .map(|((facet, value), rows)| ((*facet as u8, value.clone()), rows))
        .collect();
    let prefix = context.segment.id.0.to_be_bytes();
    let read = context.snapshot.table(tables::FACETS).and_then(|table| {
        let Some(table) = table else {
            return Ok(());
        };
        context
            .snapshot
            .range(&table, Key::Bytes(&prefix), |key, value| {
                let Some(rest) = key.strip_prefix(&prefix) else {
                    return Ok(ControlFlow::Break(()));
                };
                let (facet, name) = rest.split_first().unwrap_or((&0, &[]));
                let name = String::from_utf8_lossy(name);
                let place = || format!("facet {facet} {name:?} of {}", context.location());
                let right = missing.remove(&(*facet, name.clone().into_owned()));
                let read = compare(context, *facet, value, right);
                problems.unless_damaged(place, read)?;
                Ok(if problems.is_full() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            })
    });
    problems.unless_damaged(|| format!("facets of {}", context.location()), read)?;
    for ((facet, name), rows) in missing {
        problems.add(format!(
            "facet {facet} {name:?} of {}: {} rows have it and there is no bitmap",
            context.location(),
            rows.len()
        ));
    }
    Ok(())
}

fn compare(
    context: &Context<'_>,
    facet: u8,
    bytes: &[u8],
    right: Option<&RoaringBitmap>,
) -> Result<()> {
    if !Facet::ALL.iter().any(|known| *known as u8 == facet) {
        return Err(Error::damaged("an unknown facet"));
    }
    let mut rows = decode_rows_below("its bitmap", bytes, context.segment.rows())?;
    // Roles and links are those that the program which wrote the file saw; another version may see others.
    // What changed cannot be told from the records: a check of fields compares the result.
    let unknown = [Facet::Role, Facet::Link, Facet::Edited];
    if unknown.into_iter().any(|it| facet == it as u8) {
        return Ok(());
    }
    // Deleted rows keep what they had, or not.
    if let Some(deleted) = context.segment.deleted_rows() {
        rows -= deleted;
    }
    let nothing = RoaringBitmap::new();
    let right = right.unwrap_or(&nothing);
    if let Some(row) = (right ^ &rows).min() {
        let told = if rows.contains(row) {
            "has it and its document has not"
        } else {
            "does not have it and its document has"
        };
        return Err(Error::damaged(format!("row {row} {told}")));
    }
    Ok(())
}
