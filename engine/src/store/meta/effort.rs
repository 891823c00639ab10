//! Row `effort` of table `kb`: how much a vector search reads, so that it finds what was asked for.

use wincode::{SchemaRead, SchemaWrite};

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::codec::{decode_record, encode_record};
use crate::container::{Key, Snapshot};
use crate::error::{Error, Result};
use crate::store::tables;

const EFFORT_VERSION: u8 = 1;

/// Row `effort`.
#[derive(Debug, Clone, PartialEq, SchemaRead, SchemaWrite)]
pub struct EffortRecord {
    /// Share of the rows of a segment with inverted lists whose lists are read: above 0, at most 1.
    pub lists: f32,
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
        let record: EffortRecord = decode_record("row effort", EFFORT_VERSION, &row)?;
        let is_share = |share: f32| (0.0..=1.0).contains(&share);
        let measured = record.measured.as_ref();
        let sound = record.lists > 0.0
            && is_share(record.lists)
            && (1.0..=1000.0).contains(&record.candidates)
            && record.wanted.is_none_or(is_share)
            && measured
                .is_none_or(|measured| is_share(measured.recall) && is_share(measured.exact));
        match sound {
            true => Ok(Some(record)),
            false => Err(Error::damaged("row effort has numbers outside their range")),
        }
    }

    /// Writes the row.
    #[cfg(feature = "ingest")]
    pub fn write(&self, transaction: &mut Transaction<'_>) -> Result<()> {
        let row = encode_record(EFFORT_VERSION, self)?;
        transaction.put(tables::KB, Key::Str(tables::KB_EFFORT), &row)
    }
}
