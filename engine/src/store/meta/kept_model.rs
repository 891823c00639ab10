//! Table `models`: the files of the models of columns, for readers that have them nowhere else.
//!
//! A reader that does not know the table has a file whose column has no model at hand.

use std::ops::ControlFlow;

use kb_types::ModelFile;
use kb_types::error::{Error, Result};
use wincode::{SchemaRead, SchemaWrite};

#[cfg(feature = "ingest")]
use crate::container::Transaction;
use crate::container::codec::decode_record;
#[cfg(feature = "ingest")]
use crate::container::codec::{encode_record, u64_at};
use crate::container::column::MAX_ITEM_BYTES;
use crate::container::{Key, Snapshot};
use crate::store::tables;

const VERSION: u8 = 1;

/// Most files of a model.
const FILES_LIMIT: usize = 64;
/// Most bytes of the name of a file.
const NAME_LIMIT_BYTES: usize = 200;
/// Most bytes of the files of a model: a reader holds them at once.
pub(crate) const MODEL_LIMIT_BYTES: u64 = 1 << 29;

/// Bytes of a piece: a value that fills the largest page by itself.
const PIECE_BYTES: usize = MAX_ITEM_BYTES;

/// Row 0 of a model.
#[derive(Debug, Clone, PartialEq, SchemaRead, SchemaWrite)]
struct KeptModelRecord {
    /// Names and bytes of the files, one behind the other in the pieces.
    files: Vec<(String, u64)>,
}

impl KeptModelRecord {
    fn bytes(&self) -> u64 {
        let bytes = self.files.iter().map(|(_, bytes)| *bytes);
        bytes.fold(0, u64::saturating_add)
    }

    /// What none may be; `None`: nothing.
    fn fault(&self) -> Option<String> {
        if self.files.len() > FILES_LIMIT {
            return Some(format!("more than {FILES_LIMIT} files"));
        }
        if self.bytes() > MODEL_LIMIT_BYTES {
            return Some(format!("more than {MODEL_LIMIT_BYTES} bytes"));
        }
        let is_wrong = |(name, _): &&(String, u64)| !is_plain(name);
        let wrong = self.files.iter().find(is_wrong);
        wrong.map(|(name, _)| format!("a file {name:?}, which none may be named"))
    }
}

/// Whether a name is a path below a folder. Nothing is ever written there, and names are shown.
fn is_plain(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    name.len() <= NAME_LIMIT_BYTES
        && name.split('/').all(is_part)
        && !name.contains(['\\', ':'])
        && !name.chars().any(char::is_control)
}

/// The key of a row: piece 0 is the record.
fn key(column: u16, piece: u32) -> u64 {
    u64::from(column) << 32 | u64::from(piece)
}

/// Why files cannot be kept; `None`: they can.
#[cfg(feature = "ingest")]
pub(crate) fn fault(files: &[ModelFile]) -> Option<String> {
    record_of(files).fault()
}

#[cfg(feature = "ingest")]
fn record_of(files: &[ModelFile]) -> KeptModelRecord {
    let files = files.iter();
    let files = files.map(|file| (file.name.clone(), file.bytes.len() as u64));
    KeptModelRecord {
        files: files.collect(),
    }
}

/// Keeps the files of the model of a column.
///
/// # Errors
/// [`Error::InvalidArgument`] for files that none may be; those of the transaction.
#[cfg(feature = "ingest")]
pub(crate) fn write(
    transaction: &mut Transaction<'_>,
    column: u16,
    files: &[ModelFile],
) -> Result<()> {
    let record = record_of(files);
    if let Some(fault) = record.fault() {
        return Err(Error::InvalidArgument {
            argument: "models",
            reason: format!("the model has {fault}"),
        });
    }
    let row = encode_record(VERSION, &record)?;
    transaction.put(tables::MODELS, Key::U64(key(column, 0)), &row)?;
    let mut piece = Vec::with_capacity(PIECE_BYTES);
    let mut number = 1;
    for file in files {
        let mut rest = file.bytes.as_slice();
        while !rest.is_empty() {
            let room = PIECE_BYTES - piece.len();
            let (taken, others) = rest.split_at(room.min(rest.len()));
            piece.extend_from_slice(taken);
            rest = others;
            if piece.len() == PIECE_BYTES {
                transaction.put(tables::MODELS, Key::U64(key(column, number)), &piece)?;
                piece.clear();
                number += 1;
            }
        }
    }
    if !piece.is_empty() {
        transaction.put(tables::MODELS, Key::U64(key(column, number)), &piece)?;
    }
    Ok(())
}

/// Keeps the model of the column `from` of another file as that of `to`, if that file keeps it.
///
/// # Errors
/// [`Error::Damaged`]; those of the transaction.
#[cfg(feature = "ingest")]
pub(crate) fn copy(
    snapshot: &Snapshot<'_>,
    transaction: &mut Transaction<'_>,
    from: u16,
    to: u16,
) -> Result<()> {
    let Some(table) = snapshot.table(tables::MODELS)? else {
        return Ok(());
    };
    snapshot.range(&table, Key::U64(key(from, 0)), |found, piece| {
        let found = u64_at(found, 0)?;
        if found > key(from, u32::MAX) {
            return Ok(ControlFlow::Break(()));
        }
        let copied = key(to, 0) | (found & u64::from(u32::MAX));
        transaction.put(tables::MODELS, Key::U64(copied), piece)?;
        Ok(ControlFlow::Continue(()))
    })
}

/// Forgets the model of a column.
///
/// # Errors
/// Those of the transaction.
#[cfg(feature = "ingest")]
pub(crate) fn remove(transaction: &mut Transaction<'_>, column: u16) -> Result<()> {
    transaction.remove_numbers(tables::MODELS, key(column, 0)..=key(column, u32::MAX))
}

fn record(snapshot: &Snapshot<'_>, column: u16) -> Result<Option<KeptModelRecord>> {
    let Some(table) = snapshot.table(tables::MODELS)? else {
        return Ok(None);
    };
    let Some(row) = snapshot.get(&table, Key::U64(key(column, 0)))? else {
        return Ok(None);
    };
    let record: KeptModelRecord = decode_record("a model", VERSION, &row)?;
    match record.fault() {
        None => Ok(Some(record)),
        Some(fault) => Err(damaged(column, &fault)),
    }
}

/// Bytes of the model that is kept of a column; `None` if none is.
///
/// # Errors
/// [`Error::Damaged`].
pub(crate) fn size(snapshot: &Snapshot<'_>, column: u16) -> Result<Option<u64>> {
    Ok(record(snapshot, column)?.map(|record| record.bytes()))
}

/// The files of the model that is kept of a column; `None` if none is.
///
/// # Errors
/// [`Error::Damaged`].
pub(crate) fn read(snapshot: &Snapshot<'_>, column: u16) -> Result<Option<Vec<ModelFile>>> {
    let (Some(record), Some(table)) = (record(snapshot, column)?, snapshot.table(tables::MODELS)?)
    else {
        return Ok(None);
    };
    let mut expected = key(column, 1);
    // Grows with what is there, not with what the record says.
    let mut all: Vec<u8> = Vec::new();
    let wanted = record.bytes();
    snapshot.range(&table, Key::U64(expected), |found, piece| {
        let is_next = found == expected.to_le_bytes();
        if !is_next || all.len() as u64 >= wanted {
            return Ok(ControlFlow::Break(()));
        }
        all.extend_from_slice(piece);
        expected += 1;
        Ok(ControlFlow::Continue(()))
    })?;
    if all.len() as u64 != wanted {
        return Err(damaged(column, "other bytes than its files"));
    }
    let mut rest = all.as_slice();
    let mut files = Vec::with_capacity(record.files.len());
    for (name, bytes) in record.files {
        let bytes = usize::try_from(bytes).ok();
        let taken = bytes.and_then(|bytes| rest.split_at_checked(bytes));
        let (taken, others) = taken.ok_or_else(|| damaged(column, "files that are cut off"))?;
        rest = others;
        files.push(ModelFile {
            name,
            bytes: taken.to_vec(),
        });
    }
    Ok(Some(files))
}

fn damaged(column: u16, what: &str) -> Error {
    Error::damaged(format!("the model of column {column} has {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in ["model.onnx", "1_Pooling/config.json", "licences/A b.txt"] {
            assert!(is_plain(name), "{name}");
        }
        for name in [
            "", "/a", "a/", "../a", "a/../b", "a\\b", "c:a", "a\nb", "./a",
        ] {
            assert!(!is_plain(name), "{name}");
        }
        assert!(!is_plain(&"a".repeat(201)));
    }

    #[test]
    fn a_record_that_no_model_has_says_why() {
        let fault = |files: Vec<(String, u64)>| KeptModelRecord { files }.fault();
        assert_eq!(fault(vec![("a".to_owned(), 1 << 29)]), None);
        let large = fault(vec![("a".to_owned(), u64::MAX), ("b".to_owned(), 2)]);
        assert!(large.unwrap().contains("bytes"));
        let many = (0..65).map(|number| (number.to_string(), 0)).collect();
        assert!(fault(many).unwrap().contains("64 files"));
        assert!(fault(vec![("..".to_owned(), 0)]).unwrap().contains(".."));
    }
}
