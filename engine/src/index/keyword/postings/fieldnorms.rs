//! Field norms: the length in terms of every chunk, which BM25 normalises by. They are exact,
//! unlike the one-byte norms of Lucene.

use kb_types::error::{Error, Result};

use crate::container::column::ColumnView;

/// Looks up lengths. It keeps the extent it read last, so ascending rows are fastest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldNormReader<'a> {
    /// The column.
    column: ColumnView<'a>,
    /// Bytes of a length: 2 or 4.
    width: u32,
    /// Row of the first length in `piece`.
    first_row: u32,
    /// Lengths from `first_row` to the end of an extent.
    piece: &'a [u8],
}

impl<'a> FieldNormReader<'a> {
    pub(crate) fn new(column: ColumnView<'a>, width: u32) -> FieldNormReader<'a> {
        FieldNormReader {
            column,
            width,
            first_row: 0,
            piece: &[],
        }
    }

    /// Length of one row.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the row lies outside the column.
    pub(crate) fn exact(&mut self, row: u32) -> Result<u32> {
        // A row before the piece wraps to an index beyond it.
        let at = row.wrapping_sub(self.first_row) as usize;
        if let Some(length) = self.in_piece(at) {
            return Ok(length);
        }
        self.piece = self.column.from(u64::from(row) * u64::from(self.width))?;
        self.first_row = row;
        self.in_piece(0).ok_or_else(cut_off)
    }

    fn in_piece(&self, at: usize) -> Option<u32> {
        if self.width == 2 {
            let length = self.piece.as_chunks::<2>().0.get(at)?;
            Some(u32::from(u16::from_le_bytes(*length)))
        } else {
            let length = self.piece.as_chunks::<4>().0.get(at)?;
            Some(u32::from_le_bytes(*length))
        }
    }

    /// The lengths of all rows: 4 bytes of memory a row.
    ///
    /// # Errors
    /// [`Error::Damaged`] when an extent fails its checks or has other rows than the column says.
    pub(crate) fn all(&self) -> Result<Vec<u32>> {
        let mut all = Vec::new();
        for number in 0..self.column.extents() {
            let (first, payload) = self.column.extent(number)?;
            // An extent of another length would shift the rows of all that follow.
            if first != all.len() as u64 * u64::from(self.width) {
                return Err(cut_off());
            }
            if self.width == 2 {
                let lengths = payload.as_chunks::<2>().0.iter();
                all.extend(lengths.map(|length| u32::from(u16::from_le_bytes(*length))));
            } else {
                let lengths = payload.as_chunks::<4>().0.iter();
                all.extend(lengths.map(|length| u32::from_le_bytes(*length)));
            }
        }
        if all.len() as u64 != self.column.rows() {
            return Err(cut_off());
        }
        Ok(all)
    }

    /// Writes the lengths of ascending `rows` to the start of `out`, as many as both have.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a row lies outside the column.
    pub(crate) fn fill(&mut self, mut rows: &[u32], mut out: &mut [f32]) -> Result<()> {
        while let (Some(row), false) = (rows.first(), out.is_empty()) {
            let mut done = self.fill_from_piece(rows, out);
            if done == 0 {
                self.piece = self.column.from(u64::from(*row) * u64::from(self.width))?;
                self.first_row = *row;
                done = self.fill_from_piece(rows, out);
            }
            if done == 0 {
                return Err(cut_off());
            }
            rows = rows.get(done..).unwrap_or_default();
            out = out.get_mut(done..).unwrap_or_default();
        }
        Ok(())
    }

    /// Writes the lengths of the first rows that are in the piece; returns how many.
    fn fill_from_piece(&self, rows: &[u32], out: &mut [f32]) -> usize {
        if self.width == 2 {
            let lengths = self.piece.as_chunks::<2>().0;
            fill_from(rows, out, self.first_row, lengths, u16::from_le_bytes)
        } else {
            let lengths = self.piece.as_chunks::<4>().0;
            fill_from(rows, out, self.first_row, lengths, |bytes| {
                // f32 is exact up to 2^24; beyond it a length hardly changes the score.
                u32::from_le_bytes(bytes).min(1 << 24) as f32
            })
        }
    }
}

/// The lengths of a segment that is being written: two bytes a row, or four as soon as one length
/// exceeds 65 535.
#[derive(Debug)]
pub(crate) enum FieldNorms {
    /// All lengths fit two bytes.
    Short(Vec<u16>),
    /// At least one length does not.
    Long(Vec<u32>),
}

impl FieldNorms {
    /// `rows` rows of length 0.
    pub(crate) fn new(rows: usize) -> FieldNorms {
        FieldNorms::Short(vec![0; rows])
    }

    /// Appends a row.
    pub(crate) fn push(&mut self, length: u32) {
        self.make_room_for(length);
        match self {
            // `make_room_for` made sure that it fits.
            FieldNorms::Short(lengths) => lengths.push(length as u16),
            FieldNorms::Long(lengths) => lengths.push(length),
        }
    }

    /// Sets the length of a row; false when there is no such row.
    pub(crate) fn set(&mut self, row: u32, length: u32) -> bool {
        self.make_room_for(length);
        let row = row as usize;
        match self {
            FieldNorms::Short(lengths) => {
                let there = lengths.get_mut(row);
                there.map(|there| *there = length as u16).is_some()
            }
            FieldNorms::Long(lengths) => {
                let there = lengths.get_mut(row);
                there.map(|there| *there = length).is_some()
            }
        }
    }

    fn make_room_for(&mut self, length: u32) {
        if let FieldNorms::Short(short) = self
            && length > u32::from(u16::MAX)
        {
            let long = short.iter().map(|length| u32::from(*length)).collect();
            *self = FieldNorms::Long(long);
        }
    }

    /// The length of a row; 0 when there is no such row.
    #[inline]
    pub(crate) fn get(&self, row: u32) -> u32 {
        let row = row as usize;
        match self {
            FieldNorms::Short(lengths) => lengths.get(row).copied().unwrap_or(0).into(),
            FieldNorms::Long(lengths) => lengths.get(row).copied().unwrap_or(0),
        }
    }

    /// All lengths, by row.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len() as u32).map(|row| self.get(row))
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            FieldNorms::Short(lengths) => lengths.len(),
            FieldNorms::Long(lengths) => lengths.len(),
        }
    }

    /// Bytes of a length in the column.
    pub(crate) fn width(&self) -> usize {
        match self {
            FieldNorms::Short(_) => 2,
            FieldNorms::Long(_) => 4,
        }
    }

    /// Bytes of memory in use.
    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            FieldNorms::Short(lengths) => lengths.capacity() * 2,
            FieldNorms::Long(lengths) => lengths.capacity() * 4,
        }
    }
}

fn cut_off() -> Error {
    Error::damaged("a chunk length is cut off")
}

#[inline(always)]
fn fill_from<T: Copy, N: Into<f32>>(
    rows: &[u32],
    out: &mut [f32],
    first_row: u32,
    lengths: &[T],
    decode: impl Fn(T) -> N,
) -> usize {
    let mut done = 0;
    for (row, out) in std::iter::zip(rows, out) {
        // A row before the piece wraps to an index beyond it.
        let Some(length) = lengths.get(row.wrapping_sub(first_row) as usize) else {
            break;
        };
        *out = decode(*length).into();
        done += 1;
    }
    done
}
