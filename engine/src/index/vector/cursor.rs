//! Rows of a column, one after the other.

use crate::container::column::ColumnView;
use crate::error::{Error, Result};

/// Reads rows of one column; rows of the extent that was read last need no search.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    /// The column that is read.
    view: ColumnView<'a>,
    /// Bytes of a row, which no extent cuts.
    width: usize,
    /// The row at which `piece` begins.
    first: u64,
    /// Bytes from there to the end of an extent.
    piece: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(view: ColumnView<'a>, width: usize) -> Cursor<'a> {
        Cursor {
            view,
            width,
            first: 0,
            piece: &[],
        }
    }

    /// The bytes from a row to the end of its extent: at least one row.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is no such row, or its extent fails its checks.
    pub(super) fn from(&mut self, row: u64) -> Result<&'a [u8]> {
        if let Some(rows) = row.checked_sub(self.first)
            && let Ok(rows) = usize::try_from(rows)
            && let Some(rest) = self.piece.get(rows.saturating_mul(self.width)..)
            && rest.len() >= self.width
        {
            return Ok(rest);
        }
        self.piece = self.view.from(row * self.width as u64)?;
        self.first = row;
        if self.piece.len() >= self.width {
            Ok(self.piece)
        } else {
            Err(Error::damaged("a vector is cut off"))
        }
    }
}
