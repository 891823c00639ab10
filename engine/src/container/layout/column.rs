//! Columns: one long run of bytes, cut into extents at the borders of items.
//!
//! A column has a *logical* position for every byte, counted from 0 without gaps; an extent holds a
//! contiguous piece of it. Items (rows of fixed width, text blocks, postings) never cross the end
//! of an extent, so one item is always one slice of the map.

use kb_types::SegmentId;
use kb_types::error::{Error, Result};
use wincode::{SchemaRead, SchemaWrite};

/// Bytes of an extent page that are not payload: redb's leaf header and our own.
// 16 bytes of redb's leaf header and 48 of the extent header: together one cache line. So a payload
// starts at a multiple of 64 bytes in the map, and rows of 64 bytes each lie in one line.
pub(crate) const EXTENT_OVERHEAD: usize = 64;

/// Largest page order of an extent: `4096 << 8` = 1 MiB.
// Scans read extents of 1 MiB as fast as one vector (3.34 ms against 3.41 ms for 76.8 MB), and
// locating 74 of them takes 0.2 ms, where 1,177 of 64 KiB take 3.7 ms
// (docs/decisions/02-page-extents.md). Larger pages would waste more of a half-filled last extent
// and would be checksummed whole for one row.
pub(crate) const MAX_ORDER: u8 = 8;

/// Page order of extents in columns that a request reads in a few places: `4096 << 4` = 64 KiB.
// An extent is checksummed whole when it is first read. With 64 KiB the first question to 114,641
// chunks takes 8.0 ms instead of 9.2 ms. Smaller extents gain nothing, and a scan of all of them is
// a tenth slower (docs/decisions/02-page-extents.md).
pub(crate) const SCATTERED_ORDER: u8 = 4;

/// Payload bytes of an extent whose page has that order.
pub(crate) const fn payload_capacity(order: u8) -> usize {
    (4096 << order) - EXTENT_OVERHEAD
}

/// Largest item of a column.
pub const MAX_ITEM_BYTES: usize = payload_capacity(MAX_ORDER);

/// Number of a column in `format-spec/registry.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColumnId(pub u16);

/// What a segment record says of one of its columns.
#[derive(Debug, Clone, PartialEq, Eq, SchemaRead, SchemaWrite)]
pub struct ColumnRecord {
    /// Number of the column in the registry.
    pub column: u16,
    /// Bytes of a row; 0 when items have their own lengths.
    pub width: u32,
    /// Payload bytes of each extent, in order.
    pub payload_lens: Vec<u32>,
}

impl ColumnRecord {
    /// Bytes of the whole column.
    pub fn len_bytes(&self) -> u64 {
        self.payload_lens.iter().map(|len| u64::from(*len)).sum()
    }
}

/// Takes finished extents: a write transaction, or memory in tests.
pub trait ExtentSink {
    /// Stores extent `number` of `column`: `payload` starts at logical byte `first`.
    fn put_extent(
        &mut self,
        segment: SegmentId,
        column: ColumnId,
        number: u32,
        first: u64,
        payload: &[u8],
    ) -> Result<()>;
}

/// Cuts items into extents. The last piece of a column becomes several smaller extents, so that a
/// column wastes less than a page.
#[derive(Debug)]
pub(crate) struct ColumnWriter {
    /// Which segment and column is written.
    segment: SegmentId,
    /// Its number in the registry.
    column: ColumnId,
    /// Bytes of a row; 0 for items of their own length.
    width: u32,
    /// Order of a full extent.
    max_order: u8,
    /// Items not yet in an extent.
    tail: Vec<u8>,
    /// End of each item within `tail`; empty for rows, whose ends are computed.
    ends: Vec<u32>,
    /// Logical position of the first byte of `tail`.
    tail_start: u64,
    /// Payload bytes of the extents written.
    payload_lens: Vec<u32>,
}

impl ColumnWriter {
    /// A column of rows of `width` bytes in extents of up to `max_order`.
    pub(crate) fn rows(
        segment: SegmentId,
        column: ColumnId,
        width: u32,
        max_order: u8,
    ) -> ColumnWriter {
        debug_assert!(width > 0);
        ColumnWriter::new(segment, column, width, max_order.min(MAX_ORDER))
    }

    /// A column of items of any length up to the payload of an extent of `max_order`.
    pub(crate) fn items(segment: SegmentId, column: ColumnId, max_order: u8) -> ColumnWriter {
        ColumnWriter::new(segment, column, 0, max_order.min(MAX_ORDER))
    }

    fn new(segment: SegmentId, column: ColumnId, width: u32, max_order: u8) -> ColumnWriter {
        ColumnWriter {
            segment,
            column,
            width,
            max_order,
            tail: Vec::new(),
            ends: Vec::new(),
            tail_start: 0,
            payload_lens: Vec::new(),
        }
    }

    /// Logical position of the next item.
    pub(crate) fn position(&self) -> u64 {
        self.tail_start + self.tail.len() as u64
    }

    /// Appends one item (for rows: one row) and returns its logical position.
    ///
    /// # Errors
    /// [`Error::TooLarge`] when the item does not fit one extent; what the sink says.
    pub(crate) fn push(&mut self, sink: &mut dyn ExtentSink, item: &[u8]) -> Result<u64> {
        if item.len() > MAX_ITEM_BYTES {
            return Err(Error::TooLarge {
                what: format!("item of column {}", self.column.0),
                size: item.len() as u64,
                limit: MAX_ITEM_BYTES as u64,
            });
        }
        debug_assert!(self.width == 0 || item.len() == self.width as usize);
        // An item never crosses the end of an extent: readers lend it as one slice of the map.
        if !self.tail.is_empty() && self.tail.len() + item.len() > payload_capacity(self.max_order)
        {
            self.flush(sink, self.tail.len())?;
        }
        let position = self.position();
        self.tail.extend_from_slice(item);
        if self.width == 0 {
            // Fits u32: the tail never holds more than one extent of 1 MiB and one item.
            self.ends.push(self.tail.len() as u32);
        }
        Ok(position)
    }

    /// Writes the first `len` bytes of the tail, a border of items, as one extent.
    fn flush(&mut self, sink: &mut dyn ExtentSink, len: usize) -> Result<()> {
        let number = self.payload_lens.len() as u32;
        let payload = self.tail.get(..len).unwrap_or(&self.tail);
        sink.put_extent(self.segment, self.column, number, self.tail_start, payload)?;
        self.payload_lens.push(len as u32);
        self.tail_start += len as u64;
        // `ends` counts from the start of the tail, which has just moved by `len`.
        self.tail.drain(..len);
        self.ends.retain_mut(|end| {
            let keep = *end as usize > len;
            *end = end.saturating_sub(len as u32);
            keep
        });
        Ok(())
    }

    /// Last border of items at or below `limit` bytes of the tail; 0 when the first is longer.
    fn item_boundary(&self, limit: usize) -> usize {
        match self.width as usize {
            0 => {
                let fitting = self.ends.partition_point(|end| *end as usize <= limit);
                fitting
                    .checked_sub(1)
                    .and_then(|i| self.ends.get(i))
                    .map_or(0, |end| *end as usize)
            }
            width => limit.min(self.tail.len()) / width * width,
        }
    }

    /// Writes what is left and returns the record of the column.
    pub(crate) fn finish(mut self, sink: &mut dyn ExtentSink) -> Result<ColumnRecord> {
        while !self.tail.is_empty() {
            // The largest page that is filled to the last item, or the smallest that holds one.
            let filled = (0..=self.max_order)
                .rev()
                .filter(|order| payload_capacity(*order) <= self.tail.len())
                .map(|order| self.item_boundary(payload_capacity(order)))
                .find(|item_boundary| *item_boundary > 0);
            let smallest = (0..=MAX_ORDER)
                .map(|order| self.item_boundary(payload_capacity(order)))
                .find(|item_boundary| *item_boundary > 0);
            // Each round fills a page of the largest order that the rest can fill. Only the last
            // extent has room left, so at most one page of the smallest order that holds it is
            // partly empty: 0.03 % for 200,000 rows of 384 bytes.
            let len = filled.or(smallest).unwrap_or(self.tail.len());
            self.flush(sink, len)?;
        }
        Ok(ColumnRecord {
            column: self.column.0,
            width: self.width,
            payload_lens: self.payload_lens,
        })
    }
}

/// Lends the payload of the extents of one column.
pub trait ExtentSource: Sync {
    /// Payload of extent `number`, checked when it is first read.
    fn payload(&self, number: usize) -> Result<&[u8]>;

    /// Says that extent `number` will be read, so that it can be brought into memory meanwhile. Nothing if it was
    /// read before.
    fn will_read(&self, _number: usize) {}
}

/// Read access to one column.
#[derive(Clone, Copy)]
pub struct ColumnView<'a> {
    /// Logical start of each extent, and one past the end of the last.
    starts: &'a [u64],
    /// Bytes of a row; 0 for items.
    width: u32,
    /// Where the bytes come from.
    source: &'a dyn ExtentSource,
}

impl std::fmt::Debug for ColumnView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ColumnView")
            .field("extents", &self.extents())
            .finish_non_exhaustive()
    }
}

/// The source of a column without extents.
#[derive(Debug)]
struct NoExtents;

impl ExtentSource for NoExtents {
    fn payload(&self, number: usize) -> Result<&[u8]> {
        Err(out_of_range(number as u64))
    }
}

impl<'a> ColumnView<'a> {
    /// A column without bytes.
    pub const EMPTY: ColumnView<'static> = ColumnView {
        starts: &[0],
        width: 0,
        source: &NoExtents,
    };

    /// `starts` has one number more than there are extents, ascending from 0.
    pub fn new(starts: &'a [u64], width: u32, source: &'a dyn ExtentSource) -> ColumnView<'a> {
        ColumnView {
            starts,
            width,
            source,
        }
    }

    /// Number of extents.
    pub fn extents(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Bytes of the column.
    pub fn len_bytes(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Rows of the column; 0 for a column of items.
    pub fn rows(&self) -> u64 {
        self.len_bytes()
            .checked_div(u64::from(self.width))
            .unwrap_or(0)
    }

    /// Payload of extent `number` and the logical position of its first byte.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is no such extent or it fails its checks.
    pub fn extent(&self, number: usize) -> Result<(u64, &'a [u8])> {
        let first = *self
            .starts
            .get(number)
            .ok_or_else(|| out_of_range(number as u64))?;
        Ok((first, self.source.payload(number)?))
    }

    /// `len` bytes at the logical position `position`, all in one extent.
    ///
    /// # Errors
    /// [`Error::Damaged`] when they lie outside, cross an extent, or the extent fails its checks.
    pub fn bytes(&self, position: u64, len: usize) -> Result<&'a [u8]> {
        let rest = self.from(position)?;
        rest.get(..len).ok_or_else(|| out_of_range(position))
    }

    /// All bytes from `position` to the end of the extent it lies in.
    ///
    /// # Errors
    /// As [`ColumnView::bytes`].
    pub fn from(&self, position: u64) -> Result<&'a [u8]> {
        let (first, payload) = self.extent_at(position)?;
        let offset = position
            .checked_sub(first)
            .and_then(|offset| usize::try_from(offset).ok());
        offset
            .and_then(|offset| payload.get(offset..))
            .ok_or_else(|| out_of_range(position))
    }

    /// The extent that `position` lies in, as [`ColumnView::extent`] has it.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is none or it fails its checks.
    pub fn extent_at(&self, position: u64) -> Result<(u64, &'a [u8])> {
        let number = self.number_at(position);
        self.extent(number.ok_or_else(|| out_of_range(position))?)
    }

    /// Says that positions will be read: see [`ExtentSource::will_read`].
    pub fn will_read(&self, positions: impl Iterator<Item = u64>) {
        let mut last = None;
        for position in positions {
            let number = self.number_at(position);
            if number != last
                && let Some(number) = number
            {
                self.source.will_read(number);
            }
            last = number;
        }
    }

    /// The number of the extent that `position` lies in.
    fn number_at(&self, position: u64) -> Option<usize> {
        // All but the last of a column of rows are equally long. So the number of the extent is a
        // division. Items and the shorter extents at the end need the binary search below. The
        // guess is verified, because `starts` comes from a file.
        let length = self.starts.get(1).copied().unwrap_or(0);
        let guess = position.checked_div(length).unwrap_or(0);
        let guess = usize::try_from(guess).unwrap_or(usize::MAX);
        if let Some([start, end]) = self.starts.get(guess..guess.saturating_add(2))
            && (*start..*end).contains(&position)
        {
            return Some(guess);
        }
        let behind = self.starts.partition_point(|start| *start <= position);
        behind.checked_sub(1)
    }

    /// Row `row` of a column of rows.
    ///
    /// # Errors
    /// As [`ColumnView::bytes`].
    pub fn row(&self, row: u64) -> Result<&'a [u8]> {
        let position = row
            // The row number may come from a posting list of a hostile file.
            .checked_mul(u64::from(self.width))
            .ok_or_else(|| out_of_range(row))?;
        self.bytes(position, self.width as usize)
    }
}

fn out_of_range(position: u64) -> Error {
    Error::damaged(format!(
        "a column is read at {position}, outside its extents"
    ))
}

/// Extents in memory, for unit tests of the rooms above.
#[cfg(test)]
#[derive(Debug, Default)]
pub(crate) struct MemoryExtents {
    /// Payloads by column, in order.
    pub(crate) columns: std::collections::BTreeMap<ColumnId, Vec<Vec<u8>>>,
}

#[cfg(test)]
impl ExtentSink for MemoryExtents {
    fn put_extent(
        &mut self,
        _segment: SegmentId,
        column: ColumnId,
        number: u32,
        _first: u64,
        payload: &[u8],
    ) -> Result<()> {
        let extents = self.columns.entry(column).or_default();
        assert_eq!(extents.len(), number as usize);
        extents.push(payload.to_vec());
        Ok(())
    }
}

#[cfg(test)]
impl ExtentSource for Vec<Vec<u8>> {
    fn payload(&self, number: usize) -> Result<&[u8]> {
        self.get(number)
            .map(Vec::as_slice)
            .ok_or_else(|| out_of_range(number as u64))
    }
}

/// Logical starts of the extents of `record`, as [`ColumnView::new`] wants them.
pub fn extent_starts(record: &ColumnRecord) -> Vec<u64> {
    let mut starts = vec![0];
    let mut end = 0;
    for len in &record.payload_lens {
        end += u64::from(*len);
        starts.push(end);
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: SegmentId = SegmentId(1);
    const COLUMN: ColumnId = ColumnId(7);

    fn write(
        mut writer: ColumnWriter,
        items: &[Vec<u8>],
    ) -> (MemoryExtents, ColumnRecord, Vec<u64>) {
        let mut sink = MemoryExtents::default();
        let positions = items
            .iter()
            .map(|item| writer.push(&mut sink, item).unwrap())
            .collect::<Vec<_>>();
        let record = writer.finish(&mut sink).unwrap();
        (sink, record, positions)
    }

    #[test]
    fn items_read_back_at_the_position_they_were_given() {
        let items: Vec<Vec<u8>> = (0..3000u32)
            .map(|i| vec![(i % 251) as u8; (i as usize * 7919) % 3000])
            .chain([vec![9; MAX_ITEM_BYTES], vec![8; 5000], vec![7; 1]])
            .collect();
        let (sink, record, positions) =
            write(ColumnWriter::items(SEGMENT, COLUMN, MAX_ORDER), &items);
        let starts = extent_starts(&record);
        let payloads = &sink.columns[&COLUMN];
        let view = ColumnView::new(&starts, 0, payloads);
        for (item, position) in items.iter().zip(positions) {
            if !item.is_empty() {
                assert_eq!(view.bytes(position, item.len()).unwrap(), item);
            }
        }
        let total: usize = items.iter().map(Vec::len).sum();
        assert_eq!(view.len_bytes(), total as u64);
        assert!(view.bytes(total as u64, 1).is_err());
    }

    #[test]
    fn small_extents_hold_items_longer_than_themselves() {
        let items = vec![vec![1; 100], vec![2; payload_capacity(4) + 1], vec![3; 100]];
        let (sink, record, positions) = write(ColumnWriter::items(SEGMENT, COLUMN, 4), &items);
        let starts = extent_starts(&record);
        let view = ColumnView::new(&starts, 0, &sink.columns[&COLUMN]);
        for (item, position) in items.iter().zip(positions) {
            assert_eq!(view.bytes(position, item.len()).unwrap(), item);
        }
    }

    #[test]
    fn rows_never_cross_an_extent_and_waste_less_than_a_page() {
        let rows: Vec<Vec<u8>> = (0..20_011u32).map(|i| vec![(i % 256) as u8; 192]).collect();
        let (sink, record, _) = write(ColumnWriter::rows(SEGMENT, COLUMN, 192, MAX_ORDER), &rows);
        let starts = extent_starts(&record);
        let view = ColumnView::new(&starts, 192, &sink.columns[&COLUMN]);
        assert_eq!(view.rows(), 20_011);
        for (i, row) in rows.iter().enumerate() {
            assert_eq!(view.row(i as u64).unwrap(), row);
        }
        let pages: usize = record
            .payload_lens
            .iter()
            .map(|len| {
                (0..=MAX_ORDER)
                    .find(|o| payload_capacity(*o) >= *len as usize)
                    .unwrap()
            })
            .map(|order| 4096usize << order)
            .sum();
        let full = 20_011 * 192;
        assert!(
            pages - full < 4096 + record.payload_lens.len() * 256,
            "{pages} for {full}"
        );
    }
}
