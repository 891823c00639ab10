//! Columns of vectors of other models: table `vectors`.
//!
//! What they are called, what made them, how they are compared and stored. Their rows are columns of the segments.

use std::ops::ControlFlow;

use kb_types::error::{Error, Result};
use kb_types::{BUILT_IN_VECTORS, VECTOR_DIM_LIMIT};
use wincode::{SchemaRead, SchemaWrite};

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::codec::{decode_record, encode_record, u64_at};
use crate::container::{Key, Snapshot};
use crate::metric::Metric;
use crate::store::effort::ColumnEffortRecord;
use crate::store::meta::column_model::{ColumnModel, ColumnModelRecord};
use crate::store::meta::kept_model;
use crate::store::tables;

const COLUMN_VERSION: u8 = 1;
/// Version of a column of which it was measured how much searches of its inverted lists are to read.
const MEASURED_VERSION: u8 = 3;
/// Version of a column with an effort of an older kind, which is ignored.
// Builds of 0.10 wrote it. An index run that makes such a file anew names the columns that it loses.
const SHARED_VERSION: u8 = 2;
/// Version of a column that knows its model.
const MODELLED_VERSION: u8 = 4;
const STATE_VERSION: u8 = 1;

/// Largest number of a column of vectors.
// Its columns in a segment are numbered from `256 * number` on. 126 keeps them below 2^15.
pub(crate) const NUMBER_LIMIT: u16 = 126;

/// The number of the built-in column.
pub(crate) const BUILT_IN: u16 = 0;

/// Most characters of a name.
// A name is typed on a command line and shown in lists.
pub(crate) const NAME_LIMIT_CHARS: usize = 64;

/// Most bytes of the description of the model.
// It is shown by `kb info` and sent to models, which pay for every token.
pub(crate) const MODEL_LIMIT_BYTES: usize = 1000;

/// Row of table `vectors`: a column.
#[derive(Debug, Clone, PartialEq, SchemaRead, SchemaWrite)]
pub struct VectorColumnRecord {
    /// Its name.
    pub name: String,
    /// What made the vectors; may be empty.
    pub model: String,
    /// Dimensions, 1 to 4096.
    pub dim: u32,
    /// Number of its metric.
    pub metric: u8,
    /// How all segments store its rows: 1 signed bytes, 2 nibbles.
    pub codec: u8,
    /// The quantiser: `x` is stored as `round(x / range * 127)`, clipped to -127..127.
    pub range: f32,
    /// When it was made, milliseconds since 1970.
    pub added_ms: i64,
}

/// The stored form of version 3.
#[derive(SchemaRead, SchemaWrite)]
struct MeasuredColumn {
    record: VectorColumnRecord,
    effort: ColumnEffortRecord,
}

/// The stored form of version 2.
#[derive(SchemaRead, SchemaWrite)]
struct SharedColumn {
    record: VectorColumnRecord,
    /// Share of the lists, candidates, questions, rows of each.
    effort: (f32, f32, u32, u32),
    rows: u64,
    recall: f32,
}

/// The stored form of version 4.
#[derive(SchemaRead, SchemaWrite)]
struct ModelledColumn {
    record: VectorColumnRecord,
    effort: Option<ColumnEffortRecord>,
    quantised: Option<QuantisedRecord>,
    model: ColumnModelRecord,
}

/// What quantising leaves of a column, behind the other fields of its row; older writers leave it out.
#[derive(Debug, Clone, PartialEq, SchemaRead, SchemaWrite)]
pub struct QuantisedRecord {
    /// Vectors that were asked for.
    pub queries: u32,
    /// Nearest vectors wanted of each, without itself.
    pub k: u32,
    /// Vectors that were imported, of which some were compared.
    pub rows: u64,
    /// Share of the `k` nearest by the imported numbers that comparing the stored rows finds: 0 to 1.
    pub recall: f32,
}

/// Row 0 of table `vectors`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, SchemaRead, SchemaWrite)]
// `next` is stored, not derived from the columns: the number of one that was removed is not given
// again.
struct VectorStateRecord {
    default: u16,
    next: u16,
}

/// A column with its number.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberedColumn {
    /// Its number, from 1.
    pub number: u16,
    /// How its vectors are compared.
    pub metric: Metric,
    /// What the file says of it.
    pub record: VectorColumnRecord,
    /// How much searches of its inverted lists read; `None` where it has none, or where that was not measured.
    pub effort: Option<ColumnEffortRecord>,
    /// What quantising leaves of it; `None` where that was not measured.
    pub quantised: Option<QuantisedRecord>,
    /// The model that made its vectors; `None` where an import gave them.
    pub model: Option<ColumnModel>,
}

impl NumberedColumn {
    #[cfg(any(test, feature = "ingest"))]
    fn encode(&self) -> Result<Vec<u8>> {
        let record = self.record.clone();
        if let Some(model) = &self.model {
            let modelled = ModelledColumn {
                record,
                effort: self.effort.clone(),
                quantised: self.quantised.clone(),
                model: ColumnModelRecord::of(model),
            };
            return encode_record(MODELLED_VERSION, &modelled);
        }
        let mut bytes = match self.effort.clone() {
            None => encode_record(COLUMN_VERSION, &record)?,
            Some(effort) => encode_record(MEASURED_VERSION, &MeasuredColumn { record, effort })?,
        };
        if let Some(quantised) = &self.quantised {
            // Readers that do not know it ignore what is behind the fields that they know.
            let appended = encode_record(COLUMN_VERSION, quantised)?;
            bytes.extend(appended.into_iter().skip(1));
        }
        Ok(bytes)
    }
}

/// Table `vectors`. A file without it has no column but the built-in one.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorColumns {
    /// Number of the column that is searched where none is named; 0: the built-in one.
    pub default: u16,
    /// Number of the next column; none is given twice.
    pub next: u16,
    /// The columns, by ascending number.
    pub list: Vec<NumberedColumn>,
}

impl Default for VectorColumns {
    fn default() -> VectorColumns {
        VectorColumns {
            default: BUILT_IN,
            next: 1,
            list: Vec::new(),
        }
    }
}

impl VectorColumns {
    /// Reads the table.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a row does not decode, or has a number, name, dimension or range that none may have;
    /// [`Error::FormatUnsupported`] for a metric that this program does not know. Codecs are not looked at.
    pub fn read(snapshot: &Snapshot<'_>) -> Result<VectorColumns> {
        let Some(table) = snapshot.table(tables::VECTORS)? else {
            return Ok(VectorColumns::default());
        };
        let mut columns = VectorColumns::default();
        let mut has_state = false;
        snapshot.range(&table, Key::U64(0), |key, row| {
            match u16::try_from(u64_at(key, 0)?) {
                Ok(0) => {
                    let state: VectorStateRecord =
                        decode_record("the state of columns of vectors", STATE_VERSION, row)?;
                    (columns.default, columns.next) = (state.default, state.next);
                    has_state = true;
                }
                Ok(number @ 1..=NUMBER_LIMIT) => columns.list.push(column(number, row)?),
                _ => return Err(damaged("has a number that none may have")),
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if !has_state {
            return Err(damaged("has no row 0"));
        }
        columns.checked()
    }

    fn checked(self) -> Result<VectorColumns> {
        let last = self.list.last().map_or(BUILT_IN, |last| last.number);
        if self.next <= last || self.next > NUMBER_LIMIT + 1 {
            return Err(damaged("gives a number twice"));
        }
        if self.default != BUILT_IN && self.numbered(self.default).is_none() {
            return Err(damaged("has a default that is no column"));
        }
        // Names tell columns apart on the command line, so that two of one name could not both be
        // asked for.
        let mut names: Vec<&str> = self
            .list
            .iter()
            .map(|column| &*column.record.name)
            .collect();
        names.sort_unstable();
        if !names.is_sorted_by(|a, b| a < b) {
            return Err(damaged("has two columns of one name"));
        }
        Ok(self)
    }

    /// Writes the table, with all columns that are left.
    #[cfg(feature = "ingest")]
    pub fn write(&self, transaction: &mut Transaction<'_>) -> Result<()> {
        let state = VectorStateRecord {
            default: self.default,
            next: self.next,
        };
        let row = encode_record(STATE_VERSION, &state)?;
        transaction.put(tables::VECTORS, Key::U64(0), &row)?;
        for column in &self.list {
            let row = column.encode()?;
            transaction.put(tables::VECTORS, Key::U64(u64::from(column.number)), &row)?;
        }
        Ok(())
    }

    /// Removes the row of a column, and the model that is kept of it.
    #[cfg(feature = "ingest")]
    pub fn remove(transaction: &mut Transaction<'_>, number: u16) -> Result<()> {
        let key = Key::U64(u64::from(number));
        transaction.remove(tables::VECTORS, key)?;
        kept_model::remove(transaction, number)
    }

    /// What a new file in the place of this one begins with: columns that know their model, which embeds the chunks
    /// again; `None` without any.
    #[cfg(feature = "ingest")]
    pub fn without_rows(&self) -> Option<VectorColumns> {
        let mut columns = self.clone();
        columns.list.retain(|column| column.model.is_some());
        for column in &mut columns.list {
            (column.effort, column.quantised) = (None, None);
        }
        if columns.numbered(columns.default).is_none() {
            columns.default = BUILT_IN;
        }
        (!columns.list.is_empty()).then_some(columns)
    }

    /// Writes the columns that a new file begins with, and the models that the file before it keeps of them.
    #[cfg(feature = "ingest")]
    pub fn write_with_models(
        &self,
        transaction: &mut Transaction<'_>,
        before: &Snapshot<'_>,
    ) -> Result<()> {
        self.write(transaction)?;
        for column in &self.list {
            kept_model::copy(before, transaction, column.number, column.number)?;
        }
        Ok(())
    }

    /// The column of that number; `None` also for the built-in one.
    pub fn numbered(&self, number: u16) -> Option<&NumberedColumn> {
        let at = self
            .list
            .binary_search_by_key(&number, |column| column.number);
        self.list.get(at.ok()?)
    }

    /// The column of that name; `None` also for the built-in one.
    pub fn named(&self, name: &str) -> Option<&NumberedColumn> {
        self.list.iter().find(|column| column.record.name == name)
    }

    /// The name of the column that is searched where none is named.
    pub fn default_name(&self) -> &str {
        let default = self.numbered(self.default);
        default.map_or(BUILT_IN_VECTORS, |column| &column.record.name)
    }

    /// All names, the built-in one first, as messages list them.
    pub fn names(&self) -> String {
        let imported = self.list.iter().map(|column| &*column.record.name);
        let names: Vec<&str> = std::iter::once(BUILT_IN_VECTORS).chain(imported).collect();
        names.join(", ")
    }
}

/// What is wrong with a name, if anything.
pub(crate) fn name_fault(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("it is empty; a column needs a name")
    } else if name.chars().count() > NAME_LIMIT_CHARS {
        Some("it has more than 64 characters")
    } else if name.chars().any(char::is_control) {
        Some("it has a control character in it")
    } else if name.trim() != name {
        Some("it begins or ends with a space")
    } else if name == BUILT_IN_VECTORS {
        Some("that is the column of the built-in model; choose another name")
    } else {
        None
    }
}

/// Reads a row of the table.
fn column(number: u16, row: &[u8]) -> Result<NumberedColumn> {
    const WHAT: &str = "a column of vectors";
    let mut model = None;
    let (record, effort, quantised) = match row.first() {
        Some(&MODELLED_VERSION) => {
            let row: ModelledColumn = decode_record(WHAT, MODELLED_VERSION, row)?;
            let of_column = row.model.model(row.record.dim);
            model = Some(of_column.ok_or_else(|| wrong_column(number))?);
            (row.record, row.effort, row.quantised)
        }
        Some(&MEASURED_VERSION) => {
            let both = decode_record::<(MeasuredColumn, QuantisedRecord)>;
            let (row, quantised) = match both(WHAT, MEASURED_VERSION, row) {
                Ok((row, quantised)) => (row, Some(quantised)),
                Err(_) => (decode_record(WHAT, MEASURED_VERSION, row)?, None),
            };
            let row: MeasuredColumn = row;
            (row.record, Some(row.effort), quantised)
        }
        // It is measured again by the next index run.
        Some(&SHARED_VERSION) => {
            let row: SharedColumn = decode_record(WHAT, SHARED_VERSION, row)?;
            (row.record, None, None)
        }
        _ => {
            let both = decode_record::<(VectorColumnRecord, QuantisedRecord)>;
            match both(WHAT, COLUMN_VERSION, row) {
                Ok((record, quantised)) => (record, None, Some(quantised)),
                // A row of a writer that did not measure ends before the second record.
                Err(_) => (decode_record(WHAT, COLUMN_VERSION, row)?, None, None),
            }
        }
    };
    let is_sound = name_fault(&record.name).is_none()
        && effort.as_ref().is_none_or(ColumnEffortRecord::is_sound)
        && quantised
            .as_ref()
            .is_none_or(|it| (0.0..=1.0).contains(&it.recall))
        && record.model.len() <= MODEL_LIMIT_BYTES
        && (1..=VECTOR_DIM_LIMIT).contains(&record.dim)
        && record.range.is_finite()
        && record.range > 0.0;
    if !is_sound {
        return Err(wrong_column(number));
    }
    let metric = Metric::from_number(record.metric).ok_or_else(|| Error::FormatUnsupported {
        needs: format!("metric {} of vectors", record.metric),
        reads: "metrics 1 to 3".to_owned(),
    })?;
    Ok(NumberedColumn {
        number,
        metric,
        record,
        effort,
        quantised,
        model,
    })
}

fn wrong_column(number: u16) -> Error {
    damaged(&format!("has a column {number} that none may be"))
}

fn damaged(what: &str) -> Error {
    Error::damaged(format!("table {} {what}", tables::VECTORS))
}

#[cfg(test)]
mod tests {
    use kb_types::{ModelCard, Pooling};

    use super::*;

    fn record(name: &str) -> VectorColumnRecord {
        VectorColumnRecord {
            name: name.to_owned(),
            model: "any".to_owned(),
            dim: 384,
            metric: 1,
            codec: 1,
            range: 0.2,
            added_ms: 5,
        }
    }

    fn read(number: u16, record: &VectorColumnRecord) -> Result<NumberedColumn> {
        column(number, &encode_record(COLUMN_VERSION, record).unwrap())
    }

    #[test]
    fn a_column_that_none_may_be_is_refused() {
        assert_eq!(read(1, &record("a")).unwrap().metric, Metric::Cosine);
        type Lie = fn(&mut VectorColumnRecord);
        let lies: [(Lie, &str); 12] = [
            (|it| it.name.clear(), "DAMAGED"),
            (|it| it.name = "a\n".to_owned(), "DAMAGED"),
            (|it| it.name = " a".to_owned(), "DAMAGED"),
            (|it| it.name = "a".repeat(65), "DAMAGED"),
            (|it| it.name = BUILT_IN_VECTORS.to_owned(), "DAMAGED"),
            (|it| it.model = "m".repeat(1001), "DAMAGED"),
            (|it| it.dim = 0, "DAMAGED"),
            (|it| it.dim = VECTOR_DIM_LIMIT + 1, "DAMAGED"),
            (|it| it.range = f32::NAN, "DAMAGED"),
            (|it| it.range = 0.0, "DAMAGED"),
            (|it| it.metric = 0, "FORMAT_UNSUPPORTED"),
            (|it| it.metric = 4, "FORMAT_UNSUPPORTED"),
        ];
        for (number, (lie, code)) in lies.into_iter().enumerate() {
            let mut told = record("a");
            lie(&mut told);
            assert_eq!(read(1, &told).unwrap_err().code(), code, "{number}");
        }
    }

    #[test]
    fn a_column_keeps_how_much_of_its_lists_is_read() {
        let effort = ColumnEffortRecord {
            reach: 5.5,
            candidates: 2.0,
            queries: 128,
            k: 10,
            rows: 9,
            recall: 0.97,
            read: 0.1,
        };
        let mut measured = NumberedColumn {
            effort: Some(effort),
            ..read(1, &record("a")).unwrap()
        };
        let row = measured.encode().unwrap();
        assert_eq!(column(1, &row).unwrap(), measured);
        if let Some(effort) = &mut measured.effort {
            effort.reach = 0.0;
        }
        let row = measured.encode().unwrap();
        assert_eq!(column(1, &row).unwrap_err().code(), "DAMAGED");
        measured.effort = None;
        let older = SharedColumn {
            record: record("a"),
            effort: (0.2, 2.0, 128, 10),
            rows: 9,
            recall: 0.97,
        };
        let row = encode_record(SHARED_VERSION, &older).unwrap();
        assert_eq!(column(1, &row).unwrap(), measured);
        assert_eq!(measured.encode().unwrap().first(), Some(&COLUMN_VERSION));
    }

    #[test]
    fn a_column_keeps_its_model() {
        let card = ModelCard {
            source: "onnx".to_owned(),
            name: "minilm".to_owned(),
            location: "/models/minilm".to_owned(),
            dimension: 3,
            pooling: Pooling::Cls,
            normalised: true,
            query_prefix: "query: ".to_owned(),
            passage_prefix: "passage: ".to_owned(),
            max_tokens: 256,
            weights: Some([9; 32]),
        };
        let small = VectorColumnRecord {
            dim: 3,
            ..record("a")
        };
        let model = ColumnModel {
            card,
            probes: vec![("tide".to_owned(), vec![0.6, 0.0, 0.8])],
        };
        let mut modelled = NumberedColumn {
            model: Some(model),
            ..read(1, &small).unwrap()
        };
        let row = modelled.encode().unwrap();
        assert_eq!(row.first(), Some(&MODELLED_VERSION));
        assert_eq!(column(1, &row).unwrap(), modelled);
        type Lie = fn(&mut ColumnModel);
        let lies: [Lie; 5] = [
            |it| it.card.name.clear(),
            |it| it.card.query_prefix = "q".repeat(1001),
            |it| it.probes[0].1.truncate(2),
            |it| it.probes[0].1[1] = f32::NAN,
            |it| it.probes = vec![it.probes[0].clone(); 17],
        ];
        for (number, lie) in lies.into_iter().enumerate() {
            let mut told = modelled.clone();
            lie(told.model.as_mut().unwrap());
            let error = column(1, &told.encode().unwrap()).unwrap_err();
            assert_eq!(error.code(), "DAMAGED", "{number}");
        }
        modelled.quantised = Some(QuantisedRecord {
            queries: 32,
            k: 10,
            rows: 9,
            recall: 0.9,
        });
        let row = modelled.encode().unwrap();
        assert_eq!(column(1, &row).unwrap(), modelled);
    }

    #[test]
    fn a_column_keeps_what_quantising_leaves_of_it() {
        let quantised = QuantisedRecord {
            queries: 32,
            k: 10,
            rows: 9,
            recall: 0.4,
        };
        let plain = read(1, &record("a")).unwrap();
        let mut measured = NumberedColumn {
            quantised: Some(quantised),
            ..plain.clone()
        };
        let row = measured.encode().unwrap();
        assert_eq!(column(1, &row).unwrap(), measured);
        // A reader that does not know it, and a row that a writer before it made.
        let known: VectorColumnRecord = decode_record("", COLUMN_VERSION, &row).unwrap();
        assert_eq!(known, record("a"));
        assert_eq!(plain.quantised, None);
        measured.effort = Some(ColumnEffortRecord {
            reach: 5.5,
            candidates: 2.0,
            queries: 128,
            k: 10,
            rows: 9,
            recall: 0.97,
            read: 0.1,
        });
        assert_eq!(column(1, &measured.encode().unwrap()).unwrap(), measured);
        measured.quantised.as_mut().unwrap().recall = 1.5;
        let row = measured.encode().unwrap();
        assert_eq!(column(1, &row).unwrap_err().code(), "DAMAGED");
    }

    #[test]
    fn columns_that_contradict_each_other_are_refused() {
        let columns = |default, next, names: &[(u16, &str)]| {
            let list = names.iter();
            let list = list.map(|(number, name)| read(*number, &record(name)).unwrap());
            VectorColumns {
                default,
                next,
                list: list.collect(),
            }
            .checked()
        };
        assert!(columns(0, 1, &[]).is_ok());
        assert!(columns(2, 127, &[(2, "b"), (126, "a")]).is_ok());
        for (what, bad) in [
            ("next is there", columns(0, 2, &[(2, "a")])),
            ("next is too large", columns(0, 128, &[(2, "a")])),
            ("no such default", columns(1, 3, &[(2, "a")])),
            ("one name twice", columns(0, 3, &[(1, "a"), (2, "a")])),
        ] {
            assert_eq!(bad.unwrap_err().code(), "DAMAGED", "{what}");
        }
    }
}
