//! Row `effort` of table `kb`: how much a vector search reads, so that it finds what was asked for; and the same of a
//! column of vectors of another model, in its row of table `vectors`.

use kb_types::error::{Error, Result};
use wincode::{SchemaRead, SchemaWrite};

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::codec::{decode_record, encode_record};
use crate::container::{Key, Snapshot};
use crate::store::tables;

const EFFORT_VERSION: u8 = 3;

/// Version of a row with a share of the lists instead of a reach.
// Builds of 0.10 wrote this version and the next one. An index run that makes such a file anew keeps the recall that
// a person asked for.
const SHARED_VERSION: u8 = 2;

/// Version of a row that does not say which part of the file was measured.
const COUNTED_VERSION: u8 = 1;

/// Row `effort`.
#[derive(Debug, Clone, PartialEq, SchemaRead, SchemaWrite)]
pub struct EffortRecord {
    /// Standard deviations above their centroid at which rows of inverted lists are expected at most: above 0, at
    /// most 1000. From 12 on all lists are read.
    pub reach: f32,
    /// Multiple of the candidates that are read without this row: 1 to 1000.
    pub candidates: f32,
    /// The recall that was asked for; none: as good as is cheap.
    pub wanted: Option<f32>,
    /// What was measured with these; none where the model was not there.
    pub measured: Option<MeasuredRecord>,
}

/// Recall against vectors that are not quantised.
#[derive(Debug, Clone, PartialEq, SchemaRead, SchemaWrite)]
pub struct MeasuredRecord {
    /// Questions drawn from the file.
    pub queries: u32,
    /// Nearest chunks wanted of each.
    pub k: u32,
    /// Live chunks then.
    pub rows: u64,
    /// Share of the `k` nearest by unquantised vectors among the first `k` that are answered: 0 to 1.
    pub recall: f32,
    /// The same when every row is compared: what the quantised rows allow.
    pub exact: f32,
    /// Number of the next segment then: chunks of segments from that on came later, or were merged.
    pub next_segment: u32,
    /// Whether a segment had inverted lists then.
    pub listed: bool,
    /// Share of the rows whose lists or sign bits were read, on average: 0 to 1.
    pub read: f32,
}

/// The stored form of version 2.
#[derive(SchemaRead, SchemaWrite)]
struct SharedRecord {
    lists: f32,
    candidates: f32,
    wanted: Option<f32>,
    measured: Option<SharedMeasure>,
}

/// What version 2 says of a measurement.
#[derive(SchemaRead, SchemaWrite)]
struct SharedMeasure {
    of: CountedMeasure,
    next_segment: u32,
    listed: bool,
}

/// The stored form of version 1.
#[derive(SchemaRead, SchemaWrite)]
struct CountedRecord {
    lists: f32,
    candidates: f32,
    wanted: Option<f32>,
    measured: Option<CountedMeasure>,
}

/// What version 1 says of a measurement.
#[derive(SchemaRead, SchemaWrite)]
struct CountedMeasure {
    queries: u32,
    k: u32,
    rows: u64,
    recall: f32,
    exact: f32,
}

impl EffortRecord {
    /// Of a version whose effort was another: searches read what they read without the row, and the next index run
    /// measures again.
    fn of_wish(wanted: Option<f32>) -> EffortRecord {
        EffortRecord {
            // As `vector::Effort::default`, with which files without this row are searched.
            reach: 7.0,
            candidates: 1.0,
            wanted,
            measured: None,
        }
    }
}

/// How much a search of a column of vectors of another model reads, and what it finds.
#[derive(Debug, Clone, PartialEq, SchemaRead, SchemaWrite)]
pub struct ColumnEffortRecord {
    /// As in [`EffortRecord`].
    pub reach: f32,
    /// As in [`EffortRecord`].
    pub candidates: f32,
    /// Rows of the column that were asked for.
    pub queries: u32,
    /// Nearest rows wanted of each, without itself.
    pub k: u32,
    /// Live chunks with a vector then.
    pub rows: u64,
    /// Share of these that are found, of those that comparing every row finds: 0 to 1.
    pub recall: f32,
    /// As in [`MeasuredRecord`].
    pub read: f32,
}

impl ColumnEffortRecord {
    /// Whether its numbers are in their range.
    pub(super) fn is_sound(&self) -> bool {
        is_effort(self.reach, self.candidates) && is_share(self.recall) && is_share(self.read)
    }
}

fn is_share(share: f32) -> bool {
    (0.0..=1.0).contains(&share)
}

fn is_effort(reach: f32, candidates: f32) -> bool {
    // Far above what is ever measured (from 12 on every list is read). A forged row must not make a
    // search keep millions of candidates, nor none at all.
    reach > 0.0 && reach <= 1000.0 && (1.0..=1000.0).contains(&candidates)
}

impl EffortRecord {
    /// Reads and checks the row; `None` when there is none.
    ///
    /// # Errors
    /// [`Error::Damaged`] for numbers outside their range.
    pub fn read(snapshot: &Snapshot<'_>) -> Result<Option<EffortRecord>> {
        let Some(table) = snapshot.table(tables::KB)? else {
            return Ok(None);
        };
        let Some(row) = snapshot.get(&table, Key::Str(tables::KB_EFFORT))? else {
            return Ok(None);
        };
        EffortRecord::decode(&row).map(Some)
    }

    fn decode(row: &[u8]) -> Result<EffortRecord> {
        let record: EffortRecord = match row.first() {
            // The wish of a person is kept across versions; a measurement is made again by itself.
            Some(&COUNTED_VERSION) => {
                let record: CountedRecord = decode_record("row effort", COUNTED_VERSION, row)?;
                EffortRecord::of_wish(record.wanted)
            }
            Some(&SHARED_VERSION) => {
                let record: SharedRecord = decode_record("row effort", SHARED_VERSION, row)?;
                EffortRecord::of_wish(record.wanted)
            }
            _ => decode_record("row effort", EFFORT_VERSION, row)?,
        };
        let measured = record.measured.as_ref();
        let sound = is_effort(record.reach, record.candidates)
            && record.wanted.is_none_or(is_share)
            && measured.is_none_or(|measured| {
                let shares = [measured.recall, measured.exact, measured.read];
                shares.into_iter().all(is_share)
            });
        match sound {
            true => Ok(record),
            false => Err(Error::damaged("row effort has numbers outside their range")),
        }
    }

    /// Writes the row.
    #[cfg(feature = "ingest")]
    pub fn write(&self, transaction: &mut Transaction<'_>) -> Result<()> {
        let row = encode_record(EFFORT_VERSION, self)?;
        transaction.put(tables::KB, Key::Str(tables::KB_EFFORT), &row)
    }

    /// Removes the row, if it is there.
    #[cfg(feature = "ingest")]
    pub fn remove(transaction: &mut Transaction<'_>) -> Result<()> {
        let removed = transaction.remove(tables::KB, Key::Str(tables::KB_EFFORT));
        removed.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_row_of_an_older_version_the_wish_is_read() {
        let of = || CountedMeasure {
            queries: 7,
            k: 10,
            rows: 5,
            recall: 0.5,
            exact: 0.75,
        };
        let counted = CountedRecord {
            lists: 0.2,
            candidates: 2.0,
            wanted: Some(0.9),
            measured: Some(of()),
        };
        let shared = SharedRecord {
            lists: 0.2,
            candidates: 2.0,
            wanted: Some(0.9),
            measured: Some(SharedMeasure {
                of: of(),
                next_segment: 3,
                listed: true,
            }),
        };
        for row in [
            encode_record(COUNTED_VERSION, &counted).unwrap(),
            encode_record(SHARED_VERSION, &shared).unwrap(),
        ] {
            let record = EffortRecord::decode(&row).unwrap();
            assert_eq!(record, EffortRecord::of_wish(Some(0.9)));
        }
    }

    #[test]
    fn an_effort_outside_its_range_is_refused() {
        type Lie = fn(&mut EffortRecord);
        let lies: [Lie; 6] = [
            |record| record.reach = 0.0,
            |record| record.reach = 1e9,
            |record| record.reach = f32::NAN,
            |record| record.candidates = 0.5,
            |record| record.candidates = f32::NAN,
            |record| record.wanted = Some(-1.0),
        ];
        let sound = EffortRecord {
            reach: 12.0,
            candidates: 1.0,
            wanted: None,
            measured: None,
        };
        let read = |record: &EffortRecord| {
            EffortRecord::decode(&encode_record(EFFORT_VERSION, record).unwrap())
        };
        assert_eq!(read(&sound).unwrap(), sound);
        for lie in lies {
            let mut told = sound.clone();
            lie(&mut told);
            assert_eq!(read(&told).unwrap_err().code(), "DAMAGED");
        }
    }
}
