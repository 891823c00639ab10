//! Which documents go into which segment of a sealed file.

use kb_types::SegmentId;
use kb_types::error::{Error, Result};

use crate::catalog::BoundSegment;
use crate::ingest::run::even_sample::{EvenSample, evenly_spaced};
use crate::store::block_writer::TextSample;
use crate::store::dictionary::SAMPLE_BYTES;
use crate::store::documents::DocumentRecord;

/// Most chunks of the sample that the dictionary of a segment is made from.
// 4,096 chunks of some 500 bytes or more fill the sample of 2 MB.
const SAMPLE_ROWS: usize = 1 << 12;

/// A segment of the sealed file, before it is written.
#[derive(Debug)]
pub(super) struct PlannedSegment {
    pub(super) rows: u32,
    pub(super) text_bytes: u64,
    /// Some of its chunks, where they lie now.
    pub(super) sample: EvenSample<(SegmentId, u32)>,
}

/// How documents, in the order of their paths, are put into segments: each is filled until the next
/// document does not fit. Decided by the documents alone.
#[derive(Debug)]
pub(super) struct SegmentPlan {
    pub(super) max_rows: u32,
    pub(super) segments: Vec<PlannedSegment>,
}

impl SegmentPlan {
    pub(super) fn add(&mut self, record: &DocumentRecord) {
        if record.rows == 0 {
            return;
        }
        let last = self.segments.last();
        let rows = last.and_then(|planned| planned.rows.checked_add(record.rows));
        if rows.is_none_or(|rows| rows > self.max_rows) {
            self.segments.push(PlannedSegment {
                rows: 0,
                text_bytes: 0,
                sample: EvenSample::new(SAMPLE_ROWS),
            });
        }
        if let Some(planned) = self.segments.last_mut() {
            planned.rows = planned.rows.saturating_add(record.rows);
            planned.text_bytes += u64::from(record.text_bytes);
            for row in record.first_row..record.first_row.saturating_add(record.rows) {
                planned.sample.push((record.segment(), row));
            }
        }
    }
}

impl PlannedSegment {
    /// Text for the dictionary of the segment; none when it is too small for one.
    pub(super) fn read_sample(self, bound: &[BoundSegment<'_>]) -> Result<Option<TextSample>> {
        let Some(step) = TextSample::step(self.text_bytes) else {
            return Ok(None);
        };
        let wanted = u64::from(self.rows).div_ceil(step);
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        let mut readers = Vec::with_capacity(bound.len());
        for bound in bound {
            readers.push((bound.segment.id, bound.blocks()?));
        }
        let mut pieces = String::with_capacity(SAMPLE_BYTES);
        for (segment, row) in evenly_spaced(self.sample.into_items(), wanted) {
            let at = readers.binary_search_by_key(&segment, |(id, _)| *id);
            let reader = at.ok().and_then(|at| readers.get_mut(at));
            let (_, reader) = reader.ok_or_else(|| Error::damaged("a document of no segment"))?;
            reader.append(row, 1, &mut pieces)?;
        }
        Ok(Some(TextSample {
            pieces,
            text_bytes: self.text_bytes,
        }))
    }
}
