//! Which rows of a segment have a vector: those that inverted lists are of.

use roaring::RoaringBitmap;

use crate::index::vector::reader::Reader;

/// The rows of a segment that have a vector, and what reads them. Cheap to copy.
#[derive(Debug, Clone, Copy)]
pub struct PresentRows<'a> {
    reader: Reader<'a>,
    /// `None`: all of them. No row beyond the segment.
    present: Option<&'a RoaringBitmap>,
}

impl<'a> PresentRows<'a> {
    /// All rows.
    pub fn all(reader: Reader<'a>) -> PresentRows<'a> {
        PresentRows {
            reader,
            present: None,
        }
    }

    /// Some rows, none beyond the segment. The others are zeros, which are near to nothing: in lists they would take
    /// the places of vectors.
    pub fn some(reader: Reader<'a>, present: &'a RoaringBitmap) -> PresentRows<'a> {
        PresentRows {
            reader,
            present: Some(present),
        }
    }

    /// What reads them.
    pub fn reader(&self) -> &Reader<'a> {
        &self.reader
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        let rows = self.reader.rows();
        self.present.map_or(rows, |present| {
            u32::try_from(present.len()).unwrap_or(rows).min(rows)
        })
    }

    /// Whether a row of the segment is one of them.
    pub fn contains(&self, row: u32) -> bool {
        row < self.reader.rows() && self.present.is_none_or(|present| present.contains(row))
    }

    /// The one with `number` of them before it.
    pub fn nth(&self, number: u32) -> Option<u32> {
        match self.present {
            None => (number < self.reader.rows()).then_some(number),
            Some(present) => present.select(number),
        }
    }

    /// All of them, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + 'a {
        let of_all = self.present.is_none().then_some(0..self.reader.rows());
        let of_some = self.present.map(RoaringBitmap::iter);
        of_all
            .into_iter()
            .flatten()
            .chain(of_some.into_iter().flatten())
    }
}
