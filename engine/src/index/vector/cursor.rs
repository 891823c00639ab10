//! Rows of a column, in any order.

use kb_types::error::{Error, Result};

use crate::container::column::ColumnView;

/// Reads rows of one column; rows of the extent that was read last need no search.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    /// The column that is read.
    view: ColumnView<'a>,
    /// Bytes of a row, which no extent cuts.
    width: usize,
    /// Where `extent` begins in the column.
    first: u64,
    extent: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(view: ColumnView<'a>, width: usize) -> Cursor<'a> {
        Cursor {
            view,
            width,
            first: 0,
            extent: &[],
        }
    }

    /// The bytes from a row to the end of its extent: at least one row.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is no such row, or its extent fails its checks.
    #[inline]
    pub(super) fn from(&mut self, row: u64) -> Result<&'a [u8]> {
        let position = row.saturating_mul(self.width as u64);
        if let Some(rest) = self.rest(position) {
            return Ok(rest);
        }
        (self.first, self.extent) = self.view.extent_at(position)?;
        self.rest(position)
            .ok_or_else(|| Error::damaged("a vector is cut off"))
    }

    /// The bytes of a row.
    ///
    /// # Errors
    /// As [`Cursor::from`].
    #[inline]
    pub(super) fn row(&mut self, row: u64) -> Result<&'a [u8]> {
        let width = self.width;
        Ok(self.from(row)?.get(..width).unwrap_or_default())
    }

    fn rest(&self, position: u64) -> Option<&'a [u8]> {
        let offset = usize::try_from(position.checked_sub(self.first)?).ok()?;
        let rest = self.extent.get(offset..)?;
        // A shorter rest would be the end of an extent that the file cut inside a row.
        (rest.len() >= self.width).then_some(rest)
    }
}
