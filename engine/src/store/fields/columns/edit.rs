//! Fields of a document that change after its segment was written.

use std::collections::BTreeMap;
use std::ops::Range;

use kb_types::SegmentId;
use kb_types::error::Result;

use super::order::ValueKind;
use super::{EDITED, is_column, stored_values};
use crate::container::Transaction;
use crate::store::facets::{self, Facet};

/// Changes the fields that rows of a written segment, all those of a document, are found by. The rows of columns stay
/// as they are: if a value of one changes, all fields of the document become facets.
///
/// # Errors
/// [`kb_types::Error::Damaged`] when a bitmap that is there does not decode; what storage says.
pub(crate) fn change(
    transaction: &mut Transaction<'_>,
    segment: SegmentId,
    rows: Range<u32>,
    [before, after]: [&[(String, String)]; 2],
) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let (before, after) = (stored_values(before), stored_values(after));
    let mut in_columns: BTreeMap<(&str, ValueKind), bool> = BTreeMap::new();
    for (name, value) in before.values().chain(after.values()) {
        if let Some(kind) = ValueKind::of(value)
            && !in_columns.contains_key(&(name, kind))
        {
            let is_in = is_column(transaction, segment, name, kind)?;
            in_columns.insert((name, kind), is_in);
        }
    }
    let is_in_column = |facet: &String| {
        let of = before.get(facet).or_else(|| after.get(facet));
        let kind = of.and_then(|(name, value)| Some((name.as_str(), ValueKind::of(value)?)));
        kind.is_some_and(|kind| in_columns.get(&kind) == Some(&true))
    };
    let (was, is): (Vec<&String>, Vec<&String>) = (before.keys().collect(), after.keys().collect());
    let changed = was.iter().filter(|it| !after.contains_key(**it));
    let mut changed = changed.chain(is.iter().filter(|it| !before.contains_key(**it)));
    let was_edited = facets::has_row(transaction, segment, Facet::Edited, EDITED, rows.start)?;
    let is_edited = was_edited || changed.any(|facet| is_in_column(facet));
    if is_edited && !was_edited {
        let rows = rows.clone();
        facets::change(transaction, segment, Facet::Edited, EDITED, rows, true)?;
    }
    let mut set = |facet: &str, is_set| {
        let rows = rows.clone();
        facets::change(transaction, segment, Facet::Field, facet, rows, is_set)
    };
    for facet in was {
        let was_facet = was_edited || !is_in_column(facet);
        if was_facet && !after.contains_key(facet) {
            set(facet, false)?;
        }
    }
    for facet in is {
        let was_facet = before.contains_key(facet) && (was_edited || !is_in_column(facet));
        if !was_facet && (is_edited || !is_in_column(facet)) {
            set(facet, true)?;
        }
    }
    Ok(())
}
