//! The fields of several segments -> columns and facets of one, one field after the other.

use std::collections::BTreeSet;

use kb_types::SegmentId;
use kb_types::error::Result;
use roaring::RoaringBitmap;

use crate::catalog::BoundSegment;
use crate::container::column::ColumnRecord;
use crate::container::{Snapshot, Transaction};
use crate::index::keyword;
use crate::store::facets::{self, Facet};
use crate::store::fields::columns::writer::{ColumnsWriter, FieldsWriter};
use crate::store::fields::columns::{EDITED, names};

/// A segment that is merged.
pub(super) struct FieldSource<'b> {
    pub(super) bound: &'b BoundSegment<'b>,
    /// Its first row that is taken.
    pub(super) first: u32,
    /// Where that row and each after it go.
    pub(super) new_rows: &'b [u32],
}

impl FieldSource<'_> {
    fn new_row(&self, row: u32) -> Option<u32> {
        let at = usize::try_from(row.checked_sub(self.first)?).ok()?;
        let new = self.new_rows.get(at).copied();
        new.filter(|new| *new != keyword::DROPPED)
    }
}

/// Whether a facet, a number and a value, is one that [`merge_fields`] writes.
pub(super) fn is_of_fields(facet: &[u8]) -> bool {
    let number = facet.first().copied();
    [Facet::Field, Facet::Edited]
        .into_iter()
        .any(|it| number == Some(it as u8))
}

/// Writes the fields of a segment of `rows` rows, and gives the column that they have.
///
/// # Errors
/// [`kb_types::Error::Damaged`]; what storage and `check` say.
pub(super) fn merge_fields(
    snapshot: &Snapshot<'_>,
    transaction: &mut Transaction<'_>,
    (segment, rows): (SegmentId, u32),
    sources: &[FieldSource<'_>],
    check: &mut dyn FnMut() -> Result<()>,
) -> Result<Option<ColumnRecord>> {
    let mut few = FieldsWriter::default();
    let mut edited = Vec::with_capacity(sources.len());
    let mut all = BTreeSet::new();
    for source in sources {
        let of = source.bound.segment;
        let (id, count) = (of.id, of.rows());
        facets::each_value(snapshot, (id, count), Facet::Field, "", |value, old| {
            let new = old.into_iter().filter_map(|row| source.new_row(row));
            few.add_facet(value, &new.collect::<RoaringBitmap>());
            Ok(())
        })?;
        let rows = facets::rows_with(snapshot, id, count, Facet::Edited, EDITED)?;
        edited.push(rows.unwrap_or_default());
        all.extend(names(snapshot, id)?);
    }
    all.extend(few.names().cloned());
    let mut columns = ColumnsWriter::new(segment, rows);
    for of in all {
        check()?;
        let mut values = few.take(&of);
        for (source, edited) in sources.iter().zip(&edited) {
            let fields = source.bound.fields(snapshot);
            let field = fields.map(|fields| fields.field(&of.0, of.1)).transpose()?;
            let Some(field) = field.flatten() else {
                continue;
            };
            field.each(|row, value| {
                if let Some(new) = source.new_row(row).filter(|_| !edited.contains(row)) {
                    values.add(value, new..new.saturating_add(1));
                }
                Ok(())
            })?;
        }
        columns.put(transaction, (&of.0, of.1), values)?;
    }
    let written = columns.finish(transaction, few.into_facets())?;
    for (value, rows) in written.facets {
        let mut facet = vec![Facet::Field as u8];
        facet.extend(value.as_bytes());
        facets::put_merged(transaction, segment, &facet, rows)?;
    }
    Ok(written.column)
}
