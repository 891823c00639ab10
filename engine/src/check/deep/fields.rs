//! Columns of fields: the values that conditions find are those of the documents.

use std::collections::BTreeMap;

use kb_types::error::{Error, Result};
use roaring::RoaringBitmap;

use crate::catalog::BoundSegment;
use crate::check::deep::context::Context;
use crate::store::facets::{self, Facet};
use crate::store::fields::FieldValue;
use crate::store::fields::columns::order::ValueKind;
use crate::store::fields::columns::{EDITED, facet_of, names};

/// Rows by attribute.
type Rows = BTreeMap<(Facet, String), RoaringBitmap>;

/// Compares the columns of fields of a segment with `expected`, which its records say of live rows, and returns what is
/// left of that for facets.
///
/// # Errors
/// [`Error::Damaged`]; those that tell nothing about the file.
pub(super) fn check(
    context: &Context<'_>,
    bound: &BoundSegment<'_>,
    expected: &Rows,
) -> Result<Rows> {
    let mut rest = expected.clone();
    let (snapshot, segment) = (context.snapshot, context.segment);
    let all = names(snapshot, segment.id)?;
    if all.is_empty() {
        return Ok(rest);
    }
    let edited = facets::rows_with(snapshot, segment.id, segment.rows(), Facet::Edited, EDITED)?;
    let edited = edited.unwrap_or_default();
    let nothing = RoaringBitmap::new();
    let gone = segment.deleted_rows().unwrap_or(&nothing) | &edited;
    let fields = bound.fields(snapshot);
    let fields = fields.ok_or_else(|| Error::damaged("there are rows of fields and no column"))?;
    for (name, kind) in all {
        let Some(field) = fields.field(&name, kind)? else {
            continue;
        };
        let mut last: Option<String> = None;
        field.texts().each(|text| {
            if last.as_ref().is_some_and(|last| *last >= text) {
                return Err(Error::damaged(format!("texts of {name:?} do not ascend")));
            }
            last = Some(text);
            Ok(())
        })?;
        let mut stored = Rows::new();
        field.each(|row, value| {
            if !gone.contains(row) {
                let of = (Facet::Field, facet_of(&name, value));
                stored.entry(of).or_default().insert(row);
            }
            Ok(())
        })?;
        let start = format!("{name}=");
        let is_of = |facet: &str| {
            let value = facet.strip_prefix(&start).map(FieldValue::of_text);
            value.and_then(|value| ValueKind::of(&value)) == Some(kind)
        };
        let of_name = rest.range_mut((Facet::Field, start.clone())..);
        let of_name =
            of_name.take_while(|(of, _)| of.0 == Facet::Field && of.1.starts_with(&start));
        for (of, rows) in of_name.filter(|(of, _)| is_of(&of.1)) {
            let in_column = stored.remove(of).unwrap_or_default();
            if let Some(row) = (&in_column ^ &(&*rows - &edited)).min() {
                return Err(Error::damaged(format!(
                    "row {row} and its document differ in {:?}",
                    of.1
                )));
            }
            *rows &= &edited;
        }
        if let Some((of, _)) = stored.first_key_value() {
            return Err(Error::damaged(format!("no document has {:?}", of.1)));
        }
    }
    rest.retain(|_, rows| !rows.is_empty());
    Ok(rest)
}
