//! The columns of a segment over a snapshot, as its records call for them.

use kb_types::error::{Error, Result};

use crate::catalog::columns::{COLUMNS, Column, Facts};
use crate::container::column::{ColumnId, ColumnView};
use crate::container::{BoundColumn, SegmentExtents, Snapshot};

/// Which columns are bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// It must be there.
    Always,
    /// If it is there.
    IfThere,
    /// Not even then.
    Never,
}

/// Columns of one segment, in the order of [`COLUMNS`]; `None` for those that it need not have.
#[derive(Debug)]
pub(super) struct BoundColumns<'s>([Option<BoundColumn<'s>>; COLUMNS.len()]);

impl<'s> BoundColumns<'s> {
    /// Binds the columns that are wanted and that a segment with these facts has. `number` gives their number in the
    /// segment.
    ///
    /// # Errors
    /// [`Error::Damaged`] when one is missing.
    pub(super) fn bind(
        extents: &'s SegmentExtents,
        snapshot: &'s Snapshot<'_>,
        facts: &Facts<'_>,
        wanted: impl Fn(&Column) -> Wanted,
        number: impl Fn(ColumnId) -> ColumnId,
    ) -> Result<BoundColumns<'s>> {
        let mut bound = [const { None }; COLUMNS.len()];
        for (bound, column) in bound.iter_mut().zip(COLUMNS) {
            let wanted = wanted(column);
            if wanted == Wanted::Never || !(column.is_in)(facts) {
                continue;
            }
            let id = number(column.id);
            *bound = extents.column(snapshot, id);
            if bound.is_none() && wanted == Wanted::Always {
                return Err(Error::damaged(format!(
                    "segment {} has no column {} ({})",
                    extents.segment().0,
                    id.0,
                    column.name
                )));
            }
        }
        Ok(BoundColumns(bound))
    }

    /// A column by its number for the built-in model; `None` where the segment has none.
    pub(super) fn get(&self, id: ColumnId) -> Option<ColumnView<'_>> {
        let mut all = COLUMNS.iter().zip(&self.0);
        let (_, bound) = all.find(|(column, _)| column.id == id)?;
        bound.as_ref().map(BoundColumn::view)
    }

    /// A column that every segment has.
    pub(super) fn view(&self, id: ColumnId) -> ColumnView<'_> {
        self.get(id).unwrap_or(ColumnView::EMPTY)
    }

    /// Columns of which a segment has all or none.
    pub(super) fn all_or_none<const N: usize>(
        &self,
        ids: [ColumnId; N],
    ) -> Option<[ColumnView<'_>; N]> {
        let first = ids.first().and_then(|id| self.get(*id));
        first.map(|_| ids.map(|id| self.view(id)))
    }
}
