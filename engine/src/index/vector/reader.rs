//! The vector index of one segment, read from its columns.

use kb_types::error::{Error, Result};

use super::cursor::Cursor;
use super::kernels::detect::kernels;
use super::kernels::layout::{BLOCK_ROWS, LANES, Lanes};
use super::kernels::prefetch::prefetch;
use super::lists::reader::ListsReader;
use super::quantise::{as_signed, nibbles, signed_of_nibble, to_i4};
use super::query::Query;
use super::record::{CODEC_I4, Codec, NORM_BYTES, VectorRecord, stride};
use super::sign_bits::{Block, block_bytes, blocks};
use crate::container::codec::array_at;
use crate::container::column::ColumnView;

/// The vector index of one segment. Cheap to copy.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    /// Rows of signed bytes or of nibbles.
    rows: ColumnView<'a>,
    /// Blocks of sign bits; `None` where inverted lists are in their place.
    codes: Option<ColumnView<'a>>,
    /// Inverted lists.
    lists: Option<ListsReader<'a>>,
    /// Number of rows.
    count: u32,
    /// The codec of the rows.
    codec: u8,
    /// Dimensions.
    dim: u32,
    /// Bytes of a row.
    stride: usize,
    /// The quantiser.
    range: f32,
    /// Squared lengths of the vectors, of a column that is compared by distance.
    norms: Option<ColumnView<'a>>,
}

/// The numbers that the bytes of a row stand for; `scale` is that of a signed byte.
pub(crate) fn dequantise(
    row: &[u8],
    codec: Codec,
    dim: usize,
    scale: f32,
) -> impl Iterator<Item = f32> + '_ {
    let (bytes, packed) = match codec {
        Codec::I8 => (as_signed(row), &[][..]),
        Codec::I4 => (as_signed(&[]), row),
    };
    let of_bytes = bytes.iter().map(move |byte| f32::from(*byte) * scale);
    let of_nibbles =
        nibbles(packed).map(move |nibble| (2.0 * f32::from(nibble) - 15.0) * 5.5 * scale);
    of_bytes.chain(of_nibbles).take(dim)
}

/// Prefetch distance for scattered rows, in rows.
// Twelve rows of three cache lines are 36 requests, about what a core can have in flight.
const AHEAD: usize = 12;

/// Scattered rows that are copied side by side and scored in one call.
// Their cache misses overlap, and the kernel scores four rows at a time. 16 rows of 192 bytes are 3
// KB, which stay in the first-level cache.
const GATHERED: usize = 16;

impl<'a> Reader<'a> {
    /// Borrows the columns that [`super::writer::Writer`] wrote: the rows, their sign bits, and the three
    /// of the inverted lists that a segment may have.
    ///
    /// # Errors
    /// [`Error::Damaged`] when record and columns disagree about the number of rows.
    pub fn new(
        record: &VectorRecord,
        rows: ColumnView<'a>,
        codes: Option<ColumnView<'a>>,
        lists: Option<[ColumnView<'a>; 3]>,
    ) -> Result<Reader<'a>> {
        if rows.rows() != u64::from(record.rows)
            || rows.len_bytes() != u64::from(record.rows) * u64::from(record.stride)
        {
            return Err(Error::damaged(format!(
                "a vector index of {} rows has a column of {}",
                record.rows,
                rows.rows()
            )));
        }
        let expected = u64::from(blocks(record.rows)) * u64::from(block_bytes(record.dim));
        if let Some(codes) = codes
            // Readers of blocks take lengths from here, not from the column.
            && codes.len_bytes() != expected
        {
            return Err(Error::damaged(format!(
                "a vector index of {} rows has {} bytes of codes",
                record.rows,
                codes.len_bytes()
            )));
        }
        let lists = match (record.lists, lists) {
            (0, None) => None,
            (count, Some(columns)) if count > 0 => {
                Some(ListsReader::new(count, record.dim, record.rows, columns)?)
            }
            _ => {
                return Err(Error::damaged(
                    "inverted lists are stated or stored, not both",
                ));
            }
        };
        Ok(Reader {
            rows,
            codes,
            lists,
            count: record.rows,
            codec: record.codec,
            dim: record.dim,
            stride: record.stride as usize,
            range: record.range,
            norms: None,
        })
    }

    /// The same with the squared lengths of the vectors, which comparing by distance needs.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there are not as many of them as rows.
    pub fn with_norms(self, norms: ColumnView<'a>) -> Result<Reader<'a>> {
        if norms.len_bytes() != u64::from(self.count) * NORM_BYTES as u64 {
            return Err(Error::damaged(format!(
                "a vector index of {} rows has {} bytes of norms",
                self.count,
                norms.len_bytes()
            )));
        }
        Ok(Reader {
            norms: Some(norms),
            ..self
        })
    }

    /// Number of rows, deleted ones included.
    pub fn rows(&self) -> u32 {
        self.count
    }

    /// The codec of the rows.
    pub fn codec(&self) -> u8 {
        self.codec
    }

    /// Dimensions and range of the quantiser: rows of readers with the same two are comparable.
    pub(super) fn quantiser(&self) -> (u32, f32) {
        (self.dim, self.range)
    }

    /// Dimensions of the vectors, without the padding of rows.
    pub(super) fn dim(&self) -> u32 {
        self.dim
    }

    /// The inverted lists, where the segment has some.
    pub fn lists(&self) -> Option<&ListsReader<'a>> {
        self.lists.as_ref()
    }

    /// Whether rows can be told apart by their sign bits.
    pub(super) fn has_codes(&self) -> bool {
        self.codes.is_some()
    }

    /// All stored rows, one extent at a time.
    pub fn extents(&self) -> impl Iterator<Item = Result<&'a [u8]>> {
        let rows = self.rows;
        (0..rows.extents()).map(move |number| Ok(rows.extent(number)?.1))
    }

    /// Checks that a query is as wide as the rows.
    ///
    /// # Errors
    /// [`Error::Damaged`] when it is not.
    pub(super) fn check_query(&self, query: &Query) -> Result<()> {
        if query.row().len() == stride(self.dim) as usize {
            Ok(())
        } else {
            Err(Error::damaged("query and rows have different widths"))
        }
    }

    /// The stored bytes of one row.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is no such row.
    pub fn row(&self, row: u32) -> Result<&'a [u8]> {
        self.rows
            .bytes(u64::from(row) * self.stride as u64, self.stride)
    }

    /// Writes one row as signed bytes, whatever the codec; `signed` is as long as such a row.
    ///
    /// # Errors
    /// As [`Reader::row`].
    pub(super) fn signed_row(&self, row: u32, signed: &mut [i8]) -> Result<()> {
        let bytes = self.row(row)?;
        match self.codec {
            CODEC_I4 => {
                signed.fill(0);
                let numbers = nibbles(bytes).take(self.dim as usize).map(signed_of_nibble);
                signed
                    .iter_mut()
                    .zip(numbers)
                    .for_each(|(to, from)| *to = from);
            }
            _ => signed
                .iter_mut()
                .zip(as_signed(bytes))
                .for_each(|(to, from)| *to = *from),
        }
        Ok(())
    }

    /// Writes one row as nibbles, whatever the codec.
    ///
    /// # Errors
    /// As [`Reader::row`].
    pub fn i4_row(&self, row: u32, packed: &mut Vec<u8>) -> Result<()> {
        let bytes = self.row(row)?;
        match self.codec {
            CODEC_I4 => {
                packed.clear();
                packed.extend_from_slice(bytes);
            }
            _ => to_i4(as_signed(bytes), self.dim as usize, packed),
        }
        Ok(())
    }

    /// One row as a vector of `dim` numbers, of about unit length, so that it can be a query.
    ///
    /// # Errors
    /// As [`Reader::row`].
    pub fn vector(&self, row: u32) -> Result<Vec<f32>> {
        let codec = Codec::of(self.codec)?;
        let dim = self.dim as usize;
        Ok(dequantise(self.row(row)?, codec, dim, self.range / 127.0).collect())
    }

    /// The score of one row: the cosine with the query, 0 to 1.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is no such row or the query has another width.
    #[cfg(test)]
    pub fn score(&self, query: &Query, row: u32) -> Result<f32> {
        self.check_query(query)?;
        let product = query.product(self.codec, self.row(row)?);
        Ok(query.score(self.codec, product))
    }

    /// The scores of some rows, in their order. Ascending rows are fastest.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a row does not exist or the query has another width.
    pub fn scores(&self, query: &Query, rows: &[u32]) -> Result<Vec<f32>> {
        let mut scores = Vec::with_capacity(rows.len());
        self.keys(query, rows.iter().copied(), |_, key| {
            scores.push(query.score(self.codec, key));
        })?;
        Ok(scores)
    }

    /// Calls `each` with the key of each of some rows: see [`Query::key`].
    pub(super) fn keys(
        &self,
        query: &Query,
        rows: impl Iterator<Item = u32>,
        mut each: impl FnMut(u32, i64),
    ) -> Result<()> {
        let mut norms = self.norm_cursor();
        let mut failed = Ok(());
        self.products(query, rows, |row, product| {
            match norm_at(norms.as_mut(), u64::from(row)) {
                Ok(norm) => each(row, query.key(self.codec, product, norm)),
                Err(error) => failed = Err(error),
            }
        })?;
        failed
    }

    /// The key of a row by its product.
    ///
    /// # Errors
    /// [`Error::Damaged`] for a length that is none.
    #[inline]
    pub(super) fn key(
        &self,
        norms: Option<&mut Cursor<'a>>,
        query: &Query,
        row: u32,
        product: i32,
    ) -> Result<i64> {
        match norms {
            None => Ok(query.key(self.codec, product, 0.0)),
            norms => {
                let norm = norm_at(norms, u64::from(row))?;
                Ok(query.key(self.codec, product, norm))
            }
        }
    }

    /// A cursor over the norms; `None` where there are none.
    pub(super) fn norm_cursor(&self) -> Option<Cursor<'a>> {
        self.norms.map(|norms| Cursor::new(norms, NORM_BYTES))
    }

    /// The squared length of a vector; 0 where lengths are not stored.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is no such row.
    pub fn norm(&self, row: u32) -> Result<f32> {
        norm_at(self.norm_cursor().as_mut(), u64::from(row))
    }

    /// Calls `each` with the integer product of each of some rows.
    pub(super) fn products(
        &self,
        query: &Query,
        rows: impl Iterator<Item = u32>,
        mut each: impl FnMut(u32, i32),
    ) -> Result<()> {
        self.check_query(query)?;
        let mut cursor = self.row_cursor();
        let mut found = Vec::with_capacity(rows.size_hint().0);
        for row in rows {
            let bytes = cursor.from(u64::from(row))?.get(..self.stride);
            found.push((row, bytes.unwrap_or_default()));
        }
        let mut ahead = found.iter().skip(AHEAD);
        let mut gathered = vec![0; GATHERED * self.stride];
        let mut products = [0; GATHERED];
        for some in found.chunks(GATHERED) {
            for ((_, bytes), place) in some.iter().zip(gathered.chunks_exact_mut(self.stride)) {
                if let Some((_, later)) = ahead.next() {
                    prefetch(later);
                }
                if bytes.len() == place.len() {
                    place.copy_from_slice(bytes);
                }
            }
            kernels().products(self.codec, query.one(), &gathered, &mut products);
            for ((row, _), product) in some.iter().zip(&products) {
                each(*row, *product);
            }
        }
        Ok(())
    }

    /// The integer products of rows beside each other, as many as there is room for.
    ///
    /// # Errors
    /// [`Error::Damaged`] when one of them is not there or the query has another width.
    pub(super) fn products_beside(
        &self,
        cursor: &mut Cursor<'a>,
        query: &Query,
        first: u32,
        products: &mut [i32],
    ) -> Result<()> {
        pieces(cursor, first, products, |rows, products| {
            kernels().products(self.codec, query.one(), rows, products)
        })
    }

    /// The integer products of the rows of a block of 64 with sixteen queries; the last block may have fewer.
    pub(super) fn block_products_of_lanes(
        &self,
        cursor: &mut Cursor<'a>,
        lanes: &Lanes,
        block: u32,
        products: &mut [[i32; LANES]; BLOCK_ROWS],
    ) -> Result<()> {
        let first = block * BLOCK_ROWS as u32;
        let rows = self.count.saturating_sub(first) as usize;
        let products = products.get_mut(..rows.min(BLOCK_ROWS));
        let products = products.unwrap_or_default();
        pieces(cursor, first, products, |rows, products| {
            kernels().products_of_lanes(self.codec, lanes, rows, products)
        })
    }

    /// Says that some rows will be read.
    pub(super) fn will_read(&self, rows: impl Iterator<Item = u32>) {
        let stride = self.stride as u64;
        self.rows.will_read(rows.map(|row| u64::from(row) * stride));
    }

    /// A cursor over the rows.
    pub(super) fn row_cursor(&self) -> Cursor<'a> {
        Cursor::new(self.rows, self.stride)
    }

    /// A cursor over the blocks of sign bits.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the segment has none.
    pub(super) fn code_cursor(&self) -> Result<Cursor<'a>> {
        let codes = self
            .codes
            .ok_or_else(|| Error::damaged("a segment has no sign bits"))?;
        Ok(Cursor::new(codes, block_bytes(self.dim) as usize))
    }

    /// Reads the whole index and checks it: padding after the last dimension is 0, no byte is -128,
    /// and the blocks of sign bits have the signs of the rows, and zeros for missing rows. Of inverted lists
    /// see [`super::lists::check`].
    ///
    /// # Errors
    /// [`Error::Damaged`] naming the first row or block where this does not hold.
    pub fn check(&self) -> Result<()> {
        let mut codes = match self.has_codes() {
            true => Some(self.code_cursor()?),
            false => None,
        };
        let mut block = Block::new(self.dim);
        let block_bytes = block.bytes().len();
        for row in 0..self.count {
            let bytes = self.row(row)?;
            self.check_row(bytes)
                .map_err(|what| Error::damaged(format!("row {row} {what}")))?;
            block.push(self.codec, bytes, self.dim as usize);
            if block.is_full() || row + 1 == self.count {
                let number = row / BLOCK_ROWS as u32;
                let stored = match &mut codes {
                    Some(codes) => codes.from(u64::from(number))?.get(..block_bytes),
                    None => Some(block.bytes()),
                };
                if stored != Some(block.bytes()) {
                    return Err(Error::damaged(format!(
                        "the codes of rows from {} are not their signs",
                        u64::from(number) * BLOCK_ROWS as u64
                    )));
                }
                block.clear();
            }
        }
        Ok(())
    }

    fn check_row(&self, bytes: &[u8]) -> std::result::Result<(), &'static str> {
        let dim = self.dim as usize;
        let padded = match self.codec {
            CODEC_I4 => nibbles(bytes).skip(dim).all(|nibble| nibble == 0),
            _ => bytes.iter().skip(dim).all(|byte| *byte == 0),
        };
        if !padded {
            return Err("is not padded with zeros");
        }
        if self.codec != CODEC_I4 && as_signed(bytes).contains(&i8::MIN) {
            return Err("has a number below -127");
        }
        Ok(())
    }
}

/// Calls `kernel` with rows beside each other, in two pieces when an extent ends between them.
fn pieces<T>(
    cursor: &mut Cursor<'_>,
    first: u32,
    products: &mut [T],
    kernel: impl Fn(&[u8], &mut [T]) -> usize,
) -> Result<()> {
    let mut done = 0;
    while done < products.len() {
        let bytes = cursor.from(u64::from(first) + done as u64)?;
        let room = products.get_mut(done..).unwrap_or_default();
        match kernel(bytes, room) {
            0 => return Err(Error::damaged("query and rows have different widths")),
            some => done += some,
        }
    }
    Ok(())
}

/// The norm of a row; 0 where there are none.
fn norm_at(norms: Option<&mut Cursor<'_>>, row: u64) -> Result<f32> {
    let Some(norms) = norms else {
        return Ok(0.0);
    };
    let norm = f32::from_le_bytes(array_at(norms.from(row)?, 0)?);
    // A NaN would make the order of rows depend on the sort.
    if norm.is_finite() && norm >= 0.0 {
        Ok(norm)
    } else {
        Err(Error::damaged(format!(
            "row {row} has a squared length of {norm}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::column::ColumnId;
    use crate::index::vector::fixture::{RANGE, Segment, unit};
    use crate::index::vector::writer::Writer;
    use crate::index::vector::{CODEC_I8, CODES, ROWS};

    #[test]
    fn each_lie_about_a_vector_is_named() {
        let rows: Vec<_> = (0..100)
            .map(|seed| Writer::row(&unit(seed, 60), RANGE))
            .collect();
        let lie = |codec: u8, column: ColumnId, at: usize, byte: Option<u8>| {
            let mut segment = Segment::of(codec, 60, rows.iter());
            let payload = &mut segment.sink.columns.get_mut(&column).unwrap()[0];
            payload[at] = byte.unwrap_or(payload[at] ^ 1);
            segment.reader().check()
        };
        for codec in [CODEC_I8, CODEC_I4] {
            Segment::of(codec, 60, rows.iter())
                .reader()
                .check()
                .unwrap();
        }
        let codes = "the codes of rows from";
        for (codec, column, at, byte, what) in [
            (CODEC_I8, ROWS, 64 * 7 + 60, Some(1), "row 7 is not padded"),
            (CODEC_I8, ROWS, 64 * 8 - 1, Some(1), "row 7 is not padded"),
            (
                CODEC_I8,
                ROWS,
                64 * 9 + 5,
                Some(0x80),
                "row 9 has a number below",
            ),
            (CODEC_I8, CODES, 5, None, codes),
            // The last dimension of the last row, a row that is not there, a dimension neither.
            (CODEC_I8, CODES, 512 + 14 * 32 + 3, Some(0), codes),
            (CODEC_I8, CODES, 512 + 36, None, codes),
            (CODEC_I8, CODES, 512 + 15 * 32, None, codes),
            (
                CODEC_I4,
                ROWS,
                32 * 7 + 31,
                Some(0x10),
                "row 7 is not padded",
            ),
            (CODEC_I4, ROWS, 32 * 7 + 5, Some(0x80), codes),
            (CODEC_I4, CODES, 5, None, codes),
        ] {
            let error = lie(codec, column, at, byte).expect_err(what);
            assert_eq!(error.code(), "DAMAGED");
            assert!(error.to_string().contains(what), "{what}: {error}");
        }
    }

    #[test]
    fn columns_of_another_length_are_refused() {
        let rows = vec![Writer::row(&unit(1, 60), RANGE); 65];
        let segment = Segment::of(CODEC_I8, 60, rows.iter());
        let new = |rows: &[u64], codes: &[u64]| {
            let rows = ColumnView::new(rows, 64, &segment.sink.columns[&ROWS]);
            let codes = ColumnView::new(codes, 512, &segment.sink.columns[&CODES]);
            Reader::new(&segment.record, rows, Some(codes), None).map(|_| ())
        };
        new(&[0, 65 * 64], &[0, 1024]).unwrap();
        for (rows, codes) in [(64 * 64, 1024), (65 * 64 + 1, 1024), (65 * 64, 512)] {
            let error = new(&[0, rows], &[0, codes]).unwrap_err();
            assert_eq!(error.code(), "DAMAGED", "{rows} {codes}");
        }
    }
}
